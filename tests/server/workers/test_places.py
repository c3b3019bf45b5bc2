"""What worker 0 knows of who has a place with a worker, and how little has to be said for that."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs

from server.host.visits import Key, Present
from server.workers.messages import Alone, FromWorker, Moved
from server.workers.places import Places
from tests.server.workers.linked import begun

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there hosts have several workers")

ALONE, SHARED = "connect-4", "santorini"  # games: of the latter, others hold tournaments, too
ANN: Key = (ALONE, "ann")
HERE = Present("open-connect-4", "", shared=True)
WITH_A_TOKEN = Present("open-connect-4", "abcd", shared=False)


class Link:
    """A worker, and what worker 0 knows by what it was told."""

    def __init__(self, alone: Sequence[str] = (ALONE,)) -> None:
        self.said = 0
        self.known: dict[Key, Present] = {}
        self.here: dict[Key, Present] = {}
        self.places = Places(self._hear, self.here.get)
        self.places.be_alone(alone)

    def move(self, where: Key, present: Present | None) -> None:
        if present is None:
            self.here.pop(where, None)
        else:
            self.here[where] = present
        self.places.moved(where)

    def _hear(self, message: Struct) -> None:
        assert isinstance(message, Moved)
        self.said += 1
        if message.present is None:
            self.known.pop(message.where, None)
        else:
            self.known[message.where] = message.present


def test_a_bot_that_goes_after_each_match_and_comes_for_the_next_costs_worker_0_nothing() -> None:
    """Catches four messages a match, for most of which worker 0 woke."""
    link = Link()
    for _ in range(3):
        link.move(ANN, HERE)
        link.move(ANN, None)
    link.move(ANN, HERE)
    link.places.tell_gone()
    assert link.said == 1
    link.move(ANN, HERE)
    assert link.said == 2, "worker 0 waits to hear that it was refused"


def test_worker_0_is_told_at_once_of_whoever_was_refused_and_has_been_here_before_or_not() -> None:
    link = Link()
    link.move(ANN, None)
    assert link.said == 1
    link.move(ANN, HERE)
    link.move(ANN, None)
    link.places.tell_gone()
    assert link.said == 3
    link.move(ANN, None)
    assert link.said == 4


def test_whoever_comes_otherwise_than_before_is_made_known() -> None:
    link = Link()
    for present in (HERE, WITH_A_TOKEN):
        link.move(ANN, present)
        assert link.known == {ANN: present}
        link.move(ANN, None)


async def test_a_worker_heeds_of_which_games_it_alone_holds_tournaments(tmp_path: Path) -> None:
    with begun(tmp_path, alone=frozenset([ALONE])) as (working, said):

        def come_and_go() -> list[FromWorker]:
            visit = working.host.reception.arrive("ann", ALONE, keeps=False)
            visit.player.move_to(HERE.place)
            working.host.reception.moved(visit.key)
            visit.leave()
            return said()

        came, gone = Moved(ANN, structs.replace(HERE, shared=False)), Moved(ANN, None)
        assert come_and_go() == [came]
        assert come_and_go() == []
        working.take(Alone(frozenset()), None)
        assert come_and_go() == [gone, came, gone]
        working.take(Alone(frozenset([ALONE])), None)
        assert come_and_go() == [came]


MOVES = st.tuples(
    st.tuples(st.sampled_from([ALONE, SHARED]), st.sampled_from(["ann", "bob"])),
    st.sampled_from([HERE, WITH_A_TOKEN, None]),
)
STEPS = st.one_of(MOVES, st.sampled_from(["tell", "not alone", "alone"]))


@given(st.lists(STEPS))
def test_worker_0_knows_all_who_are_here_and_where_others_may_have_them_also_who_has_gone(
    steps: list[tuple[Key, Present | None] | str],
) -> None:
    link, alone = Link(), [ALONE]
    for step in steps:
        told = False
        match step:
            case "tell":
                link.places.tell_gone()
                told = True
            case str():
                alone = [ALONE] if step == "alone" else []
                link.places.be_alone(alone)
                told = True
            case (where, present) if present is not None or where in link.here:
                link.move(where, present)
            case _:
                pass
        assert link.here.items() <= link.known.items()
        assert all(told or where[0] in alone for where in link.known.keys() - link.here.keys())
        assert not told or link.known == link.here
