"""One match: the referee.

A `Match` does no I/O and waits for nothing. Whoever holds a seat calls `play`,
which either moves the game on and writes to the log, or raises `Illegal` and
changes nothing but, where the game says so, the result. The time is always an
argument.

A match ends in two steps, because a result may be announced only when it is
safe. The call that decides the match sets `verdict` and passes the match to
`decided`; its provider calls `announce` when the store has the result, and only
then do the last move and the ending get into the log. Until then nobody who
looks at the match can see that it is over.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import inf
from typing import Any

from games.game import Game, Illegal, Pace
from tournament.clock import Clock
from tournament.events import CUT_SHORT, NOBODY, AnyEvent, Began, Ended, Ending, Moved, Refused, absences
from tournament.log import Log

PRESENT = [None, None]  # nobody is absent
REFUSALS = 20  # in one match: enough for an honest author to notice a fault, and a bound on the host's work


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
        excused: tuple[bool, bool] = (False, False),
        early_grace: float = inf,
        kept: tuple[Sequence[Any], Sequence[float]] | None = None,
        decided: Callable[["Match", Ended], None] | None = None,
    ) -> None:
        """Constructing a match begins it. Without `decided`, its end is announced at once.

        If neither player is there, it is void and may be played again; if not `replayable`, both lose.
        If one that is `excused` is gone before both have moved, it is void as well. Before its first move,
        nobody is waited for longer than `early_grace` that has been here.

        A match that the host's stop has interrupted goes on from the moves that were `kept` and the seconds
        spent on them; raises `Illegal` if these are no match that goes on. Both seats are to be held: whoever
        does not come back loses nothing by that, because the match is void.
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
        self._excused = excused
        self._early_grace = early_grace
        self._counts = [0, 0]
        self._decided = decided or announce_at_once
        self._due: list[float | None] = [None, None]  # when an absent seat has to be there
        self._paused: float | None = None
        self._held = [False, False]  # absent since the beginning: its clock does not run
        self._last: tuple[AnyEvent, Any] | None = None  # the move that decided, kept back with the verdict
        self.interrupted = kept is not None
        self._to_return = [self.interrupted, self.interrupted]  # seats that have not been here since then
        self.log.append(Began(at, names))
        for move, spent in zip(*(kept or ((), ())), strict=True):
            self._restore(move, spent, at)
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
    def both_have_moved(self) -> bool:
        """Whether each seat has made a move, the one that decided included."""
        return self.has_moved(0) and self.has_moved(1)

    def has_moved(self, seat: int) -> bool:
        """Whether a seat has made a move, the one that decided included."""
        decided = self._last is not None and isinstance(self._last[0], Moved) and not self.log.closed
        before = islice(self.positions, len(self.moves) + decided)
        return any(position.turn == seat for position in before)

    def early_grace(self, seat: int) -> float:
        """Seconds that a seat may be gone because it has not moved yet; infinite where it has."""
        return inf if self.has_moved(seat) else self._early_grace

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
        if at > clock.deadline or self._due != PRESENT:  # rare: nearly always nothing has run out
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
        """A seat has not come yet: its clock stands still, and it loses if it has not come by `until`."""
        self._held[seat] = True
        self._due[seat] = until
        if self.clock.running == seat:
            self.clock.halt(self.clock.since)

    def away(self, seat: int, until: float) -> None:
        """A seat lost its connection: its clock runs on, and it loses if it is not back by `until`."""
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
        self._to_return[seat] = False
        if self._held[seat]:
            self._held[seat] = False
            if self.to_move == seat:
                self.clock.start(seat, at)
        self.flag(at)  # if the opponent has been gone for too long, this seat wins now

    # What the host does

    def flag(self, at: float) -> None:
        """End the match if somebody's time has run out.

        What ran out first decides; of two at once, the clock of the seat to move.
        The result does not depend on how late or how often this is called.
        """
        if self.verdict is not None or at <= self.deadline:
            return
        mover = self.position.turn
        if self.clock.deadline <= self._absent_until:
            self._end(Ended(at, 1 - mover, Ending.TIME, f"{self.names[mover]} ran out of time"))
        elif missing := [seat for seat in (0, 1) if self._to_return[seat]]:
            who = " and ".join(self.names[seat] for seat in missing)
            self._end(Ended(at, None, Ending.VOID, f"{CUT_SHORT}, and {who} did not come back"))
        elif None in self._due:
            seat = 0 if self._due[1] is None else 1
            left_early, never_came = absences(self.names[seat])
            if self._excused[seat] and not self.both_have_moved:
                self._end(Ended(at, None, Ending.VOID, never_came if self._held[seat] else left_early))
            else:
                why = never_came if self._held[seat] else f"{self.names[seat]} left the match"
                self._end(Ended(at, 1 - seat, Ending.LEFT, why))
        else:
            ending = Ending.VOID if self._replayable else Ending.LEFT
            self._end(Ended(at, None, ending, NOBODY))

    def credit(self, seconds: float, at: float) -> None:
        """The host stalled: give that time back to the clocks and to whoever is away."""
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
        """Stop a match that is to count for nothing."""
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
        """Lose by a refusal, which is announced together with the result."""
        self._last = refused, None
        why = f"{self.names[refused.seat]}: {reason}"
        self._end(Ended(refused.at, 1 - refused.seat, Ending.ILLEGAL, why))

    def _restore(self, written: Any, spent: float, at: float) -> None:
        """Play a move again that was played before the host stopped."""
        seat: int = self.position.turn
        after = self.position.play(self.game.read(written, self.position))
        if after.outcome is not None or len(self.positions) == self._ply_limit:
            raise Illegal("this match was over")
        self.clock.charge(seat, spent)
        moved = Moved(at, seat, len(self.positions), written, spent, self.clock.left(seat, at))
        self._add(moved, after)
        self.to_move = after.turn
        self.log.append(moved)

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
    """The `decided` of matches whose results need not be stored first."""
    match.announce()
