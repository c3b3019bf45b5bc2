"""A match that is played in another process, as far as this one has heard of it.

Whoever only looks sees a `Match`, with its log, positions and clocks. It referees nothing: what is
told has been judged already. Until somebody looks, what is told is only put aside: most matches of a
large event are never looked at while they go on.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf

import trio
from msgspec import structs

from games.game import Quoted
from tournament.causes import moved_by
from tournament.clock import ClockState
from tournament.events import AnyEvent, Began, Ended, Moved, Refused
from tournament.facts import Concluded
from tournament.match import Match

LOOKED = 5.0  # seconds for which a look counts: pages look again twenty times a second

News = tuple[int, Sequence[AnyEvent], ClockState | None]


class Replica(Match):
    looked: float = -inf  # when somebody looked at it last
    heard = False  # anything was ever told of it
    told: trio.Event | None = None  # set when something is told of it, for whoever looks first
    _aside: list[News] | None = None  # what was told and not looked at; None: all is taken in as it comes

    def put_aside(self) -> None:
        """Take in nothing until somebody looks."""
        self._aside = []

    def looked_at(self) -> "Replica":
        """As it is now, and from now on."""
        self.looked = trio.current_time()
        if self._aside is not None:
            aside, self._aside = self._aside, None
            for news in aside:
                self._hear(*news)
        return self

    def is_looked_at(self, now: float) -> bool:
        """Whether somebody has it open, as far as can be seen from here, and it goes on."""
        return (now < self.looked + LOOKED or self.log.followed) and not self.log.closed

    def hear(self, first: int, events: Sequence[AnyEvent], clock: ClockState | None = None) -> None:
        """Take in the events from that number on in the match's log; those that are known are passed over."""
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
        known = len(self.log.events)
        if first > known:
            return  # something in between is missing, and is told again
        if first == 0 and events and isinstance(events[0], Began):
            self.log.events[0] = events[0]  # when it began there
        for event in events[known - first :]:
            self._take(event)
        if clock is not None and not self.log.closed:
            self.clock.show(clock)

    def conclude(self, fact: Concluded, at: float) -> None:
        """It is over by the journal; what the feed did not tell of it is made up for."""
        self._tell()
        if self._aside is not None and not self.log.followed:
            return  # nobody has looked at it, and nobody will: whoever asks from now on is given the fact
        self.looked_at()
        if self.log.closed:
            return
        for ply in range(self.ply, len(fact.moves)):
            seat: int = self.position.turn
            self._take(Moved(at, seat, ply + 1, fact.moves[ply], fact.times[ply], None))
        cause = moved_by(fact.cause, -self.epoch)
        self._take(Ended(at, fact.winner, fact.ending, fact.why, fact.fault, cause))

    def _take(self, event: AnyEvent) -> None:
        match event:
            case Moved(move=written):
                after = self.position.play(self.game.read(written, self.position))
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


class Replicas(Mapping[str, Replica]):
    """The matches of a tournament as they are looked at: whoever takes one sees it as it is now."""

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
