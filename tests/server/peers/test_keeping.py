"""Renewing, on a virtual clock: when a host is sure, and what it is told."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.exits import Unavailable
from server.peers.keeping import WAITS, LeaseKeeper
from server.peers.leases import AFTER, EVERY, LENGTH, SHORT, SOON, Card, Change, Granted, Lease, Peer
from tests.simulation.cluster.database import Database

CARD = Card("127.0.0.1:1", "aa", "", "0")


class Registry:
    """A database with one tournament, which this host holds; or it does not answer."""

    def __init__(self) -> None:
        self.away = False
        self.busy = 0  # times that it answers too late when a host comes
        self.leases = {"cup": Lease(7, 1)}
        self.changes = 1
        self.peers: tuple[Peer, ...] = ()
        self.asked: list[float] = []
        self.willing: list[bool] = []
        self.patient: list[bool] = []

    def register(self, card: Card) -> int:
        if self.busy:
            self.busy -= 1
            raise Unavailable("canceling statement due to statement timeout")
        return 7

    def renew(
        self, host: int, changes: int, *, willing: bool, starting: bool = False, patient: bool = False
    ) -> Granted:
        self.asked.append(trio.current_time())
        self.willing.append(willing)
        self.patient.append(patient)
        if self.away:
            raise Unavailable("it does not answer")
        return Granted(self.changes, self.peers, None if changes == self.changes else dict(self.leases))

    def open(self, host: int, tournament: str) -> int | None:
        if self.away:
            raise Unavailable("it does not answer")
        return None if tournament in self.leases else 5

    def release(self, host: int, tournaments: Sequence[str]) -> None:
        self.leases.update(dict.fromkeys(tournaments, Lease(None, 1)))

    def remove(self, host: int, tournament: str) -> None:
        del self.leases[tournament]


async def here(call: Callable[[], Any], *, limiter: trio.CapacityLimiter) -> Any:
    await trio.lowlevel.checkpoint()
    return call()


def keeping(registry: Registry) -> tuple[LeaseKeeper, list[tuple[float, bool | Change]]]:
    """And what it tells, with the times."""
    found = LeaseKeeper(registry, here, now=trio.current_time, sleep=trio.sleep)
    told: list[tuple[float, bool | Change]] = []
    found.changed = lambda change: told.append((trio.current_time(), change))
    found.wavered = lambda sure: told.append((trio.current_time(), sure))
    return found, told


@asynccontextmanager
async def renewing(kept: LeaseKeeper) -> AsyncGenerator[None]:
    """A host that has registered, and renews its leases meanwhile."""
    async with trio.open_nursery() as nursery:
        await kept.register(CARD)
        await nursery.start(kept.run)
        yield
        nursery.cancel_scope.cancel()


async def test_a_database_that_is_busy_when_a_host_starts_is_asked_again(autojump_clock: MockClock) -> None:
    """Catches a host that ends at its start because others have just restarted the database."""
    registry = Registry()
    kept, _ = keeping(registry)
    registry.busy = len(WAITS)
    began = trio.current_time()
    assert await kept.register(CARD) == 7
    assert kept.leases.host == 7
    assert trio.current_time() - began == pytest.approx(sum(WAITS))


async def test_a_database_that_does_not_answer_is_not_asked_for_ever(autojump_clock: MockClock) -> None:
    registry = Registry()
    kept, _ = keeping(registry)
    registry.busy = 100
    with pytest.raises(Unavailable, match="statement timeout"):
        await kept.register(CARD)
    assert registry.busy == 100 - len(WAITS) - 1


async def test_why_leases_cannot_be_renewed_is_logged_once_until_they_are(
    autojump_clock: MockClock,
) -> None:
    registry = Registry()
    kept, _ = keeping(registry)
    with capture_logs() as logged:
        async with renewing(kept):
            for away in (True, False, True):
                registry.away = away
                await trio.sleep(10.1 * EVERY)
    assert [each["why"] for each in logged if each["event"] == "leases cannot be renewed"] == [
        "it does not answer",
        "it does not answer",
    ]


async def test_leases_are_renewed_four_times_a_second(autojump_clock: MockClock) -> None:
    registry = Registry()
    kept, _ = keeping(registry)
    async with renewing(kept):
        await trio.sleep(10.1 * EVERY)
    assert len(registry.asked) == 11
    assert kept.leases.asked == registry.asked[-1], "by which another thread sees that this one goes on"


async def test_a_host_that_hears_nothing_stops_before_its_leases_lapse_and_goes_on_when_it_hears(
    autojump_clock: MockClock,
) -> None:
    registry = Registry()
    kept, told = keeping(registry)
    async with renewing(kept):
        registry.away = True
        await trio.sleep(3.0)
        registry.away = False
        await trio.sleep(1.0)
    (_, gained), (sure_at, sure), (unsure_at, unsure), (again_at, again) = told
    assert gained == Change(gained=("cup",))
    assert (sure, unsure, again) == (True, False, True)
    assert unsure_at - sure_at == SHORT * LENGTH < LENGTH
    assert 3.0 <= again_at - sure_at <= 3.0 + EVERY


async def test_a_host_takes_from_silent_ones_only_when_it_has_heard_the_database_for_as_long_as_leases_last(
    autojump_clock: MockClock,
) -> None:
    """Catches a database that comes back to one host first, which then takes all from the others."""
    registry = Registry()
    kept, _ = keeping(registry)
    async with renewing(kept):
        await trio.sleep(3.0)
        registry.away = True
        await trio.sleep(1.5 * EVERY)
        registry.away = False
        back = trio.current_time()
        await trio.sleep(3.0)
    impatient = [at for at, patient in zip(registry.asked, registry.patient, strict=True) if not patient]
    assert LENGTH < impatient[0] < LENGTH + 2 * EVERY, "a host that has just come is patient as well"
    after = [at for at in impatient if at > back]
    assert back + LENGTH < after[0] < back + LENGTH + 3 * EVERY


async def test_what_another_host_took_meanwhile_is_told_as_lost_before_the_host_is_sure_again(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that goes on for a moment with what is another's."""
    registry = Registry()
    kept, told = keeping(registry)
    async with renewing(kept):
        registry.away = True
        await trio.sleep(3.0)
        registry.away, registry.leases, registry.changes = False, {"cup": Lease(8, 2)}, 2
        await trio.sleep(1.0)
    assert [what for _, what in told[-2:]] == [Change(lost=("cup",)), True]


async def test_a_tournament_that_is_new_is_held_at_once_and_one_that_is_there_is_not(
    autojump_clock: MockClock,
) -> None:
    kept, _ = keeping(Registry())
    await kept.register(CARD)
    assert not await kept.open("cup")
    assert await kept.open("league")
    assert kept.leases.epoch("league") == 5
    kept.leases.gone("league")
    assert kept.leases.epoch("league") < 0


@pytest.mark.parametrize("hundredths", range(0, 25, 4))
async def test_what_a_dead_host_held_is_taken_over_in_the_moment_in_which_its_leases_lapse(
    autojump_clock: MockClock, hundredths: int
) -> None:
    """Whenever it dies between two renewals. Catches a host that waits for its own next one."""
    database, end = Database(trio.current_time), trio.CancelScope()

    async def die(kept: LeaseKeeper) -> None:
        with end:
            await kept.run()

    async with trio.open_nursery() as nursery:
        hosts = [LeaseKeeper(database, here, now=trio.current_time, sleep=trio.sleep) for _ in range(3)]
        for kept in hosts:
            await kept.register(CARD)
            kept.willing = True
        nursery.start_soon(die, hosts[0])
        for kept in hosts[1:]:
            await trio.sleep(0.07)
            nursery.start_soon(kept.run)
        for number in range(9):
            await hosts[0].open(f"cup-{number}")
        await trio.sleep(2 + hundredths / 100)
        end.cancel()
        lapse = database.hosts[hosts[0].leases.host].expiry
        await trio.sleep(2.0)
        nursery.cancel_scope.cancel()
    assert len(database.taken) == 9
    assert lapse < database.taken[0] <= lapse + 2 * AFTER
    assert database.taken[-1] <= lapse + 2 * (AFTER + SOON)


async def test_a_host_is_sure_however_many_tournaments_are_opened_at_once(autojump_clock: MockClock) -> None:
    """Catches renewals that wait for all requests before them, until other hosts take over."""
    round_trip = 0.1  # seconds

    async def far(call: Callable[[], Any], *, limiter: trio.CapacityLimiter) -> Any:
        await trio.sleep(round_trip)
        return call()

    registry, told = Registry(), list[bool]()
    kept = LeaseKeeper(registry, far, now=trio.current_time, sleep=trio.sleep)
    kept.wavered = told.append
    async with renewing(kept):
        async with trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(kept.open, f"league-{number}")
        assert len(registry.asked) >= 100 * round_trip / (EVERY + 2 * round_trip)
    assert told == [True]
