"""Hosts in processes of their own, for tests that start one or several on one folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.served import Served


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    running: list[Served] = []

    def start(*flags: str) -> Served:
        running.append(Served(tmp_path, *flags))
        return running[-1]

    yield start
    for each in running:
        each.kill()
