"""Texts for authors, with the host's own addresses in place of the usual ones.

The documentation says `127.0.0.1:8000` and the like, so that its examples can be pasted on the host's own
machine. Readers of the host's own pages see the address by which they have reached it.
"""

from collections.abc import Mapping
from pathlib import Path

MARKDOWN = "text/markdown; charset=utf-8"
NAME = "for-assistants.md"
PLACES = (Path(__file__).parent / NAME, Path(__file__).parents[2] / "docs" / NAME)
PLACE = next(place for place in PLACES if place.is_file())  # in an installed command, or in a checkout
ASSISTANTS = PLACE.read_text(encoding="utf-8")


def addressed(text: str, connect: Mapping[str, str]) -> str:
    """The text, with the addresses of `connect`: see `Addresses.reached`."""
    host, tcp = connect["host"], connect["tcp"]
    for usual, own in (
        ("tcp://127.0.0.1:8000", connect["url"]),
        ("ws://127.0.0.1:8001", connect["websocket"]),
        ("http://127.0.0.1:8080", connect["http"]),
        ("nc 127.0.0.1 8000", f"nc {host} {tcp}"),
        ('"127.0.0.1", 8000', f'"{host}", {tcp}'),
    ):
        text = text.replace(usual, own)
    return text
