"""Telling worker 0 who has a place in this process, and under which name.

It has to know who has come before the bot does. That somebody has gone can wait where this process alone
holds tournaments of the game: whoever comes for that game comes here, whoever has the name. Bots of some
protocols go after each match and come for the next, mostly as they were, and then nothing is said at all.
"""

from collections.abc import Callable, Collection

from msgspec import Struct

from server.host.visits import Key, Present
from server.workers.messages import Moved


class Places:
    def __init__(self, say: Callable[[Struct], None], present: Callable[[Key], Present | None]) -> None:
        """`present` returns who is here under a name."""
        self._say = say
        self._present = present
        self._alone: Collection[str] = ()
        self._told: dict[Key, Present] = {}  # who is here, as worker 0 knows it
        self._gone: set[Key] = set()  # those who have gone, which worker 0 is still to be told

    def moved(self, where: Key) -> None:
        """Somebody has come under a name, was refused, or has gone."""
        present = self._present(where)
        if present is None and where in self._told and where[0] in self._alone:
            self._gone.add(where)
        elif where not in self._gone:
            self._tell(where, present)
        else:
            self._gone.discard(where)
            if present != self._told[where]:
                self._tell(where, present)

    def tell_gone(self) -> None:
        """Say who has gone and has not come again."""
        gone, self._gone = self._gone, set()
        for where in gone:
            self._tell(where, None)

    def be_alone(self, games: Collection[str]) -> None:
        """No other process holds tournaments of these games; of all others, somebody may ask worker 0."""
        self._alone = games
        self.tell_gone()

    def _tell(self, where: Key, present: Present | None) -> None:
        if present is None:
            self._told.pop(where, None)
        else:
            self._told[where] = present
        self._say(Moved(where, present))
