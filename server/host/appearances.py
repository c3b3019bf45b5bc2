"""Who has played which matches: an index that follows records. A look-up costs what the bot has played.

What that adds up to is remembered until the record changes. To take a record out of the archive takes a
quarter of a millisecond, and a bot may have played in thousands.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from weakref import WeakKeyDictionary

from msgspec import Struct

from server.net.escaping import in_quotes
from tournament.events import Ending
from tournament.record import Record

PIECE = 10_000  # endings of a record, read at a time
OWN = 20_000  # the latest matches of a bot in a tournament, which are added up
MIXED = 500  # the latest of these, which are listed among those in other tournaments as they ended
SUMMED = 14 << 20  # bytes, roughly, of what is remembered: some ten thousand bots in small tournaments

NOTHING = array("I")

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
        """As of now: another thread may follow the record meanwhile."""
        return self._of.get(name, NOTHING)[:]


class Tally(Struct):
    """How often a bot has won, drawn and lost."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    latest: float | None = None  # wall time at which the latest of these matches ended

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses

    def add(self, more: "Tally") -> None:
        self.wins += more.wins
        self.draws += more.draws
        self.losses += more.losses
        if more.latest is not None:  # in another tournament it may have played later
            self.latest = max(more.latest, self.latest or more.latest)


class Sums(Struct, frozen=True):
    """What a bot has done in one record, as far as it counts."""

    versions: Mapping[str | None, Tally]  # by the bot's version, in the order of their latest matches
    opponents: Mapping[str, Tally]
    ends: Sequence[float]  # of the latest `MIXED` of its matches, whether or not they count; 0: not known
    moved: bool  # in any that counts

    @property
    def size(self) -> int:
        """Bytes, roughly: a bot may have met thousands of others."""
        return 1000 + 100 * (len(self.versions) + len(self.opponents)) + 8 * len(self.ends)


class Index:
    """The appearances in every record that was asked about. Several threads may ask."""

    def __init__(self) -> None:
        self._records: WeakKeyDictionary[Record, Appearances] = WeakKeyDictionary()
        self._following = Lock()
        # By tournament and name, each with what it is from; what was asked for last is last
        self._summed: OrderedDict[tuple[str, str], tuple[tuple[int, int], Sums]] = OrderedDict()
        self._remembering = Lock()
        self._size = 0  # of all sums together

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

    def sums(self, name: str, found: Found) -> list[Sums]:
        """What a bot has done in each of the records in which it was found."""
        return [self._sums(name, record, numbers) for record, numbers in found]

    def _sums(self, name: str, record: Record, numbers: Sequence[int]) -> Sums:
        key, stamp = (record.kept_as, name), (record.facts, len(numbers))
        with self._remembering:
            known = self._summed.get(key)
        if known is None or known[0] != stamp:
            known = stamp, _summed(name, record, numbers)
        with self._remembering:
            if (before := self._summed.pop(key, None)) is not None:
                self._size -= before[1].size
            self._summed[key] = known
            self._size += known[1].size
            while self._size > SUMMED:
                _, (_, oldest) = self._summed.popitem(last=False)
                self._size -= oldest.size
        return known[1]


def _summed(name: str, record: Record, numbers: Sequence[int]) -> Sums:
    versions, opponents, ends, moved = dict[str | None, Tally](), dict[str, Tally](), array("d"), False
    for number in numbers[-OWN:]:
        match = record.matches[record.endings[number]]
        ends.append(match.ended or 0.0)
        if match.score is None or match.match in record.voided:
            continue
        seat = match.players.index(name)
        version, score = match.versions[seat], match.score[seat]
        moved = moved or match.plies > seat
        own = Tally(score == 1, score == 0.5, score == 0, match.ended)
        if match.plies or match.began is not None:  # otherwise nobody came who could say one
            # The order is that of the latest matches: the last one that is put in again is the latest.
            versions[version] = versions.pop(version, Tally())
            versions[version].add(own)
        opponents.setdefault(match.players[1 - seat], Tally()).add(own)
    return Sums(versions, opponents, ends[-MIXED:], moved)


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
