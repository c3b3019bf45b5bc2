"""What tests of all folders share: how hard hypothesis tries, and hosts in processes of their own.

`HYPOTHESIS_PROFILE=campaign` gives it many times as many examples. Under
continuous integration they are the same each time.
"""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from trio.testing import MockClock
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.effort import IS_CAMPAIGN
from tests.hang import SLOWLY
from tests.server.served import Served

EXAMPLES = 12  # for each law and each game: the laws take some seconds in all
CAMPAIGN = 250  # times as many
SAME = bool(os.environ.get("CI"))
BUSY = [HealthCheck.too_slow]  # a machine that has other things to do is no fault of a test

# What they prepare takes long, and each worker would prepare it again: a browser, compiled programs, hundreds
# of tournaments, wheels, a database server, hosts in processes of their own, a library.
SHARED = (
    "tests/blackbox/",
    "tests/browser/",
    "tests/calibration/",
    "tests/clients/test_quintain_bot.py",
    "tests/clients/test_starters.py",
    "tests/deploy/test_balancers.py",
    "tests/deploy/test_wheel.py",
    "tests/server/export/test_verify_chain.py",
    "tests/server/protocols/test_mcp_sdk.py",
    "tests/server/store/",
    "tests/server/test_keeping.py",
    "tests/server/test_matrix.py",
)

# Each test there takes a tenth of a second of a processor or more: they are left out of `make quick`.
SLOW = (
    "tests/bench/test_compiled_crowd.py",
    "tests/calibration/",
    "tests/deploy/",
    "tests/docs/test_add_a_dialect.py",
    "tests/docs/test_add_a_game.py",
    "tests/docs/test_sentences.py",
    "tests/fuzz/",
    "tests/games/test_estimate.py",
    "tests/games/test_perfect.py",
    "tests/powercuts/",
    "tests/server/export/test_verify.py",
    "tests/server/host/test_boards.py",
    "tests/server/host/test_grading.py",
    "tests/server/host/test_metrics.py",
    "tests/server/host/test_thinker.py",
    "tests/server/host/test_throw_away_names.py",
    "tests/server/net/test_open_files.py",
    "tests/server/pages/test_live.py",
    "tests/server/pages/test_pages.py",
    "tests/server/pages/test_tables.py",
    "tests/server/peers/test_abroad.py",
    "tests/server/protocols/test_arena.py",
    "tests/server/protocols/test_c4arena_hang_ups.py",
    "tests/server/protocols/test_seats.py",
    "tests/server/show/",
    "tests/server/store/test_snapshots.py",
    "tests/server/test_admin_link.py",
    "tests/server/test_allocator.py",
    "tests/server/test_forked.py",
    "tests/server/test_operations.py",
    "tests/server/test_serve.py",
    "tests/server/test_supervised.py",
    "tests/simulation/",
    "tests/tournament/test_columns.py",
    "tests/tournament/test_decide.py",
    "tests/tournament/test_fit_sparse.py",
    "tests/tournament/test_ladder.py",
    "tests/tournament/test_matching.py",
    "tests/tournament/test_ratings.py",
    "tests/tournament/test_score_sheet.py",
    "tests/tournament/test_strength.py",
    "tests/tournament/test_swiss.py",
    "tests/tournament/test_tally.py",
    "tests/veterans/",
)

# One process a host is enough for most tests, and costs half as much; those of pages beside a host ask
# for two, and those in `tests/blackbox` and in the bench have what users have.
os.environ.setdefault("QUINTAIN_SHOW", "0")

settings.register_profile(
    "default", max_examples=EXAMPLES, deadline=None, suppress_health_check=BUSY, derandomize=SAME
)
settings.register_profile("campaign", settings.get_profile("default"), max_examples=CAMPAIGN * EXAMPLES)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


class OneWorkerEach(LoadScopeScheduling):
    """Every test goes to whichever worker is free, but for those that share what takes long to prepare."""

    def _split_scope(self, nodeid: str) -> str:
        return next((shared for shared in SHARED if nodeid.startswith(shared)), nodeid)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """What is done is forgotten: to count it again after each of ten thousand tests takes seconds."""
        super().mark_test_complete(node, item_index, duration)
        assigned = self.assigned_work[node]
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(assigned[scope].values()):
            del assigned[scope]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneWorkerEach:
    return OneWorkerEach(config, log)


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is marked, and what is tried in short elsewhere is left to `make campaign`."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    dear = [] if IS_CAMPAIGN else [item for item in items if item.get_closest_marker("campaign")]
    if dear:
        config.hook.pytest_deselected(items=dear)
        items[:] = [item for item in items if item not in dear]


def pytest_collection_finish() -> None:
    """Ten thousand tests are not looked through again whenever garbage is collected."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def slow_clock() -> MockClock:
    """Trio's clock for hosts that are within a test, on real sockets: five seconds are four minutes."""
    return MockClock(rate=SLOWLY)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts a host, or several on one folder; they end with the test."""
    running: list[Served] = []

    def start(*flags: str, http: int = 0) -> Served:
        running.append(Served(tmp_path, *flags, http=http))
        return running[-1]

    yield start
    for each in running:
        each.kill()
