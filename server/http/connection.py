"""One client's HTTP connection: requests in, answers out in the same order, one at a time.

If the application answers at once, there is no task switch between reading the
request and writing the response: the task that reads a request calls the application and
writes what it returns. Requests that a client sends ahead wait, within bounds.

Everything except reading is a plain call; `server/http/service.py` watches the deadline.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol

import structlog
import trio
from msgspec.structs import replace

from server.http import bare_page
from server.http.exchange import Answers, App, Exchange
from server.http.head import RETRY_LATER, HttpError, told_of
from server.http.loan import Loan
from server.http.pipelined import Pipelined
from server.http.wire import (
    CONTINUE,
    EVENTS,
    LAST_CHUNK,
    Headers,
    Request,
    Requests,
    Response,
    check_coding,
    chunk,
    json_response,
    opening,
    refused,
    written,
)
from server.net.guard import Guard, Waiting, start_in_turn
from server.net.limits import Limits
from server.net.outbox import Outbox
from server.net.proxies import HEADER
from server.net.still_there import VANISHED
from server.net.wire import Piece, Served, Wire

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Shared(Protocol):
    """What all connections of a server share."""

    app: App
    guard: Guard
    limits: Limits
    draining: bool  # every answer is the last of its connection
    pending: Waiting  # requests that wait for their answers, from when they begin to
    now: Callable[[], float]  # trio's clock

    def ended(self, connection: "Connection") -> None: ...


class KnownClient(Protocol):
    """What is known of the client; `server/net/admission.py` has those that were admitted."""

    @property
    def proxied(self) -> bool: ...
    def client(self, forwarded: str) -> str: ...
    def objection(self, named: str) -> str: ...
    def authenticated(self) -> None: ...


class Connection(Answers):
    """One client: requests in, answers out in the same order, one at a time."""

    __slots__ = (
        "_advancing",
        "_app",
        "_arrived",
        "_chunked",
        "_events",
        "_exchange",
        "_holding",
        "_http",
        "_lent",
        "_named",
        "_outbox",
        "_parting",
        "_proxy",
        "_requests",
        "_stage",
        "_streaming",
        "_turn",
        "_visitor",
        "_waiting",
        "_wire",
        "deadline",
    )

    def __init__(
        self,
        http: Shared,
        wire: Wire,
        visitor: KnownClient | None,
        app: App | None = None,
        ahead: Sequence[Piece] = (),
    ) -> None:
        """`app` is this connection's own, if it has one; `ahead` is what was read before."""
        self._http = http
        self._app = app or http.app
        self._wire = wire
        self._outbox = Outbox(wire, http.guard, http.limits)
        self._requests = Requests(http.limits, wire.peer, wire.secure)
        self._arrived = trio.current_time()  # when the latest bytes arrived
        self._stage = "idle"  # what the client was in the middle of when its deadline was set
        self._exchange: Exchange | None = None  # the request to be answered …
        self._streaming = False  # … whether it is being answered bit by bit …
        self._chunked = True  # … in chunks or, for clients that do not know these, until the end …
        self._events = False  # … with events, of which no number is the whole
        self._lent = False  # … or by another process
        self._waiting = Pipelined(ahead) if ahead else None  # what came meanwhile
        self._advancing = False
        self._holding = False  # no request is served until the client has taken earlier answers
        self._turn: trio.Event | None = None  # set when the answer has been given
        self._parting = False  # everything was sent; the client may still be reading
        self._visitor = visitor
        self._named = ""  # the last name to which there was no objection
        self._proxy = visitor if visitor is not None and visitor.proxied else None  # says who is behind it
        self.deadline = self._arrived + http.limits.head_seconds

    async def run(self) -> Served | None:
        """Serve it to its end; if it is parked before, returns this method, which goes on then."""
        parked = False
        try:
            if self._waiting:
                self._advance(trio.current_time())
            while True:
                if parked := self._wire.park(self._take):
                    return self.run
                if await self._wire.pump(self._take):
                    break
            await self._finish()
        finally:
            if not parked:
                self._parting = True
                if self._exchange is not None:
                    self._lose(self._exchange)
                    self._exchange = None
                self._wire.close()
                self._http.ended(self)
        return None

    # What an exchange does.

    def respond(self, exchange: Exchange, response: Response) -> None:
        if self._unanswered(exchange):
            if response.status == 503:
                response = _with_when(response)
            only_head, last = exchange.request.method == "HEAD", self._last()
            self._outbox.put(written(response, only_head=only_head, last=last, shared=exchange.shared))
            self._over(last)

    def open(self, exchange: Exchange, status: int, headers: Headers) -> None:
        if self._unanswered(exchange):
            head = self._requests.head
            self._chunked = head is None or not head.old
            last, shared = self._last(), exchange.shared
            self._outbox.put(opening(status, headers, chunked=self._chunked, last=last, shared=shared))
            self._streaming, self._events = True, EVENTS in headers
            if exchange.request.method == "HEAD":
                exchange.gone = True  # nothing is streamed after the head
                self._over(self._last())
            elif not (self._chunked or self._events):  # only its end says that it is whole
                self._wire.mark_incomplete()

    def put(self, exchange: Exchange, content: bytes) -> None:
        if exchange is self._exchange and content:  # an empty chunk would say that it is the last
            self._outbox.put(chunk(content) if self._chunked else content)

    def taken(self, exchange: Exchange) -> bool:
        return self._outbox.empty and exchange is self._exchange

    async def drained(self, exchange: Exchange) -> bool:
        return await self._outbox.drained(math.inf) and exchange is self._exchange

    def close(self, exchange: Exchange) -> None:
        if exchange is self._exchange:
            if self._chunked:
                self._outbox.put(LAST_CHUNK)
            self._over(self._last())

    def lend(self, exchange: Exchange) -> Loan | None:
        if exchange is not self._exchange or self._streaming or not self._outbox.empty:
            return None
        if (passed := self._wire.let_go()) is None:
            return None
        request, left = self._requests.give_up(exchange.request.body)
        ahead = [(left, self._arrived)] if left else []
        ahead += self._waiting or ()
        self._waiting = None
        self._streaming = self._lent = True  # it is not answered here
        return Loan(self, self._wire, passed, exchange.request, (request, exchange.request.arrived), ahead)

    def resume(self, ahead: Sequence[Piece], answer: Response | None, *, last: bool = False) -> None:
        """Go on, back from a loan, with what was read, after `answer`, if the request has none yet."""
        exchange, self._streaming, self._lent = self._exchange, False, False
        if self._parting or exchange is None:
            return
        self._waiting = Pipelined(ahead) if ahead else None
        if answer is None:
            now = trio.current_time()
            self._exchange = None
            self.deadline = now + self._http.limits.idle_seconds
            if self._turn is not None:
                self._turn.set()
            else:
                self._advance(now)
        elif last:
            only_head = exchange.request.method == "HEAD"
            self._outbox.put(written(answer, only_head=only_head, last=True, shared=exchange.shared))
            self._over(last)
        else:
            self.respond(exchange, answer)

    def ended(self) -> None:
        """End, back from a loan: the other process has said the last word, or goes on by itself."""
        self._parting, self._lent = True, False
        if self._turn is not None:
            self._turn.set()
        else:
            self._http.guard.start_soon(self._wire.conclude, self._http.limits.outbox_seconds, False)

    async def vanished(self, exchange: Exchange) -> bool:
        if not exchange.gone and exchange is self._exchange and not await self._wire.still_there():
            log.info("cut", peer=exchange.request.peer, why=VANISHED)
            self._outbox.cut(VANISHED)
            self._lose(exchange)
        return exchange.gone

    def authenticated(self) -> None:
        visitor, self._visitor = self._visitor, None  # once is enough
        if visitor is not None:
            visitor.authenticated()

    def _unanswered(self, exchange: Exchange) -> bool:
        if exchange is self._exchange and not self._streaming:
            return True
        if not exchange.gone:
            raise RuntimeError("a request was answered twice")
        return False

    def _over(self, last: bool) -> None:
        """The request is answered; the next one gets its turn, unless this was the last."""
        if self._exchange is not None:
            self._exchange.end()
        self._exchange = None
        self._streaming = self._events = False
        if last:
            self._part()
        elif not self._advancing:
            self.deadline = self._http.now() + self._http.limits.idle_seconds
            if self._turn is not None:
                self._turn.set()
            elif self._waiting or self._requests.left:
                self._http.guard.start_soon(self._go_on)

    @property
    def _gives(self) -> bool:
        """Whether a task gives an answer bit by bit that has an end, which a stream of events has not."""
        return self._streaming and not self._events and self._exchange is not None and self._exchange.pending

    def _last(self) -> bool:
        head = self._requests.head
        return self._http.draining or (head is not None and head.last)

    # What the client does.

    def _take(self, received: bytes) -> None:
        if self._parting:
            return
        if self._exchange is None and not self._waiting and not self._outbox.behind:
            self._arrived = self._wire.arrived
            self._requests.feed(received)
            self._advance(self._arrived)
        else:
            self._keep(received)
            if self._exchange is None:
                self._hold()

    def _keep(self, received: bytes) -> None:
        """Keep what the client sends ahead, within bounds; it is read when the answer has been given."""
        if self._waiting is None:
            self._waiting = Pipelined()
        self._waiting.add(received, self._wire.arrived)
        if self._waiting.size > self._http.limits.pipelined_bytes:
            self._outbox.cut("it sent too much while a request was not answered, or an answer not read")

    def _advance(self, now: float) -> None:
        """Serve requests until one is not answered at once, its answer not taken, or none is complete."""
        served = False
        self._advancing = True
        try:
            while self._exchange is None and not self._parting:
                if self._outbox.behind:
                    self._hold()
                    break
                if (request := self._requests.next(self._arrived)) is not None:
                    served = True
                    self._serve(request)
                elif self._waiting:
                    received, self._arrived = self._waiting.take()
                    self._requests.feed(received)
                else:
                    break
        except HttpError as refusal:
            self._refuse(refusal)
        finally:
            self._advancing = False
        if not (self._parting or self._holding):
            self._set_deadline(now, served)

    def _hold(self) -> None:
        """Serve no further request for now. Answers to a client that does not read would pile up."""
        if not self._holding and (self._waiting or self._requests.left):
            self._holding, self.deadline = True, math.inf  # the outbox has its own
            self._http.guard.start_soon(self._go_on_when_taken)

    async def _go_on_when_taken(self) -> None:
        taken = await self._outbox.drained(math.inf)
        self._holding = False
        if taken and self._exchange is None and not self._parting:
            now = trio.current_time()
            self.deadline = now + self._http.limits.idle_seconds
            self._advance(now)

    def _set_deadline(self, now: float, served: bool) -> None:
        """Set the time that the client has for its present stage. A trickle of bytes does not prolong it."""
        stage, limits = self._requests.stage, self._http.limits
        if self._exchange is not None:
            self.deadline = math.inf
        elif stage == "idle":
            if served:
                self.deadline = now + limits.idle_seconds
        elif served or stage != self._stage:
            self.deadline = now + (limits.head_seconds if stage == "head" else limits.body_seconds)
            if stage == "body" and self._requests.head is not None and self._requests.head.waits:
                self._outbox.put(CONTINUE)
        self._stage = stage

    def _serve(self, request: Request) -> None:
        if self._proxy is not None:
            request = replace(request, peer=self._proxy.client(request.headers.get(HEADER, "")))
        exchange = self._exchange = Exchange(request, self)
        try:
            if (named := request.headers.get("host", "")) != self._named and self._misnamed(exchange, named):
                return
            if "content-encoding" in request.headers:
                check_coding(request)
            pending = self._app(exchange)
        except Exception as error:
            self._fail(exchange, error)
        else:
            if pending is not None:
                exchange.pending = True
                later = partial(self._answered_later, exchange, pending)
                start_in_turn(self._http.guard, self._http.pending, later)

    def _misnamed(self, exchange: Exchange, named: str) -> bool:
        """Whether the request is refused because it calls this host by a name that is not its own."""
        if self._visitor is not None and (wrong := self._visitor.objection(named)):
            to_browser = bare_page.asks_for_page(exchange.request.headers)
            self.respond(exchange, bare_page.refusal(HttpError(421, wrong), to_browser=to_browser))
            return True
        self._named = named
        return False

    async def _answered_later(self, exchange: Exchange, pending: Awaitable[object]) -> None:
        try:
            await pending
        except Exception as error:
            self._fail(exchange, error)
        exchange.pending = False
        if self._turn is not None:
            self._turn.set()  # there may be no more to come, as where the client takes nothing

    async def _go_on(self) -> None:
        """Go on with what was sent ahead, outside the call that gave the last answer."""
        if self._exchange is None and not self._parting:
            self._advance(trio.current_time())

    def _fail(self, exchange: Exchange, error: Exception) -> None:
        """The application raised `error` over a request."""
        if not isinstance(error, HttpError):
            self._http.guard.report(error)
        if exchange is self._exchange:
            if self._streaming:
                self._outbox.cut("its stream failed")
            else:
                told = told_of(error)
                self.respond(exchange, refused(told.status, str(told), *told.headers))

    def _lose(self, exchange: Exchange) -> None:
        callbacks, exchange.callbacks = exchange.callbacks, ()
        exchange.gone = True
        for callback in callbacks:
            try:
                callback()
            except Exception as error:
                self._http.guard.report(error)

    # How it ends.

    async def _finish(self) -> None:
        """The client has ended its side. The holder of its request is told, and may answer for a moment.

        A client that has not hung up is given all of an answer that has begun, for as long as it takes that.
        Another process to which the connection is lent hears the end as well, and does the same.
        """
        limits = self._http.limits
        until = trio.current_time() + limits.linger_seconds
        while not self._parting:
            self._advance(trio.current_time())
            if self._exchange is None:
                if self._outbox.behind and await self._outbox.drained(math.inf):
                    continue
                break
            self._turn = trio.Event()
            if not self._lent:
                self._lose(self._exchange)
                with trio.move_on_at(until):
                    await self._turn.wait()
            if self._lent or self._gives:
                await self._turn.wait()
            if not self._turn.is_set():
                break
        if await self._outbox.drained(math.inf):  # the outbox cuts off whoever takes nothing
            await self._wire.conclude(limits.outbox_seconds, whole=self._exchange is None)

    def _refuse(self, refusal: HttpError) -> None:
        response = bare_page.refusal(refusal, to_browser=bare_page.sent_by_browser(self._requests.begun))
        self._outbox.put(written(response, last=True))
        self._part()

    def _part(self) -> None:
        """End after all that was sent. If the client still sends, closing at once would lose that."""
        self._parting = True
        self._waiting = None
        self._outbox.finish()
        self.deadline = trio.current_time() + self._http.limits.linger_seconds
        if self._turn is not None:
            self._turn.set()

    def expire(self, now: float) -> None:
        """The deadline has passed."""
        if self._parting:
            if self._outbox.empty:
                self._wire.close()
            else:
                self.deadline = now + self._http.limits.linger_seconds
        elif self._requests.stage == "idle":
            self._part()
        else:
            self._refuse(HttpError(408, "the end of the request did not come in time"))

    def drain(self, why: str) -> None:
        """End when idle. A request that waits is answered: the client may repeat it when the host is back.

        An order that is being carried out is not: its own answer is the last, or the connection ends without.
        An event stream is over; what is cut off in the middle of anything else must not look whole.
        """
        if (exchange := self._exchange) is not None and not self._streaming:
            if not exchange.decides:
                self._lose(exchange)  # before the answer, because after it nobody is told
                self.respond(exchange, json_response(503, {"error": why}))
        elif exchange is not None and self._events:
            self.close(exchange)
        elif self._exchange is None and not self._parting and self._requests.stage == "idle":
            self._part()


def _with_when(response: Response) -> Response:
    """The response, which also says when to try again."""
    if RETRY_LATER[0] in dict(response.headers + response.own):
        return response
    return replace(response, own=(*response.own, RETRY_LATER))
