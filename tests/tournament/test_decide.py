"""The format that stops by itself: what it draws, when it stops, and what it says then."""

from itertools import permutations
from random import Random

import numpy as np
import pytest
from msgspec import structs

from tests.calibration.truth import World
from tests.effort import tries
from tests.steps import steps_taken
from tests.tournament.holding import Held, Scorer, field
from tournament.deciding import APART, EACH, LIKELY, Outlook, claims, decision, evidence
from tournament.fit_exact import ELO
from tournament.format import Aim, Pairing, Result, Score, Terms, formats
from tournament.pairing.decide import GONE, aim_objection, decided_by, in_doubt, outlook_on, unplayed
from tournament.pairing.drawing import Sides
from tournament.standings import standings

pytestmark = pytest.mark.slow

DECIDE = formats()["decide"]


def scorer(random: Random, *strengths: float) -> Scorer:
    world = World(random, strengths, 0.3, 60.0)

    def score(pairing: Pairing) -> Score:
        return world.play(Pairing(1, 1, pairing.first[1:], (pairing.second or "")[1:])).score

    return score


def held(seed: int, aim: Aim, *strengths: float) -> Held:
    random = Random(seed)
    found = Held(DECIDE, field(len(strengths)), Terms(seed=seed, aim=aim))
    return found.hold(random, scorer(random, *strengths))


def test_it_stops_when_the_best_is_known_and_says_who_that_is() -> None:
    found = held(1, Aim(), 300, 0, 0, -50, -100, -300)
    known = decided_by(found.entrants, found.results, found.terms)
    assert known.decided
    assert known.order[0] == "p0"
    assert known.open == ()
    assert len(found.results) < 300


@pytest.mark.parametrize("count", [2, 3, 6])
def test_rounds_come_in_pairs_the_second_with_sides_swapped(count: int) -> None:
    """As the page on formats says: whoever counts meetings by rounds has to know it."""
    rounds: dict[int, list[tuple[str, ...]]] = {}
    for result in held(1, Aim(within=300, games=60 * count), *[0.0] * count).results:
        rounds.setdefault(result.pairing.round, []).append(result.pairing.names)
    assert sorted(rounds) == [*range(1, len(rounds) + 1)]
    for there in range(1, len(rounds), 2):
        assert sorted(rounds[there + 1]) == sorted(names[::-1] for names in rounds[there])


def test_the_surer_it_is_to_be_the_longer_it_plays() -> None:
    lengths = [
        len(held(2, Aim(confidence=confidence), 150, 0, 0, -50).results) for confidence in (0.6, 0.95, 0.9999)
    ]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_the_only_one_who_came_has_won_and_is_first_in_the_table() -> None:
    for count in (2, 3, 5):
        found = Held(DECIDE, field(count), Terms(seed=count))
        there = f"p{count - 1}"
        while found.advance():
            for pairing in found.open:
                score: Score = (float(pairing.first == there), float(pairing.second == there))
                found.results.append(Result(pairing, score, played=False))
            found.open.clear()
        assert decided_by(found.entrants, found.results, found.terms).order == (there,)
        rows = standings(found.entrants, found.results, DECIDE.order)
        assert (rows[0].rank, rows[0].name) == (1, there)
        assert {row.rank for row in rows[1:]} == {2}


def test_it_never_plays_more_matches_than_there_may_be() -> None:
    for games in (1, 7, 40, 61):
        found = held(3, Aim(games=games), 0, 0, 0, 0, 0)
        assert len(found.drawn) == games
        assert not decided_by(found.entrants, found.results, found.terms).decided


def test_everybody_is_first_as_often_as_second_and_so_is_each_pair() -> None:
    found = held(4, Aim(games=402), 40, 20, 0, -20, -40, -60, -80)
    sides = Sides(found.drawn)
    assert set(sides.balance.values()) == {0}
    for (one, other), times in sides.times.items():
        assert sides.times[other, one] == times


def test_those_in_doubt_play_more_than_those_who_are_not() -> None:
    found = held(5, Aim(games=300), 10, 0, -400, -400, -400, -400)
    played = {name: sum(name in each.names for each in found.drawn) for name in ("p0", "p1", "p2", "p5")}
    assert min(played["p0"], played["p1"]) > 2 * max(played["p2"], played["p5"])


@pytest.mark.parametrize("places", [2, 0])
def test_as_many_places_are_settled_as_are_asked_for(places: int) -> None:
    found = held(6, Aim(places=places), 450, 150, -150, -450)
    known = decided_by(found.entrants, found.results, found.terms)
    assert known.settled == known.places == (places or 3)
    assert known.order == ("p0", "p1", "p2", "p3")[: len(known.order)]


def test_near_equals_further_down_do_not_keep_the_first_place_open() -> None:
    settled = [
        decided_by(found.entrants, found.results, found.terms).settled
        for seed in range(4)
        for found in (held(seed, Aim(places=2, games=240), 200, 0, 0),)
    ]
    assert min(settled) == 1


def test_in_doubt_are_two_who_may_have_a_place_that_is_to_be_settled() -> None:
    """P0 beats everybody, and nothing else is known: the first place is in no doubt, and the second is."""
    names = ["p0", "p1", "p2"]
    won = [Result(Pairing(number, number, "p0", names[number]), (1.0, 0.0)) for number in (1, 2)]
    outlook = outlook_on(names, 1000 * won)
    for seed in range(10):
        assert in_doubt(outlook, names, 1, np.random.default_rng(seed)) is None
    found = {frozenset(in_doubt(outlook, names, 2, np.random.default_rng(seed)) or ()) for seed in range(10)}
    assert found == {frozenset(("p1", "p2"))}


def test_matches_not_played_are_counted_in_the_order_of_drawing_and_from_the_last_that_was() -> None:
    lost, played, again = (Pairing(number, number, "p0", "p1") for number in (1, 2, 3))
    results = [Result(lost, (0.0, 1.0), played=False), Result(played, (0.0, 1.0))]
    results.append(Result(again, (0.0, 1.0), played=False))
    for order in permutations(results):
        assert unplayed(order) == {"p0": 1, "p1": 0}


def test_an_event_without_results_decides_nothing() -> None:
    known = decided_by(field(5), (), Terms(seed=1, aim=Aim()))
    assert not known.decided
    assert known.settled == 0
    assert len(known.open) == 4


def test_a_draw_looks_at_the_first_open_place_and_not_at_every_pair_again_and_again() -> None:
    """Twice the entrants are twice the meetings, each after a look at twice as many claims."""
    steps: list[int] = []
    for size in (6, 20, 40):  # with the first, modules are imported
        random = Random(15)
        found = Held(DECIDE, field(size), Terms(seed=15, aim=Aim(places=0)))
        found.advance()
        score = scorer(random, *(random.gauss(0, 300) for _ in range(size)))
        while found.open:
            found.conclude(found.open[0], score(found.open[0]))
        asked = found.entrants, found.drawn, found.results, found.terms
        steps.append(steps_taken(lambda asked=asked: DECIDE.draw(*asked)))
    assert steps[2] < 4 * steps[1]


def test_what_is_open_takes_as_long_as_the_claim_that_takes_longest() -> None:
    for seed in range(5):
        aim = Aim(places=0, games=40 * (seed + 1))
        found = held(seed, aim, 300, 100, 50, 0, 0, -100, -400)
        known = decided_by(found.entrants, found.results, found.terms)
        assert known.times == max((claim.times for claim in known.open), default=1.0)


def test_whoever_has_withdrawn_can_have_no_place() -> None:
    found = held(7, Aim(games=60), 300, 0, 0, 0)
    found.withdraw("p0")
    assert "p0" not in decided_by(found.entrants, found.results, found.terms).order


@pytest.mark.parametrize("places", [0, 1, 2])
def test_whoever_is_left_when_all_others_have_gone_has_the_first_place(places: int) -> None:
    found = held(6, Aim(games=12, places=places), 50, 0, 0)
    found.withdraw("p0")
    found.withdraw("p2")
    known = decided_by(found.entrants, found.results, found.terms)
    assert (known.decided, known.order, known.settled) == (True, ("p1",), 1)


def test_whoever_is_the_first_to_enter_has_not_won_yet() -> None:
    """Catches `"decided": true` for a tournament that has not begun."""
    assert not decided_by(field(1), [], Terms(aim=Aim())).decided


def test_games_that_are_taken_into_account_make_the_two_surer_and_others_no_less_sure() -> None:
    outlook = outlook_on((), held(8, Aim(games=60), 100, 0, 0, -100).results)
    before = {pair: outlook.variance(*pair) for pair in (("p0", "p1"), ("p0", "p2"), ("p2", "p3"))}
    outlook.play("p0", "p1")
    after = {pair: outlook.variance(*pair) for pair in before}
    assert after["p0", "p1"] < before["p0", "p1"]
    assert all(after[pair] <= before[pair] + 1e-9 for pair in before)


def test_more_games_are_more_evidence_and_a_dead_heat_is_none() -> None:
    found = [evidence(50.0, variance) for variance in (4000.0, 1000.0, 250.0, 60.0)]
    assert found == sorted(found)
    assert evidence(0.0, 100.0) < 0 < evidence(60.0, 100.0)


@pytest.mark.parametrize("places", [1, 3])
def test_the_first_to_meet_are_those_of_whose_order_least_is_known_for_the_highest_open_place(
    places: int,
) -> None:
    found = Held(DECIDE, field(6), Terms(seed=3, aim=Aim(places=places)))
    score, tried = scorer(Random(3), 200, 180, 0, -20, -100, -300), 0
    for _ in range(8):
        before = decided_by(found.entrants, found.results, found.terms)
        drawn = found.advance()
        if before.open and drawn[0].round > 6:
            first = next(each for each in before.open if each.better == before.order[before.settled])
            assert drawn[0].names == first.both
            tried += 1
        while found.open:
            found.conclude(found.open[0], score(found.open[0]))
    assert tried >= 5


@pytest.mark.parametrize("ahead", [0.0, 20.0, 150.0, 900.0])
@pytest.mark.parametrize("variance", [30.0, 1_000.0, 40_000.0])
def test_evidence_is_how_much_likelier_an_estimate_is_by_a_prior_of_positive_differences(
    ahead: float, variance: float
) -> None:
    beyond = np.linspace(0.0, 20 * LIKELY, 200_001)
    prior = 2 * np.exp(-((beyond / LIKELY) ** 2) / 2) / (LIKELY * np.sqrt(2 * np.pi))
    ratios = (ahead * beyond - beyond**2 / 2) / variance  # logarithms, against a difference of zero
    most = ratios.max()
    summed = float((prior * np.exp(ratios - most)).sum() * (beyond[1] - beyond[0]))
    summed -= float(prior[0] * np.exp(ratios[0] - most) * (beyond[1] - beyond[0]) / 2)  # the trapezium rule
    assert evidence(ahead, variance) == pytest.approx(most + np.log(summed), abs=1e-4)


def test_a_claim_is_about_the_difference_and_what_counts_as_equal() -> None:
    aim = Aim(places=0, games=90, within=30)
    found = held(4, aim, 60, 50, 50, 0, -100)
    outlook = outlook_on((), found.results)
    known = decision(outlook, outlook.names, aim)
    assert all(claim.ahead == outlook.ahead(*claim.both) + 30 for claim in known.open)
    near = [claim for claim in known.open if claim.ahead <= APART]
    assert near
    assert all(each.evidence == evidence(each.ahead, outlook.variance(*each.both)) for each in near)


@pytest.mark.parametrize("count", [2, 4])
def test_whoever_wins_every_game_is_soon_known_to_be_the_best(count: int) -> None:
    """Nobody knows how far ahead it is: by that alone, it would not be known after any number of games."""
    found = Held(DECIDE, field(count), Terms())
    found.hold(Random(1), lambda pairing: (1.0, 0.0) if pairing.first == "p0" else (0.0, 1.0))
    assert decided_by(found.entrants, found.results, found.terms).order[0] == "p0"
    assert len(found.results) <= 40 * (count - 1)


def test_with_so_many_times_as_many_games_a_claim_can_just_be_made() -> None:
    found = held(4, Aim(places=0, games=90), 300, 100, 50, 0, -100)
    known = decided_by(found.entrants, found.results, found.terms)
    assert known.open
    for claim in known.open:
        assert evidence(claim.ahead, claim.variance) < claim.needed
        assert evidence(claim.ahead, claim.variance / claim.times) >= claim.needed
        assert evidence(claim.ahead, claim.variance / claim.times * 1.02) < claim.needed


def test_two_games_that_are_taken_into_account_add_what_they_would_say_of_that_pair() -> None:
    """Of two who meet with sides swapped equally often, a side is worth nothing; without draws φ is 1."""
    won = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 0.0, ("c", "d"): 1.0, ("d", "a"): 0.0}
    results = [
        Result(Pairing(number, 1, *names), (score, 1 - score))
        for number, (pair, each) in enumerate([*won.items()] * 4)
        for names, score in ((pair, each), (pair[::-1], 1 - each))
    ]
    outlook = outlook_on((), results)
    for one, other in (("a", "b"), ("c", "a"), ("d", "b"), ("a", "b")):
        before, ahead = outlook.variance(one, other), outlook.ahead(one, other)
        outlook.play(one, other)
        expected = 1 / (1 + 10 ** (-ahead / 400))
        said = 2 * expected * (1 - expected) / ELO**2
        assert 1 / outlook.variance(one, other) == pytest.approx(1 / before + said)


def test_the_last_digits_in_which_machines_differ_decide_nothing() -> None:
    meetings = [Pairing(number, 1, *pair) for number, pair in enumerate(("ab", "cd", "ac", "bd"), 1)]
    outlook = outlook_on((), [Result(each, (0.5, 0.5)) for each in meetings])
    before = decision(outlook, "abcd", Aim(places=0))
    outlook.strength[0] -= 1e-10
    after = decision(outlook, "abcd", Aim(places=0))
    assert after.order == before.order == tuple("abcd")
    assert [(each.better, each.worse) for each in after.open] == [
        (each.better, each.worse) for each in before.open
    ]


def test_all_claims_that_could_be_false_share_the_risk() -> None:
    assert [claims(12, places) for places in (0, 1, 2, 11)] == [0, 11, 21, 66]
    results = held(9, Aim(games=60), 100, 0, 0, -100).results
    needed = [
        decision(outlook_on((), results), ("p0", "p1", "p2", "p3"), Aim(places=places)).open[0].needed
        for places in (1, 2)
    ]
    assert needed[0] < needed[1]


def test_evidence_for_what_is_false_is_seldom_found_however_often_one_looks() -> None:
    """One difference, exactly at the limit: a walk with known variance, looked at after every game."""
    random, found, walks = Random(10), 0, tries(200, 400)
    for _ in range(walks):
        total, sure = 0.0, 0.0
        for games in range(1, 600):
            total += random.gauss(0, 300)
            sure = max(sure, evidence(total / games, 300**2 / games))
        found += sure >= 3.0  # e³ = 20
    assert found / walks <= 0.05


def test_what_an_aim_cannot_be_is_said_in_a_sentence() -> None:
    assert aim_objection("decide", None, Aim()) == ""
    for extreme in (Aim(0.5, 0, 1.0, 1), Aim(0.999, 4, 1000.0)):
        assert aim_objection("decide", 4, extreme) == ""
    for wrong, named in (
        (Aim(confidence=1.0), "confidence"),
        (Aim(confidence=0.49), "confidence"),
        (Aim(confidence=float("nan")), "confidence"),
        (Aim(places=5), "5"),
        (Aim(places=-1), "-1"),
        (Aim(within=0.9), "Elo"),
        (Aim(within=1001.0), "Elo"),
        (Aim(games=0), "match"),
    ):
        assert named in aim_objection("decide", 4, wrong)
    assert "decide" in aim_objection("swiss", 4, Aim())


def held_without(seed: int, away: str, back_after: int | None = None) -> Held:
    """Somebody loses every match without playing it, for ever or until so many have ended."""
    random = Random(seed)
    score = scorer(random, 300, 0, 0, -50, 0)
    found = Held(DECIDE, field(5), Terms(seed=seed, aim=Aim()))
    while found.advance():
        while found.open:
            pairing = found.open[0]
            found.conclude(pairing, score(pairing))
            if away in pairing.names and (back_after is None or len(found.results) < back_after):
                lost = (0.0, 1.0) if pairing.first == away else (1.0, 0.0)
                found.results[-1] = Result(pairing, lost, played=False)
    return found


def matches_of(found: Held, name: str) -> int:
    return sum(name in each.names for each in found.drawn)


def test_whoever_never_comes_uses_up_no_matches_and_keeps_nothing_open() -> None:
    found = held_without(13, "p4")
    known = decided_by(found.entrants, found.results, found.terms)
    assert known.decided
    assert "p4" not in known.order
    assert known.order[0] == "p0"
    assert matches_of(found, "p4") <= GONE + 1


def test_whoever_comes_back_is_asked_again_and_takes_part() -> None:
    gone = len(held_without(13, "p4").drawn)
    found = held_without(13, "p4", back_after=gone - 2)
    assert matches_of(found, "p4") > GONE + 2
    assert "p4" in decided_by(found.entrants, found.results, found.terms).order


def held_left_by(seed: int, away: str, *strengths: float) -> Held:
    """Somebody plays the opening, and is not seen again."""
    score = scorer(Random(seed), *strengths)
    found = Held(DECIDE, field(len(strengths)), Terms(seed=seed, aim=Aim()))
    opening = True
    while found.advance():
        while found.open:
            pairing = found.open[0]
            found.conclude(pairing, score(pairing))
            if away in pairing.names and not opening:
                lost = (0.0, 1.0) if pairing.first == away else (1.0, 0.0)
                found.results[-1] = Result(pairing, lost, played=False)
        opening = False
    return found


def test_without_whoever_played_and_went_it_ends_undecided() -> None:
    """The best plays the opening and is not seen again: nobody can say that another is better."""
    found = held_left_by(14, "p0", 300, 0, -200, -250, -300)
    known = decided_by(found.entrants, found.results, found.terms)
    assert len(found.drawn) < 400
    assert known.order[0] == "p0"
    assert not known.decided


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_open_between_those_who_stay_when_it_ends_without_somebody_who_went(seed: int) -> None:
    """Claims about whoever went share the risk, so the others need more evidence: it was not sought."""
    found = held_left_by(seed, "p3", 150, 0, -100, -400)
    known = decided_by(found.entrants, found.results, found.terms)
    assert len(found.drawn) < EACH * 4
    assert {claim.worse for claim in known.open} <= {"p3"}
    assert known.times == 1.0, "nothing more is to be played, though something is open"


def test_the_table_is_in_the_order_in_which_it_is_decided() -> None:
    from tournament.standings import UNPLAYED, standings

    found = held(11, Aim(games=80), 200, 100, 0, -100, -200)
    entrants = [*found.entrants, *field(1, "late")]
    rows = standings(entrants, found.results, DECIDE.order)
    order = Outlook.order(outlook_on((), found.results), [each.name for each in found.entrants])
    assert [row.name for row in rows] == [*order, "late0"]
    assert rows[-1].tie_breaks == (UNPLAYED,)


def test_a_result_that_was_not_played_decides_nothing() -> None:
    found = held(12, Aim(games=40), 100, 0, 0)
    forfeits = [Result(Pairing(999, 99, "p1", "p0"), (1.0, 0.0), played=False)] * 50
    before, after = (
        decided_by(found.entrants, results, found.terms)
        for results in (found.results, [*found.results, *forfeits])
    )
    assert before == structs.replace(after, times=before.times), "p0 stays away, and is not waited for"
