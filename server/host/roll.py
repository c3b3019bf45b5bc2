"""The roll: who takes part in which tournament, found by name without looking at everybody.

It is told every fact and holds nothing that the records do not say. A question
costs the same however many names there are: it looks only at the tournaments
that one name is in. A bot may have been in thousands: those that are long over are
set aside, at the start or when a question meets them, and are not looked at again.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import TypeVar

from server.host.names import key
from tournament.facts import (
    AnyFact,
    Claimed,
    Concluded,
    Dealt,
    Drew,
    Entered,
    Released,
    Seated,
    State,
    Turned,
)
from tournament.record import Record

T = TypeVar("T")
Named = tuple[str, str]  # the game, and a name or the key of one


class Roll:
    def __init__(self) -> None:
        self._age = count()
        self._ages: dict[str, int] = {}  # by tournament; the oldest has 0
        self.is_past: Callable[[Record], bool] = _never  # whether a tournament is long over
        # Those that have an entrant of that name, but for those that were found to be past …
        self._records: dict[Named, list[Record]] = {}
        self._laid_by: dict[Named, list[Record]] = {}  # … which are here …
        self._past: set[str] = set()  # … and these are their names
        self._spelled: dict[str, dict[str, str]] = {}  # by tournament, and by key: the entrant's name
        self._seats: dict[Named, list[tuple[Record, Seated]]] = {}  # by key

    def add(self, record: Record) -> None:
        """A tournament was opened, or was there when the host started."""
        self._ages[record.name] = next(self._age)
        past = self.is_past(record)
        if past:
            self._past.add(record.name)
        for name in record.entrants:
            _add(self._laid_by if past else self._records, (record.opened.game, name), record)
            self._spell(record, name)
        for seated in () if past else record.seats.values():
            self._seat(record, seated)

    def remove(self, record: Record) -> None:
        """A tournament was deleted."""
        del self._ages[record.name]
        self._past.discard(record.name)
        self._spelled.pop(record.name, None)
        for name in record.entrants:
            for index in (self._records, self._laid_by):
                _remove(index, (record.opened.game, name), record)
        for name in record.seats:
            self._give_up_seat(record, name)

    def hear(self, record: Record, fact: AnyFact) -> None:
        match fact:  # the most frequent first: trying a class that a fact does not have takes long
            case Concluded() | Dealt() | Drew():
                pass
            case Entered(name=name):
                if record not in self._records.get(where := (record.opened.game, name), ()):
                    _add(self._records, where, record)
                self._spell(record, name)
            case Seated():
                self._seat(record, fact)
            case Released(name=name) | Claimed(name=name):
                self._give_up_seat(record, name)
            case Turned() if record.name in self._past:
                self._take_up(record)
            case _:
                pass

    def knows(self, name: str, game: str) -> bool:
        """Whether somebody of that name is an entrant anywhere."""
        where = game, name
        indexes = self._records, self._laid_by
        return any(name in record.entrants for each in indexes for record in each.get(where, ()))

    def awaiting(self, name: str, game: str) -> Iterator[Record]:
        """The tournaments that have an end, are not over and have that entrant, the oldest first."""
        for record in sorted(self.of(name, game), key=lambda record: self._ages[record.name]):
            if not record.format.endless and record.state is not State.FINISHED and name in record.entrants:
                yield record

    def awaits(self, name: str, game: str) -> bool:
        """Whether a bot is an entrant of a tournament that has an end and is not over."""
        return any(self.awaiting(name, game))

    def alike(self, record: Record, name: str) -> str | None:
        """Another entrant that people would mistake for the bot of that name, if there is one."""
        spelled = self._spelled.get(record.name, {}).get(key(name))
        return spelled if spelled not in (None, name) and spelled in record.entrants else None

    def seats(self, name: str, game: str) -> list[Seated]:
        """The seats of a name that came without a token, in tournaments that are not over."""
        return [seated for _, seated in self.kept(name, game)]

    def kept(self, name: str, game: str) -> list[tuple[Record, Seated]]:
        """The same, each with its tournament."""
        where = game, key(name)
        there = self._seats.get(where, [])
        if past := {record.name for record, _ in there if self.is_past(record)}:
            self._past |= past
            there = _keep(self._seats, where, [seat for seat in there if seat[0].name not in past])
        return [(record, seated) for record, seated in there if record.state is not State.FINISHED]

    def of(self, name: str, game: str) -> list[Record]:
        """The tournaments, over or not, that have an entrant of that name; not those that are long over."""
        where = game, name
        there = self._records.get(where, [])
        if past := [record for record in there if self.is_past(record)]:
            self._past.update(record.name for record in past)
            self._laid_by.setdefault(where, []).extend(past)
            there = _keep(self._records, where, [each for each in there if each.name not in self._past])
        return [*there]

    def _spell(self, record: Record, name: str) -> None:
        spelled, own = self._spelled.setdefault(record.name, {}), key(name)
        if spelled.get(own) not in record.entrants:
            spelled[own] = name

    def _take_up(self, record: Record) -> None:
        """A tournament goes on that was long over."""
        self._past.discard(record.name)
        for name in record.entrants:
            where = record.opened.game, name
            for index in (self._laid_by, self._records):  # the latter where nobody has asked meanwhile
                _remove(index, where, record)
            _add(self._records, where, record)
        for seated in record.seats.values():
            self._seat(record, seated)

    def _seat(self, record: Record, seated: Seated) -> None:
        where = record.opened.game, key(seated.name)
        self._remove_seat(where, record)
        _add(self._seats, where, (record, seated))

    def _give_up_seat(self, record: Record, name: str) -> None:
        self._remove_seat((record.opened.game, key(name)), record)

    def _remove_seat(self, where: Named, record: Record) -> None:
        _keep(self._seats, where, [seat for seat in self._seats.get(where, ()) if seat[0] is not record])


def _never(record: Record) -> bool:
    return False


def _add(index: dict[Named, list[T]], where: Named, what: T) -> None:
    """Add it to an index. Most names are in one tournament, and their lists have no room to spare."""
    if (there := index.get(where)) is None:
        index[where] = [what]
    else:
        there.append(what)


def _remove(index: dict[Named, list[Record]], where: Named, record: Record) -> None:
    """Take a tournament out of an index."""
    if there := index.get(where):
        _keep(index, where, [each for each in there if each is not record])


def _keep(index: dict[Named, list[T]], where: Named, left: list[T]) -> list[T]:
    """Have only these there, or not even the place, if nothing is left."""
    if left:
        index[where] = left
    else:
        index.pop(where, None)
    return left
