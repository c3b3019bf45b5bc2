"""One host for all checks that do not need one of their own, and one for what takes its time.

The first is in no hurry; the second has the games' own clocks.
"""

from collections.abc import Iterator

import pytest

from tests.blackbox.inspected import Inspected
from tests.blackbox.unhurried import unhurried
from tests.blackbox.waits import Waits


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    folder = tmp_path_factory.mktemp("host")
    unhurried(folder, "kept")
    with Inspected(folder, "--data", "kept") as started:
        yield started


@pytest.fixture(scope="session")
def waits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waits]:
    begun = Waits(tmp_path_factory.mktemp("waits"))
    yield begun
    begun.close()


@pytest.fixture(scope="session", autouse=True)
def _watch_from_the_beginning(request: pytest.FixtureRequest) -> None:
    if any("waits" in getattr(item, "fixturenames", ()) for item in request.session.items):
        request.getfixturevalue("waits")
