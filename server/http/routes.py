"""Routing: the door to which an HTTP request goes, by the first part of its path.

A door for HTTP is an object with `paths`, the first parts that it serves, and
`answer`, an application. Pages are for reading, some of them at first parts that also
belong to a door; at the root and at `/games`, only browsers get the page.
A path that nobody serves is 404, in words, and for a browser as a page.
So is one with an escaped slash, unless it is where a name may hold one (`SLASHED`).

Two things that doors declare are handled here for all of them: other spellings of
old paths (`spelling.py`), and what pages of other sites may do (`sharing.py`).
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, runtime_checkable

from msgspec.structs import replace

from server.http.bare_page import asks_for_page
from server.http.exchange import App, Exchange
from server.http.head import ESCAPED_SLASH
from server.http.origins import NO_ORIGINS, Origins
from server.http.sharing import NOTHING, READS, TRUSTED, Sharing, preflight
from server.http.spelling import Spelling
from server.http.wanted import WhileWanted
from server.http.wire import Request, refused, takes_only
from server.net.escaping import safe

# Where a bot is named, by a part of the path or by `?name=`: no other name may hold a slash.
SLASHED = frozenset({"/bots", "/api/bots"})
GAMES = ("/games", "/games/")  # where bots look for games of Hexagon Dots that wait for a player
BROWSERS = "application/xhtml+xml"  # all take this; programs in Java say by default that they take text/html
NOBODY: tuple[None, Sharing] = (None, NOTHING)


class HttpDoor(Protocol):
    @property
    def paths(self) -> frozenset[str]:
        """`{"api", "healthz"}`; "" is the root alone."""
        ...

    def answer(self, exchange: Exchange) -> Awaitable[object] | None: ...


@runtime_checkable
class SharingDoor(Protocol):
    """A door that pages of other sites may use."""

    @property
    def sharing(self) -> Sharing: ...


@runtime_checkable
class HasOldPaths(Protocol):
    """A door that bots know from before this host."""

    @property
    def old_paths(self) -> Iterable[str]:
        """`{"/match", "/g/*"}`, where `*` is an id."""
        ...


class Shows(Protocol):
    """What has pages."""

    def shows(self, path: str) -> bool:
        """Whether a path is to be read as a page."""
        ...

    def answer(self, exchange: Exchange) -> Awaitable[object] | None: ...
    def missing(self, exchange: Exchange) -> None: ...


def routed(doors: Iterable[HttpDoor], pages: Shows | None = None, origins: Origins = NO_ORIGINS) -> App:
    """One application made of several doors. Pages of `origins` may use all that any page may use."""
    doors = tuple(doors)
    by_path = {path: (door, _shared(door)) for door in doors for path in door.paths}
    door_at_root = "" in by_path
    trusted = origins.listed
    spelling = spelling_of(doors)
    while_wanted = WhileWanted()

    def answer(exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        method, path = request.method, request.path
        reads = method in READS
        if ESCAPED_SLASH in path:
            request = exchange.request = _with_slash(request)
            if (path := request.path) not in SLASHED:
                _miss(exchange, pages if reads else None)
                return None
        if reads and pages is not None and is_page(request, pages.shows, door_at_root=door_at_root):
            return while_wanted(exchange, pages.answer(exchange))
        request = exchange.request = spelling.rightly(request)
        path = request.path
        door, sharing = by_path.get(path.split("/", 2)[1] if path.startswith("/") else "", NOBODY)
        if trusted and sharing is not NOTHING and request.headers.get("origin", "").lower() in trusted:
            sharing = TRUSTED
        if door is None and not reads and pages is not None and pages.shows(path):
            exchange.respond(takes_only(request, *sorted(READS)))
        elif door is None:
            _miss(exchange, pages if reads else None)
        elif method == "OPTIONS" and sharing is not NOTHING:
            granted = preflight(request, sharing)
            exchange.shared = granted.status == 204
            exchange.respond(granted)
        else:
            exchange.shared = method in sharing.answers
            return door.answer(exchange)
        return None

    return answer


def spelling_of(doors: Iterable[HttpDoor]) -> Spelling:
    """How the old paths of these doors may be spelt."""
    return Spelling(path for door in doors if isinstance(door, HasOldPaths) for path in door.old_paths)


def is_page(request: Request, shows: Callable[[str], bool], *, door_at_root: bool) -> bool:
    """Whether a reading request is for a page; where programs look as well, only a browser's is."""
    path = request.path
    if not shows(path):
        return False
    if path in GAMES:
        return BROWSERS in request.headers.get("accept", "")
    return path != "/" or not door_at_root or asks_for_page(request.headers)


def _shared(door: HttpDoor) -> Sharing:
    return door.sharing if isinstance(door, SharingDoor) else NOTHING


def _with_slash(request: Request) -> Request:
    """One with an escaped slash in its path: by `?name=`, if that is in a name; else escaped again."""
    first, _, name = request.path.rpartition("/")
    if first in SLASHED:
        return replace(request, path=first, query={**request.query, "name": name.replace(ESCAPED_SLASH, "/")})
    return replace(request, path=request.path.replace(ESCAPED_SLASH, "%2F"))


def _miss(exchange: Exchange, pages: Shows | None) -> None:
    if pages is not None and asks_for_page(exchange.request.headers):
        pages.missing(exchange)
    else:
        exchange.respond(refused(404, f"there is nothing at {safe(exchange.request.path)}"))
