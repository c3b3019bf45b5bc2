"""Whether an export is consistent: every match by the rules, and all that is said to follow from them.

A tournament is checked in three steps. Each of its facts has to be possible
after those before it (`server/export/verify_facts.py`, and `server/export/verify_match.py`
for a match). What all facts add up to is computed anew, by the same fold that
a host uses. And what the file says has to equal that (`server/export/verify_lines.py`). A
file without facts, as the HTTP API gives it, is read as the facts that it
amounts to.

A file need only be readable; anything in it that cannot be true is a finding.
`docs/export.md` lists what cannot be told from an export. `server/export/verify_chain.py`
finds out whether its facts were changed after somebody was given a receipt.

The lines and facts of a tournament are on disk meanwhile: half a million matches need not fit in memory.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from pathlib import Path
from tempfile import gettempdir
from typing import BinaryIO, cast, overload

from msgspec import Struct

from games.game import quoted
from server.exits import Failure
from server.export import read, read_facts
from server.export.passing import More, counted, nobody_looks, watched
from server.export.read import LONGEST, Finding, MatchLine, Section, sections
from server.export.read_facts import Link, facts_of, links
from server.export.verify_causes import cause_objections
from server.export.verify_chain import NO_HEAD, Chain, Sought, followed
from server.export.verify_facts import can_be_added, decided, is_over, objections, opening_objections
from server.export.verify_lines import differences
from server.export.verify_match import ending_objections, replayed
from server.store.ledger import SET
from tournament.entries import PRIVATE
from tournament.facts import AnyFact, Concluded, Dealt, Opened, RoundBegan, State, Voided
from tournament.record import Record

PASSES = 2  # over a file: its lines are read, and checked
SET_BACK = 1.0  # seconds by which a wall clock may be set back between two facts


class Verdict(Struct):
    tournaments: int = 0
    matches: int = 0
    moves: int = 0
    findings: list[Finding] = []
    chains: list[Chain] = []
    receipt_found: bool | None = None  # None: no receipt was given


def verify(source: Iterable[bytes], receipt: str | None = None, more: More = nobody_looks) -> Verdict:
    """Findings about what does not follow in a file of JSON Lines, in the order of its lines.

    With a `receipt`, it also says whether that is a head of one of the file's chains. Raises `Failure` if
    there is no room for temporary files. `more` is called with the bytes that have been read, or checked.
    """
    verdict = Verdict()
    seen, end = set[str](), 1
    sought = None if receipt is None else Sought(bytes.fromhex(receipt))
    folder = _temporary()
    with read.on_disk(folder) as kept_lines, read_facts.on_disk(folder) as facts:
        for section in sections(counted(source, more), verdict.findings, kept_lines.emptied):
            if not isinstance(section, Section):
                continue  # a fact of the host itself
            if section.kept_as in seen:
                why = f"{quoted(section.name)} is in this file a second time"
                verdict.findings.append(Finding(section.opening.number, why))
            seen.add(section.kept_as)
            verdict.tournaments += 1
            for line in section.lines:
                if isinstance(line.read, MatchLine):
                    verdict.matches += 1
                    verdict.moves += len(line.read.moves)
            facts.emptied()
            for link in links(section, verdict.findings):
                facts.append(link)
            verdict.chains.append(followed(section, facts, verdict.findings, sought))
            verdict.findings += dict.fromkeys(_checked(section, facts, kept_lines.size, more))
            end = section.last
    if sought is not None:
        verdict.receipt_found = sought.found
    if verdict.receipt_found is False:
        verdict.findings.append(Finding(end, f"the receipt {receipt} {NO_HEAD}"))
    if not verdict.tournaments and not verdict.findings:
        verdict.findings.append(Finding(1, "there is no tournament in this file"))
    verdict.findings.sort(key=lambda finding: finding.line)
    return verdict


def _temporary() -> Path:
    try:
        return Path(gettempdir())
    except OSError as error:
        raise Failure(f"temporary files cannot be written: {error.strerror or error}") from None


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; a line that is far too long comes in pieces just long enough to show that."""
    return iter(lambda: file.readline(LONGEST + 1), b"")


class Deciding(Sequence[tuple[int, AnyFact]]):
    """The facts of a section on which its results depend, each with the number of its line, read anew."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = links
        self._places = array("Q")  # in the links
        for place, link in enumerate(links):
            if link.fact is not None and not isinstance(link.fact, PRIVATE):
                self._places.append(place)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> tuple[int, AnyFact]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[int, AnyFact]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, AnyFact] | list[tuple[int, AnyFact]]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        link = self._links[self._places[index]]
        return link.line, cast("AnyFact", link.fact)


def _checked(section: Section, links: Sequence[Link], size: int, more: More) -> Iterator[Finding]:
    numbered: Sequence[tuple[int, AnyFact]] = Deciding(links)
    in_order = bool(numbered)  # whether these are the original facts, and not only their outcome
    numbered = numbered or facts_of(section)
    number, opened = numbered[0]
    wrong = list(opening_objections(opened))
    yield from _times_objections(links)
    yield from (Finding(number, why) for why in wrong)
    if wrong or not isinstance(opened, Opened):
        return
    record = Record(section.name, opened, kept_as=section.kept_as)
    try:
        for index, (number, fact) in islice(enumerate(watched(numbered, size, more)), 1, None):
            if isinstance(fact, Concluded) and (played := section.played(fact.match)):
                at = record.dealt_at.get(fact.match)
                yield from _played(opened, fact, number, *played, at, in_order)
            wrong = list(objections(record, fact, in_order))
            if in_order and not wrong and (why := decided(record, numbered, index)):
                yield Finding(number, why)
            yield from (Finding(number, why) for why in wrong)
            if not wrong or can_be_added(record, fact):
                record.add(fact)
        if record.state is State.FINISHED and not is_over(record):
            yield Finding(section.opening.number, "it is finished, and there are pairings without a result")
        matches = (
            fact for _, fact in numbered if isinstance(fact, Concluded) and fact.match in record.matches
        )
        yield from differences(section, record, matches)
    except Exception as error:  # formats and criteria may fail on facts that no host can have kept
        why = f"what this comes to cannot be worked out: {type(error).__name__}"
        yield Finding(section.opening.number, why)


def _times_objections(links: Iterable[Link]) -> Iterator[Finding]:
    latest = -inf
    for link in links:
        if link.row.when < latest - SET_BACK:
            why = f"this was kept {latest - link.row.when:.3f} seconds before what stands above it"
            yield Finding(link.line, f"{why}: a clock was set back, or the file was rearranged")
        latest = link.row.when
        if (after := _told(link.fact) - latest) > SET:
            yield Finding(link.line, f"this tells of what was {after:.3f} seconds after it was kept")
        elif isinstance(link.fact, Dealt) and after < -SET and link.fact.when is not None:
            yield Finding(
                link.line, f"this was kept {-after:.3f} seconds after the match is said to be dealt"
            )


def _told(fact: AnyFact | None) -> float:
    """The wall time of what a fact tells of; -inf where it tells of none."""
    match fact:
        case Dealt(when=float() | int() as when) | Concluded(ended=float() | int() as when):
            return when
        case Voided(at=float() | int() as when) | RoundBegan(at=when):
            return when
        case _:
            return -inf


def _played(
    opened: Opened,
    fact: Concluded,
    number: int,
    line: int,
    shown: MatchLine,
    dealt_at: float | None,
    in_order: bool,
) -> Iterator[Finding]:
    """Findings about moves, for the line of the match, and about an ending, for the line that has it."""
    match, wrong = replayed(opened, fact)
    yield from (Finding(line, why) for why in wrong)
    if match is not None:
        same = (shown.winner, shown.ending, shown.why) == (fact.winner, fact.ending, fact.why)
        pace = opened.pace or match.game.pace
        for why in (
            *ending_objections(opened, match, fact, in_order),
            *cause_objections(pace, match, fact, dealt_at),
        ):
            yield from (Finding(each, why) for each in ({number, line} if same else {number}))
