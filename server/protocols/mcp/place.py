"""One language model's place at the host: a bot of the house protocol that has no connection.

What the model does becomes a message of the house protocol (`server/protocols/house/talk.py`), so it
meets the same referee and the same limits as any bot. When it calls, it is told what there is to tell:
an end or standings that it has not seen, the question that it is asked, or nothing yet.

A model thinks for a long time between two calls. So its place is kept for minutes, while the clock of
the match decides; but a match is dealt to it only while it waits, or right after it has called.
"""

from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any

import msgspec
import structlog
import trio

from server.host.host import Host
from server.host.opening import OPEN
from server.host.wire_log import NO_TAPE, Tape
from server.http.exchange import Exchange
from server.http.wire import Response
from server.net.budgets import address_of
from server.protocols.common.http_tape import requested, responded
from server.protocols.dialect import Channel
from server.protocols.house import messages
from server.protocols.house.talk import HouseTalk
from server.protocols.mcp.sessions import Session
from tournament.player import Seat

DOOR = "mcp"
NEWS = 8  # ends and standings that are kept for a model that does not call
WAITING: dict[str, Any] = {"type": "waiting"}
LOOK = "look first: wait and position show the position that you are to move in"

Shown = dict[str, Any]  # a message of the house protocol

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Place:
    def __init__(self, host: Host, exchange: Exchange, origin: str, heard: Callable[["Place"], None]) -> None:
        """`heard` is called whenever the model has been heard."""
        self.host = host
        self._was_heard = heard
        self.origin = origin  # the network from which it came; "" where these are not counted
        self.address = address_of(exchange.request.peer)
        self.session: Session | None = None  # by which its model joined last
        self.welcome: Shown | None = None
        self.last: Shown | None = None  # how the latest match ended
        self.over: str | None = None  # why nobody plays here any more
        self.finished: str | None = None  # its tournament, if that is over: nothing more is dealt here
        self._against: str | None = None  # the only opponent that it wants
        self._opening: Exchange | None = exchange
        self._news: deque[Shown] = deque(maxlen=NEWS)
        self._seats: dict[str, str] = {}  # by match: what the game calls its side, in the latest ones
        self._refused: Shown | None = None
        self._seen: tuple[str, int] | None = None  # the question that the model has been shown
        self._unheard: Seat | None = None  # a seat that was dealt to it outside a call, until its next one
        self._changed = trio.Event()
        self._waits = 0
        self._latest: Exchange | None = None  # the call that came last, if it still waits
        self._heard = trio.current_time()
        self._has_token = True  # as far as is known
        channel = Channel(host, self._say, self._hang_up, exchange.request.peer, self._authenticated)
        # None when it is over, or each would keep the other alive.
        self._house: HouseTalk | None = HouseTalk(channel, noted=False, door=DOOR)

    @property
    def seat(self) -> Seat | None:
        return None if self._house is None else self._house.attendance.seat

    @property
    def name(self) -> str:
        return "" if self.welcome is None else self.welcome["name"]

    @property
    def game(self) -> str:
        return "" if self.welcome is None else self.welcome["game"]

    @property
    def tournament(self) -> str | None:
        return None if self.welcome is None else self.welcome["tournament"]

    @property
    def token(self) -> str:
        return "" if self.welcome is None else self.welcome["token"]

    def seat_in(self, match: str) -> str | None:
        """What the game called its side, in one of its latest matches."""
        return self._seats.get(match)

    # What the model does

    async def come(self, hello: Shown) -> Shown:
        """Say hello; returns the welcome or a refusal, after which nobody is here."""
        self._against = hello.get("against")
        self._hear(hello, trio.current_time())
        while self.welcome is None and self._refused is None and self.over is None:
            await self._changed.wait()
        self._opening = None
        if self.welcome is not None:
            self._has_token = self.token == hello.get("token")
            return self.welcome
        self._hang_up("the hello was refused")
        return self._refused or {"type": "refused", "reason": self.over}

    def go_on_after(self, before: "Place") -> None:
        """Tell the model what it has not been told at the place that it had before."""
        self.last, self._seats = self.last or before.last, before._seats | self._seats
        self._news.extendleft(reversed(before._news))
        self._note_reading()

    def fits(self, tournament: str | None, against: str | None) -> bool:
        """Whether a model that joins again has what it asks for. What it leaves out may be as it is."""
        here = self.tournament or OPEN + self.game
        return (not tournament or tournament == here) and (not against or against == self._against)

    def heard(self, at: float) -> None:
        """Note that the model has called."""
        self._heard = max(self._heard, at)
        self._was_heard(self)
        self._has_token = True
        unheard, self._unheard = self._unheard, None
        if unheard is not None:
            unheard.here()
        if self._house is not None:
            self._house.attendance.heard()

    def now(self) -> Shown | None:
        """What there is to tell; None: nothing yet. An end and standings are told once."""
        if self._news:
            found = self._news.popleft()
            self._note_reading()
            return found
        seat = self.seat
        return self.position(seat) if seat is not None and seat.to_move else None

    def ended(self, match: str) -> Shown | None:
        """How a match has ended, if it was the last; then it need not be told that again."""
        if self.last is None or self.last["match"] != match:
            return None
        if self.last in self._news:
            self._news.remove(self.last)
            self._note_reading()
        return self.last

    def _note_reading(self) -> None:
        """Note whether the model has been told all that there was to tell."""
        if self._house is not None:
            self._house.attendance.unread = bool(self._news)
            if not self._news:
                self._house.has_read()

    def position(self, seat: Seat) -> Shown:
        """How its match stands, with the clocks as they are now."""
        match = seat.match
        if seat.to_move:
            self._seen = match.name, match.ply
        turn = messages.turn(match, match.ply, trio.current_time())
        return msgspec.json.decode(messages.encode(turn))

    async def wait(self, seconds: float, exchange: Exchange, end: str | None = None) -> Shown | None:
        """What there is to tell, as soon as there is something; None when the time is up.

        It is told to the call that came last: the client of an earlier one may have given that up. If `end`
        names a match, it is how that has ended.
        """
        self._waits += 1
        if end is None:
            self._latest = exchange
        exchange.on_gone(self._wake)
        try:
            with trio.move_on_after(seconds):
                while not exchange.gone:
                    if end is not None:
                        found = self.ended(end)
                    else:
                        found = self.now() if exchange is self._latest else None
                    if found is not None or self.over is not None or self.finished is not None:
                        return found
                    await self._changed.wait()
        finally:
            self._waits -= 1
            if self._latest is exchange:
                self._latest = None
            self.heard(trio.current_time())
        return None

    def play(self, move: object, note: object, at: float) -> Shown | None:
        """Answer the question that was shown; returns a refusal, if there is one."""
        seat, seen = self.seat, self._seen
        if seat is not None and seen is None and seat.to_move:
            return {"type": "refused", "match": seat.match.name, "ply": seat.match.ply, "reason": LOOK}
        if seen is None and seat is not None:
            seen = seat.match.name, seat.match.ply
        said: Shown = {"type": "move", "move": move}
        said |= {} if seen is None else {"match": seen[0], "ply": seen[1]}
        said |= {} if note is None else {"note": note}
        refused = self._tell(said, at)
        self._seen = seen if refused is not None and seat is not None and seat.to_move else None
        return refused

    def resign(self, at: float) -> Shown | None:
        return self._tell({"type": "resign"}, at)

    def leave(self, at: float) -> Shown | None:
        return self._tell({"type": "bye"}, at)

    def _tell(self, said: Shown, at: float) -> Shown | None:
        self._refused = None
        self._hear(said, at)
        refused, self._refused = self._refused, None
        return refused

    def _hear(self, said: Shown, at: float) -> None:
        if self._house is not None:
            self._house.hear(msgspec.json.encode(said), at)

    def failed(self, error: Exception) -> None:
        """Serving the model has raised `error`."""
        if self._house is not None:
            self._house.attendance.failed(error)

    # The wire log

    def note_call(self, exchange: Exchange) -> Tape:
        """Note a call about its match; returns the tape on which to note the answer."""
        tape = self._tape
        tape.heard(requested(exchange.request, self.token), exchange.request.arrived)
        return tape

    def note_answer(self, tape: Tape, response: Response) -> None:
        (self._tape if tape is NO_TAPE else tape).told(responded(response))

    @property
    def _tape(self) -> Tape:
        return NO_TAPE if self._house is None else self._house.attendance.tape

    # Who is there

    def sweep(self, now: float, last: float, forget: Callable[["Place"], None]) -> None:
        """Check whether the model is still there; `forget` the place if not.

        It is gone only if that was so at the `last` look too: after the host has stood still, a call that
        came in time lies unread in its socket at the first look.
        """
        limits, silence = self.host.limits, 0.0 if self._waits else now - self._heard
        if silence - (now - last) >= limits.model_seconds:
            if self.over is None:
                log.info("gone", peer=self.origin, why="silence")
                self._hang_up("nothing was heard from the model for too long")
            forget(self)
        else:
            self._note_silence(now)

    def _note_silence(self, now: float) -> None:
        """If the model has not been heard for a while, deal it nothing until it is."""
        silent = not self._waits and now - self._heard >= self.host.limits.ghost_seconds
        if silent and self._house is not None:
            self._house.attendance.silent()

    def silence(self, now: float) -> float:
        """How long it has been silent; 0 where it would be missed: in a call, a match or a tournament."""
        missed = self._waits or self.seat is not None
        if missed or self.welcome is None or (self.over is None and self.welcome["tournament"] is not None):
            return 0.0
        return now - self._heard

    def has_lost_its_welcome(self, now: float) -> bool:
        """Whether its token may never have arrived: nobody has called with it, and that is some time ago."""
        return not self._has_token and now - self._heard >= self.host.limits.session_begin_seconds

    def make_way(self, why: str) -> None:
        """Leave for another model."""
        self._hang_up(why)

    # What the house does

    def _authenticated(self) -> None:
        if self._opening is not None:
            self._opening.authenticated()

    def _say(self, message: bytes, urgent: bool) -> None:
        told: Shown = msgspec.json.decode(message)
        match told["type"]:
            case "welcome":
                self.welcome = told
            case "refused":
                self._refused = told
            case "begin":
                self.finished = None  # an organiser may void a match after the end
                if len(self._seats) > NEWS:
                    del self._seats[next(iter(self._seats))]
                self._seats[told["match"]] = told["you"]
                self._look()
            case "end":
                self.last = told
                self._news.append(told)
                if self._unheard is not None:  # it would be dealt the next match in this same moment
                    self._note_silence(trio.current_time())
            case "standings":
                self.finished = told["tournament"]
                self._news.append(told)
                self._note_reading()
            case _:
                pass  # made anew when the model calls, with the clocks of that moment
        self._wake()

    def _look(self) -> None:
        """A match begins. A model that is in no call has not heard of it, and may have stopped playing.

        Where nobody waits for long before a first move, it has to call. In a tournament the clock decides.
        """
        seat = self.seat
        if seat is not None and not self._waits and seat.early_grace < inf:
            self._unheard = seat
            seat.away(lost=False)

    def _hang_up(self, reason: str) -> None:
        if self.over is None:
            self.over = reason
            house, self._house = self._house, None
            if house is not None:
                house.gone()
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
