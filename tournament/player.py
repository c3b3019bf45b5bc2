"""Who plays: a `Player` is somebody connected under a name; a `Seat` is the right to move in one match.

A dialect holds these two and nothing else of the tournament. It learns of a seat
from the player, follows the seat's log, and passes on what arrives.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from functools import cached_property
from math import inf
from typing import Any

import structlog
import trio

from tournament.log import Follower, Tell
from tournament.match import Match
from tournament.timekeeper import Timekeeper

log = structlog.get_logger()

GRACE = 30.0  # seconds that a player may be gone in the middle of a match and still go on with it


class Seat:
    """The right to move for one side of one match."""

    __slots__ = ("_timekeeper", "index", "match")

    def __init__(self, match: Match, index: int, timekeeper: Timekeeper) -> None:
        self.match = match
        self.index = index
        self._timekeeper = timekeeper

    @property
    def name(self) -> str:
        """What the game calls this side."""
        return self.match.game.seats[self.index]

    @property
    def to_move(self) -> bool:
        return self.match.to_move == self.index

    def play(self, sent: Any, at: float | None = None) -> None:
        """Play what a bot sent, stamped by whoever read it; raises `Illegal`, in words for its author."""
        now, match = trio.current_time(), self.match
        self._timekeeper.catch_up(now)
        match.play(self.index, sent, now if at is None else at, now)
        self._timekeeper.expect(match.deadline)

    def forfeit(self, sent: Any, why: str, at: float) -> None:
        """Lose by what was sent, whoever is to move; raises `Illegal` where the match is over already."""
        self._timekeeper.catch_up(trio.current_time())
        self.match.forfeit(self.index, sent, why, at)

    def resign(self) -> None:
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.resign(self.index, now)

    def leave(self) -> None:
        """Gone, and not to come back."""
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.leave(self.index, now)
        self._timekeeper.expect(self.match.deadline)

    def away(self, grace: float = GRACE) -> None:
        """The connection is lost; the seat is kept for so many seconds, while its clock runs on."""
        self.match.away(self.index, trio.current_time() + grace)
        self._timekeeper.expect(self.match.deadline)

    def hold(self, seconds: float) -> None:
        """Not there yet: the clock waits for it, for so many seconds."""
        self.match.hold(self.index, trio.current_time() + seconds)
        self._timekeeper.expect(self.match.deadline)

    def here(self) -> None:
        """There, or there again."""
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.here(self.index, now)
        self._timekeeper.expect(self.match.deadline)

    def follow(self, tell: Tell, start: int = 0) -> Follower:
        return self.match.log.follow(tell, start)


class Player:
    """Somebody under a name, who is dealt one seat at a time."""

    def __init__(self, name: str, game: str, changed: Callable[["Player"], None], arrival: int = 0) -> None:
        self.name = name
        self.game = game
        self.arrival = arrival  # who came earlier has a lower number
        self.present = True  # connected, or otherwise able to answer
        self.retired = False  # will not be back
        self.place: str | None = None  # the tournament that it plays in; None: whichever has its name
        self.against: str | None = None  # at an open table: the only one it wants to meet
        self.options: Mapping[str, Any] | None = None  # at an open table: of the game, where it wants others
        self.seat: Seat | None = None
        self.reserved = False  # a match is about to begin for it
        self._changed = changed
        self.dealt: Callable[[Seat], None] = self._queue  # a door puts its own here: told at once

    @property
    def idle(self) -> bool:
        """Can be dealt a seat now."""
        return self.present and self.seat is None and not self.reserved

    def __aiter__(self) -> AsyncIterator[Seat]:
        """Every seat as it is dealt, until the player retires."""
        return aiter(self._channel[1])

    @cached_property
    def _channel(self) -> tuple[trio.MemorySendChannel[Seat], trio.MemoryReceiveChannel[Seat]]:
        """For those who iterate, and only made for them: it is the largest thing that a player has."""
        return trio.open_memory_channel[Seat](inf)

    def _queue(self, seat: Seat) -> None:
        self._channel[0].send_nowait(seat)

    def deal(self, seat: Seat) -> None:
        self.reserved = False
        self.seat = seat
        if self.retired:
            seat.leave()
            return
        try:
            self.dealt(seat)
        except Exception:
            log.exception("a door failed when it was dealt a seat", player=self.name)
            seat.match.void("a fault of the host", trio.current_time())
            self.retire()
        if not self.present:
            seat.away()

    def free(self) -> None:
        """The match is over and announced."""
        self.seat = None
        self.reserved = False
        self._changed(self)

    def away(self) -> None:
        """Its connection is lost; it may come back."""
        if self.present:
            self.present = False
            if self.seat is not None:
                self.seat.away()
            self._changed(self)

    def back(self) -> None:
        if not self.present and not self.retired:
            self.present = True
            if self.seat is not None:
                self.seat.here()
            self._changed(self)

    def retire(self) -> None:
        """Gone for good: what it plays is lost, and nothing more is dealt to it."""
        if not self.retired:
            self.present, self.retired = False, True
            if "_channel" in vars(self) or self.dealt == self._queue:
                self._channel[0].close()
            if self.seat is not None:
                self.seat.leave()
            self._changed(self)
