"""Who can be dealt to: the players of a game that are free at one place, those who have waited longest first.

A tournament without an end asks for them after every match. So an answer takes as long as there are names
that can meet, up to a bound, and not as long as there are players who wait. Those who came for one opponent
stand apart: however many of them wait for somebody who is not here, they keep nobody else from playing.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from tournament.player import Player

Key = tuple[str, str | None]  # a name, and whom alone its player came for


class Free:
    def __init__(self) -> None:
        self._keys: dict[Player, Key] = {}
        self._players: dict[Key, dict[Player, None]] = {}  # in the order of waiting, as all of these
        self._anybody: dict[Key, None] = {}  # of those who take anybody
        self._wanting: dict[str, dict[Key, None]] = {}  # of those who came for one, by its name
        self._mutual: dict[Key, None] = {}  # of those who came for each other

    def __bool__(self) -> bool:
        """Whether anybody is here."""
        return bool(self._keys)

    def add(self, player: Player) -> None:
        """Put a player at the end, wherever it was."""
        self.remove(player)
        key = name, wanted = self._keys[player] = player.name, player.against
        self._players.setdefault(key, {})[player] = None
        if wanted is None:
            self._anybody.setdefault(key)
            return
        self._wanting.setdefault(wanted, {}).setdefault(key)
        if (other := (wanted, name)) in self._players:
            self._mutual |= {key: None, other: None}

    def remove(self, player: Player) -> None:
        if (key := self._keys.pop(player, None)) is None:
            return
        name, wanted = key
        players = self._players[key]
        del players[player]
        places = self._anybody if wanted is None else self._wanting[wanted]
        del places[key]
        mutual = key in self._mutual
        self._mutual.pop(key, None)
        if players:  # whoever else waits under that name comes after all others
            places[key] = None
            if mutual:
                self._mutual[key] = None
            return
        del self._players[key]
        if wanted is not None:
            self._mutual.pop((wanted, name), None)
            if not places:
                del self._wanting[wanted]

    def first(self, most: int, here: Callable[[Player], bool], *, choosy: bool) -> list[Player]:
        """Some of those of whom `here` is true, in the order of arrival, and one for each name and opponent.

        Where they may be `choosy`, these are at most so many who take anybody and as many who came for one
        that is free and would meet them; else at most so many of all.
        """
        if not choosy:
            found = list(islice(self._there(tuple(self._players), here), most))
        else:
            found = list(islice(self._there(tuple(self._anybody), here), most))
            wanting = (self._wanting.get(player.name, ()) for player in found)
            for_one = chain(chain.from_iterable(wanting), self._mutual)
            found += islice(self._there(tuple(for_one), here), most)
        return sorted(found, key=lambda player: player.arrival)

    def _there(self, keys: Iterable[Key], here: Callable[[Player], bool]) -> Iterator[Player]:
        """The first player of each key; forgets those who are no longer free."""
        for key in keys:
            for player in tuple(self._players.get(key, ())):
                if not player.idle:
                    self.remove(player)
                elif here(player):
                    yield player
                    break
