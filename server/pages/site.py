"""What all pages of a host share: its addresses and games, and what is said instead of a page."""

from typing import Any

from games.catalogue import catalogue
from server.http.exchange import Exchange
from server.http.wire import Response
from server.net.escaping import safe
from server.pages import by_hand, rendering
from server.pages.addresses import Addresses

HEADINGS = {404: "Nothing here", 405: "Only for reading", 503: "Not just now"}  # of what is said instead


class Site:
    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses

    def page(
        self,
        template: str,
        exchange: Exchange,
        status: int = 200,
        *,
        framed: bool = False,
        **seen: Any,
    ) -> Response:
        """A page of this host, with the addresses by which the browser can reach it."""
        connect = self.addresses.reached(exchange.request)
        speaks_to = connect["websocket"] if template == by_hand.TEMPLATE else ""
        games = [(name, each.title) for name, each in catalogue().items()]
        return rendering.page(
            template,
            status,
            framed=framed,
            speaks_to=speaks_to,
            connect=connect,
            games=games,
            path=exchange.request.path,
            **seen,
        )

    def instead(self, exchange: Exchange, status: int, what: str, *, framed: bool = False) -> Response:
        """The page that says `what`, where the one that was asked for cannot be shown."""
        heading = HEADINGS[status]
        return self.page("instead.html", exchange, status, framed=framed, heading=heading, what=what)

    def missing(self, exchange: Exchange, what: str | None = None, *, framed: bool = False) -> None:
        what = what or f"There is nothing at {safe(exchange.request.path)}."
        exchange.respond(self.instead(exchange, 404, what, framed=framed))
