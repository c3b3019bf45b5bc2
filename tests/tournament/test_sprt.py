"""The sequential test: equal to fastchess's on the same counts, and wrong as seldom as it says."""

from bisect import bisect
from itertools import accumulate
from math import comb, log
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import tries
from tournament.sprt import BadTest, Model, Sprt, at_normalised

# Pairs in which the first got 0, ½, 1, 1½ and 2 points; elo0 and elo1; what fastchess (alpha 1.8.2),
# built from its source, says that the log-likelihood ratio is.
NORMALISED = [
    ((390, 16974, 36229, 16618, 365), 0, 2, -6.927551),
    ((104, 5150, 10712, 4883, 127), -1.75, 0.25, -1.967622),
    ((34, 54, 63, 64, 75), 0, 10, 2.483695),
    ((332, 433, 498, 333, 334), 0, 5, -1.863815),
    ((10, 40, 120, 55, 12), 0, 10, 0.681044),
    ((3, 9, 30, 14, 4), 0, 10, 0.257508),
    ((0, 2, 9, 4, 1), 0, 10, 0.209437),
    ((0, 0, 5, 0, 0), 0, 10, -0.006125),
    ((0, 0, 0, 0, 17), 0, 50, 3.091475),
    ((1, 0, 0, 0, 0), -5, 0, -0.020153),
    ((0, 0, 250, 0, 0), 0, 2, -0.013925),
    ((5, 0, 0, 0, 5), -10, 10, 0.0),
    ((12, 0, 76, 0, 20), 0, 20, 0.842597),
    ((0, 571, 153, 75, 201), -3, 1, -1.169612),
    ((1278, 2404, 8278, 2607, 1433), 0, 2, 3.664902),
]
LOGISTIC = [
    ((246, 10037, 21279, 9863, 223), 0.5, 2.5, -12.760867),
    ((821, 26678, 55983, 26175, 871), 0, 2, -22.175193),
    ((34, 54, 63, 64, 75), 0, 10, 2.551080),
    ((10, 40, 120, 55, 12), 0, 10, 0.905829),
    ((92, 49, 13, 46, 0), 0, 10, -5.836981),
    ((0, 0, 5, 0, 0), 0, 10, -0.140507),
    ((0, 0, 0, 0, 17), 0, 50, 2.271308),
    ((1, 0, 0, 0, 0), -5, 0, -0.014316),
    ((1278, 2404, 8278, 2607, 1433), -1, 1, 5.958423),
]
ROWS = [(*row, model) for model, rows in (("normalized", NORMALISED), ("logistic", LOGISTIC)) for row in rows]

SHAPES = {  # how the results of pairs are spread if both programs are equally strong
    "few draws": (0.2, 0.05, 0.5, 0.05, 0.2),
    "many draws": (0.02, 0.18, 0.6, 0.18, 0.02),
    "openings decide": (0.04, 0.0, 0.92, 0.0, 0.04),
}
RUNS = tries(100, 1000)
FAR = tries(150, 40)  # elo1: the nearer it is to elo0, the longer a test takes

counts = st.lists(st.integers(0, 2000), min_size=5, max_size=5)
elos = st.tuples(st.floats(-200, 200), st.floats(-200, 200)).filter(lambda both: both[0] < both[1])


@pytest.mark.parametrize(("seen", "elo0", "elo1", "ratio", "model"), ROWS)
def test_the_ratio_is_that_of_fastchess(
    seen: tuple[int, ...], elo0: float, elo1: float, ratio: float, model: Model
) -> None:
    assert Sprt(elo0=elo0, elo1=elo1, model=model).ratio(seen) == pytest.approx(ratio, abs=1e-6)


def test_the_bounds_are_those_of_wald() -> None:
    test = Sprt(elo0=0, elo1=5, alpha=0.05, beta=0.1)
    assert (test.lower, test.upper) == pytest.approx((log(0.1 / 0.95), log(0.9 / 0.05)))
    assert [test.state(ratio) for ratio in (-2.26, -2.25, 2.89, 2.9)] == ["H0", "open", "open", "H1"]


def test_nothing_is_decided_before_anything_has_been_played() -> None:
    assert Sprt(elo0=0, elo1=5).ratio([0] * 5) == 0


@given(seen=counts, elos=elos, model=st.sampled_from(["normalized", "logistic"]))
def test_whoever_is_asked_about_gets_the_same_ratio_with_another_sign(
    seen: list[int], elos: tuple[float, float], model: Model
) -> None:
    """Counts and hypotheses turned round: as far as the iteration of fastchess is symmetrical."""
    elo0, elo1 = elos
    ratio = Sprt(elo0=elo0, elo1=elo1, model=model).ratio(seen)
    turned = Sprt(elo0=-elo1, elo1=-elo0, model=model).ratio(seen[::-1])
    assert turned == pytest.approx(-ratio, rel=1e-2, abs=1e-2 * (1 + sum(seen) ** 0.5))


@pytest.mark.parametrize("seen", [(1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 2, 1)])
@pytest.mark.parametrize("elos", [(150, 200), (-200, 200), (0, 100), (0, 5)])
def test_so_many_times_as_many_pairs_that_are_alike_say_so_many_times_as_much(
    seen: tuple[int, ...], elos: tuple[float, float]
) -> None:
    """Also where what was not seen would be as rare as an iteration is exact."""
    test = Sprt(elo0=elos[0], elo1=elos[1])
    some = test.ratio([1_000 * count for count in seen])
    for times in (17, 100, 1_000):
        many = test.ratio([times * 1_000 * count for count in seen])
        assert many / times == pytest.approx(some, rel=1e-2, abs=1e-2)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"elo0": 5, "elo1": 0}, "elo0 has to be less than elo1, and is 5 with elo1 0"),
        ({"elo0": 5, "elo1": 5}, "less than elo1"),
        ({"elo0": 0, "elo1": float("nan")}, "elo1 has to lie between -200 and 200, and is nan"),
        ({"elo0": 0, "elo1": 250}, "and is 250"),
        ({"elo0": 0, "elo1": 5, "alpha": 0.0}, "alpha has to lie between 0 and 1, and is 0"),
        ({"elo0": 0, "elo1": 5, "beta": 1.0}, "beta has to lie between 0 and 1, and is 1"),
        ({"elo0": 0, "elo1": 5, "alpha": float("nan")}, "alpha"),
        ({"elo0": 0, "elo1": 5, "alpha": 0.6, "beta": 0.6}, "add up to 1.2"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused_with_a_sentence(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(BadTest, match=why):
        Sprt(**settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "truth"),
    [
        ("few draws", "H0"),
        ("many draws", "H1"),
        ("openings decide", "H0"),
        pytest.param("few draws", "H1", marks=pytest.mark.campaign),
        pytest.param("many draws", "H0", marks=pytest.mark.campaign),
        pytest.param("openings decide", "H1", marks=pytest.mark.campaign),
    ],
)
def test_it_is_wrong_no_more_often_than_it_says(shape: str, truth: str) -> None:
    """Of so many runs in which a hypothesis is just true, five in a hundred may end with the other one."""
    test, lots = Sprt(elo0=0, elo1=FAR), Random(f"{shape} {truth}")
    sums = list(accumulate(at_normalised(SHAPES[shape], FAR if truth == "H1" else 0)))
    ends = [_run(test, sums, lots) for _ in range(RUNS)]
    wrong = RUNS - ends.count(truth)
    assert wrong <= _at_most(RUNS, 0.05)
    assert wrong > 0, "it could have stopped earlier"


def _run(test: Sprt, sums: list[float], lots: Random) -> str:
    seen = [0] * 5
    while True:
        seen[min(4, bisect(sums, lots.random()))] += 1
        if (state := test.state(test.ratio(seen))) != "open":
            return state


def _at_most(runs: int, chance: float) -> int:
    """What happens more often than that in one of a thousand such simulations only."""
    below, happens = 0.0, -1
    while below < 0.999:
        happens += 1
        below += comb(runs, happens) * chance**happens * (1 - chance) ** (runs - happens)
    return happens
