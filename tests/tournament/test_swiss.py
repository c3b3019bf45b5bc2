"""Swiss: each round of a small field against all that could have been drawn, of a larger one against a slow
search, and 1,000 bots for twelve rounds."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import tries
from tests.oracles import swiss as oracle
from tests.steps import steps_taken
from tests.tournament.holding import (
    Held,
    better,
    field,
    imbalance,
    longest,
    meetings,
    nobody_twice,
    sides,
    toss,
)
from tournament.format import Entrant, Pairing, Result, Score, Terms, formats
from tournament.pairing.drawing import Sides, here, lots, seeded
from tournament.pairing.swiss import firsts, strain, totals

pytestmark = pytest.mark.slow

SWISS = formats()["swiss"]
ROUNDS = tries(3, 12)  # of a thousand bots
seeds = st.integers(0, 2**32 - 1)

SMALL = 12  # entrants: with fewer there may be nobody left who has not been met and is owed the other side

AGAIN = 35  # floats of six fields of 32; 73 where only scores and the order count

Drawing = list[tuple[str, str | None]]  # a round: who against whom, and who has a bye


def drawings(names: Sequence[str | None]) -> Iterator[Drawing]:
    """Every way to draw a round; an odd number has None among the names."""
    if not names:
        yield []
        return
    one, *rest = names
    for index, other in enumerate(rest):
        pair = (one, other) if one is not None else (str(other), None)
        for others in drawings(rest[:index] + rest[index + 1 :]):
            yield [pair, *others]


def points(results: Sequence[Result]) -> Counter[str]:
    """Everybody's score, in halves."""
    found = Counter[str]()
    for result in results:
        for name, score in zip(result.pairing.names, result.score, strict=False):
            found[name] += int(2 * score)
    return found


def owed(row: list[int]) -> bool:
    """Whether somebody of those sides has a claim to one of them."""
    return sum(row) != 0 or abs(sum(row[-2:])) == 2


def faults(
    drawing: Drawing, drawn: Sequence[Pairing], scores: Counter[str], floated: Mapping[str, str]
) -> tuple[int, ...]:
    """What is wrong with a round, worst things first: written from the rules, not from the prices."""
    met = meetings(drawn)
    byes = Counter(pairing.first for pairing in drawn if pairing.second is None)
    fewest = min(byes[name] for pair in drawing for name in pair if name is not None)
    free = [one for one, other in drawing if other is None]
    pairs = [(one, other) for one, other in drawing if other is not None]
    balanced = not any(map(owed, sides(drawn).values()))
    unequal = sum((scores[one] - scores[other]) ** 2 for one, other in pairs)
    again = sum(floated.get(one) == "down" for one in free)
    for pair in pairs:
        low, high = sorted(pair, key=lambda name: scores[name])
        if scores[low] < scores[high]:
            again += (floated.get(low) == "up") + (floated.get(high) == "down")
    return (
        sum(byes[one] - fewest for one in free),
        sum(met[frozenset(pair)] for pair in pairs),
        sum(scores[one] for one in free),
        sum(max(0, abs(scores[one] - scores[other]) - oracle.FURTHEST) for one, other in pairs),
        unequal + oracle.AGAIN * again if balanced else 0,  # sides come before scores
    )


@given(
    count=st.integers(2, 8),
    rounds=st.integers(1, 9),
    seed=seeds,
    leave=st.sampled_from((0.0, 0.02)),
    late=st.integers(0, 1),
)
def test_no_better_round_could_have_been_drawn(
    count: int, rounds: int, seed: int, leave: float, late: int
) -> None:
    """No rematch and no second bye while they can be avoided, byes to the lowest, nobody more than two
    points apart, then the closest scores and the fewest floats in the same direction again.
    """
    random = Random(seed)
    held = Held(SWISS, field(count), Terms(rounds=rounds, seed=seed)).hold(random, toss(random), leave, late)
    compare(held)


@pytest.mark.parametrize("seed", [*range(7), 8, 9, 10])  # where it happens that all are
def test_where_all_are_in_balance_scores_and_floats_are_as_good_as_can_be(seed: int) -> None:
    random = Random(seed)
    held = Held(SWISS, field(8), Terms(seed=seed)).hold(random, toss(random))
    assert not any(imbalance(held.drawn[:pairings]) for pairings in (0, 8, 16))
    compare(held)


def compare(held: Held) -> None:
    """Each round with every other that could have been drawn."""
    for entrants, pairings, results, answer in held.asked:
        if answer:
            names = [entrant.name for entrant in entrants if not entrant.gone]
            drawn, scores = held.drawn[:pairings], points(held.results[:results])
            possible = drawings(names if len(names) % 2 == 0 else [*names, None])
            chosen = [(pairing.first, pairing.second) for pairing in answer]
            before = floats(drawn, held.results)
            best = min(faults(way, drawn, scores, before) for way in possible)
            assert faults(chosen, drawn, scores, before) == best


@given(seed=seeds)
def test_the_price_of_sides_is_that_of_those_which_the_two_will_have(seed: int) -> None:
    random, names, sides = Random(seed), [entrant.name for entrant in field(6)], Sides()
    for _ in range(20):
        sides.add(*random.sample(names, 2))
        balance, running = (
            np.array([each[name] for name in names]) for each in (sides.balance, sides.running)
        )
        priced = strain(balance, firsts(names, sides), running)
        for (row, one), (column, other) in permutations(enumerate(names), 2):
            first, second = sides.fair(one, other)
            out_of_balance = max(0, sides.balance[first]) + max(0, -sides.balance[second])
            third = (sides.running[first] >= 2) + (sides.running[second] <= -2)
            assert priced[row, column] == 3 * out_of_balance + third


@pytest.mark.parametrize("count", [4, 5, 6])
@pytest.mark.parametrize("dear", [1, 3])
def test_the_least_of_one_part_of_a_price_outweighs_the_most_of_all_later_parts(
    count: int, dear: int
) -> None:
    """A round with one fault of the worst kind is dearer than any without, however many others that has."""
    names = [*map(str, range(count)), *[None] * (count % 2)]
    faulty, *others = (
        [(int(one), count if other is None else int(other)) for one, other in drawing]
        for drawing in drawings(names)
    )
    worst, lesser = np.zeros((len(names),) * 2, np.int64), np.full((len(names),) * 2, dear)
    worst[0, 1] = worst[1, 0] = 1
    for one, other in faulty:
        lesser[one, other] = lesser[other, one] = 0
    parts = [(part[:count, :count], part[:count, -1] * (count % 2)) for part in (worst, lesser, lesser)]
    prices = totals(parts)
    price, *others = (
        sum(int(prices[meeting]) for meeting in drawing)
        for drawing in (faulty, *(other for other in others if (0, 1) not in other))
    )
    assert price > max(others)


@given(count=st.integers(2, 40), seed=seeds, leave=st.sampled_from((0.0, 0.05)), late=st.integers(0, 3))
def test_a_round_is_drawn_when_the_one_before_is_over_and_holds_everybody_once(
    count: int, seed: int, leave: float, late: int
) -> None:
    random = Random(seed)
    held = Held(SWISS, field(count), Terms(seed=seed)).hold(random, toss(random), leave, late)
    assert nobody_twice(held.drawn)
    for round, (entrants, pairings, results, answer) in enumerate(
        (asked for asked in held.asked if asked[-1]), 1
    ):
        assert pairings == results
        assert {pairing.round for pairing in answer} == {round}
        here = {entrant.name for entrant in entrants if not entrant.gone}
        assert {name for pairing in answer for name in pairing.names} == here


@given(count=st.integers(2, 40), seed=seeds)
def test_by_default_nobody_meets_twice_or_has_two_byes_and_sides_are_balanced(count: int, seed: int) -> None:
    """After every round, to within one and never three times running; in small fields to within two, and
    where two would else have met who are more than two points apart.
    """
    random = Random(seed)
    held = Held(SWISS, field(count), Terms(seed=seed)).hold(random, toss(random))
    drawn = held.drawn
    byes = Counter(pairing.first for pairing in drawn if pairing.second is None)
    assert set(meetings(drawn).values()) == {1}
    assert set(byes.values()) <= {1}
    for round in range(1, drawn[-1].round + 1):
        so_far = [pairing for pairing in drawn if pairing.round <= round]
        spared = count < SMALL or too_far_apart(held, round)
        assert imbalance(so_far) <= (2 if spared else 1)
        assert max(longest(row) for row in sides(so_far).values()) <= (3 if spared else 2)


def too_far_apart(held: Held, round: int) -> bool:
    """Whether balanced sides alone would have paired two who are too far apart in one of these rounds."""
    for entrants, pairings, results, answer in held.asked:
        if answer and answer[0].round <= round and imbalance(held.drawn[: pairings + len(answer)]) > 1:
            scores, places, prices = priced(held, entrants, pairings, results, 10**6)
            best = [
                (places[one], places[other])
                for one, other in oracle.cheapest(prices, len(places))
                if other < len(places)
            ]
            return any(abs(scores[one] - scores[other]) > oracle.FURTHEST for one, other in best)
    return False


@pytest.mark.parametrize(
    ("count", "rounds"),
    [(2, 1), (3, 3), (4, 3), (6, 3), (7, 5), (8, 5), (16, 5), (17, 7), (32, 7), (64, 7), (65, 9), (128, 9)],
)
def test_the_number_of_rounds_is_odd_and_grows_with_the_field(count: int, rounds: int) -> None:
    entrants = field(count)
    finished = [Pairing(number, number, "p0", "p1") for number in range(1, rounds + 1)]
    over = [Result(pairing, (0.5, 0.5)) for pairing in finished]
    assert SWISS.draw(entrants, finished[:-1], over[:-1], Terms())
    assert not SWISS.draw(entrants, finished, over, Terms())


def test_more_rounds_than_opponents_are_rematches_as_late_as_can_be() -> None:
    random = Random(7)
    held = Held(SWISS, field(4), Terms(rounds=6)).hold(random, toss(random))
    assert set(meetings(held.drawn[:6]).values()) == {1}
    assert set(meetings(held.drawn).values()) == {2}


def test_the_first_round_is_the_top_half_against_the_bottom_half() -> None:
    """By rating; those without one are behind all who have one."""
    entrants = [Entrant(f"p{index}", rating=1000.0 - index) for index in range(5)] + [Entrant("p5")]
    random = Random(2)
    random.shuffle(entrants)
    drawn = SWISS.draw(entrants, [], [], Terms())
    assert {frozenset(pairing.names) for pairing in drawn} == {
        frozenset((f"p{index}", f"p{index + 3}")) for index in range(3)
    }


@pytest.mark.parametrize("count", [7, 12, 24, 32])
def test_the_best_of_them_is_on_top_and_never_had_to_share_it_for_want_of_a_match(count: int) -> None:
    """Where the better one always wins, and nobody else is without a loss or has met the best.

    Between 33 and 63, sides may keep leaders apart, so that three are left before the last round.
    """
    for seed in range(3):
        random = Random(seed)
        held = Held(SWISS, field(count), Terms(seed=seed)).hold(random, better)
        scores = points(held.results)
        assert scores["p0"] == 2 * held.drawn[-1].round == max(scores.values())
        assert sorted(scores.values())[-2] < scores["p0"]


@given(
    count=st.integers(2, 24),
    rounds=st.integers(1, 14),
    seed=seeds,
    leave=st.sampled_from((0.0, 0.02)),
    late=st.integers(0, 2),
)
def test_a_slow_search_finds_nothing_better(
    count: int, rounds: int, seed: int, leave: float, late: int
) -> None:
    """By all that the rules charge for, each rule by itself."""
    random = Random(seed)
    compare_slowly(
        Held(SWISS, field(count), Terms(rounds=rounds, seed=seed)).hold(random, toss(random), leave, late)
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [89, pytest.param(90, marks=pytest.mark.campaign)])
def test_a_slow_search_finds_nothing_better_where_few_edges_are_searched_at_first(count: int) -> None:
    random = Random(count)
    terms = Terms(rounds=tries(5, 9), seed=count)
    compare_slowly(Held(SWISS, field(count), terms).hold(random, toss(random), 0.0005))


def compare_slowly(held: Held) -> None:
    """Each round with that of the oracle."""
    for entrants, pairings, results, answer in held.asked:
        if answer:
            _, places, prices = priced(held, entrants, pairings, results)
            best = oracle.cheapest(prices, len(places))
            at: dict[str | None, int] = {name: place for place, name in enumerate(places)}
            at[None] = len(places)
            chosen = [(at[pairing.first], at[pairing.second]) for pairing in answer]
            assert charged(prices, [(min(pair), max(pair)) for pair in chosen]) == charged(prices, best)


def priced(
    held: Held, entrants: Sequence[Entrant], pairings: int, results: int, furthest: int = oracle.FURTHEST
) -> tuple[Counter[str], list[str], dict[oracle.Edge, oracle.Price]]:
    """The scores before a round, the places by them, and what each meeting costs."""
    drawn, scores = held.drawn[:pairings], points(held.results[:results])
    places = seeded(lots(here(entrants), held.terms.seed), entrants)
    places.sort(key=lambda name: -scores[name])
    before = floats(drawn, held.results)
    return scores, places, oracle.prices(places, scores, Sides(drawn), drawn, before, furthest)


def floats(drawn: Sequence[Pairing], results: Sequence[Result]) -> dict[str, str]:
    """Who met somebody with other points in the last round, or had a bye, and in which direction."""
    last = drawn[-1].round if drawn else 0
    before = points([result for result in results if result.pairing.round < last])
    found: dict[str, str] = {}
    for pairing in drawn:
        if pairing.round == last:
            names = sorted(pairing.names, key=lambda name: before[name])
            if pairing.second is None or before[names[0]] != before[names[-1]]:
                found |= {names[0]: "up", names[-1]: "down"}  # of a bye, both are the same
    return found


def test_whoever_floated_floats_in_the_same_direction_again_only_if_that_cannot_be_avoided() -> None:
    again = 0
    for seed in range(6):
        random = Random(seed)
        held = Held(SWISS, field(32), Terms(rounds=7, seed=seed)).hold(random, toss(random))
        before: dict[str, str] = {}
        for round in range(1, 8):
            now = floats([pairing for pairing in held.drawn if pairing.round <= round], held.results)
            again += sum(before.get(name) == direction for name, direction in now.items())
            before = now
    assert again <= AGAIN


def charged(prices: dict[oracle.Edge, oracle.Price], round: list[oracle.Edge]) -> oracle.Price:
    return tuple(map(sum, zip(*(prices[edge] for edge in round), strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("score", "count"),
    [
        pytest.param(None, 999, id="by lot, and one has a bye"),
        pytest.param((0.5, 0.5), 1_000, id="all equal", marks=pytest.mark.campaign),
        pytest.param((1.0, 0.0), 1_000, id="first wins"),
        pytest.param(None, 1_000, id="by lot", marks=pytest.mark.campaign),
        pytest.param((0.5, 0.5), 999, id="all equal, and one has a bye", marks=pytest.mark.campaign),
        pytest.param((1.0, 0.0), 999, id="first wins, and one has a bye", marks=pytest.mark.campaign),
    ],
)
def test_1000_bots_play_their_rounds(score: Score | None, count: int) -> None:
    random = Random(count)
    held = Held(SWISS, field(count), Terms(rounds=ROUNDS))
    had = set[str]()
    for _ in range(ROUNDS):
        before = points(held.results)
        drawn = held.advance()
        assert len(drawn) == 500
        for pairing in drawn:
            if pairing.second is None:
                due = {entrant.name for entrant in held.entrants} - had
                assert pairing.first in due
                assert before[pairing.first] == min(before[name] for name in due)
                had.add(pairing.first)
        for pairing in held.open[:]:
            held.conclude(pairing, score or toss(random)(pairing))
        assert imbalance(held.drawn) <= 1
    assert not held.advance()
    assert max(longest(row) for row in sides(held.drawn).values()) <= 2
    assert set(meetings(held.drawn).values()) == {1}


def test_twice_as_many_bots_are_no_more_than_five_times_the_effort() -> None:
    """What numpy does counts as little; `make bench` measures the seconds that a round of 1,000 takes."""
    effort(8)  # which imports what it needs
    few = tries(30, 50)
    assert effort(2 * few) < 5 * effort(few)


def effort(count: int) -> int:
    """What it takes to draw five rounds."""
    random, held, steps = Random(count), Held(SWISS, field(count)), 0
    for _ in range(5):
        steps += steps_taken(held.advance)
        for pairing in held.open[:]:
            held.conclude(pairing, toss(random)(pairing))
    return steps
