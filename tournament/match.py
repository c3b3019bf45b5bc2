"""One match: the referee.

A `Match` does no I/O and waits for nothing. Whoever holds a seat calls `play`,
which either moves the game on and writes to the log, or raises `Illegal` and
changes nothing but, where the game says so, the result. The time is always an
argument.

What decides a match is told in two steps, because a result may be announced
only when it is safe. The deciding call sets `verdict` and hands the match to
`decided`; whoever that is calls `announce` when the store has the result, and
only then do the last move and the ending get into the log. Until then nobody
who looks at the match can see that it is over.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from games.game import Game, Illegal, Pace
from tournament.clock import Clock
from tournament.events import NOBODY, AnyEvent, Began, Ended, Ending, Moved, Refused
from tournament.log import Log

PRESENT = [None, None]  # nobody is absent
REFUSALS = 20  # in one match: as many tries as an honest author needs to see a fault, and a bound on our work


class OutOfTurn(Illegal):
    """It is the other seat's turn, or nobody's. Costs nothing, whatever the game says about faults."""


class Match:
    def __init__(
        self,
        game: Game[Any, Any],
        names: tuple[str, str],
        at: float,
        *,
        name: str = "",
        pace: Pace | None = None,
        options: Mapping[str, object] | None = None,
        ply_limit: int | None = None,
        refusals: int = REFUSALS,
        replayable: bool = True,
        decided: Callable[["Match", Ended], None] | None = None,
    ) -> None:
        """Constructing a match begins it. Without `decided`, what decides it is announced at once.

        With neither player there it is void and may be played again; if not `replayable`, both have lost.
        """
        self.game = game
        self.names = names
        self.name = name
        self.options = options or {}
        self.positions = [game.opening(self.options)]
        self.moves: list[Any] = []  # as the game writes them: `positions[n]` is after n of them …
        self.times: list[float] = []  # … and the seconds spent on each
        self.clock = Clock(pace or game.pace)
        self.log = Log()
        self.verdict: Ended | None = None
        self.to_move: int | None = self.position.turn  # the seat whose move is awaited
        self._ply_limit = game.ply_limit if ply_limit is None else ply_limit
        self._refusals = refusals
        self._replayable = replayable
        self._counts = [0, 0]
        self._decided = decided or announce_at_once
        self._due: list[float | None] = [None, None]  # by when an absent seat has to be there
        self._paused: float | None = None
        self._held = [False, False]  # absent since the beginning: its clock does not run
        self._last: tuple[AnyEvent, Any] | None = None  # the move that decided, kept back with the verdict
        self.log.append(Began(at, names))
        self.clock.start(self.position.turn, at)

    # What can be seen

    @property
    def position(self) -> Any:
        return self.positions[-1]

    @property
    def ply(self) -> int:
        return len(self.moves)

    @property
    def result(self) -> Ended | None:
        """How it ended, once that has been announced."""
        last = self.log.events[-1]
        return last if isinstance(last, Ended) else None

    @property
    def deadline(self) -> float:
        """The next instant after which `flag` may have something to decide."""
        if self.verdict is not None:
            return inf
        return self.clock.deadline if self._due == PRESENT else min(self.clock.deadline, self._absent_until)

    def left(self, at: float) -> tuple[float | None, float | None]:
        """Seconds on both clocks."""
        return self.clock.left(0, at), self.clock.left(1, at)

    def moves_and_times(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """Every move and the seconds spent on each, the last one too, which may not have been announced."""
        moves, times = tuple(self.moves), tuple(self.times)
        if self._last is not None and isinstance(last := self._last[0], Moved) and not self.log.closed:
            return (*moves, last.move), (*times, last.spent)
        return moves, times

    # What a seat does

    def play(self, seat: int, sent: object, at: float, now: float | None = None) -> None:
        """Play what was sent, which arrived at `at`; the next clock starts `now`."""
        clock = self.clock
        if at > clock.deadline or self._due != PRESENT:  # else nothing has run out, as nearly always
            self.flag(at)
        position = self.positions[-1]
        if self.to_move != seat:
            raise OutOfTurn(
                "the match is over" if self.verdict is not None else "it is the other player's turn"
            )
        try:
            move = self.game.read(sent, position)
            after = position.play(move)
        except Illegal as refusal:
            self._refuse(seat, sent, str(refusal), at)
            raise
        spent = clock.stop(at)  # no await from here …
        moved = Moved(at, seat, len(self.positions), self.game.write(move), spent, clock.left(seat, at))
        if after.outcome is not None:
            self._last = moved, after
            self._end(Ended(at, after.outcome.winner, Ending.PLAYED, after.outcome.why))
        elif moved.ply == self._ply_limit:
            self._last = moved, after
            self._end(Ended(at, None, Ending.PLAYED, f"{moved.ply} plies were played, which makes it a draw"))
        else:
            self._add(moved, after)
            self.to_move = turn = after.turn
            if not self._held[turn]:
                clock.start(turn, at if now is None or now < at else now)
            self.log.append(moved)  # … to here

    def resign(self, seat: int, at: float) -> None:
        self.flag(at)
        if self.verdict is None:
            self._end(Ended(at, 1 - seat, Ending.RESIGNED, f"{self.names[seat]} resigned"))

    def forfeit(self, seat: int, sent: object, why: str, at: float) -> None:
        """Lose by what was sent, in turn or not: it breaks a rule that the position knows nothing of."""
        self.flag(at)
        if self.verdict is not None:
            raise OutOfTurn("the match is over")
        self._counts[seat] += 1
        self._lose(Refused(at, seat, self.ply, sent, why, self._counts[seat]), why)

    # Who is there

    def hold(self, seat: int, until: float) -> None:
        """A seat that has not come yet: until it does its clock stands still, and then it has lost."""
        self._held[seat] = True
        self._due[seat] = until
        if self.clock.running == seat:
            self.clock.halt(self.clock.since)

    def away(self, seat: int, until: float) -> None:
        """A seat lost its connection: its clock runs on, and it has lost if it is not back by then."""
        if self._due[seat] is None:
            self._due[seat] = until

    def leave(self, seat: int, at: float) -> None:
        """A seat is gone for good. Its opponent wins, now or on coming back."""
        self.flag(at)
        self._due[seat] = -inf
        self.flag(at)

    def here(self, seat: int, at: float) -> None:
        """A seat has come, or come back."""
        self.flag(at)
        if self._due[seat] == -inf:
            return
        self._due[seat] = None
        if self._held[seat]:
            self._held[seat] = False
            if self.to_move == seat:
                self.clock.start(seat, at)
        self.flag(at)  # the other may have been gone too long, and only waited for us to claim it

    # What the host does

    def flag(self, at: float) -> None:
        """End the match if a time that has run out says so.

        What ran out first decides; of two at once, the clock of the seat to move.
        Called late, often or in any order it comes to the same.
        """
        if self.verdict is not None or at <= self.deadline:
            return
        mover = self.position.turn
        if self.clock.deadline <= self._absent_until:
            self._end(Ended(at, 1 - mover, Ending.TIME, f"{self.names[mover]} ran out of time"))
        elif None in self._due:
            seat = 0 if self._due[1] is None else 1
            why = "did not come" if self._held[seat] else "left the match"
            self._end(Ended(at, 1 - seat, Ending.LEFT, f"{self.names[seat]} {why}"))
        else:
            ending = Ending.VOID if self._replayable else Ending.LEFT
            self._end(Ended(at, None, ending, NOBODY))

    def credit(self, seconds: float, at: float) -> None:
        """The host stalled: nobody pays for it, on a clock or for being away."""
        if self.verdict is None and self._paused is None:
            self.clock.credit(seconds, at)
            self._due = [None if due is None else due + seconds for due in self._due]

    def pause(self, at: float) -> None:
        """Stop all time: nothing runs out until `resume`. Moves may still be played."""
        if self._paused is None:
            self._paused = at
            self.clock.pause(at)

    def resume(self, at: float) -> None:
        if self._paused is not None:
            waited, self._paused = at - self._paused, None
            self._due = [None if due is None else due + waited for due in self._due]
            self.clock.resume(at)
            self.flag(at)  # somebody may have left for good meanwhile

    def void(self, why: str, at: float) -> None:
        """Stop a match that shall count for nothing."""
        if self.verdict is None:
            self._last = None
            self._end(Ended(at, None, Ending.VOID, why))

    def announce(self) -> None:
        """The verdict is safe: let everybody know it, with the move that brought it."""
        if self.verdict is None or self.log.closed:
            return
        events: list[AnyEvent] = [self.verdict]
        if self._last is not None:
            last, after = self._last
            if isinstance(last, Moved):
                self._add(last, after)
            events.insert(0, last)
        self.log.append(*events)

    # Within

    @property
    def _absent_until(self) -> float:
        """Until when the match waits for whoever is absent; while both are, for the later of them."""
        one, other = self._due
        if (one is None and other is None) or self._paused is not None:
            return inf
        return max(-inf if one is None else one, -inf if other is None else other)

    def _refuse(self, seat: int, sent: object, why: str, at: float) -> None:
        self._counts[seat] += 1
        refused = Refused(at, seat, self.ply, sent, why, self._counts[seat])
        forfeit = self.game.faults == "forfeit"
        if forfeit or self._counts[seat] >= self._refusals:
            reason = why if forfeit else f"{self._counts[seat]} moves were refused, the last because: {why}"
            self._lose(refused, reason)
        else:
            self.log.append(refused)

    def _lose(self, refused: Refused, reason: str) -> None:
        """By a refusal, which is told with the result."""
        self._last = refused, None
        why = f"{self.names[refused.seat]}: {reason}"
        self._end(Ended(refused.at, 1 - refused.seat, Ending.ILLEGAL, why))

    def _add(self, moved: Moved, after: Any) -> None:
        self.moves.append(moved.move)
        self.times.append(moved.spent)
        self.positions.append(after)

    def _end(self, verdict: Ended) -> None:
        self.clock.halt(verdict.at)
        self.verdict = verdict
        self.to_move = None
        self._decided(self, verdict)


def announce_at_once(match: Match, verdict: Ended) -> None:
    """What is done with a verdict where no store has to have it first."""
    match.announce()
