"""Matches that another worker has lent to this one: they are played here as long as nothing disturbs them.

A disturbance (a bot that hangs up, an order of the holder) sends the match home as it stands, and is dealt
with there. The doors' own connections and dialects serve the bots, from when they have their seats.
"""

import socket
from collections.abc import Callable, Iterable
from typing import Any, cast

import trio
from msgspec import Struct

from server.host.host import Host
from server.host.visits import Visit
from server.host.wire_log import TapeSnapshot
from server.net.guard import PEER_GONE
from server.net.outbox import Outbox
from server.net.sockets import SocketWire
from server.protocols import tcp, websocket
from server.protocols.common.attendance import Attendance
from server.protocols.dialect import Talk
from server.show.feed import Teller
from server.workers.match_messages import (
    Acknowledged,
    Announce,
    Closed,
    Decided,
    Fetch,
    FromHolder,
    Heard,
    Home,
    Left,
    Play,
    Returned,
    Sit,
)
from server.workers.serving import passed_wire
from tournament.asides import Aside
from tournament.events import Ended
from tournament.lent import Travelling, not_begun
from tournament.match import Match
from tournament.player import Player, Seat

Say = Callable[[Struct], None]


class Guest(Visit):
    """A bot that another worker has let in, for one match."""

    def __init__(
        self, number: int, connection: tcp.Connection | websocket.Connection, wire: SocketWire, say: Say
    ) -> None:
        self.number = number
        self.connection = connection
        self.wire = wire
        self.playing: GuestMatch | None = None
        self.here = True  # until it has left
        self.over = False  # its match is over, or goes on where the bot came in
        self.left: Callable[[Guest, bool], None] = lambda guest, for_good: None
        self._say = say
        player = Player("", "", lambda player, before: None)
        super().__init__(cast("Any", None), ("", ""), player, None, None, wire.peer, shared=False)

    @property
    def current(self) -> bool:
        return self.here

    def acknowledge(self) -> None:
        self._say(Acknowledged(self.number))

    def leave(self, *, for_good: bool = False) -> None:
        if self.here and not self.over:
            self.here = False
            self.left(self, for_good)


class GuestMatch:
    """A match that is played here, and how much of it the holder has heard."""

    def __init__(self, match: Travelling, guests: tuple[Guest, Guest]) -> None:
        self.match = match
        self.guests = guests
        self.heard = 0  # moves that the holder has heard …
        self.asides_heard = 0  # … and what there is beside them


class Guests:
    """The guests of one other worker."""

    def __init__(
        self, host: Host, teller: Teller, say: Say, hear_now: Callable[[], None] = lambda: None
    ) -> None:
        self._host = host
        self._hear_now = hear_now
        self._teller = teller
        self._say = say
        self._guests: dict[int, Guest] = {}
        self._attendances: dict[int, Attendance] = {}
        self._playing: dict[str, GuestMatch] = {}
        self._over = False  # the other worker is gone, or this one is about to end

    def take(self, message: FromHolder, descriptor: int | None) -> None:
        match message:
            case Sit():
                self._sit(message, descriptor)
            case Play():
                self._play(message)
            case Fetch(name):
                if (playing := self._playing.get(name)) is not None:
                    self._send_home(playing)
            case Announce(name, receipt):
                self._announce(name, receipt)

    def say_moves(self) -> None:
        """Tell the moves played since the last call."""
        news: list[tuple[str, tuple[Any, ...], tuple[float, ...], tuple[Aside, ...]]] = []
        for name, each in self._playing.items():
            match, heard, asides_heard = each.match, each.heard, each.asides_heard
            if match.verdict is None and (heard < match.ply or asides_heard < len(match.asides)):
                each.heard, each.asides_heard = match.ply, len(match.asides)
                moves, times = tuple(match.moves[heard:]), tuple(match.times[heard:])
                news.append((name, moves, times, tuple(match.asides[asides_heard:])))
        if news:
            self._say(Heard(tuple(news)))

    def end(self) -> None:
        """The holder is gone: its successor goes on with the matches from the journal, and bots go there."""
        self._over = True
        for playing in tuple(self._playing.values()):
            self._forget(playing)
        for guest in tuple(self._guests.values()):
            guest.wire.close()

    def stop(self) -> None:
        """This worker is about to end: what happens to bots because of that is not told."""
        self.say_moves()
        self._over = True

    # Within

    def _sit(self, sit: Sit, descriptor: int | None) -> None:
        if descriptor is None:
            return  # there was no room for the descriptor
        host = self._host
        # What kind of socket it is, is said here, because the kernel need not say it.
        connected = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, descriptor)
        wire = passed_wire(connected, sit.peer, sit.secure, self._hear_now)
        try:
            connection, talk = self._seated(sit, wire)
        except Exception as error:  # the dialect's: the match is played where it was dealt
            host.guard.report(error)
            wire.close()
            return
        if talk is not None:
            talk.attendance.budget.go_on(sit.budget)
            self._guests[sit.number] = Guest(sit.number, connection, wire, self._say)
            self._attendances[sit.number] = talk.attendance

    def _seated(
        self, sit: Sit, wire: SocketWire
    ) -> tuple[tcp.Connection | websocket.Connection, Talk | None]:
        """A connection, and the dialect that goes on over it."""
        host = self._host
        if sit.door == "tcp":
            lines = tcp.Connection(host, wire, AdmittedElsewhere())
            return lines, lines.seat(sit.dialect, sit.words)
        outbox = Outbox(wire, host.guard, host.limits)
        frames = websocket.Connection(host, wire, outbox, sit.path, _nothing, words=sit.words)
        return frames, frames.talk

    def _play(self, play: Play) -> None:
        now, name = trio.current_time(), play.beginning.name
        try:
            match = Travelling(play.beginning, now, self._decided)
        except Exception as error:  # the same game has not failed where the match was dealt
            self._host.guard.report(error)
            self._send_back(play.seats)
            self._say(Decided(name, not_begun(now)))
            return
        found = [self._guests.get(number) for number in play.seats]
        if found[0] is None or found[1] is None:
            self._say(Home(name, match.course, told=0))  # nobody has heard yet that it begins
            self._send_back(play.seats)
            return
        guests = found[0], found[1]
        playing = self._playing[name] = GuestMatch(match, guests)
        host = self._host
        match.log.report = host.guard.report
        host.timekeeper.watch(match)
        self._teller.follow(match)
        for index, guest in enumerate(guests):
            guest.playing, guest.left = playing, self._left
            guest.player.name, guest.player.game = match.names[index], match.game.name
            self._attendances[guest.number].sit_in(guest)
        for index, guest in enumerate(guests):
            guest.player.deal(Seat(match, index, host.timekeeper))
            host.guard.start_soon(self._serve, guest)

    def _send_back(self, numbers: Iterable[int]) -> None:
        """Have connections go back of which nothing was served here; for some there may have been no room."""
        for number in numbers:
            self._attendances.pop(number, None)
            if (guest := self._guests.pop(number, None)) is not None:
                guest.wire.close()
            self._say(Returned(number, (), TapeSnapshot(), None))

    async def _serve(self, guest: Guest) -> None:
        """Serve a guest to the end of the match, or of the connection."""
        unread: bytes | None = None
        try:
            unread = await guest.connection.serve()
        except PEER_GONE:
            pass  # the failure has been dealt with
        finally:
            attendance = self._attendances.pop(guest.number)
            arrived = guest.wire.arrived
            rest = guest.wire.rest()  # read together with what had the match go home, and not taken
            guest.wire.close()
            del self._guests[guest.number]
            if unread is None:
                guest.leave()  # if it has not left yet
                if not self._over:
                    self._say(Closed(guest.number))
            else:
                attendance.hand_back()
                pieces = ((unread + rest, arrived),) if unread or rest else ()
                budget = attendance.budget.left
                self._say(Returned(guest.number, pieces, self._tape(guest), budget))

    def _tape(self, guest: Guest) -> TapeSnapshot:
        playing = guest.playing
        if playing is None:
            return TapeSnapshot()
        tapes = self._host.wires.of(playing.match.name)
        tape = tapes.get(playing.guests.index(guest))
        return TapeSnapshot() if tape is None else tape.snapshot

    def _left(self, guest: Guest, for_good: bool) -> None:
        if self._over:
            return
        if guest.playing is not None:
            self._send_home(guest.playing)
        attendance = self._attendances.get(guest.number)
        cut = attendance is not None and attendance.cut
        self._say(Left(guest.number, self._tape(guest), for_good, cut))

    def _send_home(self, playing: GuestMatch) -> None:
        if playing.match.verdict is None and playing.match.name in self._playing:
            course = playing.match.course
            self._say(Home(playing.match.name, course, told=len(course.events)))
            self._forget(playing)
            self._give_back(playing)

    def _give_back(self, playing: GuestMatch) -> None:
        for guest in playing.guests:
            guest.over = True
            if guest.here:
                guest.connection.call_back()

    def _forget(self, playing: GuestMatch) -> None:
        """The match is no longer played here."""
        del self._playing[playing.match.name]
        self._host.timekeeper.forget(playing.match)
        self._teller.forget(playing.match)

    def _decided(self, match: Match, verdict: Ended) -> None:
        playing = self._playing.get(match.name)
        if playing is not None and not self._over:
            self._say(Decided(match.name, playing.match.outcome))

    def _announce(self, name: str, receipt: str) -> None:
        if (playing := self._playing.pop(name, None)) is None:
            return
        playing.match.receipt = receipt
        for guest in playing.guests:
            guest.over = True  # some leave with the end of their match
        playing.match.announce()
        self._give_back(playing)


class AdmittedElsewhere:
    """A visitor that was let in elsewhere, and so is known."""

    def authenticated(self) -> None:
        """It was counted as known where it came in."""


def _nothing() -> None:
    """A callback that does nothing."""
