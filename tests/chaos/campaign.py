"""Hosts that are ended at random instants and started again on what they left, while bots play on.

After some lives the last host is let go in peace, and its record is compared
with all that bots and the API were told. Then another begins with nothing: a
journal that grew for ever would make every start slower than the one before.
"""

import json
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import trio
from msgspec import Struct

from server.export.verify import verify
from server.store import journal
from server.store.journal import Reader
from tests.chaos.bots import Bot, Stranger
from tests.chaos.organiser import ROUND_ROBIN, Organiser
from tests.chaos.process import LOOK, Host, nest
from tests.chaos.told import Told, Verdict
from tests.chaos.web_bots import ArenaBot, DotsBot
from tests.hang import HANG
from tests.server.store.postgresql import Server
from tournament.folding import fold

LIVES = 50  # of one record
LIFE = 0.5  # seconds at most from being ready to the end
EARLY = 0.25  # how often a host is killed before it is ready …
LATE = 0.15  # … and how often while it is about to stop
FRESH = 0.05  # how often a host is started from nothing, imports and all
LADDER_BOTS = 4
WEB_BOTS = 4  # of each protocol whose bots come back by an address
STRANGERS = 2  # who cannot come back to a match
SETTLED = 1.0  # seconds that the last host of a record has at least
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a process that dies takes nothing with it


class Plan(Struct, frozen=True):
    seed: int
    how: str  # kill, term or restart-postgres
    times: int
    server: Server | None = None  # None: SQLite
    crashes: int = 0  # of the database under the last host of a record, after all kills
    life: float = LIFE
    settled: float = SETTLED


class Lives(Struct):
    """What befell one host after another, in figures."""

    ended: int = 0
    early: int = 0  # before it was ready
    late: int = 0  # after it was asked to stop
    slowest: float = 0.0  # seconds from SIGTERM to the end
    interrupted: int = 0  # matches in play when a host was killed, of bots that can come back …
    void: int = 0  # … and those of them that were cut short after all
    addressed: int = 0  # of these, matches whose bots come back by an address …
    addressed_void: int = 0
    strange: int = 0  # the same of bots that cannot …
    strange_void: int = 0


def campaign(plan: Plan, said: Callable[[int, Verdict], None]) -> tuple[Lives, Verdict]:
    """All of it; `said` hears how it stands after each record."""
    return trio.run(_records, plan, said)


async def _records(plan: Plan, said: Callable[[int, Verdict], None]) -> tuple[Lives, Verdict]:
    lives, total, seed = Lives(), Verdict(), plan.seed
    async with nest() as hosts:
        while lives.ended < plan.times:
            count = min(LIVES, plan.times - lives.ended)
            with tempfile.TemporaryDirectory(dir=FAST, prefix="quintain-chaos-") as folder:
                store = plan.server.database() if plan.server is not None else ""
                story = Story(plan, Host(hosts, Path(folder), store), lives, Random(f"{seed} chaos"))
                total.add(await story.record(count))
            said(lives.ended, total)
            seed += 1
    return lives, total


class Story:
    """One record, and the hosts that have made it."""

    def __init__(self, plan: Plan, host: Host, lives: Lives, chance: Random) -> None:
        self._plan = plan
        self._host = host
        self._lives = lives
        self._chance = chance
        self._told = Told()
        self._left: set[str] = set()  # matches of bots that can come back, in play when a host was killed …
        self._addressed: set[str] = set()  # … and of these, by an address

    async def record(self, count: int) -> Verdict:
        host, told, chance = self._host, self._told, self._chance
        organiser = Organiser(host.folder, host.http, told)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(organiser.run)
            for number in range(LADDER_BOTS):
                bot = Bot(f"l{number}", "tic-tac-toe", host.tcp, lambda: organiser.ladder, told, chance)
                nursery.start_soon(bot.run)
            for number in range(ROUND_ROBIN):
                bot = Bot(f"c{number}", "connect-4", host.tcp, lambda: organiser.cup, told, chance)
                nursery.start_soon(bot.run)
            for number in range(WEB_BOTS):
                nursery.start_soon(DotsBot(f"d{number}", host.http, told, chance).run)
                nursery.start_soon(ArenaBot(f"a{number}", host.http, chance).run)
            for number in range(STRANGERS if self._plan.how == "kill" else 0):
                nursery.start_soon(Stranger(f"s{number}", host.tcp, chance).run)
            await {"kill": self._kill, "term": self._term, "restart-postgres": self._restart}[self._plan.how](
                count
            )
            with trio.fail_after(HANG):
                while not told.ends:  # noqa: ASYNC110 - on a busy machine the hosts before may have been too short
                    await trio.sleep(LOOK)
            await trio.sleep(self._plan.settled)
            code, seconds = await host.end(signal.SIGTERM)
            if code != 0:
                told.verdict.wrong.append(f"the last host ended with {code}, after {seconds:.1f} s")
            nursery.cancel_scope.cancel()
        exported = await host.command("export", "--all")
        verdict = await trio.to_thread.run_sync(_compared, host, told, exported)
        if self._plan.how == "term" and verdict.void:
            verdict.wrong.append(f"{verdict.void} matches were cut short by hosts that had time to keep them")
        void = len(verdict.cut_short & self._left)
        self._lives.void += void
        self._lives.addressed_void += len(verdict.cut_short & self._addressed)
        self._lives.strange_void += len(verdict.cut_short) - void
        return verdict

    async def _kill(self, count: int) -> None:
        host, lives, chance = self._host, self._lives, self._chance
        starting = 0.2  # seconds that a start takes, as far as is known
        for _ in range(count):
            fresh = chance.random() < FRESH
            begun = time.monotonic()
            await host.start(fresh)
            if chance.random() < EARLY and not fresh:
                lives.early += 1
                await trio.sleep(chance.uniform(0, starting))
            else:
                await host.ready()
                if not fresh:
                    starting = time.monotonic() - begun
                await trio.sleep(chance.uniform(0, self._plan.life))
                if chance.random() < LATE:
                    lives.late += 1
                    host.send(signal.SIGTERM)
                    await trio.sleep(chance.uniform(0, 0.3))
            code, _ = await host.end(signal.SIGKILL)
            lives.ended += 1
            await trio.to_thread.run_sync(self._count_what_was_in_play)
            if code not in (-signal.SIGKILL, 0):
                self._told.verdict.wrong.append(f"a host ended by itself, with {code}: {host.tail()}")
        await self._last()
        await self._crash(self._plan.crashes)

    def _count_what_was_in_play(self) -> None:
        if not self._host.has_kept:
            return
        with closing(_reader(self._host)) as reader:
            records = fold(map(journal.kept, reader.kept()))
        for record in records.values():
            mine = record.dealt.keys() & record.keys.keys()
            self._left |= mine
            self._addressed |= record.ways_back.keys()
            self._lives.addressed += len(record.ways_back)
            self._lives.interrupted += len(mine)
            self._lives.strange += len(record.dealt) - len(mine)

    async def _term(self, count: int) -> None:
        host, lives = self._host, self._lives
        for _ in range(count):
            await host.start(self._chance.random() < FRESH)
            await host.ready()
            await trio.sleep(self._chance.uniform(0, self._plan.life))
            code, seconds = await host.end(signal.SIGTERM)
            lives.ended += 1
            lives.slowest = max(lives.slowest, seconds)
            if code != 0:
                why = f"asked to stop, a host ended with {code} after {seconds:.1f} s: {host.tail()}"
                self._told.verdict.wrong.append(why)
        await self._last()

    async def _restart(self, count: int) -> None:
        await self._last()
        await self._crash(count)

    async def _crash(self, count: int) -> None:
        """The host lives on; its database is stopped as by a crash, and started again."""
        for _ in range(count):
            server = self._plan.server
            assert server is not None
            await trio.sleep(self._chance.uniform(0.2, 2 * self._plan.life))
            await trio.to_thread.run_sync(server.stop)
            await trio.to_thread.run_sync(server.start)
            self._lives.ended += 1
            if self._host.code is not None:
                self._told.verdict.wrong.append(f"the host ended with its database: {self._host.tail()}")
                return

    async def _last(self) -> None:
        await self._host.start(fresh=False)
        await self._host.ready()


def _compared(host: Host, told: Told, exported: bytes) -> Verdict:
    lines = exported.splitlines(keepends=True)
    verdict = told.compare(map(json.loads, lines))
    verdict.wrong += (f"line {each.line} does not follow: {each.why}" for each in verify(lines).findings)
    verdict.wrong += _unsound(host)
    if b"Traceback" in host.log.read_bytes():
        verdict.wrong.append(f"a host had a bug to tell of: {host.tail()}")
    return verdict


def _unsound(host: Host) -> list[str]:
    """What is wrong with the database itself."""
    with closing(_reader(host)) as reader:
        return reader.check()


def _reader(host: Host) -> Reader:
    if host.store:
        from server.store.postgres_reader import PostgresReader

        return PostgresReader(host.store)
    from server.store.sqlite_reader import SqliteReader

    return SqliteReader(host.journal)
