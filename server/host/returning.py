"""Seats to which dialects find the way back by themselves, after the host has been started again.

A bot whose address says what it plays (a battle's name, a game's path and a turn
token) comes back by that alone. Only its dialect knows how: it said so in its own
words when the match was dealt, and is told them again here. `server/host/reception.py`
deals with bots that come back by a token of their name.

Bots that are called to their matches need not come back: a dialect goes on calling them.
"""

from collections.abc import Callable

from msgspec import Struct

from tournament.player import Player, Seat
from tournament.tournament import Tournament


class Awaited(Struct, frozen=True):
    """A seat whose bot may come back to it."""

    seat: Seat
    player: Player
    words: str  # the dialect's own


Find = Callable[[Awaited], None]
Recall = Callable[[Tournament], None]


def way_back(door: str, words: str) -> str:
    """A player's way back: the door's name, then the dialect's words."""
    return f"{door} {words}"


class Returning:
    def __init__(self) -> None:
        self._finders: dict[str, Find] = {}  # by door
        self._awaited: dict[str, list[Awaited]] = {}  # by door, for doors that do not listen yet
        self._recall: Recall = self._put_off
        self._calling: list[Tournament] = []  # those that were put off

    def listen(self, door: str, find: Find) -> None:
        """Have `find` called with each seat that is awaited there, now and later."""
        self._finders[door] = find
        for awaited in self._awaited.pop(door, ()):
            if awaited.seat.match.verdict is None:
                find(awaited)

    def listen_called(self, recall: Recall) -> None:
        """Have `recall` called with each tournament that has bots called to their matches, now and later."""
        self._recall = recall
        for tournament in self._calling:
            recall(tournament)
        self._calling.clear()

    async def tell_called(self, tournament: Tournament) -> None:
        """Bots of a tournament have been called to their matches; to be told once its matches go on."""
        await tournament.gone_on.wait()
        self._recall(tournament)

    def _put_off(self, tournament: Tournament) -> None:
        self._calling.append(tournament)

    def tell(self, seat: Seat, player: Player, way_back: str) -> None:
        """A match goes on in which a bot is awaited in that seat."""
        door, _, words = way_back.partition(" ")
        awaited = Awaited(seat, player, words)
        if (find := self._finders.get(door)) is not None:
            find(awaited)
        else:
            self._awaited.setdefault(door, []).append(awaited)
