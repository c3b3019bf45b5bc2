"""Show's side of lending: connections that play has lent are served like any other, and given back.

A request that show does not answer goes back to play, with the connection, once all earlier
answers are taken. So does a request under another name than those before it (`Host`,
`X-Forwarded-For`): only play judges what that means, and it may lend the connection again.
"""

import math
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from server.http.exchange import App, Exchange
from server.http.service import Http
from server.http.wire import Request
from server.net.guard import Guard, Waiting, start_in_turn
from server.net.limits import Limits
from server.net.proxies import HEADER
from server.net.readiness import readiness
from server.net.sockets import SocketWire
from server.show.conduit import Back, Conduit, Drain, Feed, Gone, Known, Lend, NoRoom, ToShow
from server.show.lending import not_now

UNREAD = "the answers to earlier requests over this connection are still unread; ask again when they are not"


class Borrowing:
    """All connections that show has."""

    def __init__(
        self,
        connected: socket.socket,
        app: App,
        guard: Guard,
        limits: Limits,
        is_shown: Callable[[Request], bool],
        *,
        most: float = math.inf,
    ) -> None:
        """`connected` leads to play, which asks `is_shown` too; `most` connections may be here at once."""
        self.app = app
        self.is_shown = is_shown
        self.conduit = Conduit[ToShow](connected, ToShow, math.inf)  # little is ever said about a connection
        self._guard = guard
        self._http = Http(app, guard, limits)
        self._most = most
        self._here: dict[SocketWire, None] = {}
        self._lent: Waiting = deque()  # those about to be served
        self.fed: Callable[[socket.socket], object] = socket.socket.close  # called with each further feed

    def __len__(self) -> int:
        return len(self._here)

    async def run(self) -> None:
        """Serve until play is gone, and all connections with it."""
        try:
            await self.conduit.hear(self._take)
        finally:
            for wire in tuple(self._here):
                wire.close()

    def _take(self, message: ToShow, descriptor: int | None) -> None:
        match message:
            case Lend() if descriptor is None:
                self.conduit.say(NoRoom(message.number))
            case Lend():
                connected = socket.socket(fileno=descriptor)
                if len(self._here) < self._most:
                    self._begin(message, connected)
                else:
                    connected.close()
                    self.conduit.say(NoRoom(message.number))
            case Drain(why):
                self._http.drain(why)
            case Feed():
                if descriptor is not None:
                    self.fed(socket.socket(fileno=descriptor))

    def _begin(self, message: Lend, connected: socket.socket) -> None:
        wire = SocketWire(connected, message.peer, readiness())
        wire.secure = message.secure
        self._here[wire] = None
        start_in_turn(self._guard, self._lent, partial(self._attend, message, wire))

    async def _attend(self, message: Lend, wire: SocketWire) -> None:
        borrowed = Borrowed(self, message.number, wire)
        try:
            await self._http.attend(wire, borrowed, borrowed.answer, message.pieces)
        finally:
            wire.close()
            del self._here[wire]
            if not borrowed.given_back:
                self.conduit.say(Gone(message.number))


class Borrowed:
    """One borrowed connection: decides, request by request, whether it stays."""

    __slots__ = ("_all", "_name", "_number", "_wire", "given_back", "proxied")

    def __init__(self, all_: Borrowing, number: int, wire: SocketWire) -> None:
        self._all = all_
        self._number = number
        self._wire = wire
        self._name: tuple[str | None, str | None] | None = None  # under which its requests have come
        self.given_back = False
        self.proxied = False  # its peer is the client already

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        """The application of this connection."""
        headers = exchange.request.headers
        name = headers.get("host"), headers.get(HEADER)
        if self._name is None:  # play has just sent this request here, and would only send it again
            self._name = name
        elif name != self._name or not self._all.is_shown(exchange.request):
            return None if self._give_back(exchange) else self._give_back_later(exchange)
        return self._all.app(exchange)

    async def _give_back_later(self, exchange: Exchange) -> None:
        if not (await exchange.preceded() and self._give_back(exchange)):
            exchange.respond(not_now(exchange.request, UNREAD))  # the request was not carried out

    def _give_back(self, exchange: Exchange) -> bool:
        """Give the connection back; False if that has to wait until all earlier answers are taken."""
        if (loan := exchange.lend()) is None:
            return False
        self.given_back = True
        loan.leave()
        self._all.conduit.say(Back(self._number, loan.pieces))
        return True

    # What a connection asks of its visitor.

    def client(self, forwarded: str) -> str:
        return self._wire.peer

    def objection(self, named: str) -> str:
        """None: play had none to the first name, and requests under any other are given back."""
        return ""

    def authenticated(self) -> None:
        self._all.conduit.say(Known(self._number))
