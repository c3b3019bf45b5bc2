"""Reads what `write.py` writes: lines in, sections out, and a sentence for every line that is wrong.

A section is one tournament. Files come from anywhere, so nothing in one
may raise an exception here. Whether a section is consistent is decided elsewhere:
`server/export/verify.py`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from games.game import Pace, quoted
from server.export.on_disk import OnDisk
from tournament.causes import Cause
from tournament.events import Ending, Fault
from tournament.facts import UNKNOWN, UNSAID, Absent, AnyFact, Drew, Kept, Ordered, Sides, State
from tournament.format import Score, Terms
from tournament.kinds import BOTS, Kinds
from tournament.notes import Notes

# Bytes of a line. The draw of the largest round robin is one: a million pairings, each of two names …
LONGEST = 256 * 1024 * 1024
TABLE = 64 * 1024 * 1024  # … a table may have a hundred thousand rows, an order as many tournaments …
SHORT = 8_000_000  # … and any other is a match at most: of a thousand plies, and a line of a wire for each
MARK = b"\xef\xbb\xbf"  # with which some editors begin a file in UTF-8
UTF_16 = "this file is in UTF-16, in which some shells write what a command prints; an export is in UTF-8"
FOREIGN = {  # what a file that is none of JSON Lines begins with, and what it is
    b"\x1f\x8b": "this file is compressed: unpack it first, as with gunzip",
    b"\xff\xfe": UTF_16,
    b"\xfe\xff": UTF_16,
}
SAVED = "this begins what `quintain match --save` has kept, which is no export"

Moment = Annotated[datetime, Meta(tz=True)]  # without a zone, it would be another one on each machine


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
    start_at: Moment | None = None
    group: str | None = None
    rounds_at: tuple[Moment, ...] | None = None
    round_every: float | None = None
    check_in: float | None = None
    by_invitation: bool = False
    ended_early: bool = False


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
    began: Moment | None = None
    ended: Moment | None = None
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


class LongFactLine(FactLine, frozen=True, tag="fact"):
    fact: Drew | Ordered


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
    LongFactLine: 4,
    WithheldLine: 4,
    HeadLine: 5,
    StandingsLine: 5,  # the last line, except in files of an older Quintain, which end with the head
}
KINDS = {str(kind.__struct_config__.tag) for kind in ORDER}
NUMBER = 8  # bytes of a line's number, before the line on disk

_decoder = msgspec.json.Decoder[AnyLine](AnyLine)


class LongFact(Struct, frozen=True):
    type: str


class LongLine(Struct, frozen=True):
    """All that is read of a long line before it is known which it is: lists of nothing fill the memory."""

    type: str
    fact: LongFact = LongFact("")


_long_lines = msgspec.json.Decoder(LongLine)
# A line that says its type twice, or has two facts, is read as what it was taken for, and fails as any other.
_long: Mapping[str, msgspec.json.Decoder[LongFactLine] | msgspec.json.Decoder[StandingsLine]] = {
    "fact": msgspec.json.Decoder(LongFactLine),
    "standings": msgspec.json.Decoder(StandingsLine),
}
MAY_BE_LONG = {("fact", "drew"): LONGEST, ("fact", "ordered"): TABLE, ("standings", ""): TABLE}


class Line(Struct, frozen=True):
    number: int
    text: bytes  # as in the file
    read: AnyLine

    @property
    def found(self) -> dict[str, Any]:
        """The object that it is, with fields that are not known here as well."""
        return msgspec.json.decode(self.text)


Lines = list[Line] | OnDisk[Line]


class Section(Struct):
    """One tournament of a file, with every line that could be read, in memory or on disk."""

    opening: Line
    opened: TournamentLine
    lines: Lines
    latest: AnyLine  # of these, or the opening
    places: dict[str, int] = {}  # by match: which of the lines is its own
    ends: list[tuple[int, HeadLine]] = []  # of its chain, which has one, each with the number of its line
    standings: int = 0  # how many lines have them

    @property
    def name(self) -> str:
        return self.opened.tournament

    @property
    def kept_as(self) -> str:
        """The name under which its host keeps it: the name of a deleted tournament may be used again."""
        return self.opened.kept_as or self.name

    def add(self, line: Line) -> None:
        match line.read:
            case MatchLine(match=match):
                self.places[match] = len(self.lines)
            case HeadLine() as end:
                self.ends.append((line.number, end))
            case StandingsLine():
                self.standings += 1
            case _:
                pass
        self.lines.append(line)
        self.latest = line.read

    def played(self, match: str) -> tuple[int, MatchLine] | None:
        """The line of a match, with its number; None if there is none."""
        if (place := self.places.get(match)) is None:
            return None
        line = self.lines[place]
        return (line.number, line.read) if isinstance(line.read, MatchLine) else None

    @property
    def last(self) -> int:
        return self.lines[-1].number if self.lines else self.opening.number


def _cause(shown: dict[str, Any]) -> Cause:
    return msgspec.convert(shown | {"at": seconds(msgspec.convert(shown.get("at"), Moment))}, Cause)


def seconds(moment: datetime) -> float:
    """A time as `json_views.moment` writes it, in seconds since the epoch."""
    return round(moment.timestamp(), 3)


def lines(source: Iterable[bytes], findings: list[Finding]) -> Iterator[Line]:
    """Every line that can be read, typed; a finding for any other, unless its type is not known here."""
    for number, text in enumerate(source, 1):
        if number == 1:
            text = text.removeprefix(MARK)
            if foreign := FOREIGN.get(text[:2]):
                findings.append(Finding(number, foreign))
                return
        if not text.strip():
            continue
        try:
            match _decoded(text) if len(text) <= SHORT else {"type": _kind_of_long(text)}:
                case {"type": "series"}:
                    findings.append(Finding(number, SAVED))
                    return
                case {"type": str() as kind}:
                    if kind in KINDS:
                        yield Line(number, text, _read(text))
                case other:
                    raise ValueError(f'expected an object with a "type", not {quoted(other)}')
        except (ValueError, RecursionError) as error:  # msgspec's errors are of the former kind
            findings.append(Finding(number, sentence(error)))


def _decoded(text: bytes) -> Any:
    """What a line says; raises `ValueError` if it says something twice: some programs take the first."""
    found = msgspec.json.decode(text)
    if msgspec.json.encode(found) != text.strip():  # as a host has not written it
        json.loads(text, object_pairs_hook=_each_once)
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    known = set[str]()
    for key, _ in pairs:
        if key in known:
            raise ValueError(f"this says {quoted(key)} twice")
        known.add(key)


def _read(text: bytes) -> AnyLine:
    return _decoder.decode(text) if len(text) <= SHORT else _long[_kind_of_long(text)].decode(text)


def _kind_of_long(text: bytes) -> str:
    """The type of a long line; raises `ValueError` if none of that type is so long."""
    found = LongLine("") if len(text) > LONGEST else _long_lines.decode(text)
    longest = MAY_BE_LONG.get((found.type, found.fact.type), SHORT)
    if len(text) > longest:
        kind = f" of the type {quoted(found.type)}" if found.type else ""
        raise ValueError(f"a line{kind} of more than {longest} bytes is none of an export")
    return found.type


def sections(
    source: Iterable[bytes], findings: list[Finding], empty: Callable[[], Lines] = list[Line]
) -> Iterator[Section | Kept]:
    """Every tournament as soon as it is read; facts of the host itself, which belong to none, unchanged.

    `empty` returns where the lines of the next tournament go.
    """
    section: Section | None = None
    for line in lines(source, findings):
        match line.read:
            case TournamentLine() as opened:
                if section is not None:
                    yield _whole(section, findings)
                section = Section(line, opened, empty(), opened)
            case FactLine(tournament="", when=when, fact=fact):
                yield Kept("", when, fact)
            case _ if section is None:
                findings.append(Finding(line.number, "this stands before any tournament's first line"))
            case _:
                if ORDER[type(line.read)] < ORDER[type(section.latest)]:
                    why = f"a line of type {kind_of(line.read)} cannot come after {kind_of(section.latest)}"
                    findings.append(Finding(line.number, why))
                section.add(line)
    if section is not None:
        yield _whole(section, findings)


def _whole(section: Section, findings: list[Finding]) -> Section:
    if section.standings != 1:
        why = f"{section.name} ends with {section.standings} lines of type standings, and not with one"
        findings.append(Finding(section.last, why))
    return section


def on_disk(folder: Path) -> OnDisk[Line]:
    """Where lines can go if they need not be in memory."""
    return OnDisk(folder, _numbered, _line)


def _numbered(line: Line) -> bytes:
    return line.number.to_bytes(NUMBER) + line.text


def _line(written: bytes) -> Line:
    text = written[NUMBER:]
    return Line(int.from_bytes(written[:NUMBER]), text, _read(text))


def kind_of(read: AnyLine) -> str:
    return str(read.__struct_config__.tag)


def sentence(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "this is nested too deeply to be read"
    return str(error)
