"""The HTTP API: what is on, standings, matches, events; and control, for those with the organiser's token.

Answers and errors are JSON. Everything that is read is public; orders that
change a tournament need `Authorization: Bearer TOKEN`. This file finds the
route that a request takes, checks whether its caller may take it, and reads
the body. `table.py` lists the routes.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from games.catalogue import catalogue
from server.export.signing import Signer
from server.host.host import Host
from server.host.metrics import metrics
from server.host.misfits import UNREADABLE, unreadable
from server.host.unwelcome import Guessing
from server.host.view import View
from server.host.wire_reader import WireReader
from server.http.exchange import Exchange
from server.http.head import BEARER, RETRY_SOON, HttpError, retry_after
from server.http.origins import NO_ORIGINS, Origins
from server.http.sharing import READS, reading
from server.http.wanted import WhileWanted
from server.http.wire import Request, Response
from server.net.escaping import in_quotes
from server.net.limits import Limits
from server.net.one_for_all import OneForAll
from server.protocols.api import groups
from server.protocols.api.call import Asked, Call, Look
from server.protocols.api.export_places import ExportPlaces
from server.protocols.api.giving import give, give_later
from server.protocols.api.orders import as_conflict
from server.protocols.api.routes import Caller, Route, Routes, Values
from server.protocols.api.streams import Feed
from server.protocols.api.table import ROUTES

LOOKS = tuple(route for route in ROUTES if route.looks)


class Reads:
    """The routes that only look at tournaments, which are answered where nothing is played."""

    paths = frozenset(route.path.split("/")[1] for route in LOOKS)
    sharing = reading(tokens="")  # preflights are answered where matches are played

    def __init__(self, view: View, token: str, signer: Signer | None, limits: Limits) -> None:
        self._view = view
        self._signer = signer
        self._token = token.encode()
        self._feed = Feed(view, limits.heartbeat_seconds)
        self._exports = ExportPlaces()
        self._routes = LOOKING
        self._while_wanted = WhileWanted()

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        route, values = self._routes.find(exchange.request)
        return self.given(exchange, route, values)

    def given(self, exchange: Exchange, route: Route, values: Values) -> Awaitable[object] | None:
        look = Look(exchange, self._token, self._view, self._feed, self._signer, self._exports)
        return self._while_wanted(exchange, _answered(look, route, values, self._view))


class Api:
    """All routes; or the rest, where those that only look are answered elsewhere."""

    paths = frozenset(route.path.split("/")[1] for route in ROUTES)
    sharing = reading(  # tokens of bots, never the organiser's
        tokens="|".join(re.sub(r"{\w+}", "[^/]+", r.path) + "/?" for r in ROUTES if r.who is Caller.BOT)
    )

    def __init__(
        self,
        host: Host,
        token: str,
        login: Callable[[], str] | None = None,
        origins: Origins = NO_ORIGINS,
        *,
        looks: bool = True,
        signer: Signer | None = None,
    ) -> None:
        """`login` makes a path that opens the organiser's desk, once; None where there is no desk.

        Pages of `origins` may give the orders that pages of the host may. The `signer` has the
        host's key.
        """
        self._host = host
        self._login = login
        self._token = token.encode()
        self._origins = origins
        self._wires = WireReader(host, token)
        self._figures = OneForAll(partial(metrics, host))
        self._reads = Reads(host, token, signer, host.limits) if looks else None
        self._routes = ALL if looks else Routes([route for route in ROUTES if not route.looks], ALL)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        route, values = self._routes.find(exchange.request)
        if route.looks and self._reads is not None:
            return self._reads.given(exchange, route, values)
        call = Call(exchange, self._token, self._host, self._wires, self._login, self._figures)
        if route.who is Caller.ORGANISER:
            self._origins.check(exchange.request)
            self._expect_organiser(call)
            if route.takes is not None:
                self._expect_no_trouble()
                exchange.decides = True
            game = self._host.vacant(dict(values).get("name", ""))
            if game is not None and route.listed:
                return self._at_new_table(call, route, values, game)
        return _answered(call, route, values, self._host)

    async def _at_new_table(self, call: Call, route: Route, values: Values, game: str) -> None:
        """Carry out an order about an open table to which nobody has come, which is opened as for a bot."""
        with as_conflict():
            await self._host.table(game)
        if (pending := _answered(call, route, values, self._host)) is not None:
            await pending

    def _expect_no_trouble(self) -> None:
        """Raise `HttpError` while no order can be kept: nobody could know when it is carried out."""
        if why := self._host.store.trouble:
            raise HttpError(503, f"nothing can be kept just now, so nothing was changed: {why}", RETRY_SOON)

    def _expect_organiser(self, call: Call) -> None:
        """Raise `HttpError` without the organiser's token; wrong ones from its address do not lock it out."""
        if call.organiser:
            return
        rate = self._host.limits.wrong_tokens
        try:
            self._host.reception.failed(call.exchange.request.peer, call.token.decode("latin-1") or None)
        except Guessing as guessing:
            raise HttpError(
                429,
                "too many wrong tokens came from your address: "
                f"`limits.wrong_tokens` allows {rate.credits} in {rate.seconds:g} s",
                retry_after(guessing.seconds),
            ) from None
        if call.token:
            raise HttpError(401, "this needs the organiser's token, and a different one came", BEARER)
        raise HttpError(401, "this needs the organiser's token: `Authorization: Bearer TOKEN`", BEARER)


def looks(request: Request) -> bool:
    """Whether a request only looks at tournaments."""
    return request.method in READS and LOOKING.leads(request.path)


def _answered(asked: Asked, route: Route, values: Values, view: View) -> Awaitable[object] | None:
    given: list[Any] = []
    for name, value in values:
        given += NAMED[name](view, value)
    if route.takes is not None:
        given.append(_decoded(asked.exchange.request, route.takes))
    answer = route.answer(asked, *given)
    if isinstance(answer, Response):
        return give(asked.exchange, answer)
    return None if answer is None else give_later(asked.exchange, answer)


def _tournament(view: View, name: str) -> tuple[Any, ...]:
    found = view.shown.get(name)
    if found is None:
        raise HttpError(404, f"there is no tournament {in_quotes(name)}")
    return (found,)


def _match(view: View, name: str) -> tuple[Any, ...]:
    """The tournament of a match, and the match's name, which begins with the tournament's."""
    found = view.tournaments.get(name.rpartition("-")[0])
    if found is None or not (name in found.matches or name in found.record.matches):
        raise HttpError(404, f"there is no match {in_quotes(name)}")
    return found, name


def _game(view: View, name: str) -> tuple[Any, ...]:
    if name not in catalogue():
        raise HttpError(404, f"there is no game {in_quotes(name)}")
    return (name,)


def _group(view: View, name: str) -> tuple[Any, ...]:
    """The name of a group, and its tournaments."""
    return name, groups.found(view, name)


def _word(view: View, word: str) -> tuple[Any, ...]:
    return (word,)


# For each parameter of a path: what the route's function is given for it.
NAMED: Mapping[str, Callable[[View, str], tuple[Any, ...]]] = {
    "name": _tournament,
    "game": _game,
    "match": _match,
    "order": _word,
    "group": _group,
    "bot": _word,
}
ALL = Routes(ROUTES)
LOOKING = Routes(LOOKS, ALL)


def _decoded(request: Request, kind: type[Any]) -> Any:
    body = request.body or b"{}"
    try:
        return msgspec.json.decode(str(body, "utf-8"), type=kind)
    except UNREADABLE as error:
        raise HttpError(400, f"the body cannot be taken: {unreadable(error, 'body', body, kind)}") from None
