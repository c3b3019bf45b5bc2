"""Tournaments that belong together, by the name of their group, and the table over all of them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from server.host.view import HeldTournament, View
from tournament.across import Across, across
from tournament.archived_record import can_be_archived
from tournament.record import Record
from tournament.score_sheet import Board

Boarded = Callable[[Record], Awaitable[tuple[Record, Board]]]


def groups(view: View) -> dict[str, list[HeldTournament]]:
    """The groups by name, with their tournaments, in the order in which these were opened."""
    found: dict[str, list[HeldTournament]] = {}
    for each in view.tournaments.values():
        if (name := each.record.opened.belongs) is not None:
            found.setdefault(name, []).append(each)
    return found


def members(tournaments: Mapping[str, HeldTournament], name: str) -> list[HeldTournament]:
    return [each for each in tournaments.values() if each.record.opened.belongs == name]


def frozen(records: Iterable[Record]) -> bool:
    """Whether the standings of any of them are."""
    return any(record.frozen is not None for record in records)


async def table_over(view: View, held: Sequence[HeldTournament], board: Boarded) -> list[Across]:
    """The table over some tournaments.

    If something goes on, it is from what `board` returns, and raises `NoBoard` if that does. More may be over
    than boards are kept for, and of those nobody needs the ratings.
    """
    over = [each.record for each in held if _is_over(each.record)]
    tables = dict(zip([record.kept_as for record in over], await view.boards.tables(over), strict=True))
    rows = [
        tables[each.record.kept_as] if each.record.kept_as in tables else (await board(each.record))[1].rows
        for each in held
    ]
    return await view.boards.run(lambda: across(rows))


def _is_over(record: Record) -> bool:
    """Whether nothing more happens there, and its table takes next to no time."""
    return record.archived is not None or can_be_archived(record)
