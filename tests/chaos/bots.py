"""Bots that know the wire and nothing else: lines of JSON over TCP, and whatever move comes to mind."""

import json
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import trio

from tests.chaos.told import Told

AGAIN = 0.02  # seconds until a connection is tried again
SILENCE = 30.0  # seconds without a word after which a bot looks for another connection
FIELDS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")


def tic_tac_toe(state: Any, chance: Random) -> Any:
    return chance.choice([field for field, by in zip(FIELDS, state["board"], strict=True) if by is None])


def connect_4(state: Any, chance: Random) -> Any:
    return chance.choice([column for column in range(7) if state[6 * column + 5] == 0])


PLAYS = {"tic-tac-toe": tic_tac_toe, "connect-4": connect_4}


class Stranger:
    """A bot of the old protocol, in which nobody can come back to a match. It places its workers."""

    def __init__(self, name: str, port: int, chance: Random) -> None:
        self._name = name
        self._port = port
        self._chance = chance

    async def run(self) -> None:
        while True:
            with suppress(OSError, trio.BrokenResourceError):
                async with await trio.open_tcp_stream("127.0.0.1", self._port) as stream:
                    await stream.send_all(self._name.encode() + b"\n")
                    async for _ in stream:
                        field = f"{self._chance.randrange(6)} {self._chance.randrange(6)}\n"
                        await stream.send_all(field.encode())
            await trio.sleep(AGAIN)


class Bot:
    def __init__(
        self,
        name: str,
        game: str,
        port: int,
        tournament: Callable[[], str | None],
        told: Told,
        chance: Random,
    ) -> None:
        """It goes to the `tournament` of the hour; None is nowhere for now."""
        self._hello = {"type": "hello", "name": name, "game": game, "token": f"{name}-keeps-this-secret"}
        self._port = port
        self._tournament = tournament
        self._told = told
        self._chance = chance
        self._play = PLAYS[game]
        self._match = ""
        self._seats: dict[str | None, int | None] = {}
        self._moves: list[Any] | None = None  # None: this began while it was away
        self._you = ""

    async def run(self) -> None:
        while True:
            tournament = self._tournament()
            if tournament is not None:
                with suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                    await self._visit(tournament)
            await trio.sleep(AGAIN)

    async def _visit(self, tournament: str) -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", self._port)
        async with stream:
            await self._say(stream, {**self._hello, "tournament": tournament})
            unread = b""
            while True:
                with trio.move_on_after(SILENCE) as deadline:
                    received = await stream.receive_some(65536)
                if deadline.cancelled_caught or not received:
                    return
                *lines, unread = (unread + received).split(b"\n")
                for line in lines:
                    message = json.loads(line)
                    if (answer := self._hear(message)) is not None:
                        await self._say(stream, answer)
                    if message["type"] in ("standings", "refused"):
                        return

    async def _say(self, stream: trio.SocketStream, message: dict[str, Any]) -> None:
        await stream.send_all(json.dumps(message).encode() + b"\n")

    def _hear(self, message: dict[str, Any]) -> dict[str, Any] | None:
        match message:
            case {"type": "begin", "match": name, "you": you}:
                other = {"O": "X", "X": "O", "first": "second", "second": "first"}[you]
                seats = sorted((you, other))
                self._seats = {seats[0]: 0, seats[1]: 1, "draw": None, None: None}
                self._moves = list(message.get("moves", []))
                self._match, self._you = name, you
            case {"type": "turn", "match": name, "ply": ply, "last": last} if name == self._match:
                if self._moves is not None and ply == len(self._moves) + 1:
                    self._moves.append(last)
                if message["turn"] == self._you:
                    move = self._play(message["state"], self._chance)
                    return {"type": "move", "match": name, "ply": ply, "move": move}
            case {"type": "end", "match": name} if name == self._match:
                winner = self._seats[message["winner"]]
                self._told.end(name, winner, message["ending"], message["why"], self._moves)
                self._match = ""
            case {"type": "standings", "tournament": name, "rows": rows}:
                self._told.standings(name, rows)
            case _:
                pass
        return None
