"""The tournaments that this process holds: each is run until the host stops."""

from math import inf

import trio

from server.host.current import Current
from tournament.record import Record
from tournament.tournament import Tournament


class Holding:
    def __init__(self) -> None:
        self.tournaments: dict[str, Tournament] = {}
        self.nursery: trio.Nursery | None = None  # None: the host does not run yet
        self.current = Current()
        self._scopes: dict[str, trio.CancelScope] = {}  # by the names under which they are kept
        self._leaving: set[str] = set()  # those that are being let go, by the same names
        self._let_go = trio.Event()  # set when the last of these has been let go

    def add(self, tournament: Tournament) -> None:
        record = tournament.record
        self.tournaments[record.name] = tournament
        self.current.sort(record)
        if self.nursery is not None and not _is_ending(self.nursery):
            self._scopes[record.kept_as] = trio.CancelScope()
            self.nursery.start_soon(self._hold, tournament)

    def remove(self, record: Record) -> bool:
        """Stop holding a tournament that is deleted; returns whether it was held here."""
        if self.tournaments.pop(record.name, None) is None:
            return False
        if record.kept_as in self._scopes:
            self._scopes[record.kept_as].cancel()
        return True

    async def let_go(self) -> None:
        """Stop running the tournaments in which something goes on.

        The others, of which there may be thousands, have been halted and do nothing any more.
        """
        busy = {each.record.kept_as for each in self.tournaments.values() if each.busy}
        self._leaving = busy & self._scopes.keys()
        for name in tuple(self._leaving):
            self._scopes[name].cancel()
        if self._leaving:
            await self._let_go.wait()

    async def _hold(self, tournament: Tournament) -> None:
        """Run a tournament until the host stops: one that is over may be taken up again."""
        name = tournament.record.kept_as
        try:
            with self._scopes[name]:
                while True:
                    await tournament.run()
                    await tournament.taken_up()
        finally:
            del self._scopes[name]
            if name in self._leaving:
                self._leaving.remove(name)
                if not self._leaving:
                    self._let_go.set()


def _is_ending(nursery: trio.Nursery) -> bool:
    """Whether no more tasks can be started in it: it has failed, or the caller is being cancelled with it."""
    return nursery.cancel_scope.cancel_called or trio.current_effective_deadline() == -inf
