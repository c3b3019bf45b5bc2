"""What show is told when it is started, and the clock that it shares with play.

Both processes count the same seconds from the same instant. So a deadline, or when a match ended,
is the same figure in both, and needs no translation.
"""

from time import perf_counter

import msgspec
import trio
from msgspec import Struct

from server.config import Settings
from server.pages.addresses import Addresses
from server.show.feed import framed

READY = b"+"  # said once, when show can answer …
DAMAGED = b"!"  # … or that it never will, for a reason that follows


class ShowSettings(Struct, frozen=True):
    settings: Settings
    addresses: Addresses
    token: str  # the organiser's: with it, frozen standings can be seen as they are
    door_at_root: bool
    host: int  # the number of this host among those that share the database; 0: the database is not shared
    address: str  # at which the other hosts reach this one
    zero: float  # what play's clock says when `perf_counter` is 0

    def packed(self) -> bytes:
        return framed(msgspec.msgpack.encode(self))


def unpacked(content: bytes) -> ShowSettings:
    return msgspec.msgpack.decode(content, type=ShowSettings)


def zero() -> float:
    """The zero of this event loop's clock."""
    return trio.current_time() - perf_counter()


class SameClock(trio.abc.Clock):
    """The clock of another event loop on this machine."""

    def __init__(self, zero: float) -> None:
        self._zero = zero

    def start_clock(self) -> None:
        """Do nothing: it runs already."""

    def current_time(self) -> float:
        return self._zero + perf_counter()

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - self.current_time()
