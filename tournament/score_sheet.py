"""What the results of a tournament add up to, kept up to date by following its record.

A `ScoreSheet` belongs to whoever works on it, which may be a thread. It holds an index into the
decisions of a whole record and reads on from there, in pieces, so that nothing has to be copied for
it. Whatever a record appends to meanwhile is seen the next time.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from tournament.format import Result
from tournament.ratings import Fit, Ratings, bradley_terry, probability_first
from tournament.record import Record
from tournament.standings import Accounts, Entry, Row, adjusted, crosstable, rated, table

PIECE = 10_000  # decisions that are read at a time
CROSSED = 14  # the first of the table, whose matches against each other are shown: …
ALL_CROSSED = 100  # … of so many entrants all of those; of more, only those against the nearest
NEAREST = 2  # places up and down the table
LATEST = 5_000  # results of each of these that are looked through for them


class Board(Struct, frozen=True):
    """A table as of one moment."""

    version: int  # of the record
    as_of: float  # the time of the wall clock
    rows: tuple[Row, ...]
    duplicates: int  # games that repeat an earlier one move by move
    crossed: Mapping[str, Mapping[str, Sequence[Entry]]]  # the first of the table, against each other


def board_of(record: Record, as_of: float) -> Board:
    """The board of a record that nobody else changes, from all that it remembers."""
    fit = bradley_terry(record.adjusted())
    rows = rated(record.standings(), fit.ratings, probability_first(fit))
    return Board(record.version, as_of, tuple(rows), _duplicates(fit), {})


def _duplicates(fit: Fit) -> int:
    return sum(rating.duplicates for rating in fit.ratings) // 2


class ScoreSheet:
    def __init__(self) -> None:
        self._read = 0  # decisions of the record
        self._out: tuple[frozenset[str], frozenset[str]] = frozenset(), frozenset()
        self._accounts = Accounts()
        self._ratings = Ratings()

    def board(self, record: Record, as_of: float) -> Board:
        """The table now."""
        version = record.version
        self._catch_up(record)
        fit = self._ratings.fit()
        rows = rated(table(self._accounts, record.format.order), fit.ratings, probability_first(fit))
        return Board(
            version,
            as_of,
            tuple(rows),
            _duplicates(fit),
            self._crossed([row.name for row in rows]),
        )

    def _catch_up(self, record: Record) -> None:
        last = len(record.decisions)  # of whom all have entered by now
        out = frozenset(record.annulled), frozenset(record.disqualified)
        if out != self._out or self._taken_back(record, last):
            self._read, self._out = 0, out
            self._accounts, self._ratings = Accounts(), Ratings()
        for entrant in list(record.entrants.values()):
            self._accounts.admit(entrant)
        for result in self._counting(record, last):
            self._accounts.enter(result)
            self._ratings.add(result)
        self._read = last

    def _taken_back(self, record: Record, last: int) -> bool:
        """Whether something that was counted counts no more."""
        return bool(self._read) and any(isinstance(each, int) for each in self._decisions(record, last))

    def _counting(self, record: Record, last: int) -> Iterator[Result]:
        """The results that count and were not read yet, after withdrawals and disqualifications."""
        annulled, disqualified = self._out
        taken_back = {
            each: index for index, each in enumerate(self._decisions(record, last)) if isinstance(each, int)
        }
        for index, each in enumerate(self._decisions(record, last)):
            if isinstance(each, int) or taken_back.get(each.pairing.number, -1) > index:
                continue
            if annulled or disqualified:
                yield from adjusted((each,), annulled, disqualified)
            else:
                yield each

    def _decisions(self, record: Record, last: int) -> Iterator[Result | int]:
        for start in range(self._read, last, PIECE):
            yield from record.decisions[start : min(start + PIECE, last)]

    def _crossed(self, names: Sequence[str]) -> Mapping[str, Mapping[str, Sequence[Entry]]]:
        first = names[:CROSSED]
        cells = crosstable(self._accounts, first, LATEST)
        if len(names) <= ALL_CROSSED:
            return cells
        return {
            row: {
                column: cells[row][column]
                for column in first[max(0, place - NEAREST) : place + NEAREST + 1]
                if column != row
            }
            for place, row in enumerate(first)
        }
