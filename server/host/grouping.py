"""Tournaments that belong together, by the name of their group, and the table over all of them."""

from collections.abc import Mapping

from server.host.view import Held, View
from tournament.across import Across, across


def groups(view: View) -> dict[str, list[Held]]:
    """The groups by name, with their tournaments, in the order in which these were opened."""
    found: dict[str, list[Held]] = {}
    for each in view.tournaments.values():
        if (name := each.record.opened.belongs) is not None:
            found.setdefault(name, []).append(each)
    return found


def members(tournaments: Mapping[str, Held], name: str) -> list[Held]:
    return [each for each in tournaments.values() if each.record.opened.belongs == name]


async def table_over(view: View, held: list[Held]) -> list[Across]:
    """The table over some tournaments, as the public may see it; raises `NoBoard` if one is missing."""
    rows = [(await view.boards.public(each.record))[1].rows for each in held]
    return await view.boards.run(lambda: across(rows))
