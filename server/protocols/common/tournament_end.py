"""Telling bots that their tournament is over, when they have nothing left to wait for.

A host tells its listeners of every fact of every tournament; here each waits
for one, so that a thousand bots do not hear of a thousand others' matches.
"""

from collections.abc import Callable
from functools import partial

from server.host.host import Host
from server.host.opening import OPEN
from server.host.view import Held, Told
from tournament.facts import AnyFact, State, Turned


def when_over(host: Host, tournament: str, tell: Told) -> Callable[[], None]:
    """Have `tell` called when that tournament is over; returns how to stop waiting.

    `tell` is called with the fact that says so, from within the scheduler: it must not fail.
    """
    if tournament.startswith(OPEN):
        return _nothing
    ends = next((listener for listener in host.on_fact if isinstance(listener, TournamentEnds)), None)
    if ends is None:
        ends = TournamentEnds()
        host.on_fact.append(ends)
    return ends.wait(tournament, tell)


class TournamentEnds:
    """One listener of a host, for all that wait for an end."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[object, Told]] = {}  # by the name of the tournament

    def __call__(self, tournament: Held, fact: AnyFact) -> None:
        if isinstance(fact, Turned) and fact.state is State.FINISHED:
            for tell in tuple(self._waiting.get(tournament.record.name, {}).values()):
                tell(tournament, fact)

    def wait(self, tournament: str, tell: Told) -> Callable[[], None]:
        mine = object()
        self._waiting.setdefault(tournament, {})[mine] = tell
        return partial(self._forget, tournament, mine)

    def _forget(self, tournament: str, mine: object) -> None:
        waiting = self._waiting.get(tournament, {})
        waiting.pop(mine, None)
        if not waiting:
            self._waiting.pop(tournament, None)


def _nothing() -> None:
    """Stops nothing: an open table is never over."""
