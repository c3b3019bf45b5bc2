"""On Linux, one epoll for all sockets that are read.

Each time trio waits for a socket, it registers the socket with the kernel and
removes it again. Here a socket is registered once, level-triggered, with an epoll of
our own on which trio waits: waiting costs no system call, and whatever has arrived is
read in one sweep, one piece from each socket, so that none keeps the others waiting.
A sweep consists of rounds: read from some sockets, take what came, send. A system
call between two moves would make each of them slower. Other tasks have their turn
between rounds, every few milliseconds.
"""

import select
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import perf_counter, thread_time
from typing import Protocol

import trio

from server.net.parking import Parking

ROUND = 16  # sockets read before what was said meanwhile is sent: less than a millisecond
SWEEP = 256  # sockets looked at before messages that can wait are sent: some ten milliseconds
STEP = 0.003  # seconds of work after which other tasks get their turn, in the middle of a sweep …
WOKEN = 32  # … or tasks that it has woken: to end that of a bot that hangs up takes a tenth of a millisecond
TAKEN = 1.0  # seconds in which what was read is taken, unless whoever is to take it waits for something else


class Watched(Protocol):
    """What has a socket that is read here."""

    arrived: float  # when the bytes that were read last arrived, on trio's clock

    def read(self, now: float) -> None:
        """Read what the kernel has, without taking it."""
        ...

    def hand_on(self) -> None:
        """Take what was read, or wake the task that does."""
        ...

    def on_its_way(self, by: float) -> bool:
        """Whether something that was read by that time has yet to be taken."""
        ...

    def abandon(self) -> None:
        """Hang up, and wake nobody."""
        ...


class Readiness:
    """Which sockets have something to read: wakes the tasks that wait for it, or reads for them."""

    def __init__(self) -> None:
        self.sweeping = False
        self.gathering = False  # what is said is sent later
        self.woken = 0  # tasks, in this step of the sweep
        self.said: list[Callable[[], None]] = []  # sends what was said in this round of reading …
        self.mentioned: list[Callable[[], None]] = []  # … and what can wait until all have been read
        self.parking = Parking()
        self._left = SWEEP  # sockets still to be looked at in this sweep
        self._epoll = select.epoll()
        self._wires: dict[int, Watched] = {}
        self._given: dict[Watched, None] = {}  # whose tasks have been woken with what was read

    async def run(self) -> None:
        """Serve until cancelled; one such task runs as long as trio does."""
        with self._epoll:
            try:
                while True:
                    await trio.lowlevel.wait_readable(self._epoll.fileno())
                    while not self._sweep(perf_counter() + STEP, thread_time() + STEP, WOKEN):
                        await trio.lowlevel.checkpoint()
            finally:
                for wire in tuple(self._wires.values()):  # those that are parked have no task to do so
                    wire.abandon()

    def sweep(self) -> None:
        """Read every socket that has something to read, now.

        Also call it before deciding that a peer sent nothing: after a stall of the process, what
        came in time still lies in the socket.
        """
        if not self.sweeping:  # else this is called by code that was just handed bytes
            self._sweep(inf, inf, inf)

    def _sweep(self, earliest: float, until: float, most: float) -> bool:
        """Begin a sweep or go on with it, until `until` or with `most` woken; returns whether it is over.

        `until` is by the thread's own clock. Reading that is a system call, which is not made before
        `earliest`, by the other clock.
        """
        self.sweeping, self.gathering, self.woken, over = True, True, 0, True
        try:
            while self._left > 0 and (found := self._epoll.poll(0, ROUND)):  # also what came meanwhile
                self._left -= len(found)
                now = trio.current_time()
                wires = [wire for number, _ in found if (wire := self._wires.get(number)) is not None]
                for wire in wires:
                    wire.read(now)
                for wire in wires:
                    wire.hand_on()
                self.send()
                if self.woken >= most or (perf_counter() > earliest and thread_time() > until):
                    over = False
                    break
        finally:
            self.sweeping = self.gathering = False
            if over:
                self._left = SWEEP
                self.said += self.mentioned
                self.mentioned.clear()
            self.send()
        return over

    def on_its_way(self, by: float) -> bool:
        """Whether something that was read by that time has yet to be taken, by whoever has to decrypt it."""
        since = trio.current_time() - TAKEN
        return any(since <= wire.arrived and wire.on_its_way(by) for wire in self._given)

    def give(self, wire: Watched) -> None:
        """What was read from it is there for the task that it wakes …"""
        self._given[wire] = None

    def taken(self, wire: Watched) -> None:
        """… which has taken that, or never will."""
        self._given.pop(wire, None)

    def together(self) -> "Together":
        """A context: what is said in it is sent at its end, everything for one peer in one piece."""
        return Together(self)

    def first(self, flush: Callable[[], None]) -> bool:
        """Have this sent before all else that is said meanwhile; False: what is said is sent at once."""
        if self.gathering:
            self.said.insert(0, flush)
        return self.gathering

    def send(self) -> None:
        """Send what was said."""
        said, self.said = self.said, []
        for flush in said:
            flush()

    def watch(self, number: int, wire: Watched) -> None:
        if number not in self._wires:
            self._wires[number] = wire
            self._epoll.register(number, select.EPOLLIN)

    def forget(self, number: int) -> None:
        if self._wires.pop(number, None) is not None:
            with suppress(OSError, ValueError):  # the epoll went with the loop
                self._epoll.unregister(number)


class Together:
    """While it is entered, nothing is sent. One within another changes nothing."""

    __slots__ = ("_mentioned", "_readiness")

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        self._mentioned: list[Callable[[], None]] | None = None  # from before; None: within another one

    def __enter__(self) -> None:
        readiness = self._readiness
        if not readiness.gathering:
            self._mentioned, readiness.mentioned = readiness.mentioned, []
            readiness.gathering = True

    def __exit__(self, *_: object) -> None:
        readiness = self._readiness
        if self._mentioned is not None:
            readiness.gathering = False
            readiness.said += readiness.mentioned
            readiness.mentioned = self._mentioned
            readiness.send()


_of_this_run: trio.lowlevel.RunVar[Readiness | None] = trio.lowlevel.RunVar("readiness")


def readiness() -> Readiness | None:
    """The `Readiness` of this event loop; None where the system has no epoll."""
    try:
        return _of_this_run.get()
    except LookupError:
        found = Readiness() if hasattr(select, "epoll") else None
        _of_this_run.set(found)
        if found is not None:
            trio.lowlevel.spawn_system_task(found.run)
        return found
