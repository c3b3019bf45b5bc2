"""The gate in short: a few events, whose sums must be near what is promised."""

from copy import deepcopy
from itertools import chain, product
from random import Random

import pytest

from tests.calibration import deciding
from tests.calibration.gate import ADVANTAGES, DRAWS, KINDS, SPREADS, Cell, bins, looked_at, objections
from tests.effort import IS_CAMPAIGN
from tournament.format import Aim

pytestmark = pytest.mark.slow

INTERVALS = 1000
MANY = 25  # bots of whom about the same was said: of fewer, chance decides too much

SHORT = {"round-robin-4": 2, "gauntlet": 1}  # events in each cell
ALL = list(product(range(3), repeat=3))
# Nine of the 27 cells, in which every two figures of two kinds meet once.
SQUARE = [(draws, advantage, (draws + advantage) % 3) for draws, advantage in product(range(3), repeat=2)]


@pytest.fixture(scope="module")
def seen() -> dict[str, list[Cell]]:
    sorts = [Cell(DRAWS[a], ADVANTAGES[b], SPREADS[c]) for a, b, c in (ALL if IS_CAMPAIGN else SQUARE)]
    return {
        name: [looked_at(name, deepcopy(sort), events, seed=1) for sort in sorts]
        for name, events in SHORT.items()
    }


@pytest.mark.parametrize("name", SHORT)
def test_intervals_hold_the_truth_about_as_often_as_they_say(name: str, seen: dict[str, list[Cell]]) -> None:
    found = seen[name]
    held, count = (sum(getattr(cell, each) for cell in found) for each in ("holding", "intervals"))
    assert 0.92 <= held / count <= 0.99


@pytest.mark.parametrize("name", SHORT)
def test_intervals_are_no_wider_than_those_of_a_plain_fit(name: str, seen: dict[str, list[Cell]]) -> None:
    found = seen[name]
    assert sum(cell.width for cell in found) <= 1.05 * sum(cell.before for cell in found)


def test_what_is_called_likely_happens_as_often(seen: dict[str, list[Cell]]) -> None:
    found = bins(said for cell in chain(*seen.values()) for said in cell.said)
    assert sum(each.count >= MANY for each in found) > 1
    for each in found:
        if each.count >= MANY:
            assert each.happened / each.count == pytest.approx(each.said / each.count, abs=0.2)


def cells_that_hold(coverage: float, error: float) -> list[Cell]:
    """Nine averages over three spreads, all with that coverage; `error` is about that of a cell."""
    return [
        Cell(
            draws,
            advantage,
            spread,
            intervals=INTERVALS,
            holding=round(coverage * INTERVALS),
            shares=[coverage - error, coverage + error],
            width=1.0,
            before=2.0,
        )
        for draws, advantage, spread in product(DRAWS, ADVANTAGES, SPREADS)
    ]


@pytest.mark.parametrize(
    ("name", "coverage", "error", "objected"),
    [
        ("round-robin-16", 0.95, 0.001, 0),
        ("round-robin-16", 0.98, 0.001, 27 + 9),
        ("round-robin-16", 0.91, 0.001, 27 + 9),
        ("round-robin-16", 0.98, 0.02, 0),  # as may well be by chance
        ("swiss-32", 0.92, 0.001, 9),  # on average; each cell may have 91 %
        ("swiss-32", 0.90, 0.001, 27 + 9),
        ("swiss-32", 0.98, 0.001, 9),
        ("knockout", 0.98, 0.001, 0),  # few games: too wide, but never too narrow
        ("knockout", 0.90, 0.001, 27 + 9),
        ("round-robin-4", 0.99, 0.001, 0),
        ("round-robin-4", 0.92, 0.001, 27 + 9),
    ],
)
def test_the_gate_objects_to_what_chance_does_not_explain(
    name: str, coverage: float, error: float, objected: int
) -> None:
    assert len([*objections(KINDS[name], cells_that_hold(coverage, error))]) == objected


def test_the_gate_objects_to_intervals_wider_than_those_of_a_plain_fit() -> None:
    wide = cells_that_hold(0.95, 0.001)
    for each in wide:
        each.width = 2.1
    (said,) = objections(KINDS["swiss-32"], wide)
    assert said == "Swiss, 32 bots, 7 rounds: intervals are 5% wider than those of a plain fit"


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
