"""The facts of a tournament as a chain of hashes, so that none can be changed unnoticed.

Each fact has a *leaf*, the SHA-256 of its line in the journal, and a *head*, the SHA-256 of the head
before it and its leaf. Whoever holds one head holds a receipt for that fact and all before it. Where a
line stands in the journal is no part of its leaf: a tournament that moves to another host keeps its heads.

If part of a fact is not public, its leaf is made of what everybody may know and of a *seal*, the SHA-256
of a salt and the whole fact. So whoever may not know the rest can still compute the chain, and the kind of
a fact cannot be hidden.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from types import MappingProxyType

from tournament.entries import Entry, body, fact, public

START = bytes(32)  # the head before the first fact
NONE: Mapping[str, bytes] = MappingProxyType({})


def leaf(row: Entry) -> bytes:
    """The leaf of a fact, made of its line exactly as it is written."""
    if not row.salt:
        return shown_leaf(row, row.body, "")
    part = public(fact(row.body))
    return shown_leaf(row, "" if part is None else body(part), seal(row))


def seal(row: Entry) -> str:
    """The seal in place of what is not public of a fact; "" where all of it is public."""
    return sha256(f"{row.salt}\0{row.body}".encode()).hexdigest() if row.salt else ""


def shown_leaf(row: Entry, shown: str, seal: str) -> bytes:
    """The leaf of a fact, made of what everybody may know of it and of its seal."""
    written = f"{row.tournament}\0{float(row.when)!r}\0{row.kind}\0{row.key or ''}\0{shown}\0{seal}"
    return sha256(written.encode()).digest()


def linked(head: bytes, leaf: bytes) -> bytes:
    return sha256(head + leaf).digest()


def heads(rows: Iterable[Entry], known: dict[str, bytes]) -> list[bytes]:
    """The head of each row; `known` has the latest of each tournament, and is brought up to date."""
    found: list[bytes] = []
    for row in rows:
        known[row.tournament] = head = linked(known[row.tournament], leaf(row))
        found.append(head)
    return found


class Heads(dict[str, bytes]):
    """The latest head of each tournament: those that are not `known` are looked up when asked for."""

    def __init__(self, look_up: Callable[[str], bytes], known: Mapping[str, bytes] = NONE) -> None:
        super().__init__(known)
        self._look_up = look_up

    def __missing__(self, tournament: str) -> bytes:
        self[tournament] = head = self._look_up(tournament)
        return head
