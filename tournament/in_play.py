"""The matches of a tournament that are being played, and who plays them.

Here a match begins with what its tournament says of it, or goes on from what was kept of it.
The referee (`match.py`) decides how it ends, and `concluding.py` what comes of that.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from math import inf
from typing import Any

import trio
from msgspec import UNSET

from games.game import Game
from tournament.events import HOST_FAILED, Ended
from tournament.facts import Dealt
from tournament.kinds import with_the_house
from tournament.lent import Beginning, Course, Decided, Lent, begun
from tournament.match import Match
from tournament.player import Player, Seat
from tournament.record import Record
from tournament.store import Jottings, Store
from tournament.timekeeper import Timekeeper

Both = tuple[Player, Player]
Lend = Callable[[Any, Beginning, Both, Decided], Lent | None]  # has another process play a tournament's match
Together = Callable[[], AbstractContextManager[None]]  # what is said within goes out at its end


class GameFailed(Exception):
    """As a match was about to begin, its game has raised an `error` that no game may raise."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def play_here(tournament: object, beginning: Beginning, players: Both, decided: Decided) -> None:
    """Lend no match to another process."""


class InPlay:
    def __init__(
        self,
        record: Record,
        game: Game[Any, Any],
        store: Store,
        timekeeper: Timekeeper,
        wall: Callable[[], float],
        *,
        resume_seconds: float,
        early_grace: float,
        grace: float,
        refusals: int,
        begun: Callable[[Match], None],
        lend: Callable[[Beginning, Both, Decided], Lent | None],
        together: Together,
    ) -> None:
        """`begun` is called with every match that is played here. `Tournament` describes the others."""
        self.matches: dict[str, Match] = {}
        self.decided: Callable[[Match, Ended], None] = lambda match, verdict: None  # called by every match
        # Called when a match was void by a fault of ours and both players are still here, for the next.
        self.failed: Callable[[], None] = lambda: None
        self._players: dict[str, Both] = {}
        self._record = record
        self._game = game
        self._store = store
        self._timekeeper = timekeeper
        self._wall = wall
        self._resume_seconds = resume_seconds
        self._early_grace = early_grace
        self._grace = grace
        self._refusals = refusals
        self._begun = begun
        self._lend = lend
        self._together = together

    def begin(self, dealt: Dealt, players: Both, kept: Jottings | None = None) -> None:
        """Begin a match, or go on with it from what was kept of it; raises `Illegal` if that cannot be.

        Raises `GameFailed` if a new match cannot begin because the game itself has failed.
        """
        record = self._record
        missed = record.missed(dealt.pairing)
        beginning = Beginning(
            self._game.name,
            (players[0].name, players[1].name),
            dealt.match,
            record.opened.pace,
            record.options(dealt),
            not all(player.name in missed for player in players),
            (players[0].name not in missed, players[1].name not in missed),
            self._early_grace if record.format.endless else inf,
            self._grace,
            self._refusals,
            self.epoch(),
            dealt.when,
        )
        lent = None
        if kept is not None:
            match = begun(self._game, beginning, trio.current_time(), self.decided, kept)
        else:
            try:
                lent = self._lend(beginning, players, self.decided)
                match = lent or begun(self._game, beginning, trio.current_time(), self.decided)
            except Exception as error:
                raise GameFailed(error) from error
        self.matches[dealt.match] = match
        self._players[dealt.match] = players
        seats = [Seat(match, index, self._timekeeper) for index in range(len(players))]
        if match.interrupted:
            for seat in seats:
                seat.hold(self._resume_seconds)
        self._timekeeper.watch(match)
        self._store.jot(match.name, Jottings(match.moves, match.times, match.asides))
        if lent is None:
            self._begun(match)
        with self._together():
            for player, seat in zip(players, seats, strict=True):
                player.deal(seat)
                if match.interrupted and player.present:
                    seat.here()
                if player.name in record.out:  # since the match was dealt
                    seat.leave(out=True)

    def announce(self, match: Match) -> None:
        """Its result is safe: everybody is told, and both players are free."""
        with self._together():
            match.announce()
            del self.matches[match.name]
            self._timekeeper.forget(match)
            players = self._players.pop(match.name)
            ended = match.result
            if ended is not None and ended.why == HOST_FAILED and all(player.present for player in players):
                self.failed()
            for player in players:
                match.when_told(player.free)

    def come_home(self, lent: Lent, course: Course) -> tuple[Seat, Seat] | None:
        """Go on here with a match that another process has played; returns its seats, if it is not over."""
        if not self.is_lent(lent):
            return None
        match = self.matches[lent.name] = lent.come_home(course, trio.current_time())
        seats = Seat(match, 0, self._timekeeper), Seat(match, 1, self._timekeeper)
        for player, seat in zip(self._players[lent.name], seats, strict=True):
            player.seat = seat
        self._timekeeper.forget(lent)
        self._timekeeper.watch(match)
        self._begun(match)
        if match.unreadable is not None:
            match.log.report(match.unreadable)
            match.fail(trio.current_time())
        return seats

    def is_lent(self, lent: Lent) -> bool:
        """Whether another process plays that match, and it has no verdict yet."""
        return self.matches.get(lent.name) is lent and lent.verdict is None

    def lose(self, lent: Lent) -> tuple[Both, Jottings]:
        """Give up a match whose process is gone; returns its players, and what was heard of it."""
        del self.matches[lent.name]
        self._timekeeper.forget(lent)
        players = self._players.pop(lent.name)
        for player in players:
            player.seat = None
        lent.told()  # whoever has come back to it meanwhile waits no longer
        return players, Jottings(tuple(lent.moves), tuple(lent.times), tuple(lent.asides))

    def let_go(self) -> None:
        """The host stops, and hangs up on everybody: nothing of what goes wrong from now on is kept."""
        for match in self.matches.values():
            match.asides = [*match.asides]  # the store has the list of before

    def expel(self, name: str) -> None:
        """Have an entrant that is out of the tournament leave the match that it plays here."""
        for player in [player for players in self._players.values() for player in players]:
            if player.name == name and player.seat is not None:
                player.seat.leave(out=True)

    def players(self, match: Match) -> Both:
        return self._players[match.name]

    def with_the_house(self, match: Match) -> bool:
        """Whether one of the two is the host's own."""
        return with_the_house(player.kind for player in self._players[match.name])

    @property
    def ending(self) -> bool:
        """Whether a match has a verdict that was not announced yet."""
        return any(match.verdict is not None for match in self.matches.values())

    @property
    def lends(self) -> bool:
        """Whether another process plays a match of which the end was not heard."""
        return any(match.elsewhere and match.verdict is None for match in self.matches.values())

    def epoch(self) -> float:
        """The wall clock's time when the event loop's was 0."""
        return self._wall() - trio.current_time()


def dealt(match: str, pairing: int, options: Mapping[str, Any] | None, players: Both, at: float) -> Dealt:
    """What is kept of a match before it begins: with what both come back by after a restart, if both can."""
    if not all(player.key or player.way_back for player in players):
        return Dealt(match, pairing, options, at=at)
    first, second = players
    ways_back = first.way_back, second.way_back
    keys = first.key or "", second.key or ""
    return Dealt(match, pairing, options, keys, ways_back if any(ways_back) else UNSET, at)
