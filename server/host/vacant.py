"""The tournaments as everybody sees them: those that were opened, and open tables that wait for a bot.

There is an open table for every game. The store has one from when its first bot comes; until then it
is shown running, with nobody in it, and nothing of it is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from games.catalogue import catalogue
from games.game import Game
from server.host.opening import OPEN, table_record
from server.host.view import HeldTournament
from tournament.entries import Entry
from tournament.facts import Concluded
from tournament.match import Match
from tournament.presence import Missing
from tournament.record import Record


class Vacant:
    """An open table to which nobody has come; once somebody has, it stands for the real one."""

    def __init__(self, game: Game[Any, Any], opened: Mapping[str, HeldTournament]) -> None:
        self.game = game
        self._opened = opened
        self._record = table_record(game.name, whole=False)

    @property
    def _there(self) -> HeldTournament | None:
        return self._opened.get(self._record.name)

    @property
    def record(self) -> Record:
        return self._record if self._there is None else self._there.record

    @property
    def matches(self) -> Mapping[str, Match]:
        return {} if self._there is None else self._there.matches

    def eta(self) -> float | None:
        return None if self._there is None else self._there.eta()

    def missing(self) -> Sequence[Missing]:
        return () if self._there is None else self._there.missing()

    async def concluded(self, match: str) -> Concluded:
        return await self._opened[self._record.name].concluded(match)

    async def receipt(self, match: str) -> str:
        return await self._opened[self._record.name].receipt(match)

    async def entries(self, after: int = 0) -> Sequence[Entry]:
        return () if self._there is None else await self._there.entries(after)


class ShownTournaments(Mapping[str, HeldTournament]):
    """By name: tournaments in the order of opening, then open tables that wait for their first bot."""

    def __init__(self, opened: Mapping[str, HeldTournament]) -> None:
        self._opened = opened
        self._tables = {OPEN + name: Vacant(game, opened) for name, game in catalogue().items()}

    def __getitem__(self, name: str) -> HeldTournament:
        return self._opened[name] if name in self._opened else self._tables[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._opened
        yield from self._waiting()

    def __len__(self) -> int:
        return len(self._opened) + sum(1 for _ in self._waiting())

    def __contains__(self, name: object) -> bool:
        return name in self._opened or name in self._tables

    def _waiting(self) -> Iterator[str]:
        return (name for name in self._tables if name not in self._opened)
