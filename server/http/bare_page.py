"""How a request is refused before any application sees it: as JSON, and for a browser as a page.

The page is bare, because nothing is known here of the pages of the host. Whoever mistyped
an address, or uses a name that this host does not go by, gets a sentence to read.
"""

import re
from collections.abc import Mapping
from html import escape
from http import HTTPStatus

from server.http.head import HttpError
from server.http.wire import Response, refused, typed

HTML = (*typed("text/html; charset=utf-8"), ("Content-Security-Policy", "default-src 'none'"))
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
</head>
<body>
<main>
<h1>{title}</h1>
<p>{what}.</p>
</main>
</body>
</html>
"""
ACCEPTS = re.compile(rb"\r\naccept:[^\r\n]*text/html", re.IGNORECASE)


def asks_for_page(headers: Mapping[str, str]) -> bool:
    """Whether the client is a browser; one that accepts anything (`*/*`) is a program."""
    return "text/html" in headers.get("accept", "").lower()


def sent_by_browser(raw: bytes) -> bool:
    """The same of a head that could not be read."""
    return ACCEPTS.search(raw) is not None


def refusal(error: HttpError, *, to_browser: bool) -> Response:
    if not to_browser:
        return refused(error.status, str(error), *error.headers)
    said = str(error)
    page = PAGE.format(title=HTTPStatus(error.status).phrase, what=escape(said[:1].upper() + said[1:]))
    return Response(error.status, (*HTML, *error.headers), page.encode())
