"""What all pages share: the templates, and the headers that keep a browser from doing harm.

Templates are read when this is imported, so a host that has run out of files
can still show a page. Values for them are text and are escaped, except those
that are markup by their type, which only drawings and parts of pages are.

Other code that shows pages can use `page`, `part` and `HEADERS`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from server.http.wire import NOSNIFF, Headers, Response
from server.pages import files, formatting
from server.pages.compiled import Compiled

TEMPLATES = Path(__file__).parent / "templates"

HTML = ("Content-Type", "text/html; charset=utf-8")
HEADERS: Headers = (
    ("Cache-Control", "no-cache"),
    NOSNIFF,
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)
# A string becomes markup in only one place of the scripts, by the policy named here.
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "require-trusted-types-for 'script'; trusted-types parts; frame-ancestors "
)

# What a policy can name. It has no words for an address of IPv6, or for an underscore in a name.
NAMED = re.compile(r"wss?://[A-Za-z0-9.-]+(:[0-9]+)?")

# `optimized` would compile the filters' present results for constants into a template that is kept.
OPTIONS: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "optimized": False}


def _environment() -> Environment:
    sources = {
        path.relative_to(TEMPLATES).as_posix(): path.read_text(encoding="utf-8")
        for path in TEMPLATES.rglob("*.*")
    }
    made = Environment(  # noqa: S701 - it is among the options
        loader=DictLoader(sources),
        undefined=StrictUndefined,
        auto_reload=False,
        cache_size=-1,
        bytecode_cache=Compiled(OPTIONS),
        **OPTIONS,
    )
    made.filters |= formatting.FILTERS
    made.globals.update(formatting.FUNCTIONS, static=files.address, FEW=formatting.FEW)  # pyright: ignore[reportCallIssue, reportArgumentType] - typed by what is there before
    return made


ENVIRONMENT = _environment()


def warm() -> None:
    """Load or compile every template before anybody waits for it."""
    for name in ENVIRONMENT.list_templates():
        ENVIRONMENT.get_template(name)


def page(
    template: str, status: int = 200, *, framed: bool = False, speaks_to: str = "", **seen: Any
) -> Response:
    """A whole page; a `framed` one may be shown in frames of other sites.

    Its scripts can reach this host's own port, and the address that the page `speaks_to`: any of its scheme,
    if a policy cannot name it.
    """
    body = ENVIRONMENT.get_template(template).render(seen)
    source = speaks_to if NAMED.fullmatch(speaks_to) else f"{speaks_to.partition('://')[0]}:"
    reached = f"connect-src 'self' {source}; " if speaks_to else ""
    policy = ("Content-Security-Policy", reached + POLICY + ("*" if framed else "'none'"))
    return Response(status, (HTML, policy, *HEADERS), body.encode())


def part(name: str, seen: Mapping[str, Any]) -> Markup:
    """A part of a page, the same for the page and its stream."""
    return Markup(ENVIRONMENT.get_template(f"parts/{name}.html").render(seen))  # noqa: S704 - escaped by then
