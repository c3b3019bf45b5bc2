"""The list of entrants on the page of a tournament: which of them are shown, and what is said of each.

There may be tens of thousands. They are looked through in a thread, for those who are asked for, and only
what is on one page is made.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from server.host.boards import Run
from server.pages.desk.place import Place
from server.pages.paging import page_of
from tournament.check_in import opens_at
from tournament.facts import State
from tournament.lobby import Lobby
from tournament.presence import Missing
from tournament.record import Record
from tournament.tournament import Tournament

PAGE = 100  # entrants on a page of the list
MISSING, UNCHECKED = "missing", "unchecked"  # parts of it: those for whom an organiser may have to act


class Listed(Struct, frozen=True):
    """A page of the list."""

    place: Place
    pages: int
    found: int  # entrants on all of these pages
    parts: Mapping[str, str]  # that can be asked for: what each is called
    entrants: Sequence[Mapping[str, Any]]


async def listed(tournament: Tournament, lobby: Lobby, asked: Place, run: Run) -> Listed:
    """The page of the list that is nearest to the one asked for."""
    record, missing = tournament.record, tournament.missing()
    parts = {"": "all", MISSING: "who is missing"}
    if record.state is State.REGISTERING and opens_at(record.opened) is not None:
        parts[UNCHECKED] = "who has not checked in"
    if asked.part not in parts:
        asked = replace(asked, part="")
    names, since = await run(partial(_found, record, [*record.entrants], missing, asked))
    page, pages = page_of(len(names), PAGE, asked.page)
    shown = names[(page - 1) * PAGE : page * PAGE]
    entrants = [_entrant(record, lobby, name, since.get(name)) for name in shown]
    return Listed(replace(asked, page=page), pages, len(names), parts, entrants)


def _found(
    record: Record, names: Iterable[str], missing: Iterable[Missing], asked: Place
) -> tuple[list[str], dict[str, float]]:
    """The names that are asked for; and since when whoever is missing is."""
    since, sought = {each.name: each.since for each in missing}, asked.named.casefold()
    if asked.part == MISSING:
        names = since
    elif asked.part == UNCHECKED:
        names = (name for name in names if name not in record.checked_in and name not in record.out)
    return [name for name in names if sought in name.casefold()], since


def _entrant(record: Record, lobby: Lobby, name: str, since: float | None) -> dict[str, Any]:
    return {
        "name": name,
        "gone": record.entrants[name].gone,
        "disqualified": name in record.disqualified,
        "here": any(each.present for each in lobby.named(name, record.opened.game)),
        "since": since,
        "invited": name in record.invited,
        "affiliation": record.affiliations.get(name, ""),
        "contact": record.contacts.get(name, ""),
        "no_show": name in record.no_shows,
        "checked_in": name in record.checked_in,
        "seated": name in record.seats and record.state is not State.FINISHED,
    }
