"""The tournaments that this process holds: each is run until it is over, and again if it goes on after that.

What is over has no task: there may be thousands.
"""

import trio

from server.host.current import ENDS, Current
from tournament.facts import State
from tournament.record import Record
from tournament.tournament import Tournament


class Holding:
    def __init__(self) -> None:
        self.tournaments: dict[str, Tournament] = {}
        self.nursery: trio.Nursery | None = None  # None: the host does not run yet, or no more
        self.current = Current()
        self._scopes: dict[str, trio.CancelScope] = {}  # of those that run, by the names they are kept under
        self._leaving: set[str] = set()  # those that are being let go, by the same names
        self._let_go = trio.Event()  # set when the last of these has been let go

    def add(self, tournament: Tournament) -> None:
        self.tournaments[tournament.record.name] = tournament
        self.turned(tournament)

    def turned(self, tournament: Tournament) -> None:
        """A tournament is new, or its state has changed: it is run, unless it is over."""
        record = tournament.record
        self.current.sort(record)
        if self.nursery is None or self.nursery.cancel_scope.cancel_called:
            return
        if record.state not in ENDS and record.kept_as not in self._scopes:
            self._scopes[record.kept_as] = trio.CancelScope()
            self.nursery.start_soon(self._run, tournament)

    def goes_on_again(self, record: Record) -> bool:
        """Whether a tournament, of whose change `turned` has yet to hear, was over and is so no more."""
        return record.state not in ENDS and not self.current.has(record)

    def remove(self, record: Record) -> bool:
        """Stop holding a tournament that is deleted; returns whether it was held here."""
        held = self.tournaments.get(record.name)
        if held is None or held.record is not record:
            return False
        del self.tournaments[record.name]
        self.current.remove(record)
        held.stop_listening()  # before another of its name begins to
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

    async def _run(self, tournament: Tournament) -> None:
        record = tournament.record
        name = record.kept_as
        try:
            with self._scopes[name] as scope:
                # It may go on again just as it ends, and be deleted before this begins.
                while record.state is not State.FINISHED and not scope.cancel_called:
                    await tournament.run()
        finally:
            del self._scopes[name]
            if name in self._leaving:
                self._leaving.remove(name)
                if not self._leaving:
                    self._let_go.set()
