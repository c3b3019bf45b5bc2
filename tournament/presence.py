"""Which entrants of a tournament are here, and how long it has waited for those who are not.

It looks at the lobby and at the record, and decides nothing: it reports who has
been waited for in vain to the tournament, which closes the pairing.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from math import inf

import trio
from msgspec import structs

from tournament.format import Entrant, Pairing
from tournament.lobby import Lobby
from tournament.player import Player
from tournament.record import Record
from tournament.timekeeper import Timekeeper


class Presence:
    def __init__(self, record: Record, game: str, lobby: Lobby, timekeeper: Timekeeper, grace: float) -> None:
        self._record = record
        self._game = game
        self._lobby = lobby
        self._timekeeper = timekeeper
        self._grace = grace
        self._missing: dict[int, dict[str, float]] = {}  # pairings that wait, for whom since when

    def here(self) -> list[Entrant]:
        """What a format without an end is told: who is free, in the order of coming, and one who is not.

        One who is here twice is two of that name.
        """
        entrants = self._record.entrants
        free = [_wanting(entrants[player.name], player.against) for player in self.idle()]
        return [*free, *islice(self._busy(), 1)]

    def _busy(self) -> Iterator[Entrant]:
        """Who is here and plays, or is about to."""
        for player in self._lobby.players(self._game):
            if player.present and not player.idle and self._plays_here(player):
                entrant = self._record.entrants.get(player.name)
                if entrant is not None and not entrant.gone:
                    yield structs.replace(entrant, free=False)

    def idle(self) -> list[Player]:
        """The entrants who can be dealt to now, in the order of coming."""
        return [
            player
            for player in self._lobby.idle(self._game)
            if self._plays_here(player) and player.name in self._record.entrants
        ]

    def absent(self) -> set[str]:
        """The entrants who are not here."""
        found = {
            name: self._lobby.find(name, self._game, self._record.name) for name in self._record.entrants
        }
        return {name for name, player in found.items() if player is None or not player.present}

    def overdue(self) -> list[Pairing]:
        """The pairings that have waited for somebody absent for as long as they may.

        Only what could be played but for the absence is waited for, and one pairing of a player at a
        time: to be away for a while costs a match, and not all of them. If both are absent, each has
        the grace; and whenever a pairing is due again, it begins anew.
        """
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        waited, waiting = set[str](), dict[int, dict[str, float]]()
        if absent := self.absent():
            idle = {player.name for player in self.idle()}
            for number, pairing in self._record.open.items():
                names = set(pairing.names)
                if names & absent and names.isdisjoint(waited) and names - absent <= idle:
                    waited |= names
                    before = self._missing.get(number, {})
                    begun = now - self._timekeeper.stalled
                    waiting[number] = {name: before.get(name, begun) for name in names & absent}
        over = [number for number, since in waiting.items() if now >= self._waits_until(since)]
        self._missing = {number: since for number, since in waiting.items() if number not in over}
        return [self._record.open[number] for number in over]

    def wait_for_nobody(self) -> None:
        """Nothing could be played just now: whoever is absent keeps nobody waiting."""
        self._missing.clear()

    @property
    def waits_until(self) -> float:
        """Until when there is nothing to decide about absence, if nobody comes or goes."""
        return min(map(self._waits_until, self._missing.values()), default=inf)

    def _waits_until(self, since: Mapping[str, float]) -> float:
        """Until when a pairing waits; `since` is by a clock that stands still whenever the host does."""
        return max(since.values()) + self._grace + self._timekeeper.stalled

    def _plays_here(self, player: Player) -> bool:
        return player.place in (None, self._record.name)


def _wanting(entrant: Entrant, against: str | None) -> Entrant:
    return entrant if against is None else structs.replace(entrant, against=against)


def whoever_came_for(opponent: str, players: list[Player]) -> Player:
    """Of some under one name: rather one who meets nobody else, and nobody who would not meet that one."""
    return max(players, key=lambda player: (player.against == opponent, player.against is None))
