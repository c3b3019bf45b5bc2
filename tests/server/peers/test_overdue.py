"""Renewing in place of an event loop that is busy: when that is done, and that the loop need do nothing."""

import threading

import trio
import trio.testing

from server.exits import Unavailable
from server.peers.leases import EVERY, LENGTH, SHORT, Granted, Lease, Leases
from server.peers.overdue import HANGS, LATE, Overdue
from tests.hang import HANG

US = 7
FOR_THE_DATABASE = 0.3  # seconds at least between a request that is overdue and the end of a lease


class Clocked:
    """Leases that were granted at 0, and a database that may not answer."""

    def __init__(self) -> None:
        self.now = 0.0
        self.away = False
        self.changes = 1
        self.asked: list[float] = []
        self.leases = Leases()
        self.leases.host, self.leases.asked = US, 0.0
        self.leases.granted(0.0, Granted(1, (), {"cup": Lease(US, 1)}))
        self.overdue = Overdue(self.leases, self.hold, lambda: self.now)

    def hold(self, host: int) -> int:
        assert host == US
        self.asked.append(self.now)
        if self.away:
            raise Unavailable("it does not answer")
        return self.changes

    def until(self, end: float) -> None:
        """Let time pass as the thread does."""
        while self.now < end:
            self.now += self.overdue.step()


def test_an_event_loop_that_is_in_time_is_left_alone() -> None:
    clocked = Clocked()
    for number in range(20):
        clocked.leases.asked = number * EVERY
        clocked.until(clocked.leases.asked + EVERY)
    assert clocked.asked == []


def test_a_host_is_sure_of_what_it_holds_for_as_long_as_its_event_loop_is_busy() -> None:
    """Catches a host that ends, with all that it holds, because strangers flood it."""
    clocked = Clocked()
    while clocked.now < HANGS:
        assert clocked.leases.until - clocked.now > FOR_THE_DATABASE
        clocked.until(clocked.now + EVERY)
    assert clocked.leases.held == {"cup": 1}


def test_what_an_event_loop_holds_that_hangs_lapses() -> None:
    clocked = Clocked()
    clocked.until(HANGS + LENGTH)
    assert max(clocked.asked) < HANGS
    assert not clocked.leases.sure(clocked.now)


def test_a_host_is_no_surer_after_leases_have_changed_hands() -> None:
    """They may be its own: the event loop has to hear of that first."""
    clocked = Clocked()
    clocked.changes = 2
    clocked.until(LENGTH)
    assert clocked.asked
    assert clocked.leases.until == SHORT * LENGTH
    clocked.leases.granted(LENGTH, Granted(2, (), {}))
    clocked.until(2 * LENGTH)
    assert clocked.leases.sure(clocked.now)
    assert clocked.leases.held == {}


def test_a_database_that_is_away_is_asked_again() -> None:
    clocked = Clocked()
    clocked.away = True
    clocked.until(2 * LENGTH)
    assert not clocked.leases.sure(clocked.now)
    clocked.away = False
    clocked.until(clocked.now + LATE + EVERY)
    assert clocked.leases.sure(clocked.now)


async def test_it_renews_while_the_event_loop_does_nothing_else() -> None:
    held, leases = threading.Event(), Leases()
    now = iter((0.0, 2 * EVERY))

    def hold(host: int) -> int:
        held.set()
        return leases.changes

    leases.asked = 0.0
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Overdue(leases, hold, lambda: next(now, 0.0)).run)
            await trio.testing.wait_all_tasks_blocked()
            assert held.wait(HANG)
            nursery.cancel_scope.cancel()
    assert leases.until == 2 * EVERY + SHORT * LENGTH
