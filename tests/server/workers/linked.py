"""A worker as worker 0 knows it, whose process is the test; and a worker for which the test is worker 0."""

import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Struct

from server.config import Settings
from server.pages.addresses import Addresses
from server.show.conduit import Conduit
from server.workers.__main__ import Working
from server.workers.messages import Begin, FromWorker, OfWorker, ToWorker
from server.workers.starting import conduit_pair
from server.workers.worker import Worker

only_on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on")


class Process:
    """The other end of the link."""

    def __init__(self, link: Conduit[ToWorker]) -> None:
        self._link = link

    def heard(self) -> list[Struct]:
        """What it was told since the last call. Descriptors that came with it are closed."""
        heard: list[Struct] = []

        def hear(message: ToWorker, descriptor: int | None) -> None:
            if descriptor is not None:
                os.close(descriptor)
            heard.append(message)

        self._link.hear_now(hear)
        return heard

    def say(self, message: OfWorker) -> None:
        """Say something, of which worker 0 knows when it next listens."""
        self._link.say(message)


@contextmanager
def linked(worker: Worker) -> Iterator[Process]:
    ours, theirs = conduit_pair()
    with ours, theirs:
        worker._conduit = Conduit(ours, FromWorker, inf)
        yield Process(Conduit[ToWorker](theirs, ToWorker, inf))


@contextmanager
def begun(
    folder: Path, trouble: str = "", alone: frozenset[str] = frozenset()
) -> Iterator[tuple[Working, Callable[[], list[FromWorker]]]]:
    """A worker's work, which nobody runs, and what returns all that it has said since the last call.

    It asks for as many open files as the system allows; the test goes on with what it had.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    ours, theirs = conduit_pair()
    with ours, theirs:
        begin = Begin(Settings(data=str(folder)), Addresses(), "", (), trouble, alone, None)
        reader = cast("Any", None)  # nothing is read
        link = Conduit[FromWorker](theirs, FromWorker, inf)

        def said() -> list[FromWorker]:
            heard: list[FromWorker] = []
            link.hear_now(lambda message, descriptor: heard.append(message))
            return heard

        yield Working(begin, reader, Conduit[ToWorker](ours, ToWorker, inf), theirs), said
    resource.setrlimit(resource.RLIMIT_NOFILE, files)
