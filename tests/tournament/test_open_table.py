"""The open table: whoever is there meets whoever else is."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tournament.format import Entrant, Pairing, Result, Terms
from tournament.pairing.open_table import FORMAT

TERMS = Terms()


def free(*names: str) -> list[Entrant]:
    return [Entrant(name) for name in names]


def drawn(
    entrants: list[Entrant], past: list[Pairing] | None = None, terms: Terms = TERMS
) -> list[tuple[str, str | None]]:
    past = past or []
    results = [Result(pairing, (1.0, 0.0)) for pairing in past]
    return [(pairing.first, pairing.second) for pairing in FORMAT.draw(entrants, past, results, terms)]


def test_two_who_are_there_play_and_the_one_who_came_first_is_first() -> None:
    assert drawn(free("bob", "ann")) == [("bob", "ann")]
    assert drawn(free("ann")) == []


def test_two_who_meet_again_swap_sides() -> None:
    past = [Pairing(1, 1, "ann", "bob")]
    assert drawn(free("ann", "bob"), past) == [("bob", "ann")]


def test_the_pair_that_has_met_least_begins() -> None:
    past = [Pairing(1, 1, "ann", "bob"), Pairing(2, 2, "ann", "cas")]
    assert drawn(free("ann", "bob", "cas"), past) == [("bob", "cas")]


def test_nobody_meets_itself() -> None:
    assert drawn([Entrant("ann"), Entrant("ann")]) == []


def test_nobody_meets_somebody_whom_it_is_playing_already() -> None:
    playing = [Pairing(1, 1, "ann", "bob")]
    pairings = FORMAT.draw(free("ann", "bob", "cas"), playing, [], TERMS)
    assert [set(pairing.names) for pairing in pairings] == [{"ann", "cas"}]


def test_who_came_for_one_opponent_meets_that_one_alone_in_both_directions() -> None:
    entrants = [Entrant("ann", against="cas"), Entrant("bob"), Entrant("cas")]
    assert [set(pair) for pair in drawn(entrants)] == [{"ann", "cas"}]
    assert drawn([Entrant("ann", against="cas"), Entrant("bob")]) == []
    assert drawn([Entrant("ann", against="bob"), Entrant("bob", against="cas")]) == []


def test_who_is_busy_away_or_gone_is_not_drawn() -> None:
    for other in (Entrant("bob", free=False), Entrant("bob", present=False), Entrant("bob", gone=True)):
        assert drawn([Entrant("ann"), other]) == []


def test_by_lot_either_may_be_first() -> None:
    sides = Counter(drawn(free("ann", "bob"), terms=Terms(seed=seed, lots=True))[0] for seed in range(200))
    assert set(sides) == {("ann", "bob"), ("bob", "ann")}
    assert min(sides.values()) > 60


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.none() | st.sampled_from("abcdef")), max_size=8))
def test_everybody_is_drawn_once_and_nobody_is_left_who_could_play(
    waiting: list[tuple[str, str | None]],
) -> None:
    entrants = [Entrant(name, against=against) for name, against in dict(waiting).items()]
    pairs = drawn(entrants)
    names = [name for pair in pairs for name in pair]
    assert len(names) == len(set(names))
    left = [entrant for entrant in entrants if entrant.name not in names]
    assert drawn(left) == []
