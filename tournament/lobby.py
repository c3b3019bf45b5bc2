"""Who is here.

The lobby knows players by game and name, and tells its listeners when one comes,
goes or is free again. It deals nothing. A tournament deals (an open table is one
that never ends), and looks here for players to deal to.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import chain, count

from tournament.free import Free
from tournament.player import NOWHERE, Player
from tournament.reputation import Reputation

WAITING = 100  # players that are dealt to at once: a format without an end weighs each against each

Listener = Callable[[Player], None]


class Lobby:
    def __init__(self) -> None:
        self.reputation = Reputation()
        self._players: dict[str, dict[str, list[Player]]] = {}  # by game and name
        self._there: dict[tuple[str, str | None], dict[Player, None]] = {}  # by game and place
        self._free: dict[tuple[str, str | None], Free] = {}  # by game and place, where anybody is free
        self._in_rounds: set[str | None] = {NOWHERE}  # places that never ask who is free
        self._arrivals = count()
        self._listeners: dict[str | None, list[Listener]] = {None: []}  # by the place to which they listen
        self._changes = self._changed  # made once: each player has it

    def listen(
        self, listener: Listener, place: str | None = None, *, in_rounds: bool = False
    ) -> Callable[[], None]:
        """Have `listener` called whenever a player comes, goes or is free; returns how to stop that.

        With a `place`, it hears of players who are there or at no place in particular, and of those
        who leave it. If matches are dealt `in_rounds` there, nobody will ask for those who are `idle`.
        """
        if in_rounds:
            self._in_rounds.add(place)
        self._listeners.setdefault(place, []).append(listener)
        return partial(self._stop_listening, listener, place)

    def enter(self, name: str, game: str, place: str | None = None, *, present: bool = True) -> Player:
        """Add a new player, which may have yet to come. The caller decides whether it may have the name."""
        player = Player(name, game, self._changes, next(self._arrivals), place)
        player.present = present
        self._players.setdefault(game, {}).setdefault(name, []).append(player)
        self._there.setdefault((game, place), {})[player] = None
        self._changed(player, place)
        return player

    def find(self, name: str, game: str, place: str | None = None) -> Player | None:
        """The player of that name at that place who has not retired; of several, one that is free."""
        players = [each for each in self.named(name, game) if place in (None, each.place or place)]
        return max(players, key=lambda player: (player.idle, player.present), default=None)

    def named(self, name: str, game: str) -> Sequence[Player]:
        """The players of that name who have not retired."""
        return self._players.get(game, {}).get(name, ())

    def count(self, game: str) -> int:
        """How many names have players who have not retired."""
        return len(self._players.get(game, {}))

    def players(self, game: str | None = None) -> Iterator[Player]:
        games = self._players.values() if game is None else [self._players.get(game, {})]
        return (player for named in games for players in named.values() for player in players)

    def there(self, game: str, place: str | None) -> Collection[Player]:
        """The players at that place who have not retired, in the order in which they came there."""
        return self._there.get((game, place), {}).keys()

    def idle(self, game: str, place: str, here: Callable[[Player], bool], *, choosy: bool) -> list[Player]:
        """Players there, or at no place in particular, that can be dealt to and of whom `here` is true.

        They are in the order of arrival. If there are many, these are some that have waited longest:
        `Free.first` says which.
        """
        there = [free for at in (place, None) if (free := self._free.get((game, at))) is not None]
        found = chain.from_iterable(free.first(WAITING, here, choosy=choosy) for free in there)
        return sorted(found, key=lambda player: player.arrival)

    def _stop_listening(self, listener: Listener, place: str | None) -> None:
        self._listeners[place].remove(listener)
        if place is not None and not self._listeners[place]:
            del self._listeners[place]
            self._in_rounds.discard(place)

    def _changed(self, player: Player, before: str | None) -> None:
        free = player.idle and player.place not in self._in_rounds
        if free:
            where = player.game, player.place
            if where not in self._free:
                self._free[where] = Free()
            self._free[where].add(player)
        if not free or before != player.place:
            self._take_out(player, before)
        if before != player.place:
            self._leave(player, before)
            self._there.setdefault((player.game, player.place), {})[player] = None
        if player.retired:
            self._forget(player)
        for listener in self._whom(player.place, before):
            listener(player)

    def _take_out(self, player: Player, place: str | None) -> None:
        """A player can no longer be dealt to at a place."""
        where = player.game, place
        if (free := self._free.get(where)) is not None:
            free.remove(player)
            if not free:
                del self._free[where]

    def _leave(self, player: Player, place: str | None) -> None:
        there = self._there.get((player.game, place), {})
        there.pop(player, None)
        if not there:
            self._there.pop((player.game, place), None)

    def _whom(self, place: str | None, before: str | None) -> list[Listener]:
        """The listeners who hear of a player at `place` that was at `before` before."""
        if place is None or before is None:
            return [listener for listeners in self._listeners.values() for listener in listeners]
        hearing = [*self._listeners[None], *self._listeners.get(place, ())]
        return hearing if before == place else [*hearing, *self._listeners.get(before, ())]

    def _forget(self, player: Player) -> None:
        self._leave(player, player.place)
        named = self._players.get(player.game, {})
        mine = named.get(player.name, [])
        if player in mine:
            mine.remove(player)
        if not mine:
            named.pop(player.name, None)
