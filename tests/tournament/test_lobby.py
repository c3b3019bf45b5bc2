"""Who is here, and who is dealt a seat."""

import gc
from functools import partial

import pytest
import structlog
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.steps import steps_taken
from tournament.events import Ending
from tournament.free import Free
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.player import NOWHERE, Player, Seat, Taker
from tournament.timekeeper import Timekeeper


def seat(index: int = 0) -> Seat:
    played = Match(catalogue()["connect-4"], ("ann", "bob"), trio.current_time())
    return Seat(played, index, Timekeeper())


def test_players_are_known_by_game_and_name() -> None:
    lobby = Lobby()
    ann = lobby.enter("ann", "connect-4")
    assert lobby.find("ann", "connect-4") is ann
    assert lobby.find("ann", "quoridor") is None
    assert lobby.find("bob", "connect-4") is None
    assert list(lobby.players("connect-4")) == [ann]


def anybody(player: Player) -> bool:
    return True


@pytest.mark.parametrize("choosy", [True, False])
@pytest.mark.parametrize("in_rounds", [True, False])
def test_who_is_free_at_a_table_is_found_as_soon_however_many_wait_elsewhere(
    in_rounds: bool, choosy: bool
) -> None:
    """Catches a table that looks, after each of its matches, at all who wait for a tournament or a ladder."""

    def effort(count: int) -> int:
        lobby = Lobby()
        lobby.listen(lambda player: None, "cup", in_rounds=in_rounds)
        for number in range(count):
            lobby.enter(f"bot-{number}", "connect-4", NOWHERE).move_to("cup")
        ann = lobby.enter("ann", "connect-4", "table")
        at_the_table = partial(lobby.idle, "connect-4", "table", anybody, choosy=choosy)
        assert at_the_table() == [ann]
        return steps_taken(at_the_table)

    assert effort(500) == effort(5)


def test_who_goes_from_a_tournament_to_a_table_is_free_there() -> None:
    lobby = Lobby()
    stop = lobby.listen(lambda player: None, "cup", in_rounds=True)
    ann, bob = (lobby.enter(name, "connect-4", "cup") for name in ("ann", "bob"))
    ann.move_to("table")
    assert lobby.idle("connect-4", "table", anybody, choosy=True) == [ann]
    stop()
    bob.move_to("table")
    assert lobby.idle("connect-4", "table", anybody, choosy=True) == [ann, bob]


def test_who_goes_from_one_table_to_another_is_free_at_the_other_alone() -> None:
    lobby = Lobby()
    ann, bob = (lobby.enter(name, "connect-4", "table") for name in ("ann", "bob"))
    ann.move_to("ladder")
    assert lobby.idle("connect-4", "table", anybody, choosy=True) == [bob]
    assert lobby.idle("connect-4", "ladder", anybody, choosy=True) == [ann]
    ann.retire()
    assert lobby.idle("connect-4", "ladder", anybody, choosy=True) == []


def test_who_has_to_rest_is_free_at_no_table_before_it_has_or_goes_elsewhere() -> None:
    lobby = Lobby()
    ann, bob = (lobby.enter(name, "connect-4", "open") for name in ("ann", "bob"))
    for player in (ann, bob):
        player.set_rested(False)
    assert lobby.idle("connect-4", "open", anybody, choosy=False) == []
    ann.set_rested(True)
    bob.move_to("cup")
    assert lobby.idle("connect-4", "open", anybody, choosy=False) == [ann]
    assert bob.idle


def test_nothing_is_remembered_of_a_place_that_everybody_has_left() -> None:
    lobby = Lobby()
    ann = lobby.enter("ann", "connect-4", "ladder-0")
    before = queues()
    for number in range(1, 100):
        ann.move_to(f"ladder-{number}")
    assert queues() == before


def test_who_is_at_a_place_is_known_until_it_goes_elsewhere_or_for_good() -> None:
    lobby = Lobby()
    ann, bob, cas = (lobby.enter(name, "connect-4", "cup") for name in ("ann", "bob", "cas"))
    lobby.enter("dee", "quoridor", "cup")
    bob.move_to("table")
    ann.move_to("table")
    ann.away()
    assert [*lobby.there("connect-4", "cup")] == [cas]
    assert [*lobby.there("connect-4", "table")] == [bob, ann]
    bob.retire()
    bob.move_to("cup")
    assert [*lobby.there("connect-4", "cup")] == [cas]
    assert [*lobby.there("connect-4", "table")] == [ann]


def queues() -> int:
    """The queues of those who are free that there are, without those that other tests have left."""
    gc.collect()
    return sum(isinstance(each, Free) for each in gc.get_objects())


def test_listeners_hear_of_coming_going_and_being_free() -> None:
    lobby, heard = Lobby(), list[tuple[str, bool]]()
    stop = lobby.listen(lambda player: heard.append((player.name, player.idle)))
    ann = lobby.enter("ann", "connect-4")
    ann.away()
    ann.back()
    ann.retire()
    assert heard == [("ann", True), ("ann", False), ("ann", True), ("ann", False)]
    stop()
    lobby.enter("bob", "connect-4")
    assert len(heard) == 4


def test_a_place_hears_of_whoever_is_there_or_anywhere_or_leaves_it_and_of_nobody_else() -> None:
    """Catches a tournament that does work for each bot of every other one."""
    lobby, heard = Lobby(), list[tuple[str, str]]()
    for place in ("cup", "cap"):
        lobby.listen(lambda player, place=place: heard.append((place, player.name)), place)
    ann = lobby.enter("ann", "connect-4")
    assert heard == [("cup", "ann"), ("cap", "ann")]
    heard.clear()
    ann.move_to("cup")  # until now it might have been the other's
    assert heard == [("cup", "ann"), ("cap", "ann")]
    heard.clear()
    ann.away()
    assert heard == [("cup", "ann")]
    heard.clear()
    ann.move_to("cap")
    assert sorted(heard) == [("cap", "ann"), ("cup", "ann")]
    heard.clear()
    ann.retire()
    lobby.enter("bob", "connect-4", NOWHERE)
    assert heard == [("cap", "ann")]


def test_whoever_has_retired_is_not_found_and_another_of_the_name_is() -> None:
    """Catches the cleanup of an old player that takes the new one of the same name with it."""
    lobby = Lobby()
    old = lobby.enter("ann", "connect-4")
    new = lobby.enter("ann", "connect-4")
    old.retire()
    old.retire()
    assert lobby.find("ann", "connect-4") is new
    new.retire()
    assert lobby.find("ann", "connect-4") is None
    assert list(lobby.players()) == []


async def test_the_free_one_of_two_under_one_name_is_found() -> None:
    lobby = Lobby()
    busy, free = lobby.enter("ann", "connect-4"), lobby.enter("ann", "connect-4")
    busy.deal(seat())
    assert lobby.find("ann", "connect-4") is free


async def test_a_player_is_told_of_its_seats_until_it_retires() -> None:
    player = Player("ann", "connect-4", lambda player, before: None)
    first, second = seat(), seat()
    dealt: list[Seat] = []

    async def play() -> None:
        dealt.extend([each async for each in player])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(play)
        player.deal(first)
        player.free()
        player.deal(second)
        player.free()
        await trio.testing.wait_all_tasks_blocked()
        player.retire()
    assert dealt == [first, second]


async def test_being_away_and_back_keeps_the_seat(autojump_clock: MockClock) -> None:
    player = Player("ann", "connect-4", lambda player, before: None)
    mine = seat()
    player.deal(mine)
    player.away()
    assert mine.match.deadline == trio.current_time() + 30.0
    await trio.sleep(29.0)
    player.back()
    await trio.sleep(30.0)
    mine.match.flag(trio.current_time())
    assert mine.match.verdict is None


async def test_retiring_loses_the_match_that_is_being_played() -> None:
    player = Player("ann", "connect-4", lambda player, before: None)
    mine = seat()
    player.deal(mine)
    player.retire()
    assert mine.match.result is not None
    assert (mine.match.result.winner, mine.match.result.ending) == (1, Ending.LEFT)


async def test_a_seat_dealt_to_somebody_who_has_just_gone_is_away_or_lost(autojump_clock: MockClock) -> None:
    away, gone = (Player(name, "connect-4", lambda player, before: None) for name in ("ann", "bob"))
    away.away()
    gone.retire()
    kept, lost = seat(), seat(1)
    away.deal(kept)
    gone.deal(lost)
    assert kept.match.deadline == trio.current_time() + 30.0
    assert lost.match.result is not None
    assert lost.match.result.winner == 0


async def test_a_player_with_a_seat_or_a_reservation_is_not_idle() -> None:
    player = Player("ann", "connect-4", lambda player, before: None)
    assert player.idle
    player.reserved = True
    assert not player.idle
    player.deal(seat())
    assert not player.idle
    player.free()
    assert player.idle


async def test_a_door_that_fails_costs_a_void_match_and_not_the_tournament() -> None:
    class Fails(Taker):
        def take_seat(self, seat: Seat) -> None:
            raise ZeroDivisionError

    player = Player("ann", "connect-4", lambda player, before: None)
    player.taker = Fails()
    mine = seat()
    with structlog.testing.capture_logs() as lines:
        player.deal(mine)
    assert mine.match.result is not None
    assert mine.match.result.ending is Ending.VOID
    assert player.retired
    assert len(lines) == 1
