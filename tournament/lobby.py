"""Who is here.

The lobby knows players by game and name, and tells whoever asked when one comes,
goes or is free again. It deals nothing. A tournament deals (an open table is one
that never ends), and looks here for players to deal to.
"""

from collections.abc import Callable, Iterator
from itertools import count

from tournament.player import Player

Listener = Callable[[Player], None]


class Lobby:
    def __init__(self) -> None:
        self._players: dict[str, dict[str, list[Player]]] = {}  # by game and name
        self._free: dict[str, set[Player]] = {}  # of each game: who was idle when last heard of
        self._arrivals = count()
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called whenever a player comes, goes or is free; returns what stops it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def enter(self, name: str, game: str) -> Player:
        """Somebody new is here. Whether the name may be had is the door's to decide, by `find`."""
        player = Player(name, game, self._changed, next(self._arrivals))
        self._players.setdefault(game, {}).setdefault(name, []).append(player)
        self._changed(player)
        return player

    def find(self, name: str, game: str, place: str | None = None) -> Player | None:
        """Whoever has that name, has not retired and plays at that place; of several, one that is free."""
        named = self._players.get(game, {}).get(name, ())
        players = [each for each in named if place in (None, each.place or place)]
        return max(players, key=lambda player: (player.idle, player.present), default=None)

    def players(self, game: str | None = None) -> Iterator[Player]:
        games = self._players.values() if game is None else [self._players.get(game, {})]
        return (player for named in games for players in named.values() for player in players)

    def idle(self, game: str) -> list[Player]:
        """Whoever can be dealt to, in the order of coming: found without looking at all who play."""
        free = self._free.get(game, set())
        free.difference_update([player for player in free if not player.idle])
        return sorted(free, key=lambda player: player.arrival)

    def _changed(self, player: Player) -> None:
        free = self._free.setdefault(player.game, set())
        if player.idle:
            free.add(player)
        else:
            free.discard(player)
        if player.retired:
            self._forget(player)
        for listener in tuple(self._listeners):
            listener(player)

    def _forget(self, player: Player) -> None:
        named = self._players.get(player.game, {})
        mine = named.get(player.name, [])
        if player in mine:
            mine.remove(player)
        if not mine:
            named.pop(player.name, None)
