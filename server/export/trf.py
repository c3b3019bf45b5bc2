"""A tournament as FIDE's Tournament Report File, the format of 2016 (TRF16), for other programs.

It has lines of fixed columns, each beginning with a number for its kind: first about
the tournament, then one for each entrant with what it did in each round. Bots have no
city, federation or arbiter, so those lines are empty. An entrant that plays twice in a
round, as in a knockout after a draw, has a further column for that.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from games.catalogue import catalogue
from games.game import Pace
from tournament.format import OPEN as OPEN_TABLE
from tournament.format import Result
from tournament.pairing.drawing import seeded
from tournament.record import Record

MOST = 9_999  # entrants: a starting rank has four digits
HIGHEST = 99.5  # points, which have four columns
LARGEST = 1_000_000  # cells of a file, of ten characters each
NAME = 33  # characters of a name
END = "\r\n"

FIRST, SECOND = "w", "b"  # the side that begins is white (w)
PLAYED: Mapping[float, str] = {1.0: "1", 0.5: "=", 0.0: "0"}
FORFEIT: Mapping[float, str] = {1.0: "+", 0.5: "=", 0.0: "-"}
BYE, NO_MATCH, OPEN = "0000 - U", "0000 - Z", " " * 8

Column = tuple[int, int]  # a round, and which of its matches, where an entrant has several


class NotInTrf(ValueError):
    """Something for which a file of this format has no place. The message is for whoever asked."""


def trf(record: Record) -> str:
    """The text of the file; a tournament without an end is refused before anything of it is looked at."""
    if record.format.endless:
        raise NotInTrf(f"TRF is a table of rounds, and {_kind(record)} has none: take CSV")
    results = record.adjusted()
    _expect_few_points(results)
    columns = _columns(record)
    order = list(dict.fromkeys(columns.values()))
    _fits(record, len(order))
    entrants = record.entrants
    ranks = {name: rank for rank, name in enumerate(seeded(entrants, entrants.values()), 1)}
    cells = _cells(record, results, columns, ranks)
    by_name = {row.name: row for row in record.standings()}
    lines = list(_header(record, columns, order))
    for name, rank in ranks.items():
        row = by_name[name]
        line = f"001 {rank:4} {'':5}{name[:NAME]:{NAME}} {_rating(record, name):>4} {'':27}"
        line += f"{row.points:4.1f} {row.rank:4}"
        mine = cells[name]
        lines.append(line + "".join("  " + mine.get(column, NO_MATCH) for column in order))
    return END.join((*lines, ""))


def _kind(record: Record) -> str:
    return "an open table" if record.opened.format == OPEN_TABLE else f"a {record.format.name} tournament"


def _fits(record: Record, columns: int) -> None:
    count = len(record.entrants)
    if count > MOST or count * columns > LARGEST:
        why = f"{count} entrants and {columns} rounds are too many for TRF"
        raise NotInTrf(f"{why}, which may have {MOST} and, multiplied, {LARGEST}: take CSV")


def _expect_few_points(results: Iterable[Result]) -> None:
    points = defaultdict[str, float](float)
    for result in results:
        for name, score in zip(result.pairing.names, result.score, strict=False):  # a bye has one name
            points[name] += score
    best = max(points, key=points.__getitem__, default=None)
    if best is not None and points[best] > HIGHEST:
        raise NotInTrf(f"TRF has room for {HIGHEST} points, and {best} has {points[best]:g}: take CSV")


def _columns(record: Record) -> dict[int, Column]:
    """The column of each pairing, by its number, in the order of the columns."""
    had: Counter[tuple[int, str]] = Counter()
    found: dict[int, Column] = {}
    for pairing in record.drawn.values():
        turn = max(had[pairing.round, name] for name in pairing.names)
        for name in pairing.names:
            had[pairing.round, name] = turn + 1
        found[pairing.number] = pairing.round, turn
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _cells(
    record: Record, results: Iterable[Result], columns: Mapping[int, Column], ranks: Mapping[str, int]
) -> dict[str, dict[Column, str]]:
    """What everybody did where it was drawn."""
    cells: dict[str, dict[Column, str]] = {name: {} for name in ranks}
    for number in record.open:
        for name in record.drawn[number].names:
            cells[name][columns[number]] = OPEN
    for result in results:
        for name, cell in _both(result, ranks):
            cells[name][columns[result.pairing.number]] = cell
    return cells


def _both(result: Result, ranks: Mapping[str, int]) -> Iterable[tuple[str, str]]:
    first, second = result.pairing.first, result.pairing.second
    if second is None:
        return [(first, BYE)]
    came = PLAYED if result.played else FORFEIT
    return [
        (first, f"{ranks[second]:4} {FIRST} {came[result.score[0]]}"),
        (second, f"{ranks[first]:4} {SECOND} {came[result.score[1]]}"),
    ]


def _header(record: Record, columns: Mapping[int, Column], order: Sequence[Column]) -> Iterable[str]:
    began: dict[Column, float] = {}
    ended: list[float] = []
    for number, match in record.results.counted.items():
        over = record.matches[match]
        if over.began is not None:
            began[columns[number]] = min(over.began, began.get(columns[number], over.began))
        if over.ended is not None:
            ended.append(over.ended)
    opened = record.opened
    rated = sum(bool(_rating(record, name)) for name in record.entrants)
    yield f"012 {record.name}"
    yield "022 "
    yield "032 "
    yield f"042 {_day(min(began.values(), default=opened.start))}"
    yield f"052 {_day(max(ended, default=None))}"
    yield f"062 {len(record.entrants)}"
    yield f"072 {rated}"
    yield "082 0"
    yield f"092 {record.format.title}"
    yield "102 "
    yield f"122 {_pace(opened.pace or catalogue()[opened.game].pace)}"
    yield f"{'132':91}" + "  ".join(f"{_day(began.get(column))[2:]:8}" for column in order)
    plan = record.format.plan
    planned = () if plan is None else plan(record.taken_part, record.terms)
    yield f"XXR {max(len(planned), len(order), 1)}"


def _rating(record: Record, name: str) -> str:
    """The rating that was known beforehand, if it has four digits at most."""
    rating = record.entrants[name].rating
    return f"{rating:.0f}" if rating is not None and 0 < round(rating) <= MOST else ""


def _day(when: float | None) -> str:
    return "" if when is None else f"{datetime.fromtimestamp(when, UTC):%Y/%m/%d}"


def _pace(pace: Pace) -> str:
    parts = (("a match", pace.bank), ("more for each move", pace.gain or None), ("a move", pace.turn))
    return ", ".join(f"{seconds:.10g} s {what}" for what, seconds in parts if seconds) or "no limit"
