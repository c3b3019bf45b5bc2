"""Pages of a list: a request has `?after=…&limit=…`, and `next` in the answer says what to ask for next.

A place in a list is a number: how many come before it. Small events fit on one page.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from server.http.head import HttpError
from server.http.wire import Request
from server.net.escaping import in_quotes

MOST = 1_000  # on a page, even if no limit is given: some milliseconds of work and 300 kB
FAR = 10**12 - 1  # no list is as long
DIGITS = len(str(FAR))  # that are read at most

QUERY: Mapping[str, Any] = {  # for the table of routes
    "after": {
        "type": "integer",
        "minimum": 0,
        "maximum": FAR,
        "default": 0,
        "description": "How many to skip.",
    },
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST,
        "default": MOST,
        "description": "How many to list at most.",
    },
}


class Page(Struct, frozen=True):
    after: int
    limit: int

    @property
    def end(self) -> int:
        return self.after + self.limit

    def next(self, total: int) -> int | None:
        """What to ask for after this page, in a list of this many."""
        return self.end if self.end < total else None


def asked(request: Request) -> Page:
    """The page that a request is for; raises `HttpError`."""
    after, limit = request.query.get("after", "0"), request.query.get("limit", str(MOST))
    if not _is_number(after, 0, FAR):
        raise HttpError(400, f"`after` is how many to skip, from 0 to {FAR}, not {in_quotes(after)}")
    if not _is_number(limit, 1, MOST):
        raise HttpError(400, f"`limit` is how many to list, from 1 to {MOST}, not {in_quotes(limit)}")
    return Page(int(after), int(limit))


def _is_number(text: str, least: int, most: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS and least <= int(text) <= most
