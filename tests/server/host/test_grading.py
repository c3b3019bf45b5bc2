"""How well matches were played: graded once, away from whoever asks, and shown wherever people look."""

import json
import tracemalloc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from msgspec import structs
from structlog.testing import capture_logs
from trio.testing import MockClock

from games.catalogue import catalogue
from games.estimate import estimate
from games.hexagondots import GAME as HEXAGON_DOTS
from games.perfect import Grades, grades
from games.santorini import GAME as SANTORINI
from games.tictactoe import GAME
from server.commands.results import listed
from server.host.grading import KNOWN, LATER, QUIET, SOON, TRIES, WAIT, Grader, GradeSummary
from server.host.thinker import Failed, Thinker
from server.net.guard import Guard
from tests.hang import HANG
from tests.server.pages.gallery import Gallery, gallery
from tests.server.served import Served
from tournament.archived_record import put_in_archive
from tournament.desk import Desk
from tournament.events import Ending
from tournament.facts import Concluded, Drew, Entered, Opened, State, Turned, Voided
from tournament.format import Pairing
from tournament.record import Record

pytestmark = pytest.mark.slow

MOVES = ("C", "N", "E", "W", "SW", "NE", "NW", "SE", "S")  # both have thrown something away
FOUND = grades(GAME, {}, MOVES)
assert FOUND is not None


class Worker:
    """Grades when it has taken its time."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.begun = 0
        self.broken = False

    async def __call__(
        self, game: str, options: Mapping[str, Any], moves: Sequence[Any], seconds: float
    ) -> Grades | None:
        self.begun += 1
        await trio.sleep(self.seconds)
        if self.broken:
            raise Failed("no child can be started")
        return grades(GAME, options, moves)


@asynccontextmanager
async def grading(worker: Worker, *, on: bool = True) -> AsyncIterator[Grader]:
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        here = Grader(lambda: guard, grading=on)
        here.grade = worker
        yield here
        nursery.cancel_scope.cancel()


def event(matches: int, game: str = GAME.name) -> Record:
    record = Record("cup", Opened(game, "round-robin"))
    for fact in (Entered("ann"), Entered("bob")):
        record.add(fact)
    for number in range(1, matches + 1):
        record.add(Drew((Pairing(number, number, "ann", "bob"),)))
        record.add(over(number))
    return record


def over(number: int) -> Concluded:
    why, times = "the board is full", (0.1,) * len(MOVES)
    return Concluded(
        f"cup-{number}", number, ("ann", "bob"), None, Ending.PLAYED, why, (0.5, 0.5), MOVES, times
    )


async def fetch(match: str) -> Concluded:
    await trio.lowlevel.checkpoint()
    return over(int(match.removeprefix("cup-")))


async def test_a_hundred_who_ask_about_a_match_share_one_grading(autojump_clock: MockClock) -> None:
    worker, record, found = Worker(0.3), event(1), list[Grades | None]()
    async with grading(worker) as here:

        async def ask() -> None:
            found.append(await here.of(record, over(1)))

        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(ask)
        found.append(await here.of(record, over(1)))
    assert (found, worker.begun) == ([FOUND] * 101, 1)


async def test_without_grading_nothing_is_graded_whoever_asks(autojump_clock: MockClock) -> None:
    worker, record = Worker(), event(3)
    async with grading(worker, on=False) as here:
        assert not here.grades(record)
        assert await here.of(record, over(1)) is None
        assert here.summary(record, fetch) is None
        await trio.sleep(2 * WAIT)
    assert worker.begun == 0


@pytest.mark.parametrize("show", ["0", "1"])
@pytest.mark.parametrize(("setting", "has"), [("true", True), ("false", False)])
def test_the_setting_comes_to_whichever_process_is_asked(
    show: str, setting: str, has: bool, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUINTAIN_GRADING", setting)
    host = serve("--show", show, "--tournament", "cup", "--game", GAME.name, "--entrants", "2")
    assert ("graded" in host.read("/api/tournaments/cup")) is has


async def test_whoever_asks_waits_a_while_and_whoever_asks_again_is_told(autojump_clock: MockClock) -> None:
    worker, record = Worker(2 * WAIT), event(1)
    async with grading(worker) as here:
        began = trio.current_time()
        assert await here.of(record, over(1)) is None
        assert trio.current_time() == began + WAIT
        await trio.sleep(2 * WAIT)
        assert await here.of(record, over(1)) == FOUND
    assert worker.begun == 1


async def test_a_grading_that_failed_is_tried_again_when_somebody_asks_a_while_later(
    autojump_clock: MockClock,
) -> None:
    worker, record = Worker(), event(1)
    worker.broken = True
    async with grading(worker) as here:
        assert await here.of(record, over(1)) is None
        worker.broken = False
        await trio.sleep(SOON)
        assert await here.of(record, over(1)) == FOUND


async def test_what_is_remembered_of_gradings_is_soon_full_and_little(autojump_clock: MockClock) -> None:
    found, record = msgspec.json.encode(FOUND), event(1)

    async def grade(game: str, options: Mapping[str, Any], moves: Sequence[Any], seconds: float) -> Grades:
        await trio.lowlevel.checkpoint()
        return msgspec.json.decode(found, type=Grades)

    async with grading(Worker()) as here:
        here.grade = grade
        tracemalloc.start()
        try:
            for number in range(1, 2 * KNOWN):
                assert await here.of(record, over(number)) == FOUND
            taken, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert taken < 1 << 20


async def test_a_game_that_nobody_can_judge_is_not_graded(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = dict(catalogue())
    games["quoridor"] = structs.replace(games["quoridor"], evaluate=None)
    monkeypatch.setattr("server.host.grading.catalogue", lambda: games)
    worker, record = Worker(), event(1, "quoridor")
    async with grading(worker) as here:
        assert await here.of(record, over(1)) is None
        assert here.summary(record, fetch) is None
    assert worker.begun == 0


async def test_where_nobody_plays_perfectly_a_tournament_has_an_estimate_from_its_latest_matches(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.host.grading.ESTIMATED", 4)
    worker, record = Worker(), event(7, "quoridor")
    async with grading(worker) as here:
        here.summary(record, fetch)
        await trio.sleep(1.0)
        found = here.summary(record, fetch)
    assert found is not None
    assert (found.estimate, found.matches, worker.begun) == (True, 4, 4)


async def test_a_tournament_is_added_up_in_the_background_and_each_match_counts_once(
    autojump_clock: MockClock,
) -> None:
    assert FOUND is not None
    worker, record = Worker(1.0), event(5)
    record.add(Voided("cup-2", "a fault"))
    async with grading(worker) as here:
        first = here.summary(record, fetch)
        assert first is not None
        assert (first.matches, first.bot("ann").accuracy, first.whole.accuracy) == (0, None, None)
        for _ in range(3):
            here.summary(record, fetch)
        await trio.sleep(100.0)
        for number in (6, 7):
            record.add(Drew((Pairing(number, number, "ann", "bob"),)))
            record.add(over(number))
        here.summary(record, fetch)
        await trio.sleep(100.0)
        found = here.summary(record, fetch)
    assert found is not None
    assert (found.matches, worker.begun) == (6, 6)
    for seat, name in enumerate(("ann", "bob")):
        assert (found.bot(name).kept, found.bot(name).had) == (6 * FOUND.kept[seat], 6 * FOUND.had[seat])
    assert found.whole.had == 6 * sum(FOUND.had)
    assert found.bot("nobody").accuracy is None


async def test_of_many_tournaments_one_match_is_graded_at_a_time_and_those_asked_about_last_come_first(
    autojump_clock: MockClock,
) -> None:
    """Catches the page of a bot that had all its tournaments graded at once, most of it in vain."""
    records = [finished(3, f"cup~{number}") for number in range(20)]
    taken, given, most = list[str](), 0, 0

    async def grade(*task: Any) -> Grades | None:
        nonlocal given, most
        most = max(most, len(taken) - given)
        await trio.sleep(1.0)
        given += 1
        return FOUND

    async with grading(Worker()) as here:
        here.grade = grade

        def ask(record: Record) -> GradeSummary | None:
            async def fetched(match: str) -> Concluded:
                taken.append(record.kept_as)
                return await fetch(match)

            return here.summary(record, fetched)

        for record in records:
            put_in_archive(record)
            ask(record)
        await trio.sleep(3.5)
        ask(records[0])
        await trio.sleep(100.0)
        found = [ask(record) for record in records]
    assert most == 1
    assert taken[:8] == ["cup~19"] * 3 + ["cup~18"] + ["cup~0"] * 3 + ["cup~18"]
    assert [each.matches for each in found if each is not None] == [3] * 20


async def test_what_is_voided_after_it_was_added_up_counts_for_nothing(autojump_clock: MockClock) -> None:
    record = event(5)
    async with grading(Worker()) as here:
        await added_up(here, record)
        record.add(Voided("cup-2", "a fault"))
        at_once = here.summary(record, fetch)
        assert at_once is not None
        voided = figures(at_once)
    async with grading(Worker()) as again:
        after_a_restart = figures(await added_up(again, record))
    assert voided == after_a_restart
    assert voided[0] == 4


async def test_of_matches_of_tournaments_that_are_archived_the_sums_are_remembered_alone(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that is years old, and remembers each match of each tournament that was looked at."""
    records = [finished(3, f"cup~{number}") for number in range(20)]
    async with grading(Worker()) as here:
        for record in records:
            before = figures(await added_up(here, record))
            put_in_archive(record)
            assert before[0] == 3
        told_apart = [record for record in records if len(here._summaries[record]._counted)]
        assert len(told_apart) <= 2
        for record in records:
            assert figures(await added_up(here, record)) == before
        records[0].add(Voided("cup-1", "a fault"))
        assert figures(await added_up(here, records[0]))[0] == 2


def finished(matches: int, kept_as: str) -> Record:
    """As `event`, and over; several of a name are kept under different ones."""
    record = Record("cup", Opened(GAME.name, "double-round-robin"), kept_as=kept_as)
    pairings = [Pairing(number, number, "ann", "bob") for number in range(1, matches + 1)]
    for fact in (*map(Entered, ("ann", "bob")), Turned(State.RUNNING), Drew(tuple(pairings))):
        record.add(fact)
    for number in range(1, matches + 1):
        record.add(over(number))
    record.add(Turned(State.FINISHED))
    return record


async def test_a_match_that_is_voided_while_it_is_graded_counts_for_nothing(
    autojump_clock: MockClock,
) -> None:
    record = event(1)
    async with grading(Worker(1.0)) as here:
        here.summary(record, fetch)
        await trio.sleep(0.5)
        record.add(Voided("cup-1", "a fault"))
        assert figures(await added_up(here, record)) == (0, 0, 0)


async def test_only_the_latest_matches_count_without_a_restart_too(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.host.grading.LATEST", 4)
    record = event(3)
    async with grading(Worker()) as here:
        await added_up(here, record)
        for number in range(4, 8):
            record.add(Drew((Pairing(number, number, "ann", "bob"),)))
            record.add(over(number))
        grown = figures(await added_up(here, record))
    async with grading(Worker()) as again:
        assert grown == figures(await added_up(again, record))
    assert grown[0] == 4


async def test_a_match_whose_grading_failed_is_graded_again_a_while_later_and_counts_where_it_ended(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.host.grading.LATEST", 4)
    worker, record = Worker(), event(2)
    worker.broken = True
    async with grading(worker) as here:
        here.summary(record, fetch)
        await trio.testing.wait_all_tasks_blocked()
        assert worker.begun == 2
        worker.broken = False
        record.add(Drew((Pairing(3, 3, "ann", "bob"),)))
        record.add(over(3))
        here.summary(record, fetch)
        await trio.sleep(SOON / 2)
        assert figures(here.summary(record, fetch))[0] == 1, "no other is tried again at once"
        await trio.sleep(SOON / 2)
        assert (await added_up(here, record)).matches == 3
        for number in (4, 5, 6):
            record.add(Drew((Pairing(number, number, "ann", "bob"),)))
            record.add(over(number))
        grown = figures(await added_up(here, record))
    async with grading(Worker()) as again:
        assert grown == figures(await added_up(again, record)), "it leaves when its time has come"


async def test_however_many_gradings_fail_for_a_summary_the_log_has_one_line(
    autojump_clock: MockClock,
) -> None:
    worker, record = Worker(0.1), event(20)
    worker.broken = True
    async with grading(worker) as here:
        with capture_logs() as logged:
            here.summary(record, fetch)
            assert await here.of(record, over(20)) is None, "somebody asks for one of them meanwhile"
            await trio.sleep(SOON / 2)
        alone = {"event": "a match is not graded", "match": "cup-20"}
        rest = {"event": "matches are not graded", "tournament": "cup", "matches": 20}
        more = {"why": "no child can be started", "log_level": "warning"}
        assert logged == [alone | more, rest | more]
        with capture_logs() as logged:
            await trio.sleep(SOON)
            here.summary(record, fetch)
            await trio.sleep(SOON)
        assert logged == [rest | more]


async def test_however_many_matches_are_asked_about_in_vain_the_log_has_one_line_a_minute(
    autojump_clock: MockClock,
) -> None:
    """Catches a log that whoever fetches many matches fills, a line for each, at any speed."""
    worker, record = Worker(), event(20)
    worker.broken = True
    async with grading(worker) as here:
        with capture_logs() as logged:
            for _ in range(2):
                for number in range(1, 21):
                    assert await here.of(record, over(number)) is None
                await trio.sleep(QUIET)
            assert await here.of(record, over(1)) is None
        assert [(each["match"], each.get("more", 0)) for each in logged] == [
            ("cup-1", 0),
            ("cup-1", 19),
            ("cup-1", 19),
        ]


@pytest.mark.parametrize("how", ["tournament", "match"])
async def test_a_match_that_cannot_be_graded_is_tried_ever_more_seldom_and_then_no_more(
    how: str, autojump_clock: MockClock
) -> None:
    """Whatever page is asked for: each try may take the only child that grades for minutes."""
    worker, record, tried = Worker(), event(1), list[float]()
    worker.broken = True
    async with grading(worker) as here:
        for second in range(0, 4 * int(LATER), 5):
            before = worker.begun
            if how == "tournament":
                here.summary(record, fetch)
            else:
                assert await here.of(record, over(1)) is None
            await trio.sleep(5.0)
            tried += [float(second)] * (worker.begun - before)
    between = [later - earlier for earlier, later in pairwise(tried)]
    assert len(tried) == TRIES
    for last, (wait, longer) in enumerate(pairwise(between), 1):
        assert wait < longer <= LATER + 5.0, last


async def test_a_match_without_a_move_or_without_a_result_is_no_graded_match(
    autojump_clock: MockClock,
) -> None:
    record = event(1)
    unplayed = structs.replace(over(2), score=(1.0, 0.0), ending=Ending.LEFT, moves=(), times=())
    void = structs.replace(over(3), score=None, ending=Ending.VOID)
    ends = {each.match: each for each in (over(1), unplayed, void)}
    for number, each in enumerate((unplayed, void), 2):
        record.add(Drew((Pairing(number, number, "ann", "bob"),)))
        record.add(each)

    async def found(match: str) -> Concluded:
        await trio.lowlevel.checkpoint()
        return ends[match]

    async with grading(Worker()) as here:
        here.summary(record, found)
        await trio.sleep(100.0)
        summary = here.summary(record, found)
    assert summary is not None
    assert FOUND is not None
    assert (summary.matches, summary.whole.had) == (1, sum(FOUND.had))


async def added_up(here: Grader, record: Record) -> GradeSummary:
    here.summary(record, fetch)
    await trio.sleep(100.0)
    found = here.summary(record, fetch)
    assert found is not None
    return found


def figures(summary: GradeSummary) -> tuple[int, int, int]:
    return summary.matches, summary.whole.kept, summary.whole.had


async def test_a_child_grades_as_is_done_here_and_says_what_is_wrong_with_a_task() -> None:
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            there = Thinker(children=1)
            nursery.start_soon(there.run)
            await trio.testing.wait_all_tasks_blocked()
            assert await there.grade(GAME.name, {}, MOVES, HANG) == FOUND
            assert await there.grade("santorini", {}, ("0 0",), HANG) == estimate(SANTORINI, {}, ("0 0",))
            with pytest.raises(Failed, match="nowhere"):
                await there.grade(GAME.name, {}, ("nowhere",), HANG)
            nursery.cancel_scope.cancel()


async def test_what_was_thrown_away_is_in_the_api_on_the_pages_and_in_a_replay_and_never_during_a_match(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await here.hold(entrants=2)
        await here.come("ann", "bob")  # who play the first field that is free
        await trio.sleep(3.5)
        live = await read(here, "/api/matches/cup-1")
        assert "Against perfect play" not in await here.read("/matches/cup-1")
        await trio.sleep(200.0)
        found = await read(here, "/api/matches/cup-1")
        page = await here.read("/matches/cup-1")
        for address in ("/api/tournaments/cup", "/bots/ann"):
            await here.read(address)
        await trio.sleep(10.0)
        tournament = await read(here, "/api/tournaments/cup")
        bot, event = await here.read("/bots/ann"), await here.read("/tournaments/cup")
    assert live["mistakes"] is live["accuracy"] is live["ungraded"] is None
    expected = grades(GAME, {}, found["moves"])
    assert expected is not None
    assert expected.mistakes
    assert [each["ply"] for each in found["mistakes"]] == [each.ply for each in expected.mistakes]
    assert (tuple(found["accuracy"]), found["ungraded"]) == (expected.accuracy, 0)
    first = expected.mistakes[0]
    told = f"{found['players'][first.seat]} threw away a {first.best} at move {first.ply + 1}"
    assert f'<a href="?ply={first.ply}">{told}' in page
    assert told in listed(found)
    assert tournament["graded"]["matches"] == 1
    assert {each["name"]: each["accuracy"] for each in tournament["entrants"]} == dict(
        zip(found["players"], found["accuracy"], strict=True)
    )
    assert "it kept a win or a draw with" in bot
    assert "in 1 graded match." in event


async def test_an_estimate_is_called_one_wherever_it_is_shown(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.hold(entrants=2, game="hexagon-dots", options={"rows": 3, "cols": 3})
        await here.come("ann", "bob", game="hexagon-dots")
        await trio.sleep(200.0)
        found = await read(here, "/api/matches/cup-1")
        page = await here.read("/matches/cup-1")
        for address in ("/api/tournaments/cup", "/bots/ann"):
            await here.read(address)
        await trio.sleep(10.0)
        tournament = await read(here, "/api/tournaments/cup")
        bot, event = await here.read("/bots/ann"), await here.read("/tournaments/cup")
    expected = estimate(HEXAGON_DOTS, {"rows": 3, "cols": 3}, found["moves"])
    assert expected is not None
    assert found["mistakes"] is found["accuracy"] is found["ungraded"] is None
    assert found["estimate"]["share"] == list(expected.accuracy)
    assert [each["ply"] for each in found["estimate"]["slips"]] == [each.ply for each in expected.slips]
    assert "Estimate of how well it was played" in page
    assert "Against perfect play" not in page
    assert "An estimate, moves about as good as the best" in listed(found)
    assert "graded" not in tournament
    assert tournament["estimated"]["matches"] == 1
    shares = dict(zip(found["players"], found["estimate"]["share"], strict=True))
    assert {each["name"]: each["estimate"] for each in tournament["entrants"]} == shares
    assert "By the house brain’s estimate" in bot
    assert "By the house brain’s estimate" in event


async def test_an_open_page_says_how_well_a_tournament_was_played_as_far_as_somebody_has_asked(
    autojump_clock: MockClock,
) -> None:
    """Catches a figure that stays as it was, and a page that has every match graded by staying open."""
    worker = Worker()
    async with gallery() as here:
        here.host.grader.grade = worker
        await here.hold(entrants=2)
        watcher = await here.watch("page=/tournaments/cup")
        await here.come("ann", "bob")
        await trio.sleep(200.0)
        await watcher.look()
        assert ("accuracy" in watcher.parts, worker.begun) == (False, 0)
        await read(here, "/api/tournaments/cup")
        await trio.sleep(1.0)
        await watcher.look()
        assert "in 1 graded match." in watcher.parts["accuracy"]
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        await trio.sleep(1.0)
        await watcher.look()
        assert not watcher.parts["accuracy"].strip()


async def read(here: Gallery, path: str) -> Any:
    return json.loads(await here.read(path))
