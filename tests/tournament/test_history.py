"""What is kept of matches that are forgotten: it comes out as it went in, in eight bytes each."""

import tracemalloc
from collections.abc import Sequence
from copy import copy
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.format import Pairing, Result
from tournament.history import FAR, PIECE, History

SCORES = ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.0, 0.0))
seeds = st.integers(0, 2**32 - 1)


def results(random: Random, count: int) -> list[Result]:
    """In the order of their ends: some matches take far longer than others, or are drawn after a gap."""
    numbers = list(range(1, count + 1))
    for _ in range(min(count, 20)):
        numbers.insert(random.randrange(count), numbers.pop(random.randrange(count)))
    numbers = [number + random.choice((0, 0, 0, 10 * count, FAR)) * count for number in numbers]
    return [
        Result(
            Pairing(number, 0, *random.sample("abcdefgh", 2)),
            score := random.choice(SCORES),
            played=score != (0, 0) and random.random() < 0.8,
        )
        for number in numbers
    ]


def of(added: Sequence[Result], counts: Sequence[bool]) -> History:
    history = History()
    for result, counting in zip(added, counts, strict=True):
        history.add(result, counts=counting)
    return history


def said(history: History) -> list[Result]:
    return list(history.read(0, len(history)))


@given(seed=seeds, count=st.integers(1, 60))
def test_what_counts_is_read_as_it_was_added_and_what_is_taken_back_is_not(seed: int, count: int) -> None:
    random = Random(seed)
    added = results(random, count)
    counts = [random.random() < 0.9 for _ in added]
    history = of(added, counts)
    left = [result for result, counting in zip(added, counts, strict=True) if counting]
    assert said(history) == left
    for result in random.sample(added, min(count, 5)):
        assert history.take_back(result.pairing.number) == (result in left)
        assert not history.take_back(result.pairing.number)
        left = [each for each in left if each is not result]
        assert said(history) == left
    assert not history.take_back(0)
    read = History.unpacked(history.names, history.packed(), history.taken_back, history.strays)
    assert said(read) == left


def test_a_copy_stays_as_it_is_whatever_is_added_or_taken_back() -> None:
    random = Random(1)
    added = results(random, PIECE + 50)
    history = of(added[:-40], [True] * (PIECE + 10))
    other = copy(history)
    for result in added[-40:]:
        history.add(result, counts=True)
    assert history.take_back(added[0].pairing.number)
    assert said(other) == added[:-40]
    assert said(history) == added[1:]


@pytest.mark.slow
def test_a_match_takes_eight_bytes() -> None:
    count = 30_000
    tracemalloc.start()
    try:
        history = History()
        for number in range(1, count + 1):
            met = Pairing(number, number, f"bot-{number % 50}", f"bot-{number % 50 + 1}")
            history.add(Result(met, (1.0, 0.0)), counts=True)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken / count < 9  # names too, and what other threads of the tests took meanwhile
    assert len(history.packed()) == 8 * count


def test_nothing_is_kept_of_the_names_in_matches_that_count_for_nobody() -> None:
    history = of([Result(Pairing(1, 0, "ann", "bob"), (1.0, 0.0))], [True])
    for number in range(2, 1000):
        met = Pairing(number, 0, f"stranger {number}", f"another {number}")
        history.add(Result(met, (0.0, 0.0), played=False), counts=False)
    assert history.names == ["ann", "bob"]
    assert "stranger 2" not in history
    assert len(history) == 999
    assert {result.pairing.names for result in history} == {("ann", "bob"), ("",)}
