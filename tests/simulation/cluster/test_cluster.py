"""Several hosts, simulated, in the suite: some seeds, that one decides everything, and that bugs are found.

`python -m tests.simulation.cluster` has the rest of the seeds.
"""

from collections.abc import Callable, Sequence

import pytest

from tests.effort import tries
from tests.simulation.cluster.plan import KINDS, draw
from tests.simulation.cluster.planted import BUGS, seeds_until_found
from tests.simulation.cluster.world import simulate
from tests.simulation.planted import Patches

pytestmark = pytest.mark.slow

ENOUGH = range(1, 601)  # seeds in which a planted bug has to show …
LATE = {  # … and where to begin with those that are known to show late: the seeds before are in vain
    "moves_left_behind": 4,
    "never_patient": 41,
    "renewed_too_late": 37,
    "what_was_robbed_meanwhile_is_kept": 504,
}
FIRST = tries(120, 1000)
# The first ones, and each in which a planted bug shows
SEEDS = sorted({*range(1, FIRST + 1), *LATE.values()})
CHUNK = 25
CHUNKS = [SEEDS[at : at + CHUNK] for at in range(0, len(SEEDS), CHUNK)]  # so that workers share the work


def test_a_plan_covers_what_it_is_for() -> None:
    plans = [draw(seed) for seed in range(1, 201)]
    assert {trouble.what for plan in plans for trouble in plan.troubles} == set(KINDS)
    assert {len(plan.rates) for plan in plans} == {2, 3, 4}
    assert any(len(plan.troubles) == 1 and plan.troubles[0].what == "kill" for plan in plans)


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_nothing_is_lost_doubled_or_held_twice(seeds: Sequence[int]) -> None:
    results = taken = 0
    for seed in seeds:
        report = simulate(draw(seed))
        assert not report.complaints, f"python -m tests.simulation.cluster --seeds {seed}"
        results += report.results
        taken += report.taken
    assert results > 10 * len(seeds)
    assert taken > len(seeds) / 2


def test_a_seed_decides_everything() -> None:
    one, other = simulate(draw(2)), simulate(draw(2))
    assert one.trace == other.trace
    assert one.trace
    assert one.trace != simulate(draw(3)).trace


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_found(bug: Callable[[], Patches]) -> None:
    assert seeds_until_found(bug, ENOUGH[LATE.get(bug.__name__, 1) - 1 :]) is not None
