"""Texts for authors, with the host's own addresses in place of the usual ones.

The documentation says `127.0.0.1:8000` and the like, so that its examples can be pasted on the host's own
machine. Readers of the host's own pages see the address by which they have reached it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

MARKDOWN = "text/markdown; charset=utf-8"
NAME = "for-assistants.md"
PLACES = (Path(__file__).parent / NAME, Path(__file__).parents[2] / "docs" / NAME)
PLACE = next(place for place in PLACES if place.is_file())  # in an installed command, or in a checkout
ASSISTANTS = PLACE.read_text(encoding="utf-8")

NOT_OVER_TCP = (
    "Bots reach this host over its websocket port or over HTTP. "
    "The addresses for TCP on this page work on its own machine alone."
)
_TCP = re.compile(r"127\.0\.0\.1[: ]8000")
_TITLE = re.compile(r"\A(#.*\n|<h1[^>]*>.*</h1>\n)")


def addressed(text: str, connect: Mapping[str, str]) -> str:
    """Markdown, or HTML made of it, with the addresses of `connect`: see `Addresses.reached`.

    They have been checked, so HTML needs none of them escaped.
    """
    host, tcp = connect["host"], connect["tcp"]
    if not connect["url"] and _TCP.search(text):
        before, after = ("<p>", "</p>\n") if text.startswith("<") else ("\n", "\n")
        text = _TITLE.sub(rf"\g<0>{before}{NOT_OVER_TCP}{after}", text)
    for usual, own in (
        ("tcp://127.0.0.1:8000", connect["url"] or f"tcp://{host}:{tcp}"),
        ("ws://127.0.0.1:8001", connect["websocket"]),
        ("http://127.0.0.1:8080", connect["http"]),
        ("nc 127.0.0.1 8000", f"nc {host} {tcp}"),
        ('"127.0.0.1", 8000', f'"{host}", {tcp}'),
    ):
        text = text.replace(usual, own)
    return text
