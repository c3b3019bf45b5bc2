"""What language models have used: on the page of a tournament, where their bots have noted it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from trio.testing import MockClock

from server.pages import tables
from server.pages.rendering import part
from server.pages.tournament import parts_of
from server.pages.usage import Used, latest, usage
from tests.server.protocols.room import room
from tests.steps import steps_taken
from tournament.score_sheet import Board
from tournament.tournament import Tournament

FIELDS = ("C", "N", "NW", "S", "SE")
SETTINGS = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}


@asynccontextmanager
async def over(*notes: Any) -> AsyncIterator[tuple[Tournament, Board]]:
    """A tournament of one match with these notes."""
    async with room(SETTINGS) as hall:
        bots = [await hall.hello("ann"), await hall.hello("bob")]
        for ply, (field, note) in enumerate(zip(FIELDS, notes, strict=True)):
            more = {} if note is None else {"note": note}
            await bots[ply % 2].tell(type="move", ply=ply, move=field, **more)
        tournament = hall.host.tournaments["cup"]
        await tournament.finished()
        yield tournament, await hall.host.boards.exact(tournament.record)


async def played(*notes: Any) -> tuple[list[Used], str]:
    """What is known after a match with these notes, and the table of the standings."""
    async with over(*notes) as (tournament, board):
        record = tournament.record
        used = usage(record, latest(record))
        seen = tables.standings(record, board) | {"whole": False, "usage": used}
        return used, str(part("standings", seen))


async def test_what_was_noted_is_added_up_for_each_bot(autojump_clock: MockClock) -> None:
    one, other = {"tokens": 1200, "seconds": 1.5, "tries": 1}, {"tokens": 800, "tries": 2, "by_lot": 1}
    used, page = await played(one, {"tokens": 7}, other, "a sentence", {"depth": 9})
    assert used == [Used("ann", 2, 2000, 1.5, 3, 1), Used("bob", 1, 7)]
    assert "What language models have used" in page
    assert '<td class="figure">2,000</td>' in page


async def test_what_a_bot_never_noted_is_not_said_to_be_nothing(autojump_clock: MockClock) -> None:
    _, page = await played({"tokens": 9}, {"tries": 3, "seconds": 0}, None, None, None)
    rows = re.findall('<tr><th scope="row">.*?</tr>', page)
    assert [re.findall('<td class="figure">(.*?)</td>', row) for row in rows] == [
        ["1", "9", "–", "–", "0"],
        ["1", "–", "0", "3", "0"],
    ]


async def test_where_nobody_has_noted_it_there_is_no_table(autojump_clock: MockClock) -> None:
    used, page = await played(None, "a sentence", {"depth": 9}, None, None)
    assert used == []
    assert "language models" not in page


async def test_what_was_noted_is_added_up_where_nobody_waits_for_it(autojump_clock: MockClock) -> None:
    """Catches hundreds of notes in each of a thousand matches, which are looked through in the loop."""
    figures = {"tokens": 1, "seconds": 0.5, "tries": 1}
    async with over(None, None, None, None, None) as (tournament, board):
        without = steps_taken(lambda: parts_of(tournament, board))
    async with over(*[figures] * 5) as (tournament, board):
        assert steps_taken(lambda: parts_of(tournament, board)) == without
        assert "What language models have used" in parts_of(tournament, board)()["standings"]
