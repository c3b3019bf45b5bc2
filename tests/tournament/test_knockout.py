"""Knockout: the bracket, draws, and those who go in the middle of it."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, takewhile
from math import ceil, log2
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import tries
from tests.tournament.holding import Held, better, by_round, field, imbalance, nobody_twice, sides, toss
from tournament.format import Entrant, Pairing, Score, Terms, formats
from tournament.standings import standings

KNOCKOUT = formats()["knockout"]
DRAW: Score = (0.5, 0.5)
seeds = st.integers(0, 2**32 - 1)
every_count = pytest.mark.parametrize("count", range(2, 41))


class Compared(str):
    """A name that counts how often it was held against another."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def lost(held: Held) -> Counter[str]:
    """How often each was beaten."""
    found = Counter[str]()
    for result in held.results:
        if result.pairing.second is not None and result.score[0] != result.score[1]:
            found[result.pairing.names[result.score[0] > result.score[1]]] += 1
    return found


def win(pairing: Pairing, random: Random) -> Score:
    return random.choice(((1.0, 0.0), (0.0, 1.0)))


def contests(drawn: Sequence[Pairing], round: int) -> dict[frozenset[str], list[Pairing]]:
    found: dict[frozenset[str], list[Pairing]] = {}
    for pairing in drawn:
        if pairing.round == round:
            found.setdefault(frozenset(pairing.names), []).append(pairing)
    return found


@every_count
def test_all_but_one_lose_once_and_are_out(count: int) -> None:
    random = Random(count)
    held = Held(KNOCKOUT, field(count)).hold(random, lambda pairing: win(pairing, random))
    beaten = lost(held)
    assert set(beaten.values()) == {1}
    assert len(beaten) == count - 1
    assert held.drawn[-1].round == ceil(log2(count))
    assert nobody_twice(held.drawn)


@every_count
def test_only_the_best_seeds_have_byes_and_only_in_the_first_round(count: int) -> None:
    random = Random(count)
    held = Held(KNOCKOUT, field(count)).hold(random, lambda pairing: win(pairing, random))
    byes = {pairing.first: pairing.round for pairing in held.drawn if pairing.second is None}
    assert byes == {f"p{index}": 1 for index in range(2 ** ceil(log2(count)) - count)}


@every_count
def test_the_better_the_seed_the_later_it_can_meet_its_betters(count: int) -> None:
    """Where the better seed always wins: the last two are the best two, the last four the best four …"""
    held = Held(KNOCKOUT, field(count)).hold(Random(count), better)
    last = held.drawn[-1].round
    for round, pairings in by_round(held.drawn).items():
        left = 2 ** (last - round + 1)
        names = {name for pairing in pairings for name in pairing.names}
        assert names == {f"p{index}" for index in range(min(left, count))}
        for pairing in pairings:
            if pairing.second is not None:
                assert sum(int(name.strip("p")) for name in pairing.names) == left - 1


def test_seeds_are_by_rating_then_by_entry() -> None:
    ratings = [None, -5.0, 1500.0, None]
    entrants = [Entrant(name, rating) for name, rating in zip("abcd", ratings, strict=True)]
    drawn = KNOCKOUT.draw(entrants, [], [], Terms())
    assert [frozenset(pairing.names) for pairing in drawn] == [frozenset("cd"), frozenset("ab")]


def test_a_drawn_match_is_played_again_with_sides_swapped_before_the_others_are_over() -> None:
    held = Held(KNOCKOUT, field(4))
    one, other = held.advance()
    held.conclude(one, DRAW)
    (again,) = held.advance()
    assert (again.round, again.first, again.second) == (1, one.second, one.first)
    assert held.open == [other, again]


@pytest.mark.parametrize("score", [(1.0, 0.0), (0.0, 1.0)])
def test_whoever_wins_the_second_match_goes_through(score: Score) -> None:
    held = Held(KNOCKOUT, field(4))
    one, other = held.advance()
    held.conclude(one, DRAW)
    held.conclude(other, (1.0, 0.0))
    (again,) = held.advance()
    held.conclude(again, score)
    (final,) = held.advance()
    assert set(final.names) == {again.names[score.index(1.0)], other.first}


def test_after_two_draws_the_better_seed_goes_through() -> None:
    held = Held(KNOCKOUT, field(16)).hold(Random(1), lambda pairing: DRAW)
    assert len(held.drawn) == 2 * 15
    for round in range(1, 5):
        met = contests(held.drawn, round)
        assert {name for names in met for name in names} == {f"p{index}" for index in range(2 ** (5 - round))}
        for one, again in met.values():
            assert (one.first, one.second) == (again.second, again.first)
    assert imbalance(held.drawn) == 0


def test_after_a_match_that_both_have_lost_the_better_seed_goes_through_at_once() -> None:
    held = Held(KNOCKOUT, field(8)).hold(Random(1), lambda pairing: (0.0, 0.0))
    assert len(held.drawn) == 7
    assert set(held.drawn[-1].names) == {"p0", "p1"}


def test_whoever_is_drawn_with_somebody_who_goes_after_a_draw_goes_through() -> None:
    held = Held(KNOCKOUT, field(4))
    one, other = sorted(held.advance(), key=lambda pairing: "p0" not in pairing.names)
    held.conclude(one, DRAW)
    held.withdraw("p0")
    held.conclude(other, (1.0, 0.0))
    (final,) = held.advance()
    assert set(final.names) == {"p3", other.first}


def test_whoever_would_have_met_somebody_who_has_gone_has_a_bye() -> None:
    held = Held(KNOCKOUT, field(8))
    for pairing in held.advance():
        held.conclude(pairing, better(pairing))
    held.withdraw("p3")
    assert {pairing.names for pairing in held.advance() if pairing.second is None} == {("p0",)}
    held.withdraw("p1")
    held.withdraw("p2")
    (both_gone,) = held.open
    held.conclude(both_gone, (0.0, 0.0))
    (final,) = held.advance()
    assert final.names == ("p0",)
    assert not held.advance()


def test_the_place_of_two_who_have_both_gone_stays_empty() -> None:
    held = Held(KNOCKOUT, field(16))
    for pairing in held.advance():
        held.conclude(pairing, better(pairing))
    held.withdraw("p0")
    held.withdraw("p7")
    assert len(held.advance()) == 3
    for pairing in held.open[:]:
        held.conclude(pairing, better(pairing))
    assert {pairing.names for pairing in held.advance() if pairing.second is None} == {("p3",)}


def test_whoever_comes_late_is_not_drawn() -> None:
    assert not KNOCKOUT.late
    held = Held(KNOCKOUT, field(5))
    held.advance()
    held.entrants += field(3, "late")
    held.hold(Random(3), better)
    assert {name for pairing in held.drawn for name in pairing.names} == {f"p{index}" for index in range(5)}


@given(count=st.integers(2, 20), seed=seeds, leave=st.sampled_from((0.0, 0.05, 0.3)))
def test_the_last_round_is_one_contest_and_nobody_who_is_out_comes_back(
    count: int, seed: int, leave: float
) -> None:
    random = Random(seed)
    held = Held(KNOCKOUT, field(count), Terms(seed=seed)).hold(random, toss(random), leave)
    last = held.drawn[-1].round
    for round in range(1, last + 1):
        met = contests(held.drawn, round)
        assert len(met) <= 2 ** (ceil(log2(count)) - round)
        assert Counter(name for names in met for name in names).most_common(1)[0][1] == 1
        assert all(len(matches) <= 2 for matches in met.values())
        names = {name for contest in met for name in contest}
        before = contests(held.drawn, round - 1)
        assert all(len(names & contest) <= 1 for contest in before)
        assert round == 1 or names <= {name for contest in before for name in contest}
    assert set(lost(held).values()) <= {1}
    gone = {entrant.name for entrant in held.entrants if entrant.gone}
    assert len(met) == 1 or all(contest & gone for contest in met)


@settings(max_examples=tries(40, 3000))
@given(count=st.integers(2, 32), seed=seeds)
def test_whoever_has_been_first_less_often_is_first_and_of_equals_who_was_second_last(
    count: int, seed: int
) -> None:
    random = Random(seed)
    held = Held(KNOCKOUT, field(count), Terms(seed=seed)).hold(random, toss(random))
    for round in by_round(held.drawn):
        rows = sides([pairing for pairing in held.drawn if pairing.round < round])
        for first, second in (
            contest[0].names for contest in contests(held.drawn, round).values() if contest[0].second
        ):
            one, other = rows[first], rows[second]
            assert (sum(one), running(one)) <= (sum(other), running(other))


def running(row: Sequence[int]) -> int:
    """How often running up to the last it has been first; negative: second."""
    return sum(takewhile(lambda side: side == row[-1], reversed(row)))


def test_who_goes_on_is_found_without_looking_through_all_names_for_each_match() -> None:
    """Catches lists of names, with which each table of 10,000 entrants took two seconds."""
    entrants = [Entrant(Compared(f"p{number}")) for number in range(300)]
    held = Held(KNOCKOUT, entrants).hold(Random(1), lambda pairing: DRAW)
    drawn = [pairing for pairing in held.drawn if pairing.round == 1]
    results = [result for result in held.results if result.pairing.round == 1]
    Compared.times = 0
    assert len(KNOCKOUT.draw(entrants, drawn, results, held.terms)) == 128
    assert standings(entrants, held.results, KNOCKOUT.order)[0].name == "p0"
    assert Compared.times < 10 * len(entrants)


@given(seed=seeds, count=st.integers(2, 20))
@settings(max_examples=tries(50, 1000))
def test_after_each_result_there_is_more_to_draw_or_the_same(seed: int, count: int) -> None:
    """`quintain verify` relies on that to find out with which result something was drawn."""
    random = Random(seed)
    held = Held(KNOCKOUT, field(count))
    while held.advance():
        random.shuffle(held.open)
        before = len(held.results)
        for pairing in held.open[:]:
            held.conclude(pairing, toss(random)(pairing))
        drawn = [
            KNOCKOUT.draw(held.entrants, held.drawn, held.results[:results], held.terms)
            for results in range(before, len(held.results) + 1)
        ]
        assert all(one == other or len(one) < len(other) for one, other in pairwise(drawn))
