"""The record of a tournament that is over, while most of it is in the archive.

Whoever reads it need not know: what is not here is taken out when it is read, and goes back when others are
read. A fact that is added takes it out for good, and makes it a `Record` like any other.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from tournament import archive
from tournament.archive import Archived
from tournament.facts import AnyFact, State
from tournament.record import Record


class ArchivedRecord(Record):
    """A record while its parts are in the archive.

    It is a class of its own because all attributes of a class with `__getattr__` take longer to read.
    """

    def __getattr__(self, name: str) -> Any:
        """Take all parts out of the archive, as one is asked for that is not here."""
        if name not in archive.PARTS:
            raise AttributeError(name)
        with archive.taken_out.lock:
            if self.archived is not None and name not in vars(self):  # no other thread has taken them out
                vars(self).update(archive.unpacked(self.archived.content, self.format, whole=self.whole))
                archive.taken_out.add(self, max(1, self.last_drawn))
            return vars(self)[name]

    def put_back(self) -> None:
        """Let go of the parts that are in the archive."""
        for part in archive.PARTS:
            self.__dict__.pop(part, None)

    def adding(self, fact: AnyFact) -> Iterator[None]:
        self._leave()
        yield from self.adding(fact)  # as any other record, which it is now

    def parting(self) -> Iterator[None]:
        self._leave()
        yield from self.parting()

    def _leave(self) -> None:
        """What is known is about to change."""
        with archive.taken_out.lock:
            for part in archive.PARTS:  # a copy lacks some if another thread was putting them back
                getattr(self, part)
            archive.taken_out.remove(self)
            self.archived = None
            object.__setattr__(self, "__class__", Record)


def can_be_archived(record: Record) -> bool:
    """Whether it is over, with nothing left to play, and neither endless, frozen nor very large."""
    over = record.state is State.FINISHED and not (record.open or record.dealt or record.format.endless)
    return over and record.archived is None and record.frozen is None and record.last_drawn <= archive.LARGEST


def put_in_archive(record: Record) -> None:
    """Keep most of what is known compressed until it is asked for."""
    keep_archived(record, for_the_archive(record))


def for_the_archive(record: Record) -> Archived:
    """What is kept in place of most of what is known; for the largest, it takes 30 milliseconds."""
    won = None if record.format.decides else winners(record)
    figures = record.pairings, record.decided, record.version, record.latest_end, won
    return Archived(archive.packed(record), *figures)


def keep_archived(record: Record, archived: Archived) -> None:
    """Keep that in place of most of what is known."""
    with archive.taken_out.lock:
        record.archived = archived
        object.__setattr__(record, "__class__", ArchivedRecord)
        for part in archive.PARTS:
            vars(record).pop(part, None)


def winners(record: Record) -> tuple[str, ...]:
    """Whoever is first, and has scored; nobody in a knockout without its last round."""
    if record.lacks_its_final:
        return ()
    first = takewhile(lambda row: row.rank == 1, record.standings())
    return tuple([row.name for row in first if row.points > 0])
