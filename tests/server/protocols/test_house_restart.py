"""Bots of the house protocol whose host stops in the middle of their match, and starts again."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.protocols.interrupted import Late
from tests.server.protocols.room import Guest, Room, room
from tournament.events import CUT_SHORT, Ending
from tournament.facts import Concluded
from tournament.store import Memory

CUP = {"tournament": "cup", "game": "connect-4", "format": "round-robin", "entrants": "2"}
GRACE = 30.0
TOKENS = {"ann": "ann-keeps-this-secret", "bob": "bob-has-another-one"}
PLACES = pytest.mark.parametrize("settings", [CUP, {}], ids=["a tournament", "an open table"])


async def hello(here: Room, name: str, **more: Any) -> Guest:
    return await here.hello(name, "connect-4", token=TOKENS[name], **more)


async def interrupted(settings: Mapping[str, str], moves: Sequence[int] = (3, 3, 2), lost: int = 0) -> Memory:
    """What is kept of a match in which these have been played, a second each; of the last, `lost` are not."""
    store = Memory()
    async with room(settings, store=store) as here:
        guests = {name: await hello(here, name) for name in TOKENS}
        begun: dict[str, Guest] = {}
        for guest in guests.values():
            (begin,) = await guest.messages("begin")
            assert "restarted" not in begin
            begun[begin["you"]] = guest
        for number, move in enumerate(moves):
            await trio.sleep(1.0)
            await begun[("first", "second")[number % 2]].tell(type="move", ply=number, move=move)
        return Late(store, lost)


def ends(store: Memory) -> list[Concluded]:
    return [entry.fact for entry in store.kept() if isinstance(entry.fact, Concluded)]


@PLACES
async def test_bots_that_come_back_go_on_with_their_match(
    settings: Mapping[str, str], autojump_clock: MockClock
) -> None:
    store = await interrupted(settings)
    async with room(settings, store=store) as here:
        guests = {name: await hello(here, name) for name in TOKENS}
        told = {name: await guest.messages("begin", "turn") for name, guest in guests.items()}
        for begin, turn in told.values():
            assert begin["moves"] == [3, 3, 2]
            assert begin["restarted"] is True
            assert (turn["ply"], turn["turn"], turn["clock"]) == (3, "second", [60.0, 60.0])
        (second,) = [name for name, (begin, _) in told.items() if begin["you"] == "second"]
        await guests[second].tell(type="move", match=told[second][0]["match"], ply=3, move=3)
        for guest in guests.values():
            (turn,) = await guest.messages("turn")
            assert (turn["ply"], turn["last"]) == (4, 3)
        await guests[second].tell(type="resign")
        assert [(end.match, end.ending, end.moves) for end in ends(store)] == [
            (told[second][0]["match"], Ending.RESIGNED, (3, 3, 2, 3))
        ]


@PLACES
async def test_moves_that_were_not_kept_are_taken_back_and_asked_for_again(
    settings: Mapping[str, str], autojump_clock: MockClock
) -> None:
    store = await interrupted(settings, lost=2)
    async with room(settings, store=store) as here:
        guests = {name: await hello(here, name) for name in TOKENS}
        for guest in guests.values():
            begin, turn = await guest.messages("begin", "turn")
            assert (begin["moves"], begin["restarted"]) == ([3], True)
            assert (turn["ply"], turn["turn"], turn["last"]) == (1, "second", 3)


async def test_a_bot_comes_back_to_the_same_match_over_and_over(autojump_clock: MockClock) -> None:
    store = await interrupted(CUP)
    for plies in (3, 4, 5):
        async with room(CUP, store=store) as here:
            for name in TOKENS:
                guest = await hello(here, name)
                begin, turn = await guest.messages("begin", "turn")
                assert turn["ply"] == plies
                if turn["turn"] == begin["you"]:
                    mover = guest
            await mover.tell(type="move", move=plies)
        assert not ends(store)


async def test_the_clock_of_a_bot_stands_still_until_it_is_back(autojump_clock: MockClock) -> None:
    store = await interrupted(CUP | {"bank": "40"})
    async with room(CUP | {"bank": "40"}, store=store) as here:
        await trio.sleep(GRACE - 1.0)
        for name in TOKENS:
            _, turn = await (await hello(here, name)).messages("begin", "turn")
            assert turn["clock"] == [38.0, 39.0]


async def test_if_somebody_does_not_come_back_the_match_is_void_and_played_again(
    autojump_clock: MockClock,
) -> None:
    store = await interrupted(CUP)
    async with room(CUP, store=store) as here:
        ann = await hello(here, "ann")
        await ann.messages()
        await trio.sleep(GRACE + 1.0)
        (end,) = await ann.messages("end")
        assert (end["ending"], end["winner"]) == ("void", None)
        assert end["why"] == f"{CUT_SHORT}, and bob did not come back"
        await hello(here, "bob")
        (begin,) = await ann.messages("begin")
        assert begin["match"] == "cup-1.2"
        assert "restarted" not in begin


async def test_nobody_else_comes_back_in_its_place(autojump_clock: MockClock) -> None:
    """At an open table, too, where no claim is kept: the name is that of a bot that has a match there."""
    store = await interrupted({})
    async with room({}, store=store) as here:
        for token in (None, "a token that is another"):
            stranger = await here.hello("ann", "connect-4", token=token)
            assert [each["type"] for each in await stranger.messages()] == ["refused"]


async def test_a_match_against_a_bot_that_cannot_come_back_is_void(autojump_clock: MockClock) -> None:
    """The memo has no words for it."""
    settings = CUP | {"game": "santorini"}
    store = Memory()
    async with room(settings, store=store) as here:
        ann = await here.hello("ann", "santorini", token=TOKENS["ann"])
        await here.come("Bob")
        assert await ann.messages("begin")
    async with room(settings, store=store) as here:
        ann = await here.hello("ann", "santorini", token=TOKENS["ann"])
        assert not await ann.messages("begin")
        assert [(end.match, end.ending, end.why) for end in ends(store)] == [
            ("cup-1", Ending.VOID, CUT_SHORT)
        ]
        await here.come("Bob")
        assert [each["match"] for each in await ann.messages("begin")] == ["cup-1.2"]
