"""Telling bots that their tournament is over, when they have nothing left to wait for.

A host tells its listeners of every fact of every tournament; here each waits
for one, so that a thousand bots do not hear of a thousand others' matches.
"""

from server.host.host import Host
from server.host.opening import OPEN
from server.host.view import HeldTournament, Told
from tournament.facts import AnyFact, State, Turned


def when_over(host: Host, tournament: str, tell: Told) -> None:
    """Have `tell` called when that tournament is over, unless it stops waiting before.

    `tell` is called with the fact that says so, from within the scheduler: it must not fail.
    """
    if tournament.startswith(OPEN):
        return  # it is never over
    ends = _ends(host)
    if ends is None:
        ends = TournamentEnds()
        host.on_fact.append(ends)
    ends.wait(tournament, tell)


def stop_waiting(host: Host, tournament: str, tell: Told) -> None:
    """Have `tell` not called any more. Where nothing waits, this does nothing."""
    if tournament.startswith(OPEN):
        return  # nothing waits there
    if (ends := _ends(host)) is not None:
        ends.forget(tournament, tell)


def _ends(host: Host) -> "TournamentEnds | None":
    return next((listener for listener in host.on_fact if isinstance(listener, TournamentEnds)), None)


class TournamentEnds:
    """One listener of a host, for all that wait for an end."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[Told, None]] = {}  # by the name of the tournament

    def __call__(self, tournament: HeldTournament, fact: AnyFact) -> None:
        if isinstance(fact, Turned) and fact.state is State.FINISHED:
            for tell in tuple(self._waiting.get(tournament.record.name, ())):
                tell(tournament, fact)

    def wait(self, tournament: str, tell: Told) -> None:
        self._waiting.setdefault(tournament, {})[tell] = None

    def forget(self, tournament: str, tell: Told) -> None:
        waiting = self._waiting.get(tournament, {})
        waiting.pop(tell, None)
        if not waiting:
            self._waiting.pop(tournament, None)
