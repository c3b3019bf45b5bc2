"""Records about which something is remembered that can be dropped once they are archived."""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from tournament.record import Record

AT_A_TIME = 2  # more than come, as not each of them can go


class Aging:
    def __init__(self, spared: int = 0) -> None:
        """The `spared` latest are left alone."""
        self._records: WeakKeyDictionary[Record, None] = WeakKeyDictionary()  # the latest last
        self._spared = spared

    def add(self, record: Record) -> None:
        """The record is the latest from now on."""
        self._records.pop(record, None)
        self._records[record] = None

    def archived(self) -> Iterator[Record]:
        """Take out some of the oldest that are archived by now; those that are not are put last."""
        for _ in range(AT_A_TIME):
            if len(self._records) <= self._spared:
                return
            oldest = next(iter(self._records))
            del self._records[oldest]
            if oldest.archived is None:
                self.add(oldest)
            else:
                yield oldest
