"""The simulation of the doors in the suite: some seeds, that a seed decides everything, and that it notices.

`python -m tests.simulation --doors` has the rest of the seeds.
"""

from collections.abc import Callable, Sequence

import pytest

from tests.effort import tries
from tests.simulation.__main__ import held, replay
from tests.simulation.doors.bots import WIRES
from tests.simulation.doors.plan import CUTS, STYLES, VICES, draw
from tests.simulation.doors.planted import PLANTED
from tests.simulation.planted import Patches, seeds_until_found
from tests.simulation.processes import digest_here, digest_there

pytestmark = pytest.mark.slow

SAME = range(1, 3)  # seeds that are played again in another process …
ANOTHER = range(3, 4)  # … and one that comes to something else
ENOUGH = range(1, 601)  # seeds in which a planted bug has to show …
LATE = {  # … and where to begin with those that are known to show late: the seeds before are in vain
    "a_lost_connection_is_a_lost_match": 6,
    "a_request_made_again_is_refused": 260,
    "a_stream_is_opened_again_where_it_was_left": 59,
    "junk_breaks_a_door": 40,
    "nobody_hears_that_a_client_has_gone": 5,
    "what_a_socket_does_not_take_is_lost": 3,
    "who_comes_back_is_not_asked_again": 4,
}
# The first ones, and each in which a planted bug shows: more seeds find no other bug of those that are known.
FIRST = tries(8, 60)
SEEDS = sorted({*range(1, FIRST + 1), *LATE.values()})
CHUNK = 6
CHUNKS = [SEEDS[at : at + CHUNK] for at in range(0, len(SEEDS), CHUNK)]  # so that workers share the work


def test_a_plan_covers_what_it_is_for() -> None:
    plans = [draw(seed) for seed in range(1, 301)]
    characters = [character for plan in plans for character in plan.characters.values()]
    assert {character.wire for character in characters} == set(WIRES)
    assert {character.style for character in characters} == set(STYLES)
    assert {vice for character in characters for vice in character.vices} == set(VICES)
    assert {cut.what for character in characters for cut in character.cuts} == set(CUTS)
    assert len({plan.game for plan in plans}) == 5
    assert {len(plan.characters) for plan in plans} == set(range(2, 7))
    honest = [character for character in characters if character.honest]
    assert 0.4 < len(honest) / len(characters) < 0.9
    assert sum(any(cut.what != "stall" for cut in each.cuts) for each in honest) > 50, "who are cut off"


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_whole_tournaments_are_held_through_the_doors_without_error_or_unfairness(
    seeds: Sequence[int],
) -> None:
    matches = 0
    for seed in seeds:
        report = held(seed, doors=True)
        assert not report.complaints, replay(seed, doors=True)
        matches += report.matches
    assert matches > 2 * len(seeds)


@pytest.mark.slow
def test_a_seed_decides_everything_in_every_process() -> None:
    there = digest_there(SAME, doors=True)
    assert len(there) == 64
    assert there == digest_here(SAME, doors=True)
    assert there != digest_here(ANOTHER, doors=True), "it is one of something"
    trace = held(1, doors=True, tracing=True).trace
    assert trace
    assert trace == held(1, doors=True, tracing=True).trace


@pytest.mark.slow
@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_found(bug: Callable[[], Patches]) -> None:
    seeds = ENOUGH[LATE.get(bug.__name__, 1) - 1 :]
    assert seeds_until_found(bug, seeds, lambda seed: held(seed, doors=True)) is not None
