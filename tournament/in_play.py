"""The matches of a tournament that are being played, and who plays them.

Here a match begins with what its tournament says of it, or goes on from what was kept of it.
How it ends is for the referee (`match.py`), and what comes of that for `concluding.py`.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import trio
from msgspec import UNSET

from games.game import Game
from tournament.events import Ended
from tournament.facts import Dealt
from tournament.kinds import with_the_house
from tournament.match import Match
from tournament.player import Player, Seat
from tournament.record import Record
from tournament.store import Store, Story
from tournament.timekeeper import Timekeeper

Both = tuple[Player, Player]


class InPlay:
    def __init__(
        self,
        record: Record,
        game: Game[Any, Any],
        store: Store,
        timekeeper: Timekeeper,
        wall: Callable[[], float],
        *,
        resume_seconds: float,
        early_grace: float,
        begun: Callable[[Match], None],
    ) -> None:
        """`begun` is called with every match. The others are those of `Tournament`."""
        self.matches: dict[str, Match] = {}
        self.decided: Callable[[Match, Ended], None] = lambda match, verdict: None  # called by every match
        self._players: dict[str, Both] = {}
        self._record = record
        self._game = game
        self._store = store
        self._timekeeper = timekeeper
        self._wall = wall
        self._resume_seconds = resume_seconds
        self._early_grace = early_grace
        self._begun = begun

    def begin(self, dealt: Dealt, players: Both, kept: Story | None = None) -> None:
        """Begin a match, or go on with it from what was kept of it; raises `Illegal` if it cannot be."""
        record = self._record
        missed = record.missed(dealt.pairing)
        match = Match(
            self._game,
            (players[0].name, players[1].name),
            trio.current_time(),
            name=dealt.match,
            pace=record.opened.pace,
            options=record.options(dealt),
            replayable=not all(player.name in missed for player in players),
            excused=(players[0].name not in missed, players[1].name not in missed),
            early_grace=self._early_grace if record.format.endless else inf,
            kept=kept,
            epoch=self.epoch(),
            decided=self.decided,
        )
        self.matches[dealt.match] = match
        self._players[dealt.match] = players
        seats = [Seat(match, index, self._timekeeper) for index in range(len(players))]
        if match.interrupted:
            for seat in seats:
                seat.hold(self._resume_seconds)
        self._timekeeper.watch(match)
        self._store.jot(match.name, match.moves, match.times, match.ply)
        self._begun(match)
        for player, seat in zip(players, seats, strict=True):
            player.deal(seat)
            if match.interrupted and player.present:
                seat.here()
            if player.name in record.out:  # since the match was dealt
                seat.leave()

    def remove(self, match: Match) -> None:
        """It is over, and its end is announced: both players are free."""
        del self.matches[match.name]
        for player in self._players.pop(match.name):
            player.free()

    def expel(self, name: str) -> None:
        """Have whoever is out of the tournament leave the match that it plays here."""
        for player in [player for players in self._players.values() for player in players]:
            if player.name == name and player.seat is not None:
                player.seat.leave()

    def players(self, match: Match) -> Both:
        return self._players[match.name]

    def with_the_house(self, match: Match) -> bool:
        """Whether one of the two is the host's own."""
        return with_the_house(player.kind for player in self._players[match.name])

    @property
    def ending(self) -> bool:
        """Whether a match has its verdict, and nobody knows yet."""
        return any(match.verdict is not None for match in self.matches.values())

    def epoch(self) -> float:
        """The wall clock's time when the event loop's was 0."""
        return self._wall() - trio.current_time()


def dealt(match: str, pairing: int, options: Mapping[str, Any] | None, players: Both) -> Dealt:
    """What is kept of a match before it begins: with what both come back by after a restart, if both can."""
    if not all(player.key or player.way_back for player in players):
        return Dealt(match, pairing, options)
    first, second = players
    ways_back = first.way_back, second.way_back
    keys = first.key or "", second.key or ""
    return Dealt(match, pairing, options, keys, ways_back if any(ways_back) else UNSET)
