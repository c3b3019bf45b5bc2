"""Who wants to know when a tournament is over: bots that play in it have nothing left to wait for.

A host tells its listeners of every fact of every tournament; here each waits
for one, so that a thousand bots do not hear of a thousand others' matches.
"""

from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary

from server.host import Host
from tournament.record import AnyFact, State, Turned
from tournament.tournament import Tournament

Tell = Callable[[Tournament, AnyFact], None]
Waiting = dict[str, dict[object, Tell]]  # by the name of the tournament

_waiting: WeakKeyDictionary[Host, Waiting] = WeakKeyDictionary()


def when_over(host: Host, tournament: str, tell: Tell) -> Callable[[], None]:
    """Have `tell` called when that tournament is over; answers how to stop waiting.

    It is called with the fact that says so, from within the scheduler: it must not fail.
    """
    if (waiting := _waiting.get(host)) is None:
        waiting = _waiting[host] = {}
        host.told.append(partial(_hear, waiting))
    mine = object()
    waiting.setdefault(tournament, {})[mine] = tell
    return partial(_forget, waiting, tournament, mine)


def _hear(waiting: Waiting, tournament: Tournament, fact: AnyFact) -> None:
    if isinstance(fact, Turned) and fact.state is State.FINISHED:
        for tell in tuple(waiting.get(tournament.record.name, {}).values()):
            tell(tournament, fact)


def _forget(waiting: Waiting, tournament: str, mine: object) -> None:
    there = waiting.get(tournament, {})
    there.pop(mine, None)
    if not there:
        waiting.pop(tournament, None)
