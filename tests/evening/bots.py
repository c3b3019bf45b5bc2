"""Bots of the house protocol over TCP, for Connect-4: one that is honest, and seven kinds that are not.

A bot is a function that is given its `Line` and the `turn` that it is to answer. What its author reads
is in `Author`: what the host said when it was refused, and how each match ended.
"""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any

import trio
from msgspec import Struct

GAME = "connect-4"
ROWS, COLUMNS = 6, 7
AGAIN = 0.5  # seconds until a bot that was refused, or cut off, tries again
TRIES = 16  # of the same wrong move

Message = dict[str, Any]


class Gone(Exception):
    """The bot hangs up, and says with `again` whether it comes back."""

    def __init__(self, again: float | None) -> None:
        super().__init__()
        self.again = again  # seconds


class Author(Struct):
    """What the author of a bot gets to know."""

    name: str
    refusals: list[str] = []  # what the host said to a hello
    refused: list[str] = []  # what the host said to anything else
    ends: list[Message] = []  # of its matches
    hung_up: int = 0
    standings: Message | None = None


class Line:
    """A connection that speaks the house protocol."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._buffer = bytearray()

    async def say(self, message: Message | str) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        await self._stream.send_all(text.encode() + b"\n")

    async def hear(self) -> Message | None:
        """The next message; None when the host has hung up."""
        while b"\n" not in self._buffer:
            received = await self._stream.receive_some()
            if not received:
                return None
            self._buffer += received
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer[:] = rest
        return json.loads(line)


Answer = Callable[[Line, Message, Random], Awaitable[None]]


async def honest(line: Line, turn: Message, lots: Random) -> None:
    """Any move that is legal."""
    state: list[int] = turn["state"]
    open = [column for column in range(COLUMNS) if not state[column * ROWS + ROWS - 1]]
    move = {"type": "move", "match": turn["match"], "ply": turn["ply"], "move": lots.choice(open)}
    await line.say(move)


async def dies(line: Line, turn: Message, lots: Random) -> None:
    """Crashes in its second match, and nobody starts it again."""
    if turn["matches"] > 1:
        raise Gone(None)
    await honest(line, turn, lots)


async def says_e99(line: Line, turn: Message, lots: Random) -> None:
    """Thinks that it plays another game."""
    for _ in range(TRIES):
        await line.say({"type": "move", "match": turn["match"], "ply": turn["ply"], "move": "e99"})
        await trio.sleep(0.02)


async def slow(line: Line, turn: Message, lots: Random) -> None:
    """Thinks for longer than it may."""
    await trio.sleep(turn["clock_turn"] + 0.5)
    await honest(line, turn, lots)


async def babbles(line: Line, turn: Message, lots: Random) -> None:
    """Says things that are no messages before each of its moves."""
    for junk in ("{", '{"type":"think"}', '{"type":"move","move":{"row":1}}'):
        await line.say(junk)
    await honest(line, turn, lots)


async def returns(line: Line, turn: Message, lots: Random) -> None:
    """Loses its connection in the middle of each match, and comes back."""
    if turn["ply"] in (4, 5) and not turn["back"]:
        raise Gone(0.2)
    await honest(line, turn, lots)


async def leaves(line: Line, turn: Message, lots: Random) -> None:
    """Believes that three matches are an evening, and says goodbye."""
    if turn["matches"] > 3:
        await line.say({"type": "bye"})
        raise Gone(None)
    await honest(line, turn, lots)


async def attend(
    port: int, author: Author, answer: Answer, *, tournament: str, token: str, turn: float
) -> None:
    """Play until the tournament is over, or the bot is gone for good."""
    lots, seen, back = Random(author.name), list[str](), False
    hello = {"type": "hello", "name": author.name, "game": GAME, "token": token, "tournament": tournament}
    while author.standings is None:
        with suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                line = Line(stream)
                await line.say(hello | {"version": "1.0"})
                try:
                    await _converse(line, author, answer, lots, seen, turn, back)
                except Gone as gone:
                    if gone.again is None:
                        return
                    back = True
                    await stream.aclose()
                    await trio.sleep(gone.again)
                    continue
        back = False
        author.hung_up += 1
        await trio.sleep(AGAIN)


async def _converse(
    line: Line, author: Author, answer: Answer, lots: Random, seen: list[str], turn: float, back: bool
) -> None:
    """Until one of the two hangs up."""
    seat, welcome = "", False
    while author.standings is None and (message := await line.hear()) is not None:
        match message["type"]:
            case "welcome":
                welcome = True
            case "refused" if not welcome:
                if message["reason"] not in author.refusals:
                    author.refusals.append(message["reason"])
            case "refused":
                author.refused.append(message["reason"])
            case "begin":
                seat = message["you"]
                if message["match"] not in seen:
                    seen.append(message["match"])
                    back = False
            case "turn" if message["turn"] == seat:
                known = {"matches": len(seen), "clock_turn": turn, "back": back}
                await answer(line, message | known, lots)
            case "end":
                author.ends.append(message | {"you": seat})
            case "standings" if message["final"]:
                author.standings = message
            case _:
                pass
