"""A host: the real keeping of leases and the real ledger, and a referee that makes up what is played."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Protocol

import trio

from server.exits import Unavailable
from server.peers.keeping import LeaseKeeper
from server.peers.leases import Card, Change
from server.peers.registry import STILL
from server.peers.stamps import Handing, Sending
from server.store import journal
from server.store.ledger import Ledger
from tests.simulation.cluster.database import Database, Further, OverTrips, Session
from tournament import entries
from tournament.events import Ending
from tournament.facts import Concluded, Dealt
from tournament.store import Conflict, Jottings, Stale

TIMEOUT = 0.9  # seconds until a host gives up on an answer
STOPS = 3.0  # seconds in which a host that drains has to keep what it has
PLIES = 4
THINKS = (0.02, 0.25)  # seconds
PROMPT = 40  # bytes
CARD = Card("", "", "", "")  # hosts here have no addresses
TOLERANCE = 0.01  # seconds that a relayed bot may be charged too much: clocks go wrong by a hundredth


class Killed(Exception):
    """The process is no more."""


class Circumstances(Protocol):
    """What befalls hosts; the world knows."""

    database: Database
    chance: Random

    def latency(self, host: int) -> float: ...
    def reaches(self, host: int) -> bool: ...
    def answers(self, host: int) -> bool: ...
    def stopped_until(self, host: int) -> float: ...
    def linked(self, one: int, other: int) -> bool: ...
    def link_time(self) -> float: ...
    def look(self) -> None: ...
    def acted(self, host: "Host", tournament: str) -> None: ...
    def told(self, tournament: str, match: str, winner: int | None) -> None: ...
    def let_go(self, tournament: str, epoch: int, match: str, moves: Sequence[Any]) -> None: ...
    def goes_on(self, tournament: str, match: str, moves: Sequence[Any]) -> None: ...
    def complain(self, complaint: str) -> None: ...


class Host:
    """One life of a host, from its start until it is killed."""

    def __init__(
        self, number: int, rate: float, clocks: list[Callable[[], float]], world: Circumstances
    ) -> None:
        self.number = number
        self.dead = False
        self._rate = rate
        self._clocks = clocks  # of all hosts, by number
        self._world = world
        self.keeping = LeaseKeeper(OverTrips(world.database), self.in_thread, now=self.now, sleep=self.sleep)
        self.keeping.willing = True
        self._session = Session(world.database, lambda: self.keeping.leases.host)
        self.ledger = Ledger(self._session, self.in_thread, epoch=self.keeping.leases.epoch)  # type: ignore[arg-type]
        self._holding: dict[str, trio.CancelScope] = {}
        self._playing: dict[str, tuple[str, list[Any]]] = {}  # matches, by tournament, with their moves
        self._sure = trio.Event()
        self._draining = False
        self._nursery: trio.Nursery | None = None
        self._limiter = trio.CapacityLimiter(4)
        self.keeping.heard = self.ledger.try_again
        self.keeping.changed = self._changed
        self.keeping.wavered = self._wavered

    def now(self) -> float:
        return self._clocks[self.number]()

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds / self._rate)
        await self._running()

    async def run(self) -> None:
        try:
            async with trio.open_nursery() as self._nursery:
                while True:
                    try:
                        await self.keeping.register(CARD)
                        break
                    except Unavailable:
                        await self.sleep(0.1)
                self._nursery.start_soon(self.keeping.run)
                self._nursery.start_soon(self.ledger.run)
        except* Killed:
            pass
        except* Conflict as group:  # no host lives on after that
            self._world.complain(f"host {self.number} dies: {group.exceptions[0]}")

    async def open(self, tournament: str) -> None:
        """A new one."""
        if await self.keeping.open(tournament):
            self._changed(Change(gained=(tournament,)))

    def kill(self) -> None:
        self.dead = True
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()

    async def drain(self) -> None:
        """Stop, and let others have everything, as a host that is told to end does: first the moves."""
        self.keeping.willing = False
        self._draining = True
        for scope in self._holding.values():
            scope.cancel()
        with trio.move_on_after(STOPS), suppress(Unavailable, Killed):  # what is left then lapses
            await self.ledger.keep_moves()
            while held := self.keeping.leases.held:
                name = min(held)
                if name in self._playing:
                    self._world.let_go(name, held[name], *self._playing[name])
                await self.keeping.release(name)

    async def in_thread(self, call: Callable[[], Any], *, limiter: trio.CapacityLimiter) -> Any:
        """A question to the database: it may get lost, and so may the answer."""
        begun = self.now()
        async with limiter:
            found = await self._trip(call)
            if isinstance(found, Further):
                await self._trip(lambda: None)  # it locks what it may take: here nobody minds
                found = await self._trip(partial(found.take, self.now() - begun > STILL))
            return found

    async def _trip(self, call: Callable[[], Any]) -> Any:
        """There and back."""
        found = None
        for leg in (self._world.reaches, self._world.answers):
            await self._running()
            await trio.sleep(self._world.latency(self.number))
            if self.dead:
                raise Killed
            if not leg(self.number):
                await trio.sleep(TIMEOUT)
                raise Unavailable("no answer")
            if leg == self._world.reaches:
                found = call()
        await self._running()
        return found

    async def _running(self) -> None:
        """While the process is stopped nothing in it goes on."""
        while (until := self._world.stopped_until(self.number)) > trio.current_time():  # noqa: ASYNC110
            await trio.sleep_until(until)
        if self.dead:
            raise Killed

    def _changed(self, change: Change) -> None:
        for name in change.lost:
            if name in self._holding:
                self._holding.pop(name).cancel()
        for name in change.gained:
            self._holding[name] = scope = trio.CancelScope()
            if self._nursery is not None and not self._draining:
                self._nursery.start_soon(self._hold, name, scope)
        self._world.look()

    def _wavered(self, sure: bool) -> None:
        if sure:
            self._sure.set()
        else:
            self._sure = trio.Event()
        self._world.look()

    # The referee

    async def _hold(self, tournament: str, scope: trio.CancelScope) -> None:
        """Hold match after match, beginning with the one that was in play."""
        with scope:
            try:
                number, match = await self._read(tournament)
                while True:
                    number, match = await self._match(tournament, number, match), None
            except Stale:
                pass

    async def _read(self, tournament: str) -> tuple[int, tuple[list[Any], list[float]] | None]:
        """The number of the next match, and what was played of it."""
        while True:
            try:
                rows, jots = await self.in_thread(
                    partial(self._session.of, tournament), limiter=self._limiter
                )
                break
            except Unavailable:
                await self.sleep(0.1)
        facts = [entries.fact(row.body) for row in rows]
        over = sum(isinstance(fact, Concluded) for fact in facts)
        dealt = sum(isinstance(fact, Dealt) for fact in facts)
        if dealt == over:
            return over + 1, None
        moves, times, _ = journal.jotted(jots).get(f"{tournament}-{dealt}", Jottings())
        self._world.goes_on(tournament, f"{tournament}-{dealt}", moves)
        return dealt, ([*moves], [*times])

    async def _match(self, tournament: str, number: int, kept: tuple[list[Any], list[float]] | None) -> int:
        name, now, ledger = f"{tournament}-{number}", trio.current_time, self.ledger
        await self._certain(tournament)
        if kept is None:
            await ledger.keep(tournament, now(), [Dealt(name, number)])
        moves, times = kept or ([], [])
        self._playing[tournament] = name, moves
        ledger.jot(name, Jottings(moves, times))
        bots_host = self._world.chance.randrange(len(self._clocks))
        while len(moves) < PLIES:
            spent = await self._move(bots_host)
            await self._certain(tournament)
            moves.append(self._world.chance.randrange(9))
            times.append(round(max(0.0, spent), 6))
        winner = self._world.chance.choice((0, 1, None))
        score = {0: (1.0, 0.0), 1: (0.0, 1.0), None: (0.5, 0.5)}[winner]
        end = Concluded(
            name, number, ("ann", "bob"), winner, Ending.PLAYED, "", score, tuple(moves), tuple(times)
        )
        await ledger.keep(tournament, now(), [end])
        self._world.told(tournament, name, winner)
        return number + 1

    async def _certain(self, tournament: str) -> None:
        """A referee decides nothing while this host may not hold the tournament."""
        await self._running()
        while not self.keeping.sure:
            await self._sure.wait()
        self._world.acted(self, tournament)

    async def _move(self, bots_host: int) -> float:
        """Ask a bot, which may be at another host, for a move; returns what it is charged for."""
        thinks = self._world.chance.uniform(*THINKS)
        if bots_host == self.number or not self._world.linked(self.number, bots_host):
            await trio.sleep(thinks)
            return thinks
        theirs, asked = self._clocks[bots_host], self.now()
        sending, handing = Sending(asked), Handing(theirs())
        sending.send(PROMPT, asked)
        await trio.sleep(self._world.link_time())
        handing.hand(PROMPT, theirs())
        await trio.sleep(thinks)
        heard = handing.heard(theirs())
        await trio.sleep(self._world.link_time())
        charged = sending.arrived(heard, self.now()) - asked
        if charged > thinks + TOLERANCE:
            self._world.complain(f"a bot that thought for {thinks:.3f} s is charged {charged:.3f} s")
        return charged
