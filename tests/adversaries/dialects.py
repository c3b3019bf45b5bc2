"""What honest bots say, in each dialect: the script, for as long as others play it.

A dialect is a function that plays until it is hung up on, and then raises `Gone`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import trio

from tests.adversaries.honest import Bot
from tests.adversaries.wires import Frames, Gone, Lines, Requests


async def memo(bot: Bot) -> None:
    """Santorini: a name, and then a state after every move."""
    async with await bot.connected(bot.ports.tcp) as stream:
        wire, ply = Lines(stream), 0
        await wire.send(bot.name.encode() + b"\n")
        while True:
            status, turn, *_ = await wire.hear()
            bot.here.set()
            bot.watch.told()
            if status == "gameOver":
                bot.over()
                ply = 0
                continue
            if turn == bot.name:
                await bot.think()
                await wire.send(bot.game.short(bot.script.moves[ply]).encode() + b"\n")
            ply += 1


async def c4_arena(bot: Bot) -> None:
    start = {"type": "start", "id": bot.name}
    async with await bot.connected(bot.ports.websocket) as stream:
        wire = Frames(stream)
        await wire.open("/")
        await wire.say(start)
        while True:
            match await wire.hear():
                case {"type": "state", "turn": turn, "you": you, "moves": moves}:
                    bot.here.set()
                    bot.watch.told()
                    if turn == you:
                        await bot.think()
                        await wire.say({"type": "move", "move": bot.script.written[len(moves)]})
                case {"type": "end" | "disconnected"}:
                    bot.over()
                    await wire.say(start)
                case told:
                    raise Gone(f"it was told {told}")


async def arena(bot: Bot) -> None:
    """Joins for each match, and opens a stream for it."""
    game = bot.game.name
    async with await bot.connected(bot.ports.http) as stream:
        wire = Requests(stream)
        while True:
            joined = await wire.ask("POST", f"/{game}/join", {"name": bot.name, "token": bot.token})
            if joined.status != 200:
                raise Gone(f"joining was answered with {joined.status} {joined.body[:200]!r}")
            bot.here.set()
            await _battle(bot, wire, joined.json["battleId"])
            bot.over()


async def _battle(bot: Bot, wire: Requests, battle: str) -> None:
    async with await bot.connected(bot.ports.http) as stream:
        events, ply, mine = Requests(stream), 0, 0
        await events.listen(f"/{bot.game.name}/start/{battle}")
        while (event := await events.event()) is not None:
            match event:
                case {"youAre": seat}:
                    mine = bot.game.seats.index(seat)
                case {"player": _}:
                    ply += 1
                case _:
                    continue
            if ply < len(bot.script.moves) and ply % 2 == mine:
                await bot.think()
                move = bot.script.written[ply]
                answer = await wire.ask("POST", f"/{bot.game.name}/play/{battle}", move)
                if answer.status != 200:
                    raise Gone(f"a move was answered with {answer.status} {answer.body[:200]!r}")
                bot.watch.told()


async def hexagon_dots(bot: Bot) -> None:
    """Each request is answered at the bot's next turn: how long a move takes, the other of the two notes."""
    async with await bot.connected(bot.ports.http) as stream:
        wire = Requests(stream)
        while True:
            at = (await wire.ask("GET", "/match")).headers.get("location", "")
            answer, lines = await wire.ask("POST", f"{at}/players", {"name": bot.name}), 0
            bot.here.set()
            while answer.status == 200:
                bot.watch.told()
                told = answer.json
                known = 0 if "rows" in told else lines  # a Game has all, a Delta the new
                lines = len(told["lines"]) + known
                if (token := answer.headers.get("x-turn-token")) is None:
                    bot.over()
                    break
                move = bot.script.written[lines]
                await bot.think()
                answer = await wire.ask("POST", f"{at}/moves", move, X_Turn_Token=token)
            else:
                raise Gone(f"it was told {answer.status} {answer.body[:200]!r}")


async def house_tcp(bot: Bot) -> None:
    async with await bot.connected(bot.ports.tcp) as stream:
        wire = Lines(stream)
        await _house(bot, wire.say, wire.hear)


async def house_websocket(bot: Bot) -> None:
    async with await bot.connected(bot.ports.websocket) as stream:
        wire = Frames(stream)
        await wire.open("/play")
        await _house(bot, wire.say, wire.hear)


async def house_http(bot: Bot) -> None:
    """Long polls."""
    async with await bot.connected(bot.ports.http) as stream:
        wire, path, heard, after = Requests(stream), "/play", list[Any](), 0

        async def say(message: object) -> None:
            nonlocal path
            answer = await wire.ask("POST", path, message)
            if answer.status >= 300:
                raise Gone(f"{path} was answered with {answer.status} {answer.body[:200]!r}")
            if answer.status == 201:
                path = answer.headers["location"]
                heard.append(answer.json)

        async def hear() -> Any:
            nonlocal after
            while not heard:
                answer = await wire.ask("GET", f"{path}?after={after}")
                if answer.status != 200:
                    raise Gone(f"{path} was answered with {answer.status}")
                heard.extend(answer.json)
            message = heard.pop(0)
            after = message["seq"]
            return message

        await _house(bot, say, hear)


async def _house(
    bot: Bot, say: Callable[[object], Awaitable[None]], hear: Callable[[], Awaitable[Any]]
) -> None:
    """Plays the script for as long as others do, and then the first move that is possible.

    A move may be refused because the match is over: the other has left meanwhile.
    """
    game, position, moves, you = bot.game, bot.script.opening, list[Any](), ""
    since: float | None = None  # it has waited for somebody else to move
    await say({"type": "hello", "name": bot.name, "game": game.name, "token": bot.token})
    while True:
        message = await hear()
        match message:
            case {"type": "begin"}:
                bot.here.set()
                you, moves = message["you"], message.get("moves", [])
                position = game.opening(message.get("options", {}))
                for sent in moves:
                    position = position.play(game.read(sent, position))
            case {"type": "turn", "match": match, "ply": ply, "turn": turn, "last": last}:
                bot.watch.told()
                since = bot.waited(since)
                if turn not in (you, None):
                    since = trio.current_time()
                if ply == len(moves) + 1:
                    moves.append(last)
                    position = position.play(game.read(last, position))
                if turn == you:
                    follows = moves == bot.script.written[:ply] and ply < len(bot.script.moves)
                    move = bot.script.moves[ply] if follows else next(iter(position.moves()))
                    await bot.think()
                    await say({"type": "move", "match": match, "ply": ply, "move": game.write(move)})
            case {"type": "end"}:
                since = bot.waited(since)
                bot.watch.forget()
                bot.over()
            case {"type": "refused", "reason": reason} if "ply" not in message:
                raise Gone(f"it was refused: {reason}")
            case _:
                pass
