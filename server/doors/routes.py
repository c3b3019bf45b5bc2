"""Which door an HTTP request goes to, by the first part of its path.

A door for HTTP is an object with `paths`, the first parts it answers for, and
`answer`, an application. Pages are shown to who reads what the pages know, some
of it at first parts that are also a door's; what nobody answers for is 404, in
words, and for a browser as a page.
"""

from collections.abc import Awaitable, Iterable
from typing import Protocol

from server.http import App, Exchange, refused


class HttpDoor(Protocol):
    @property
    def paths(self) -> frozenset[str]:
        """`{"api", "healthz"}`; "" is the root alone."""
        ...

    def answer(self, exchange: Exchange) -> Awaitable[object] | None: ...


class Shows(Protocol):
    """Whoever has pages."""

    def shows(self, path: str) -> bool:
        """Whether a path is to be read as a page."""
        ...

    def answer(self, exchange: Exchange) -> Awaitable[object] | None: ...
    def missing(self, exchange: Exchange) -> None: ...


def routed(doors: Iterable[HttpDoor], pages: Shows | None = None) -> App:
    """One application made of several doors."""
    by_path = {path: door for door in doors for path in door.paths}

    def answer(exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        path, reads = request.path, request.method in ("GET", "HEAD")
        if reads and pages is not None and pages.shows(path):
            return pages.answer(exchange)
        door = by_path.get(path.split("/", 2)[1] if path.startswith("/") else "")
        if door is not None:
            return door.answer(exchange)
        if reads and pages is not None and "text/html" in request.headers.get("accept", ""):
            pages.missing(exchange)
            return None
        exchange.respond(refused(404, f"there is nothing at {path[:80]}"))
        return None

    return answer
