"""Hexagon Dots over HTTP: held requests, tokens for one turn, and who plays whom."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.limits import Limits
from tests.server.doors.table import SIDES, TURN, Dots, Table, drawn, line, said, table
from tests.server.windowed import Weather
from tournament.events import Ending
from tournament.record import Concluded, State

CUP = {"tournament": "cup", "game": "hexagon-dots", "format": "round-robin"}
OPEN = "open-hexagon-dots"
NOT_IN_TURN = "a move needs the X-Turn-Token of the last answer"


async def sides_drawn(ann: Dots, bob: Dots, count: int) -> None:
    """The first sides of (1, 1), by turns; at the end of it whoever is next has its turn."""
    for number, side in enumerate(SIDES[:count]):
        mover, other = (ann, bob) if number % 2 == 0 else (bob, ann)
        await mover.move(side)
        await other.turn()


def results(here: Table) -> list[Concluded]:
    return list(here.host.tournaments[OPEN].record.matches.values())


def scores(told: dict[str, Any]) -> list[object]:
    return [player["score"] for player in told["players"]]


# Games


async def test_a_game_that_was_made_has_an_address_and_a_board(autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.made(5, 3)
        assert game.startswith("/g/")
        told = await here.read(game)
        assert list(told.items()) == [
            ("rows", 5),
            ("cols", 3),
            ("lines", []),
            ("hexagons", []),
            ("players", []),
            ("state", "initiating"),
        ]
        assert await here.made(5, 3) != game


@pytest.mark.parametrize(
    ("board", "reason"),
    [
        ({"rows": 4, "cols": 5}, "rows has to be an odd number from 3 to 31, not 4"),
        ({"rows": 33, "cols": 5}, "rows has to be an odd number from 3 to 31, not 33"),
        ({"rows": 5, "cols": 2}, "cols has to be a number from 3 to 31, not 2"),
        ({"rows": 5, "cols": -5}, "cols has to be a number from 3 to 31, not -5"),
        (b'{"rows":5,"cols":1' + b"0" * 4000 + b"}", "cols has to be a number from 3 to 31, not a number of"),
        ({"rows": "5", "cols": 5}, r'expected \{"rows":5,"cols":5\}: Expected `int`, got `str`'),
        ({"rows": 5.0, "cols": 5.5}, "expected .*: Expected `int`, got `float`"),
        ({"rows": True, "cols": 5}, "expected .*: Expected `int`, got `bool`"),
        ({"rows": 5}, "expected .*: Object missing required field `cols`"),
        ([5, 5], "expected .*: Expected `object`, got `array`"),
        (b'{"rows":NaN,"cols":5}', "expected .*: JSON is malformed"),
        (b'{"rows":1e999,"cols":5}', "expected .*"),
        (b'\xef\xbb\xbf{"rows":5,"cols":5}', "expected .*: JSON is malformed"),
        (b'{"rows\xff":5,"cols":5}', "expected .*"),
        (b"[" * 4000, "expected .*"),
        (b'{"x":' + b"[" * 4000, "expected .*"),
        (b"", "expected .*"),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_a_board_that_cannot_be_is_refused_with_the_reason(
    board: object, reason: str, autojump_clock: MockClock
) -> None:
    async with table() as here:
        answer = await here.caller().ask("POST", "/", board)
        assert (answer.status, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")
        assert pytest.raises(AssertionError, match=reason).matches(AssertionError(answer.body.decode()))
        assert await here.read("/games") == {"games": []}


async def test_of_a_field_that_comes_twice_the_last_counts(autojump_clock: MockClock) -> None:
    async with table() as here:
        answer = await here.caller().ask("POST", "/", b'{"rows":4,"cols":3,"rows":3}')
        assert (await here.read(answer.headers["location"]))["rows"] == 3
