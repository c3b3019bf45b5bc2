"""Ratings: against another fit, and against strengths that are known because the games are simulated."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, pairwise, permutations, product
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import IS_CAMPAIGN, tries
from tests.steps import steps_taken
from tournament.format import Entrant, Pairing, Result, Terms, moves_digest
from tournament.pairing import swiss
from tournament.ratings import ELO, PRIOR, Rating, bradley_terry, duplicates, probability_first

pytestmark = pytest.mark.slow

NAMES = ("ada", "bob", "cyd", "dan", "eva")
SCORES = (1.0, 0.5, 0.0)
INTERVALS = tries(1200, 6000)  # looked at on the larger scale: chance moves what they hold by 0.6 %
TOURNAMENTS = tries(16, 40)  # by the Swiss system, of 32 bots each
Draws = Callable[[float], float]  # from the expected score of a game to the chance that it is drawn


def game(first: str, second: str | None, score: float, *moves: object, played: bool = True) -> Result:
    return Result(Pairing(1, 1, first, second), (score, 1 - score), played, moves_digest(moves))


def ratings(results: Sequence[Result]) -> dict[str, Rating]:
    return {rating.name: rating for rating in bradley_terry(results).ratings}


def width(rating: Rating) -> float:
    return rating.interval[1] - rating.interval[0]


def expected(difference: float) -> float:
    return 1 / (1 + 10 ** (-difference / 400))


played_games = st.lists(
    st.tuples(st.permutations(NAMES).map(lambda names: names[:2]), st.sampled_from(SCORES)).map(
        lambda drawn: game(*drawn[0], drawn[1])
    ),
    min_size=1,
    max_size=40,
)


# The estimate


def assert_likeliest(results: Sequence[Result]) -> None:
    """The likelihood equations, which have one solution: everybody scored what its rating expects."""
    fit = bradley_terry(results)
    found = {rating.name: rating.rating for rating in fit.ratings}
    surprise = dict.fromkeys(found, 0.0)
    for result in results:
        first, second = result.pairing.names
        more = result.score[0] - expected(found[first] - found[second])
        surprise[first] += more
        surprise[second] -= more
    low, high = -30_000.0, 30_000.0  # where the prior's opponent is, now that the mean has been taken off
    for _ in range(80):
        middle = (low + high) / 2
        if sum(0.5 - expected(rating - middle) for rating in found.values()) > 0:
            high = middle
        else:
            low = middle
    for name, rating in found.items():
        assert surprise[name] + fit.prior * (0.5 - expected(rating - low)) == pytest.approx(0, abs=1e-6)
    assert math.fsum(found.values()) == pytest.approx(0, abs=1e-6)


@given(played_games)
def test_everybody_scored_what_its_rating_expects_but_for_the_prior(results: list[Result]) -> None:
    assert_likeliest(results)


def test_a_long_chain_of_ones_who_won_everything_is_fitted() -> None:
    """The hardest case for Newton's method: strengths so far apart that the likelihood is flat."""
    names = [f"bot {number}" for number in range(60)]
    assert_likeliest([game(one, other, 1) for one, other in pairwise(names) for _ in range(500)])


@pytest.mark.campaign
def test_choix_finds_the_same_ratings() -> None:
    """Of a small field, as the oracle does, which is there in a hundredth of the time that choix takes."""
    for seed in range(5):  # in one process: what takes long is to import it
        compare_with_choix(seed)


def compare_with_choix(seed: int) -> None:
    """Its players are ours and one more, who drew with each; a win is two comparisons, a draw two halves."""
    import choix

    random = Random(seed)
    results = [game(*random.sample(NAMES, 2), random.choice((1, 0))) for _ in range(20 + 20 * seed)]
    results += [game(name, other, 1) for name, other in pairwise(NAMES)]
    average = len(NAMES)
    comparisons = [pair for player in range(average) for pair in ((player, average), (average, player))]
    for result in results:
        first, second = (NAMES.index(name) for name in result.pairing.names)
        comparisons += [(first, second) if result.score[0] else (second, first)] * 2
    theirs = choix.opt_pairwise(len(NAMES) + 1, comparisons, method="Newton-CG", tol=1e-10)[:-1]
    theirs -= theirs.mean()
    ours = ratings(results)
    assert bradley_terry(results).prior == PRIOR == 1
    assert [ours[name].rating / ELO for name in NAMES] == pytest.approx(theirs.tolist(), abs=1e-4)


@given(st.integers(1, 40), st.integers(1, 40))
def test_draws_take_from_the_prior_what_they_add_to_certainty(draws: int, wins: int) -> None:
    results = [game("ada", "bob", 0.5)] * draws + [game("ada", "bob", 1)] * wins
    more = [game("ada", "bob", 0.5)] * (draws + 1) + [game("ada", "bob", 1)] * wins
    assert 0 < bradley_terry(more).prior < bradley_terry(results).prior < PRIOR


@given(played_games)
def test_ratings_are_finite_and_lie_in_the_middle_of_their_intervals(results: list[Result]) -> None:
    for rating in ratings(results).values():
        low, high = rating.interval
        assert -5000 < low < rating.rating < high < 5000
        assert (low + high) / 2 == pytest.approx(rating.rating, abs=1e-6)


@given(played_games, st.randoms(use_true_random=False))
def test_neither_the_order_of_games_nor_the_seats_change_a_rating(
    results: list[Result], random: Random
) -> None:
    turned = [
        game(*reversed(result.pairing.names), result.score[1]) if random.random() < 0.5 else result
        for result in results
    ]
    random.shuffle(turned)
    before, after = ratings(results), ratings(turned)
    assert before.keys() == after.keys()
    for name, rating in before.items():
        assert after[name].rating == pytest.approx(rating.rating, abs=1e-6)
        assert after[name].interval == pytest.approx(rating.interval, abs=1e-6)


def test_whoever_has_won_everything_is_finite_and_rises_with_every_game() -> None:
    found = [ratings([game("ada", "bob", 1)] * times)["ada"].rating for times in (1, 2, 10, 100, 1000)]
    assert found == sorted(set(found))
    assert found[-1] < 1000


def test_those_who_never_met_anybody_in_common_are_rated_and_little_is_known_of_the_difference() -> None:
    apart = [game("ada", "bob", score) for score in (1, 1, 0) * 20] + [game("cyd", "dan", 0.5)] * 60
    joined = [*apart, *[game("ada", "cyd", 0.5)] * 60]
    assert width(ratings(apart)["ada"]) > 2 * width(ratings(joined)["ada"])


# What counts


def test_what_was_not_played_says_nothing_of_strength() -> None:
    base = [game("ada", "bob", 1), game("bob", "ada", 0.5)]
    silent = [
        game("ada", None, 1, played=False),
        game("bob", "ada", 1, played=False),
        Result(Pairing(1, 1, "bob", "ada"), (0.0, 0.0), True, moves_digest((1, 2))),
        game("cyd", "ada", 1, played=False),
    ]
    assert bradley_terry(base + silent) == bradley_terry(base)
    assert "cyd" not in ratings(base + silent)
    assert bradley_terry(silent).ratings == ()


def test_a_game_played_two_hundred_times_is_worth_one_and_is_reported() -> None:
    """Two bots that leave nothing to chance: 200 games, and as much is known as after the first."""
    moves = ({"column": 3}, {"column": 3}, {"column": 2})
    once, often = ratings([game("ada", "bob", 1, *moves)]), ratings([game("ada", "bob", 1, *moves)] * 200)
    assert often["ada"].rating == pytest.approx(once["ada"].rating)
    assert often["ada"].interval == pytest.approx(once["ada"].interval)
    assert (often["ada"].games, often["ada"].duplicates) == (1, 199)
    assert (often["bob"].games, often["bob"].duplicates) == (1, 199)
    assert width(ratings([game("ada", "bob", 1)] * 200)["ada"]) != pytest.approx(width(once["ada"]), rel=0.1)


def test_each_repetition_is_found_with_the_game_that_it_repeats() -> None:
    numbered = [
        Result(Pairing(number, 1, first, second), (1.0, 0.0), True, moves_digest(moves))
        for number, (first, second, moves) in enumerate(
            [
                ("ada", "bob", (1, 2)),
                ("ada", "bob", (1, 3)),
                ("bob", "ada", (1, 2)),  # other seats
                ("ada", "cyd", (1, 2)),  # another pair
                ("ada", "bob", (1, 2)),
                ("ada", "bob", (1, 2, 1)),
                ("ada", "bob", ()),
                ("ada", "bob", ()),  # nothing is known of these two
                ("ada", "bob", (1, 3)),
                ("ada", "bob", (1, 2)),
            ]
        )
    ]
    found = [(again.pairing.number, first.pairing.number) for again, first in duplicates(numbered)]
    assert sorted(found) == [(4, 0), (8, 1), (9, 0)]
    assert ratings(numbered)["ada"].duplicates == 3
    assert ratings(numbered)["ada"].games == 7


def test_games_that_repeat_speak_for_the_score_but_not_for_its_certainty() -> None:
    """Three times the same win and one loss: a score of ¾, known as well as two games make it known."""
    uneven = ratings([*[game("ada", "bob", 1, "a")] * 3, game("ada", "bob", 0, "b")])["ada"]
    even = ratings([game("ada", "bob", 1, "a"), game("ada", "bob", 0, "b")])["ada"]
    four = ratings([game("ada", "bob", score, move) for move, score in enumerate((1, 1, 1, 0))])["ada"]
    assert uneven.rating > even.rating == pytest.approx(0)
    assert (uneven.games, uneven.duplicates) == (2, 2)
    assert width(uneven) > width(even) > width(four)


# The intervals


def test_more_games_make_an_interval_narrower_and_draws_narrower_still() -> None:
    decisive = [
        width(ratings([game("ada", "bob", s) for s in (1, 0)] * times)["ada"]) for times in (1, 4, 16, 64)
    ]
    drawn = [width(ratings([game("ada", "bob", 0.5)] * 2 * times)["ada"]) for times in (1, 4, 16, 64)]
    assert decisive == sorted(decisive, reverse=True)
    assert drawn == sorted(drawn, reverse=True)
    assert all(narrow < wide for narrow, wide in zip(drawn, decisive, strict=True))
    assert decisive[2] / decisive[3] == pytest.approx(2, rel=0.02), "four times the games halve it"


def never(score: float) -> float:
    return 0.0


def split(score: float) -> float:
    """Half of what is possible: a game is the mean of two."""
    return 2 * score * (1 - score)


def often(score: float) -> float:
    """Nine tenths of what is possible: the weaker hardly ever wins."""
    return 1.8 * min(score, 1 - score)


def outcome(random: Random, first: float, second: float, draws: Draws) -> float:
    """What the first scores; a draw is as likely as the model says, taken from wins and losses alike."""
    score = expected(first - second)
    drawn, chance = draws(score), random.random()
    return 0.5 if chance < drawn else float(chance < score + drawn / 2)


def tournament(random: Random, strengths: Sequence[float], doubles: int, draws: Draws) -> list[Result]:
    """So many double round robins."""
    return [
        game(str(first), str(second), outcome(random, strengths[first], strengths[second], draws))
        for first, second in permutations(range(len(strengths)), 2)
        for _ in range(doubles)
    ]


def holding(strengths: Sequence[float], results: Sequence[Result]) -> int:
    """How many intervals hold the true strength, relative to the mean of the true strengths."""
    mean = math.fsum(strengths) / len(strengths)
    intervals = {int(rating.name): rating.interval for rating in bradley_terry(results).ratings}
    return sum(low <= strengths[bot] - mean <= high for bot, (low, high) in intervals.items())


def coverage(seed: int, tournaments: int, bots: int, doubles: int, spread: float, draws: Draws) -> float:
    random = Random(seed)
    fields = [[random.gauss(0, spread) for _ in range(bots)] for _ in range(tournaments)]
    held = sum(holding(strengths, tournament(random, strengths, doubles, draws)) for strengths in fields)
    return held / tournaments / bots


FIELDS = [(6, 2, 200), (8, 8, 0), (12, 2, 100), (20, 1, 300)]  # bots, doubles, standard deviation in Elo
DRAWS = (never, split, often)


@pytest.mark.parametrize(
    ("field", "draws"),
    [*product(FIELDS, DRAWS)] if IS_CAMPAIGN else [*zip(FIELDS, cycle(DRAWS), strict=False)],
)
def test_the_95_percent_intervals_hold_the_truth_in_95_percent(
    field: tuple[int, int, float], draws: Draws
) -> None:
    bots, doubles, spread = field
    assert 0.93 <= coverage(1, tries(1200, 2400) // bots, bots, doubles, spread, draws) <= 0.97


@pytest.mark.campaign
@pytest.mark.parametrize("draws", [never, split, often])
@pytest.mark.parametrize("spread", [100, 200, 300])
@pytest.mark.parametrize(("bots", "doubles"), [(6, 2), (6, 10), (10, 1), (10, 5), (16, 2), (20, 1)])
def test_coverage_holds_on_a_larger_scale(bots: int, doubles: int, spread: float, draws: Draws) -> None:
    assert 0.93 <= coverage(2, INTERVALS // bots, bots, doubles, spread, draws) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bots", "doubles"), [(6, 2), pytest.param(10, 1, marks=pytest.mark.campaign), (20, 1)]
)
def test_where_all_are_equal_and_little_is_decided_intervals_are_rather_too_wide(
    bots: int, doubles: int
) -> None:
    """Two or three decisive games a bot can only come out in a few ways, each with its few percent."""
    assert 0.95 <= coverage(3, INTERVALS // bots, bots, doubles, 0, often) <= 0.995


def swiss_tournament(random: Random, strengths: Sequence[float], rounds: int, draws: Draws) -> list[Result]:
    entrants = [Entrant(str(number)) for number in range(len(strengths))]
    drawn: list[Pairing] = []
    results: list[Result] = []
    while new := swiss.FORMAT.draw(entrants, drawn, results, Terms(rounds, seed=random.randrange(1000))):
        drawn += new
        for pairing in new:
            first, second = (strengths[int(name)] for name in pairing.names)
            made = outcome(random, first, second, draws)
            results.append(Result(pairing, (made, 1 - made)))
    return results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spread", "least", "draws"),
    [
        (100, 0.82, often),
        (200, 0.93, never),
        pytest.param(100, 0.82, never, marks=pytest.mark.campaign),
        pytest.param(200, 0.93, often, marks=pytest.mark.campaign),
        pytest.param(350, 0.93, never, marks=pytest.mark.campaign),
        pytest.param(350, 0.93, often, marks=pytest.mark.campaign),
    ],
)
def test_coverage_in_a_swiss_is_as_documented(spread: float, least: float, draws: Draws) -> None:
    """Winners meet winners, so few games tell how far apart the ends are: worst where all are close."""
    random = Random(4)
    fields = [[random.gauss(0, spread) for _ in range(32)] for _ in range(TOURNAMENTS)]
    held = sum(holding(strengths, swiss_tournament(random, strengths, 7, draws)) for strengths in fields)
    assert least <= held / TOURNAMENTS / 32 <= 0.98


# P(first)


def test_chances_to_be_first_add_up_and_are_the_same_every_time() -> None:
    results = tournament(Random(5), (200, 100, 0, -100), 2, split)
    chances = probability_first(bradley_terry(results))
    assert chances.keys() == ratings(results).keys()
    assert math.fsum(chances.values()) == pytest.approx(1)
    assert chances == probability_first(bradley_terry(results))
    assert probability_first(bradley_terry([])) == {}


def test_the_better_of_two_is_first_as_often_as_the_normal_distribution_says() -> None:
    for wins in range(10):
        fit = bradley_terry([game("ada", "bob", 1)] * wins + [game("bob", "ada", 1)] * (9 - wins))
        ada, bob = sorted(fit.ratings, key=lambda rating: rating.name)
        deviation = 2 * (ada.interval[1] - ada.rating) / 1.959964
        chance = NormalDist(0, deviation).cdf(ada.rating - bob.rating)
        assert probability_first(fit)["ada"] == pytest.approx(chance, abs=0.015)


def test_equals_have_equal_chances_and_whoever_never_loses_has_the_best() -> None:
    level = bradley_terry([game(one, other, 1) for one, other in permutations(NAMES, 2)])
    assert probability_first(level).values() == pytest.approx([0.2] * 5, abs=0.015)
    results = [
        game(one, other, 1 if one == "eva" or other != "eva" else 0) for one, other in permutations(NAMES, 2)
    ]
    chances = probability_first(bradley_terry(results * 3))
    assert max(chances, key=chances.__getitem__) == "eva"
    assert chances["eva"] > 0.9


def test_a_favourite_is_the_strongest_about_as_often_as_is_said() -> None:
    random, said, so = Random(6), 0.0, 0
    count = tries(150, 300)
    for _ in range(count):
        strengths = [random.gauss(0, 200) for _ in range(6)]
        chances = probability_first(bradley_terry(tournament(random, strengths, 4, split)))
        favourite = max(chances, key=chances.__getitem__)
        said += chances[favourite]
        so += strengths[int(favourite)] == max(strengths)
    assert said / count == pytest.approx(so / count, abs=0.05)


# Effort


def test_twice_as_many_games_are_twice_the_effort_at_most() -> None:
    """Catches a fit that compares every game with every other one; `make bench` measures the seconds."""
    random = Random(7)
    strengths = [random.gauss(0, 200) for _ in range(20)]
    results: list[Result] = []
    for _ in range(2000):
        first, second = random.sample(range(20), 2)
        moves = [random.randrange(7) for _ in range(40)]
        made = outcome(random, strengths[first], strengths[second], split)
        results.append(game(str(first), str(second), made, *moves))
    bradley_terry(results)  # which imports what it needs
    half, whole = (steps_taken(partial(bradley_terry, results[:count])) for count in (1000, 2000))
    assert whole < 2.5 * half
