"""What is said of strength: laws of the draws, and a brute force that finds the same."""

import math
from itertools import combinations, pairwise, permutations
from random import Random
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from games.catalogue import catalogue
from tests.effort import tries
from tests.tournament.test_ratings import NAMES, SCORES, Draws, game, never, often, split, tournament
from tournament import sampling
from tournament.circles import LUCK, SHOWN, circles
from tournament.events import Ending
from tournament.facts import Concluded, played_out
from tournament.format import Pairing, Result, moves_digest
from tournament.meetings import Meetings
from tournament.posterior import ADVANTAGE, ELO, FIRST_SPREAD, HALF, SPREADS, WIDE, Model, games_of
from tournament.ratings import Ratings, duplicates
from tournament.strength import RANKED, Strengths, strengths

pytestmark = pytest.mark.slow

few_games = st.lists(
    st.tuples(st.permutations(NAMES).map(lambda names: names[:2]), st.sampled_from(SCORES)).map(
        lambda drawn: game(drawn[0][0], drawn[0][1], drawn[1])
    ),
    min_size=1,
    max_size=12,
)
few_examples = settings(max_examples=tries(4, 3000))  # strengths take a tenth of a second


def said(results: list[Result]) -> Strengths:
    return strengths(Ratings(results))


def model(results: list[Result]) -> Model:
    meetings = Meetings()
    for result in results:
        meetings.add(result)
    return Model(games_of(meetings))


# The draws


def test_the_draws_are_those_that_brute_force_finds() -> None:
    """Strengths drawn from the prior, and kept as often as they make the results likely."""
    results = [game("ada", "bob", 1), game("bob", "cyd", 1), game("ada", "cyd", 1), game("dan", "ada", 0)]
    results += [game("bob", "dan", 0.5), game("cyd", "dan", 1), game("cyd", "ada", 0.5)]
    found = model(results)
    draws = sampling.drawn(found)  # which settles how much less the results vary because of draws
    random, count = np.random.default_rng(1), 400_000
    low, high, many = SPREADS
    spreads = np.geomspace(low, high, many) / ELO
    likely = spreads * np.exp(-((spreads * ELO / WIDE) ** 2) / 2)  # one of many steps of a growing width
    spread = random.choice(spreads, count, p=likely / likely.sum())
    points = random.standard_normal((found.size + 1, count))
    points[: found.size] *= spread
    points[found.size] *= ADVANTAGE / ELO
    ahead = points[found.games.first] - points[found.games.second] + points[found.size]
    won, weight = found.games.won[:, None], found.games.weight[:, None]
    likely = np.exp((won * ahead - weight * np.logaddexp(0, ahead)).sum(axis=0) / found.calm)
    kept = points[: found.size, random.choice(count, 40_000, p=likely / likely.sum())]
    right = (ELO * (kept - kept.mean(axis=0))).T
    deviation = right.std(axis=0)
    assert abs(draws.mean(axis=0) - right.mean(axis=0)).max() < 0.15 * deviation.max()
    for share in (0.025, 0.25, 0.75, 0.975):
        off = abs(np.quantile(draws, share, axis=0) - np.quantile(right, share, axis=0))
        assert (off < 0.3 * deviation).all()
    assert draws.std(axis=0) == pytest.approx(deviation, rel=0.12)


def added_up(results: list[Result]) -> tuple[float, float, float, float]:
    """Ada's strength against one opponent, the ends of its interval, and P(first).

    All differences, advantages and spreads are added up.
    """
    apart = np.linspace(-4500, 4500, 1201) / ELO
    advantage = np.linspace(-4, 4, 33)[:, None]  # deviations
    log = -(advantage**2) / 2
    for result in results:
        turned = 1 if result.pairing.first == "ada" else -1
        log = log - np.logaddexp(0, -apart - turned * advantage * ADVANTAGE / ELO)
    spread = np.geomspace(*SPREADS)[:, None] / ELO
    prior = np.exp(-((spread * ELO / WIDE) ** 2) / 2 - (apart / spread) ** 2 / 4).sum(axis=0)
    likely = np.exp(log).sum(axis=0) * prior
    share = likely.cumsum() / likely.sum()
    low, high = (ELO / 2 * float(np.interp(end, share, apart)) for end in (0.025, 0.975))
    return ELO / 2 * float(likely @ apart) / likely.sum(), low, high, 1 - float(np.interp(0, apart, share))


def won_by_ada(wins: int) -> list[Result]:
    """By turns first and second. What is likely then is far from a normal distribution."""
    return [game("ada", "bob", 1) if turn % 2 else game("bob", "ada", 0) for turn in range(wins)]


@pytest.mark.parametrize("wins", [1, 6, 40])
def test_of_two_is_said_what_adding_up_finds(wins: int) -> None:
    ada = said(won_by_ada(wins)).of["ada"]
    mean, low, high, first = added_up(won_by_ada(wins))
    assert ada.strength == pytest.approx(mean, abs=0.03 * (high - low))
    assert ada.interval == pytest.approx((low, high), abs=0.05 * (high - low))
    assert ada.first == pytest.approx(first, abs=0.02)


def test_steps_that_are_too_long_change_nothing_about_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk stays where it is rather than go where it is too unlikely to be."""
    monkeypatch.setattr(sampling, "STEP", 1.0)
    mean, low, high, first = added_up(won_by_ada(6))
    draws = sampling.drawn(model(won_by_ada(6)))[:, 0]
    assert draws.mean() == pytest.approx(mean, abs=0.03 * (high - low))
    assert np.quantile(draws, (0.025, 0.975)) == pytest.approx((low, high), abs=0.05 * (high - low))
    assert (draws > 0).mean() == pytest.approx(first, abs=0.02)


def test_the_slope_is_that_of_the_density_and_the_curve_that_of_the_slope() -> None:
    """In any direction, and along the advantage of moving first alone."""
    known = model(tournament(Random(3), [0.0, 200.0, -100.0, 50.0], 4, often))
    random, size, step, spread = np.random.default_rng(4), known.size + 1, 1e-4, 0.7
    point = random.standard_normal((size, 1))
    directions = np.concatenate((random.standard_normal((size, 5)), np.eye(size)[:, -1:]), axis=1)
    before, ahead = (point + way * step * directions for way in (-1, 1))
    slope, expected = known.slope_and_expected(point, spread)
    risen = (known.density(ahead, spread) - known.density(before, spread)) / (2 * step)
    assert risen == pytest.approx((slope.T @ directions)[0], rel=1e-5)
    slopes = known.slope(before, spread), known.slope(ahead, spread)
    fallen = ((slopes[0] - slopes[1]) * directions).sum(axis=0) / (2 * step)
    assert fallen == pytest.approx(known.curve(expected, directions, spread), rel=1e-5)
    of_newton, information = known.newton(point[:, 0], spread)
    assert of_newton == pytest.approx(slope[:, 0])
    assert ((information @ directions) * directions).sum(axis=0) == pytest.approx(fallen, rel=1e-5)


@pytest.mark.parametrize("draws", [split, often])
def test_what_draws_take_from_the_variance_is_taken_from_what_there_may_be(draws: Draws) -> None:
    """That is p (1 − p) for each game, on average over all strengths that may be true, and a quarter more."""
    results = tournament(Random(5), [60.0 * place for place in range(6)], 1, draws)
    known = model([each for each in results if each.pairing.first < (each.pairing.second or "")])
    spread, games = FIRST_SPREAD / ELO, known.games
    for _ in range(6):
        known.calm_down(spread)
    root = np.linalg.cholesky(np.linalg.inv(known.information(known.start, spread)))
    points = known.start[:, None] + root @ np.random.default_rng(6).standard_normal((known.size + 1, 8_000))
    ahead = points[games.first] - points[games.second] + points[known.size]
    varied = float((games.weight @ (0.25 / np.cosh(ahead / 2) ** 2)).mean())
    assert games.drawn.sum() / 4 / (1 - known.calm) == pytest.approx(varied + HALF, rel=0.015)


@few_examples
@given(few_games, st.randoms(use_true_random=False))
def test_neither_the_order_of_games_nor_another_process_changes_what_is_said(
    results: list[Result], random: Random
) -> None:
    before = said(results)
    random.shuffle(results)
    assert said(results) == before


@few_examples
@given(few_games)
def test_chances_add_up_and_strengths_are_around_zero(results: list[Result]) -> None:
    found = said(results).of.values()
    assert math.fsum(each.first for each in found) == pytest.approx(1)
    assert math.fsum(each.strength for each in found) == pytest.approx(0, abs=1e-6)
    for each in found:
        assert each.interval[0] < each.strength < each.interval[1]
        assert each.ranks is not None
        assert math.fsum(each.ranks) == pytest.approx(1)
        assert each.ranks[0] == each.first
    for chances in zip(*(each.ranks or () for each in found), strict=True):
        assert math.fsum(chances) == pytest.approx(1)


def test_winning_helps_and_more_games_say_more() -> None:
    level = [game("ada", "bob", 1), game("bob", "ada", 1)]
    more = said([*level, game("ada", "bob", 1)]).of["ada"]
    assert more.strength > 0
    assert more.first > 0.5
    widths = [said(level * times).of["ada"].interval for times in (2, 8, 60)]
    assert [high - low for low, high in widths] == sorted((high - low for low, high in widths), reverse=True)


def test_the_same_games_are_worked_out_once_and_others_anew() -> None:
    results = [game("ada", "bob", 1), game("bob", "cyd", 1), game("ada", "cyd", 0.5)]
    one, again, other = said(results), said(results[::-1]), said(results[:-1])
    assert [again.of[name] is each for name, each in one.of.items()] == [True] * 3
    assert other.of["ada"] != one.of["ada"]


def test_whoever_wins_only_because_it_moves_first_is_not_stronger() -> None:
    """Everybody wins when it moves first; ada has moved first more often."""
    results = [game(one, other, 1) for one in NAMES for other in NAMES if one != other] * 4
    fair = said([*results, *[game("ada", "bob", 1)] * 4]).of
    assert abs(fair["ada"].strength - fair["bob"].strength) < 20
    assert fair["ada"].interval[0] < 0 < fair["ada"].interval[1]


def test_with_more_than_a_hundred_names_nobody_is_told_how_likely_each_rank_is() -> None:
    names = [f"bot {number}" for number in range(RANKED + 1)]
    results = [game(one, other, 1) for one, other in pairwise(names)]
    assert {each.ranks for each in said(results).of.values()} == {None}
    assert None not in {each.ranks for each in said(results[:-1]).of.values()}


VETERANS = tournament(Random(3), [random * 60.0 for random in range(-3, 4)], 10, split)
NEWCOMER = [each for old in "456" for each in (game("new", old, 1), game(old, "new", 0))]


@pytest.mark.parametrize("results", [VETERANS, VETERANS + NEWCOMER], ids=["veterans", "newcomer"])
def test_where_there_are_plenty_of_games_walks_and_approximations_agree(
    results: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newcomer has few however many others have; its intervals were too narrow, and on one side."""
    found = np.quantile(sampling.drawn(model(results)), (0.025, 0.5, 0.975), axis=0)
    monkeypatch.setattr(sampling, "PLENTY", math.inf)
    walked = np.quantile(sampling.drawn(model(results)), (0.025, 0.5, 0.975), axis=0)
    assert np.abs((found - walked) / (walked[2] - walked[0])).max() < 0.05


def test_a_spread_that_is_little_known_is_taken_as_usual_where_draws_are_judged() -> None:
    """Or a low one, and results that are mostly chance, confirm each other: intervals failed by that."""
    results = [game(*pair, 0.5) for pair in combinations("abcd", 2)]
    tried = model(results).approximations()
    usual = sampling.USUAL[0] / ELO
    vague = [structs.replace(each, share=1 / len(tried)) for each in tried]
    assert sampling.likely_spread(vague) == pytest.approx(usual, rel=0.15)
    mostly_low = [structs.replace(each, share=each.share / each.spread) for each in vague]
    assert sampling.likely_spread(mostly_low) > 0.6 * usual
    known = [structs.replace(each, share=float(each is tried[2])) for each in tried]
    assert sampling.likely_spread(known) == pytest.approx(tried[2].spread)


@pytest.mark.parametrize("draws", [never, split, often])
def test_a_large_field_is_told_what_a_small_one_is(draws: object) -> None:
    """The incremental fit has another prior: where there are many games it does not matter."""
    assert callable(draws)
    results = tournament(Random(4), (150, 50, 0, -50, -150), 12, draws)  # pyright: ignore[reportArgumentType]
    small, large = said(results).of, strengths(Ratings(results, small=0)).of
    for name, each in small.items():
        width = each.interval[1] - each.interval[0]
        assert large[name].strength == pytest.approx(each.strength, abs=0.25 * width)
        assert large[name].ranks is None


# What counts


def test_a_game_with_the_same_moves_and_another_result_is_another_game() -> None:
    """The clock may have decided one of them."""
    won, lost = game("ada", "bob", 1, "a", "b"), game("ada", "bob", 0, "a", "b")
    assert duplicates([won, lost]) == []
    assert said([won, lost]).duplicates == 0
    assert said([won, won, lost]).duplicates == 1


def over(winner: int | None, ending: Ending, *moves: object) -> Concluded:
    return Concluded("m", 1, ("ada", "bob"), winner, ending, "so", (1.0, 0.0), moves)


def test_whoever_loses_without_having_moved_says_nothing_about_strength() -> None:
    for ending in (Ending.TIME, Ending.LEFT):
        assert not played_out(over(1, ending))
        assert not played_out(over(0, ending, "a"))
        assert played_out(over(0, ending, "a", "b"))
        assert played_out(over(1, ending, "a", "b"))
    assert played_out(over(0, Ending.PLAYED, "a"))
    assert played_out(over(0, Ending.ILLEGAL, "a"))
    assert not played_out(over(0, Ending.LEFT))


@pytest.mark.parametrize("name", catalogue())
def test_the_second_is_to_move_after_one_move(name: str) -> None:
    opening = catalogue()[name].opening({})
    assert opening.turn == 0
    assert {opening.play(move).turn for move in opening.moves()} == {1}


# Circles


def circle(times: int) -> list[Result]:
    pairs = (("ada", "bob"), ("bob", "cyd"), ("cyd", "ada"), ("ada", "dan"), ("bob", "dan"), ("cyd", "dan"))
    return [
        Result(Pairing(1, 1, first, second), score, True, moves_digest((number,)))
        for number in range(times)
        for one, other in pairs
        for first, second, score in ((one, other, (1.0, 0.0)), (other, one, (0.0, 1.0)))
    ]


def test_a_circle_is_reported_when_chance_does_not_explain_it() -> None:
    assert said(circle(1)).circles == ()
    assert said(circle(12)).circles == (("ada", "bob", "cyd"),)


def test_a_field_without_circles_is_hardly_ever_said_to_have_one() -> None:
    random, found = Random(5), 0
    for _ in range(60):
        found += bool(circles(model(tournament(random, [0.0] * 6, 4, split))))
    assert found <= 3


def test_of_circles_that_are_equally_sure_the_names_decide_and_not_the_last_digit() -> None:
    """Games that repeat weigh a share each, and 1/49 of 49 is not quite 1."""
    results: list[Result] = []
    for names, times in (("abc", 49), ("def", 1)):
        for one, other in pairwise((*names, names[0])):
            for number in range(15):
                score = float(number < 12)
                results += [game(one, other, score, number), game(other, one, 1 - score, number)] * times
    assert circles(model(results)) == [("a", "b", "c"), ("d", "e", "f")]


@pytest.mark.parametrize("seed", range(4))
def test_the_circles_are_those_that_are_found_by_looking_at_all_threes(seed: int) -> None:
    """Names that win against those next to them in a ring, some of them more surely than others."""
    random, names = Random(seed), [f"n{number}" for number in range(9)]
    results: list[Result] = []
    for (place, one), (other_place, other) in combinations(enumerate(names), 2):
        ahead = 0.5 + (1 if other_place - place in (1, 2, 4, 5) else -1) * random.uniform(0.25, 0.5)
        for number in range(36):
            score = random.choices((1.0, 0.5, 0.0), (ahead * 0.8, 0.2, (1 - ahead) * 0.8))[0]
            pair = (one, other) if number % 3 else (other, one)
            own = (score, 1 - score) if number % 3 else (1 - score, score)
            results.append(Result(Pairing(1, 1, *pair), own, True, moves_digest((seed, len(results)))))
    known = model(results)
    first = 1 / (1 + math.exp(-known.advantage))  # what is expected of whoever moves first, among equals
    beyond, varied = dict.fromkeys(permutations(names, 2), 0.0), dict.fromkeys(permutations(names, 2), 0.25)
    for result in results:
        for (one, other), score, usual in zip(
            (result.pairing.names, result.pairing.names[::-1]), result.score, (first, 1 - first), strict=True
        ):
            beyond[one, other] += score - usual
            varied[one, other] += known.calm * first * (1 - first)
    sure = {pair: beyond[pair] / math.sqrt(varied[pair]) for pair in beyond}
    least = NormalDist().inv_cdf(1 - LUCK / len(sure))
    weakest = {
        (one, other, third): min(sure[one, other], sure[other, third], sure[third, one])
        for one, other, third in permutations(names, 3)
        if one == min(one, other, third)
    }
    expected = sorted((each for each in weakest.values() if each > least), reverse=True)
    assert expected
    assert [weakest[each] for each in circles(known)] == pytest.approx(expected[:SHOWN])
    assert len({*circles(known)}) == len(circles(known))
