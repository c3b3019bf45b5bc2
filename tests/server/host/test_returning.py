"""Which door is told of a seat that is awaited after a restart, and when."""

from math import inf

from games.tictactoe import GAME
from server.host.returning import Awaited, Returning, way_back
from tournament.match import Match
from tournament.player import Player, Seat
from tournament.timekeeper import Timekeeper


def awaited(name: str) -> tuple[Seat, Player]:
    match = Match(GAME, (name, "somebody"), 0.0)
    return Seat(match, 0, Timekeeper(inf)), Player(name, GAME.name, lambda player, before: None)


def test_a_door_is_told_in_its_own_words_of_those_that_are_awaited_there() -> None:
    returning, found = Returning(), list[Awaited]()
    ann, bob, cas = map(awaited, ("ann", "bob", "cas"))
    returning.tell(*ann, way_back("arena", "the words of ann"))
    returning.tell(*bob, way_back("hexagon-dots", "others"))
    returning.listen("arena", found.append)
    assert found == [Awaited(*ann, "the words of ann")]
    returning.tell(*cas, way_back("arena", "cas"))
    assert found[1:] == [Awaited(*cas, "cas")]


def test_a_door_that_opens_late_hears_nothing_of_matches_that_are_over() -> None:
    returning, found = Returning(), list[Awaited]()
    seat, player = awaited("ann")
    returning.tell(seat, player, way_back("arena", "ann"))
    seat.match.fail(1.0)
    returning.listen("arena", found.append)
    assert not found
