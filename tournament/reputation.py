"""Which bots have lately wasted their opponents' time: by game and name, for a while.

In a format without an end, such bots come after all others that are free.
Nobody is locked out: if nobody else is there, they are dealt to.
"""

from collections import OrderedDict
from collections.abc import Mapping

from tournament.events import NOBODY, Ended, Ending, absences
from tournament.match import Match

LASTING = 600.0  # seconds after the last fault for which it is remembered
ENOUGH = 2  # faults: anybody's connection can break once
REMEMBERED = 1000  # bots; beyond it, the bot whose fault is longest ago is forgotten

Name = tuple[str, str]  # the names of a game and a bot


class Reputation:
    def __init__(self) -> None:
        self._faults: OrderedDict[Name, tuple[int, float]] = OrderedDict()  # how many, and when the last was

    def note(self, match: Match, verdict: Ended) -> None:
        """Note the faults of a match's players, which its end shows."""
        for name, count in faults(match, verdict).items():
            known = (match.game.name, name)
            before, _ = self._faults.pop(known, (0, 0.0)) if self._recent(known, verdict.at) else (0, 0.0)
            self._faults[known] = before + count, verdict.at
            self._faults.move_to_end(known)
        while len(self._faults) > REMEMBERED:
            self._faults.popitem(last=False)

    def comes_last(self, game: str, name: str, now: float) -> bool:
        count, _ = self._faults.get((game, name), (0, 0.0))
        return count >= ENOUGH and self._recent((game, name), now)

    def _recent(self, known: Name, now: float) -> bool:
        return known in self._faults and now - self._faults[known][1] < LASTING


def faults(match: Match, verdict: Ended) -> Mapping[str, int]:
    """Faults by player: one for leaving, `ENOUGH` for running out of time before its first move."""
    if verdict.why == NOBODY:
        return dict.fromkeys(match.names, 1)
    if verdict.winner is None:
        void = verdict.ending is Ending.VOID
        return {name: 1 for name in match.names if void and verdict.why in absences(name)}
    loser = 1 - verdict.winner
    if verdict.ending is Ending.TIME and not match.has_moved(loser):
        return {match.names[loser]: ENOUGH}
    return {match.names[loser]: 1} if verdict.ending is Ending.LEFT else {}
