"""A match that is played in another process, as far as this one has heard of it.

Whoever only looks sees a `Match`, with its log, positions and clocks. It referees nothing: what is
told has been judged already.
"""

from collections.abc import Sequence

from msgspec import structs

from games.game import Quoted
from tournament.clock import ClockState
from tournament.events import AnyEvent, Ended, Moved, Refused
from tournament.match import Match
from tournament.record import Concluded


class Replica(Match):
    def hear(self, first: int, events: Sequence[AnyEvent], clock: ClockState | None = None) -> None:
        """Take in the events from that number on in the match's log; those that are known are passed over."""
        known = len(self.log.events)
        if first > known:
            return  # something in between is missing, and is told again
        for event in events[known - first :]:
            self._take(event)
        if clock is not None and not self.log.closed:
            self.clock.show(clock)

    def conclude(self, fact: Concluded, at: float) -> None:
        """It is over by the journal; what the feed did not tell of it is made up for."""
        if self.log.closed:
            return
        for ply in range(self.ply, len(fact.moves)):
            seat: int = self.position.turn
            self._take(Moved(at, seat, ply + 1, fact.moves[ply], fact.times[ply], None))
        self._take(Ended(at, fact.winner, fact.ending, fact.why))

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
