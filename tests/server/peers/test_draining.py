"""How a host lets go of what it has, so that another one goes on with all of it: on a virtual clock."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.exits import Unavailable
from server.host.host import Host
from server.host.unwelcome import STOPPING
from server.http.head import told_of
from server.net.guard import MovedAway
from server.peers.leases import EVERY
from server.store.journal import Jot
from server.store.ledger import SOON
from tests.server.peers.several import One, Shared
from tests.tournament.world import play, silent
from tournament.entries import Entry
from tournament.events import AnyEvent
from tournament.events import Moved as Told
from tournament.facts import Opened
from tournament.match import Match
from tournament.player import Seat

pytestmark = pytest.mark.slow

GAME = "tic-tac-toe"
SQUARES = ("NW", "N", "NE", "W", "E", "SW")  # nobody has three in a row


class Full(Shared):
    """Hosts are registered there, and hold leases, and nothing more can be written when its disk is full."""

    full = False

    def write(self, host: int, rows: Sequence[Entry | Jot]) -> list[bytes]:
        if self.full:
            raise Unavailable("its disk is full")
        return super().write(host, rows)


@asynccontextmanager
async def two() -> AsyncIterator[tuple[Full, One, One]]:
    """The first holds a tournament in which two bots play, who can come back."""
    database = Full(trio.current_time)
    one, other = One(database), One(database)
    async with trio.open_nursery() as nursery:
        await one.run(nursery)
        await one.host.open("cup", Opened(GAME, "round-robin", 2))
        await other.run(nursery)
        for name in ("ann", "bob"):
            token = f"the token of {name}"
            visit = await one.host.arrive(name, GAME, tournament="cup", token=token, resumes=True)
            visit.acknowledge()
            nursery.start_soon(play, visit.player, silent)
        await trio.sleep(4 * SOON)
        yield database, one, other
        nursery.cancel_scope.cancel()
    for each in (one, other):
        assert not each.host.guard.caught, "something failed that nobody expected"


def the_match(host: Host) -> Match:
    (match,) = host.tournaments["cup"].matches.values()
    return match


def seats(host: Host) -> Sequence[Seat]:
    match = the_match(host)
    return [Seat(match, index, host.timekeeper) for index in range(2)]


def play_on(host: Host, count: int) -> list[str]:
    """Some moves, all in this moment; returns those of the match so far."""
    match, both = the_match(host), seats(host)
    for square in SQUARES[match.ply : match.ply + count]:
        both[match.position.turn].play(square)
    return [*match.moves]


async def test_another_host_goes_on_with_every_move_that_was_played_where_it_was_stopped(
    autojump_clock: MockClock,
) -> None:
    """Catches leases that are let go before the last moves are kept, which nobody may write then."""
    async with two() as (_, one, other):
        play_on(one.host, 2)
        await trio.sleep(2 * SOON)
        moves = play_on(one.host, 3)
        assert len(moves) == 5
        await one.host.stop()
        await one.peers.give_up()
        await other.keeping.renew()
        assert "cup" in other.keeping.leases.held, "in that very moment"
        await trio.sleep(4 * EVERY)
        assert the_match(other.host).interrupted
        assert the_match(other.host).moves == moves


async def test_no_move_is_taken_or_told_once_a_host_has_stopped(autojump_clock: MockClock) -> None:
    """Catches a bot that is told of a move after the last were kept, and finds that it was not."""
    told: list[AnyEvent] = []
    async with two() as (_, one, other):
        moves, both = play_on(one.host, 2), seats(one.host)
        both[1].follow(told.append, len(the_match(one.host).log.events))
        await one.host.stop()
        with pytest.raises(MovedAway, match=STOPPING) as late:
            both[the_match(one.host).position.turn].play(SQUARES[2])
        assert told_of(late.value).status == 503, "who asks again is led to whoever goes on"
        await one.peers.give_up()
        await trio.sleep(4 * EVERY)
        assert the_match(one.host).moves == the_match(other.host).moves == moves
        assert not [event for event in told if isinstance(event, Told)]


@pytest.mark.parametrize("known", [False, True], ids=["nobody knows yet", "the clocks stand already"])
async def test_what_cannot_be_kept_is_not_let_go(autojump_clock: MockClock, known: bool) -> None:
    """Catches a match that others go on with without its last moves, which may be written a little later.

    It is left to whoever stops the host how long that waits.
    """
    async with two() as (database, one, other):
        moves, database.full = play_on(one.host, 2), True
        if known:
            await trio.sleep(2 * SOON)
        assert bool(one.ledger.trouble) is known
        await one.host.stop()
        with capture_logs(), trio.move_on_after(1.0):
            if known:
                with pytest.raises(Unavailable, match="its disk is full"):
                    await one.peers.give_up()
            else:
                with suppress(Unavailable):  # somebody else may have noticed it meanwhile
                    await one.peers.give_up()
        assert database.leases["cup"].host == one.keeping.leases.host
        database.full = False
        one.ledger.try_again()
        await trio.sleep(SOON)
        await one.peers.give_up()
        await trio.sleep(4 * EVERY)
        assert the_match(other.host).moves == moves


async def test_a_host_that_ends_has_said_so_however_soon_it_ends(autojump_clock: MockClock) -> None:
    """Catches a host that was stopped in order, and that others call dead for an hour."""
    async with two() as (database, one, other):
        begun = trio.current_time()
        await other.host.stop()
        await other.peers.give_up()
        assert trio.current_time() == begun
        rows = [database.hosts[each.keeping.leases.host] for each in (one, other)]
        assert [row.draining for row in rows] == [False, True]
        assert not rows[1].starting, "it ends"


async def test_a_host_that_is_ready_is_known_to_take_over(autojump_clock: MockClock) -> None:
    """Catches one that is listed as if it drained, until its next heartbeat."""
    database = Shared(trio.current_time)
    one = One(database)
    async with trio.open_nursery() as nursery:
        await one.run(nursery)
        row = database.hosts[one.keeping.leases.host]
        assert row.draining, "it takes nothing over while it starts"
        assert row.starting, "and others know that it does not end"
        await one.peers.say_whether_willing()
        assert not row.draining
        assert not row.starting
        nursery.cancel_scope.cancel()
