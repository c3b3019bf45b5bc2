"""Play and show in one process: a door on a loopback port, connections lent from it, clients on sockets."""

import os
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio
import trustme

from server.http.exchange import App, Exchange
from server.http.service import Http
from server.http.sharing import READS
from server.http.wire import Request, Response
from server.net.admission import Admission
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.listening import listeners, serve
from server.show.borrowing import Borrowing
from server.show.lending import Lending
from tests.hang import HANG, LOOK
from tests.server.web import Client

possible = pytest.mark.skipif(sys.platform != "linux", reason="only Linux passes descriptors in packets")


def is_shown(request: Request) -> bool:
    return request.method in READS and not request.path.startswith("/play")


def says(who: str) -> App:
    """Answers who it is, what it was asked, and by whom."""

    def answer(exchange: Exchange) -> None:
        request = exchange.request
        body = b" ".join((who.encode(), request.path.encode(), request.body))
        exchange.respond(Response(own=(("From", request.peer),), body=body))

    return answer


def at_stream(streams: App, otherwise: App) -> App:
    """One that answers at `/stream`, and one everywhere else."""
    return lambda exchange: (streams if exchange.request.path == "/stream" else otherwise)(exchange)


class Show:
    """One show, until it is killed."""

    def __init__(self, both: "Both", app: App, most: float) -> None:
        ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._both = both
        self._app = app
        self._most = most
        self._scope = trio.CancelScope()
        self._begun = trio.Event()
        self.lends = trio.CancelScope()  # of play, to this show
        self.over = trio.Event()  # play knows that it is gone
        both.nursery.start_soon(self._lend, ours)
        both.nursery.start_soon(self._run)

    async def _lend(self, ours: socket.socket) -> None:
        with ours, self.lends:
            await self._both.lending.connect(ours)
        self.over.set()

    async def _run(self) -> None:
        with self._scope, self._theirs:
            async with trio.open_nursery() as nursery:
                self.guard = Guard(nursery)
                limits, most = self._both.limits, self._most
                self.borrowing = Borrowing(self._theirs, self._app, self.guard, limits, is_shown, most=most)
                self._begun.set()
                await self.borrowing.run()

    async def begun(self) -> "Show":
        await self._begun.wait()
        return self

    async def kill(self) -> None:
        """As the kernel does it: it says nothing, and all its descriptors are closed."""
        self._theirs.shutdown(socket.SHUT_RDWR)
        self._scope.cancel()
        await self.over.wait()


class Both:
    """Play, and whatever show there is."""

    def __init__(self, nursery: trio.Nursery, app: App, limits: Limits, admission: Admission) -> None:
        self.nursery = nursery
        self.limits = limits
        self.admission = admission
        self.guard = Guard(nursery)
        self.lending = Lending(limits, admission)
        self.http = Http(self.lending.beside(app, is_shown), self.guard, limits)
        self.port = 0
        self.clients: list[Client] = []
        self.trusting: ssl.SSLContext | None = None  # what clients trust, under TLS

    async def show(self, app: App, most: float = 1000) -> Show:
        return await Show(self, app, most).begun()

    async def connect(self) -> Client:
        stream: trio.abc.Stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        if self.trusting is not None:
            stream = trio.SSLStream(stream, self.trusting, server_hostname="localhost")
        self.clients.append(Client(stream))  # pyright: ignore
        return self.clients[-1]


@asynccontextmanager
async def playing(
    app: App | None = None,
    limits: Limits | None = None,
    *,
    files: float = 10_000,
    secure: bool = False,
) -> AsyncIterator[Both]:
    limits, tls, trusting = limits or Limits(), None, None
    if secure:
        tls, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        authority = trustme.CA()
        authority.issue_cert("localhost").configure_cert(tls)
        authority.configure_trust(trusting)
    context = None if tls is None else lambda: tls
    (listener,) = await listeners("127.0.0.1", 0, limits)
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            admission = Admission(limits, files)
            both = Both(nursery, app or says("play"), limits, admission)
            both.trusting = trusting
            both.port = listener.getsockname()[1]
            attend = both.http.attend
            nursery.start_soon(
                partial(
                    serve, listener, attend, guard=both.guard, admission=admission, limits=limits, tls=context
                )
            )
            try:
                yield both
            finally:
                for client in both.clients:
                    await trio.aclose_forcefully(client.end)
                both.guard.end()  # as `open_guard` does
            nursery.cancel_scope.cancel()


def files_open() -> int:
    return len(os.listdir("/proc/self/fd"))


async def everything(client: Client) -> bytes:
    """What comes until the end, be it an orderly one or not."""
    got, client.over = client.over, b""
    with suppress(trio.BrokenResourceError):
        while received := await client.end.receive_some():
            got += received
    return got


async def until(so: Callable[[], object]) -> None:
    """Let everybody run until it is so. Looking at every turn would take a processor all the while."""
    while not so():  # noqa: ASYNC110 - nobody tells
        await trio.sleep(LOOK)
