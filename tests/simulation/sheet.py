"""What one seat did in one match, and when it was due: counted apart from the host's own clock.

A `Sheet` follows the match as a bot does. From what it saw and sent it knows
whether a verdict against its seat is deserved.
"""

from collections.abc import Callable
from math import inf, isclose
from typing import TYPE_CHECKING

import trio

from games.game import Illegal, Pace
from tournament.events import AnyEvent, Ended, Ending, Moved
from tournament.match import REFUSALS, OutOfTurn
from tournament.player import Seat

if TYPE_CHECKING:
    from tests.simulation.world import World

EXACT = 1e-7  # seconds: what sums of floats may be off by


class Sheet:
    def __init__(self, seat: Seat, world: "World") -> None:
        self.seat = seat
        self.news = trio.Event()  # my turn, or the end
        self.over = False
        self.due = inf  # by when to answer; by the host's clock it may be later, where the host stalled
        self.intended = inf  # when the legal answer to this prompt was to be sent
        self.prompted: float | None = None
        self.held_until: float | None = None
        self.coming = 0.0  # where it is held: when it means to come
        self.refused = 0
        self.resigned = False
        self.left = False
        self._world = world
        self._calm = world.plan.calm  # nothing befalls the clocks, so every reckoning has to agree exactly
        self._complain = world.complain
        pace: Pace = seat.match.clock.pace
        self._bank = inf if pace.bank is None else pace.bank
        self._turn = inf if pace.turn is None else pace.turn
        self._gain = pace.gain
        self._past = len(seat.match.log.events) if seat.match.interrupted else 0  # of another host's time

    def __str__(self) -> str:
        return f"{self.seat.match.name} seat {self.seat.index} at {trio.current_time():.6f}"

    def tell(self, event: AnyEvent) -> None:
        match event:
            case Ended():
                self.over = True
                self.news.set()
            case Moved() if event.seat == self.seat.index and self._past:
                self._charge(event, event.spent)
            case Moved() if event.seat == self.seat.index:
                self._answered(event)
        self._past = max(0, self._past - 1)
        if self._past:
            return
        if self.prompted is None and self.held_until is None and self.seat.to_move:
            self._prompt()

    def hold(self, grace: float, late: float) -> None:
        """Have the seat kept for so long, and come so late."""
        self.held_until = trio.current_time() + grace
        self.coming = trio.current_time() + late
        self.seat.hold(grace)

    def come(self) -> None:
        """Held no more, if it is not too late."""
        if self.seat.match.verdict is None:
            self.held_until = None
        if self.prompted is None and self.seat.to_move:
            self._prompt()

    def send(self, sent: object, legal: bool, stamp: float) -> None:
        """Send something, in or out of turn, and see that it is taken as it ought to be."""
        due, mine = self.due, self.prompted is not None and self.seat.to_move
        try:
            self.seat.play(sent, stamp)
        except OutOfTurn:
            if mine and self._calm and stamp <= due - EXACT:
                self._complain(f"{self}: told that it was not its turn while it was")
        except Illegal as refusal:
            self.refused += not legal
            if legal:
                self._complain(f"{self}: the legal {sent!r} was refused: {refusal}")
        else:
            if not legal:
                self._complain(f"{self}: {sent!r} was taken")
            if self._calm and stamp > due + EXACT:
                self._complain(f"{self}: an answer {stamp - due:g} s late was taken")

    def resign(self) -> None:
        self.resigned = True
        self.seat.resign()

    def leave(self) -> None:
        self.left = True
        self.seat.leave()

    def interrupt(self, sent: object) -> None:
        """Send something while it is not its turn, which must be of no consequence."""
        try:
            self.seat.play(sent)
        except OutOfTurn:
            return
        except Illegal as refusal:
            self._complain(f"{self}: {sent!r}, out of turn, was refused: {refusal}")
        else:
            self._complain(f"{self}: {sent!r}, out of turn, was taken")

    def deserved(self, verdict: Ended, gone: Callable[[float], bool]) -> bool:
        """Whether that verdict may cost this seat its point. `gone`: held gone by then."""
        match verdict.ending:
            case Ending.PLAYED:
                return True
            case Ending.ILLEGAL:
                return self.refused >= (1 if self.seat.match.game.faults == "forfeit" else REFUSALS)
            case Ending.TIME:
                slack = EXACT if self._calm else 2 * self._world.plan.beat
                return min(verdict.at, self.intended) > self.due - slack
            case Ending.RESIGNED:
                return self.resigned
            case _:
                late = self.held_until is not None and self.coming > self.held_until < verdict.at
                return self.left or late or gone(verdict.at)

    def _prompt(self) -> None:
        self.prompted = trio.current_time()
        self.due = self.prompted + min(self._bank, self._turn)
        self.intended = inf
        if self._calm and abs(self.seat.match.clock.deadline - self.due) > EXACT:
            self._complain(f"{self}: due at {self.due}, not at {self.seat.match.clock.deadline}")
        self.news.set()

    def _answered(self, event: Moved) -> None:
        spent = max(0.0, event.at - (self.prompted or 0.0))
        begun = event.at - spent  # what the host stalled since then and until the answer is nobody's
        stalls = [seconds for at, seconds in self._world.stalls if begun <= at < event.at]
        own = max(0.0, spent - sum(stalls))
        most = own + self._world.plan.beat * (len(stalls) + 1)
        if abs(event.spent - spent) > EXACT if self._calm else event.spent > most:
            self._complain(f"{self}: {event.spent} s were charged for {own} of {spent}")
        self._charge(event, spent)
        self.prompted = None

    def _charge(self, event: Moved, spent: float) -> None:
        self._bank = max(0.0, self._bank - spent) + self._gain
        left = min(self._bank, self._turn)
        if self._calm and not isclose(inf if event.left is None else event.left, left, abs_tol=EXACT):
            self._complain(f"{self}: {event.left} s are left, and not {left}")
