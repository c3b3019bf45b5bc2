"""Moves over TLS that were read in time: no clock runs out while they are being decrypted."""

import socket
import ssl
from contextlib import suppress
from functools import partial

import msgspec
import pytest
import trio
import trio.testing
import trustme
from trio.testing import MockClock

from server.net.admission import Admission
from server.net.limits import Limits
from server.net.listening import listeners, serve
from server.net.readiness import readiness
from server.protocols import tcp
from tests.hang import HANG
from tests.server.connected import linux
from tests.server.transcripts import hosting

DRAWN = ("C", "NW", "N", "S", "W", "E", "NE", "SW", "SE")
SETTINGS = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2", "turn": "5"}
JUST = 0.0005  # seconds before the end of its time at which each move is read


class Client:
    """A bot whose own side of TLS does nothing by itself."""

    def __init__(self, context: ssl.SSLContext, address: tuple[str, int]) -> None:
        self._heard, self._said = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._heard, self._said, server_hostname="localhost")
        self.socket = socket.create_connection(address)
        self.socket.setblocking(False)

    async def come(self, name: str) -> None:
        while True:
            with suppress(ssl.SSLWantReadError):
                self._tls.do_handshake()
                break
            self._send()
            await trio.lowlevel.wait_readable(self.socket)
            self._heard.write(self.socket.recv(65536))
        self.say(type="hello", name=name, game="tic-tac-toe")

    def say(self, **message: str) -> None:
        self._tls.write(msgspec.json.encode(message) + b"\n")
        self._send()

    def _send(self) -> None:
        self.socket.send(self._said.read())


@linux
@pytest.mark.parametrize("by", ["connection", "request"])
async def test_a_move_that_was_read_in_time_counts_however_busy_the_host_is(
    by: str, mock_clock: MockClock
) -> None:
    """Catches bots that lose on time, half the time, because trio looked at the clocks before it read on.

    Of a bot whose moves come by requests, nobody knows over which connection the next one will.
    """
    authority = trustme.CA()
    server, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(theirs)
    (listener,) = await listeners("127.0.0.1", 0, Limits())
    address = listener.getsockname()[:2]
    with trio.fail_after(HANG):
        async with hosting(SETTINGS) as (host, nursery):
            serving = partial(serve, guard=host.guard, admission=Admission(host.limits), limits=host.limits)
            nursery.start_soon(partial(serving, listener, partial(tcp.attend, host), tls=lambda: server))
            bots = {name: Client(theirs, address) for name in ("ann", "bob")}
            for name, bot in bots.items():
                await bot.come(name)
            cup, sockets = host.tournaments["cup"], readiness()
            assert sockets is not None
            while not cup.matches:
                await trio.lowlevel.checkpoint()
            (match,) = cup.matches.values()
            if by == "request":
                match.on_its_way = [host.requests_on_their_way] * 2
            for ply, move in enumerate(DRAWN):
                assert match.verdict is None, match.verdict
                await trio.testing.wait_all_tasks_blocked()  # both are read from
                mock_clock.jump(match.deadline - JUST - trio.current_time())
                bots[match.names[match.to_move or 0]].say(type="move", move=move)
                sockets.sweep()
                mock_clock.jump(10 * JUST)
                while match.ply == ply and match.verdict is None:
                    await trio.lowlevel.checkpoint()
            assert match.verdict is not None
            assert match.verdict.why == "the board is full and nobody has three in a row"
            for bot in bots.values():
                bot.socket.close()
            nursery.cancel_scope.cancel()
