"""The ledger: groups, trouble, and how it ends."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
import trio.testing
from msgspec import UNSET, structs
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.exits import Unavailable
from server.store.journal import Jot
from server.store.ledger import AT_A_TIME, ENOUGH, LATE, LOOK, REST, RETRY, SOON, STANDS_STILL, Ledger
from server.store.sqlite import Sqlite
from tests.crashes.world import FAST, Contest, World, at_once
from tests.effort import tries
from tests.server.store.counting import Read
from tests.server.store.faults import Faulty
from tests.server.store.jotting import played
from tests.turns import Rounds
from tournament.entries import Entry
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Entered, Kept, State, Turned
from tournament.store import Jottings, Stale

FAULTS = 6  # of the writes of a tournament, from its first to its last
PAUSED = Turned(State.PAUSED)
WON = Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "three in a row", (1.0, 0.0))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Faulty]:
    engine = Sqlite(tmp_path / "quintain.sqlite")
    yield Faulty(engine)
    engine.close()


@asynccontextmanager
async def running(engine: Faulty) -> AsyncIterator[tuple[Ledger, trio.Nursery]]:
    ledger = Ledger(engine, at_once)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        yield ledger, nursery
        nursery.cancel_scope.cancel()


async def test_what_gathers_goes_in_one_transaction(engine: Faulty, autojump_clock: MockClock) -> None:
    async with running(engine) as (ledger, _), trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(ledger.keep, "cup", 1.0, [Entered(f"bot-{number}")])
    assert len(engine.batches) <= 2
    assert len(list(engine.kept())) == 50


async def test_however_many_tournaments_ask_for_what_was_jotted_down_it_is_read_once_for_each_commit(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Catches a start that read, for each tournament, the moves of all: minutes for some hundreds of them."""
    engine = Read(tmp_path / "quintain.sqlite")
    ledger = Ledger(engine, at_once)
    assert [ledger.jotted() for _ in range(100)] == [{}] * 100
    assert engine.times == 1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        played(ledger, "cup-1", ["NW"])
        await ledger.keep_moves()
        assert [ledger.jotted() for _ in range(100)] == [{"cup-1": Jottings(("NW",), (0.5,))}] * 100
        await ledger.keep("cup", 1.0, [Entered("ann")])
        assert ledger.jotted() == {"cup-1": Jottings(("NW",), (0.5,))}
        nursery.cancel_scope.cancel()
    assert engine.times == 3
    engine.close()


async def test_each_commit_is_timed_from_its_beginning_until_it_is_safe(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    took: list[float] = []

    async def slowly(write: Callable[[], object], *, limiter: trio.CapacityLimiter) -> object:
        await trio.sleep(3.0)
        return write()

    ledger = Ledger(engine, slowly)
    ledger.committed = took.append
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        for name in ("ann", "bob"):
            await ledger.keep("cup", 1.0, [Entered(name)])
        nursery.cancel_scope.cancel()
    assert took == [3.0, 3.0]


async def test_an_engine_that_does_not_return_is_trouble_until_it_does(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a host that is ready, with all clocks running, while its database stands still."""
    told: list[tuple[float, str]] = []

    async def slowly(write: Callable[[], object], *, limiter: trio.CapacityLimiter) -> object:
        await trio.sleep(3 * LATE)
        return write()

    ledger, begun = Ledger(engine, slowly), trio.current_time()
    ledger.listen(lambda: told.append((trio.current_time() - begun, ledger.trouble)))
    with capture_logs():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ledger.run)
            await ledger.keep("cup", 1.0, [PAUSED])
            nursery.cancel_scope.cancel()
    assert told == [(LATE, STANDS_STILL), (3 * LATE, "")]
    assert len(engine.batches) == 1


async def test_that_the_host_stands_still_while_something_is_written_is_no_trouble(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a log that says that nothing can be kept, after the machine of the host was paused."""

    async def slowly(write: Callable[[], object], *, limiter: trio.CapacityLimiter) -> object:
        autojump_clock.jump(60.0)
        await trio.sleep(LATE / 2)
        return write()

    ledger, told = Ledger(engine, slowly), list[str]()
    ledger.listen(lambda: told.append(ledger.trouble))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        await trio.sleep(LATE / 3)
        await ledger.keep("cup", 1.0, [PAUSED])
        nursery.cancel_scope.cancel()
    assert not told


async def test_after_a_commit_there_is_a_rest_for_which_nobody_who_comes_later_waits(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a commit for every match that ends, and a rest that is taken when nothing was written."""
    begun, kept = trio.current_time(), dict[str, float]()

    async def keep(name: str, at: float) -> None:
        await trio.sleep_until(begun + at)
        await ledger.keep("cup", 1.0, [ended(name)])
        kept[name] = trio.current_time() - begun - at

    async with running(engine) as (ledger, _), trio.open_nursery() as nursery:
        many_play(ledger)
        for name, at in (("first", 1.0), ("soon", 1.0 + REST / 4), ("too", 1.0 + REST / 2), ("late", 2.0)):
            nursery.start_soon(keep, name, at)
    assert kept == pytest.approx({"first": 0.0, "soon": 3 * REST / 4, "too": REST / 2, "late": 0.0})
    assert len(engine.batches) == 3


async def test_where_little_is_played_nobody_waits_for_more(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches two fast bots at an empty table who spend their time waiting for others."""
    async with running(engine) as (ledger, _):
        played(ledger, "cup-1")
        begun = trio.current_time()
        for number in range(10):
            await ledger.keep("cup", 1.0, [ended(f"bot-{number}")])
        assert trio.current_time() - begun < REST


async def test_whoever_is_about_to_play_waits_for_nobody_and_takes_along_whoever_waits(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a table of a thousand bots at which every match begins a rest after the one before."""
    async with running(engine) as (ledger, nursery):
        many_play(ledger)
        await ledger.keep("cup", 1.0, [ended("first")])
        begun = trio.current_time()
        nursery.start_soon(ledger.keep, "cup", 1.0, [ended("second")])
        await trio.testing.wait_all_tasks_blocked()
        for number in range(10):
            await ledger.keep("cup", 1.0, [Entered(f"bot-{number}")])
        assert trio.current_time() == begun
        assert [entry.kind for entry in engine.kept()] == ["concluded"] * 2 + ["entered"] * 10
        assert len(engine.batches) == 11


def ended(match: str) -> Concluded:
    return structs.replace(WON, match=match)


def many_play(ledger: Ledger) -> None:
    for number in range(100):
        played(ledger, f"cup-{number}")


async def test_when_enough_waits_the_rest_is_over(engine: Faulty, autojump_clock: MockClock) -> None:
    async with running(engine) as (ledger, _):
        many_play(ledger)
        await ledger.keep("cup", 1.0, [PAUSED])
        begun = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(ENOUGH):
                nursery.start_soon(ledger.keep, "cup", 1.0, [ended(f"match-{number}")])
                await trio.testing.wait_all_tasks_blocked()
        assert trio.current_time() == begun
        assert len(engine.batches) == 2


async def test_moves_wait_for_others_and_not_for_ever(engine: Faulty, autojump_clock: MockClock) -> None:
    async with running(engine) as (ledger, _):
        match = played(ledger, "cup-1")
        for _ in range(3):
            match.play("NW")
            await trio.sleep(SOON / 8)
        await ledger.keep("cup", 1.0, [PAUSED])
        assert not ledger.jotted(), "what has to be safe takes no moves with it"
        await trio.sleep(SOON)
        assert ledger.jotted() == {"cup-1": Jottings(("NW",) * 3, (0.5,) * 3)}
        match.play("N", 0.25)
        await trio.sleep(3 * SOON)
        assert engine.batches[2:] == [[Jot("cup-1", 4, '["N"]', "[0.25]")]], "each once"
        assert ledger.jotted() == {"cup-1": Jottings(("NW", "NW", "NW", "N"), (0.5, 0.5, 0.5, 0.25))}


async def test_moves_that_are_made_while_others_are_written_are_kept_by_the_next_commit_each_once(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a thread that takes along what was played after it was asked, which is then written twice."""

    async def slowly(write: Callable[[], object], *, limiter: trio.CapacityLimiter) -> object:
        if len(match.moves) == 1:
            match.play("N", 0.25)
        return write()

    ledger = Ledger(engine, slowly)
    match = played(ledger, "cup-1", ["NW"])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        await trio.sleep(4 * SOON)
        nursery.cancel_scope.cancel()
    assert engine.batches == [[Jot("cup-1", 1, '["NW"]', "[0.5]")], [Jot("cup-1", 2, '["N"]', "[0.25]")]]


async def test_whoever_waits_for_all_moves_waits_for_those_that_are_made_while_others_are_written(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a host that stops while moves are written, and lets go of a match without the last of them."""

    async def slowly(write: Callable[[], object], *, limiter: trio.CapacityLimiter) -> object:
        await trio.sleep(4 * SOON)
        return write()

    ledger = Ledger(engine, slowly)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        match = played(ledger, "cup-1", ["NW"])
        await trio.sleep(2 * SOON)
        match.play("N", 0.25)
        assert not engine.batches, "they are under way"
        await ledger.keep_moves()
        assert ledger.jotted() == {"cup-1": Jottings(("NW", "N"), (0.5, 0.25))}
        await ledger.keep_moves()
        assert len(engine.batches) == 2, "each once"
        nursery.cancel_scope.cancel()


async def test_moves_of_a_match_that_is_over_by_then_are_not_written(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    async with running(engine) as (ledger, _):
        played(ledger, WON.match, ["NW"])
        played(ledger, "another", ["NW"])
        await ledger.keep("cup", 1.0, [WON])
        await trio.sleep(2 * SOON)
        assert engine.batches[1:] == [[Jot("another", 1, '["NW"]', "[0.5]")]]


async def test_an_idle_store_only_looks_whether_it_could_write(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    async with running(engine):
        await trio.sleep(200 * LOOK + 1.0)
        assert engine.batches == [()] * 200


@pytest.mark.parametrize("moves", [[], ["NW"]])
@pytest.mark.parametrize("plays", [False, True])
async def test_trouble_is_noticed_when_there_is_nothing_to_write_and_passes(
    plays: bool, moves: list[str], engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a host that says it is ready, and finds out only when a match has ended, or goes on."""
    async with running(engine) as (ledger, _):
        if plays:
            played(ledger, "cup-1", moves)
            await trio.sleep(LOOK)
        engine.first, engine.times = len(engine.batches), 2
        await trio.sleep(LOOK + 1.0)
        assert ledger.trouble == "the disk is full"
        await trio.sleep(2 * RETRY)
        assert ledger.trouble == ""
    assert not list(engine.kept())


@pytest.mark.parametrize("after", [False, True])
async def test_trouble_is_waited_out_and_told_of_once(
    engine: Faulty, autojump_clock: MockClock, after: bool
) -> None:
    heard: list[tuple[float, str]] = []
    engine.times, engine.after = 3, after
    with capture_logs() as logs:
        async with running(engine) as (ledger, nursery):
            ledger.listen(lambda: heard.append((trio.current_time(), ledger.trouble)))
            begun = trio.current_time()
            nursery.start_soon(ledger.keep, "cup", 1.0, [PAUSED])
            await trio.sleep(1.0)
            assert ledger.trouble == "the disk is full"
            await ledger.keep("cup", 2.0, [Entered("ann")])
            assert trio.current_time() - begun == pytest.approx(3 * RETRY)
            assert ledger.trouble == ""
            assert list(ledger.kept()) == [Kept("cup", 1.0, PAUSED), Kept("cup", 2.0, Entered("ann"))]
    assert heard == [(begun, "the disk is full"), (begun + 3 * RETRY, "")]
    assert [entry["event"] for entry in logs] == ["nothing can be kept", "all is kept again"]


async def test_those_whose_facts_are_safe_go_on_a_few_at_a_time(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a database that is back, and seventy ends that are announced at once: 35 ms without a move."""
    engine.times = 1
    many, learnt = 8 * AT_A_TIME, list[int]()

    async def keep(number: int) -> None:
        await ledger.keep("cup", 1.0, [ended(f"match-{number}")])
        learnt.append(number)

    async with running(engine) as (ledger, _), trio.open_nursery() as nursery:
        for number in range(many):
            nursery.start_soon(keep, number)
        await trio.testing.wait_all_tasks_blocked()
        with Rounds() as rounds:
            await trio.sleep(2 * RETRY)
    assert sorted(learnt) == [*range(many)]
    assert max(rounds.turns) < AT_A_TIME + 10


async def test_whoever_asked_for_a_fact_cannot_be_cancelled_before_it_is_kept(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a host that knows less than its store, which then contradicts it."""
    engine.times = 1
    learnt: list[float] = []

    async def keep() -> None:
        await ledger.keep("cup", 1.0, [PAUSED])
        learnt.append(trio.current_time())

    async with running(engine) as (ledger, _):
        begun = trio.current_time()
        with trio.move_on_after(1.0):
            await keep()
        assert learnt == [begun + RETRY]


async def test_what_is_waiting_when_the_host_stops_is_kept_still(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    async with running(engine) as (ledger, nursery):
        played(ledger, "cup-1", ["NW"])
        nursery.start_soon(ledger.keep, "cup", 1.0, [PAUSED])
        await trio.testing.wait_all_tasks_blocked()
    assert [entry.kind for entry in engine.kept()] == ["turned"]
    assert [jot.ply for jot in engine.jotted()] == [1]


async def test_in_trouble_the_host_can_stop_all_the_same(engine: Faulty, autojump_clock: MockClock) -> None:
    """Catches a shielded wait for a disk that stays full."""
    engine.times = 10**9
    begun = trio.current_time()
    async with running(engine) as (ledger, nursery):
        nursery.start_soon(ledger.keep, "cup", 1.0, [PAUSED])
        await trio.sleep(1.0)
    assert trio.current_time() - begun == 1.0
    assert not list(engine.kept())


async def test_what_is_no_fault_of_the_disk_ends_the_host(engine: Faulty, autojump_clock: MockClock) -> None:
    engine.times, engine.error = 1, ValueError("a bug")
    with pytest.RaisesGroup(pytest.RaisesExc(ValueError, match="a bug"), flatten_subgroups=True):
        async with running(engine) as (ledger, _):
            await ledger.keep("cup", 1.0, [PAUSED])


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("times", [1, 30], ids=["once", "for minutes"])
def test_a_fault_at_any_write_changes_nothing_but_the_time(after: bool, times: int) -> None:
    """Of a whole tournament; whether the write that failed had been done or not."""
    contest, faulty = Contest(bots=3), list[Faulty]()

    def outcome(first: int, times: int) -> tuple[object, list[str]]:
        def wrap(engine: Sqlite) -> Faulty:
            faulty.append(Faulty(engine, first, times, after=after))
            return faulty[-1]

        with TemporaryDirectory(dir=FAST) as folder, capture_logs():
            found = World(contest, Path(folder), wrap).run(seed=1)
        assert found.over
        return found.rows, sorted(repr(timeless(entry.fact)) for entry in found.kept)

    undisturbed = outcome(0, 0)
    writes = len(faulty[0].batches)
    for first in range(0, writes, tries(writes // FAULTS, 1)):
        assert outcome(first, times) == undisturbed


def timeless(fact: AnyFact) -> AnyFact:
    if isinstance(fact, Dealt):
        return structs.replace(fact, at=UNSET)
    if not isinstance(fact, Concluded):
        return fact
    return structs.replace(fact, times=(), began=None, ended=None, cause=())


async def test_a_clock_that_is_set_right_makes_nothing_earlier_than_what_was_kept_before(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    async with running(engine) as (ledger, _):
        for when in (1000.0, 999.5, 1000.5, 700.0):
            await ledger.keep("cup", when, [Turned(State.PAUSED)])
        await ledger.keep("league", 1.0, [Turned(State.PAUSED)])
        whens = [(kept.tournament, kept.when) for kept in ledger.kept()]
    assert whens == [
        *(("cup", when) for when in (1000.0, 1000.0, 1000.5)),
        ("cup", 700.0),  # it was wrong by more than a clock is set right by: nobody is to read 1000 for ever
        ("league", 1.0),
    ]


async def test_a_clock_that_is_set_right_while_no_host_runs_makes_nothing_earlier_either(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    whens: list[float] = []
    for when in (1000.0, 900.0, 700.0):
        async with running(engine) as (ledger, _):  # as by a start each
            await ledger.keep("league", 1.0, [Turned(State.PAUSED)])
            await ledger.keep("cup", when, [Turned(State.PAUSED)])
            whens.append([kept.when for kept in ledger.kept()][-1])
    assert whens == [1000.0, 1000.0, 700.0]


class Fenced:
    """A database that hosts share: it refuses every epoch but the one of the lease."""

    def __init__(self, lease: int) -> None:
        self.lease = lease
        self.rows: list[Entry | Jot] = []

    def last(self) -> int:
        return 0

    def latest(self) -> dict[str, float]:
        return {}

    def write(self, rows: Sequence[Entry | Jot]) -> list[bytes]:
        for row in rows:
            tournament = row.tournament if isinstance(row, Entry) else row.match
            if row.epoch != (0 if not tournament else self.lease):
                raise Stale(f"another host holds {tournament}")
        self.rows += rows
        return [b"head" for row in rows if isinstance(row, Entry)]


async def test_a_fact_carries_the_epoch_of_when_it_was_asked_for(autojump_clock: MockClock) -> None:
    """Catches what was decided under a lease that was lost, and is written under one that was won since."""
    engine, epoch = Fenced(2), 1
    ledger = Ledger(engine, at_once, epoch=lambda tournament: epoch if tournament else 0)
    async with trio.open_nursery() as nursery:

        async def decide() -> None:
            with pytest.raises(Stale):
                await ledger.keep("cup", 1.0, [PAUSED])

        nursery.start_soon(decide)
        await trio.testing.wait_all_tasks_blocked()
        epoch = 2
        nursery.start_soon(ledger.run)
        await ledger.keep("cup", 1.0, [Entered("ann")])
        await ledger.keep("cup~2", 1.0, [Entered("bob")])
        await ledger.keep("", 1.0, [PAUSED])
        nursery.cancel_scope.cancel()
    assert [row.epoch for row in engine.rows] == [2, 2, 0]


async def test_moves_of_a_match_that_is_another_hosts_now_hold_nothing_up(autojump_clock: MockClock) -> None:
    engine, epoch = Fenced(1), 1
    ledger = Ledger(engine, at_once, epoch=lambda tournament: epoch)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        lost = played(ledger, "cup-1", ["C"])
        await trio.sleep(2 * SOON)
        engine.lease = epoch = 2
        lost.play("D")
        ours = played(ledger, "cup-2.2", ["N"])
        await trio.sleep(2 * SOON)
        lost.play("E")
        ours.play("M")
        await ledger.keep("cup", 1.0, [Entered("ann")])
        await trio.sleep(2 * SOON)
        nursery.cancel_scope.cancel()
    jots = [(row.match, row.moves) for row in engine.rows if isinstance(row, Jot)]
    assert jots == [("cup-1", '["C"]'), ("cup-2.2", '["N"]'), ("cup-2.2", '["M"]')]
    assert any(isinstance(row, Entry) for row in engine.rows)


async def test_what_could_not_be_kept_is_tried_at_once_when_somebody_knows_better(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    engine.times = 1
    async with running(engine) as (ledger, nursery):
        begun = trio.current_time()
        nursery.start_soon(ledger.keep, "cup", 1.0, [Entered("ann")])
        await trio.sleep(RETRY / 5)
        assert ledger.trouble
        ledger.try_again()
        await ledger.keep("cup", 1.0, [Entered("bob")])
        assert trio.current_time() < begun + RETRY


async def test_it_is_tried_at_once_no_more_often_than_somebody_knows_better(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a host that does nothing but try, from the first time on that it was told to."""
    engine.times = 10
    async with running(engine) as (ledger, nursery):
        nursery.start_soon(ledger.keep, "cup", 1.0, [PAUSED])
        await trio.sleep(RETRY / 5)
        ledger.try_again()
        await trio.sleep(RETRY / 5)
        assert len(engine.batches) == 2


async def test_nobody_waits_for_moves_to_be_kept_while_nothing_can_be(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    """Catches a host that does not stop because it waits for its database."""
    engine.times = 10**9
    async with running(engine) as (ledger, _):
        await trio.sleep(LOOK + 1.0)
        with trio.fail_after(RETRY), pytest.raises(Unavailable, match="the disk is full"):
            await ledger.keep_moves()


async def test_what_is_safe_stays_safe_when_moves_alone_are_kept(
    engine: Faulty, autojump_clock: MockClock
) -> None:
    async with running(engine) as (ledger, _):
        await ledger.keep("cup", 1.0, [PAUSED])
        played(ledger, "cup-1", ["NW"])
        await ledger.keep_moves()
        assert ledger.safe == engine.last() == 1
