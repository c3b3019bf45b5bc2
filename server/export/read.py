"""Reads what `write.py` writes: lines in, sections out, and a sentence for every line that is wrong.

A section is one tournament. Files come from anywhere, so nothing in one
may raise an exception here. Whether a section is consistent is decided elsewhere:
`server/export/verify.py`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct, structs

from games.game import Pace, quoted
from tournament.events import Ending
from tournament.format import Pairing, Score, Terms
from tournament.record import (
    AnyFact,
    Concluded,
    Disqualified,
    Drew,
    Entered,
    Froze,
    Kept,
    Opened,
    State,
    Turned,
    Withdrew,
)

LONGEST = 64 * 1024 * 1024  # bytes of a line: the standings of a hundred thousand entrants have fewer


class Finding(Struct, frozen=True):
    """What is wrong with a line, in a sentence."""

    line: int
    why: str


class TournamentLine(Struct, frozen=True, tag="tournament"):
    tournament: str
    game: str
    format: str
    state: State
    entrants: int | None
    terms: Terms
    options: dict[str, Any]
    pace: Pace | None
    frozen: bool = False


class EntrantLine(Struct, frozen=True, tag="entrant"):
    name: str
    rating: float | None
    gone: bool
    annulled: bool
    disqualified: bool


class PairingLine(Struct, frozen=True, tag="pairing"):
    number: int
    round: int
    first: str
    second: str | None


class MatchLine(Struct, frozen=True, tag="match"):
    pairing: int
    match: str
    players: tuple[str, str]
    winner: int | None
    ending: Ending
    why: str
    score: Score | None
    options: dict[str, Any]
    moves: tuple[Any, ...]
    times: tuple[float, ...]


class FactLine(Struct, frozen=True, tag="fact"):
    tournament: str
    when: float
    fact: AnyFact


class StandingsLine(Struct, frozen=True, tag="standings"):
    rows: list[dict[str, Any]]


AnyLine = TournamentLine | EntrantLine | PairingLine | MatchLine | FactLine | StandingsLine
ORDER = (TournamentLine, EntrantLine, PairingLine, MatchLine, FactLine, StandingsLine)
KINDS = {str(kind.__struct_config__.tag): kind for kind in ORDER}


class Line(Struct, frozen=True):
    number: int
    found: dict[str, Any]  # as it stands in the file
    read: AnyLine


class Section(Struct):
    """One tournament of a file, with every line that could be read."""

    opening: Line
    opened: TournamentLine
    lines: list[Line] = []

    @property
    def name(self) -> str:
        return self.opened.tournament

    @property
    def played(self) -> dict[str, tuple[int, MatchLine]]:
        """The lines of its matches, by name and with their numbers."""
        return {
            line.read.match: (line.number, line.read)
            for line in self.lines
            if isinstance(line.read, MatchLine)
        }

    @property
    def last(self) -> int:
        return self.lines[-1].number if self.lines else self.opening.number


def lines(source: Iterable[bytes], findings: list[Finding]) -> Iterator[Line]:
    """Every line that can be read, typed; a finding for any other, unless its type is not known here."""
    for number, text in enumerate(source, 1):
        if not text.strip():
            continue
        try:
            if len(text) > LONGEST:
                raise ValueError(f"a line of more than {LONGEST} bytes is none of an export")
            match msgspec.json.decode(text):
                case {"type": str() as kind, **rest}:
                    if kind in KINDS:
                        found: dict[str, Any] = {"type": kind, **rest}
                        yield Line(number, found, msgspec.convert(found, KINDS[kind]))
                case other:
                    raise ValueError(f'expected an object with a "type", not {quoted(other)}')
        except (ValueError, RecursionError) as error:  # msgspec's errors are of the former kind
            findings.append(Finding(number, sentence(error)))


def sections(source: Iterable[bytes], findings: list[Finding]) -> Iterator[Section | Kept]:
    """Every tournament as soon as it is read; facts of the host itself, which belong to none, as they are."""
    section: Section | None = None
    for line in lines(source, findings):
        match line.read:
            case TournamentLine() as opened:
                if section is not None:
                    yield _whole(section, findings)
                section = Section(line, opened)
            case FactLine(tournament="", when=when, fact=fact):
                yield Kept("", when, fact)
            case _ if section is None:
                findings.append(Finding(line.number, "this stands before any tournament's first line"))
            case _:
                before = (section.lines or [section.opening])[-1]
                if ORDER.index(type(line.read)) < ORDER.index(type(before.read)):
                    why = f"a line of type {line.found['type']} cannot come after {before.found['type']}"
                    findings.append(Finding(line.number, why))
                section.lines.append(line)
    if section is not None:
        yield _whole(section, findings)


def _whole(section: Section, findings: list[Finding]) -> Section:
    standings = sum(isinstance(line.read, StandingsLine) for line in section.lines)
    if standings != 1:
        why = f"{section.name} ends with {standings} lines of type standings, and not with one"
        findings.append(Finding(section.last, why))
    return section


def journal(section: Section, findings: list[Finding]) -> list[tuple[int, Kept]]:
    """What a store would hold of it, each fact with its line; [] if the file has no facts."""
    played = section.played
    found: list[tuple[int, Kept]] = []
    for line in section.lines:
        if not isinstance(line.read, FactLine):
            continue
        number, fact = line.number, line.read.fact
        if line.read.tournament != section.name:
            findings.append(Finding(number, f"this is a fact of another tournament than {section.name}"))
            continue
        if isinstance(fact, Concluded):
            if fact.match not in played:
                findings.append(Finding(number, f"there is no line of the match {quoted(fact.match)}"))
                continue
            if fact.moves or fact.times:
                findings.append(Finding(number, "moves and times stand with the match, and not here"))
            _, match = played[fact.match]
            fact = structs.replace(fact, moves=match.moves, times=match.times)
        found.append((number, Kept(section.name, line.read.when, fact)))
    return found


def facts_of(section: Section) -> list[tuple[int, AnyFact]]:
    """The facts that the other lines amount to: not those there were, but with the same outcome."""
    first = section.opened
    opened = Opened(first.game, first.format, first.entrants, first.terms, first.options, first.pace)
    facts: list[tuple[int, AnyFact]] = [(section.opening.number, opened)]
    gone: list[tuple[int, AnyFact]] = []
    for line in section.lines:
        match line.read:
            case EntrantLine(name=name) as entrant:
                facts.append((line.number, Entered(name, entrant.rating)))
                if entrant.disqualified:
                    gone.append((line.number, Disqualified(name, "")))
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
    )


def sentence(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "this is nested too deeply to be read"
    return str(error)
