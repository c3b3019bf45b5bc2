"""What the host measures of itself."""

from collections.abc import Sized

import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from server.host.histogram import Histogram
from server.host.host import Host
from server.host.measures import EVERY, watch_lag
from server.net.readiness import readiness
from tests.server.host.test_host import come, running
from tournament.match import Match
from tournament.player import TIMED, Seat

GAME = catalogue()["santorini"]


async def test_the_lag_is_by_how_much_later_than_it_was_due_a_task_runs(mock_clock: MockClock) -> None:
    lag = Histogram()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_lag, lag)
        await trio.testing.wait_all_tasks_blocked()
        for stood_still in (0.0, 0.3):
            mock_clock.jump(EVERY + stood_still)  # somebody holds the loop up, and nothing runs meanwhile
            await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert lag.up_to()[0] == 1
    assert lag.up_to()[-1] == 2
    assert abs(lag.total - 0.3) < 1e-9


async def test_one_move_of_many_is_measured_until_what_is_said_about_it_is_sent(
    mock_clock: MockClock,
) -> None:
    host = Host()
    moves, now = host.measures.moves[GAME.name], trio.current_time()
    seats = seats_of(host, Match(GAME, ("ann", "bob"), now))
    mock_clock.jump(0.3)
    sockets = readiness()
    assert sockets is not None
    sockets.sweeping = True  # as while moves are read: what is said is sent a little later
    for _ in range(TIMED):
        play(seats, now)
    assert moves.up_to()[-1] == 0
    assert len(sockets.said) == 1
    mock_clock.jump(0.2)
    sockets.sweeping = False
    for send in sockets.said:
        send()
    sockets.said.clear()
    assert (moves.up_to()[-1], moves.total) == (1, 0.5)
    for _ in range(TIMED):
        play(seats, now)
    assert (moves.up_to()[-1], moves.total) == (2, 1.0), "from elsewhere it is sent at once"
    assert host.timekeeper.moves == 2 * TIMED


async def test_what_is_measured_takes_no_more_room_however_many_matches_there_were(
    autojump_clock: MockClock,
) -> None:
    """Nobody may ever ask for the figures."""

    def room() -> int:
        return sum(len(each) for each in vars(host.measures).values() if isinstance(each, Sized))

    async with running() as (host, nursery):
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await trio.sleep(10.0)
        before = room()
        await trio.sleep(100.0)
        assert sum(host.measures.over.values()) > 10
        assert room() == before


async def test_the_first_move_is_one_of_those_that_are_measured() -> None:
    host = Host()
    play(seats_of(host, Match(GAME, ("ann", "bob"), trio.current_time())), trio.current_time())
    assert host.measures.moves[GAME.name].up_to()[-1] == 1, "so that there is a figure after the first match"


def seats_of(host: Host, match: Match) -> list[Seat]:
    return [Seat(match, index, host.timekeeper) for index in (0, 1)]


def play(seats: list[Seat], at: float) -> None:
    """One more move of a match; of a new one, if that is over."""
    match = seats[0].match
    if match.verdict is not None:
        seats[:] = seats_of_another(seats, at)
        match = seats[0].match
    move = next(iter(match.position.moves()))
    seats[match.position.turn].play(match.game.write(move), at)


def seats_of_another(seats: list[Seat], at: float) -> list[Seat]:
    match = Match(GAME, ("ann", "bob"), at)
    return [Seat(match, index, seats[0]._timekeeper) for index in (0, 1)]
