"""The documentation of protocols as pages of the host, so that it can be read offline.

Most are in `docs/protocols/`; a dialect of another package brings its own.

They are read when this is imported. HTML in them is shown as text.
"""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from markupsafe import Markup

from server.protocols.catalogue import dialects

PLACES = (Path(__file__).parent / "protocols", Path(__file__).parents[2] / "docs" / "protocols")
PLACE = next(place for place in PLACES if place.is_dir())  # in an installed host, or in a checkout

_BROUGHT = {name: dialect.page for name, dialect in dialects().items() if dialect.page is not None}
_PATHS = {path.stem: path for path in sorted(PLACE.glob("*.md"))} | _BROUGHT
SOURCES = {name: path.read_text(encoding="utf-8") for name, path in _PATHS.items()}
GRAMMARS = {path.name: path.read_bytes() for path in sorted(PLACE.glob("*.json"))}
_LINK = re.compile(r"\]\(([^)#:]+)(#[a-z0-9-]+)?\)")
_MARK = re.compile(r"[^\w -]")  # characters of a heading that its anchor leaves out


def title(name: str) -> str:
    return SOURCES[name].partition("\n")[0].removeprefix("# ")


def page(name: str) -> dict[str, Any]:
    """What the template of a protocol's page is given."""
    others = [(each, title(each)) for each in SOURCES]
    return {"title": title(name), "content": shown(name), "protocols": others}


@cache
def shown(name: str) -> Markup:
    """A page as HTML. Links to other protocols lead to their pages here; other links are removed."""
    from markdown_it import MarkdownIt  # imported here, or every start of the host would pay for it

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_LINK.sub(_linked, SOURCES[name]))
    for heading, said in pairwise(tokens):
        if heading.type == "heading_open":  # give headings the anchors that links use
            heading.attrSet("id", _MARK.sub("", said.content.lower()).replace(" ", "-"))
    html = markdown.renderer.render(tokens, markdown.options, {})
    # A block that is wider than the page can be scrolled, even by keyboard.
    html = html.replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", '<div class="wide" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )
    return Markup(html.replace('<a href="">', "<a>"))  # noqa: S704


def _linked(link: re.Match[str]) -> str:
    target = link[1].removesuffix(".md")
    known = target in SOURCES or target in GRAMMARS
    return f"](/protocols/{target}{link[2] or ''})" if known else "]()"
