"""One relayed request over HTTP, at either end of a link.

`Asking` is at the client's host: it asks the other host and hands the answer on. `Answering` is
at the tournament's host: a request like any other, whose answer goes back over the link, whole
or bit by bit, as fast as the client takes it.
"""

from collections.abc import Callable

import trio

from server.http.exchange import Answers, App, Chunks, Exchange
from server.http.head import RETRY_SOON, HttpError, told_of
from server.http.loan import Loan
from server.http.undecided import is_order, undecided
from server.http.wanted import LINGER
from server.http.wire import Headers, Request, Response, refused
from server.net.guard import Guard
from server.peers.channel import Channel
from server.peers.messages import (
    WINDOW,
    Answer,
    Ask,
    Begun,
    Closed,
    Credit,
    Finished,
    Known,
    Message,
    Say,
)

MOST = 1 << 20  # bytes of a stream that a client may leave untaken, as at any door
LOST = "the host that holds this was lost; ask again in a second"


class Asking(Channel):
    """The client is at this host."""

    def __init__(
        self,
        number: int,
        say: Callable[[Message], None],
        exchange: Exchange,
        *,
        organiser: bool,
        again: bool = False,
    ) -> None:
        """The `organiser` has shown this host's own token, which other hosts need not have."""
        super().__init__(number, say)
        self._exchange = exchange
        self._chunks: Chunks | None = None
        self._taken = 0  # bytes of the answer that the client has to take before more credit is given
        self._complete = False
        self._awaiting = trio.CancelScope()  # around what waits for the answer
        request = exchange.request
        exchange.decides = is_order(request)
        say(Ask(
            number, request.method, request.path, dict(request.query), dict(request.headers), request.body,
            request.peer, trio.current_time() - request.arrived, request.secure, request.asked, request.old,
            organiser, again,
        ))  # fmt: skip
        exchange.on_gone(self._tell_gone)

    async def relay(self) -> None:
        """Relay until all is answered; raises `HttpError` if the other host is lost before that.

        Of an order nobody knows then whether it was carried out, and the client is told so.
        """
        try:
            with self._awaiting:
                while not self.over and not self._complete:
                    if self._taken and self._chunks is not None:
                        size = self._taken
                        if not await self._chunks.drained():
                            return
                        self._taken -= size
                        self.say(Credit(self.number, size))
                    else:
                        await self.news()
            if not self._complete and not self._exchange.gone:
                if self._exchange.decides and self._chunks is None:
                    return self._exchange.respond(undecided(self._exchange.request))
                raise HttpError(503, LOST, RETRY_SOON)
        finally:
            self.say(Closed(self.number))

    def hear(self, message: Message) -> None:
        match message:
            case Answer(status=status, headers=headers, body=body, own=own, shared=shared):
                self._complete = True
                self._exchange.shared = shared
                self._exchange.respond(Response(status, headers, body, own))
            case Begun(status=status, headers=headers, shared=shared):
                self._exchange.shared = shared
                self._chunks = self._exchange.stream(status, headers)
            case Say(content=content) if self._chunks is not None:
                self._chunks.put(content)
                self._taken += len(content)
            case Finished():
                self._complete = True
                if self._chunks is not None:
                    self._chunks.close()
            case Known():
                self._exchange.authenticated()
            case _:
                pass
        super().hear(message)

    def _tell_gone(self) -> None:
        """The client has hung up, or ended its side alone and still reads."""
        self.say(Finished(self.number))
        self._awaiting.deadline = trio.current_time() + LINGER


class Answering(Channel, Answers):
    """The request is answered at this host."""

    def __init__(self, asked: Ask, say: Callable[[Message], None], token: str) -> None:
        """`token` is this host's own, by which it knows an organiser."""
        super().__init__(asked.channel, say)
        headers = asked.headers
        if asked.organiser:
            headers = headers | {"authorization": f"Bearer {token}"}
        arrived = trio.current_time() - asked.age
        request = Request(
            asked.method, asked.path, asked.query, headers, asked.body, asked.peer, arrived, asked.secure,
            asked.written, asked.old,
        )  # fmt: skip
        self.exchange = Exchange(request, self)
        self.again = asked.again
        self._streaming = False

    async def answer(self, app: App, guard: Guard) -> None:
        """Have an application answer. Errors are told as at any door."""
        try:
            if (pending := app(self.exchange)) is not None:
                await pending
        except Exception as error:
            if not isinstance(error, HttpError):
                guard.report(error)
            self.refuse(told_of(error))

    def hear(self, message: Message) -> None:
        super().hear(message)
        if isinstance(message, Closed | Finished):
            self._lose()

    def lost(self, silent: float = 0.0) -> None:
        super().lost(silent)
        self._lose()

    # What an exchange does

    def respond(self, exchange: Exchange, response: Response) -> None:
        if self._unanswered():
            self.say(
                Answer(
                    self.number,
                    response.status,
                    response.headers,
                    response.body,
                    response.own,
                    exchange.shared,
                )
            )
            exchange.end()

    def open(self, exchange: Exchange, status: int, headers: Headers) -> None:
        if self._unanswered():
            self._streaming = True
            self.say(Begun(self.number, status, headers, exchange.shared))
            if exchange.request.method == "HEAD":
                exchange.gone = True  # nothing is streamed after the head
                self.close(exchange)

    def put(self, exchange: Exchange, content: bytes) -> None:
        if not content or exchange.over or self.over:
            return
        if WINDOW - self.credit + len(content) > MOST:
            self.say(Closed(self.number))  # the client takes nothing
            self.lost()
            return
        self.credit -= len(content)
        self.say(Say(self.number, content))

    def taken(self, exchange: Exchange) -> bool:
        return self.credit >= WINDOW and not self.over and not exchange.over

    async def drained(self, exchange: Exchange) -> bool:
        while not self.over and not exchange.over and self.credit < WINDOW:
            await self.news()
        return not self.over and not exchange.over

    def close(self, exchange: Exchange) -> None:
        if not exchange.over and not self.over:
            self.say(Finished(self.number))
            exchange.end()

    def lend(self, exchange: Exchange) -> Loan | None:
        """There is no descriptor to lend."""
        return None

    def authenticated(self) -> None:
        self.say(Known(self.number))

    def _unanswered(self) -> bool:
        answered = self._streaming or self.exchange.over
        if answered and not self.over and not self.exchange.gone:
            raise RuntimeError("a request was answered twice")
        return not self.over and not answered

    def refuse(self, error: HttpError) -> None:
        if self._streaming:
            self.say(Closed(self.number))
            self.lost()
        elif not self.exchange.over:
            self.respond(self.exchange, refused(error.status, str(error), *error.headers))

    def _lose(self) -> None:
        exchange = self.exchange
        if not exchange.over:
            callbacks, exchange.callbacks, exchange.gone = exchange.callbacks, (), True
            for callback in callbacks:
                callback()
