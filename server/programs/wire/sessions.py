"""The house protocol over HTTP, for trials of a client: sessions, and the requests of their connections.

`docs/protocols/house-http.md` describes it. The trial decides what a session is
told, and when.
"""

import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from server.http.head import HttpError
from server.http.wire import JSON, Request, Requests, Response, chunk, opening, refused, written
from server.net.escaping import safe
from server.net.limits import Limits
from server.programs.wire.talk import PLAIN, Connection, Manner

LIMITS = Limits()
STREAM = (("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"))
UNKNOWN = "there is no such session; say hello again, with your token: POST /play"


class Caller:
    """One connection for requests: the next is read when the last was answered."""

    def __init__(self, sessions: "Sessions") -> None:
        self._sessions = sessions
        self._requests = Requests(LIMITS)
        self._waits = False
        self.connection: Connection | None = None

    def receive(self, received: bytes) -> None:
        if not received:
            self._sessions.hung_up(self)
            return
        self._requests.feed(received)
        self._go_on()

    def respond(self, response: Response, manner: Manner = PLAIN) -> None:
        self.send(written(response, shared=True), manner)
        self._waits = False

    def send(self, content: bytes, manner: Manner = PLAIN) -> None:
        if self.connection is not None:
            self.connection.send(content, manner)

    def _go_on(self) -> None:
        try:
            while not self._waits and (request := self._requests.next(time.monotonic())) is not None:
                self._waits = True
                self._sessions.answer(self, request)
        except HttpError as error:
            self._sessions.broken(str(error))
            self.respond(refused(error.status, str(error)))
            if self.connection is not None:
                self.connection.finish()

    def release(self) -> None:
        """Read what was sent while the last request waited for its answer."""
        self._go_on()


class Session:
    """What one client was told, and where it listens."""

    door = "http"

    def __init__(self, hello: bytes, opener: Caller) -> None:
        self.name = secrets.token_urlsafe(16)
        self.heard = deque([hello])
        self.gone = False
        self._why = ""  # why it is over
        self._told: list[bytes] = []
        self._manner = PLAIN  # of the last message
        self._opener: Caller | None = opener
        self._poll: tuple[Caller, int, float] | None = None  # after which message, and until when
        self._stream: Caller | None = None

    def say(self, messages: Sequence[bytes], manner: Manner = PLAIN) -> None:
        first, self._manner = len(self._told), manner
        self._told += [
            b'%b,"seq":%d}' % (message[:-1], number) for number, message in enumerate(messages, first + 1)
        ]
        if self._opener is not None:
            opener, self._opener = self._opener, None
            body = b'%b,"session":"%b"}' % (self._told[0][:-1], self.name.encode())
            opener.respond(Response(201, (*JSON, ("Location", f"/play/{self.name}")), body), manner)
            opener.release()
        if self._stream is not None:
            self._stream.send(self._events(first), manner)
        self.sweep(0.0)

    def hang_up(self, why: str) -> None:
        self.gone, self._why = True, why
        self.sweep(0.0)

    def hear(self, caller: Caller, request: Request) -> None:
        if self.gone:
            raise HttpError(410, f"the session is over: {self._why}")
        self.heard.append(request.body)
        caller.respond(_json(b'{"seq":%d}' % len(self._told)))

    def listen(self, caller: Caller, request: Request) -> None:
        after = request.query.get("after", request.headers.get("last-event-id", "0"))
        if not (after.isascii() and after.isdigit()):
            raise HttpError(400, "after is the number of the last message that you have, or 0")
        if "after" in request.query:
            self._poll = caller, int(after), time.monotonic() + LIMITS.poll_seconds
            self.sweep(0.0)
        else:
            self._stream = caller
            start = opening(200, STREAM, chunked=not request.old, shared=True)
            caller.send(start + self._events(int(after)), self._manner)

    def sweep(self, now: float) -> None:
        """Answer the poll, if there is something to say or it has waited for long enough."""
        if self._poll is None:
            return
        caller, after, until = self._poll
        behind = self._told[after:]
        if not behind and not self.gone and now < until:
            return
        self._poll = None
        if behind or not self.gone:
            caller.respond(_json(b"[%b]" % b",".join(behind)), self._manner)
        else:
            caller.respond(refused(410, f"the session is over: {self._why}"))
        caller.release()

    def hung_up(self, caller: Caller) -> None:
        if self._poll is not None and self._poll[0] is caller:
            self._poll = None
        if self._stream is caller:
            self._stream = None

    def _events(self, after: int) -> bytes:
        told = enumerate(self._told[after:], after + 1)
        return b"".join(chunk(b"id: %d\ndata: %b\n\n" % (number, message)) for number, message in told)


class Sessions:
    """All sessions, and the requests to them."""

    def __init__(self, arrived: Callable[[Session], None], broken: Callable[[str], None]) -> None:
        self._arrived = arrived
        self._sessions: dict[str, Session] = {}
        self.broken = broken

    def answer(self, caller: Caller, request: Request) -> None:
        match request.method, request.path.split("/")[1:]:
            case "POST", ["play"]:
                session = Session(request.body, caller)
                self._sessions[session.name] = session
                self._arrived(session)
            case "POST", ["play", name] if name in self._sessions:
                self._answered(caller, partial(self._sessions[name].hear, caller, request))
            case "GET", ["play", name] if name in self._sessions:
                self._answered(caller, partial(self._sessions[name].listen, caller, request))
            case "GET" | "POST", ["play", _]:
                caller.respond(refused(404, UNKNOWN))
            case method, _:
                raise HttpError(404, f"there is no {method} {safe(request.path)}; there is POST /play")

    def sweep(self, now: float) -> None:
        for session in tuple(self._sessions.values()):
            session.sweep(now)

    def hung_up(self, caller: Caller) -> None:
        for session in self._sessions.values():
            session.hung_up(caller)

    def forget(self) -> None:
        """Forget all sessions, as after a crash."""
        self._sessions.clear()

    def _answered(self, caller: Caller, act: Callable[[], None]) -> None:
        try:
            act()
        except HttpError as error:  # the session's own error, after which the connection goes on
            caller.respond(refused(error.status, str(error)))


def _json(body: bytes) -> Response:
    return Response(200, JSON, body)
