"""Telling bots that their tournament is over, when they have nothing left to wait for.

A host tells its listeners of every fact of every tournament; here each waits
for one, so that a thousand bots do not hear of a thousand others' matches.
"""

from typing import Protocol

from server.host.host import Host
from server.host.opening import OPEN
from server.host.view import HeldTournament
from tournament.facts import AnyFact, State, Turned


class Waits(Protocol):
    """Whoever waits for the end of a tournament."""

    def hear_the_end(self, tournament: HeldTournament, fact: AnyFact) -> None:
        """It is over; the fact says so. Called from within the scheduler: this must not fail."""
        ...


def when_over(host: Host, tournament: str, waits: Waits) -> None:
    """Have it hear when that tournament is over, unless it stops waiting before."""
    if tournament.startswith(OPEN):
        return  # it is never over
    ends = _ends(host)
    if ends is None:
        ends = TournamentEnds()
        host.on_fact.append(ends)
    ends.wait(tournament, waits)


def stop_waiting(host: Host, tournament: str, waits: Waits) -> None:
    """Have it not hear any more. Where nothing waits, this does nothing."""
    if tournament.startswith(OPEN):
        return  # nothing waits there
    if (ends := _ends(host)) is not None:
        ends.forget(tournament, waits)


def _ends(host: Host) -> "TournamentEnds | None":
    return next((listener for listener in host.on_fact if isinstance(listener, TournamentEnds)), None)


class TournamentEnds:
    """One listener of a host, for all that wait for an end."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[Waits, None]] = {}  # by the name of the tournament

    def __call__(self, tournament: HeldTournament, fact: AnyFact) -> None:
        if isinstance(fact, Turned) and fact.state is State.FINISHED:
            for each in tuple(self._waiting.get(tournament.record.name, ())):
                each.hear_the_end(tournament, fact)

    def wait(self, tournament: str, waits: Waits) -> None:
        self._waiting.setdefault(tournament, {})[waits] = None

    def forget(self, tournament: str, waits: Waits) -> None:
        waiting = self._waiting.get(tournament, {})
        waiting.pop(waits, None)
        if not waiting:
            self._waiting.pop(tournament, None)
