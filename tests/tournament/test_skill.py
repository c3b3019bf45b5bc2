"""Skill: against another implementation of the same model."""

from random import Random

import pytest
from openskill.models import PlackettLuce

from tournament.format import Entrant, Pairing, Result
from tournament.skill import MU, Skill, after, in_elo, skills

NAMES = ("ada", "bob", "cyd", "dan")


def result(first: str, second: str | None, score: tuple[float, float], *, played: bool = True) -> Result:
    return Result(Pairing(1, 1, first, second), score, played)


@pytest.mark.parametrize("seed", range(3))
def test_openskill_believes_the_same_after_hundreds_of_matches(seed: int) -> None:
    random, model = Random(seed), PlackettLuce()
    theirs = {name: model.rating() for name in NAMES}
    results: list[Result] = []
    for _ in range(400):
        first, second = random.sample(NAMES, 2)
        score = random.choice((1.0, 0.5, 0.0, 1.0 if first < second else 0.0))
        results.append(result(first, second, (score, 1 - score)))
        ranks = [1 - score, score]
        [[theirs[first]], [theirs[second]]] = model.rate([[theirs[first]], [theirs[second]]], ranks=ranks)
    ours = skills([Entrant(name) for name in NAMES], results)
    for name in NAMES:
        assert ours[name].mu == pytest.approx(theirs[name].mu, abs=1e-9)
        assert ours[name].sigma == pytest.approx(theirs[name].sigma, abs=1e-9)
        assert ours[name].conservative == pytest.approx(theirs[name].ordinal(), abs=1e-9)


def test_a_newcomer_starts_at_nothing() -> None:
    assert skills([Entrant("ada")], []) == {"ada": Skill()}
    assert Skill().conservative == 0


def test_what_says_nothing_of_strength_changes_nothing() -> None:
    silent = [
        result("ada", None, (1.0, 0.0), played=False),
        result("ada", "bob", (1.0, 0.0), played=False),
        result("ada", "bob", (0.0, 0.0)),
    ]
    assert skills([Entrant("ada"), Entrant("bob")], silent) == {"ada": Skill(), "bob": Skill()}


def test_a_surprise_moves_more_than_what_was_expected() -> None:
    strong, weak = Skill(30.0, 2.0), Skill(20.0, 2.0)
    expected, surprising = after(strong, weak, 1.0), after(strong, weak, 0.0)
    assert strong.mu < expected[0].mu
    assert weak.mu < surprising[1].mu
    assert surprising[1].mu - weak.mu > expected[0].mu - strong.mu


def test_a_draw_brings_the_two_together_and_a_match_makes_both_better_known() -> None:
    strong, weak = after(Skill(30.0), Skill(20.0), 0.5)
    assert 20 < weak.mu < strong.mu < 30
    assert strong.sigma < Skill().sigma
    assert weak.sigma < Skill().sigma


@pytest.mark.parametrize("ahead", [-4.0, 0.0, 0.5, 7.0])
def test_elo_between_two_who_are_well_known_says_which_score_is_no_surprise(ahead: float) -> None:
    one, other = Skill(MU + ahead, 1e-9), Skill(MU, 1e-9)
    expected = 1 / (1 + 10 ** (-(in_elo(one.mu) - in_elo(other.mu)) / 400))
    for seen, sign in ((expected - 0.001, -1), (expected + 0.001, 1)):
        believed, _ = after(one, other, seen)
        assert (believed.mu - one.mu) * sign > 0
    assert in_elo(MU) == 0
