"""Who has played which matches, whoever asks, and however many at once."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import pytest

from server.host.appearances import Index
from server.pages import bot
from tests.tournament.test_score_sheet import NAMES, event, play
from tournament.events import Ending
from tournament.facts import Concluded, Drew, Opened
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
