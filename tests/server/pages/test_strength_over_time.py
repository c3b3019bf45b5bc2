"""The curve of a bot: matches are gone through once for all who look, until one more is over."""

from functools import partial
from random import Random

import pytest

from server.pages import strength_over_time
from server.pages.strength_over_time import Curves
from tests.server.pages.test_tables import large
from tests.steps import steps_taken
from tests.tournament.test_score_sheet import play
from tournament.facts import Disqualified, Entered, Withdrew


@pytest.mark.slow
def test_whoever_looks_next_has_a_curve_of_its_own_and_the_matches_are_not_gone_through_again() -> None:
    record, curves = large(1_000), Curves()
    first = partial(curves.find, "connect-4", "bot 1", [record])
    second = partial(curves.find, "connect-4", "bot 2", [record])
    once = steps_taken(first)
    assert 5 * steps_taken(second) < once
    assert 5 * steps_taken(first) < once
    assert first() == Curves().find("connect-4", "bot 1", [record])
    assert second() == Curves().find("connect-4", "bot 2", [record])
    assert first() != second()


def test_a_match_that_has_ended_since_is_in_the_curve() -> None:
    record, curves = large(50), Curves()
    before = curves.find("connect-4", "bot 1", [record])
    play(record, Random(2), "bot 1", "bot 2")
    assert before != curves.find("connect-4", "bot 1", [record])
    assert curves.find("connect-4", "bot 1", [record]) == Curves().find("connect-4", "bot 1", [record])


def test_where_there_are_many_an_earlier_curve_will_do_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches pages that each go through twenty thousand matches, because somewhere one has just ended."""
    monkeypatch.setattr(strength_over_time, "LONG", 40)
    clock, record = 0.0, large(50)
    curves = Curves(lambda: clock)
    before = curves.find("connect-4", "bot 1", [record])
    play(record, Random(2), "bot 1", "bot 2")
    clock = strength_over_time.YOUNG - 1
    assert before == curves.find("connect-4", "bot 1", [record])
    clock += 1
    assert before != curves.find("connect-4", "bot 1", [record])


@pytest.mark.parametrize("is_out", [Disqualified("out", "two in one"), Withdrew("out", annulled=True)])
def test_matches_against_somebody_who_is_out_and_whose_matches_do_not_count_are_not_in_the_curve(
    is_out: Disqualified | Withdrew,
) -> None:
    record, curves = large(50), Curves()
    before = curves.find("connect-4", "bot 1", [record])
    record.add(Entered("out"))
    for number in range(9):
        play(record, Random(number), "bot 1", "out")
    assert before != curves.find("connect-4", "bot 1", [record])
    record.add(is_out)
    assert before == curves.find("connect-4", "bot 1", [record])


def test_a_tournament_with_the_name_of_a_deleted_one_has_a_curve_of_its_own() -> None:
    deleted, record, curves = large(50), large(50), Curves()
    record.kept_as = "cup~2"
    for other, each in (("bot 2", deleted), ("bot 3", record)):
        play(each, Random(2), "bot 1", other)
    assert (deleted.name, deleted.version) == (record.name, record.version)
    before = curves.find("connect-4", "bot 1", [deleted])
    assert before != curves.find("connect-4", "bot 1", [record])
    assert curves.find("connect-4", "bot 1", [record]) == Curves().find("connect-4", "bot 1", [record])
