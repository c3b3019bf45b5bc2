"""Strangers' text, made fit for a terminal, a log, or a line of output.

Names, reasons and moves can be anything that somebody sent. Printed unchanged,
they could move the cursor, change a window's title, forge a line or reverse the
writing direction. All of strangers' text that is printed goes through here.
"""

import json
from typing import Any

import msgspec

CUT = 128  # characters of a value in a log, a table or a sentence about it


def safe(text: str, *, cut: int | None = CUT) -> str:
    """The text escaped, and no longer than `cut`. Without a cut it may have several lines."""
    if cut is None:
        lines = text.split("\n")
        return "\n".join(safe(line, cut=len(line)) for line in lines)
    shown = text[:cut]
    if not shown.isprintable():
        shown = "".join(
            c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in shown
        )
    return shown if len(text) <= cut else shown + "…"


def in_quotes(text: str) -> str:
    """What somebody wrote, as a sentence about it repeats it; an ellipsis shows that there was more."""
    return repr(text) if len(text) <= CUT else f"{text[:CUT]!r}…"


def json_line(value: Any) -> str:
    """JSON on one line of plain ASCII, so that a terminal may show it, too."""
    return json.dumps(plain(value), separators=(",", ":")).replace("\x7f", "\\u007f")


def plain(value: Any) -> Any:
    """The value as dictionaries, lists and the like, even where a game shows it as ready-made JSON."""
    return msgspec.to_builtins(value, enc_hook=msgspec.json.decode)
