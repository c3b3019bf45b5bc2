"""A match that is played in another process, as far as this one has heard of it.

To code that only looks, it is a `Match` with its log, positions and clocks. It referees nothing: the
news has been judged already. Until somebody looks, news is only put aside: most matches of a large
event are never looked at while they go on.
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
    looked: float = -inf  # when it was last looked at
    heard = False  # whether anything was ever told of it
    told: trio.Event | None = None  # set at the first news, for the first who looks
    _aside: list[News] | None = None  # news that nobody has looked at; None: all is taken in as it comes

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
        known = len(self.log.events)
        if first > known:
            return  # events in between are missing, and will be told again
        if first == 0 and events and isinstance(events[0], Began):
            self.log.events[0] = events[0]  # with the time at which it began there
        for event in events[known - first :]:
            self._take(event)
        if clock is not None and not self.log.closed:
            self.clock.show(clock)

    def conclude(self, fact: Concluded, at: float) -> None:
        """End the match by its fact in the journal, with what the feed did not tell."""
        self._tell()
        if self._aside is not None and not self.log.followed:
            return  # nobody looked at it, and nobody will: those who ask from now on get the fact
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
