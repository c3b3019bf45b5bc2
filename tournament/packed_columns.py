"""The columns of a table as data, for its snapshot: bytes, as they are in memory, and the texts.

They can be read only where numbers have the size and byte order that they had where
they were written; elsewhere, `unpack` raises an error.
"""

import sys
from array import array
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from tournament.columns import Columns
from tournament.remembered import Remembered

LAYOUT = f"{sys.byteorder} {' '.join(f'{code}{array(code).itemsize}' for code in 'Iid')}"


class Packed(Struct, frozen=True, array_like=True):
    layout: str
    columns: list[bytes]
    texts: list[str]
    byes: list[int]
    latest: list[Remembered]
    counted: int


def packed(columns: Columns[Remembered]) -> Packed:
    return Packed(
        LAYOUT,
        [bytes(column) for column in _columns(columns)],
        [*columns.texts],
        [*columns.byes],
        [*columns.latest.values()],
        columns.counted,
    )


def unpack(content: Packed, columns: Columns[Remembered]) -> None:
    """Fill empty columns; raises `ValueError` for those of another machine."""
    if content.layout != LAYOUT:
        raise ValueError("its numbers are those of another machine")
    for column, each in zip(_columns(columns), content.columns, strict=True):
        if isinstance(column, bytearray):
            column += each
        else:
            column.frombytes(each)
    for text in content.texts:
        columns.texts.number(text)
    columns.byes += content.byes
    columns.latest.update((match.match, match) for match in content.latest)
    columns.counted = content.counted


def _columns(columns: Columns[Remembered]) -> Iterator["array[Any] | bytearray"]:
    """All columns, in an order that never changes."""
    yield from (columns.first, columns.second, columns.round, *columns.versions, columns.options)
    yield from (columns.flags, columns.winners, columns.endings, columns.faults)
    yield from (columns.began_at, columns.ended_at, columns.why, columns.plies, columns.digests)
    yield from (columns.ended, columns.decided)
