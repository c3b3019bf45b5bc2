"""Files beside the journal that save time, and are believed only as far as the journal bears them out.

Each says up to which entry of the journal it goes, with a hash of that entry. If a file is missing,
damaged, or of another version or another journal, nothing is lost but time.
"""

from collections.abc import Iterable
from hashlib import blake2b
from math import inf
from pathlib import Path

import msgspec

from server.store import private
from server.store.journal import Reader
from tournament.entries import Entry

BOARDS = "boards"  # the tables of long tournaments
SIZE = 32  # bytes of a hash


def write(path: Path, magic: bytes, content: bytes) -> None:
    """Replace the file, all or nothing; raises `OSError`."""
    private.write(path, magic, _hash(content), content)


def read(path: Path, magic: bytes) -> bytes:
    """The content as it was written; raises `OSError`, or `ValueError` if it is damaged."""
    found = path.read_bytes()
    start = len(magic) + SIZE
    if found[: len(magic)] != magic or found[len(magic) : start] != _hash(found[start:]):
        raise ValueError("it is damaged")
    return found[start:]


def entry_of(reader: Reader, number: int, hash: bytes) -> Entry:
    """The journal's entry of that number; raises `ValueError` if there is none that has that hash."""
    entry = next(iter(reader.kept(number - 1)), None)
    if entry is None or hash_of(entry) != hash:
        raise ValueError("it is of another journal")
    return entry


def expect_all(reader: Reader, number: int, tournaments: Iterable[str]) -> None:
    """Raise `ValueError` unless all of these were in the journal by that entry, and are there still.

    A tournament that was archived since is not, even if a later one has its name.
    """
    first = reader.first()
    if any(first.get(name, inf) > number for name in tournaments):
        raise ValueError("some tournaments have been taken out of the journal since")


def hash_of(entry: Entry) -> bytes:
    return _hash(msgspec.json.encode(entry))


def _hash(content: bytes) -> bytes:
    return blake2b(content, digest_size=SIZE).digest()
