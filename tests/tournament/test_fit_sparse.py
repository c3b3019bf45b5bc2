"""The fit of a large field: what another way to compute it finds, to within what the page promises."""

import tracemalloc
from collections.abc import Sequence
from random import Random

import pytest

from tests.calibration.truth import held, world
from tests.effort import tries
from tests.oracles import ratings as oracle
from tests.steps import steps_taken
from tournament.fit_sparse import Sparse
from tournament.format import Pairing, Result, moves_digest
from tournament.meetings import PIECE, Fingerprints, Meetings
from tournament.ratings import ELO, SMALL, Fit, Rating, Ratings, bradley_terry, probability_first

pytestmark = pytest.mark.slow

FIELD = 120  # small enough for the oracle, and fitted here as if it were large
REFITTED, UPDATED = 0.1, 8.0  # Elo: what a rating may be off after a fit of all, and between two of them
WIDTHS = 0.12  # as a share: what the width of an interval may be off after a fit of all


def expected(difference: float) -> float:
    return 1 / (1 + 10 ** (-difference / 400))


def played(seed: int, games: int, field: int = FIELD, *, ladder: bool = False) -> list[Result]:
    """Games at random; or on a ladder, where only neighbours meet. Some are drawish, some are not."""
    random = Random(seed)
    strengths = sorted(random.gauss(0, 200) for _ in range(field))
    drawish = [random.random() for _ in strengths]
    results: list[Result] = []
    while len(results) < games:
        one = random.randrange(field)
        other = one + random.choice((-3, -2, -1, 1, 2, 3)) if ladder else random.randrange(field)
        if one == other or not 0 <= other < field:
            continue
        score = expected(strengths[one] - strengths[other])
        drawn = score * (1 - score) * (drawish[one] + drawish[other])
        chance = random.random()
        made = 0.5 if chance < drawn else float(chance < drawn / 2 + score)
        moves = (random.randrange(3), random.randrange(3))  # now and then those of an earlier game
        names = f"bot {one}", f"bot {other}"
        results.append(Result(Pairing(len(results), 1, *names), (made, 1 - made), True, moves_digest(moves)))
    return results


def off(found: Sequence[Rating], right: Sequence[Rating]) -> float:
    """The most that a rating is off."""
    assert [rating.name for rating in found] == [rating.name for rating in right]
    return max(abs(one.rating - other.rating) for one, other in zip(found, right, strict=True))


def width(rating: Rating) -> float:
    return rating.interval[1] - rating.interval[0]


@pytest.mark.parametrize("ladder", [False, True])
@pytest.mark.parametrize("games", [200, 2_000])
def test_a_fit_of_all_finds_what_the_oracle_finds(games: int, ladder: bool) -> None:
    results = played(games, games, ladder=ladder)
    found, right = Ratings(results, small=0, plain=True).fit(), oracle.bradley_terry(results)
    assert off(found.ratings, right.ratings) < REFITTED
    assert found.prior == pytest.approx(right.prior, rel=1e-4)
    for one, other in zip(found.ratings, right.ratings, strict=True):
        assert (one.games, one.duplicates) == (other.games, other.duplicates)
        assert width(one) == pytest.approx(width(other), rel=WIDTHS)


@pytest.mark.parametrize("ladder", [False, True])
def test_game_by_game_it_stays_close_to_what_the_oracle_finds(ladder: bool) -> None:
    results = played(7, 2_000 + tries(40, 400), ladder=ladder)
    ratings = Ratings(results[:2_000], small=0, plain=True)
    for result in results[2_000:]:
        ratings.fit()
        ratings.add(result)
    assert off(ratings.fit().ratings, oracle.bradley_terry(results).ratings) < UPDATED


@pytest.mark.parametrize(
    "spread", [50.0, *(pytest.param(each, marks=pytest.mark.campaign) for each in (150.0, 300.0))]
)
def test_intervals_of_a_large_swiss_hold_the_truth_because_its_spread_is_inferred(spread: float) -> None:
    """With one drawn game for everybody they hold it for 75 in 100 of a close field, and are wider."""
    truth = world(Random(f"{spread}"), 320, spread, draws=0.3, advantage=0.0)
    results = held("swiss", rounds=9)(truth)
    inferred, plain = Ratings(results).fit(), Ratings(results, plain=True).fit()
    holding = [
        sum(
            low <= truth.centred[int(each.name)] <= high
            for each in fit.ratings
            for low, high in [each.interval]
        )
        for fit in (inferred, plain)
    ]
    assert holding[0] >= 0.92 * 320
    assert holding[1] <= holding[0]
    widths = [sum(map(width, fit.ratings)) for fit in (inferred, plain)]
    # Where both give one drawn game, they differ in that moving first may be worth something, by a hair.
    assert widths[0] <= (0.75 if spread == 50 else 1.001) * widths[1]
    assert inferred.prior >= 0.999 * plain.prior


def test_a_field_that_is_inferred_to_be_close_stays_so_game_by_game() -> None:
    truth = world(Random(5), 320, 50.0, draws=0.3, advantage=0.0)
    results = held("swiss", rounds=9)(truth)
    ratings = Ratings(results[:-20])
    ratings.fit()
    for result in results[-20:]:
        ratings.add(result)
        ratings.fit()
    whole = Ratings(results).fit()
    assert off(ratings.fit().ratings, whole.ratings) < UPDATED


def test_somebody_new_is_rated_with_its_first_game() -> None:
    results = played(8, 1_000)
    ratings = Ratings(results, small=0, plain=True)
    ratings.fit()
    new = Result(Pairing(1, 1, "new", "bot 60"), (1.0, 0.0))
    ratings.add(new)
    found = ratings.fit().ratings[-1]
    right = oracle.bradley_terry([*results, new]).ratings[-1]
    assert found.name == "new"
    assert found.rating == pytest.approx(right.rating, abs=UPDATED)
    assert width(found) == pytest.approx(width(right), rel=2 * WIDTHS)


def test_a_small_field_is_fitted_exactly() -> None:
    results = played(9, 500, field=30)
    found, right = bradley_terry(results), oracle.bradley_terry(results)
    for one, other in zip(found.ratings, right.ratings, strict=True):
        assert one.rating == pytest.approx(other.rating, abs=1e-9)
        assert one.interval == pytest.approx(other.interval, abs=1e-9)
    assert len(found.covariance) == len(found.ratings) <= SMALL


@pytest.mark.parametrize("ladder", [False, True])
def test_the_chances_to_be_first_are_those_of_the_whole_covariance(ladder: bool) -> None:
    results = played(10, 2_000, ladder=ladder)
    right = oracle.bradley_terry(results)
    whole = Fit(right.prior, right.ratings, (*range(len(right.ratings)),), right.covariance)
    found, exact = probability_first(Ratings(results, small=0, plain=True).fit()), probability_first(whole)
    assert found.keys() == exact.keys()
    for name, chance in exact.items():
        assert found[name] == pytest.approx(chance, abs=0.05)
    assert sum(found.values()) == pytest.approx(1)


def test_one_more_game_costs_the_same_however_many_were_played() -> None:
    """Catches an update that adds up the field, or all its games."""

    def effort(field: int) -> int:
        meetings = Meetings()
        results = played(11, 10 * field, field)
        for result in results[:-20]:
            meetings.add(result)
        sparse = Sparse(meetings, plain=True)
        sparse.refit()
        new = [game for result in results[-20:] if (game := meetings.add(result)) is not None]
        return steps_taken(lambda: sparse.update(new))

    effort(20)  # which imports what it needs
    assert effort(400) < 1.3 * effort(100)  # with fewer, the neighbours of a game are all there is


def test_where_single_steps_do_not_do_all_is_fitted_anew() -> None:
    meetings = Meetings()
    results = played(12, 1_020)
    games = [game for result in results if (game := meetings.add(result)) is not None]
    hasty = Sparse(meetings, plain=True, most=0)
    hasty.update(games)
    known = list(hasty.strength)
    upset = [Result(Pairing(1, 1, "bot 0", "bot 119"), (1.0, 0.0))] * 20
    hasty.update([game for result in upset if (game := meetings.add(result)) is not None])
    assert hasty.strength != known
    right = oracle.bradley_terry([*results, *upset])
    for rating, strength in zip(right.ratings, hasty.strength, strict=True):
        assert ELO * (strength - hasty.centre) == pytest.approx(rating.rating, abs=REFITTED)


def test_a_fingerprint_is_new_once_among_any_number() -> None:
    random = Random(13)
    seen = Fingerprints()
    all_of_them = [random.getrandbits(64) - (1 << 63) for _ in range(5 * PIECE)]
    assert all(seen.is_new(each) for each in all_of_them)
    assert not any(seen.is_new(each) for each in all_of_them)


def test_fingerprints_take_little_however_few_or_many_there_are() -> None:
    random = Random(14)
    seen = Fingerprints()
    tracemalloc.start()
    try:
        for number in range(1, 20_001):
            seen.is_new(random.getrandbits(62))
            assert number % 1_000 or tracemalloc.get_traced_memory()[1] / number < 16
    finally:
        tracemalloc.stop()
