"""Tournaments that are not over, by game, and those among them that a bot may enter by coming.

A bot that comes asks for one of these. It need not look at the others: there may be thousands, and
nobody enters those that have begun.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from server.host.opening import OPEN
from tournament.facts import State
from tournament.record import Record
from tournament.refusals import admits, takes_entrants

ENDS = (State.FINISHED, State.DELETED)  # in these, nothing is played
NONE: Mapping[str, Record] = MappingProxyType({})


class Current:
    def __init__(self) -> None:
        # By name, and by game and name, in the order of opening
        self._all: dict[str, Record] = {}
        self._going: dict[str, dict[str, Record]] = {}
        self._admitting: dict[str, dict[str, Record]] = {}  # open tables are not among these

    def of(self, game: str) -> Mapping[str, Record]:
        """The tournaments of a game that are not over, by name."""
        return self._going.get(game, NONE)

    def has(self, record: Record) -> bool:
        """Whether that tournament is among them."""
        return self._all.get(record.name) is record

    def all(self) -> Iterator[Record]:
        """The tournaments of all games that are not over."""
        return iter(self._all.values())

    def latest(self) -> Iterator[Record]:
        """The same, those that were opened last first."""
        return reversed(self._all.values())

    def taking(self, game: str, name: str) -> Iterator[Record]:
        """Those of them that take in a bot of that name, the oldest first, but ladders last.

        A ladder takes bots for ever, so nobody would come to a tournament that was opened later. One that
        is full still takes in its own entrants. No open table is among these.
        """
        admitting = self._admitting.get(game, NONE).values()
        for endless in (False, True):
            for record in admitting:
                if record.format.endless != endless:
                    continue
                if takes_entrants(record) or (endless and name in record.entrants):
                    yield record

    def sort(self, record: Record) -> None:
        """Note a new tournament, or that its state has changed."""
        going = record.state not in ENDS
        _note(self._all, record, there=going)
        _note(_of_game(self._going, record), record, there=going)
        admitting = going and admits(record) and not record.name.startswith(OPEN)
        _note(_of_game(self._admitting, record), record, there=admitting)

    def remove(self, record: Record) -> None:
        for named in (self._all, *(_of_game(index, record) for index in (self._going, self._admitting))):
            _note(named, record, there=False)


def _of_game(index: dict[str, dict[str, Record]], record: Record) -> dict[str, Record]:
    return index.setdefault(record.opened.game, {})


def _note(named: dict[str, Record], record: Record, *, there: bool) -> None:
    if there:
        named.setdefault(record.name, record)
    elif named.get(record.name) is record:
        del named[record.name]
