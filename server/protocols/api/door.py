"""The HTTP API: what is on, standings, matches, events; and, for whoever has the organiser's token, control.

Answers and errors are JSON. Everything that is read is public; what changes a
tournament wants `Authorization: Bearer TOKEN`. This finds the route that a
request takes, looks whether its caller may take it, and reads the body. Which
routes there are is in `table.py`.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from server.host.host import Host
from server.host.wire_reader import WireReader
from server.http.exchange import Exchange
from server.http.head import HttpError
from server.http.sharing import reading
from server.http.wire import Request, Response
from server.protocols.api.call import Call
from server.protocols.api.giving import give, give_later
from server.protocols.api.routes import Caller, Routes
from server.protocols.api.streams import Feed
from server.protocols.api.table import ROUTES


class Api:
    paths = frozenset(route.path.split("/")[1] for route in ROUTES)
    sharing = reading(  # tokens of bots: nothing here is for the organiser's
        tokens="|".join(re.sub(r"{\w+}", "[^/]+", r.path) + "/?" for r in ROUTES if r.who is Caller.BOT)
    )

    def __init__(self, host: Host, token: str, login: Callable[[], str] | None = None) -> None:
        """`login` makes a path that opens the organiser's desk, once; None where there is no desk."""
        self._host = host
        self._login = login
        self._token = token.encode()
        self._feed = Feed(host)
        self._wires = WireReader(host, token)
        self._routes = Routes(ROUTES)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        route, values = self._routes.find(request)
        call = Call(exchange, self._host, self._feed, self._wires, self._login, self._token)
        if route.who is Caller.ORGANISER and not call.organiser:
            raise HttpError(401, "this wants the organiser's token: `Authorization: Bearer TOKEN`")
        given: list[Any] = []
        for name, value in values:
            given += NAMED[name](self._host, value)
        if route.takes is not None:
            given.append(_decoded(request, route.takes))
        answer = route.answer(call, *given)
        if isinstance(answer, Response):
            return give(exchange, answer)
        return None if answer is None else give_later(exchange, answer)


def _tournament(host: Host, name: str) -> tuple[Any, ...]:
    found = host.tournaments.get(name)
    if found is None:
        raise HttpError(404, f"there is no tournament {name[:64]!r}")
    return (found,)


def _match(host: Host, name: str) -> tuple[Any, ...]:
    """The tournament of a match, and the match's name, which begins with the tournament's."""
    found = host.tournaments.get(name.rpartition("-")[0])
    if found is None or not (name in found.matches or name in found.record.matches):
        raise HttpError(404, f"there is no match {name[:80]!r}")
    return found, name


def _word(host: Host, word: str) -> tuple[Any, ...]:
    return (word,)


# What the parameters of a path name, as the function that answers is given it.
NAMED: Mapping[str, Callable[[Host, str], tuple[Any, ...]]] = {
    "name": _tournament,
    "match": _match,
    "order": _word,
}


def _decoded(request: Request, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(request.body or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HttpError(400, f"the body cannot be taken: {error}") from None
