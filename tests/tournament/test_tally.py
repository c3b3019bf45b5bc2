"""A record that forgets what is old says the same as one that remembers everything."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tournament.record
import tournament.results
from tests.tournament.histories import SCORES, history
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Disqualified, Opened, Voided
from tournament.format import Pairing, Result, formats
from tournament.history import History
from tournament.record import Record
from tournament.tally import VALUES, Tallies

pytestmark = pytest.mark.slow

FEW = 5  # matches that are remembered here
ENDLESS = [format.name for format in formats().values() if format.endless]
ENDING = [format.name for format in formats().values() if not format.endless]
seeds = st.integers(0, 2**32 - 1)


@contextmanager
def forgetful(again: int = 1) -> Generator[None]:
    """A record remembers few matches, and adds up few `again` with each that ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament.record, "LATEST", FEW)
        patch.setattr(tournament.results, "AGAIN", again)
        yield


def of(opened: Opened, facts: Sequence[AnyFact], *, whole: bool) -> Record:
    record = Record("cup", opened, whole=whole)
    for fact in facts:
        record.add(fact)
    return record


@given(seed=seeds, steps=st.integers(0, 200), format=st.sampled_from(ENDLESS), again=st.integers(1, 3))
@example(seed=1, steps=800, format="open", again=1)
def test_the_standings_of_a_table_without_an_end_are_exact_though_its_matches_are_forgotten(
    seed: int, steps: int, format: str, again: int
) -> None:
    """To the last digit, strengths and ranks among them, whoever is disqualified and whatever is voided."""
    opened, facts = history(format, Random(seed), steps)
    with forgetful(again):
        one, other = (of(opened, facts, whole=whole) for whole in (True, False))
        assert other.standings() == one.standings()
        assert other.public.standings() == one.public.standings()
        assert other.after().standings() == one.standings()
        assert other.voided == one.voided


@given(seed=seeds, matches=st.integers(1, 40), piece=st.integers(1, 7))
def test_a_history_adds_up_to_what_its_results_do_from_the_first_on(
    seed: int, matches: int, piece: int
) -> None:
    """Nobody is disqualified and nothing is voided: the sums are never begun anew."""
    random = Random(seed)
    results = [
        Result(Pairing(number, 0, *random.sample("abcd", 2)), random.choice([*SCORES.values()]))
        for number in range(1, matches + 1)
    ]
    past, followed, counted = History(), Tallies(), Tallies()
    for result in results:
        past.append(result)
        if random.random() < 0.5:
            followed.follow(past, (), (), piece)
    followed.follow(past, (), ())
    counted.count(results)
    assert followed.of == counted.of


@given(seed=seeds, steps=st.integers(0, 200), format=st.sampled_from(ENDLESS))
@example(seed=1, steps=800, format="ladder")
def test_what_somebody_has_played_is_won_by_its_opponents_once_it_is_disqualified(
    seed: int, steps: int, format: str
) -> None:
    opened, facts = history(format, Random(seed), steps, expelled=False)
    facts.append(Disqualified("a", "two bots in one"))
    with forgetful():
        one, other = (of(opened, facts, whole=whole) for whole in (True, False))
        assert other.standings() == one.standings()
        assert [row.points for row in other.standings() if row.name == "a"] == [0.0]


@given(seed=seeds, steps=st.integers(0, 200), format=st.sampled_from(ENDLESS))
@example(seed=1, steps=800, format="ladder")
def test_an_old_journal_does_not_say_whose_a_voided_match_was_and_nobody_needs_to_know(
    seed: int, steps: int, format: str
) -> None:
    opened, facts = history(format, Random(seed), steps)
    old = [Voided(fact.match, fact.why) if isinstance(fact, Voided) else fact for fact in facts]
    with forgetful():
        assert of(opened, old, whole=False).standings() == of(opened, facts, whole=True).standings()


@given(seed=seeds, steps=st.integers(1, 200), format=st.sampled_from(ENDLESS))
@example(seed=1, steps=800, format="ladder")
def test_what_would_change_changes_nothing_yet(seed: int, steps: int, format: str) -> None:
    opened, facts = history(format, Random(seed), steps)
    with forgetful():
        record = of(opened, facts, whole=False)
        before = record.standings()
        after = record.after(Disqualified("a", "?")).standings()
        assert record.standings() == before
        record.add(Disqualified("a", "?"))
        assert record.standings() == after


@given(seed=seeds, steps=st.integers(0, 200), format=st.sampled_from(ENDING))
def test_where_there_is_an_end_nothing_that_counts_is_forgotten(seed: int, steps: int, format: str) -> None:
    opened, facts = history(format, Random(seed), steps)
    with forgetful():
        one, other = (of(opened, facts, whole=whole) for whole in (True, False))
        assert other.standings() == one.standings()
        assert (other.past(), other.results.remembered(), other.adjusted()) == (
            one.past(),
            one.results.remembered(),
            one.adjusted(),
        )


@given(seed=seeds, steps=st.integers(0, 200), format=st.sampled_from([*ENDLESS, *ENDING]))
def test_what_is_to_come_is_the_same_and_so_is_what_there_was(seed: int, steps: int, format: str) -> None:
    opened, facts = history(format, Random(seed), steps)
    with forgetful():
        one, other = (of(opened, facts, whole=whole) for whole in (True, False))
        assert list(other.open.items()) == list(one.open.items())
        assert (other.dealt, other.own_options, other.keys) == (one.dealt, one.own_options, one.keys)
        for number in one.open:
            assert other.match_name(number) == one.match_name(number)
            assert other.missed(number) == one.missed(number)
        assert [*map(list, other.past())] == [*map(list, one.past())]
        assert (other.ended, other.pairings, other.decided) == (len(one.matches), one.pairings, one.decided)
        assert list(other.matches) == list(one.matches)[-FEW:]
        names = {
            *one.matches,
            *one.dealt,
            *map(one.match_name, one.drawn),
            "cup-0",
            "cup",
            "cup-x",
            "cup-1.1",
        }
        for name in {*names, *(f"{name}.2" for name in names), *(f"{name}.02" for name in names)}:
            assert other.is_over(name) == (name in one.matches), name


def test_what_is_forgotten_is_not_there_any_more() -> None:
    opened, facts = history("open", Random(1), 800)
    with forgetful():
        record = of(opened, facts, whole=False)
    kept = [record.drawn, record.matches, record.results.came_to, record.results.counted, record.attempts]
    assert max(map(len, kept)) <= FEW + len(record.open) + len(record.dealt)
    assert record.ended > 100 * FEW / 2


def test_a_match_that_nobody_knows_is_not_voided() -> None:
    opened, facts = history("open", Random(2), 50)
    for whole in (True, False):
        with pytest.raises(ValueError, match="no match of that name"):
            of(opened, [*facts, Voided("cup-999", "?")], whole=whole)


def test_a_match_is_concluded_once_though_it_is_forgotten() -> None:
    opened, facts = history("open", Random(3), 200)
    first = next(fact for fact in facts if isinstance(fact, Concluded) and fact.ending is Ending.PLAYED)
    with forgetful(), pytest.raises(ValueError, match="before"):
        of(opened, [*facts, first], whole=False)


@pytest.mark.parametrize("format", ENDLESS)
def test_a_tally_can_tell_whatever_a_format_without_an_end_goes_by(format: str) -> None:
    assert {*formats()[format].order} <= {*VALUES}
