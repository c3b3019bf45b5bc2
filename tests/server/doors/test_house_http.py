"""The house protocol over HTTP: sessions, streams, long polls, and who is there."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from server.doors import tcp
from server.limits import Limits, Rate
from server.listening import Visitor
from tests.server.doors.table import Caller, Dots, Table, playing, request, results, said, table
from tests.server.ends import LineEnd, in_memory
from tests.server.transcripts import Bot
from tests.server.web import Answer, Client
from tests.server.windowed import Weather, windowed_pair
from tournament.events import Ending
from tournament.record import State

GAME = "tic-tac-toe"
CUP = {"tournament": "cup", "game": GAME, "format": "round-robin", "entrants": "2"}
TABLE = "open-tic-tac-toe"


class House(Caller):
    """A bot that speaks the house protocol: one connection to say things, others to listen."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        super().__init__(connect)
        self.ear = Caller(connect)
        self.session = ""
        self.welcome: dict[str, Any] = {}
        self.last = 0  # the number of the last message that it has

    async def hello(self, name: str, game: str = GAME, **more: Any) -> Answer:
        answer = await self.ask("POST", "/play", {"type": "hello", "name": name, "game": game, **more})
        if answer.status == 201:
            self.welcome = said(answer)
            self.session = answer.headers["location"]
            self.last = 1
        return answer

    async def tell(self, **message: Any) -> int:
        """Say something; answers the number that it is given."""
        answer = await self.ask("POST", self.session, message)
        assert answer.status == 200, answer
        return said(answer)["seq"]

    async def listen(self) -> None:
        """Begin a long poll."""
        await self.ear.send("GET", f"{self.session}?after={self.last}")

    async def heard_of(self) -> list[dict[str, Any]]:
        """What the long poll answered."""
        answer = await self.ear.told()
        assert answer.status == 200, answer
        told = said(answer)
        for message in told:
            self.last += 1
            assert message["seq"] == self.last, "the numbers go on without a gap"
        return told

    async def messages(self, *types: str) -> list[dict[str, Any]]:
        """All there is to hear now; only of these types, if there are any."""
        await self.listen()
        if await self.ear.client.now() == b"":
            await self.ear.hang_up()
            return []
        raise NotImplementedError
