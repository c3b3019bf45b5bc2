"""How the desk answers: with pages that no cache may keep, or by leading the browser on."""

from typing import Any
from urllib.parse import quote

from server.http.exchange import Exchange
from server.http.wire import NO_STORE, Response, unstored
from server.pages.site import Site

# Other sites are told nothing. With `no-referrer`, as elsewhere, a form would not say that it is from here.
OWN_SITE = ("Referrer-Policy", "same-origin")


def give(
    site: Site,
    exchange: Exchange,
    template: str,
    status: int = 200,
    /,
    *more: tuple[str, str],
    **seen: Any,
) -> None:
    """Answer with a page of the desk, which no cache may keep."""
    exchange.respond(page(site, exchange, template, status, *more, **seen))


def page(
    site: Site,
    exchange: Exchange,
    template: str,
    status: int = 200,
    /,
    *more: tuple[str, str],
    **seen: Any,
) -> Response:
    """A page of the desk. A long one may be made in a thread."""
    return unstored(site.page(template, exchange, status, **seen), OWN_SITE, *more)


def go(exchange: Exchange, where: str, *headers: tuple[str, str]) -> None:
    """Redirect the browser, so that reloading the page does not repeat the order."""
    kept = (("Location", quote(where, safe="/?=&%#+")), NO_STORE, *headers)
    exchange.respond(Response(303, own=kept))  # as its own: the cache of headers must not hold a cookie
