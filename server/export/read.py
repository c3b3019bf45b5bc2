"""Reads what `write.py` writes: lines in, sections out, and a sentence for every line that is wrong.

A section is one tournament. Files come from anywhere, so nothing in one
may raise an exception here. Whether a section is consistent is decided elsewhere:
`server/export/verify.py`.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from games.game import Pace, quoted
from tournament.causes import Cause
from tournament.events import Ending, Fault
from tournament.facts import UNKNOWN, UNSAID, Absent, AnyFact, Kept, Sides, State
from tournament.format import Score, Terms
from tournament.kinds import BOTS, Kinds
from tournament.notes import Notes

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
    kept_as: str = ""
    absent: Absent | None = None
    start_at: datetime | None = None
    group: str | None = None
    rounds_at: tuple[datetime, ...] | None = None
    round_every: float | None = None
    check_in: float | None = None
    by_invitation: bool = False


class EntrantLine(Struct, frozen=True, tag="entrant"):
    name: str
    rating: float | None
    gone: bool
    annulled: bool
    disqualified: bool
    no_show: bool = False
    affiliation: str = ""
    contact: str = ""


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
    began: datetime | None = None
    ended: datetime | None = None
    fault: Fault | None = None
    cause: tuple[dict[str, Any], ...] = ()
    thought: Sides = UNKNOWN
    network: Sides = UNKNOWN
    versions: tuple[str | None, str | None] = UNSAID
    kinds: Kinds = BOTS
    notes: Notes = ()

    def __post_init__(self) -> None:
        self.causes()  # raises `ValueError`

    def causes(self) -> tuple[Cause, ...]:
        return tuple([_cause(each) for each in self.cause])


class FactLine(Struct, frozen=True, tag="fact"):
    tournament: str
    when: float
    fact: AnyFact
    head: str = ""  # the head of the chain that ends with the fact; "" in files from before there were chains
    seal: str = ""  # for what is not public
    salt: str = ""  # if the fact is not public and complete in this file
    body: str = ""  # as it is kept, if it would be written differently today


class WithheldLine(Struct, frozen=True, tag="withheld"):
    """A fact that only the organiser may see."""

    tournament: str
    when: float
    kind: str
    seal: str
    head: str


class StandingsLine(Struct, frozen=True, tag="standings"):
    rows: list[dict[str, Any]]
    rules: int = 1  # the version of the criteria; files from before the second version do not say it


class HeadLine(Struct, frozen=True, tag="head"):
    """The head of the chain of all facts before it, and its signature."""

    tournament: str
    facts: int
    head: str
    algorithm: Literal["Ed25519"] | None = None
    key: str | None = None
    signature: str | None = None

    @property
    def signed(self) -> bool:
        return (self.algorithm, self.key, self.signature) != (None, None, None)


AnyLine = (
    TournamentLine
    | EntrantLine
    | PairingLine
    | MatchLine
    | FactLine
    | WithheldLine
    | StandingsLine
    | HeadLine
)
ORDER: Mapping[type[AnyLine], int] = {
    TournamentLine: 0,
    EntrantLine: 1,
    PairingLine: 2,
    MatchLine: 3,
    FactLine: 4,
    WithheldLine: 4,
    HeadLine: 5,
    StandingsLine: 5,  # the last line, except in files of an older Quintain, which end with the head
}
KINDS = {str(kind.__struct_config__.tag): kind for kind in ORDER}


class Line(Struct, frozen=True):
    number: int
    found: dict[str, Any]  # as in the file
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
    def kept_as(self) -> str:
        """The name under which its host keeps it: the name of a deleted tournament may be used again."""
        return self.opened.kept_as or self.name

    @property
    def played(self) -> dict[str, tuple[int, MatchLine]]:
        """The lines of its matches by name, with their numbers."""
        return {
            line.read.match: (line.number, line.read)
            for line in self.lines
            if isinstance(line.read, MatchLine)
        }

    @property
    def last(self) -> int:
        return self.lines[-1].number if self.lines else self.opening.number


def _cause(shown: dict[str, Any]) -> Cause:
    return msgspec.convert(shown | {"at": seconds(msgspec.convert(shown.get("at"), datetime))}, Cause)


def seconds(moment: datetime) -> float:
    """A time as `json_views.moment` writes it, in seconds since the epoch."""
    return round(moment.timestamp(), 3)


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
    """Every tournament as soon as it is read; facts of the host itself, which belong to none, unchanged."""
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
                if ORDER[type(line.read)] < ORDER[type(before.read)]:
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


def sentence(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "this is nested too deeply to be read"
    return str(error)
