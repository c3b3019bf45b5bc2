"""Keeping where bots are called to their matches, one change after the other.

A bot may be called elsewhere, or no longer, before it is kept that it is called. What was kept so far does
not say what is on its way, so the latest word on each bot is remembered until it is kept.
"""

import trio

from server.net.guard import MovedAway
from tournament.facts import AnyFact, Called, State
from tournament.tournament import Tournament


class Calling:
    def __init__(self) -> None:
        self._latest: dict[tuple[Tournament, str], Called] = {}  # by tournament and name, until it is kept

    def note(self, nursery: trio.Nursery, tournament: Tournament, called: Called) -> bool:
        """Have the place where a bot is called kept; returns whether it is news."""
        where = tournament, called.name
        if called == self._latest.get(where, _known(tournament, called.name)):
            return False
        if where not in self._latest:
            nursery.start_soon(self._keep, tournament, called.name)
        self._latest[where] = called
        return True

    async def _keep(self, tournament: Tournament, name: str) -> None:
        where, kept = (tournament, name), _known(tournament, name)
        try:
            while (called := self._latest[where]) != kept:  # once: an organiser may have it no longer called
                if not await kept_if_there(tournament, called):
                    return
                kept = called
        finally:
            del self._latest[where]


async def kept_if_there(tournament: Tournament, fact: AnyFact) -> bool:
    """Keep a fact for which nobody waits; False if the tournament is deleted, or goes on at another host."""
    if tournament.record.state is State.DELETED:
        return False
    try:
        await tournament.keep(fact)
    except MovedAway:
        return False
    return True


def _known(tournament: Tournament, name: str) -> Called:
    return tournament.record.called.get(name, Called(name))
