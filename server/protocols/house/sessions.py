"""The house protocol over HTTP: a session, where other transports have a connection.

`POST /play` says hello and opens a session, whose address nobody else knows.
`POST` to that address says something; `GET` returns what there is to tell, as an event
stream or, with `?after=7`, by a long poll. `server/protocols/house/talk.py` knows what
the messages mean, and `docs/protocols/house-http.md` is the page for authors of bots.

A bot is there while it listens, and for a minute after each of its requests; the
first has to come soon after the welcome, which may be lost on its way. It is dealt a
match only while it listens or has just been heard. Where its opponent's time would be
wasted, a bot that has not moved yet is gone at once when it neither listens nor thinks
about a question that it has received.
"""

import secrets
from collections import deque
from collections.abc import Callable, Iterable
from math import inf

import structlog
import trio

from server.host.host import Host
from server.host.unwelcome import STOPPING
from server.http.exchange import Chunks, Exchange
from server.http.head import HttpError
from server.http.sharing import BOTS
from server.http.wire import JSON, PRIVATE, Response, event_stream, json_response
from server.net.admission import network_of
from server.net.escaping import safe
from server.net.pauses import WithPauses
from server.protocols.common.http_tape import requested, responded
from server.protocols.common.unwelcome import status_of
from server.protocols.dialect import Channel
from server.protocols.house import messages
from server.protocols.house.talk import HELLO, HouseTalk
from tournament.player import Seat

SWEEP = 1.0  # seconds between looks at who is silent: limits on silence are no more exact
STREAM = event_stream(*PRIVATE)
AT_A_TIME = 50  # sessions looked at before other tasks get their turn: all of them may be over at once
LONGEST = 10  # digits of a message's number

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class HouseHttp:
    paths = frozenset({"play"})
    sharing = BOTS

    def __init__(self, host: Host) -> None:
        self._host = host
        self._sessions: dict[str, Session] = {}
        self._sweeping = False

    def answer(self, exchange: Exchange) -> None:
        method, path = exchange.request.method, exchange.request.path
        match path.split("/")[1:]:
            case ["play"] if method == "POST":
                self._open(exchange)
            case ["play"]:
                _refuse_method(exchange, "POST")
            case ["play", name] if name in self._sessions:
                self._at(self._sessions[name], exchange)
            case ["play", _]:
                raise HttpError(404, "there is no such session; say hello again, with your token: POST /play")
            case _:
                raise HttpError(404, f"there is nothing at {safe(path)}")

    def _at(self, session: "Session", exchange: Exchange) -> None:
        exchange.authenticated()
        match exchange.request.method:
            case "POST":
                try:
                    session.hear(exchange)
                except Exception as error:
                    session.failed(error)
                    raise
            case "GET":
                session.listen(exchange)
            case _:
                _refuse_method(exchange, "GET, POST")

    def _open(self, exchange: Exchange) -> None:
        limits = self._host.limits
        try:
            said = messages.read(exchange.request.body, limits.json_line_bytes)
        except messages.Unreadable as error:
            raise HttpError(400, str(error)) from None
        if not isinstance(said, messages.Hello):
            raise HttpError(400, HELLO)
        origin = network_of(exchange.request.peer, limits.trust_loopback)
        mine = [session for session in self._sessions.values() if origin and session.origin == origin]
        if len(mine) >= limits.connections_per_address and not self._forget_one_of(mine):
            raise HttpError(429, "too many sessions were opened from your address: end some with a bye")
        if len(self._sessions) >= limits.sessions and not self._forget_one_of(self._sessions.values()):
            raise HttpError(503, "too many sessions are open: come again later")
        session = Session(self._host, origin, self._forget)
        self._sessions[session.name] = session
        if not self._sweeping:
            self._sweeping = True
            self._host.guard.start_soon(self._sweep)
        session.open(exchange)

    def _forget_one_of(self, sessions: Iterable["Session"]) -> bool:
        """Forget the oldest that is over, which its bot may still read; False if there is none."""
        session = next((each for each in sessions if each.is_over), None)
        if session is not None:
            self._forget(session)
        return session is not None

    def _forget(self, session: "Session") -> None:
        self._sessions.pop(session.name, None)
        self._host.on_key_gone(session.name)

    async def _sweep(self) -> None:
        try:
            last = trio.current_time()
            while self._sessions:
                await trio.sleep(SWEEP)
                now = trio.current_time()
                async for session in WithPauses(self._sessions.values(), AT_A_TIME):
                    if session.name in self._sessions:
                        session.sweep(now, last)
                last = now
        finally:
            self._sweeping = False


class Session:
    """What one bot was told, and where it listens now: only at the last place that it chose."""

    def __init__(self, host: Host, origin: str, forget: Callable[["Session"], None]) -> None:
        self.name = secrets.token_urlsafe(16)
        self.origin = origin  # the network from which it was opened; "" where these are not counted
        self._limits = host.limits
        self._host = host
        self._forget = forget
        self._house: HouseTalk | None = None
        self._opening: Exchange | None = None  # the hello, until it is answered
        self._inside = False
        self._over: str | None = None  # why nothing more will be said
        self._last = 0  # the number of the last message, counted from 1 …
        self._said = trio.current_time()  # … and when it was said
        self._kept: deque[bytes] = deque()  # the latest messages
        self._size = 0  # of these messages, in bytes
        self._got = 0  # the number of the last message that the bot has received, as far as we know
        self._questions = 0  # how many were asked before the last message …
        self._asked = self._said  # … and when the last of them was
        self._stream: Chunks | None = None
        self._poll: Exchange | None = None
        self._until = 0.0  # when the poll is answered in any case, or the next heartbeat is due
        self._deadline = self._said + self._limits.session_seconds  # when the bot is gone, unless it listens
        self._heard = self._said  # when the bot was last heard, or last listened
        self._missed: Seat | None = None  # the seat from which it seems to be away

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said."""
        return self._over is not None

    @property
    def _listening(self) -> bool:
        return self._stream is not None or self._poll is not None

    # What the bot does

    def open(self, exchange: Exchange) -> None:
        """Begin with a hello, which is answered by the welcome."""
        request, self._opening = exchange.request, exchange
        channel = Channel(self._host, self._say, self._hang_up, request.peer, self._authenticated)
        house = self._house = HouseTalk(channel, numbered=True)
        exchange.on_gone(self._abandon)
        house.hear(request.body, request.arrived)

    def hear(self, exchange: Exchange) -> None:
        """Take a message; the answer is the number of the last one that this bot was told."""
        request = exchange.request
        if self._house is None:
            raise HttpError(410, f"the session is over: {self._over}")
        self._stay(request.arrived)
        self._note_question()
        tape = self._house.attendance.tape
        tape.heard(request.body, request.arrived)
        self._house.hear(request.body, request.arrived, request.arrived >= self._asked)
        self._look()
        answer = json_response(200, {"seq": self._last}, *PRIVATE)
        tape.told(responded(answer))
        exchange.respond(answer)

    def failed(self, error: Exception) -> None:
        """Taking a message has raised `error`."""
        if self._house is not None and not isinstance(error, HttpError):
            self._house.attendance.failed(error)

    def listen(self, exchange: Exchange) -> None:
        """Tell the bot here from now on: by a long poll if the query has `after`, else by an event stream."""
        polls = "after" in exchange.request.query
        after = _number(
            exchange.request.query["after"] if polls else exchange.request.headers.get("last-event-id", "")
        )
        oldest = self._last - len(self._kept)
        if after is None and polls:
            raise HttpError(400, "after is the number of the last message that you have, or 0")
        if after is not None and after < oldest:
            raise HttpError(410, f"messages up to {oldest} are gone; say hello again, with your token")
        behind = list(self._kept)[max(0, (after or 0) - oldest) :]
        if not behind and self._over is not None:
            raise HttpError(410, f"the session is over: {self._over}")
        self._stop_listening()
        if self._house is not None:
            tape, request = self._house.attendance.tape, exchange.request
            tape.heard(requested(request, self.name), request.arrived)
        now = trio.current_time()
        if not polls:
            self._stream = exchange.stream(200, STREAM)
            self._host.on_stop.add(self)
            self._until = now + self._limits.heartbeat_seconds
            for number, message in enumerate(behind, self._last - len(behind) + 1):
                self._stream.put(_event(number, message))
            if self._over is not None:
                self._stop_listening()
        elif behind:
            exchange.respond(_answer(behind))
        else:
            self._poll, self._until = exchange, now + self._limits.poll_seconds
        self._got = self._last
        self._note_reading()
        self._stay(now)
        self._look()
        exchange.on_gone(lambda: self._gone(exchange))

    def sweep(self, now: float, last: float) -> None:
        """Do what is due. A bot is gone only if that was so at the `last` look too.

        After the host has stood still, what the bot said in time lies unread in its socket at the first look.
        """
        if self._stream is not None and now >= self._until:
            self._until = now + self._limits.heartbeat_seconds
            self._stream.put(b": still here\n\n")
        elif self._poll is not None and now >= self._until:
            self._stop_listening()
            self._look()
        elif not (self._listening or self._opening) and last >= self._deadline:
            if self._house is None:
                self._forget(self)
            else:
                log.info("gone", peer=self.origin, why="silence")
                self._hang_up("nothing was heard from the bot for too long")
        else:
            self._note_silence(now)

    def say_goodbye(self) -> None:
        """The host stops: end the stream. A poll is answered as any request is that is held then."""
        if self._house is not None:
            self._house.give_up(STOPPING)

    def _gone(self, exchange: Exchange) -> None:
        """The client that listened there has hung up."""
        if self._poll is exchange:
            self._poll = None
        if self._stream is not None and self._stream.exchange is exchange:
            self._drop_stream()
        self._stay(trio.current_time())
        self._look()

    def _abandon(self) -> None:
        """The client that said hello has hung up before there was an answer."""
        if self._opening is not None:
            self._opening = None
            self._hang_up("the client hung up")
            self._forget(self)

    def _stay(self, at: float) -> None:
        self._heard = max(self._heard, at)
        self._deadline = max(self._deadline, at + self._limits.session_seconds)
        if self._house is not None:
            self._house.attendance.heard()
        self._miss(None)

    def _note_silence(self, now: float) -> None:
        """If the bot has not been heard for a while, deal it nothing until it is."""
        silent = not self._listening and now >= self._heard + self._limits.ghost_seconds
        if silent and self._house is not None:
            self._house.attendance.silent()

    def _look(self) -> None:
        """Check whether the bot is at its match, if it may not be gone for long."""
        seat = None if self._house is None else self._house.attendance.seat
        self._miss(seat if seat is not None and not self._may_be_at(seat) else None)

    def _may_be_at(self, seat: Seat) -> bool:
        """Whether it listens, or has its question and thinks; after its first move the clock decides."""
        thinks = seat.to_move and self._got == self._last
        return self._listening or thinks or seat.early_grace == inf

    def _miss(self, seat: Seat | None) -> None:
        if seat is not None:
            seat.away(lost=False)
        elif self._missed is not None:
            self._missed.here()
        self._missed = seat

    def _drop_stream(self) -> Chunks | None:
        self._host.on_stop.discard(self)
        stream, self._stream = self._stream, None
        return stream

    def _stop_listening(self) -> None:
        stream = self._drop_stream()
        poll, self._poll = self._poll, None
        if stream is not None:
            stream.close()
        if poll is not None:
            poll.respond(_answer([]))
        self._stay(trio.current_time())

    # What the house does

    def _authenticated(self) -> None:
        self._inside = True
        if self._opening is not None:
            self._opening.authenticated()

    def _say(self, message: bytes, urgent: bool) -> None:
        # Sent at once, `urgent` or not: what a move led to is told before the move's request is answered.
        self._note_question()
        self._last += 1
        self._said = trio.current_time()
        self._kept.append(message)
        self._size += len(message)
        while len(self._kept) > 1 and (
            len(self._kept) > self._limits.outbox_messages or self._size > self._limits.outbox_bytes
        ):
            self._size -= len(self._kept.popleft())
        if self._opening is not None:
            self._answer_hello(self._opening, message)
        elif self._stream is not None:
            self._until = self._said + self._limits.heartbeat_seconds
            self._stream.put(_event(self._last, message))
            self._got = self._last
        elif self._poll is not None:
            poll, self._poll = self._poll, None
            self._got = self._last
            self._stay(self._said)
            poll.respond(_answer([message]))
        self._note_reading()
        self._look()
        self._note_silence(self._said)

    def _note_reading(self) -> None:
        """Note whether the bot has been sent all that it was told."""
        if self._house is not None:
            self._house.attendance.unread = self._got < self._last
            if self._got == self._last:
                self._house.has_read()

    def _answer_hello(self, exchange: Exchange, message: bytes) -> None:
        self._opening = None
        if self._inside:
            self._host.on_key(self.name)
            location = ("Location", f"/play/{self.name}")
            body = b'%b,"session":"%b"}' % (message[:-1], self.name.encode())
            exchange.respond(Response(201, (*JSON, *PRIVATE), body, own=(location,)))
            self._deadline = self._said + self._limits.session_begin_seconds
        else:
            exchange.respond(self._refused(message))
            self._hang_up("the hello was refused")
            self._forget(self)

    def _refused(self, message: bytes) -> Response:
        """The answer to a hello that was refused with this message."""
        why = None if self._house is None else self._house.too_often
        status, headers = status_of(why, 403, draining=self._host.draining)
        return Response(status, (*JSON, *headers), message)

    def _hang_up(self, reason: str) -> None:
        """Say nothing more; what was said can still be read."""
        if self._house is not None:
            house, self._house = self._house, None
            self._over = reason
            house.gone()
            self._stop_listening()

    def _note_question(self) -> None:
        """Note when a question was asked: it is then the last message that was said."""
        if self._house is not None and self._house.attendance.asked != self._questions:
            self._questions = self._house.attendance.asked
            self._asked = self._said


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST else None


def _event(number: int, message: bytes) -> bytes:
    return b"id: %d\ndata: %b\n\n" % (number, message)


def _answer(told: list[bytes]) -> Response:
    return Response(200, JSON + PRIVATE, b"[%b]" % b",".join(told))


def _refuse_method(exchange: Exchange, allowed: str) -> None:
    why = f"this takes {allowed}, not {exchange.request.method}"
    exchange.respond(json_response(405, {"error": why}, ("Allow", allowed)))
