"""Where somebody is in a long list of the desk.

The address of the page says it, and so do those of the orders on it, which lead back to where they were
given.
"""

from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import asdict, replace

from server.http.wire import Request
from server.pages.paging import asked_for
from tournament.record import Record


class Place(Struct, frozen=True):
    part: str = ""  # "" is the whole list
    named: str = ""  # only names that contain this
    page: int = 1

    @property
    def query(self) -> str:
        """What leads to it, after the address of the page that has the list."""
        asked = {name: value for name, value in asdict(self).items() if value != getattr(WHOLE, name)}
        return f"?{urlencode(asked)}" if asked else ""

    @property
    def first(self) -> "Place":
        """The first page of the same."""
        return replace(self, page=1)


WHOLE = Place()


def place(request: Request) -> Place:
    """Where somebody is who reads a page, or orders something on it."""
    asked = request.query
    return Place(asked.get("part", ""), asked.get("named", "").strip(), asked_for(request, "page") or 1)


def back(record: Record, to: Place) -> str:
    """The address of a tournament's page at that place of its list of entrants."""
    return f"/admin/tournaments/{record.name}{to.query}{'#entrants-title' if to.query else ''}"
