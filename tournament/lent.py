"""A match that another process plays: how it began, how it stands, and what stands in its place here.

The process that holds the tournament lends a match while nothing disturbs it. When an organiser gives an
order about it, or a bot comes or goes, the match first comes home as it stands, and that is done here. The
processes share a clock, so times mean the same in all of them.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from msgspec import Struct, msgpack, structs

from games.catalogue import catalogue
from games.game import Game, Illegal, Pace, Quoted, quoted
from tournament.asides import Aside, noted
from tournament.clock import ClockState
from tournament.events import HOST_FAILED, AnyEvent, Ended, Ending, Fault, Moved, Refused
from tournament.match import Match, OutOfTurn
from tournament.notes import Note, Notes, room
from tournament.store import Jottings
from tournament.thinking import UNTOLD, Seconds
from tournament.verdicts import Gone

Decided = Callable[[Match, Ended], None]


class Beginning(Struct, frozen=True, array_like=True):
    """What a match was made of."""

    game: str
    names: tuple[str, str]
    name: str
    pace: Pace | None
    options: Mapping[str, Any]
    replayable: bool
    excused: tuple[bool, bool]
    early_grace: float
    grace: float
    refusals: int
    epoch: float
    dealt_at: float | None  # wall time


class Course(Struct, frozen=True, array_like=True):
    """How a match that is not over stands."""

    events: tuple[AnyEvent, ...]
    quoted: tuple[int, ...]  # numbers of the events that refuse something that no message can hold
    clock: ClockState
    refusals: tuple[int, int]
    gone: tuple[Gone | None, Gone | None]
    losses: tuple[int, int]
    credited: float
    asides: tuple[Aside, ...]
    meant: tuple[tuple[int, int] | None, tuple[int, int] | None] = (None, None)
    ignored: tuple[tuple[int, str] | None, tuple[int, str] | None] = (None, None)


class Report(Struct, frozen=True, array_like=True):
    """How a match has ended."""

    verdict: Ended
    moves: tuple[Any, ...]
    times: tuple[float, ...]
    moved: tuple[bool, bool]  # whether each seat has moved
    thinking: tuple[Seconds, Seconds]
    notes: Notes


def not_begun(at: float) -> Report:
    """The report on a match that did not begin, because its game failed where it was to be played."""
    verdict = Ended(at, None, Ending.VOID, HOST_FAILED, Fault.HOST)
    return Report(verdict, (), (), (False, False), UNTOLD, ())


def begun(
    game: Game[Any, Any],
    beginning: Beginning,
    at: float,
    decided: Decided,
    kept: Jottings | None = None,
) -> Match:
    """A match that begins here, or goes on from what was `kept` of it; raises `Illegal` if it cannot."""
    if kept is None:
        return Match(game=game, **_arguments(beginning, at, decided))
    moves, times, asides = kept
    try:
        return Match(game=game, kept=(moves, times), asides=asides, **_arguments(beginning, at, decided))
    except Illegal:
        raise
    except Exception as error:  # its code has changed since, and the other matches have to go on
        raise Illegal(f"the game failed: {error!r}") from error


class Travelling(Match):
    """A match that goes from one process to another."""

    def __init__(self, beginning: Beginning, at: float, decided: Decided) -> None:
        super().__init__(catalogue()[beginning.game], **_arguments(beginning, at, decided))
        self.beginning = beginning
        self.unreadable: Exception | None = None  # what its game raised that does not take back its own moves
        self._away = 0  # connections of its players that are still in the process where it was played
        self._when_told: list[Callable[[], None]] = []

    @property
    def course(self) -> Course:
        """How the match stands now, for another process to go on with."""
        events = tuple([_sayable(each) for each in self.log.events])
        return Course(
            events,
            tuple([number for number, event in enumerate(events) if event is not self.log.events[number]]),
            self.clock.state,
            (self._counts[0], self._counts[1]),
            (self._gone[0], self._gone[1]),
            (self._losses[0], self._losses[1]),
            self._credited,
            tuple(self.asides),
            (self.meant[0], self.meant[1]),
            (self.ignored[0], self.ignored[1]),
        )

    def go_on(self, course: Course) -> None:
        """Take over the match as it stood in another process. Nobody follows it yet.

        If it is `unreadable` now, it can only be voided.
        """
        self._away = len(self.names)
        moved = [event for event in course.events if isinstance(event, Moved)]
        self.moves += [event.move for event in moved]
        self.times += [event.spent for event in moved]
        try:
            for move in self.moves:
                self.positions.append(self.position.play(self.game.read(move, self.position)))
        except Exception as error:
            self.unreadable = error
            self.positions += [self.position] * (1 + len(self.moves) - len(self.positions))
        self.log.events = [*course.events]
        for number in course.quoted:
            self.log.events[number] = _as_said(course.events[number])
        self._eventful = any(not isinstance(event, Moved) for event in course.events[1:])
        self.to_move = self.position.turn
        self.clock.show(course.clock)
        self._paused = course.clock.paused
        self._counts, self._gone, self._losses = [*course.refusals], [*course.gone], [*course.losses]
        self._credited, self.asides = course.credited, [*course.asides]
        self._room = room(noted(course.asides))
        self.meant, self.ignored = [*course.meant], [*course.ignored]

    def thinking(self) -> tuple[Seconds, Seconds]:
        return super().thinking() if self.unreadable is None else UNTOLD  # nobody knows who made which move

    def arrived(self) -> None:
        """One more connection is here again, or has ended."""
        self._away -= 1
        if self._away == 0:
            calls, self._when_told = self._when_told, []
            for call in calls:
                call()

    def when_told(self, call: Callable[[], None]) -> None:
        if self._away > 0:
            self._when_told.append(call)
        else:
            call()

    @property
    def outcome(self) -> Report:
        """How the match has ended, once it has a verdict."""
        if self.verdict is None:
            raise ValueError(f"{self.name} is not over")
        moved = self.has_moved(0), self.has_moved(1)
        return Report(self.verdict, *self.moves_and_times(), moved, self.thinking(), self.notes)


class Lent(Match):
    """Stands in for a match that is lent. It referees nothing; its moves are those that were heard of."""

    elsewhere = True

    def __init__(
        self,
        beginning: Beginning,
        at: float,
        decided: Decided,
        recall: Callable[[], None],
        announced: Callable[["Lent"], None],
    ) -> None:
        """`recall` has the match come home, and `announced` is called when its result is safe."""
        super().__init__(catalogue()[beginning.game], **_arguments(beginning, at, decided))
        self.beginning = beginning
        self.decided = decided
        self._recall = recall
        self._announced = announced
        self._orders: list[Callable[[Match], None]] = []  # to be carried out when it is home
        self._report: Report | None = None
        self._told = False
        self._when_told: list[Callable[[], None]] = []

    # What is heard of it

    def hear(self, moves: tuple[Any, ...], times: tuple[float, ...], asides: tuple[Aside, ...]) -> None:
        """Add moves that were played next, and what there was beside them."""
        self.moves += moves
        self.times += times
        self.asides += asides

    def conclude(self, report: Report) -> None:
        """Take in the verdict, which was reached where the match was played."""
        self._report, self.verdict, self.to_move = report, report.verdict, None
        self._decided(self, report.verdict)

    def come_home(self, course: Course, at: float) -> Travelling:
        """The match itself, as it stands; the store goes on with the moves that it has."""
        match = Travelling(self.beginning, at, self.decided)
        match.go_on(course)
        self.moves += match.moves[len(self.moves) :]
        self.times += match.times[len(self.times) :]
        self.asides += match.asides[len(self.asides) :]
        match.moves, match.times, match.asides = self.moves, self.times, self.asides
        return match

    def carry_out(self, match: Match) -> None:
        """Carry out on a match that is home what was ordered meanwhile."""
        orders, self._orders = self._orders, []
        for order in orders:
            order(match)

    def told(self) -> None:
        """Both bots have been told how it ended, and are here again; or whoever played it is gone."""
        self._told = True
        calls, self._when_told = self._when_told, []
        for call in calls:
            call()

    def when_home(self, order: Callable[[Match], None]) -> None:
        """Have the match come home, and then carry out `order`."""
        self._orders.append(order)
        self._recall()

    # As a match

    @property
    def deadline(self) -> float:
        return inf

    def flag(self, at: float, *, heard: bool = False) -> None:
        """Its clocks run elsewhere."""

    def credit(self, seconds: float, at: float) -> None:
        """Its clocks run elsewhere."""

    def play(
        self,
        seat: int,
        sent: object,
        at: float,
        now: float | None = None,
        thought: float | None = None,
        note: Note | None = None,
    ) -> None:
        raise OutOfTurn("this match is played by another process just now")

    def early_grace(self, seat: int) -> float:
        return inf  # the process that plays it knows who has moved

    def hold(self, seat: int, until: float, at: float, *, lost: bool = False) -> None:
        self._order(
            at, lambda match, at: match.hold(seat, min(until, at + match.early_grace(seat)), at, lost=lost)
        )

    def away(self, seat: int, until: float, at: float, *, lost: bool = True) -> None:
        self._order(
            at, lambda match, at: match.away(seat, min(until, at + match.early_grace(seat)), at, lost=lost)
        )

    def cut_off(self, seat: int, why: str, at: float) -> None:
        self._order(at, lambda match, at: match.cut_off(seat, why, at))

    def leave(self, seat: int, at: float, *, out: bool = False) -> None:
        self._order(at, lambda match, at: match.leave(seat, at, out=out))

    def here(self, seat: int, at: float) -> None:
        self._order(at, lambda match, at: match.here(seat, at))

    def resign(self, seat: int, at: float) -> None:
        self._order(at, lambda match, at: match.resign(seat, at))

    def forfeit(self, seat: int, sent: object, why: str, at: float) -> None:
        self._order(at, lambda match, at: match.forfeit(seat, sent, why, at))

    def void(self, why: str, at: float, fault: Fault | None = None) -> None:
        self._order(at, lambda match, at: match.void(why, at, fault))

    def _order(self, at: float, order: Callable[[Match, float], None]) -> None:
        """Have the match come home, and carry out an order of that time, or of when the last of what was
        played until then happened.
        """
        self.when_home(lambda match: order(match, max(at, match.log.events[-1].at)))

    def has_moved(self, seat: int) -> bool:
        return self._report is not None and self._report.moved[seat]

    def moves_and_times(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        report = self._report
        return super().moves_and_times() if report is None else (report.moves, report.times)

    def thinking(self) -> tuple[Seconds, Seconds]:
        return UNTOLD if self._report is None else self._report.thinking

    @property
    def notes(self) -> Notes:
        return () if self._report is None else self._report.notes

    def announce(self) -> None:
        super().announce()
        self._announced(self)

    def when_told(self, call: Callable[[], None]) -> None:
        if self._told:
            call()
        else:
            self._when_told.append(call)


def _arguments(beginning: Beginning, at: float, decided: Decided) -> dict[str, Any]:
    return {
        "names": beginning.names,
        "at": at,
        "name": beginning.name,
        "pace": beginning.pace,
        "options": beginning.options,
        "replayable": beginning.replayable,
        "excused": beginning.excused,
        "early_grace": beginning.early_grace,
        "grace": beginning.grace,
        "refusals": beginning.refusals,
        "epoch": beginning.epoch,
        "dealt_at": beginning.dealt_at,
        "decided": decided,
    }


def _sayable(event: AnyEvent) -> AnyEvent:
    """An event as a message can hold it: what was refused may be more than that."""
    if isinstance(event, Refused):
        try:
            msgpack.encode(event.sent)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return structs.replace(event, sent=str(quoted(event.sent)))
    return event


def _as_said(event: AnyEvent) -> AnyEvent:
    return structs.replace(event, sent=Quoted(event.sent)) if isinstance(event, Refused) else event
