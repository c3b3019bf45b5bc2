"""What is known of the matches of a tournament that is over, compressed until somebody asks for it.

A host that is years old has thousands of tournaments that are over, and their matches would be most of
what it has in memory. A record has its parts here as bytes, some fifty for a match instead of a
thousand, and takes them out again when they are read. So whoever reads a record need not know of it.
"""

import zlib
from collections import OrderedDict, deque
from collections.abc import Iterable, MutableMapping, Sequence
from threading import RLock
from typing import Any, Protocol

from msgspec import Struct, msgpack

from tournament.column_views import Endings
from tournament.format import Format, Pairing, Result
from tournament.remembered import Abridged, Remembered
from tournament.results import Results

PARTS = frozenset(("drawn", "matches", "endings", "recent", "attempts", "missed_pairings", "results"))
LARGEST = 5_000  # pairings of a tournament: taking out so many holds up others for some twenty milliseconds
OUT = 50_000  # pairings of archived tournaments that are taken out at a time: some fifty megabytes
QUICK = 1  # the level of compression: more of it saves a tenth, and takes three times as long
NONE = -1  # in place of a second

Met = tuple[int, int, int, int]  # number, round, and the places of both names
Came = tuple[int, float, float, bool, bytes]  # the number of a pairing, and its result


class Archived(Struct, frozen=True, array_like=True):
    """The parts, and what is asked of all tournaments, for which none should be taken out."""

    content: bytes
    pairings: int
    decided: int
    version: int
    latest_end: float | None
    winners: tuple[str, ...] | None  # None: it takes more than the results to say who has won


class ArchivedParts(Struct, frozen=True, array_like=True):
    names: list[str]
    drawn: list[Met]
    abridged: list[Abridged]  # matches that are long over, in the order of their ends …
    matches: list[Remembered]  # … and after them, the others
    recent: int  # how many of these are the latest
    attempts: dict[int, int]
    missed: dict[int, frozenset[str]]
    counted: dict[int, str]
    came_to: list[Came]
    decisions: list[int | Came] | None  # None: just the results that count, in their order


class Parts(Protocol):
    """A record, as far as parts of it are here."""

    format: Format
    whole: bool
    drawn: MutableMapping[int, Pairing]
    matches: MutableMapping[str, Any]
    endings: list[str] | Endings
    recent: deque[str]
    attempts: dict[int, int]
    missed_pairings: dict[int, frozenset[str]]
    results: Results


class TakenOut(Protocol):
    """A record whose parts were taken out of the archive."""

    def put_back(self) -> None:
        """Let go of the parts: they are archived."""


_encoder = msgpack.Encoder()
_decoder = msgpack.Decoder(ArchivedParts)


def packed(record: Parts) -> bytes:
    """The parts of a record, of a format that has an end, as bytes."""
    places: dict[str, int] = {}
    results, matches = record.results, [*record.matches.values()]
    content = ArchivedParts(
        drawn=[met(pairing, places) for pairing in record.drawn.values()],
        abridged=[match for match in matches if isinstance(match, Abridged)],
        matches=[match for match in matches if not isinstance(match, Abridged)],
        recent=len(record.recent),
        attempts=record.attempts,
        missed=record.missed_pairings,
        counted=dict(results.counted),
        came_to=[*map(_came, results.came_to.values())],
        decisions=None if _are_simple(results) else [*map(_decision, results.decisions)],
        names=[*places],
    )
    return zlib.compress(_encoder.encode(content), QUICK)


def unpacked(content: bytes, format: Format, *, whole: bool) -> dict[str, object]:
    """The parts of a record of that format, by name."""
    found = _decoder.decode(zlib.decompress(content))
    drawn = {each[0]: pairing_of(each, found.names) for each in found.drawn}

    def result(came: Came) -> Result:
        number, one, two, played, digest = came
        return Result(drawn[number], (one, two), played, digest)

    results = Results(format, forgets=False)
    results.counted = found.counted
    results.came_to = {came[0]: result(came) for came in found.came_to}
    if found.decisions is None:
        results.decisions = [*_counting(results)]
    else:
        results.decisions = [each if isinstance(each, int) else result(each) for each in found.decisions]
    results.enlist(drawn.values())
    matches: dict[str, Remembered] = {each.match: each for each in (*found.abridged, *found.matches)}
    endings = [*matches]
    return {
        "drawn": drawn,
        "matches": matches,
        "endings": endings if whole else [],
        "recent": deque(endings[len(endings) - found.recent :]),
        "attempts": found.attempts,
        "missed_pairings": found.missed,
        "results": results,
    }


def met(pairing: Pairing, places: dict[str, int]) -> Met:
    """A pairing as it is written, with the places of its names; names that have none get the next ones."""
    second = NONE if pairing.second is None else places.setdefault(pairing.second, len(places))
    return pairing.number, pairing.round, places.setdefault(pairing.first, len(places)), second


def pairing_of(met: Met, names: Sequence[str]) -> Pairing:
    """The pairing that was written as that."""
    number, round, first, second = met
    return Pairing(number, round, names[first], None if second == NONE else names[second])


def _came(result: Result) -> Came:
    return result.pairing.number, *result.score, result.played, result.digest


def _decision(each: Result | int) -> Came | int:
    return each if isinstance(each, int) else _came(each)


def _counting(results: Results) -> Iterable[Result]:
    return (each for each in results.came_to.values() if results.counts(each))


def _are_simple(results: Results) -> bool:
    """Whether no decision was taken back."""
    return list(results.decisions) == [*_counting(results)]


class OpenArchives:
    """The records whose parts were taken out. If there are too many, those taken out first go back."""

    def __init__(self) -> None:
        self.lock = RLock()  # threads read records as well
        self._records: OrderedDict[int, tuple[TakenOut, int]] = OrderedDict()
        self._pairings = 0

    def add(self, record: TakenOut, pairings: int) -> None:
        self.remove(record)
        self._records[id(record)] = record, pairings
        self._pairings += pairings
        while self._pairings > OUT and len(self._records) > 1:
            _, (oldest, fewer) = self._records.popitem(last=False)
            self._pairings -= fewer
            oldest.put_back()

    def remove(self, record: TakenOut) -> None:
        if (found := self._records.pop(id(record), None)) is not None:
            self._pairings -= found[1]


taken_out = OpenArchives()
