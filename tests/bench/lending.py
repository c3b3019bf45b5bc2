"""What it costs that show answers in a process of its own: requests per second of both processes' time.

Connections that look and nothing else stay in show; connections that look and move by turns are
lent and given back with every pair of requests, which no browser and no bot does. Answers take
no work, so what there is to see is HTTP and the lending.

`python -m tests.bench.lending lent` (or `inline`) is what is measured: two processes, or one.
"""

import os
import socket
import sys
from contextlib import ExitStack
from functools import partial
from time import clock_gettime, perf_counter

import trio

from server.http.exchange import Exchange
from server.http.service import Http
from server.http.sharing import READS
from server.http.wire import Request, Response
from server.net.admission import Admission
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.listening import listeners, serve
from server.show.borrowing import Borrowing
from server.show.lending import Lending
from tests.bench.crowd import Crowd
from tests.bench.doors import Side, in_turns
from tests.bench.server import Server

CONNECTIONS = 64
LOOK = b"GET /standings HTTP/1.1\r\nHost: a\r\n\r\n"
MOVE = b"POST /move HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
ROWS = {"look and stay": (LOOK,), "move and stay": (MOVE,), "by turns": (LOOK, MOVE)}
SIDES = ("lent", "inline")


class Asker:
    """A connection that asks these by turns, again as soon as it is answered."""

    def __init__(self, crowd: Crowd, asks: tuple[bytes, ...]) -> None:
        self._crowd = crowd
        self._asks = asks
        self._answered = 0
        self._asked = 0.0
        self._send = crowd.connect(self._take)
        self._ask()

    def _ask(self) -> None:
        self._asked = perf_counter()
        self._send(self._asks[self._answered % len(self._asks)])

    def _take(self, received: bytes) -> None:
        if not received.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"expected an answer, not {received!r}")
        self._crowd.made(self._asked)
        self._answered += 1
        self._ask()


class Measured(Server):
    """Its address and, where it is two processes, the other one."""

    def __init__(self, side: str) -> None:
        super().__init__("tests.bench.lending", side)
        _, self._show = self.address("show")

    def seconds(self) -> float:
        both = super().seconds()
        return both + clock_gettime(~self._show << 3 | 2) if self._show else both


def bench() -> None:
    print(f"{CONNECTIONS} connections: requests per second of the processor time of play and show together")
    print(f"{'':16}{'lent':>9}{'inline':>11}{'ratio':>8}{'spread':>15}{'p99 ms':>16}{'load CPU':>14}")
    for name, asks in ROWS.items():
        print(f"{name:16}{compared(asks)}", flush=True)


def compared(asks: tuple[bytes, ...]) -> str:
    with ExitStack() as stack:
        sides = list[Side]()
        for side in SIDES:
            server = stack.enter_context(Measured(side))
            crowd = Crowd(server.address("http"))
            stack.callback(crowd.leave)
            for _ in range(CONNECTIONS):
                Asker(crowd, asks)
            sides.append((server, crowd))
        return in_turns(*sides)


# What is measured.


def is_shown(request: Request) -> bool:
    return request.method in READS


def answer(exchange: Exchange) -> None:
    exchange.respond(Response(body=b"{}"))


async def play(conduit: socket.socket | None, show: int) -> None:
    limits = Limits()
    admission, lending = Admission(limits), Lending(limits)
    (listener,) = await listeners("127.0.0.1", 0, limits)
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        app = answer if conduit is None else lending.beside(answer, is_shown)
        attend = Http(app, guard, limits).attend
        nursery.start_soon(partial(serve, listener, attend, guard=guard, admission=admission, limits=limits))
        if conduit is not None:
            nursery.start_soon(lending.connect, conduit)
        print(f"ready http=127.0.0.1:{listener.getsockname()[1]} show=process:{show}", flush=True)


async def show(conduit: socket.socket) -> None:
    async with trio.open_nursery() as nursery:
        await Borrowing(conduit, answer, Guard(nursery), Limits(), is_shown).run()


def main(side: str) -> None:
    if side == "inline":
        trio.run(play, None, 0)
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if child := os.fork():
        theirs.close()
        trio.run(play, ours, child)
    else:
        ours.close()
        trio.run(show, theirs)


if __name__ == "__main__":
    main(sys.argv[1])
