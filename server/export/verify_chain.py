"""Whether the facts of an export follow from each other by their hashes, and who signed the last hash.

A chain shows that nothing was changed since somebody was given one of its heads, a receipt. A
forger of a file can forge its chain as well, but the receipt is not in such a chain.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from games.game import quoted
from server.export.read import Finding, Section
from server.export.read_facts import Link
from server.export.signing import is_signed
from tournament.chain import START, leaf, linked, shown_leaf
from tournament.entries import PRIVATE, kind

WITHHELD = frozenset(map(kind, PRIVATE))  # the kinds of facts that may be withheld
SHORT = 16  # characters of a hash that are shown
NO_HEAD = (
    "is not a head in this file: what is in it was changed after that receipt was given, or the file is "
    "older than the receipt, or the receipt is for something else"
)


class Chain(Struct, frozen=True):
    """What is known of a section's chain."""

    tournament: str
    facts: int = 0
    head: str | None = None  # None: there is no chain
    key: str | None = None
    signed: bool | None = None  # whether that key signed it; None: no key did, or it cannot be checked here

    def __str__(self) -> str:
        name = quoted(self.tournament)
        if self.head is None:
            return f"{name} carries no chain: nothing proves that its facts were never changed"
        return f"{name} is a chain of {self.facts:,} facts up to the head {self.head}, {self._signed_by}"

    @property
    def _signed_by(self) -> str:
        if self.key is None:
            return "signed by nobody"
        if self.signed is None:
            return f"said to be signed by the key {self.key}: to check that takes the extra `sign`"
        return f"{'' if self.signed else 'not '}signed by the key {self.key}"


class Sought(Struct):
    """A receipt that somebody has, and whether it was met in a chain."""

    head: bytes
    found: bool = False


def followed(
    section: Section, links: Sequence[Link], findings: list[Finding], sought: Sought | None = None
) -> Chain:
    """Follow the chain of a section, looking for a receipt; findings for the lines that do not follow."""
    ends = section.ends
    findings += (Finding(number, "a chain ends once, and this one has ended above") for number, _ in ends[1:])
    if not ends and not any(link.head for link in links):
        return Chain(section.name)
    head = true = START  # the head as the last line says, and as it is
    for link in links:
        own = shown_leaf(link.row, link.row.body, link.seal) if link.seal else leaf(link.row)
        expected, true = linked(head, own), linked(true, own)
        findings += (Finding(link.line, why) for why in _objections(link, expected.hex()))
        head = _bytes(link.head) or expected  # the next line is not blamed for this one
        if sought is not None and true == sought.head:
            sought.found = True
    if not ends:
        findings.append(
            Finding(section.last, "there is no line of type head, which says where the chain ends")
        )
        return Chain(section.name, len(links), head.hex())
    number, line = ends[0]
    if (line.tournament, line.facts, line.head) != (section.kept_as, len(links), head.hex()):
        why = (
            f"the chain of {section.name} has {len(links)} facts and the head {_short(head.hex())}; "
            f"this says that {quoted(line.tournament)} has {line.facts} and the head {_short(line.head)}"
        )
        findings.append(Finding(number, why))
    if not line.signed:
        return Chain(section.name, len(links), head.hex())
    key = line.key or ""
    signed = is_signed(key, line.signature or "", line.tournament, line.facts, line.head)
    if signed is False or line.algorithm is None:
        findings.append(Finding(number, f"this is not signed by the key {quoted(line.key)}"))
    return Chain(section.name, len(links), head.hex(), key, signed)


def _objections(link: Link, expected: str) -> Iterator[str]:
    if link.fact is None and link.row.kind not in WITHHELD:
        yield f"a fact of the kind {quoted(link.row.kind)} is withheld from nobody"
    if not link.head:
        yield "this has no head, and other facts have"
    elif link.head != expected:
        yield f"the chain breaks here: the head is {_short(expected)} by this fact, not {_short(link.head)}"


def _bytes(head: str) -> bytes | None:
    try:
        found = bytes.fromhex(head)
    except ValueError:
        return None
    return found if len(found) == len(START) else None


def _short(head: str) -> str:
    return quoted(head) if len(head) <= SHORT else f"{head[:SHORT]}…"
