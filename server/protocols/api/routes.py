"""What a route of the API is, and which one a request takes.

The table itself is in `table.py`. A route is found part by part: a path is
split at its slashes, and each part is either a word of the table or the value
of a parameter. So finding a route costs a look into a dictionary for each part,
however long the table is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Literal

from msgspec import Struct

from server.http.head import HttpError
from server.http.sharing import READS
from server.http.wire import Request
from server.net.escaping import safe
from server.protocols.api.call import Answer

Contents = Mapping[str, Any]  # the content of an answer, by media type
Values = list[tuple[str, str]]  # what a path has for the parameters of its route, in their order


class Caller(Enum):
    ANYONE = "anyone"
    ORGANISER = "the organiser"
    BOT = "whoever has the token of a bot in it, or the organiser"  # the function that answers looks


class Route(Struct, frozen=True):
    method: Literal["GET", "POST"]  # what answers GET answers HEAD too
    path: str  # "/api/tournaments/{name}/standings"
    does: str  # in one sentence
    answer: Callable[..., Answer]  # called with the call, the things that its parameters name, and the body
    gives: Contents
    who: Caller = Caller.ANYONE
    takes: type[Struct] | None = None  # the body, as JSON
    fields: Sequence[str] | None = None  # those of the body that are taken, the needed one first; None: all
    status: int = 200  # when it was done
    otherwise: Mapping[int, Contents] = {}  # other possible answers, by status
    query: Mapping[str, Any] = {}  # query parameters, each with its JSON Schema
    listed: bool = True  # whether the documents list it; False: it only says what is wrong
    looks: bool = False  # whether it only looks at tournaments, which another process can do as well

    @property
    def parameters(self) -> list[str]:
        return [name for part in _parts(self.path) if (name := _parameter(part))]


class Place:
    """A place to which a path leads: what may come next, and the route that ends here."""

    __slots__ = ("other", "parameter", "route", "words")

    def __init__(self) -> None:
        self.words: dict[str, Place] = {}
        self.other: Place | None = None  # behind any other word, …
        self.parameter = ""  # … which is the value of this
        self.route: Route | None = None

    def after(self, part: str) -> "Place":
        """The next place of a pattern, made if need be."""
        name = _parameter(part)
        if not name:
            return self.words.setdefault(part, Place())
        if self.other is None:
            self.other, self.parameter = Place(), name
        if self.parameter != name:
            raise ValueError(f"expected {{{self.parameter}}} here, as in the routes before, not {part}")
        return self.other


class Routes:
    def __init__(self, table: Iterable[Route], known: "Routes | None" = None) -> None:
        """`known` are further routes, which another process answers; only their existence matters here."""
        self._known = known or self
        self._roots: dict[str, Place] = {}  # by the method
        for route in table:
            place = self._roots.setdefault(route.method, Place())
            for part in _parts(route.path):
                place = place.after(part)
            if place.route is not None:
                raise ValueError(f"there are two routes {route.method} {route.path}")
            place.route = route
        self._roots["HEAD"] = self._roots["GET"]

    def find(self, request: Request) -> tuple[Route, Values]:
        """The route of a request, and what its path says; raises `HttpError`."""
        route, values = self._at(request.method, request.path)
        methods = [] if route is not None and route.listed else sorted(self._known.methods(request.path))
        if route is not None and not methods:  # one that is not listed is only for where nothing else is
            return route, values
        path, method = safe(request.path), request.method
        if not methods or (method in READS and method in methods):  # another process would have answered that
            raise HttpError(404, f"there is nothing at {path}; see /openapi.json")
        allowed = ", ".join(methods)
        raise HttpError(405, f"{path} takes {allowed}, not {method}", ("Allow", allowed))

    def leads(self, path: str) -> bool:
        """Whether there is anything to read at a path."""
        return self._at("GET", path)[0] is not None

    def _at(self, method: str, path: str) -> tuple[Route | None, Values]:
        place, values = self._roots.get(method), Values()
        for part in _parts(path):
            if place is None:
                break
            if part in place.words:
                place = place.words[part]
            else:
                values.append((place.parameter, part))
                place = place.other
        return None if place is None else place.route, values

    def methods(self, path: str) -> Iterator[str]:
        """The methods that there are at a path."""
        for method in self._roots:
            route, _ = self._at(method, path)
            if route is not None and route.listed:
                yield method


def _parameter(part: str) -> str:
    """The name of the parameter for which a part of a pattern stands; "" for a word."""
    return part[1:-1] if part.startswith("{") else ""


def _parts(path: str) -> list[str]:
    return path.strip("/").split("/")
