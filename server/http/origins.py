"""Where a request comes from: which page in a browser sent it, and whether this machine itself did.

Pages of any site may play here. Requests that make the host call somebody, or that
need an organiser's rights, may only come from pages of the host itself and of sites
that the organiser lists. A browser says in headers that no page can forge which page
sends a request; a client that does not say so is no browser, or an old one.

Pure functions of a request.
"""

import re
from collections.abc import Iterable

from server.http.head import HttpError
from server.http.wire import Request
from server.net.addresses import is_loopback
from server.net.escaping import in_quotes, safe
from server.net.hosts import is_this_machine
from server.net.proxies import passed_on

ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[0-9a-z_.-]+|\[[0-9a-f:.]+\])(?P<port>:[0-9]{1,5})?")
USUAL_PORTS = {"http": ":80", "https": ":443"}


class Origins:
    """The sites whose pages may do what those of the host may."""

    def __init__(self, listed: Iterable[str] = ()) -> None:
        """`listed` are origins, such as `https://club.example`; raises `ValueError` for anything else."""
        self.listed = frozenset(map(_checked, listed))

    def foreign(self, request: Request) -> str:
        """The other site from which a request was sent, as its browser says; "" if there is none."""
        headers = request.headers
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if self.lists(request):
            return ""
        if site not in (None, "same-origin", "none"):
            return f"another site (Sec-Fetch-Site: {safe(site)})" if origin is None else _shown(origin)
        if origin is None or (site, origin) == ("same-origin", "null"):  # null: pages here send no referrer
            return ""
        found = ORIGIN.fullmatch(origin.lower())
        downgraded = request.secure and found is not None and found["scheme"] != "https"
        own = found is not None and f"{found['host']}{found['port'] or ''}" == headers.get("host", "").lower()
        return "" if own and not downgraded else _shown(origin)

    def lists(self, request: Request) -> bool:
        """Whether a request was sent from one of these sites."""
        return request.headers.get("origin", "").lower() in self.listed

    def check(self, request: Request) -> None:
        """Raise `HttpError` for a request that was sent from another site."""
        if where := self.foreign(request):
            raise HttpError(
                403,
                f"a page of {where} may not ask for this: the organiser can list its site as `origins` "
                "in quintain.toml",
            )


def is_from_here(request: Request) -> bool:
    """Whether the client is on this machine and connected directly, not through a proxy.

    A proxy need not say that it is one. A silent one is recognised by the public name that it passes on, or
    by HTTP/1.0, which nginx speaks by default.
    """
    headers = request.headers
    own = is_loopback(request.peer) and is_this_machine(headers.get("host", ""))
    return own and not request.old and not passed_on(headers)


def _shown(origin: str) -> str:
    return safe(ascii(origin)[1:-1]) or "nowhere"


def _checked(listed: str) -> str:
    found = ORIGIN.fullmatch(listed.lower())
    if found is None:
        raise ValueError(
            "expected a scheme and a host, such as https://club.example, without a path, "
            f"not {in_quotes(listed)}"
        )
    port = found["port"] or ""
    return f"{found['scheme']}://{found['host']}{'' if port == USUAL_PORTS[found['scheme']] else port}"


NO_ORIGINS = Origins()
