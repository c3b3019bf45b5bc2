"""Who has played which matches: an index that follows records. A look-up costs what the bot has played."""

from array import array
from collections.abc import Iterable, Sequence
from threading import Lock
from weakref import WeakKeyDictionary

from server.net.escaping import in_quotes
from tournament.events import Ending
from tournament.record import Record

PIECE = 10_000  # endings of a record, read at a time

Found = list[tuple[Record, Sequence[int]]]  # records, and which of their matches


class Appearances:
    """Who has played which matches of a record, by their numbers in the order of their ends."""

    def __init__(self) -> None:
        self._read = 0
        self._of: dict[str, array[int]] = {}

    def follow(self, record: Record) -> None:
        if record.archived is not None and self._read == record.ended:
            return  # and it stays in the archive
        last = len(record.endings)
        for start in range(self._read, last, PIECE):
            for number, match in enumerate(record.endings[start : min(start + PIECE, last)], start):
                for name in record.matches[match].players:
                    self._of.setdefault(name, array("I")).append(number)
        self._read = last

    def of(self, name: str) -> Sequence[int]:
        return self._of.get(name, ())


class Index:
    """The appearances in every record that was asked about. Several threads may ask."""

    def __init__(self) -> None:
        self._records: WeakKeyDictionary[Record, Appearances] = WeakKeyDictionary()
        self._following = Lock()

    def follow(self, record: Record) -> Appearances:
        """The appearances in a record, up to now: the first time this takes as long as the record is."""
        with self._following:
            found = self._records.setdefault(record, Appearances())
            found.follow(record)
        return found

    def find(self, record: Record, name: str) -> Sequence[int]:
        return self.follow(record).of(name)

    def of(self, name: str, records: Iterable[Record]) -> Found:
        """The records in which a bot of that name has entered or finished a match, and which matches.

        Only at a table without an end can a bot play that has not entered: against a house player.
        """
        chosen = [record for record in records if name in record.entrants or record.format.endless]
        found = [(record, self.find(record, name)) for record in chosen]
        return [each for each in found if name in each[0].entrants or _finished(*each)]


def _finished(record: Record, matches: Sequence[int]) -> bool:
    """Whether any of these matches was not void."""
    return any(record.matches[record.endings[number]].ending is not Ending.VOID for number in matches)


def shows(record: Record, name: str, ending: Ending | None) -> bool:
    """Whether the record, or a match with this ending, says that something is known of a bot of that name.

    That is so for all who play in a tournament with an end. At a table, somebody may be playing for the first
    time, for which `ending` is None, or have come only to matches that were void.
    """
    return ending not in (None, Ending.VOID) or name in record.public.entrants


def unseen(name: str) -> str:
    """Why nothing is known of a bot: it may be playing its first match just now."""
    return (
        f"nobody named {in_quotes(name)} has entered a tournament, or finished a match at an open table"
        " in which both had moved"
    )
