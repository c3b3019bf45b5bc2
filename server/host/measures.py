"""What the host measures of itself: how late its event loop is, how long moves and commits take, and totals.

It counts by game, door, ending or fault, of which there are few, and never by a name.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import trio

from server.host.histogram import Histogram
from server.host.view import HeldTournament
from server.net.readiness import readiness
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Voided

NOBODYS = "none"  # in place of a fault: an organiser voided the match, or nobody was there yet
EVERY = 0.05  # seconds between two looks at how late the event loop is


class Measures:
    def __init__(self) -> None:
        self.lag = Histogram()  # from when the event loop should have looked to when it did
        # For some moves, by game: from the arrival of the move until it has been told.
        self.moves = defaultdict[str, Histogram](Histogram)
        self.commits = Histogram()  # from handing facts to the writing thread until they are safe
        self.came = Counter[tuple[str, str]]()  # bots that were let in, by door and game
        self.connections = Counter[str]()  # now open, by door …
        self.accepted = Counter[str]()  # … and all that ever were
        self.over = Counter[tuple[str, str]]()  # matches that ended, by game and ending
        self.faults = Counter[tuple[str, str]]()  # … and those not played to the end, by game and fault
        self.voids = Counter[str]()  # matches that count for nothing, by fault
        self._played = Counter[str]()  # moves of those matches, by game

    def hear(self, tournament: HeldTournament, fact: AnyFact) -> None:
        """Count what a fact says, once it is safe."""
        game = tournament.record.opened.game
        if isinstance(fact, Voided):
            self.voids[NOBODYS] += 1
        elif isinstance(fact, Concluded):
            self.over[game, fact.ending.value] += 1
            if fact.fault is not None:
                self.faults[game, fact.fault.value] += 1
            if fact.ending is Ending.VOID:
                self.voids[fact.fault or NOBODYS] += 1
            self._played[game] += len(fact.moves)

    def played(self, tournaments: Iterable[HeldTournament]) -> Counter[str]:
        """Moves by game, in the matches of these that are in play and in all that ended."""
        found = Counter(self._played)
        for held in tournaments:
            for name, match in held.matches.items():
                if name in held.record.dealt:  # else it has ended, and is about to be announced
                    found[held.record.opened.game] += match.ply
        return found

    def connection(self, door: str, change: int) -> None:
        """Count one that has come to a door (1), or has ended (-1)."""
        self.accepted[door] += change > 0
        self.connections[door] += change


def time_move(moves: Mapping[str, Histogram], game: str, arrived: float) -> None:
    """Measure a move that has just been played, until what is said about it has been sent."""

    def sent() -> None:
        moves[game].observe(trio.current_time() - arrived)

    sockets = readiness()
    if sockets is not None and sockets.sweeping:
        sockets.said.append(sent)
    else:
        sent()


async def watch_lag(lag: Histogram) -> None:
    """Measure, until cancelled, how late a task runs that is due: all others are just as late."""
    while True:
        due = trio.current_time() + EVERY
        await trio.sleep_until(due)
        lag.observe(max(0.0, trio.current_time() - due))
