"""Bots of the house protocol that were away at the end of their tournament, or whose host stopped then."""

from collections.abc import Mapping
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from server.host.untold import LATE
from tests.server.protocols.interrupted import Late
from tests.server.protocols.room import Guest, Room, room
from tests.server.protocols.test_house_http import House, hall
from tournament.desk import Desk
from tournament.facts import Opened, State
from tournament.store import Memory

CUP = {"tournament": "cup", "game": "connect-4", "format": "round-robin", "entrants": "2"}
TOKENS = {"ann": "ann-keeps-this-secret", "bob": "bob-has-another-one"}
OUT = "ann was disqualified from cup: ask its organiser why"


async def hello(here: Room, name: str, **more: Any) -> Guest:
    return await here.hello(name, "connect-4", token=TOKENS[name], **more)


async def playing(here: Room) -> tuple[Guest, Guest]:
    """Ann and Bob in the only match of the cup."""
    ann, bob = [await hello(here, name) for name in TOKENS]
    for guest in (ann, bob):
        assert [each["type"] for each in await guest.messages()] == ["welcome", "begin", "turn"]
    return ann, bob


async def types(guest: Guest) -> list[tuple[str, Any]]:
    return [(each["type"], each.get("tournament")) for each in await guest.messages()]


async def hears_the_end(here: Room, name: str = "ann", **more: Any) -> Guest:
    """Whoever comes back under that name is welcomed to where it was, and told the standings."""
    guest = await hello(here, name, **more)
    welcome, standings = await guest.messages()
    assert welcome == {
        "type": "welcome",
        "name": name,
        "token": TOKENS[name],
        "game": "connect-4",
        "tournament": "cup",
    }
    assert (standings["type"], standings["tournament"], standings["final"]) == ("standings", "cup", True)
    assert {row["name"] for row in standings["rows"]} == {*TOKENS}
    return guest


async def is_led_to_the_table(here: Room, name: str = "ann", **more: Any) -> Guest:
    guest = await hello(here, name, **more)
    assert (await types(guest))[:1] == [("welcome", None)]
    return guest


@pytest.mark.parametrize("named", [{}, {"tournament": "cup"}], ids=["its game", "its tournament"])
async def test_whoever_is_away_at_the_end_hears_of_it_on_coming_back_and_then_plays_on(
    named: Mapping[str, str], autojump_clock: MockClock
) -> None:
    """Catches a bot that is led to the open table, and waits there for ever."""
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await ann.end.close()
        await bob.tell(type="resign")
        assert here.host.tournaments["cup"].record.state is State.FINISHED
        ann = await hears_the_end(here, **named)
        await ann.tell(type="hello", name="ann", game="connect-4")
        assert await types(ann) == [("welcome", None)]
        await ann.end.close()
        await is_led_to_the_table(here)
        assert [each["type"] for each in await (await hello(here, "ann", tournament="cup")).messages()] == [
            "refused"
        ]


@pytest.mark.parametrize("over", [False, True], ids=["goes on", "over"])
async def test_whoever_is_taken_out_while_it_is_away_hears_why_once_and_then_plays_on(
    over: bool, autojump_clock: MockClock
) -> None:
    """It was led to the open table without a word, and whoever had restarted it believed it in the cup."""
    async with room(CUP | {"entrants": "3"}) as here:
        ann, *_ = [await hello(here, name) for name in TOKENS]
        if not over:
            await here.hello("cas", "connect-4")
        await ann.end.close()
        desk = Desk(here.host.tournaments["cup"])
        if over:
            await desk.start()
        await desk.disqualify("ann", "two bots in one")
        await trio.sleep(1.0)
        assert here.host.tournaments["cup"].record.state is (State.FINISHED if over else State.RUNNING)
        ann = await hello(here, "ann")
        assert [(each["type"], each.get("reason")) for each in await ann.messages()] == [
            ("refused", OUT),
            ("[closed]", None),
        ]
        await is_led_to_the_table(here)


async def test_whoever_hears_why_it_is_taken_out_hears_that_once(autojump_clock: MockClock) -> None:
    async with room(CUP | {"entrants": "3"}) as here:
        ann, *_ = [await hello(here, name) for name in TOKENS]
        await here.hello("cas", "connect-4")
        await Desk(here.host.tournaments["cup"]).disqualify("ann", "two bots in one")
        await trio.sleep(1.0)
        assert (await ann.messages())[-2]["reason"] == OUT
        await is_led_to_the_table(here)


async def test_whoever_plays_elsewhere_by_then_goes_on_there_though_its_connection_was_lost(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is told of an end that it had missed, and loses the match that it was playing."""
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await ann.end.close()
        await bob.tell(type="resign")
        ann = await hello(here, "ann", tournament="open-connect-4")
        await here.hello("cas", "connect-4", tournament="open-connect-4")
        assert [each["type"] for each in await ann.messages()] == ["welcome", "begin", "turn"]
        await ann.end.close()
        again = await hello(here, "ann")
        assert [each["type"] for each in await again.messages()] == ["welcome", "begin", "turn"]


async def test_whoever_is_awaited_by_the_next_tournament_comes_into_that(autojump_clock: MockClock) -> None:
    """Catches a bot that is told of yesterday's cup while today's waits for it."""
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await ann.end.close()
        await bob.tell(type="resign")
        await here.host.open("next", Opened("connect-4", "round-robin", 3))
        again = await hello(here, "ann")
        assert await types(again) == [("welcome", "next")]
        await again.end.close()
        assert await types(await hello(here, "ann")) == [("welcome", "next")]


async def test_whoever_heard_the_standings_hears_them_once_whether_it_goes_on_or_hangs_up(
    autojump_clock: MockClock,
) -> None:
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await bob.tell(type="resign")
        for guest in (ann, bob):
            assert [each["type"] for each in await guest.messages()] == ["end", "standings"]
        await ann.tell(type="hello", name="ann", game="connect-4")
        assert await types(ann) == [("welcome", None)]
        await bob.end.close()
        await trio.sleep(1.0)
        await is_led_to_the_table(here, "bob")


async def test_whoever_has_waited_since_the_end_hears_the_standings_anew_if_a_match_is_played_again(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that believes in the standings from before, because it has said nothing since."""
    async with room(CUP | {"entrants": "3", "turn": "5"}) as here:
        guests = [await here.hello(name, "connect-4") for name in ("ann", "bob", "cas")]
        await trio.sleep(30.0)
        cup = here.host.tournaments["cup"]
        for guest in guests:
            assert len(await guest.messages("standings")) == 1
        await Desk(cup).void("cup-1", "a cable")
        await trio.sleep(10.0)
        assert cup.record.state is State.FINISHED
        for guest in guests:
            assert len(await guest.messages("standings")) == 1


async def test_a_connection_that_breaks_just_after_the_end_may_not_have_brought_the_standings(
    autojump_clock: MockClock,
) -> None:
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await bob.tell(type="resign")
        ann.wire.reset()
        await trio.sleep(1.0)
        await (await hears_the_end(here)).end.close()
        await trio.sleep(1.0)
        await is_led_to_the_table(here)


async def test_nor_one_that_ends_in_order_if_its_bot_asks_for_the_tournament_again(
    autojump_clock: MockClock,
) -> None:
    """A proxy that loses a bot hangs up in order. Catches clients that end with an error."""
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await bob.tell(type="resign")
        await ann.end.close()
        await trio.sleep(1.0)
        for _ in range(2):
            await (await hears_the_end(here, tournament="cup")).end.close()
            await trio.sleep(1.0)
        await is_led_to_the_table(here)


async def test_nor_one_that_is_still_open_when_its_bot_comes_over_another(autojump_clock: MockClock) -> None:
    """A connection that is cut off without a word looks as if it were there."""
    async with room(CUP) as here:
        _, bob = await playing(here)
        await bob.tell(type="resign")
        ann = await hears_the_end(here)
        await ann.tell(type="hello", name="ann", game="connect-4")
        assert await types(ann) == [("welcome", None)]


async def test_after_an_end_that_it_had_missed_a_bot_may_say_bye_and_nothing_but_hello_besides(
    autojump_clock: MockClock,
) -> None:
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await ann.end.close()
        await bob.tell(type="resign")
        ann = await hears_the_end(here)
        await trio.sleep(60.0)
        await ann.tell(type="state")
        assert [each["type"] for each in await ann.messages()] == ["refused"], "and it is still there"
        await ann.tell(type="bye")
        assert await ann.lines() == ["[closed]"]


async def test_two_hellos_at_once_bring_the_standings_once(autojump_clock: MockClock) -> None:
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await ann.end.close()
        await bob.tell(type="resign")
        here.host.boards._kept.clear()  # so that they have to be computed
        ann = await here.come()
        said = f'{{"type":"hello","name":"ann","game":"connect-4","token":"{TOKENS["ann"]}"}}'
        await ann.say(said, said)
        await trio.sleep(5.0)
        assert await types(ann) == [("welcome", "cup"), ("welcome", "cup"), ("standings", "cup")]


async def test_somebody_without_its_token_hears_nothing_of_it(autojump_clock: MockClock) -> None:
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await ann.end.close()
        await bob.tell(type="resign")
        for token in (None, "a token that is another"):
            stranger = await here.hello("ann", "connect-4", token=token)
            assert [each["type"] for each in await stranger.messages()] == ["refused"]
        await hears_the_end(here)


async def test_whoever_names_another_place_is_led_there(autojump_clock: MockClock) -> None:
    async with room(CUP) as here:
        ann, bob = await playing(here)
        await ann.end.close()
        await bob.tell(type="resign")
        ann = await is_led_to_the_table(here, tournament="open-connect-4")
        second = await hello(here, "ann")
        assert await types(second) == [("welcome", None)], "it takes over from itself, where it has gone on"
        assert [each["type"] for each in await ann.messages()] == ["refused", "[closed]"]


async def over_and_stopped(store: Memory) -> Late:
    """The records of a host that stopped just after the end, before it had said so."""
    async with room(CUP, store=store) as here:
        _, bob = await playing(here)
        await bob.tell(type="resign")
        assert here.host.tournaments["cup"].record.state is State.FINISHED
    return Late(store)


async def test_after_a_restart_bots_hear_of_the_end_for_an_hour(autojump_clock: MockClock) -> None:
    store = await over_and_stopped(Memory())
    async with room(CUP, store=store) as here:
        await (await hears_the_end(here)).end.close()
        await trio.sleep(1.0)
        await is_led_to_the_table(here)
        await trio.sleep(LATE)
        await is_led_to_the_table(here, "bob")


@pytest.mark.parametrize("says", [False, True], ids=["in silence", "though it said something"])
async def test_a_bot_over_http_hears_of_an_end_that_it_did_not_fetch(
    says: bool, autojump_clock: MockClock
) -> None:
    """Its session goes on for a while without it, and keeps for it what it was told."""
    async with hall(CUP) as (here, come):
        ann, bob = come(), come()
        for bot, name in ((ann, "ann"), (bob, "bob")):
            await http_hello(bot, name, "cup")
        for bot in (ann, bob):
            assert [each["type"] for each in await bot.news()] == ["begin", "turn"]
        await bob.tell(type="resign")
        assert here.host.tournaments["cup"].record.state is State.FINISHED
        assert [each["type"] for each in await bob.news()] == ["end", "standings"]
        if says:
            await ann.tell(type="state")
        ann = await http_hello(come(), "ann", "cup")
        assert [each["type"] for each in await ann.news()] == ["standings"]
        await ann.tell(type="hello", name="ann", game="connect-4")
        assert [(each["type"], each["tournament"]) for each in await ann.news()] == [("welcome", None)]
        await http_hello(come(), "bob", None)


async def test_a_bot_over_http_hears_why_it_was_taken_out_while_it_was_away(
    autojump_clock: MockClock,
) -> None:
    async with hall(CUP | {"entrants": "3"}) as (here, come):
        for name in TOKENS:
            await http_hello(come(), name, "cup")
        await trio.sleep(60.0)
        desk = Desk(here.host.tournaments["cup"])
        await desk.start()
        await desk.disqualify("ann", "two bots in one")
        await trio.sleep(60.0)
        answer = await come().hello("ann", "connect-4", token=TOKENS["ann"])
        assert (answer.status, OUT in answer.body.decode()) == (403, True)
        await http_hello(come(), "ann", None)


async def http_hello(bot: House, name: str, tournament: str | None) -> House:
    answer = await bot.hello(name, "connect-4", token=TOKENS[name])
    assert (answer.status, bot.welcome["type"], bot.welcome["tournament"]) == (201, "welcome", tournament)
    return bot
