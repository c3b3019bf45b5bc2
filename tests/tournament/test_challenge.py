"""Two who are agreed: the match that they asked for, at a table without an end."""

import pytest
import trio
from trio.testing import MockClock

from tests.tournament.world import World, first, play, silent, table
from tournament.facts import Concluded, Dealt
from tournament.folding import fold
from tournament.player import Player
from tournament.store import Memory

SMALL = {"rows": 3, "cols": 3}
GAME = "hexagon-dots"


async def come(here: World, *names: str) -> list[Player]:
    """Players whom the table deals nothing of its own."""
    for name in names:
        await here.tournament.enter(name)
    players = [here.come(name) for name in names]
    for player in players:
        player.reserved = True
    return players


async def test_two_who_are_agreed_play_on_the_board_and_the_sides_that_they_wanted(
    autojump_clock: MockClock,
) -> None:
    async with table(GAME) as (here, nursery):
        ann, bob, cas = await come(here, "ann", "bob", "cas")
        for player in (ann, bob, cas):
            nursery.start_soon(play, player, first)
        await trio.sleep(10.0)
        assert not here.tournament.matches, "who is reserved is dealt nothing"
        here.tournament.challenge(cas, bob, SMALL)
        await trio.sleep(1.0)
        (match,) = here.tournament.matches.values()
        assert (match.names, match.position.board.rows) == (("cas", "bob"), 3)
        await trio.sleep(60.0)
        (concluded,) = here.concluded()[:1]
        assert (concluded.players, concluded.options) == (("cas", "bob"), SMALL)
        assert here.tournament.record.options(concluded) == SMALL
        assert next(fact.options for fact in here.told if isinstance(fact, Dealt)) == SMALL


@pytest.mark.parametrize("tired", [0, 1])
async def test_two_of_whom_one_has_to_rest_play_when_it_has_and_others_do_not_wait(
    tired: int, autojump_clock: MockClock
) -> None:
    async with table(GAME) as (here, nursery):
        ann, bob, cas, dan = await come(here, "ann", "bob", "cas", "dan")
        for player in (ann, bob, cas, dan):
            nursery.start_soon(play, player, silent)
        (ann, bob)[tired].set_rested(False)
        here.tournament.challenge(ann, bob, SMALL)
        here.tournament.challenge(cas, dan, SMALL)
        await trio.sleep(1.0)
        assert [match.names for match in here.tournament.matches.values()] == [("cas", "dan")]
        (ann, bob)[tired].set_rested(True)
        await trio.sleep(1.0)
        assert [match.names for match in here.tournament.matches.values()] == [("cas", "dan"), ("ann", "bob")]


async def test_without_options_they_play_as_everybody_does(autojump_clock: MockClock) -> None:
    async with table(GAME) as (here, nursery):
        ann, bob = await come(here, "ann", "bob")
        for player in (ann, bob):
            nursery.start_soon(play, player, silent)
        here.tournament.challenge(bob, ann)
        await trio.sleep(6.0)
        concluded = here.concluded()[0]
        assert (concluded.players, concluded.options) == (("bob", "ann"), None)
        assert here.tournament.record.options(concluded) == {}


@pytest.mark.parametrize("seat", [0, 1])
async def test_whoever_wants_options_of_its_own_gets_them_whoever_it_meets(
    seat: int, autojump_clock: MockClock
) -> None:
    """And they are kept with the deal: a match that is cut short names the rules that its moves follow."""
    async with table(GAME) as (here, nursery):
        players = await come(here, "ann", "bob", "cas", "dan")
        players[seat].options = SMALL
        for player in players:
            nursery.start_soon(play, player, silent)
            player.free()
        await trio.sleep(1.0)
        boards = {match.names: match.options for match in here.tournament.matches.values()}
        assert boards == {("ann", "bob"): SMALL, ("cas", "dan"): {}}
    async with table(GAME, store=Memory(here.store.kept())) as (again, nursery):
        await trio.sleep(1.0)
        cut = {fact.players: fact.options for fact in again.tournament.record.matches.values()}
        assert cut == {("ann", "bob"): SMALL, ("cas", "dan"): None}


async def test_what_is_asked_for_goes_on_in_numbers_between_what_is_drawn(autojump_clock: MockClock) -> None:
    async with table(GAME) as (here, nursery):
        players = await come(here, "ann", "bob", "cas", "dan", "eve", "fay")
        for player in players:
            nursery.start_soon(play, player, silent)
        here.tournament.challenge(players[0], players[1], SMALL)
        for player in players[2:4]:
            player.free()
        here.tournament.challenge(players[4], players[5], SMALL)
        await trio.sleep(1.0)
        record = here.tournament.record
        assert list(record.drawn) == [1, 2, 3]
        assert {pairing.names for pairing in record.drawn.values()} == {
            ("ann", "bob"),
            ("cas", "dan"),
            ("eve", "fay"),
        }
        assert len(record.dealt) == 3
        assert fold(here.store.kept())["cup"].drawn == record.drawn


async def test_no_more_are_begun_than_may_be_played_at_once(autojump_clock: MockClock) -> None:
    async with table(GAME, at_once=1) as (here, nursery):
        players = await come(here, "ann", "bob", "cas", "dan")
        for player in players:
            nursery.start_soon(play, player, silent)
        here.tournament.challenge(players[0], players[1])
        here.tournament.challenge(players[2], players[3])
        await trio.sleep(4.0)
        assert [match.names for match in here.tournament.matches.values()] == [("ann", "bob")]
        for player in players[:2]:
            player.retire()
        await trio.sleep(2.0)
        assert [match.names for match in here.tournament.matches.values()] == [("cas", "dan")]


async def test_what_a_crash_cut_short_is_void_and_not_played_again(autojump_clock: MockClock) -> None:
    async with table(GAME) as (here, nursery):
        ann, bob = await come(here, "ann", "bob")
        for player in (ann, bob):
            nursery.start_soon(play, player, silent)
        here.tournament.challenge(ann, bob, SMALL)
        await trio.sleep(1.0)
    async with table(GAME, store=Memory(here.store.kept())) as (again, nursery):
        await trio.sleep(10.0)
        facts = [fact for fact in again.tournament.record.matches.values() if isinstance(fact, Concluded)]
        assert [(fact.players, fact.score) for fact in facts] == [(("ann", "bob"), None)]
        assert not again.tournament.record.open
