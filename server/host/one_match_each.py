"""Bots that hang up after each match and come again for the next, as programs do that play a single game.

Over a wire on which the next match begins by itself, such a bot is dealt one before it has hung up. Whoever
is known for that is dealt nothing until it has.
"""

from collections import OrderedDict

from server.host.visits import Key

REMEMBERED = 1000  # bots; beyond it, the one that has hung up longest ago is forgotten


class OneMatchEach:
    def __init__(self) -> None:
        self._names: OrderedDict[Key, None] = OrderedDict()

    def note(self, name: Key) -> None:
        """A bot has hung up after a match, before it moved in another."""
        self._names[name] = None
        self._names.move_to_end(name)
        if len(self._names) > REMEMBERED:
            self._names.popitem(last=False)

    def forget(self, name: Key) -> None:
        """It has stayed after a match."""
        self._names.pop(name, None)

    def is_known(self, name: Key) -> bool:
        return name in self._names
