"""A match that is played in another process, as far as this one has heard of it.

To code that only looks, it is a `Match` with its log, positions and clocks. It referees nothing: the
news has been judged already. Until somebody looks, news is only put aside: most matches of a large
event are never looked at while they go on.

A process that goes on with a match tells it from its beginning, as far as that was kept. The latest of it
may be in this log alone, so the two logs go on from the last move that both have.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

import structlog
import trio
from msgspec import structs

from games.game import Quoted
from tournament.causes import moved_by
from tournament.clock import ClockState
from tournament.events import AnyEvent, Began, Ended, Moved, Refused
from tournament.facts import Concluded
from tournament.match import Match

LOOKED = 5.0  # seconds for which a look counts: pages look again twenty times a second

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()

News = tuple[int, Sequence[AnyEvent], ClockState | None]


class Replica(Match):
    looked: float = -inf  # when it was last looked at
    heard = False  # whether anything was ever told of it
    told: trio.Event | None = None  # set at the first news, for whoever looks first
    _aside: list[News] | None = None  # news that nobody has looked at; None: all is taken in as it comes
    _next = 0  # the number of the next event to be told, in the log of whoever tells, …
    _ply = 0  # … how many moves it has told, …
    _place = 0  # … and from where on this log may have what comes after them
    _stuck = False  # whether a move was told that the game does not take: no later one can be shown

    def put_aside(self) -> None:
        """Take in nothing until somebody looks."""
        self._aside = []

    def looked_at(self) -> "Replica":
        """The match as it is now, kept up to date from now on."""
        self.looked = trio.current_time()
        if self._aside is not None:
            aside, self._aside = self._aside, None
            for news in aside:
                self._hear(*news)
        return self

    def expect(self) -> trio.Event:
        """Look at the match; returns what is set as soon as there is news, unless somebody looks already."""
        if self.told is None or not self.is_looked_at(trio.current_time()):
            self.told = trio.Event()
        self.looked_at()
        return self.told

    def is_looked_at(self, now: float) -> bool:
        """Whether the match goes on and somebody seems to have it open."""
        return (now < self.looked + LOOKED or self.log.followed) and not self.log.closed

    def hear(self, first: int, events: Sequence[AnyEvent], clock: ClockState | None = None) -> None:
        """Take in events of the match's log from the number `first` on; known ones are skipped."""
        self._tell()
        if self._aside is None:
            self._hear(first, events, clock)
        else:
            self._aside.append((first, events, clock))

    def _tell(self) -> None:
        self.heard = True
        if self.told is not None:
            self.told.set()

    def _hear(self, first: int, events: Sequence[AnyEvent], clock: ClockState | None) -> None:
        if self.log.closed:
            return
        if first == 0 and events and isinstance(events[0], Began):
            self.log.events[0] = events[0]  # with the time at which it began there
            self._next, self._place, self._ply = 1, 1, 0
        if first > self._next:
            return  # events in between are missing, and will be told again
        for event in events[self._next - first :]:
            self._next += 1
            self._meet(event)
        if clock is not None and not self.log.closed:
            self._expect_no_more()
            self.clock.show(clock)

    def _meet(self, event: AnyEvent) -> None:
        """Take in an event, unless it is known or came before a move that is."""
        known = self.log.events
        match event:
            case Moved(ply=ply):
                self._ply = ply
                if ply <= self.ply and self.moves[ply - 1] != event.move:
                    self._take_back(ply - 1)
                if ply > self.ply:
                    self._append(event)
                elif ply == self.ply:
                    self._place = 1 + self._number_of(ply)
            case Ended():
                self._expect_no_more()
                self._append(event)
            case _ if self._ply == self.ply:
                for number in range(self._place, len(known)):
                    if _alike(known[number], event):
                        self._place = number + 1
                        return
                self._append(event)
            case _:
                pass

    def _append(self, event: AnyEvent) -> None:
        self._take(event)
        self._place = len(self.log.events)

    def _expect_no_more(self) -> None:
        """All that has happened was told: moves that are known besides were not kept."""
        if self._ply < self.ply:
            self._take_back(self._ply)

    def _take_back(self, ply: int) -> None:
        """Forget all but this many moves. Whoever follows the log has to begin anew."""
        del self.log.events[self._number_of(ply + 1) :]
        del self.moves[ply:], self.times[ply:], self.positions[ply + 1 :]
        self._place = len(self.log.events)
        self.to_move = self.position.turn
        self.taken_back += 1
        self.log.let_go()

    def _number_of(self, ply: int) -> int:
        """The number of a move's event in this log."""
        return next(
            number
            for number, each in enumerate(self.log.events)
            if isinstance(each, Moved) and each.ply == ply
        )

    def conclude(self, fact: Concluded, now: float) -> None:
        """End the match by its fact in the journal, with what the feed did not tell."""
        self._tell()
        if self._aside is not None and not self.log.followed:
            return  # nobody looked at it, and nobody will: those who ask from now on get the fact
        self.looked_at()
        if self.log.closed:
            return
        self._ply = 0
        at = now if fact.ended is None else fact.ended - self.epoch
        for ply, (move, spent) in enumerate(zip(fact.moves, fact.times, strict=True), 1):
            seat: int = self.positions[min(ply, len(self.positions)) - 1].turn
            self._meet(Moved(at, seat, ply, move, spent, None))
        cause = moved_by(fact.cause, -self.epoch)
        self._meet(Ended(at, fact.winner, fact.ending, fact.why, fact.fault, cause))

    def _take(self, event: AnyEvent) -> None:
        match event:
            case Moved(move=written):
                if self._stuck:
                    return
                try:
                    after = self.position.play(self.game.read(written, self.position))
                except Exception as error:  # by a fault of this game's, and the others are to be shown
                    self._stuck = True
                    log.error("a game does not take back a move of its own", match=self.name, exc_info=error)
                    return
                self._add(event, after)
                self.to_move = after.turn
            case Refused(sent=sent):
                event = structs.replace(event, sent=Quoted(sent))
            case Ended():
                self.clock.halt(event.at)
                self.verdict, self.to_move = event, None
            case _:
                pass
        self.log.append(event)


def _alike(one: AnyEvent, other: AnyEvent) -> bool:
    """Whether they are the same but for the time, which another clock may have measured."""
    return structs.replace(one, at=0.0) == structs.replace(other, at=0.0)


class Replicas(Mapping[str, Replica]):
    """The matches of a tournament; one that is taken from here is brought up to date."""

    def __init__(self, replicas: Mapping[str, Replica]) -> None:
        self._replicas = replicas

    def __getitem__(self, name: str) -> Replica:
        return self._replicas[name].looked_at()

    def __iter__(self) -> Iterator[str]:
        return iter(self._replicas)

    def __len__(self) -> int:
        return len(self._replicas)

    def __contains__(self, name: object) -> bool:
        return name in self._replicas
