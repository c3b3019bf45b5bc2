"""Bots of the old HTTP protocols, who know addresses and nothing else of a host.

When their host is killed they make the same request again: a bot of Hexagon Dots its move
or its join, a bot of the Arena the one that opens its stream. What they have been told has
to be a game by the rules afterwards, too.
"""

import json
from contextlib import suppress
from random import Random
from typing import Any

import trio
from msgspec import Struct

from games.game import Illegal
from games.hexagondots import GAME as HEXAGON_DOTS
from games.hexagondots import HexagonDots
from games.tictactoe import GAME as TIC_TAC_TOE
from tests.chaos.told import Told

AGAIN = 0.02  # seconds until a request is made again
QUARTER = 0.25  # seconds for which a bot of Hexagon Dots thinks, at least: moves are kept as often
THINKS = 0.05  # seconds; an Arena bot moves when its stream has been silent for so long
TABLE = "open-tic-tac-toe"
LOST = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)
ABSENT = (502, 503, 504)  # by which a host, or a balancer before it, says that nobody is there just now


class Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes


def request(method: str, path: str, body: object = None, *headers: str) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + content


async def ask(port: int, content: bytes) -> Answer:
    """The answer, by whichever host is there; the same request is made until there is one."""
    while (answer := await ask_once(port, content)) is None:  # noqa: ASYNC110 - nobody tells when there is
        await trio.sleep(AGAIN)
    return answer


async def ask_once(port: int, content: bytes) -> Answer | None:
    """The answer of a host; None if nobody is there, or goes before it has answered."""
    with suppress(*LOST):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            await stream.send_all(content)
            received, answer = b"", None
            async for part in stream:
                received += part
                if (answer := _whole(received)) is not None:
                    break
            if answer is not None and answer.status not in ABSENT:
                return answer
    return None


def _head(received: bytes) -> tuple[int, dict[str, str], bytes] | None:
    head, over, rest = received.partition(b"\r\n\r\n")
    if not over:
        return None
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return int(first.split()[1]), headers, rest


def _whole(received: bytes) -> Answer | None:
    if (found := _head(received)) is None:
        return None
    status, headers, rest = found
    return Answer(status, headers, rest) if len(rest) == int(headers.get("content-length", 0)) else None


def chunks(body: bytes) -> tuple[bytes, bytes, bool]:
    """What the whole chunks of a body have, what is left of it, and whether that was its end.

    A balancer cuts chunks as it likes.
    """
    content = b""
    while True:
        size, mark, rest = body.partition(b"\r\n")
        if not mark or len(rest) < (length := int(size, 16)) + 2:
            return content, body, False
        if not length:
            return content, rest[2:], True
        content, body = content + rest[:length], rest[length + 2 :]


class DotsBot:
    def __init__(self, name: str, port: int, told: Told, chance: Random) -> None:
        self._name = name
        self._port = port
        self._told = told
        self._chance = chance

    async def run(self) -> None:
        while True:
            found = await ask(self._port, request("GET", "/match"))
            game = found.headers["location"]
            answer = await ask(self._port, request("POST", f"{game}/players", {"name": self._name}))
            try:
                await self._play(game, answer)
            except Illegal as illegal:
                self._told.verdict.wrong.append(f"{self._name} was told what is no game: {illegal}")
            await trio.sleep(AGAIN)

    async def _play(self, game: str, answer: Answer) -> None:
        position = HEXAGON_DOTS.opening({"end": "hexagons"})
        while answer.status == 200:
            told = json.loads(answer.body)
            if "rows" in told and "x-turn-token" not in answer.headers:
                return  # all of it, at the end: it is void
            drawn = [line["endpoints"] for line in told["lines"]]
            position = self._all_of(told) if "rows" in told else self._after(position, drawn)
            if "x-turn-token" not in answer.headers:
                return
            await trio.sleep(self._chance.uniform(QUARTER, 2 * QUARTER))
            if not (moves := list(position.moves())):
                self._told.verdict.wrong.append(f"{self._name} was to move in {game}, which is over: {told}")
                return
            line = HEXAGON_DOTS.write(self._chance.choice(moves))
            token = f"X-Turn-Token: {answer.headers['x-turn-token']}"
            answer = await ask(self._port, request("POST", f"{game}/moves", line, token))

    def _after(self, position: Any, drawn: list[Any]) -> Any:
        for line in drawn:
            position = position.play(HEXAGON_DOTS.read(line, position))
        return position

    def _all_of(self, told: Any) -> Any:
        """A position with these lines and hexagons, whoever has them: what can be drawn is the same.

        The lines are not in the order of their drawing, and of two hexagons that overlap the one that was
        captured first has what the other needs.
        """
        board = HEXAGON_DOTS.opening({"end": "hexagons"}).board
        mine = closed = 0
        for line in told["lines"]:
            one, other = ((end["row"], end["col"]) for end in line["endpoints"])
            mine |= board.lines[one, other]
        closed = mine
        for hexagon in told["hexagons"]:
            captured = board.hexagons[hexagon["center"]["row"], hexagon["center"]["col"]]
            mine, closed = mine | captured.bit, closed | captured.closes
        return HexagonDots(board, mine, 0, closed)


class ArenaBot:
    def __init__(self, name: str, port: int, chance: Random) -> None:
        self._joins = {"name": name, "token": f"{name}-keeps-this-secret", "tournament": TABLE}
        self._port = port
        self._chance = chance

    async def run(self) -> None:
        while True:
            answer = await ask(self._port, request("POST", "/tic-tac-toe/join", self._joins))
            if answer.status == 200:
                battle = json.loads(answer.body)["battleId"]
                over = False
                while not over:
                    with suppress(*LOST):
                        over = await self._fight(battle)
                    await trio.sleep(AGAIN)
            await trio.sleep(AGAIN)

    async def _fight(self, battle: str) -> bool:
        """Over one stream; returns whether there is nothing more to come."""
        async with await trio.open_tcp_stream("127.0.0.1", self._port) as stream:
            await stream.send_all(request("GET", f"/tic-tac-toe/start/{battle}"))
            received, moved = b"", 0
            while True:
                with trio.move_on_after(THINKS) as silence:
                    part = await stream.receive_some(65536)
                    if not part:
                        return False
                    received += part
                if (found := _head(received)) is None:
                    continue
                status, _, body = found
                told, _, over = chunks(body) if status == 200 else (b"", b"", True)
                if over:
                    return status not in ABSENT
                if silence.cancelled_caught:
                    moved = await self._move(battle, told, moved)

    async def _move(self, battle: str, told: bytes, moved: int) -> int:
        """Move, if it is its turn and it has not moved yet; returns how many plies there were then."""
        events = [
            json.loads(event.removeprefix(b"data: "))
            for event in told.split(b"\n\n")[:-1]
            if event.startswith(b"data: ")
        ]
        position, plies = TIC_TAC_TOE.opening({}), 1
        for event in events[1:]:
            if "player" not in event:
                return moved
            event.pop("player")
            try:
                position, plies = position.play(TIC_TAC_TOE.read(event, position)), plies + 1
            except Illegal:
                return moved  # it is shown to both, and whoever made it has lost
        if position.outcome is not None:
            return moved  # its end is being kept, and is told then
        if not events or TIC_TAC_TOE.seats[position.turn] != events[0]["youAre"] or plies == moved:
            return moved
        move = TIC_TAC_TOE.write(self._chance.choice(list(position.moves())))
        sent = request("POST", f"/tic-tac-toe/play/{battle}", move, "Connection: close")
        # What had no answer may have been taken, as the stream says: sent again, it would be illegal.
        return moved if await ask_once(self._port, sent) is None else plies
