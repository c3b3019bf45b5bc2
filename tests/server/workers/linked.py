"""A worker, as worker 0 knows it, whose process is the test."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import pytest
from msgspec import Struct

from server.show.conduit import Conduit
from server.workers.messages import FromWorker, OfWorker, ToWorker
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
