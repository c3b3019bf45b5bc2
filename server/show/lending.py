"""Play's side of lending: a request for show goes there, and its connection with it.

Play keeps its own descriptor of every connection that it lends. So it counts them, can end any of
them, and still has them when show dies. There may be several shows, one after the other. While
there is none, or it has no room, play itself answers: ask again in a second. Worker 0 lends to
the other workers in the same way.
"""

import socket
from collections.abc import Awaitable, Callable
from functools import partial

import trio

from server.http.bare_page import asks_for_page, refusal
from server.http.exchange import App, Exchange
from server.http.head import RETRY_SOON, HttpError
from server.http.loan import Loan
from server.http.undecided import is_order, undecided
from server.http.wire import Request, Response
from server.net.admission import Admission, network_of
from server.net.limits import Limits
from server.show.conduit import Back, Conduit, Drain, Feed, Gone, Known, Lend, NoRoom, ToPlay

NO_SHOW = "pages and whatever else only looks are starting again; ask again in a second"
RELAYED = 2  # files that a connection over TLS takes while it is lent, beside its own
TURN = 64  # connections taken back before other tasks get their turn


class Lending:
    """The connections that are lent. It outlives the shows that borrow them."""

    def __init__(self, limits: Limits, admission: Admission | None = None, why: str = NO_SHOW) -> None:
        """`why` is what clients are told while there is no show."""
        self._limits = limits
        self._no_show, self._why = why, why
        self._admission = admission
        self._conduit: Conduit[ToPlay] | None = None  # while there is a show
        self._lent: dict[int, Loan] = {}  # connections lent to that show
        self._number = 0
        self.on_connected: Callable[[], None] = lambda: None  # called when there is another show

    def __len__(self) -> int:
        return len(self._lent)

    @property
    def waiting(self) -> int:
        """Packets that show has not taken yet."""
        return 0 if self._conduit is None else self._conduit.waiting

    async def connect(self, connected: socket.socket) -> None:
        """Lend to the show at the other end, until it is gone; then take back what it had."""
        conduit = self._conduit = Conduit[ToPlay](connected, ToPlay, self._limits.lent_waiting)
        lent = self._lent = {}
        self._why = self._no_show
        self.on_connected()
        try:
            await conduit.hear(self._take)
        finally:
            self._conduit = None
            gone = conduit.hear_now(self._take)  # its last messages
            with trio.CancelScope(shield=True):
                await self._take_back(lent, gone)

    def beside(self, app: App, is_shown: Callable[[Request], bool]) -> App:
        """One application: `app`, with show answering the requests that it can."""

        def answer(exchange: Exchange) -> Awaitable[object] | None:
            return self.answer(exchange) if is_shown(exchange.request) else app(exchange)

        return answer

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        """An application in which show answers."""
        return None if self._lend(exchange) else self._lend_later(exchange)

    @property
    def connected(self) -> bool:
        """Whether there is a show."""
        return self._conduit is not None

    def despair(self, why: str) -> None:
        """Tell clients something else than that there will be a show in a second, until there is one."""
        self._why = why

    def feed(self, their_end: socket.socket) -> None:
        """Give show the end of a socket at which one more process tells it what happens."""
        if self._conduit is not None:
            self._conduit.say(Feed(), their_end, give=True)

    def drain(self, why: str) -> None:
        """Have show end idle connections now, and the others after their answers."""
        if self._conduit is not None:
            self._conduit.say(Drain(why))

    async def _lend_later(self, exchange: Exchange) -> None:
        if not (await exchange.preceded() and self._lend(exchange)):
            exchange.respond(self._away(exchange.request))

    def _lend(self, exchange: Exchange) -> bool:
        """Lend a request's connection, or answer. False: it has to wait until earlier answers are taken."""
        conduit, request = self._conduit, exchange.request
        files, whose = RELAYED if request.secure else 0, network_of(request.peer, self._limits.trust_loopback)
        if conduit is None or conduit.full or conduit.has_enough(whose) or not self._has_room(files):
            exchange.respond(self._away(request))
            return True
        if (loan := exchange.lend()) is None:
            return False
        self._number += 1
        self._lent[self._number] = loan
        if self._admission is not None:
            self._admission.files_beside += files
        if not exchange.gone:  # else the client has only ended its side
            exchange.on_gone(partial(self._closed, self._lent, self._number))
        lend = Lend(self._number, request.peer, request.secure, loan.pieces)
        conduit.say(lend, loan.passed, whose=whose)
        return True

    def _has_room(self, files: int) -> bool:
        return not files or self._admission is None or self._admission.free_files >= files

    def _take(self, message: ToPlay, _: int | None) -> None:
        number = message.number
        if (loan := self._lent.get(number)) is None:
            return  # the connection has ended here meanwhile
        if isinstance(message, Known):
            loan.authenticated()
            return
        self._end(self._lent, number)
        match message:
            case Back(_, pieces):
                loan.back(pieces, trio.current_time())
            case Gone():
                loan.close()
            case NoRoom():
                loan.untouched(self._away(loan.request), trio.current_time())

    def _closed(self, lent: dict[int, Loan], number: int) -> None:
        """A lent connection was closed at this end; show notices by itself."""
        self._end(lent, number)

    def _end(self, lent: dict[int, Loan], number: int) -> Loan | None:
        """End a loan; None if the connection was not lent."""
        loan = lent.pop(number, None)
        if loan is not None and loan.request.secure and self._admission is not None:
            self._admission.files_beside -= RELAYED
        return loan

    async def _take_back(self, lent: dict[int, Loan], gone: bool) -> None:
        """Take connections back. If show is not `gone`, it may still write to them, so they end."""
        while lent:
            for number in list(lent)[:TURN]:
                if (loan := self._end(lent, number)) is None:
                    continue
                if gone:
                    loan.lost(self._lost(loan.request), trio.current_time())
                else:
                    loan.close()
            await trio.lowlevel.checkpoint()

    def _lost(self, request: Request) -> Response:
        """The answer when the other process was lost with a request."""
        return undecided(request) if is_order(request) else self._away(request)

    def _away(self, request: Request) -> Response:
        """The answer while show is not there, or has no room."""
        return not_now(request, self._why)


def not_now(request: Request, why: str) -> Response:
    return refusal(HttpError(503, why, RETRY_SOON), to_browser=asks_for_page(request.headers))
