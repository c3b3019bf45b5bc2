"""The facts of a section: those in the file, as a store would hold them, or equivalent ones."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import UNSET, Struct, msgpack, structs

from games.game import quoted
from server.export.on_disk import OnDisk
from server.export.read import (
    EntrantLine,
    FactLine,
    Finding,
    MatchLine,
    PairingLine,
    Section,
    WithheldLine,
    seconds,
    sentence,
)
from tournament import entries
from tournament.entries import Entry, unique
from tournament.facts import (
    AnyFact,
    Concluded,
    Described,
    Disqualified,
    Drew,
    EndedEarly,
    Entered,
    Froze,
    NoShow,
    Opened,
    State,
    Turned,
    Withdrew,
)
from tournament.format import Pairing


class Link(Struct, frozen=True, array_like=True):
    """A fact of a section, in its place in the chain."""

    line: int
    row: Entry  # as a store would have it; its number is 0, because a file has none
    seal: str  # for what is not public, and not in this file
    head: str  # the head that the file states after it; "" if it states none
    fact: AnyFact | None  # None: it is withheld


_decoder = msgpack.Decoder(Link)


def links(section: Section, findings: list[Finding]) -> Iterator[Link]:
    """All facts of a section, if the file has any; findings for those that cannot be a store's."""
    for line in section.lines:
        number, read = line.number, line.read
        if not isinstance(read, FactLine | WithheldLine):
            continue
        if read.tournament != section.kept_as:
            findings.append(Finding(number, f"this is a fact of another tournament than {section.name}"))
            continue
        if isinstance(read, WithheldLine):
            row = Entry(0, section.kept_as, read.when, read.kind, None, "")
            yield Link(number, row, read.seal, read.head, None)
            continue
        fact = read.fact
        if isinstance(fact, Concluded):
            if (played := section.played(fact.match)) is None:
                findings.append(Finding(number, f"there is no line of the match {quoted(fact.match)}"))
                continue
            if fact.moves or fact.times:
                findings.append(Finding(number, "moves and times stand with the match, and not here"))
            _, match = played
            fact = structs.replace(fact, moves=match.moves, times=match.times)
        yield Link(number, _row(read, fact, number, findings), read.seal, read.head, fact)


def _row(line: FactLine, fact: AnyFact, number: int, findings: list[Finding]) -> Entry:
    """The fact as a store writes it, which the file seldom says."""
    body = line.body
    try:
        if not body:
            body = entries.body(fact)
        elif entries.fact(body) != fact:
            findings.append(Finding(number, "its body says something else than the line"))
    except (ValueError, OverflowError, RecursionError) as error:
        findings.append(Finding(number, f"this cannot be written as a store writes it: {sentence(error)}"))
        body = ""
    return Entry(0, line.tournament, line.when, entries.kind(fact), unique(fact) or None, body, line.salt)


def on_disk(folder: Path) -> OnDisk[Link]:
    """Where facts can go if they need not be in memory: those that a store can write."""
    return OnDisk(folder, _written, _read)


def _written(link: Link) -> bytes:
    return msgpack.encode(structs.replace(link, fact=None))


def _read(written: bytes) -> Link:
    link = _decoder.decode(written)
    return structs.replace(link, fact=entries.fact(link.row.body)) if link.row.body else link


def facts_of(section: Section) -> list[tuple[int, AnyFact]]:
    """Facts made from the other lines: not the original ones, but with the same outcome."""
    first = section.opened
    opened = Opened(
        first.game,
        first.format,
        first.entrants,
        first.terms,
        first.options,
        first.pace,
        first.absent or UNSET,
        UNSET if first.start_at is None else first.start_at.timestamp(),
        first.group or UNSET,
        tuple([seconds(each) for each in first.rounds_at]) if first.rounds_at else UNSET,
        first.round_every or UNSET,
        first.check_in or UNSET,
        first.by_invitation or UNSET,
    )
    facts: list[tuple[int, AnyFact]] = [(section.opening.number, opened)]
    gone: list[tuple[int, AnyFact]] = []
    for line in section.lines:
        match line.read:
            case EntrantLine(name=name) as entrant:
                facts.append((line.number, Entered(name, entrant.rating)))
                if entrant.affiliation or entrant.contact:
                    facts.append((line.number, Described(name, entrant.affiliation, entrant.contact)))
                if entrant.disqualified:
                    gone.append((line.number, Disqualified(name, "")))
                elif entrant.no_show:
                    gone.append((line.number, NoShow(name)))
                elif entrant.gone:
                    gone.append((line.number, Withdrew(name, entrant.annulled)))
            case PairingLine() as pairing:
                drawn = Pairing(pairing.number, pairing.round, pairing.first, pairing.second)
                facts.append((line.number, Drew((drawn,))))
            case MatchLine() as match:
                facts.append((line.number, concluded(match, opened)))
            case _:
                pass
    if first.ended_early:
        gone.append((section.opening.number, EndedEarly()))
    if first.state is not State.REGISTERING:
        gone.append((section.opening.number, Turned(first.state)))
    if first.frozen:
        gone.append((section.opening.number, Froze(True)))
    return facts + gone


def concluded(line: MatchLine, opened: Opened) -> Concluded:
    return Concluded(
        line.match,
        line.pairing,
        line.players,
        line.winner,
        line.ending,
        line.why,
        line.score,
        line.moves,
        line.times,
        None if line.options == opened.options else line.options,
        None if line.began is None else seconds(line.began),
        None if line.ended is None else seconds(line.ended),
        line.fault,
        line.causes(),
        line.thought,
        line.network,
        line.versions,
        line.kinds,
        line.notes,
    )
