"""All that happened at a table without an end, in columns: some seventy bytes a match.

Whoever shows a table (`server/show`) needs every match that was ever played at it, and a table
lives for months. A Python object for each would take fifty times as much. Here each pairing has a
row, by its number: a table draws its pairings one after the other and has none played twice. What led
to the ends of the latest matches is here as well; for the others, the store has it.

`column_views.py` shows this as the mappings and lists that any other record has.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from math import inf
from typing import Any, Generic, Protocol, TypeVar

from msgspec.json import decode, encode

from tournament.events import Ending, Fault
from tournament.format import Pairing, Result, Score
from tournament.texts import Texts, nameless, with_names

ENDED, DECIDED, COUNTS, PLAYED = 1, 2, 4, 8  # flags of a row …
SCORE = 4  # … and from this bit on, the score
SCORES: Sequence[Score | None] = (None, (0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5))
ENDINGS = tuple(Ending)
FAULTS = (None, *Fault)
WINNERS = (None, 0, 1)
NEVER = -inf  # in place of a time that is not known
DIGEST = 16  # bytes
NO_DIGEST = bytes(DIGEST)
NOBODY = 0xFFFFFFFF  # in place of the number of a second player, of a version, or of options
BYE, NOTHING = (1.0, 0.0), (0.0, 0.0)


class FinishedMatch(Protocol):
    """A match that is over: `tournament.remembered.Remembered`, which reads this file."""

    @property
    def match(self) -> str: ...
    @property
    def pairing(self) -> int: ...
    @property
    def players(self) -> tuple[str, str]: ...
    @property
    def winner(self) -> int | None: ...
    @property
    def ending(self) -> Ending: ...
    @property
    def why(self) -> str: ...
    @property
    def score(self) -> Score | None: ...
    @property
    def moves(self) -> tuple[Any, ...]: ...
    @property
    def plies(self) -> int: ...
    @property
    def options(self) -> Mapping[str, Any] | None: ...
    @property
    def began(self) -> float | None: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def fault(self) -> Fault | None: ...
    @property
    def versions(self) -> tuple[str | None, str | None]: ...


M = TypeVar("M", bound=FinishedMatch)


class Columns(Generic[M]):
    """The rows, by the numbers of their pairings; and the orders in which these ended and were decided."""

    def __init__(self, tournament: str, abridged: Callable[..., M]) -> None:
        """`abridged` makes a match from its name, pairing and players, and what else is known of its end."""
        self.tournament = tournament
        self.abridged = abridged
        self.texts = Texts()
        self.first, self.second, self.round = array("I"), array("I"), array("I")  # names as texts
        self.flags, self.winners, self.endings, self.faults = (bytearray() for _ in range(4))
        self.began_at, self.ended_at = array("d"), array("d")
        self.versions = array("I"), array("I")  # of both bots, as texts
        self.why, self.plies, self.digests = array("I"), array("I"), bytearray()
        self.options = array("I")  # as texts, in JSON, of matches that had their own: most have the same
        self.byes: list[int] = []
        self.latest: dict[str, M] = {}  # matches with what led to their ends
        self.ended = array("I")  # numbers, in the order of the ends
        self.decided = array("i")  # numbers, in the order of the decisions; one taken back is negative
        self.counted = 0

    def __copy__(self) -> "Columns[M]":
        other = Columns[M](self.tournament, self.abridged)
        for field, value in vars(self).items():
            setattr(other, field, value if isinstance(value, int | str) or callable(value) else copy(value))
        return other

    def named(self, number: int) -> str:
        return f"{self.tournament}-{number}"

    def number(self, match: str) -> int | None:
        """The number of the pairing whose match has that name and is over."""
        _, _, number = match.rpartition("-")
        if number.isdecimal() and 0 < int(number) <= len(self.flags) and match == self.named(int(number)):
            return int(number) if self.flags[int(number) - 1] & ENDED else None
        return None

    def has(self, number: int, flag: int) -> bool:
        return 0 < number <= len(self.flags) and bool(self.flags[number - 1] & flag)

    def draw(self, pairing: Pairing) -> None:
        if pairing.number != len(self.flags) + 1:
            raise ValueError(f"{self.tournament}: pairing {pairing.number} came after {len(self.flags)}")
        self.first.append(self.texts.number(pairing.first))
        self.second.append(NOBODY if pairing.second is None else self.texts.number(pairing.second))
        self.round.append(pairing.round)
        for column in (self.winners, self.endings, self.faults, self.flags):
            column.append(0)
        for column in (self.why, self.plies):
            column.append(0)
        for column in (self.began_at, self.ended_at):
            column.append(NEVER)
        for column in (*self.versions, self.options):
            column.append(NOBODY)
        self.digests += NO_DIGEST
        if pairing.second is None:
            self.byes.append(pairing.number)

    def pairing(self, number: int) -> Pairing:
        row = number - 1
        second = self.second[row]
        seconds = None if second == NOBODY else self.texts[second]
        return Pairing(number, self.round[row], self.texts[self.first[row]], seconds)

    def end(self, match: M) -> None:
        number, row = match.pairing, match.pairing - 1
        if match.match != self.named(number):
            raise ValueError(f"{match.match} is no match of a table that has none played again")
        self.flags[row] |= ENDED | SCORES.index(match.score) << SCORE
        self.winners[row], self.faults[row] = WINNERS.index(match.winner), FAULTS.index(match.fault)
        self.endings[row] = ENDINGS.index(match.ending)
        self.why[row], self.plies[row] = self.texts.number(nameless(match.why, match.players)), match.plies
        self.began_at[row] = NEVER if match.began is None else match.began
        self.ended_at[row] = NEVER if match.ended is None else match.ended
        for column, version in zip(self.versions, match.versions, strict=True):
            column[row] = NOBODY if version is None else self.texts.number(version)
        if match.options is not None:
            self.options[row] = self.texts.number(encode(match.options).decode())
        self.latest[match.match] = match
        self.ended.append(number)

    def forget_causes(self, match: str) -> None:
        del self.latest[match]

    def match(self, number: int) -> M:
        if (known := self.latest.get(self.named(number))) is not None:
            return known
        row, pairing = number - 1, self.pairing(number)
        players = pairing.first, pairing.second or ""
        return self.abridged(
            self.named(number),
            number,
            players,
            WINNERS[self.winners[row]],
            ENDINGS[self.endings[row]],
            with_names(self.texts[self.why[row]], players),
            SCORES[self.flags[row] >> SCORE],
            options=self._options(row),
            began=_time(self.began_at[row]),
            ended=_time(self.ended_at[row]),
            fault=FAULTS[self.faults[row]],
            versions=(self._version(0, row), self._version(1, row)),
            length=self.plies[row],
        )

    def _version(self, seat: int, row: int) -> str | None:
        number = self.versions[seat][row]
        return None if number == NOBODY else self.texts[number]

    def _options(self, row: int) -> Mapping[str, Any] | None:
        number = self.options[row]
        return None if number == NOBODY else decode(self.texts[number])

    def decide(self, result: Result) -> None:
        """Note what came of a pairing; if its match counts no more, what the match came to stays."""
        row = result.pairing.number - 1
        self.flags[row] |= DECIDED
        if self.flags[row] & COUNTS:
            self.flags[row] |= PLAYED if result.played else 0
            self.digests[row * DIGEST : (row + 1) * DIGEST] = result.digest or NO_DIGEST

    def decision(self, number: int) -> Result:
        """What a match came to, whether or not it still counts."""
        row, pairing = number - 1, self.pairing(number)
        if pairing.second is None:
            return Result(pairing, BYE, played=False)
        flags, digest = self.flags[row], bytes(self.digests[row * DIGEST : (row + 1) * DIGEST])
        score, played = SCORES[flags >> SCORE] or NOTHING, bool(flags & PLAYED)
        return Result(pairing, score, played, b"" if digest == NO_DIGEST else digest)

    def came_to(self, number: int) -> Result:
        if self.has(number, COUNTS) or self.second[number - 1] == NOBODY:
            return self.decision(number)
        return Result(self.pairing(number), NOTHING, played=False)


def _time(at: float) -> float | None:
    return None if at == NEVER else at
