"""Bots that play Connect-4 as the c4-arena speaks it, for tests on a virtual clock.

There is no connection in between: what they say is heard at once.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import trio
import trio.testing

from games.connect4 import GAME
from server.host.host import Host
from server.net.limits import Limits
from server.protocols.c4arena.talk import C4Arena
from server.protocols.dialect import Channel
from tests.server.transcripts import hosting
from tests.tournament.world import kept_matches
from tournament.facts import Concluded
from tournament.record import Record
from tournament.store import Store

Message = dict[str, Any]

END, DISCONNECTED = {"type": "end"}, {"type": "disconnected"}
WON = [3, 0, 3, 0, 3, 0, 3]  # by whoever begins
DRAWN = [int(column) for column in "123615046113131330220523644552505440664620"]


class Bot:
    """One connection's bot. What it is told is kept until it is asked for."""

    def __init__(self, host: Host) -> None:
        self.talk = C4Arena(Channel(host, self._tell, self._cut, "192.0.2.1"))
        self.cut: str | None = None
        self.told: list[tuple[float, bytes]] = []  # when, and what
        self._news = trio.Event()

    def _tell(self, message: bytes, urgent: bool) -> None:
        self.told.append((trio.current_time(), message))
        self._news.set()

    def _cut(self, why: str) -> None:
        self.cut = why
        self.talk.gone()

    async def send(self, *messages: bytes) -> None:
        """Say all of it in one piece, and let everybody hear what comes of it."""
        here = self.talk.attendance
        told = here.asked
        for message in messages:
            at = trio.current_time()
            here.tape.heard(message, at)  # as a port does
            self.talk.hear(message, at, here.asked == told)
        await trio.testing.wait_all_tasks_blocked()

    async def tell(self, type: str, **more: Any) -> None:
        await self.send(msgspec.json.encode({"type": type, **more}))

    async def say(self, type: str, **more: Any) -> list[Message]:
        """Tell, and be told what comes of it."""
        await self.tell(type, **more)
        return self.heard()

    async def start(self, name: str, **more: Any) -> list[Message]:
        return await self.say("start", id=name, **more)

    async def move(self, column: int) -> list[Message]:
        return await self.say("move", move=column)

    def heard(self) -> list[Message]:
        """What it has been told since it was last asked."""
        heard = [msgspec.json.decode(message) for _, message in self.told]
        self.told.clear()
        return heard

    def seat(self) -> int:
        """Which player it is, by what it was told last."""
        return msgspec.json.decode(self.told[-1][1])["you"]

    async def next(self) -> Message:
        """What it is told next, however long that takes."""
        while not self.told:
            self._news = trio.Event()
            await self._news.wait()
        return msgspec.json.decode(self.told.pop(0)[1])

    async def gone(self) -> None:
        self.talk.gone()
        await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def place(
    settings: Mapping[str, str] | None = None, limits: Limits | None = None, store: Store | None = None
) -> AsyncIterator[Host]:
    async with hosting(settings or {}, limits, store) as (host, _):
        yield host


async def pair(host: Host) -> tuple[Bot, Bot]:
    """Two bots, Ann and Bob, that have just begun a match; the one that is to move comes first."""
    ann, bob = Bot(host), Bot(host)
    await ann.tell("start", id="Ann")
    await bob.tell("start", id="Bob")
    (hers,), (his,) = ann.heard(), bob.heard()
    assert {hers["you"], his["you"]} == {1, 2}
    return (ann, bob) if hers["you"] == 1 else (bob, ann)


async def play(bots: tuple[Bot, Bot], columns: Iterable[int]) -> None:
    """Play them in turn, and forget what was told."""
    for ply, column in enumerate(columns):
        await bots[ply % 2].move(column)
    for bot in bots:
        bot.heard()


async def play_on(bot: Bot) -> list[Message]:
    """Play the lowest column that is free, until the match is over; returns all that was told."""
    told = [await bot.next()]
    while told[-1]["type"] == "state":
        now = told[-1]
        if now["turn"] == now["you"]:
            bot.talk.hear(
                b'{"type":"move","move":%d}' % next(c for c in range(7) if not now["state"][6 * c + 5]),
                trio.current_time(),
            )
        told.append(await bot.next())
    return told


def state(turn: int, you: int, moves: list[int], **more: Any) -> Message:
    """What a state should be, as the game itself sees it."""
    position = GAME.start()
    for column in moves:
        position = position.play(column)
    board = GAME.show(position, ("", ""))
    return {"type": "state", "turn": turn, "you": you, "moves": moves, "state": board} | more


def ignored(message: object, reason: str) -> Message:
    return {"type": "ignored", "msg": message, "reason": reason}


def table(host: Host) -> Record:
    return host.tournaments["open-connect-4"].record


async def over(host: Host) -> list[Concluded]:
    return await kept_matches(host.tournaments["open-connect-4"])
