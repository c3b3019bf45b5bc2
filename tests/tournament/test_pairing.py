"""What is true of every format there is, now and later. What is true of one is in the test of that one."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import tries
from tests.tournament.holding import Held, better, field, meetings, toss
from tournament.format import Aim, Entrant, Format, Pairing, Result, Terms, formats
from tournament.pairing.drawing import last_round

every = pytest.mark.parametrize("format", formats().values(), ids=formats())
ending = {name: format for name, format in formats().items() if not format.endless}
every_that_ends = pytest.mark.parametrize("format", ending.values(), ids=ending)

seeds = st.integers(0, 2**32 - 1)
counts = st.integers(0, 13)
leaving = st.sampled_from((0.0, 0.05, 0.5))
ROOT = Path(__file__).parents[2]
SHORT = Aim(games=40)  # of what ends when it is decided, which a toss never is


def test_the_formats_are_those_that_the_commands_name() -> None:
    promised = {"round-robin", "double-round-robin", "swiss", "knockout", "gauntlet", "ladder"}
    assert promised <= set(formats())


@every_that_ends
@given(count=counts, seed=seeds, leave=leaving, late=st.integers(0, 4))
def test_a_tournament_ends_whoever_comes_and_goes(
    format: Format, count: int, seed: int, leave: float, late: int
) -> None:
    """`Held` sees besides that numbers have no gap, nobody gone is drawn and nothing is drawn again."""
    random = Random(seed)
    held = Held(format, field(count), Terms(seed=seed, aim=SHORT)).hold(random, toss(random), leave, late)
    assert sorted(result.pairing.number for result in held.results) == list(range(1, len(held.drawn) + 1))


@pytest.mark.parametrize("count", range(2, 10))
@every_that_ends
def test_what_a_format_plans_is_what_it_draws_where_nobody_draws_and_all_stay(
    format: Format, count: int
) -> None:
    if format.plan is not None:
        held = Held(format, field(count), Terms()).hold(Random(count), better)
        matches = Counter(pairing.round for pairing in held.drawn if pairing.second is not None)
        assert list(format.plan(count, Terms())) == [matches[round] for round in sorted(matches)]
        assert list(format.plan(0, Terms())) == []
    if format.rounds is not None:
        drawn = format.draw(field(count), [], [], Terms())
        assert format.rounds(count, Terms()) == last_round(drawn)
        assert format.rounds(0, Terms()) >= 0


@pytest.mark.slow
@every
@given(count=st.integers(2, 9), seed=seeds, leave=leaving, late=st.integers(0, 4))
def test_a_format_depends_on_nothing_but_what_it_is_given(
    format: Format, count: int, seed: int, leave: float, late: int
) -> None:
    """So going on after a crash, at any moment, is asking once more with what the store holds."""
    random = Random(seed)
    held = Held(format, field(count), Terms(seed=seed)).hold(random, toss(random), leave, late, steps=40)
    for entrants, pairings, results, answer in reversed(held.asked):
        stored = msgspec.json.encode((entrants, held.drawn[:pairings], held.results[:results], held.terms))
        known = msgspec.json.decode(stored, type=tuple[list[Entrant], list[Pairing], list[Result], Terms])
        assert list(format.draw(*known)) == answer


STORY = """
from random import Random
from tests.tournament.holding import Held, field, toss
from tournament.format import Terms, formats
for name in sorted(formats()):
    random = Random(1)
    held = Held(formats()[name], field(9), Terms(seed=3)).hold(random, toss(random), 0.02, late=2, steps=60)
    print(name, [(pairing.round, pairing.first, pairing.second) for pairing in held.drawn])
"""


@pytest.mark.slow
def test_another_process_draws_the_same() -> None:
    """Whatever order it has its sets and dictionaries in."""
    told = {
        subprocess.run(
            [sys.executable, "-c", STORY],
            cwd=ROOT,
            env={"PYTHONHASHSEED": hashing},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hashing in ("1", "2", "3")[: tries(2, 3)]
    }
    assert len(told) == 1
    assert len(told.pop().splitlines()) == len(formats())


@every
def test_a_field_that_is_too_small_is_no_error(format: Format) -> None:
    for count in range(format.entrants):
        assert format.draw(field(count), [], [], Terms()) == []


@pytest.mark.parametrize("name", ["round-robin", "double-round-robin", "swiss"])
def test_another_seed_is_another_draw(name: str) -> None:
    draws = [formats()[name].draw(field(8), [], [], Terms(seed=seed)) for seed in range(5)]
    assert all(draws.count(draw) == 1 for draw in draws)


@pytest.mark.parametrize("name", ["round-robin", "double-round-robin", "swiss"])
@given(order=st.permutations(field(7)), seed=seeds)
def test_whoever_came_first_has_nothing_of_it(name: str, order: list[Entrant], seed: int) -> None:
    draw = formats()[name].draw
    assert draw(order, [], [], Terms(seed=seed)) == draw(field(7), [], [], Terms(seed=seed))


@pytest.mark.parametrize("name", ["round-robin", "double-round-robin", "gauntlet"])
@given(count=st.integers(2, 9), seed=seeds)
def test_what_has_no_barrier_is_drawn_at_once_and_results_do_not_matter(
    name: str, count: int, seed: int
) -> None:
    random = Random(seed)
    held = Held(formats()[name], field(count), Terms(seed=seed))
    at_once = held.advance()
    assert held.hold(random, toss(random)).drawn == at_once
    assert meetings(at_once)
