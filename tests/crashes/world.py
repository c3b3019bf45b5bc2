"""One tournament, its host and its bots, and what is left of them at any step.

The bots decide by what is on the board and by nothing else, so a tournament
comes to the same however often it is interrupted.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import trio
from msgspec import Struct
from trio.testing import MockClock

from server.host.host import Host
from server.host.unwelcome import Unwelcome
from server.store import snapshots
from server.store.journal import Engine
from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from tests.deterministic import take_turns_by
from tournament.desk import Desk
from tournament.events import Ended
from tournament.facts import AnyFact, Kept, Opened, State
from tournament.format import Terms, formats
from tournament.player import Player, Seat
from tournament.record import Record
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

NAME = "cup"
FILE = "quintain.sqlite"
SHM = Path("/dev/shm")  # noqa: S108
FAST = SHM if SHM.is_dir() else None  # folder: what a killed process wrote is in memory, synchronised or not
BOUND = 5_000.0  # virtual seconds in which all has to be over
ENOUGH = 12  # matches that are held where a format has no end

T = TypeVar("T")


class Contest(Struct, frozen=True):
    """What is held."""

    game: str = "tic-tac-toe"
    format: str = "round-robin"
    bots: int = 4
    terms: Terms = Terms()

    @property
    def names(self) -> list[str]:
        return [f"bot-{number}" for number in range(self.bots)]

    @property
    def opened(self) -> Opened:
        endless = formats()[self.format].endless
        return Opened(self.game, self.format, None if endless else self.bots, self.terms)


class Told(Struct, frozen=True):
    """What somebody has heard: a fact that is known, or as `Ended` what a bot was told of its match."""

    match: str
    said: AnyFact | Ended


class Disk(Struct, frozen=True):
    """What is left of a process."""

    step: int
    folder: Path
    told: tuple[Told, ...]  # by then


class Outcome(Struct, frozen=True):
    steps: int
    told: tuple[Told, ...]
    kept: tuple[Kept, ...]
    rows: tuple[object, ...]  # the standings
    over: bool


class Counted:
    """An engine that knows how often it was written to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.writes = 0

    def write(self, rows: Any) -> Any:
        heads = self.engine.write(rows)
        self.writes += 1
        return heads

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


async def at_once(call: Callable[[], T], *, limiter: object = None) -> T:
    """In place of a thread, of which nobody could say when it is heard of."""
    await trio.lowlevel.checkpoint()
    return call()


class Steps(trio.abc.Instrument):
    """Counts the steps of all tasks; `before` is called before each with its number."""

    def __init__(self, before: Callable[[int], None]) -> None:
        self.count = 0
        self._before = before

    def before_task_step(self, task: object) -> None:
        self._before(self.count)
        self.count += 1


class World:
    """A process from its start, on what is in a folder, until all is over or `last` steps were made."""

    def __init__(
        self, contest: Contest, folder: Path, wrap: Callable[[Engine], Engine] = lambda engine: engine
    ) -> None:
        self.contest = contest
        self.told: list[Told] = []
        self._folder = folder
        self._engine = Counted(wrap(Sqlite(folder / FILE)))
        self._scope = trio.CancelScope()
        self._ended = False  # the process is no more: what goes on is nobody's business

    def run(self, seed: int, watch: Callable[["World", int], None] | None = None) -> Outcome:
        """Let it happen; `watch` is called before each step and may call `take` and `end`."""
        take_turns_by(seed)
        steps = Steps(lambda number: None if self._ended or watch is None else watch(self, number))
        rows, over = self._rows_of(steps)
        kept = () if self._ended else tuple(Ledger(self._engine).kept())
        self._engine.close()
        return Outcome(steps.count, tuple(self.told), kept, rows, over)

    def _rows_of(self, steps: Steps) -> tuple[tuple[object, ...], bool]:
        try:
            return trio.run(self._live, clock=MockClock(autojump_threshold=0), instruments=[steps])
        except Exception:
            if self._ended:  # as it may when those it belongs to are gone
                return (), False
            raise

    @property
    def writes(self) -> int:
        return self._engine.writes

    def take(self, step: int, to: Path) -> Disk:
        shutil.copytree(self._folder, to)
        return Disk(step, to, tuple(self.told))

    def end(self) -> None:
        """Killed: nothing that happens from now on has happened."""
        self._ended = True
        with suppress(trio.RunFinishedError):  # it was about to end by itself
            trio.lowlevel.current_trio_token().run_sync_soon(self._scope.cancel)

    async def _live(self) -> tuple[tuple[object, ...], bool]:
        host = Host(
            store=Ledger(self._engine, at_once),
            timekeeper=Timekeeper(inf),
            wall=trio.current_time,
            load=self._load,
        )
        host.on_fact.append(self._hear)
        self._scope.deadline = trio.current_time() + BOUND
        rows: tuple[object, ...] = ()
        with self._scope:
            async with trio.open_nursery() as nursery:
                await nursery.start(host.run)
                if NAME not in host.tournaments:
                    await host.open(NAME, self.contest.opened)
                cup = host.tournaments[NAME]
                if cup.record.state is not State.FINISHED:
                    for name in self.contest.names:
                        await self._come(host, name, nursery)
                    if cup.record.format.endless and cup.record.state is State.REGISTERING:
                        await Desk(cup, "the organiser").start()
                    await self._until_over(cup)
                rows = tuple(cup.record.standings())
                nursery.cancel_scope.cancel()
        return rows, not self._scope.cancelled_caught

    def _load(self) -> tuple[dict[str, Record], list[Kept]]:
        """As a host does after a long past: so whatever comes after a crash goes on from a snapshot."""
        path = self._folder / snapshots.FILE
        known = snapshots.folded(self._engine, path)
        snapshots.save(path, known)
        return known.records, known.audit

    async def _come(self, host: Host, name: str, nursery: trio.Nursery) -> None:
        """Every other bot has a token, by which it can come back to its match."""
        token = f"the token of {name}" if name[-1] in "02468" else None
        try:
            visit = await host.arrive(
                name,
                self.contest.game,
                tournament=NAME,
                token=token,
                keeps=token is not None,
                resumes=token is not None,
            )
        except Unwelcome:
            assert host.tournaments[NAME].record.state is State.FINISHED, "nothing else keeps an entrant out"
            return
        visit.acknowledge()
        nursery.start_soon(self._play, visit.player)

    async def _until_over(self, cup: Tournament) -> None:
        if cup.record.format.endless:
            while len(cup.record.matches) < ENOUGH:  # noqa: ASYNC110 - on a virtual clock
                await trio.sleep(1.0)
        else:
            await cup.finished()

    async def _play(self, player: Player) -> None:
        async for seat in player:
            await self._answer(seat, player.name)

    async def _answer(self, seat: Seat, name: str) -> None:
        match = seat.match
        async for event in match.log.read():
            if isinstance(event, Ended):
                self.told.append(Told(match.name, event))
            elif seat.to_move:
                choice = crc32(f"{name} {match.moves}".encode())
                await trio.sleep(choice % 16 / 8)
                if seat.to_move:
                    moves = list(match.position.moves())
                    seat.play(match.game.write(moves[choice % len(moves)]))

    def _hear(self, tournament: Tournament, fact: AnyFact) -> None:
        self.told.append(Told(getattr(fact, "match", ""), fact))
