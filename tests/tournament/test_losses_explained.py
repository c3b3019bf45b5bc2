"""What a tournament keeps about the end of a match: causes, faults and times by the wall clock."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from games.game import Illegal
from tests.tournament.world import World, first, play, silent, table, world
from tournament import causes, entries
from tournament.events import HOST_FAILED, AnyEvent, Ending, Fault
from tournament.facts import (
    AnyFact,
    CheckedIn,
    Claimed,
    Concluded,
    Entered,
    Kept,
    Opened,
    Seated,
    State,
    Turned,
)
from tournament.player import Seat
from tournament.store import Memory

EPOCH = 1_760_000_000.0


def in_2025() -> float:
    """A wall clock that does not stand at the beginning of 1970."""
    return EPOCH + trio.current_time()


async def refused_and_silent(seat: Seat) -> None:
    """Forfeits no match by a move, as these may be tried again, and then says nothing."""
    async for _ in seat.match.log.read():
        if seat.to_move and not any(isinstance(cause, causes.Refused) for cause in seat.match.cause):
            with pytest.raises(Illegal):
                seat.play("e99")


async def test_a_result_has_its_times_and_causes_by_the_wall_clock(autojump_clock: MockClock) -> None:
    async with table("connect-4", wall=in_2025) as (here, nursery):
        for name, behave in (("ann", refused_and_silent), ("bob", silent)):
            player = here.come(name)
            await here.tournament.enter(name)
            nursery.start_soon(play, player, behave)
        await trio.sleep(1.0)
        began = next(iter(here.tournament.matches.values())).log.events[0].at
        await trio.sleep(60.5)
        fact = here.concluded()[0]
    refused, late = fact.cause
    assert (fact.ending, fact.fault) == (Ending.TIME, Fault.BOT)
    assert (fact.began, refused.at) == (EPOCH + began, EPOCH + began)
    assert fact.ended == late.at == pytest.approx(EPOCH + began + 60.0, abs=0.01)


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (Seated("bob", "tcp", "192.0.2.1"), "bob was here before, and did not come back"),
        (Claimed("bob", "00"), "bob was here before, and did not come back"),
        (CheckedIn("bob"), "bob did not come"),  # an organiser may say so of somebody who is not here
        (Claimed("bob", "00", invited=True), "bob did not come"),
    ],
)
async def test_whoever_was_here_before_the_host_was_started_again_was_here(
    known: AnyFact, why: str, autojump_clock: MockClock
) -> None:
    opened = Opened("tic-tac-toe", "round-robin", 2, absent="settle")
    happened = (opened, Entered("ann"), Entered("bob"), known, Turned(State.RUNNING))
    here = World(opened, Memory(Kept("cup", 0.0, fact) for fact in happened))
    here.come("ann")
    with trio.fail_after(1000.0):
        await here.tournament.run()
    *_, fact = here.concluded()
    assert (fact.winner is not None, fact.why) == (True, why)


async def test_whoever_goes_before_its_first_match_was_here(autojump_clock: MockClock) -> None:
    """Even where the host knows of no token of it."""
    async with world(dict.fromkeys(("ann", "bob", "cas"), first)) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        (waiting,) = (player for player in here.lobby.players() if player.seat is None)
        waiting.retire()
        await here.tournament.finished()
    lost = {fact.why for fact in here.concluded() if fact.ending is Ending.LEFT}
    assert lost == {f"{waiting.name} was here before, and did not come back"}


async def test_whoever_never_comes_is_told_how_long_it_was_waited_for(autojump_clock: MockClock) -> None:
    async with world({"ann": first, "bob": first}) as here:
        for player in here.lobby.players():
            if player.name == "bob":
                player.away()
        await here.tournament.run()
    *_, fact = here.concluded()
    assert (fact.winner, fact.ending, fact.why, fact.fault) == (0, Ending.LEFT, "bob did not come", Fault.BOT)
    (absent,) = fact.cause
    assert isinstance(absent, causes.Absent)
    assert (absent.seat, absent.seconds) == (1, pytest.approx(30.0, abs=0.1))
    assert absent.at == fact.ended


async def test_a_match_whose_player_cannot_be_told_of_it_is_void_and_played_again(
    autojump_clock: MockClock,
) -> None:
    failures: list[str] = []

    async def fails_once(seat: Seat) -> None:
        def tell(event: AnyEvent) -> None:
            if not failures:
                failures.append(seat.match.name)
                raise RuntimeError("a fault of ours")

        seat.follow(tell)
        await first(seat)

    async with world({"ann": fails_once, "bob": first}) as here:
        await here.tournament.run()
    void, again = here.concluded()
    assert (void.match, void.ending, void.why, void.fault) == ("cup-1", Ending.VOID, HOST_FAILED, Fault.HOST)
    assert (again.match, again.ending, again.fault) == ("cup-1.2", Ending.PLAYED, None)


async def test_a_game_that_fails_costs_nobody_the_match(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world({"ann": silent, "bob": silent}) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        (match,) = here.tournament.matches.values()
        seat = next(player.seat for player in here.lobby.players() if player.name == "ann")
        assert seat is not None

        def fail(*_: Any) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(type(match), "play", fail)
        failures: list[Exception] = []
        match.log.report = failures.append
        seat.play("C")
        assert [type(failure) for failure in failures] == [ZeroDivisionError]
        await trio.sleep(0.1)
        nursery.cancel_scope.cancel()
    assert [(fact.ending, fact.fault) for fact in here.concluded()] == [(Ending.VOID, Fault.HOST)]


async def test_whoever_wants_no_more_matches_is_dealt_none_and_holds_nobody_up(
    autojump_clock: MockClock,
) -> None:
    async with world(dict.fromkeys(("ann", "bob", "cas"), first)) as here:
        for player in here.lobby.players():
            if player.name == "ann":
                player.matches_left = 1
        with trio.fail_after(1000.0):
            await here.tournament.run()
    mine = [fact for fact in here.concluded() if "ann" in fact.players]
    assert [fact.ending for fact in mine] == [Ending.PLAYED, Ending.LEFT]
    assert mine[1].why == "ann wanted no more matches"


@pytest.mark.parametrize("retires", [True, False])
@pytest.mark.parametrize("moved", [0, 1])
async def test_leaving_an_open_table_before_ones_own_first_move_costs_nothing(
    moved: int, retires: bool, autojump_clock: MockClock
) -> None:
    """For whoever is second, too, when its opponent has moved."""
    async with table("connect-4", early_grace=5.0) as (here, _):
        ann, bob = await _seated(here)
        if moved:
            ann.play(3)
        leaver = here.lobby.find("bob" if moved else "ann", "connect-4")
        assert leaver is not None
        if retires:
            leaver.retire()
        else:
            leaver.away()
        await trio.sleep(6.0)
        (fact,) = here.concluded()
    assert (fact.winner, fact.ending, fact.score) == (None, Ending.VOID, None)
    assert fact.why == f"{leaver.name} left before both had moved"
    assert fact.fault is (Fault.BOT if retires else Fault.NETWORK)
    assert bob.match is ann.match


async def _seated(here: World) -> tuple[Seat, Seat]:
    for name in ("ann", "bob"):
        here.come(name)
        await here.tournament.enter(name)
    await trio.sleep(0.1)
    seats = [player.seat for player in here.lobby.players()]
    first, second = sorted((seat for seat in seats if seat is not None), key=lambda seat: seat.index)
    return first, second


def test_a_fact_that_knows_no_more_than_ever_is_written_as_ever() -> None:
    """Journals of older versions, and hashes of them, stay as they are."""
    fact = Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.LEFT, "bob left the match", (1.0, 0.0))
    assert entries.body(fact) == (
        '{"type":"concluded","match":"cup-1","pairing":1,"players":["ann","bob"],"winner":0,"ending":"left",'
        '"why":"bob left the match","score":[1.0,0.0],"moves":[],"times":[],"options":null}'
    )
    assert entries.fact(entries.body(fact)) == fact


@pytest.mark.parametrize("paused", [False, True])
async def test_somebody_absent_was_waited_for_only_while_the_tournament_went_on(
    autojump_clock: MockClock, *, paused: bool
) -> None:
    """It was known as missing long before, because somebody had looked who was."""
    here = World(Opened("tic-tac-toe", "round-robin", by_invitation=True))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        for name in ("ann", "bob"):
            await here.desk.enter(name)
        nursery.start_soon(play, here.come("bob"), first)
        await trio.sleep(1.0)
        if paused:
            await here.desk.start()
            await trio.sleep(1.0)
            await here.desk.pause()
        assert [each.name for each in here.tournament.missing()] == ["ann"]
        await trio.sleep(1000.0)
        await (here.desk.resume() if paused else here.desk.start())
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    ((absent,),) = [each.cause for each in here.concluded()]
    assert isinstance(absent, causes.Absent)
    assert absent.seconds == 30.0
