"""What language models have used: on the page of a tournament, where their bots have noted it."""

from typing import Any

from trio.testing import MockClock

from server.pages import tables
from server.pages.rendering import part
from server.pages.usage import Used, usage
from tests.server.protocols.room import room

FIELDS = ("C", "N", "NW", "S", "SE")
SETTINGS = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}


async def played(*notes: Any) -> tuple[list[Used], str]:
    """What is known after a match with these notes, and the table of the standings."""
    async with room(SETTINGS) as hall:
        bots = [await hall.hello("ann"), await hall.hello("bob")]
        for ply, (field, note) in enumerate(zip(FIELDS, notes, strict=True)):
            more = {} if note is None else {"note": note}
            await bots[ply % 2].tell(type="move", ply=ply, move=field, **more)
        record = hall.host.tournaments["cup"].record
        await hall.host.tournaments["cup"].finished()
        board = await hall.host.boards.exact(record)
        used = usage(record)
        seen = tables.standings(record, board) | {"whole": False, "usage": used}
        return used, str(part("standings", seen))


async def test_what_was_noted_is_added_up_for_each_bot(autojump_clock: MockClock) -> None:
    one, other = {"tokens": 1200, "seconds": 1.5, "tries": 1}, {"tokens": 800, "tries": 2, "by_lot": 1}
    used, page = await played(one, {"tokens": 7}, other, "a sentence", {"depth": 9})
    assert used == [Used("ann", 2, 2000, 1.5, 3, 1), Used("bob", 1, 7)]
    assert "What language models have used" in page
    assert '<td class="figure">2,000</td>' in page


async def test_where_nobody_has_noted_it_there_is_no_table(autojump_clock: MockClock) -> None:
    used, page = await played(None, "a sentence", {"depth": 9}, None, None)
    assert used == []
    assert "language models" not in page
