"""Which door an HTTP request goes to, by the first part of its path.

A door for HTTP is an object with `paths`, the first parts it answers for, and
`answer`, an application. What nobody answers for is 404, in words.
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


def routed(doors: Iterable[HttpDoor]) -> App:
    """One application made of several doors."""
    by_path = {path: door for door in doors for path in door.paths}

    def answer(exchange: Exchange) -> Awaitable[object] | None:
        path = exchange.request.path
        door = by_path.get(path.split("/", 2)[1] if path.startswith("/") else "")
        if door is not None:
            return door.answer(exchange)
        exchange.respond(refused(404, f"there is nothing at {path[:80]}"))
        return None

    return answer
