"""The facts of a section: those in the file, as a store would hold them, or equivalent ones."""

from msgspec import UNSET, Struct, structs

from games.game import quoted
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
    Entered,
    Froze,
    Kept,
    NoShow,
    Opened,
    State,
    Turned,
    Withdrew,
)
from tournament.format import Pairing


class Link(Struct, frozen=True):
    """A fact of a section, in its place in the chain."""

    line: int
    row: Entry  # as a store would have it; its number is 0, for a file has none
    seal: str  # for what is not public, and not in this file
    head: str  # the head that the file states after it; "" if it states none
    kept: Kept | None  # None: it is withheld


def links(section: Section, findings: list[Finding]) -> list[Link]:
    """All facts of a section; [] if the file has none."""
    played = section.played
    found: list[Link] = []
    for line in section.lines:
        number, read = line.number, line.read
        if not isinstance(read, FactLine | WithheldLine):
            continue
        if read.tournament != section.kept_as:
            findings.append(Finding(number, f"this is a fact of another tournament than {section.name}"))
            continue
        if isinstance(read, WithheldLine):
            row = Entry(0, section.kept_as, read.when, read.kind, None, "")
            found.append(Link(number, row, read.seal, read.head, None))
            continue
        fact = read.fact
        if isinstance(fact, Concluded):
            if fact.match not in played:
                findings.append(Finding(number, f"there is no line of the match {quoted(fact.match)}"))
                continue
            if fact.moves or fact.times:
                findings.append(Finding(number, "moves and times stand with the match, and not here"))
            _, match = played[fact.match]
            fact = structs.replace(fact, moves=match.moves, times=match.times)
        kept = Kept(section.kept_as, read.when, fact)
        found.append(Link(number, _row(read, kept, number, findings), read.seal, read.head, kept))
    return found


def _row(line: FactLine, kept: Kept, number: int, findings: list[Finding]) -> Entry:
    """The fact as a store writes it, which the file seldom says."""
    fact, body = kept.fact, line.body
    try:
        if not body:
            body = entries.body(fact)
        elif entries.fact(body) != fact:
            findings.append(Finding(number, "its body says something else than the line"))
    except (ValueError, OverflowError, RecursionError) as error:
        findings.append(Finding(number, f"this cannot be written as a store writes it: {sentence(error)}"))
    return Entry(0, kept.tournament, kept.when, entries.kind(fact), unique(fact) or None, body, line.salt)


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
