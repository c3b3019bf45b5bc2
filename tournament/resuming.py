"""Going on, after a restart of the host, with the matches that its stop interrupted."""

from collections.abc import Callable, Mapping

import structlog
import trio

from games.game import Illegal
from tournament.in_play import InPlay
from tournament.lobby import Lobby
from tournament.player import UNSEEN, Player, Seat
from tournament.record import Record
from tournament.settling import as_dealt, both
from tournament.store import Jottings

Awaited = Callable[[Seat, Player, str], None]  # a seat, its player, and how its dialect finds the way back

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Resuming:
    def __init__(self, record: Record, game: str, lobby: Lobby, play: InPlay, awaited: Awaited) -> None:
        """`awaited` is called with each seat to which a dialect has to find the way back."""
        self._record = record
        self._game = game
        self._lobby = lobby
        self._play = play
        self._awaited = awaited

    async def go_on(self, jotted: Mapping[str, Jottings]) -> list[str]:
        """Go on with every match that can go on from what was kept of it; returns the other matches."""
        void: list[str] = []
        for match in [each for each in self._record.dealt if each not in self._play.matches]:
            if not self._resume(match, jotted.get(match, Jottings())):
                void.append(match)
            await trio.lowlevel.checkpoint()
        return void

    def _resume(self, match: str, jottings: Jottings) -> bool:
        """Go on with a match for which both players are awaited."""
        record, number = self._record, self._record.dealt[match]
        if match not in record.keys:
            return False
        ways_back = record.ways_back.get(match, ("", ""))
        first, second = map(self._returning, both(record.drawn[number]), record.keys[match], ways_back)
        begun = first is not None and second is not None and self._goes_on(match, (first, second), jottings)
        for player, way_back in zip((first, second), ways_back, strict=True):
            if player is None:
                pass
            elif begun and way_back and player.seat is not None:
                self._awaited(player.seat, player, way_back)
            elif not begun and player.for_one_match:
                player.retire()
        return begun

    def _returning(self, name: str, key: str, way_back: str) -> Player | None:
        """Whoever is to go on with a match: by its key the lobby has it, else it comes for that match.

        One that may not have its token comes for that match as well, unless it comes with the token.
        """
        by_key = name in self._record.claims or (bool(key) and not key.startswith(UNSEEN))
        found = self._lobby.find(name, self._game, self._record.name) if by_key or key else None
        if found is not None and not found.engaged:
            found.for_one_match = not by_key and bool(way_back)
            return found
        if by_key or not way_back:
            return None
        # With its place, or all tournaments would hear of it.
        player = self._lobby.enter(name, self._game, self._record.name, present=False)
        player.for_one_match = True
        return player

    def _goes_on(self, match: str, players: tuple[Player, Player], jottings: Jottings) -> bool:
        try:
            self._play.begin(as_dealt(self._record, match), players, jottings)
        except Illegal as illegal:
            log.error(
                "what was kept of a match is no match",
                match=match,
                why=str(illegal),
                exc_info=illegal.__cause__,
            )
            return False
        return True
