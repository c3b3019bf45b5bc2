"""The simulation in the suite: some seeds of it, that a seed decides everything, and that it would notice.

`python -m tests.simulation` has the rest of the seeds.
"""

from collections.abc import Callable, Sequence

import pytest

from tests.effort import IS_CAMPAIGN, tries
from tests.simulation.__main__ import replay
from tests.simulation.plan import draw
from tests.simulation.planted import (
    CLASSIC,
    OURS,
    Patches,
    a_restart_gives_time,
    a_restart_takes_time,
    annulled_games_count,
    decisions_overlap,
    known_in_the_order_of_waking,
    leaving_flags_the_other,
    old_connection_clears_new,
    one_grace_for_both,
    seeds_until_found,
    side_balance_off_by_one,
    void_comes_too_late,
    waiting_goes_on_in_a_stall,
)
from tests.simulation.processes import digest_here, digest_there
from tests.simulation.world import simulate

pytestmark = pytest.mark.slow

SAME = range(1, 5)  # seeds that are played again in another process …
ANOTHER = range(5, 6)  # … and one that comes to something else
BROKEN = ("it broke", "logged")  # how complaints of exceptions begin
ENOUGH = range(1, 401)  # seeds in which a planted bug has to show
LATE = {  # seeds that are passed over where hours are not to be had: it shows after
    a_restart_gives_time: 111,
    a_restart_takes_time: 38,
    annulled_games_count: 8,
    decisions_overlap: 16,
    known_in_the_order_of_waking: 31,
    leaving_flags_the_other: 16,
    old_connection_clears_new: 21,
    one_grace_for_both: 94,
    side_balance_off_by_one: 7,
    void_comes_too_late: 17,
    waiting_goes_on_in_a_stall: 24,
}
FIRST = tries(120, 1000)
# The first ones, and each in which a planted bug shows
SEEDS = sorted({*range(1, FIRST + 1), *(passed + 1 for passed in LATE.values())})
CHUNK = 25
CHUNKS = [SEEDS[at : at + CHUNK] for at in range(0, len(SEEDS), CHUNK)]  # so that workers share the work


def test_a_plan_covers_what_it_is_for() -> None:
    plans = [draw(seed) for seed in range(1, 201)]
    contests = [contest for plan in plans for contest in plan.contests]
    assert len({plan.game for plan in plans}) == 5
    assert len({contest.format for contest in contests}) == 7
    assert {len(contest.entrants) for contest in contests} >= set(range(2, 11))
    troubles = {trouble.what for plan in plans for trouble in plan.troubles}
    assert troubles == {"crash", "crash mid-commit", "stall", "freeze"}
    natures = [nature for plan in plans for nature in plan.natures.values()]
    assert 0.3 < sum(nature.honest for nature in natures) / len(natures) < 0.8


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_whole_tournaments_are_held_without_error_or_unfairness(seeds: Sequence[int]) -> None:
    matches = 0
    for seed in seeds:
        report = simulate(draw(seed))
        assert not report.complaints, replay(seed)
        matches += report.matches
    assert matches > 10 * len(seeds)


def test_a_seed_decides_everything_in_every_process() -> None:
    there = digest_there(SAME)
    assert len(there) == 64
    assert there == digest_here(SAME)
    assert there != digest_here(ANOTHER), "it is one of something"
    trace = simulate(draw(1), tracing=True).trace
    assert trace
    assert trace == simulate(draw(1), tracing=True).trace


@pytest.mark.parametrize("bug", [*CLASSIC, *OURS], ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_found(bug: Callable[[], Patches], capsys: pytest.CaptureFixture[str]) -> None:
    found = seeds_until_found(bug, ENOUGH if IS_CAMPAIGN else ENOUGH[LATE.get(bug, 0) :])
    assert found is not None
    count, complaint = found
    assert not complaint.startswith(BROKEN), "it is found because it breaks, and not for what it does"
    with capsys.disabled():
        print(f"\n{bug.__name__}: found after {count} seeds: {complaint.splitlines()[0]:.90}…")


def test_what_was_planted_is_gone_again() -> None:
    assert seeds_until_found(CLASSIC[0], range(1, 10)) is not None
    assert not any(simulate(draw(seed)).complaints for seed in range(1, 10))
