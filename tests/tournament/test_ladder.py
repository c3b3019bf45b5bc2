"""Ladder: who is drawn, against whom, and how often."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.effort import tries
from tests.steps import steps_taken
from tests.tournament.holding import Held, field, meetings, sides, toss
from tournament.format import Entrant, Pairing, Result, Terms, formats
from tournament.latest import MEMORY, Latest
from tournament.lobby import WAITING
from tournament.pairing.drawing import Sides, last_round, lots, numbered, unfinished
from tournament.pairing.ladder import distance
from tournament.skill import Skill, skills

pytestmark = pytest.mark.slow

LADDER = formats()["ladder"]

seeds = st.integers(0, 2**32 - 1)
counts = st.integers(3, 12)
busy = st.sampled_from((0.0, 0.02))


def held(count: int, seed: int, steps: int = 80, leave: float = 0.0) -> Held:
    random = Random(seed)
    return Held(LADDER, field(count), Terms(seed=seed)).hold(random, toss(random), leave, steps=steps)


def story(*meetings: tuple[str, str, float], start: int = 1) -> tuple[list[Pairing], list[Result]]:
    """What has been played: first, second, and what the first scored."""
    drawn = [
        Pairing(number, number, first, second) for number, (first, second, _) in enumerate(meetings, start)
    ]
    scores = (score for *_, score in meetings)
    return drawn, [Result(pairing, (score, 1 - score)) for pairing, score in zip(drawn, scores, strict=True)]


@given(count=counts, seed=seeds, leave=busy)
def test_nobody_meets_the_same_opponent_twice_running_while_others_are_there(
    count: int, seed: int, leave: float
) -> None:
    ladder = held(count, seed, leave=leave)
    last: dict[str, str] = {}
    for entrants, _, _, answer in ladder.asked:
        there = [entrant for entrant in entrants if not entrant.gone]
        for one, other in (pairing.names for pairing in answer):
            assert len(there) == 2 or (last.get(one) != other and last.get(other) != one)
        for one, other in (pairing.names for pairing in answer):
            last |= {one: other, other: one}


@given(count=counts, seed=seeds, leave=busy)
def test_whoever_is_free_plays_unless_all_who_are_free_have_just_met(
    count: int, seed: int, leave: float
) -> None:
    ladder = held(count, seed, leave=leave)
    for entrants, pairings, results, answer in ladder.asked:
        drawn = ladder.drawn[:pairings]
        done = {result.pairing.number for result in ladder.results[:results]}
        playing = {name for pairing in drawn if pairing.number not in done for name in pairing.names}
        playing.update(name for pairing in answer for name in pairing.names)
        idle = [entrant.name for entrant in entrants if not entrant.gone and entrant.name not in playing]
        last = {name: set(pairing.names) for pairing in [*drawn, *answer] for name in pairing.names}
        for index, one in enumerate(idle):
            assert all({one, other} in (last[one], last[other]) for other in idle[:index])


@given(count=st.integers(2, 12), seed=seeds, leave=busy)
def test_two_who_meet_again_swap_sides(count: int, seed: int, leave: float) -> None:
    ladder = held(count, seed, leave=leave)
    balance = Counter[tuple[str, ...]]()
    for pairing in ladder.drawn:
        balance[pairing.names] += 1
        balance[pairing.names[::-1]] -= 1
        assert abs(balance[pairing.names]) <= 1


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, pytest.param(12, marks=pytest.mark.campaign)])
def test_everybody_plays_about_as_often_meets_everybody_and_has_both_sides(count: int) -> None:
    ladder = held(count, count, steps=40 * count)
    rows = sides(ladder.drawn)
    lengths = sorted(map(len, rows.values()))
    assert lengths[0] > 0.5 * lengths[-1]
    assert len(meetings(ladder.drawn)) == count * (count - 1) // 2
    assert max(abs(sum(row)) for row in rows.values()) <= 0.1 * lengths[0]


def test_only_two_go_on_with_each_other() -> None:
    ladder = held(2, 1, steps=10)
    assert [pairing.first for pairing in ladder.drawn[1:]] == [
        pairing.second for pairing in ladder.drawn[:-1]
    ]


def test_two_who_have_just_met_wait_for_those_who_are_playing() -> None:
    ladder = Held(LADDER, field(4))
    one, other = ladder.advance()
    ladder.conclude(one, (1.0, 0.0))
    assert not ladder.advance()
    ladder.conclude(other, (1.0, 0.0))
    assert len(ladder.advance()) == 2


@pytest.mark.parametrize("order", ["abcd", "bacd"])
def test_two_wait_if_for_one_of_them_alone_it_would_be_the_same_opponent_twice_running(order: str) -> None:
    drawn, results = story(("a", "b", 1.0), ("b", "c", 0.0))
    playing = Pairing(3, 3, "c", "d")
    assert not LADDER.draw([*map(Entrant, order)], [*drawn, playing], results, Terms())


def test_whoever_is_away_or_gone_or_playing_is_not_drawn() -> None:
    entrants = field(6)
    entrants[1] = structs.replace(entrants[1], present=False)
    entrants[2] = structs.replace(entrants[2], gone=True)
    (pairing,) = LADDER.draw(entrants, [Pairing(1, 1, "p0", "p5")], [], Terms())
    assert set(pairing.names) == {"p3", "p4"}


@settings(max_examples=tries(60, 3000))
@given(count=st.integers(3, 8), games=st.integers(0, 60), seed=seeds)
def test_nobody_is_chosen_while_another_is_nearer_and_has_been_met_less_often(
    count: int, games: int, seed: int
) -> None:
    """Both, or one of these and the other alike. All are free, and the first drawn is the least known."""
    random, entrants = Random(seed), field(count)
    names = [entrant.name for entrant in entrants]
    drawn, results = story(
        *((*random.sample(names, 2), random.choice((0.0, 0.5, 1.0))) for _ in range(games))
    )
    first, *_ = LADDER.draw(entrants, drawn, results, Terms(seed=seed))
    known, met = skills(entrants, results), meetings(drawn)
    last = {name: {*pairing.names} for pairing in drawn for name in pairing.names}
    choices = {
        one: [
            other for other in names if other != one and {one, other} not in (last.get(one), last.get(other))
        ]
        for one in names
    }
    unsure = max(known[one].sigma for one in names if choices[one])

    def costs(one: str, other: str) -> tuple[float, int]:
        return distance(known[one], known[other]), met[frozenset((one, other))]

    def chose_well(one: str, chosen: str) -> bool:
        far, often = costs(one, chosen)
        others = [costs(one, other) for other in choices[one] if costs(one, other) != (far, often)]
        return known[one].sigma == unsure and not any(d <= far and t <= often for d, t in others)

    assert chose_well(*first.names) or chose_well(*first.names[::-1])


def test_whoever_is_least_known_chooses_first_and_somebody_near() -> None:
    """The strong beat the weak every time, and those as strong as they are every other time."""
    strong, weak = ("a", "b"), ("y", "z")
    games = [(one, other, 1.0) for one in strong for other in weak] * 4
    games += [("a", "b", 1.0), ("b", "a", 1.0), ("y", "z", 1.0), ("z", "y", 1.0)] * 2 + [
        ("a", "y", 1.0),
        ("b", "z", 1.0),
    ]
    drawn, results = story(*games)
    entrants = [Entrant(name) for name in (*strong, *weak)]
    for seed in range(10):
        pairs = {
            frozenset(pairing.names) for pairing in LADDER.draw(entrants, drawn, results, Terms(seed=seed))
        }
        assert pairs == {frozenset(strong), frozenset(weak)}
        first, *_ = LADDER.draw([*entrants, Entrant("new")], drawn, results, Terms(seed=seed))
        assert "new" in first.names


def test_nobody_is_far_from_somebody_of_whom_nothing_is_known() -> None:
    known, stranger, other = Skill(30.0, 1.0), Skill(20.0, 8.0), Skill(20.0, 1.0)
    assert distance(known, stranger) == distance(stranger, known) < distance(known, other)
    assert distance(known, Skill(30.0, 8.0)) == 0


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_each_draw_is_a_round_of_its_own(names: str) -> None:
    drawn, results = story(("a", "b", 0.5), ("b", "a", 0.5))
    (pairing,) = LADDER.draw([Entrant(name) for name in names], drawn, results, Terms())
    assert (pairing.number, pairing.round) == (drawn[-1].number + 1, drawn[-1].round + 1)


def test_lots_are_drawn_anew_after_each_match() -> None:
    newcomers = [Entrant(name) for name in "abcd"]
    drawn, results = story(*[("x", "y", 0.5)] * 20)
    found: set[tuple[str, ...]] = set()
    for met in range(20):
        first, *_ = LADDER.draw(newcomers, drawn[:met], results[:met], Terms())
        found.add(first.names)
    assert len(found) > 5


def test_those_who_have_met_less_often_are_more_likely_to_meet() -> None:
    """D is least known, has just met a, and of the others, who are as strong, b before that."""
    among = [("a", "b", 0.5), ("b", "c", 0.5), ("c", "a", 0.5)] * 2
    drawn, results = story(("d", "b", 0.5), *among, ("d", "a", 0.5))
    for seed in range(10):
        first, *_ = LADDER.draw([Entrant(name) for name in "abcd"], drawn, results, Terms(seed=seed))
        assert set(first.names) == {"c", "d"}


def test_when_two_have_not_met_whoever_was_first_less_often_is_first() -> None:
    drawn, results = story(("a", "x", 0.5), ("y", "c", 0.5))
    for seed in range(10):
        (pairing,) = LADDER.draw([Entrant("a"), Entrant("c")], drawn, results, Terms(seed=seed))
        assert pairing.names == ("c", "a")


def test_whoever_is_not_there_may_have_played() -> None:
    drawn, results = story(("a", "b", 1.0), ("c", "a", 0.5))
    (pairing,) = LADDER.draw([Entrant("b"), Entrant("c")], drawn, results, Terms())
    assert set(pairing.names) == {"b", "c"}


def test_it_is_little_enough_effort_to_be_asked_after_every_match() -> None:
    """Some 450,000 steps of the interpreter; `make bench` measures the seconds."""
    half, whole = effort(MEMORY // 2), effort(MEMORY)
    assert whole < 2.5 * half
    assert whole < 1_500_000


def effort(matches: int) -> int:
    """What it takes to draw for twenty bots that have played so many matches."""
    random = Random(5)
    names = [entrant.name for entrant in field(20)]
    drawn, results = story(
        *((*random.sample(names, 2), random.choice((0.0, 0.5, 1.0))) for _ in range(matches))
    )
    assert len(LADDER.draw(field(20), drawn, results, Terms())) >= 9
    return steps_taken(lambda: LADDER.draw(field(20), drawn, results, Terms()))


def test_it_is_little_enough_effort_for_all_who_are_free_at_once() -> None:
    """Some 450,000 steps; catches a look through all that was drawn for each who is free, with 800,000."""
    random, count = Random(5), WAITING
    names = [entrant.name for entrant in field(count)]
    few = [random.sample(names, 2) for _ in range(count)]
    drawn, results = story(*((*random.choice(few), random.choice((0.0, 1.0))) for _ in range(MEMORY)))
    latest = Latest(drawn, results)

    def draw() -> list[Pairing]:
        return LADDER.draw(field(count), latest, latest.results, Terms())

    assert len(draw()) > count / 3
    assert steps_taken(draw) < 600_000


def plainly(
    entrants: list[Entrant], past: list[Pairing], results: list[Result], terms: Terms
) -> list[Pairing]:
    """Whom it draws, found by going through all that was drawn and weighing whoever is free."""
    there = [entrant for entrant in entrants if entrant.present and not entrant.gone]
    busy = {name for pairing in unfinished(past, results) for name in pairing.names}
    free = [*dict.fromkeys(each.name for each in there if each.free and each.name not in busy)]
    sides = Sides(past)
    last = {name: {*pairing.names} for pairing in past for name in pairing.names}
    latest = {frozenset(pairing.names): pairing.names for pairing in past}
    known = skills([*map(Entrant, {*free, *last})], results)

    def cost(one: str, other: str) -> float:
        times = sides.times[one, other] + sides.times[other, one]
        return (1 + distance(known[one], known[other])) ** 2 * (1 + times)

    meetings: list[tuple[str, str]] = []
    free = sorted(
        lots(free, (terms.seed, past[-1].number if past else 0)), key=lambda name: known[name].sigma
    )
    while free:
        one = free.pop()
        others = [
            other for other in free if len(there) == 2 or {one, other} not in (last.get(one), last.get(other))
        ]
        if others:
            other = min(others, key=lambda other: cost(one, other))
            free.remove(other)
            first = one if sides.balance[one] <= sides.balance[other] else other
            if (before := latest.get(frozenset((one, other)))) is not None:
                first = before[1]
            meetings.append((first, other if first == one else one))
    return numbered(past, [meetings], last_round(past) + 1)


@given(seed=seeds)
def test_it_draws_the_same_as_whoever_goes_through_all_that_was_drawn(seed: int) -> None:
    random = Random(seed)
    names = [entrant.name for entrant in field(random.randint(2, 8))]
    start = random.choice((1, 500))
    pairs = [random.sample(names, 2) for _ in range(random.choice((0, 1, 3, 30, 100)))]
    past, results = story(
        *((one, other, random.choice((0.0, 0.5, 1.0))) for one, other in pairs), start=start
    )
    undecided = random.choice((0.0, 0.0, 0.05))
    results = [result for result in results if random.random() >= undecided]
    entrants = [
        Entrant(
            random.choice(names),
            gone=random.random() < 0.1,
            present=random.random() < 0.9,
            free=random.random() < random.choice((0.5, 0.9)),
        )
        for _ in range(random.randint(0, 8))
    ]
    terms = Terms(seed=random.randint(0, 9))
    expected = plainly(entrants, past, results, terms)
    assert LADDER.draw(entrants, past, results, terms) == expected
    latest = Latest(past, random.sample(results, len(results)))
    assert LADDER.draw(entrants, latest, latest.results, terms) == expected


@pytest.mark.parametrize("idle", "abc")
def test_whoever_has_wasted_the_time_of_others_is_left_over_if_anybody_is(idle: str) -> None:
    there = [Entrant(name, last=name == idle) for name in "abc"]
    for seed in range(20):
        (drawn,) = LADDER.draw(there, [], [], Terms(seed=seed))
        assert {*drawn.names} == {*"abc"} - {idle}
