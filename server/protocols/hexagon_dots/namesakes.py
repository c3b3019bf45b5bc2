"""The bots under each name: which of them is at a game, and which has hung up and may come back.

Names that look alike are one name at a game. A bot comes back under its own, letter for letter: another
that looks like it is somebody else's.

A name may be in thousands of games that somebody made, and join one more: nothing here looks at all of them.
"""

from typing import TypeVar

from server.host.names import key
from server.protocols.hexagon_dots.bot import Bot
from server.protocols.hexagon_dots.gate import Gate

Where = TypeVar("Where")
Bots = dict[Bot, None]  # in the order of adding


class Namesakes:
    def __init__(self) -> None:
        self._count: dict[str, int] = {}  # by the key of their name, as those at a gate
        self._at: dict[tuple[str, Gate], Bots] = {}  # those who came to a gate, or went on there
        # Those who hung up, by their own names and by whether they have a home; whoever has come back is
        # dropped when one is sought
        self._away: dict[tuple[str, bool], Bots] = {}

    def add(self, bot: Bot) -> None:
        name = key(bot.name)
        self._count[name] = self._count.get(name, 0) + 1
        self.be_at(bot, bot.gate)

    def remove(self, bot: Bot) -> None:
        name = key(bot.name)
        self._count[name] -= 1
        if not self._count[name]:
            del self._count[name]
        for gate in {bot.gate, bot.came_to}:
            _discard(self._at, (name, gate), bot)
        for has_home in (False, True):
            _discard(self._away, (bot.name, has_home), bot)

    def be_at(self, bot: Bot, gate: Gate) -> None:
        """A bot is at a gate, and stays where it came to first, if it plays there."""
        name = key(bot.name)
        if bot.gate is not bot.came_to:
            _discard(self._at, (name, bot.gate), bot)
        self._at.setdefault((name, gate), {})[bot] = None

    def hung_up(self, bot: Bot) -> None:
        self._away.setdefault((bot.name, bot.home is not None), {})[bot] = None

    def anybody(self, name: str) -> bool:
        """Whether any bot of that name is here or away."""
        return key(name) in self._count

    def is_at(self, name: str, gate: Gate) -> bool:
        return self.somebody_at(name, gate) is not None

    def somebody_at(self, name: str, gate: Gate) -> Bot | None:
        return next((bot for bot in self._at.get((key(name), gate), ()) if bot.is_at(gate)), None)

    def coming_back(self, name: str, gate: Gate) -> Bot | None:
        """A bot that hung up and goes on with its match; not from another game that somebody made."""
        for bot in self._at.get((key(name), gate), ()):
            if bot.away and bot.is_at(gate) and bot.name == name:
                return bot
        return self._first_away(name, has_home=False) or (
            None if gate.fixed else self._first_away(name, has_home=True)
        )

    def _first_away(self, name: str, *, has_home: bool) -> Bot | None:
        where = name, has_home
        while gone := self._away.get(where):
            bot = next(iter(gone))
            if bot.away:
                return bot
            _discard(self._away, where, bot)
        return None


def _discard(index: dict[Where, Bots], where: Where, bot: Bot) -> None:
    bots = index.get(where)
    if bots is not None:
        bots.pop(bot, None)
        if not bots:
            del index[where]
