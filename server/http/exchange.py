"""One HTTP request and the right to answer it: what an application sees of HTTP.

An application is one function of an `Exchange`. It answers at once; or it keeps the
exchange, so that other code can answer minutes later and from anywhere; or it opens
a stream. If it has to wait itself, it is async. It may raise `HttpError` for a
request that it cannot answer. Connections are in `server/http/service.py`.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from server.http.loan import Loan
from server.http.wire import Headers, Request, Response

App = Callable[["Exchange"], Awaitable[object] | None]


class Answers(Protocol):
    """What an exchange asks of its connection. Only the exchange whose turn it is can send anything."""

    def respond(self, exchange: "Exchange", response: Response) -> None: ...
    def open(self, exchange: "Exchange", status: int, headers: Headers) -> None: ...
    def put(self, exchange: "Exchange", content: bytes) -> None: ...
    def taken(self, exchange: "Exchange") -> bool: ...
    async def drained(self, exchange: "Exchange") -> bool: ...
    def close(self, exchange: "Exchange") -> None: ...
    def lend(self, exchange: "Exchange") -> Loan | None: ...
    def authenticated(self) -> None: ...

    async def vanished(self, exchange: "Exchange") -> bool:
        """Whether the client is gone, as far as can be found out: by itself, it may know no more."""
        return exchange.gone


class Exchange:
    """One request, and the right to answer it: once, whole or bit by bit.

    `gone` says that the client has hung up. Answering it anyway does no harm. `shared` is set before there
    is an answer, if pages of any site may read it. `decides` is set where the answer says whether an order
    was carried out: nobody else can give it, also when the host stops.
    """

    __slots__ = (
        "_connection",
        "begun",
        "callbacks",
        "decides",
        "gone",
        "over",
        "pending",
        "request",
        "shared",
    )

    def __init__(self, request: Request, connection: Answers) -> None:
        self.request = request
        self.gone = False
        self.over = False  # the answer is complete
        self.shared = False
        self.decides = False
        self.pending = False  # a task of the application is at it
        self.begun: Callable[[], None] = _do_nothing  # called when an answer begins that is given bit by bit
        self.callbacks: tuple[Callable[[], object], ...] = ()  # what `on_gone` was given
        self._connection = connection

    def respond(self, response: Response) -> None:
        """Answer. A second answer raises RuntimeError: the client would take it for that to the next request.

        Answers longer than `limits.outbox_bytes` have to be streamed, in pieces.
        """
        self._connection.respond(self, response)

    def stream(self, status: int = 200, headers: Headers = ()) -> "Chunks":
        """Answer bit by bit: an event stream, or lines without an end."""
        self.begun()
        self._connection.open(self, status, headers)
        return Chunks(self, self._connection)

    def on_gone(self, callback: Callable[[], object]) -> None:
        """Have `callback` called when the client hangs up before the answer is complete; now, if it has."""
        if self.gone:
            callback()
        elif not self.over:
            self.callbacks += (callback,)

    def end(self) -> None:
        """The answer is complete. Drop the callbacks, which often hold this, or its stream."""
        self.over, self.callbacks = True, ()

    async def vanished(self) -> bool:
        """Whether the client's machine answers no more, which may take seconds; then it has hung up."""
        return await self._connection.vanished(self)

    async def preceded(self) -> bool:
        """Wait until the client has taken all earlier answers; False if it is gone."""
        return await self._connection.drained(self)

    def lend(self) -> Loan | None:
        """Leave this request, and the connection with it, to another process; None if that cannot be now.

        It can when the client has taken all earlier answers. Until the connection is back, or this was
        answered after all, it is reached through the loan.
        """
        return self._connection.lend(self)

    def authenticated(self) -> None:
        """The client has shown who it is, and a flood of strangers no longer drives it out."""
        self._connection.authenticated()


class Chunks:
    """An answer under way. What is put after its end, or to a client that is gone, goes nowhere."""

    __slots__ = ("_connection", "exchange")

    def __init__(self, exchange: Exchange, connection: Answers) -> None:
        self.exchange = exchange
        self._connection = connection

    def put(self, content: bytes) -> None:
        """Send exactly one chunk; none if `content` is empty."""
        self._connection.put(self.exchange, content)

    @property
    def taken(self) -> bool:
        """Whether the client has taken all that was put; if not, what can wait should not be put yet."""
        return self._connection.taken(self.exchange)

    async def drained(self) -> bool:
        """Wait until the client has taken what was put: between the pieces of a long answer.

        False if it is gone. A client that takes nothing for too long is cut off.
        """
        return await self._connection.drained(self.exchange)

    def close(self) -> None:
        """The answer is complete."""
        self._connection.close(self.exchange)


def _do_nothing() -> None:
    """Nobody wants to know that an answer begins."""
