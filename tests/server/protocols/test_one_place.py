"""One name in two tournaments of one game: whoever is here in one stays there until that is over."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from trio.testing import MockClock

from server.host.visits import REPLACED
from tests.server.protocols.lists import CUP, Fighter, answered, lists
from tests.server.protocols.room import Guest, Room, room
from tournament.desk import Desk
from tournament.facts import Opened, State, Turned

GAME = "tic-tac-toe"
TOKENS = {name: f"{name}-keeps-this-secret" for name in ("ann", "bob")}
NOT_BOTH = (
    "ann plays in monday over another connection, and a name plays a game in one place at a time:"
    " come under another name, or when monday is over"
)


@asynccontextmanager
async def week() -> AsyncIterator[Room]:
    async with room() as here:
        for name in ("monday", "friday"):
            await here.host.open(name, Opened(GAME, "round-robin", 2))
        yield here


async def hello(here: Room, name: str, tournament: str | None, **more: str) -> Guest:
    return await here.hello(name, tournament=tournament, token=TOKENS[name], **more)


async def heard(guest: Guest, *types: str) -> list[dict[str, object]]:
    return [
        {key: value for key, value in message.items() if key in ("type", "reason", "tournament")}
        for message in await guest.messages(*types)
    ]


@pytest.mark.parametrize("begun", [False, True])
async def test_whoever_is_here_in_a_tournament_is_not_taken_out_of_it_by_its_own_token(
    begun: bool, autojump_clock: MockClock
) -> None:
    async with week() as here:
        first = await hello(here, "ann", "monday")
        if begun:
            await hello(here, "bob", "monday")
        await first.messages()
        for other in ({"tournament": "friday"}, {"tournament": "open-tic-tac-toe"}):
            second = await hello(here, "ann", **other)
            assert await heard(second) == [{"type": "refused", "reason": NOT_BOTH}]
        assert await first.messages() == []
        assert not here.host.tournaments["friday"].record.entrants
        (player,) = here.host.lobby.named("ann", GAME)
        assert (player.place, player.present, player.seat is not None) == ("monday", True, begun)


async def test_whoever_is_here_stays_if_its_token_comes_for_a_tournament_that_is_not_there(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is thrown out by itself, for nothing."""
    async with week() as here:
        first = await hello(here, "ann", "open-tic-tac-toe")
        await first.messages()
        second = await hello(here, "ann", "sunday")
        ((refused,), told) = (await heard(second), await first.messages())
        assert refused["reason"] == "there is no tournament 'sunday' of tic-tac-toe that is not over"
        assert told == []
        (player,) = here.host.lobby.named("ann", GAME)
        assert (player.place, player.present) == ("open-tic-tac-toe", True)


async def test_whoever_names_a_tournament_that_it_cannot_play_in_is_told_why(
    autojump_clock: MockClock,
) -> None:
    """Catches an author who looks for a slip in the name, and came a day late or plays another game."""
    async with week() as here:
        await here.host.open("cup", Opened("quoridor", "round-robin", 2))
        await here.host.tournaments["monday"].keep(Turned(State.FINISHED))
        for wanted, why in (
            ("monday", "monday is over"),
            ("cup", "in cup quoridor is played, and not tic-tac-toe"),
            ("mondy", "there is no tournament 'mondy' of tic-tac-toe that is not over"),
        ):
            assert await heard(await hello(here, "ann", wanted)) == [{"type": "refused", "reason": why}]


async def test_it_takes_over_in_the_same_tournament_named_or_not(autojump_clock: MockClock) -> None:
    async with week() as here:
        first = await hello(here, "ann", "monday")
        await first.messages()
        for tournament in ("monday", None):
            second = await hello(here, "ann", tournament)
            assert (await heard(first, "refused")) == [{"type": "refused", "reason": REPLACED}]
            assert await heard(second) == [{"type": "welcome", "tournament": "monday"}]
            first = second


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("away", [False, True])
async def test_it_comes_back_to_the_tournament_that_it_is_in_though_an_older_one_awaits_it_too(
    begun: bool, away: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot that names no tournament and is taken out of its match, to where nobody deals to it."""
    async with week() as here:
        first = await hello(here, "ann", "monday")
        await first.messages()
        await first.tell(type="hello", name="ann", game=GAME, tournament="friday")
        assert await heard(first) == [{"type": "welcome", "tournament": "friday"}]
        if begun:
            await hello(here, "bob", "friday")
        if away:
            await first.end.close()
        second = await hello(here, "ann", None)
        assert await heard(second, "welcome") == [{"type": "welcome", "tournament": "friday"}]
        (player,) = here.host.lobby.named("ann", GAME)
        assert (player.place, player.seat is not None) == ("friday", begun)


async def test_it_plays_elsewhere_once_it_has_gone_is_out_or_has_said_hello_again_where_it_was(
    autojump_clock: MockClock,
) -> None:
    async with week() as here:
        first = await hello(here, "ann", "monday")
        await first.messages()
        await first.tell(type="hello", name="ann", game=GAME, tournament="friday")
        assert await heard(first) == [{"type": "welcome", "tournament": "friday"}]
        await first.end.close()
        again = await hello(here, "ann", "monday")
        assert await heard(again) == [{"type": "welcome", "tournament": "monday"}]
        await Desk(here.host.tournaments["monday"]).withdraw("ann")
        for other in ("friday", None):
            last = await hello(here, "ann", other)
            assert await heard(last) == [{"type": "welcome", "tournament": "friday"}]


async def test_the_open_table_can_be_left_for_a_tournament_at_any_time(autojump_clock: MockClock) -> None:
    async with week() as here:
        first = await hello(here, "ann", "open-tic-tac-toe")
        await first.messages()
        second = await hello(here, "ann", "friday")
        assert await heard(first, "refused") == [{"type": "refused", "reason": REPLACED}]
        assert await heard(second) == [{"type": "welcome", "tournament": "friday"}]


async def test_when_the_first_is_over_it_may_go_on_to_the_second(autojump_clock: MockClock) -> None:
    async with week() as here:
        first = await hello(here, "ann", "monday")
        await here.host.tournaments["monday"].keep(Turned(State.FINISHED))
        await first.messages()
        assert await heard(await hello(here, "ann", "friday")) == [
            {"type": "welcome", "tournament": "friday"}
        ]


async def test_a_bot_of_the_arena_goes_on_while_it_waits_and_not_in_the_middle_of_a_battle(
    autojump_clock: MockClock,
) -> None:
    async with lists(CUP | {"tournament": "monday"}) as here:
        for name in ("tuesday", "friday"):
            await here.host.open(name, Opened(GAME, "round-robin", 2))
        await here.join("ann", token=TOKENS["ann"], tournament="tuesday")
        ann = await here.join("ann", token=TOKENS["ann"], tournament="monday")
        await here.join("bob", token=TOKENS["bob"], tournament="monday")
        fighter = Fighter(here, await answered(ann))
        await fighter.start()
        refused = await here.join("ann", token=TOKENS["ann"], tournament="friday")
        answer = await refused.answer("POST")
        assert (answer.status, msgspec.json.decode(answer.body)) == (409, {"error": NOT_BOTH})
        assert here.host.lobby.named("ann", GAME)[0].place == "monday"


async def test_a_bot_that_is_called_stays_in_its_battle_though_it_comes_without_its_token(
    autojump_clock: MockClock,
) -> None:
    """It is known by its address. Catches a match that is lost because its bot was started again."""
    async with lists(CUP | {"tournament": "monday"}) as here:
        await here.host.open("friday", Opened(GAME, "round-robin", 2))
        for name in TOKENS:
            await here.join(name, teamUrl=here.telephone.connect(f"{name}.example"), tournament="monday")
        again = {"name": "ann", "teamUrl": "http://ann.example"}
        assert await here.says(f"/{GAME}/join", again | {"tournament": "friday"}) == (
            409,
            {"error": NOT_BOTH},
        )
        assert (await here.says(f"/{GAME}/join", again | {"tournament": "monday"}))[0] == 202
        assert here.host.lobby.named("ann", GAME)[0].place == "monday"
        assert not here.host.tournaments["friday"].record.entrants
