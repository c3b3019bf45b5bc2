"""The facts of a tournament as lines of an export, each with the head of the chain that ends with it.

The organiser's export has all of them. The public one has only the seal in place of what not
everybody may know, so that the chain can still be computed. The one that an organiser fetches
over the API is like that, but it has contacts, and so the whole facts from which they follow.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import structs

from server.export.signing import ALGORITHM, Signer, unsigned
from server.store.journal import fact
from tournament.chain import START, leaf, linked, seal
from tournament.entries import Entry, body, public
from tournament.facts import AnyFact, Concluded, Described


class FactLines:
    """The lines of one tournament, made in the order of its facts."""

    def __init__(self, tournament: str, *, everything: bool, contacts: bool = False) -> None:
        """With `everything`, the lines can be imported, and are for the organiser alone.

        With `contacts`, they say as well how to reach whoever answers for an entrant.
        """
        self._tournament = tournament
        self._everything = everything
        self._contacts = contacts
        self._head = START
        self._count = 0

    def lines(self, rows: Iterable[Entry]) -> Iterator[dict[str, Any]]:
        return map(self._line, rows)

    def _line(self, row: Entry) -> dict[str, Any]:
        self._head = linked(self._head, leaf(row))
        self._count += 1
        found = fact(row)
        whole = self._everything or (self._contacts and isinstance(found, Described))
        part = found if whole else public(found)
        if part is None:
            line = {"type": "withheld", "tournament": row.tournament, "when": row.when, "kind": row.kind}
            return line | {"seal": seal(row), "head": self._head.hex()}
        line = fact_line(row, part)
        if row.salt:
            line |= {"salt": row.salt} if whole else {"seal": seal(row)}
        if part is found and body(found) != row.body:  # an older Quintain wrote it differently
            line["body"] = row.body
        return line | {"head": self._head.hex()}

    def last(self, signer: Signer | None) -> dict[str, Any]:
        """The line with the number of facts and the head of their chain."""
        head = self._head.hex()
        line = {"type": "head", "tournament": self._tournament, "facts": self._count, "head": head}
        if signer is None:
            return line | {"algorithm": None, "key": None, "signature": None, "why": unsigned()}
        signature = signer.sign(self._tournament, self._count, head)
        return line | {"algorithm": ALGORITHM, "key": signer.public, "signature": signature}


def fact_line(row: Entry, fact: AnyFact) -> dict[str, Any]:
    """The line of a fact, without the moves of a match, which are in the match's own line."""
    if isinstance(fact, Concluded):
        fact = structs.replace(fact, moves=(), times=())
    return {"type": "fact", "tournament": row.tournament, "when": row.when, "fact": fact}
