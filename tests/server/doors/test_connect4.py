"""Connect-4 as the c4-arena speaks it: everything that a bot is told, and when."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from games.connect4 import GAME
from server.doors.connect4 import Connect4
from server.host import Host
from server.limits import Limits
from server.thinker import Busy, Failed, Thinker
from tests.server.transcripts import hosting
from tournament.desk import Desk
from tournament.record import State

EMPTY = [0] * 42
END, DISCONNECTED = {"type": "end"}, {"type": "disconnected"}
CUP = {"tournament": "cup", "game": "connect-4", "format": "round-robin"}
DRAWN = [int(column) for column in "123615046113131330220523644552505440664620"]
WON = [3, 0, 3, 0, 3, 0, 3]  # by whoever begins


class Bot:
    """One connection of a bot: what it is told is kept until it is asked for."""

    def __init__(self, host: Host) -> None:
        self.talk = Connect4(host, self._hear, self._cut, "192.0.2.1")
        self.cut: str | None = None
        self.times: list[float] = []  # at which it was told something
        self._heard: list[dict[str, Any]] = []

    def _hear(self, message: bytes) -> None:
        self._heard.append(msgspec.json.decode(message))
        self.times.append(trio.current_time())

    def _cut(self, why: str) -> None:
        self.cut = why
        self.talk.gone()

    async def send(self, *messages: bytes) -> None:
        """Say all of it in one piece."""
        asked = self.talk.asked
        for message in messages:
            self.talk.hear(message, trio.current_time(), self.talk.asked == asked)
        await trio.testing.wait_all_tasks_blocked()

    async def say(self, type: str, **more: Any) -> list[dict[str, Any]]:
        """Say something, and be told what comes of it."""
        await self.send(msgspec.json.encode({"type": type, **more}))
        return await self.heard()

    async def start(self, name: str, **more: Any) -> list[dict[str, Any]]:
        return await self.say("start", id=name, **more)

    async def move(self, column: int) -> list[dict[str, Any]]:
        return await self.say("move", move=column)

    async def heard(self) -> list[dict[str, Any]]:
        """What it has been told since it was last asked."""
        await trio.testing.wait_all_tasks_blocked()
        heard, self._heard = self._heard, []
        return heard

    async def gone(self) -> None:
        self.talk.gone()
        await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def place(settings: Mapping[str, str] | None = None, limits: Limits | None = None) -> AsyncIterator[Host]:
    async with hosting(settings or {}, limits) as (host, _):
        yield host


async def pair(host: Host, **more: Any) -> tuple[Bot, Bot]:
    """Two bots in a match against each other, whoever begins first; both have been told so."""
    ann, bob = Bot(host), Bot(host)
    await ann.start("Ann", **more)
    await bob.start("Bob", **more)
    (one,), (other,) = await ann.heard(), await bob.heard()
    assert {one["you"], other["you"]} == {1, 2}
    return (ann, bob) if one["you"] == 1 else (bob, ann)


async def play(bots: tuple[Bot, Bot], columns: list[int]) -> None:
    for ply, column in enumerate(columns):
        await bots[ply % 2].send(b'{"type":"move","move":%d}' % column)


def seen(turn: int, you: int, moves: list[int], **more: Any) -> dict[str, Any]:
    """A state, as the game itself would have it."""
    position = GAME.start()
    for column in moves:
        position = position.play(column)
    state = GAME.show(position, ("", ""))
    return {"type": "state", "turn": turn, "you": you, **more, "moves": moves, "state": state}


# A match


async def test_both_are_told_the_state_at_the_start_and_after_every_move(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, bob = Bot(host), Bot(host)
        assert await ann.start("Ann") == []
        assert len(await bob.start("Bob")) == 1
        async with place() as host:
            first, second = await pair(host)
            await first.move(3)
            ...
