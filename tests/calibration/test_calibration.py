"""The gate in short: a few events, whose sums must be near what is promised."""

from random import Random

import pytest

from tests.calibration import deciding
from tests.calibration.gate import Cell, bins, cells
from tournament.format import Aim

SHORT = {"round-robin-4": 2, "gauntlet": 1}  # events in each of 27 cells


@pytest.fixture(scope="module")
def looked_at() -> dict[str, list[Cell]]:
    return {name: cells(name, events) for name, events in SHORT.items()}


@pytest.mark.parametrize("name", SHORT)
def test_intervals_hold_the_truth_about_as_often_as_they_say(
    name: str, looked_at: dict[str, list[Cell]]
) -> None:
    found = looked_at[name]
    held, count = (sum(getattr(cell, each) for cell in found) for each in ("holding", "intervals"))
    assert 0.92 <= held / count <= 0.99


@pytest.mark.parametrize("name", SHORT)
def test_intervals_are_no_wider_than_those_of_a_plain_fit(
    name: str, looked_at: dict[str, list[Cell]]
) -> None:
    found = looked_at[name]
    assert sum(cell.width for cell in found) <= 1.05 * sum(cell.before for cell in found)


def test_what_is_called_likely_happens_as_often(looked_at: dict[str, list[Cell]]) -> None:
    said = [each for cell in looked_at["round-robin-4"] for each in cell.said]
    for each in bins(said):
        if each.count >= 25:
            assert each.happened / each.count == pytest.approx(each.said / each.count, abs=0.2)


def test_what_is_decided_is_right_and_sooner_than_in_round_robins() -> None:
    aim, by_format, by_rounds = Aim(), deciding.Came(), deciding.Came()
    for number, spread in enumerate((150.0, 300.0)):
        random = Random(f"{number} {spread}")
        truth = deciding.field(random, spread, 200.0)
        deciding.held(truth, deciding.as_decided(random, aim, number), aim, by_format)
        deciding.held(truth, deciding.round_robins(number), aim, by_rounds)
    assert by_format.decided == 2
    assert by_format.wrong == 0
    assert sum(by_format.matches) < 0.7 * sum(by_rounds.matches)
