"""Who has played which matches, whoever asks, and however many at once."""

import sys
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise
from random import Random
from threading import Barrier

import pytest
from msgspec import structs

from server.host import appearances
from server.host.appearances import Index
from server.pages import bot
from tests.tournament.test_score_sheet import NAMES, event, happened, play
from tournament import archive
from tournament.archived_record import ArchivedRecord, put_in_archive
from tournament.events import Ending
from tournament.facts import Concluded, Drew, Opened, State, Turned, Voided
from tournament.format import Pairing
from tournament.kinds import Kind
from tournament.record import Record

THREADS = 4


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
def test_many_who_ask_at_once_are_told_of_each_match_once() -> None:
    """Catches an index that is brought up to date by two threads at a time: matches were in it twice."""
    random, record = Random(1), event("swiss")
    for _ in range(3000):
        play(record, random, *random.sample(NAMES, 2))
    index, ready = Index(), Barrier(THREADS)

    def ask(name: str) -> list[int]:
        ready.wait()
        return [*index.find(record, name)]

    with ThreadPoolExecutor(THREADS) as threads:
        found = [*threads.map(ask, NAMES[:THREADS])]
    players = [match.players for match in record.matches.values()]
    for name, mine in zip(NAMES, found, strict=False):
        assert mine == [number for number, both in enumerate(players) if name in both]


@pytest.mark.parametrize("ending", [*Ending])
def test_whoever_has_finished_a_match_without_entering_is_known(ending: Ending) -> None:
    """As against the host's own: the page of that match names both, and leads to their pages."""
    record, index = Record("open-tic-tac-toe", Opened("tic-tac-toe", "open")), Index()
    record.add(Drew((Pairing(1, 1, "ann", "random"),)))
    kinds = Kind.BOT, Kind.HOUSE
    record.add(Concluded("open-tic-tac-toe-1", 1, ("ann", "random"), 0, ending, "so", None, kinds=kinds))
    for name in ("ann", "random"):
        seen = bot.seen(name, [record], 1, index, bot.Curves())
        assert (seen is not None) == (ending is not Ending.VOID)
        assert seen is None or (seen["count"], seen["careers"][0].total.played) == (1, 0)
    assert index.of("bob", [record]) == []


def put_back(record: Record) -> None:
    """As when too many others are taken out of the archive."""
    assert isinstance(record, ArchivedRecord)
    record.put_back()


def test_what_a_bot_has_done_in_a_tournament_that_is_long_over_is_added_up_once() -> None:
    """Catches a page of a bot that takes all of its tournaments out of the archive, each time."""
    random, record, index = Random(2), event("round-robin"), Index()
    for first, second in pairwise(NAMES):
        play(record, random, first, second)
    record.add(Turned(State.FINISHED))
    put_in_archive(record)
    for name in NAMES[1:3]:
        first = index.sums(name, index.of(name, [record]))
        put_back(record)
        assert index.sums(name, index.of(name, [record])) == first
        assert sum(tally.played for tally in first[0].opponents.values()) == 2
        assert archive.PARTS.isdisjoint(vars(record)), "it is still in the archive"


@pytest.mark.parametrize("kind", ["round-robin", "open"])
def test_what_a_bot_has_done_is_what_its_matches_add_up_to_whoever_asked_before(kind: str) -> None:
    random, record, index = Random(3), event(kind), Index()
    for _ in range(60):
        match = play(record, random, *random.sample(NAMES, 2))
        if random.random() < 0.2:
            record.add(Voided(match, "so", record.matches[match].players, record.matches[match].score))
        for name in random.sample(NAMES, 3):
            known, anew = (each.sums(name, each.of(name, [record])) for each in (index, Index()))
            assert known == anew


def test_a_page_far_back_takes_only_what_it_shows_out_of_the_archive() -> None:
    """Catches a list of matches that looks at all which it passes over, in thousands of tournaments."""
    random, records = Random(4), [event("round-robin") for _ in range(3 * bot.PAGE)]
    for number, record in enumerate(records):
        record.kept_as = f"cup-{number}"
        drew, over = happened(record, random, *NAMES[:2])
        for fact in (drew, structs.replace(over, ended=float(number)), Turned(State.FINISHED)):
            record.add(fact)
        put_in_archive(record)
    index, curves = Index(), bot.Curves()
    bot.seen(NAMES[0], records, 1, index, curves)
    for page in (1, 2, 3):
        for record in records:
            put_back(record)
        seen = bot.seen(NAMES[0], records, page, index, curves)
        assert seen is not None
        end = len(records) - bot.PAGE * (page - 1)
        assert [match.ended for match in seen["played"]] == [*reversed(range(end - bot.PAGE, end))]
        assert sum(not archive.PARTS.isdisjoint(vars(record)) for record in records) == bot.PAGE


@pytest.mark.parametrize("many", [3, 60])
def test_sums_of_as_many_bots_are_remembered_as_there_is_room_for(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a bound on how many there are, while each may be of a bot that has met a thousand others."""
    monkeypatch.setattr(appearances, "SUMMED", 1 << 16)
    names = [f"bot {number}" for number in range(many)]
    random, records, index = Random(5), [event("round-robin", names) for _ in range(180 // many)], Index()
    for number, record in enumerate(records):
        record.kept_as = f"cup-{number}"
        for both in combinations(names, 2):
            play(record, random, *both)
        index.follow(record)
    tracemalloc.start()
    try:
        for name in names:
            index.sums(name, index.of(name, records))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert appearances.SUMMED / 2 < taken < 2 * appearances.SUMMED
