"""Connect-4 as the c4-arena speaks it: who meets whom, and what a bot is told."""

from random import Random

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from games.connect4 import GAME
from server.doors.connect4 import ONLY_START, Connect4
from tests.server.doors.fours import (
    DISCONNECTED,
    DRAWN,
    END,
    WON,
    Bot,
    ignored,
    pair,
    place,
    play,
    play_on,
    state,
    table,
)
from tournament.desk import Desk
from tournament.events import Ending
from tournament.record import State

CUP = {"tournament": "cup", "game": "connect-4", "format": "round-robin"}

# A match


async def test_a_bot_waits_until_another_comes_and_then_both_are_told_the_state(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        ann, bob = Bot(host), Bot(host)
        assert await ann.start("Ann") == []
        told = [*await bob.start("Bob"), *ann.heard()]
        assert sorted(told, key=lambda each: each["you"]) == [state(1, 1, []), state(1, 2, [])]


async def test_the_keys_have_their_order_and_there_are_no_blanks(autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        for ply, column in enumerate(WON):
            await (first, second)[ply % 2].move(column)
        await first.send(b'{"type":"move","move":3}')
        zeros = b",".join([b"0"] * 36)
        assert second.told[0][1] == (
            b'{"type":"state","turn":2,"you":2,"moves":[3],"last-move":3,"state":[%b,1,0,0,0,0,0%b]}'
            % (b",".join([b"0"] * 18), b",0" * 18)
        )
