"""Who plays: a `Player` is somebody connected under a name; a `Seat` is the right to move in one match.

A dialect holds these two and nothing else of the tournament. It learns of a seat
from the player, follows the seat's log, and passes on what arrives.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from math import inf
from typing import Any

import trio

from games.game import Illegal
from tournament.events import AnyEvent, Ended
from tournament.kinds import Kind
from tournament.log import Follower, Tell
from tournament.match import Match
from tournament.notes import Note
from tournament.timekeeper import Timekeeper

TIMED = 64  # one move in so many is timed, the first included: timing each would cost more than it tells
UNSEEN = "?"  # before the digest of a token that the player was not seen to receive
CALLED = "??"  # the same, of one that is called to its matches: not even its moves show that it has the token
NOWHERE = "(nowhere)"  # no name of a tournament: nothing is dealt there


def _nothing() -> None:
    """There is nobody to be told."""


def _at_the_end(call: Callable[[], None], event: AnyEvent) -> None:
    if isinstance(event, Ended):
        call()


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

    def expect_open(self) -> None:
        """Raise the host's own exception if it has stopped, and takes no more moves."""
        if (too_late := self._timekeeper.too_late) is not None:
            raise too_late()

    def play(
        self, sent: Any, at: float | None = None, spent: float | None = None, note: Note | None = None
    ) -> None:
        """Play what a bot sent, `at` the time it was read; raises `Illegal`, in words for its author.

        If the game fails, the match is void, and the bot is told so as its opponent is.

        `spent` is how many seconds the bot says it has thought, and `note` is kept with the move.
        """
        match, timekeeper = self.match, self._timekeeper
        if timekeeper.too_late is not None:  # here as well, to spare each move the call
            self.expect_open()
        now = timekeeper.now()
        if now > timekeeper.wake:
            timekeeper.catch_up(now)
        try:
            match.play(self.index, sent, now if at is None else at, now, spent, note)
        except Illegal:
            raise
        except Exception as error:  # a fault of the game's code, or of ours
            match.log.report(error)
            match.fail(now)
        if match.deadline < timekeeper.due:
            timekeeper.expect(match.deadline)
        timekeeper.moves += 1
        if timekeeper.moves % TIMED == 1 and at is not None and match.verdict is None:
            # A move that decides is told after a commit, which is timed too.
            timekeeper.time_move(match.game.name, at)

    def note_ignored(self, why: str) -> None:
        """Note why what the player sent had no effect, if it was asked for a move and this was none."""
        if self.to_move:
            self.match.ignored[self.index] = self.match.ply, why

    def forfeit(self, sent: Any, why: str, at: float) -> None:
        """Lose by what was sent, whichever seat is to move; raises `Illegal` where the match is over."""
        self._timekeeper.catch_up(trio.current_time())
        self.match.forfeit(self.index, sent, why, at)

    def resign(self) -> None:
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.resign(self.index, now)

    def leave(self, *, out: bool = False) -> None:
        """The player is gone for good, or an organiser took it `out` of the tournament."""
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.leave(self.index, now, out=out)
        self._timekeeper.expect(self.match.deadline)

    @property
    def now(self) -> float:
        """The time by a clock that stands still whenever the host does."""
        return trio.current_time() - self._timekeeper.stalled

    @property
    def early_grace(self) -> float:
        """Seconds that the player may be gone because it has not moved yet; infinite where it has."""
        return self.match.early_grace(self.index)

    def away(self, grace: float | None = None, *, lost: bool = True) -> None:
        """The connection is `lost`, or so it seems; the seat is kept for a while, and its clock runs on."""
        now, grace = trio.current_time(), self.match.grace if grace is None else grace
        self._timekeeper.catch_up(now)
        self.match.away(self.index, now + min(grace, self.early_grace), now, lost=lost)
        self._timekeeper.expect(self.match.deadline)

    def cut_off(self, why: str) -> None:
        """The host hangs up on the player, because of what it has done."""
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.cut_off(self.index, why, now)

    def hold(self, seconds: float, *, lost: bool = False) -> None:
        """The player has not come yet, or lost its connection: its clock waits, for this many seconds."""
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.hold(self.index, now + seconds, now, lost=lost)
        self._timekeeper.expect(self.match.deadline)

    def here(self) -> None:
        """The player has come, or come back."""
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        self.match.here(self.index, now)
        self._timekeeper.expect(self.match.deadline)

    def follow(self, tell: Tell, start: int = 0, untold: Callable[[], None] = _nothing) -> Follower:
        """Have the player in this seat told. If that fails, the match is void: nobody loses untold.

        In that case `untold` is called when the match is over, in place of telling its end.
        """
        return self.match.log.follow(tell, start, partial(self.fail, untold))

    def fail(self, untold: Callable[[], None]) -> None:
        """The player cannot be told of its match, by a fault of ours: as in `follow`."""
        match = self.match
        match.fail(trio.current_time())
        if match.log.closed:
            untold()
        else:
            match.log.follow(partial(_at_the_end, untold), len(match.log.events))


Seats = tuple[trio.MemorySendChannel[Seat], trio.MemoryReceiveChannel[Seat]]


class Taker:
    """Takes a player's seats, for the bot behind it. This one takes none: the next finds the seat."""

    __slots__ = ()

    def take_seat(self, seat: Seat) -> None:
        """A match begins for the player."""

    def taken_out(self) -> None:
        """An organiser took the player out of its tournament."""

    def moved(self) -> None:
        """The host has led the player elsewhere."""


NOBODY = Taker()


class Player:
    """Somebody under a name, who is dealt one seat at a time."""

    __slots__ = (
        "_changed",
        "_seats",
        "address",
        "against",
        "arrival",
        "connection",
        "for_one_match",
        "game",
        "key",
        "kind",
        "matches_left",
        "name",
        "options",
        "place",
        "present",
        "ready",
        "reserved",
        "rested",
        "retired",
        "seat",
        "taker",
        "version",
        "way_back",
    )

    def __init__(
        self,
        name: str,
        game: str,
        changed: Callable[["Player", str | None], None],
        arrival: int = 0,
        place: str | None = None,
    ) -> None:
        """`changed` is called with the player and its place before the change, usually the same as now."""
        self.name = name
        self.game = game
        self.arrival = arrival  # lower for those who came earlier
        self.present = True  # connected, or otherwise able to answer
        self.retired = False  # will not be back
        self.place = place  # the tournament that it plays in; None: any that has its name among the entrants
        self.against: str | None = None  # at an open table: the only one that it wants to meet
        self.options: Mapping[str, Any] | None = None  # at an open table: of the game, if not the table's own
        self.version: str | None = None  # of the bot, in its own words
        self.kind = Kind.BOT
        self.matches_left: int | None = None  # as many as it wants to be dealt; None: any number
        self.key: str | None = None  # digest of the token with which it comes back after a restart, if it can
        self.way_back = ""  # how its dialect finds it after a restart, in that dialect's words, if it can
        self.for_one_match = False  # it is awaited to a match that a restart has interrupted, and only there
        self.connection: object = None  # its door's, if another process may serve it for a match
        self.seat: Seat | None = None
        self.reserved = False  # a match is about to begin for it
        self.address = (
            ""  # with which bots it shares how much they may play without an end; "": it may play on
        )
        self.rested = True  # False: bots of its address have played too much there, so it rests for a while
        self.ready = True  # False: it is dealt nothing before its door says so, or it comes by another one
        self._changed = changed
        self._seats: Seats | None = None
        self.taker: Taker | None = None  # set by a door; None: its seats go to those who iterate

    def move_to(self, place: str | None) -> None:
        """Have it play in another tournament."""
        if place != self.place:
            before, self.place, self.rested = self.place, place, True
            self._changed(self, before)

    def meet_only(self, against: str | None) -> None:
        """Have it meet nobody else; None: it may meet anybody."""
        if against != self.against:
            self.against = against
            self._changed(self, self.place)

    def set_ready(self, ready: bool) -> None:
        """Whether it may be dealt to; not before its door has said so, where it comes by one that will."""
        if ready != self.ready:
            self.ready = ready
            self._changed(self, self.place)

    def set_rested(self, rested: bool) -> None:
        """Whether it may be dealt to again, after a match without an end."""
        if rested != self.rested:
            self.rested = rested
            if not self.retired or self.reserved:  # in the latter case a match waits for it
                self._changed(self, self.place)

    @property
    def engaged(self) -> bool:
        """Whether it plays a match, or one is about to begin for it."""
        return self.seat is not None or self.reserved

    @property
    def idle(self) -> bool:
        """Whether it can be dealt a seat now."""
        able = self.ready and self.rested and self.matches_left != 0
        return self.present and able and not self.engaged

    def __aiter__(self) -> AsyncIterator[Seat]:
        """Every seat as it is dealt, until the player retires."""
        return aiter(self._channel[1])

    @property
    def _channel(self) -> Seats:
        """A channel, made only for those who iterate, because nothing else in a player is as large."""
        if self._seats is None:
            self._seats = trio.open_memory_channel[Seat](inf)
        return self._seats

    def deal(self, seat: Seat) -> None:
        self.reserved = False
        self.seat = seat
        if self.matches_left:
            self.matches_left -= 1
        if self.retired:
            seat.leave()
            return
        try:
            if self.taker is None:
                self._channel[0].send_nowait(seat)
            else:
                self.taker.take_seat(seat)
        except Exception as error:
            seat.match.log.report(error)
            seat.match.fail(trio.current_time())
            self.retire()
        if not self.present:
            seat.away()

    def free(self) -> None:
        """The match is over and announced."""
        self.seat = None
        self.reserved = False
        if self.for_one_match:
            self.retire()
            return
        if self.matches_left == 0:
            self.present = False  # as if it had gone: nobody waits for it in vain
        if not self.retired:  # otherwise everybody knows already that it is gone
            self._changed(self, self.place)

    def away(self) -> None:
        """Its connection is lost; it may come back."""
        if self.present:
            self.present = False
            if self.seat is not None:
                self.seat.away()
            self._changed(self, self.place)

    def can_be_called(self) -> None:
        """It can be called to matches. It may not have come back to the one that it plays."""
        if not self.present and not self.retired:
            self.present = True
            self._changed(self, self.place)

    def back(self) -> None:
        wants_more = self.matches_left != 0 or self.seat is not None
        if not self.present and not self.retired and wants_more:
            self.present = True
            if self.seat is not None:
                self.seat.here()
            self._changed(self, self.place)

    def retire(self) -> None:
        """Gone for good: it loses the match that it plays, and nothing more is dealt to it."""
        if not self.retired:
            self.present, self.retired = False, True
            if self._seats is not None or self.taker is None:
                self._channel[0].close()
            self.taker = (
                NOBODY  # whoever took its seats may hold this player: they would keep each other alive
            )
            if self.seat is not None:
                self.seat.leave()
            self._changed(self, self.place)
