"""A host with two workers and tournaments, of which each worker holds some."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.server.served import Served
from tests.server.test_matrix import open_tournament

GAME = "connect-4"
CUPS = ("one", "two", "three")  # two workers hold them


@contextmanager
def holding(folder: Path) -> Iterator[Served]:
    served = Served(folder, "--workers", "2", "--show", "1")
    try:
        for name in CUPS:
            open_tournament(served, name, GAME)
        yield served
    finally:
        served.kill()
