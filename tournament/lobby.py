"""Who is here.

The lobby knows players by game and name and tells whoever asked when one
comes, goes or is free again. It deals nothing: a tournament does (an open table
is one that never ends), and looks here for whom it can deal to.
"""

from collections.abc import Callable, Iterator

from tournament.player import Player

Listener = Callable[[Player], None]


class Lobby:
    def __init__(self) -> None:
        self._players: dict[tuple[str, str], list[Player]] = {}
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called whenever a player comes, goes or is free; answers how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def enter(self, name: str, game: str) -> Player:
        """Somebody new is here. Whether the name may be had is the door's to decide, by `find`."""
        player = Player(name, game, self._changed)
        self._players.setdefault((game, name), []).append(player)
        self._changed(player)
        return player

    def find(self, name: str, game: str, place: str | None = None) -> Player | None:
        """Whoever has that name, has not retired and plays at that place; of several, one that is free."""
        players = [
            each for each in self._players.get((game, name), ()) if place in (None, each.place or place)
        ]
        return max(players, key=lambda player: (player.idle, player.present), default=None)

    def players(self, game: str | None = None) -> Iterator[Player]:
        return (
            player for (of, _), players in self._players.items() if game in (None, of) for player in players
        )

    def _changed(self, player: Player) -> None:
        if player.retired:
            mine = self._players.get((player.game, player.name), [])
            if player in mine:
                mine.remove(player)
            if not mine:
                self._players.pop((player.game, player.name), None)
        for listener in tuple(self._listeners):
            listener(player)
