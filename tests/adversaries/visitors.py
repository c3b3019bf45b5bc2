"""Attackers who come as bots and play nothing: they bind others, or leave names behind."""

import random
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count, repeat

import trio

from tests.adversaries.ground import Ground, fresh
from tests.adversaries.scripts import GAMES
from tests.adversaries.wires import Frames, Gone, Lines, Requests
from tests.attacks.attacks import connected

DIRECT = "127.252.0.1"  # on the host's own machine, and through no proxy
STAY = 8.0  # seconds that a ghost stays: longer than a host should hold anybody for it
_turns = count()


def _game() -> str:
    return GAMES[next(_turns) % len(GAMES)]


async def names(ground: Ground) -> None:
    """A new name, and gone: over TCP, where all of loopback is one address, and from a new address."""
    hello = {"type": "hello", "name": fresh("throwaway"), "game": _game()}
    answer = await ground.ask("POST", "/play", hello)
    if answer.status == 201:
        await ground.ask("POST", answer.headers["location"], {"type": "bye"})
    wire, _ = await ground.hello(fresh("throwaway"), _game())
    async with wire.stream:
        await wire.say({"type": "bye"})


async def ghosts(ground: Ground) -> None:
    """Come to tables in each dialect that has connections, and say nothing more."""

    async def stay(wire: Lines | Frames) -> None:
        async with wire.stream:
            with trio.move_on_after(STAY):
                while True:
                    await wire.exactly(1)

    async def over_tcp(game: str) -> None:
        wire, _ = await ground.hello(fresh("ghost"), game)
        await stay(wire)

    async def memo() -> None:
        wire = Lines(await connected(ground.ports.tcp))
        await wire.send(fresh("ghost").encode() + b"\n")
        await stay(wire)

    async def c4_arena() -> None:
        wire = Frames(await connected(ground.ports.websocket))
        await wire.open("/")
        await wire.say({"type": "start", "id": fresh("ghost")})
        await stay(wire)

    await _some(*(partial(over_tcp, game) for game in GAMES), memo, c4_arena)


async def sleepers(ground: Ground) -> None:
    """Come over HTTP and ask for nothing more: no stream in the Arena, no poll, no move of Hexagon Dots."""

    async def arena(game: str) -> None:
        with trio.move_on_after(STAY):
            await ground.ask("POST", f"/{game}/join", {"name": fresh("sleeper")})
            await trio.sleep(STAY)

    async def session(game: str) -> None:
        await ground.ask("POST", "/play", {"type": "hello", "name": fresh("sleeper"), "game": game})
        await trio.sleep(STAY)

    async def hexagon_dots() -> None:
        at = (await ground.ask("GET", "/match")).headers.get("location", "")
        with trio.move_on_after(STAY):
            await ground.ask("POST", f"{at}/players", {"name": fresh("sleeper")})
            await trio.sleep(STAY)

    await _some(
        *(partial(arena, game) for game in ("tic-tac-toe", "quoridor")),
        *(partial(session, game) for game in GAMES),
        hexagon_dots,
    )


async def polite(ground: Ground) -> None:
    """Come, wait to be dealt a match, and say goodbye; again under the same name."""
    name, game = fresh("polite"), _game()
    for _ in range(5):
        wire, message = await ground.hello(name, game, token=f"{name}-keeps-this-secret")
        async with wire.stream:
            with trio.move_on_after(STAY):
                while message["type"] not in ("turn", "refused"):
                    message = await wire.hear()
            await wire.say({"type": "bye"})


async def evaluations(ground: Ground) -> None:
    """Have a bot evaluated that takes every call and never plays. On its own machine anybody may."""

    async def take(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await trio.sleep(STAY)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, host="127.0.0.1"), take, 0)
        port = listener.socket.getsockname()[1]
        for game in ("tic-tac-toe", "quoridor"):
            for number in range(10):
                url = f"http://127.0.0.1:{port}/{number}"
                for path in ("evaluate", "join"):
                    async with await connected(ground.ports.http, repeat(DIRECT)) as asking:
                        body = {"name": fresh("called"), "teamUrl": url}
                        await Requests(asking).ask("POST", f"/{game}/{path}", body)
        await trio.sleep(STAY)
        nursery.cancel_scope.cancel()


async def _some(*visits: Callable[[], Awaitable[None]]) -> None:
    """Half of them, by lot: an even number at a table would be dealt to each other alone."""
    async with trio.open_nursery() as nursery:
        for visit in random.sample(visits, len(visits) // 2):
            nursery.start_soon(_alone, visit)


async def _alone(visit: Callable[[], Awaitable[None]]) -> None:
    """Whoever is refused or hung up on takes nobody else along."""
    try:
        await visit()
    except (Gone, OSError, trio.BrokenResourceError):
        await trio.sleep(STAY / 10)


async def makers(ground: Ground) -> None:
    """Make a game of Hexagon Dots, for which nobody comes."""
    await ground.ask("POST", "/", {"rows": 5, "cols": 5})
