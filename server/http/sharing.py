"""What pages of other sites may do here (CORS): whose answers they may read, and what they may send.

Some bots live in a browser, on a page of any site. A browser lets such a page
read a response only if the response allows it, and asks beforehand, by OPTIONS,
before it sends what a form could not. A door says what it shares. One that says
nothing shares nothing, and every door that cookies protect must be one of these.

`Access-Control-Allow-Private-Network` is not sent: browsers have given it up
and ask their user instead.
"""

import re

from msgspec import Struct

from server.http.head import METHODS
from server.http.wire import Request, Response, refused
from server.net.escaping import safe

HEADERS = "Content-Type, Last-Event-ID, X-Turn-Token"  # a page may set these beside those it always may
WITH_TOKEN = f"{HEADERS}, Authorization"
KEPT = "7200"  # seconds for which a browser remembers a permission; Chromium's longest

READS = frozenset({"GET", "HEAD"})


class Sharing(Struct, frozen=True):
    """What a door shares with pages of other sites."""

    answers: frozenset[str] = frozenset()  # the methods whose answers pages may read
    methods: str = ""  # the methods that pages are told they may use
    tokens: re.Pattern[str] | None = None  # the paths at which pages may identify themselves by a token
    headers: str = HEADERS  # what pages are told they may set elsewhere


NOTHING = Sharing()
BOTS = Sharing(METHODS, "GET, HEAD, POST")  # everything, including refusals of odd methods


TRUSTED = Sharing(METHODS, "GET, HEAD, POST", re.compile(".*", re.DOTALL))  # sites that an organiser lists


def reading(tokens: str) -> Sharing:
    """The sharing of a door that is only read.

    A browser that was allowed a header at a path allows it there for a while, whatever the method. So
    `tokens` are paths at which nothing can be changed.
    """
    return Sharing(READS, ", ".join(sorted(READS)), re.compile(tokens))


def preflight(request: Request, sharing: Sharing) -> Response:
    """The answer to OPTIONS, by which a browser may ask whether a page may send another request."""
    asked = request.headers.get("access-control-request-method")
    if asked is not None and asked not in sharing.answers:
        return refused(403, f"a page of another site may use {sharing.methods} here, not {safe(asked)}")
    with_token = sharing.tokens is not None and sharing.tokens.fullmatch(request.path)
    return Response(
        204,
        (
            ("Access-Control-Allow-Methods", sharing.methods),
            ("Access-Control-Allow-Headers", WITH_TOKEN if with_token else sharing.headers),
            ("Access-Control-Max-Age", KEPT),
        ),
    )
