"""A table without an end is remembered in columns: they say what objects would, and are far smaller."""

import tracemalloc
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.json import decode

from tests.tournament.histories import history
from tests.tournament.test_tally import forgetful
from tournament.events import Ending, Fault
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened, Voided
from tournament.format import Pairing, formats
from tournament.record import Record

pytestmark = pytest.mark.slow

ENDLESS = [format.name for format in formats().values() if format.endless]
seeds = st.integers(0, 2**32 - 1)
table = st.sampled_from(ENDLESS)


@contextmanager
def objects() -> Generator[None]:
    """Records have an object for everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Record, "_remember_in", _ignore)
        yield


def _ignore(record: Record, columns: object) -> None:
    """Leave it without columns."""


def of(opened: Opened, facts: Sequence[AnyFact]) -> Record:
    record = Record("cup", opened)
    for fact in facts:
        record.add(fact)
    return record


def life(seed: int, steps: int, format: str) -> tuple[Opened, list[AnyFact]]:
    """With all that is known of a match."""
    random = Random(seed)
    opened, facts = history(format, random, steps)
    for index, fact in enumerate(facts):
        if isinstance(fact, Concluded):
            times = random.choice(((None, None), (None, 9.5), (7.25, 8.5)))
            fault = random.choice((None, *Fault))
            versions = random.choice(((None, None), ("1", None), ("1", "2")))
            facts[index] = structs.replace(
                fact, began=times[0], ended=times[1], fault=fault, versions=versions
            )
    return opened, facts


def said(record: Record) -> list[object]:
    numbers = range(-1, record.last_drawn + 3)
    return [
        dict(record.drawn),
        [*record.matches.items()],
        dict(record.results.counted),
        dict(record.results.came_to),
        [*record.endings],
        [*record.results.decisions],
        record.results.decisions[2:5],
        record.adjusted(),
        record.standings(),
        [*map(len, (record.drawn, record.matches, record.results.counted, record.results.came_to))],
        [*map(len, (record.endings, record.results.decisions))],
        [(record.drawn.get(number), record.results.came_to.get(number)) for number in numbers],
        [record.match_of(number) for number in numbers],
        [f"cup-{number}" in record.matches for number in numbers],
        record.version,
    ]


@given(seed=seeds, steps=st.integers(0, 200), format=table)
def test_columns_say_what_objects_would(seed: int, steps: int, format: str) -> None:
    opened, facts = life(seed, steps, format)
    with forgetful():
        record = of(opened, facts)
        with objects():
            other = of(opened, facts)
        assert said(record) == said(other)
        assert said(record.public) == said(other.public)


@given(seed=seeds, steps=st.integers(0, 120), more=st.integers(0, 60), format=table)
def test_what_is_known_of_one_moment_stays_as_it_is(seed: int, steps: int, more: int, format: str) -> None:
    opened, facts = life(seed, steps + more, format)
    now, later = facts[: len(facts) - more], facts[len(facts) - more :]
    with forgetful():
        record = of(opened, now)
        still, before = record.after(), said(record)
        assert said(record.after(*later)) == said(of(opened, facts))
        assert said(record) == before
        for fact in later:
            record.add(fact)
        assert said(still) == before


@pytest.mark.parametrize("name", ["cup-0", "cup-2", "cup", "cup-", "cup-1.2", "cup-01", "pot-1"])
def test_there_is_no_match_but_under_its_name(name: str) -> None:
    record = of(Opened("tic-tac-toe", "open"), [*map(Entered, "ab"), *match(1, 0)])
    assert list(record.matches) == ["cup-1"]
    assert name not in record.matches
    with pytest.raises(KeyError):
        record.matches[name]
    with pytest.raises(ValueError, match="no match"):
        record.add(Voided(name, "?"))


def test_a_table_draws_its_pairings_one_after_the_other() -> None:
    record = of(Opened("tic-tac-toe", "open"), [*map(Entered, "ab"), *match(1, 0)])
    with pytest.raises(ValueError, match="pairing 3 came after 1"):
        record.add(Drew((Pairing(3, 3, "a", "b"),)))


@pytest.mark.parametrize("own", [None, b'{"cols":5,"rows":5}'], ids=["as the table has it", "of its own"])
def test_a_match_takes_less_than_a_hundred_bytes(own: bytes | None) -> None:
    """Also if each is of a size of its own, as those of Hexagon Dots are: most of them are of the same."""
    few, many = 2_000, 5_000
    record = of(Opened("tic-tac-toe", "open"), [*map(Entered, "ab")])
    taken: list[int] = []
    tracemalloc.start()
    try:
        for number in range(1, many + 1):
            for fact in match(number, number, None if own is None else decode(own)):
                record.add(fact)
            if number in (few, many):
                taken.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert (taken[1] - taken[0]) / (many - few) < 100


def test_what_led_to_an_end_is_held_once_for_all_who_did_the_same() -> None:
    names = [f"bot-{number}" for number in range(40)]
    record = of(Opened("tic-tac-toe", "open"), [*map(Entered, names)])
    for number, players in enumerate(zip(names, reversed(names), strict=True), 1):
        left = f"{players[0]} left the match"
        over = Concluded(f"cup-{number}", number, players, 1, Ending.LEFT, left, (0.0, 1.0), (), ())
        for fact in (Drew((Pairing(number, number, *players),)), Dealt(over.match, number), over):
            record.add(fact)
    assert record.columns is not None
    assert len(record.columns.texts) == len(names) + 1
    record.columns.latest.clear()  # so that it is read in the columns
    assert [match.why for match in record.matches.values()] == [f"{name} left the match" for name in names]


def match(number: int, seed: int, own: Mapping[str, Any] | None = None) -> tuple[AnyFact, ...]:
    moves, times, why = (seed, 1, 2, 3, 4, 5), (0.5,) * 6, "three in a row"
    over = Concluded(
        f"cup-{number}", number, ("a", "b"), 0, Ending.PLAYED, why, (1.0, 0.0), moves, times, own
    )
    return Drew((Pairing(number, number, "a", "b"),)), Dealt(f"cup-{number}", number, own), over
