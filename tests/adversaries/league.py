"""An event for each attacker, and one for all: calm and attack take turns, and a row has the figures."""

import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import trio
from msgspec import Struct

from tests.adversaries.company import CUPS
from tests.adversaries.event import Event, Past, complaints, event
from tests.adversaries.ground import Report, Task
from tests.adversaries.strangers import LEAGUE
from tests.blackbox.test_calls import Internal
from tests.hang import HANG
from tests.server.served import ROOT

TURNS = 2  # of each: calm, attack, calm, attack
SETTLE = 1.0  # seconds between two turns that belong to neither
LOOK = 0.25  # seconds between two looks at the memory
SHOWN = 5  # harms of a kind that are told of
TOGETHER = "all"


class Figures(Struct):
    """Of one kind of turn."""

    moves: int = 0
    p99: float = 0.0  # seconds from sending a move until it is told
    longest: float = 0.0
    waited: float = 0.0  # seconds at most that somebody at an open table waited for a move


class Row(Struct):
    """What came of one attacker, or of all of them together."""

    name: str
    tries: int
    lost: float  # points of honest bots
    matches: int  # of honest bots, that are over
    void: int
    cut: dict[str, int]  # how often an honest bot was hung up on or refused, and why
    calm: Figures
    attacked: Figures
    before: dict[str, float]  # MiB, of play, show and the other worker that has the most
    peak: dict[str, float]
    harms: list[str]  # what must not have happened


class Turn(Struct, frozen=True):
    begun: float
    over: float
    attacked: bool


class Plan(Struct, frozen=True):
    seconds: float  # of one turn
    turns: int = TURNS
    planted: bool = False
    past: Past = Past()
    settle: float = SETTLE
    workers: int = 1


async def league(plan: Plan, strangers: Sequence[str], alone: bool, together: bool) -> AsyncGenerator[Row]:
    """A row for each of them alone, and one for all together."""
    events: list[tuple[str, Sequence[str]]] = [(name, (name,)) for name in strangers if alone]
    if together:
        events.append((TOGETHER, strangers))
    with TemporaryDirectory(prefix="quintain-adversaries-") as folder:
        journal = Path(folder) / "past.sqlite"
        plan.past.write(journal)
        for name, chosen in events:
            (row,) = await held([(plan, name, chosen)], journal)
            yield row


async def held(attacks: Sequence[tuple[Plan, str, Sequence[str]]], journal: Path) -> list[Row]:
    """What comes of these strangers, one lot after another, at an event of their own."""
    plan = attacks[0][0]
    internal = await trio.to_thread.run_sync(Internal)
    try:
        with TemporaryDirectory(prefix="quintain-adversaries-") as folder:
            async with event(Path(folder), journal, plan.past, plan.workers) as there:
                return [await _attacked(*attack, there, internal) for attack in attacks]
    finally:
        await trio.to_thread.run_sync(internal.close)


async def _attacked(plan: Plan, name: str, strangers: Sequence[str], there: Event, internal: Internal) -> Row:
    task = Task(there.ports, tuple(strangers), internal.url, plan.planted)
    tries, through, turns = Counter[str](), Counter[str](), list[Turn]()
    await there.ask("GET", "/api/tournaments/open-quoridor/standings")  # which needs libraries, once
    before = there.memory()
    async with _memory_watched(there) as peak:
        harms = list[str]()
        for _ in range(plan.turns):
            turns.append(await _turn(plan, attacked=False))
            async with attackers(task) as reports:
                turn = await _turn(plan, attacked=True)
                harms += await _starved(there)
                turns.append(turn)
            tries.update(reports[0].tries)
            through.update(reports[0].through)
        await trio.sleep(plan.settle)
        verdict = await there.verdict()
    harms += verdict.matches_lost[:SHOWN]
    harms += (f"got {what}, {times} times" for what, times in list(through.items())[:SHOWN])
    if internal.posts:
        harms.append(f"{len(internal.posts)} posts to an internal service, first to {internal.posts[0]}")
    harms += grown(before, peak, max(LEAGUE[each].growth for each in strangers))
    harms += complaints(there.host)[:SHOWN]
    return Row(
        name=name,
        tries=tries.total(),
        lost=verdict.lost,
        matches=verdict.matches,
        void=verdict.void,
        cut=dict(there.noted.cut.most_common()),
        calm=_figures(there, turns, attacked=False),
        attacked=_figures(there, turns, attacked=True),
        before=before,
        peak=peak,
        harms=harms,
    )


def grown(before: Mapping[str, float], peak: Mapping[str, float], bound: int) -> list[str]:
    """The processes that grew by more MiB than they may."""
    return [
        f"{which} grew from {before[which]:.0f} to {most:.0f} MiB, which is more than {bound}"
        for which, most in peak.items()
        if most - before.get(which, most) > bound
    ]


async def _turn(plan: Plan, attacked: bool) -> Turn:
    await trio.sleep(plan.settle)
    begun = trio.current_time()
    await trio.sleep(plan.seconds)
    return Turn(begun, trio.current_time(), attacked)


async def _starved(there: Event) -> list[str]:
    """The tournaments in which nothing comes to an end any more, however long one waits."""
    before = Counter(there.noted.over)
    waiting = {cup.tournament for cup in CUPS}
    with trio.move_on_after(HANG):
        while waiting:
            await trio.sleep(LOOK)
            waiting = {each for each in waiting if there.noted.over[each] == before[each]}
    return [f"{each} stood still for {HANG:g} s" for each in sorted(waiting)]


def _figures(there: Event, turns: Sequence[Turn], attacked: bool) -> Figures:
    """A wait that begins in an attack and lasts longer belongs to the attack."""
    noted = there.noted
    took = sorted(took for at, took in noted.took if _in(turns, at, at) == attacked)
    waited = [took for at, took in noted.waited if _in(turns, at - took, at) == attacked]
    if not took:
        return Figures()
    return Figures(len(took), took[len(took) * 99 // 100], took[-1], max(waited, default=0.0))


def _in(turns: Sequence[Turn], begun: float, over: float) -> bool | None:
    """Whether something happened in an attack; None if it was between two turns."""
    met = {turn.attacked for turn in turns if begun <= turn.over and turn.begun <= over}
    return max(met, default=None)


# Beside it


@asynccontextmanager
async def attackers(task: Task) -> AsyncGenerator[list[Report]]:
    """They attack for as long as the block lasts; after it there is what they report."""
    command = [sys.executable, "-m", "tests.adversaries.attack", msgspec.json.encode(task).decode()]
    reports = list[Report]()
    process = await trio.lowlevel.open_process(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with trio.fail_after(HANG):
            said = b""
            while b"\n" not in said and (more := await process.stdout.receive_some()):
                said += more
        assert said == b"ready\n", f"the attackers did not begin, and said {said!r}"
        yield reports
        await process.stdin.aclose()
        with trio.fail_after(HANG):
            said += b"".join([part async for part in process.stdout])
            code = await process.wait()
        assert code == 0, f"the attackers ended with {code}"
        reports.append(msgspec.json.decode(said.split(b"\n")[1], type=Report))
    finally:
        if process.returncode is None:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


@asynccontextmanager
async def _memory_watched(there: Event) -> AsyncGenerator[dict[str, float]]:
    """The most that each process has in memory, as far as one looks."""
    peak = there.memory()

    async def watch() -> None:
        while True:
            for name, now in there.memory().items():
                peak[name] = max(peak.get(name, 0.0), now)
            await trio.sleep(LOOK)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        yield peak
        nursery.cancel_scope.cancel()


# As text


HEAD = (
    f"{'':14}{'tries':>8}{'lost':>6}{'matches':>9}{'void':>6}{'cut':>5}"
    f"{'p99 ms':>15}{'ratio':>7}{'longest ms':>15}{'waited s':>12}{'play MiB':>13}{'show MiB':>13}"
)


def line(row: Row) -> str:
    calm, attacked = row.calm, row.attacked
    ratio = attacked.p99 / calm.p99 if calm.p99 else float("nan")
    return (
        f"{row.name:14}{row.tries:8,}{row.lost:6g}{row.matches:9,}{row.void:6}{sum(row.cut.values()):5}"
        f"{_both(calm.p99 * 1000, attacked.p99 * 1000):>15}{ratio:6.1f}x"
        f"{_both(calm.longest * 1000, attacked.longest * 1000):>15}"
        f"{_both(calm.waited, attacked.waited, 1):>12}"
        f"{_grown(row.before, row.peak, 'play'):>13}{_grown(row.before, row.peak, 'show'):>13}"
    )


def _both(calm: float, attacked: float, digits: int = 0) -> str:
    return f"{calm:,.{digits}f} / {attacked:,.{digits}f}"


def _grown(before: Mapping[str, float], peak: Mapping[str, float], which: str) -> str:
    return f"{before.get(which, 0):,.0f} / {peak.get(which, 0):,.0f}"
