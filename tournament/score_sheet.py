"""What the results of a tournament add up to, kept up to date by following its record.

A `ScoreSheet` belongs to one worker, which may be a thread. It holds an index into the decisions of
a whole record and reads on from there, in pieces, so that nothing has to be copied for it. What the
record appends meanwhile is read the next time.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from tournament.accounts import Accounts, OwnResult, crosstable
from tournament.circles import Circle
from tournament.deciding import Decision
from tournament.format import Result
from tournament.pairing.decide import decided_by
from tournament.ratings import Ratings
from tournament.record import Record
from tournament.standings import Row, adjusted, rated, table
from tournament.strength import Strengths, strengths

PIECE = 10_000  # decisions that are read at a time
CROSSED = 12  # entrants at the top of the table, whose matches against each other are shown: …
ALL_CROSSED = 100  # … all of them among so many entrants at most; among more, only those against the nearest
NEAREST = 2  # places up and down the table
LATEST = 5_000  # results of each of these entrants that are looked through


class Board(Struct, frozen=True):
    """A table as of one moment."""

    version: int  # of the record
    as_of: float  # the time of the wall clock
    rows: tuple[Row, ...]
    duplicates: int  # games that repeat an earlier one move by move
    crossed: Mapping[str, Mapping[str, Sequence[OwnResult]]]  # the first of the table, against each other
    circles: tuple[Circle, ...] = ()  # who beats whom in a circle, so that one number for each is too little
    decision: Decision | None = None  # in a tournament that ends when its places are decided


def board_of(record: Record, as_of: float) -> Board:
    """The board of a record that nobody else changes, from all that it remembers."""
    found = strengths(Ratings(record.adjusted()))
    rows = rated(record.standings(), found.of)
    return Board(record.version, as_of, tuple(rows), found.duplicates, {}, found.circles, _decision(record))


def _decision(record: Record) -> Decision | None:
    """What has been decided, in a tournament that ends when that is enough, from what its format is given."""
    if not record.format.decides:
        return None
    return decided_by(list(record.entrants.values()), record.past()[1], record.opened.terms)


class ScoreSheet:
    def __init__(self) -> None:
        self._read = 0  # decisions of the record
        self._out: tuple[frozenset[str], frozenset[str]] = frozenset(), frozenset()
        self._accounts = Accounts()
        self._ratings = Ratings()
        self._known = 0, Strengths()  # after so many games

    def board(self, record: Record, as_of: float) -> Board:
        """The table now."""
        version = record.version
        if record.format.endless and not self._read:
            self._accounts = Accounts(compact=True)
        self._catch_up(record)
        found = self._strengths()
        rows = rated(table(self._accounts, record.format.order, record.format.latest), found.of)
        return Board(
            version,
            as_of,
            tuple(rows),
            found.duplicates,
            self._crossed([row.name for row in rows]),
            found.circles,
            _decision(record),
        )

    def _strengths(self) -> Strengths:
        """The strengths of those who have played; worked out when there are new results."""
        games = self._ratings.meetings.games
        if games != self._known[0]:
            self._known = games, strengths(self._ratings)
        return self._known[1]

    def _catch_up(self, record: Record) -> None:
        last = len(record.results.decisions)  # all in these have entered by now
        out = frozenset(record.annulled), frozenset(record.disqualified)
        if out != self._out or self._taken_back(record, last):
            self._read, self._out = 0, out
            self._accounts, self._ratings = Accounts(compact=record.format.endless), Ratings()
            self._known = 0, Strengths()
        for entrant in list(record.entrants.values()):
            self._accounts.admit(entrant)
        for result in self._counting(record, last):
            self._accounts.enter(result)
            self._ratings.add(result)
        self._read = last

    def _taken_back(self, record: Record, last: int) -> bool:
        """Whether something that was counted no longer counts."""
        return bool(self._read) and any(isinstance(each, int) for each in self._decisions(record, last))

    def _counting(self, record: Record, last: int) -> Iterator[Result]:
        """The results that count and are not read yet, after withdrawals and disqualifications."""
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
            yield from record.results.decisions[start : min(start + PIECE, last)]

    def _crossed(self, names: Sequence[str]) -> Mapping[str, Mapping[str, Sequence[OwnResult]]]:
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
