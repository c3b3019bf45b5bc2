"""The open table: whoever is there meets whoever else is."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.format import Entrant, Pairing, Result, Terms
from tournament.latest import Latest
from tournament.pairing.drawing import Sides, last_round, lots, numbered, unfinished
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


def test_whoever_has_just_been_drawn_is_not_drawn_for_another_pair() -> None:
    """Bob and Cas, who have not met, come first; Ann has met Bob no more often than Dee."""
    met = [pair for pair in combinations(("ann", "bob", "cas", "dee"), 2) if pair != ("bob", "cas")]
    past = [Pairing(number, number, *pair) for number, pair in enumerate(met, 1)]
    pairs = drawn(free("ann", "bob", "cas", "dee"), past)
    assert [{*pair} for pair in pairs] == [{"bob", "cas"}, {"ann", "dee"}]


def test_whoever_has_lately_wasted_the_time_of_others_comes_after_them() -> None:
    late = Entrant("ann", last=True)
    assert drawn([late, *free("bob", "cas")]) == [("bob", "cas")]
    assert drawn([late, *free("bob")]) == [("bob", "ann")], "as if it had come last"
    assert drawn([late, *free("bob", "cas")], [Pairing(1, 1, "bob", "cas")]) == [("cas", "bob")]


@pytest.mark.parametrize("playing", [("ann", "bob"), ("bob", "ann")])
def test_two_who_are_playing_do_not_meet_a_second_time_meanwhile(playing: tuple[str, str]) -> None:
    assert not FORMAT.draw(free("ann", "bob"), [Pairing(1, 1, *playing)], [], TERMS)


def test_nobody_meets_somebody_whom_it_is_playing_already() -> None:
    playing = [Pairing(1, 1, "ann", "bob")]
    pairings = FORMAT.draw(free("ann", "bob", "cas"), playing, [], TERMS)
    assert [set(pairing.names) for pairing in pairings] == [{"ann", "cas"}]


def test_whoever_came_for_one_opponent_meets_only_that_one_in_both_directions() -> None:
    entrants = [Entrant("ann", against="cas"), Entrant("bob"), Entrant("cas")]
    assert [set(pair) for pair in drawn(entrants)] == [{"ann", "cas"}]
    assert drawn([Entrant("ann", against="cas"), Entrant("bob")]) == []
    assert drawn([Entrant("ann", against="bob"), Entrant("bob", against="cas")]) == []


def test_whoever_is_busy_away_or_gone_is_not_drawn() -> None:
    for other in (Entrant("bob", free=False), Entrant("bob", present=False), Entrant("bob", gone=True)):
        assert drawn([Entrant("ann"), other]) == []


def test_by_lot_either_may_be_first() -> None:
    sides = Counter(drawn(free("ann", "bob"), terms=Terms(seed=seed, lots=True))[0] for seed in range(200))
    assert set(sides) == {("ann", "bob"), ("bob", "ann")}
    assert min(sides.values()) > 60


def test_by_lot_either_may_be_first_each_time_that_the_two_meet() -> None:
    terms, past = Terms(lots=True), [Pairing(number, number, "ann", "bob") for number in range(1, 41)]
    sides = [drawn(free("ann", "bob"), past[:met], terms)[0] for met in range(40)]
    assert len(set(sides[:5])) == len(set(sides[20:])) == 2


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


def plainly(
    entrants: list[Entrant], past: list[Pairing], results: list[Result], terms: Terms
) -> list[Pairing]:
    """Whom it draws, found by going through all that was drawn."""
    waiting = [each for each in entrants if each.free and each.present and not each.gone]
    names = {entrant.name for entrant in waiting}
    among = [pairing for pairing in past if names.issuperset(pairing.names)]
    playing = {frozenset(pairing.names) for pairing in unfinished(among, results)}
    met = Counter(frozenset(pairing.names) for pairing in among)
    times = Sides(among).times
    pairs = [
        (one.name, other.name)
        for one, other in combinations(waiting, 2)
        if one.name != other.name
        and one.against in (None, other.name)
        and other.against in (None, one.name)
        and frozenset((one.name, other.name)) not in playing
    ]
    pairs.sort(key=lambda pair: met[frozenset(pair)])
    meetings: list[tuple[str, str | None]] = []
    taken = set[str]()
    for one, other in pairs:
        if taken.isdisjoint((one, other)):
            taken |= {one, other}
            turned = times[one, other] > times[other, one]
            if terms.lots:
                first, _ = lots((one, other), (terms.seed, past[-1].number if past else 0))
                turned = first == other
            meetings.append((other, one) if turned else (one, other))
    return numbered(past, [meetings], last_round(past) + 1)


@given(seed=st.integers(0, 2**32 - 1))
def test_it_draws_the_same_as_whoever_goes_through_all_that_was_drawn(seed: int) -> None:
    random = Random(seed)
    names = "abcdefgh"[: random.randint(2, 8)]
    start = random.choice((1, 500))
    past = [
        Pairing(number, number, *random.sample(names, 2))
        for number in range(start, start + random.choice((0, 3, 30, 300)))
    ]
    results = [Result(pairing, (0.5, 0.5)) for pairing in past if random.random() < random.choice((0.5, 1))]
    entrants = [
        Entrant(
            random.choice(names),
            gone=random.random() < 0.1,
            present=random.random() < 0.9,
            free=random.random() < 0.8,
            against=random.choice([None, None, None, *names]),
        )
        for _ in range(random.randint(0, 10))
    ]
    terms = Terms(seed=random.randint(0, 9), lots=random.random() < 0.3)
    expected = plainly(entrants, past, results, terms)
    assert FORMAT.draw(entrants, past, results, terms) == expected
    latest = Latest(past, random.sample(results, len(results)))
    assert FORMAT.draw(entrants, latest, latest.results, terms) == expected
