"""A table for a terminal: headings, a line under them, and rows.

It is drawn here, in about a second for 20,000 rows. The library that draws help and progress takes half a
minute for these, because it looks for styles and line breaks in each cell.
"""

import sys
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from msgspec import Struct

from server.net.escaping import safe

WIDTH = 100  # characters of a table, unless the words in it need more
MARGIN = "  "
GAP = "   "  # between two columns
NAMES = ("name", "tournament", "bot")  # headings of columns in which a blank is a part of a name
EDGE = 2  # columns of the screen on the right that stay empty


class Column(Struct):
    heading: str
    is_text: bool  # flush left; figures are flush right
    width: int

    def put(self, text: str) -> str:
        """A cell that fits, as wide as the column."""
        blank = " " * (self.width - width(text))
        return text + blank if self.is_text else blank + text

    def lines(self, cell: str) -> list[str]:
        """The lines of a cell, each of which fits."""
        if "\n" not in cell and width(cell) <= self.width:
            return [cell]
        return [part for line in cell.split("\n") for part in _wrapped(line, self.width)]


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None) -> str:
    """Rows under headings. A heading that ends in a space is for words, flush left; others are for figures.

    Numbers are counts and sums, as in 1,000; a rank is a text. Where there are no rows, there are no headings
    either. Sentences may go on on the next line. Names are whole, however long they are: they are copied from
    here, and searched for.
    """
    cells = [[*map(_written, row)] for row in rows]
    if not cells:
        return safe(title or "", cut=None)
    columns = _columns(headings, cells)
    across = sum(column.width for column in columns) + len(GAP) * (len(columns) - 1) + EDGE
    drawn = [
        *([] if title is None else [safe(title, cut=None)]),
        "",
        *_lines(columns, [column.heading for column in columns]),
        " " + ("─" if _has("─") else "-") * across,
        *(line for row in cells for line in _lines(columns, row)),
    ]
    return "\n".join(drawn)


def width(text: str) -> int:
    """How many columns of a screen a text takes: some letters take two, and some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # the import takes longer than most tables

    return cell_len(text)


def _written(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int | float):
        return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.10g}"
    return safe(str(cell), cut=None)


def _columns(headings: Sequence[str], rows: list[list[str]]) -> list[Column]:
    """As wide as what is in them; where that is too wide, those with sentences give way, the widest first.

    Neither names nor figures are sentences, whether there are blanks in them or not.
    """
    columns = list[Column]()
    least = list[int]()
    for heading, cells in zip(headings, zip(*rows, strict=True), strict=True):
        title, parts = heading.rstrip(), [line for cell in cells for line in cell.split("\n")]
        column = Column(title, heading.endswith(" "), max(map(width, [title, *parts])))
        words = [word for part in parts for word in part.split(" ")]
        gives_way = column.is_text and title not in NAMES
        columns.append(column)
        least.append(max(map(width, [title, *words])) if gives_way else column.width)
    room = WIDTH - len(MARGIN) - EDGE - len(GAP) * (len(columns) - 1)
    while sum(column.width for column in columns) > room:
        wide = [column for column, narrow in zip(columns, least, strict=True) if column.width > narrow]
        if not wide:
            break
        max(wide, key=lambda column: column.width).width -= 1
    return columns


def _lines(columns: Sequence[Column], row: Sequence[str]) -> Iterable[str]:
    """A row, which has as many lines as the highest of its cells."""
    cells = [column.lines(cell) for column, cell in zip(columns, row, strict=True)]
    for parts in zip_longest(*cells, fillvalue=""):
        shown = GAP.join(column.put(part) for column, part in zip(columns, parts, strict=True))
        yield (MARGIN + shown).rstrip()


def _wrapped(line: str, room: int) -> list[str]:
    """A line as several, of whole words."""
    first, *words = line.split(" ")
    lines = [first]
    for word in words:
        longer = f"{lines[-1]} {word}"
        if width(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return [each.rstrip(" ") for each in lines]


def _has(letter: str) -> bool:
    """Whether the encoding of standard output has this letter; a file on Windows has but 256 of them."""
    try:
        letter.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
