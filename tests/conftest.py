"""What tests of all folders share: how hard hypothesis tries, and hosts in processes of their own.

`HYPOTHESIS_PROFILE=campaign` gives it many times as many examples, `quick` fewer. Under
continuous integration they are the same each time.
"""

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, Phase, settings
from trio.testing import MockClock
from xdist import is_xdist_worker
from xdist.remote import Producer

from tests.effort import IS_CAMPAIGN
from tests.hang import SLOWLY
from tests.read_first import bytecode, read_first
from tests.scheduling import OneWorkerEach
from tests.server.served import Served
from tests.told_briefly import tell_briefly
from tests.watchdog import Watchdog

EXAMPLES = 6  # for each law and each game: the laws take some seconds in all
CAMPAIGN = 500  # times as many
QUICK = 3  # with these each law is tried, and `make test` tries harder
SAME = bool(os.environ.get("CI"))
PHASES = [phase for phase in Phase if phase is not Phase.explain]  # that one traces lines for minutes
GARBAGE = (3_000, 50, 20)  # objects, and collections of what is younger: less often than usual
BUSY = [HealthCheck.too_slow]  # a machine that has other things to do is no fault of a test

# One process a host is enough for most tests, and costs half as much; those of pages beside a host ask
# for two, and those in `tests/blackbox` and in the bench have what users have.
os.environ.setdefault("QUINTAIN_SHOW", "0")

# Whoever waits for a tournament by looking at it would have all of its matches graded.
os.environ.setdefault("QUINTAIN_GRADING", "false")

# A shell that runs the tests in its background has them pass over Ctrl-C, and with them whatever they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# So does `nohup` with the end of the terminal.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What hosts within tests log is read only when one of these fails: no time, no colours and no frames' values,
# which cost more than whatever is logged.
structlog.configure(
    [
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
    ]
)

settings.register_profile(
    "default",
    max_examples=EXAMPLES,
    phases=PHASES,
    deadline=None,
    suppress_health_check=BUSY,
    derandomize=SAME,
)
settings.register_profile("campaign", settings.get_profile("default"), max_examples=CAMPAIGN * EXAMPLES)
settings.register_profile("quick", settings.get_profile("default"), max_examples=QUICK)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Watchdog())
    tell_briefly(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneWorkerEach:
    return OneWorkerEach(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long, and is tried in short elsewhere, is left to `make campaign`."""
    if IS_CAMPAIGN:
        return
    kept: list[pytest.Item] = []
    dear: list[pytest.Item] = []
    for item in items:
        (dear if item.get_closest_marker("campaign") else kept).append(item)
    config.hook.pytest_deselected(items=dear)
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Ten thousand tests are not looked through for garbage again and again, while they are read or later."""
    gc.disable()
    try:
        with read_first(bytecode() if is_xdist_worker(session) else None):
            return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        gc.enable()


@pytest.fixture(scope="module")
def nothing_old() -> None:
    """The collector looks at what comes from now on alone, and not again and again at all there is."""
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
