"""The organiser's token of a host, with orders about what another host holds: it has a token of its own."""

from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from server.http.exchange import Exchange
from server.http.service import Http
from server.http.wire import Response
from server.net.stream_wire import StreamWire
from server.peers.requests import Relayed
from server.peers.watching import Watching
from tests.server.peers.several import One, Shared, link
from tournament.facts import Opened

TOKEN = "the-token-of-one"  # `link` has "token" as that of each host to which a request is relayed
SETTLED = 2.0  # seconds after which both know who holds what


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (f"Bearer {TOKEN}", "Bearer token"),
        (f"bearer {TOKEN}", "Bearer token"),
        (f"BEARER  {TOKEN} ", "Bearer token"),
        ("Bearer guess", "Bearer guess"),
        (f"Basic {TOKEN}", f"Basic {TOKEN}"),
        (TOKEN, TOKEN),
        ("Bearer", "Bearer"),
    ],
)
async def test_a_token_is_the_organisers_there_however_it_is_written_if_it_is_here(
    given: str, seen: str, autojump_clock: MockClock
) -> None:
    """Catches a client that writes `bearer`: it was refused, and counted as one that guesses."""

    def app(exchange: Exchange) -> None:
        exchange.respond(Response(200, (), exchange.request.headers["authorization"].encode()))

    database = Shared(trio.current_time)
    one, other = One(database), One(database)
    async with trio.open_nursery() as nursery:
        for each in (other, one):
            await each.run(nursery)
        doors = [
            Relayed(
                each.peers,
                cast("Any", each.links),
                (),
                TOKEN,
                None,
                Watching(each.links.all, each.peers.link),
            ).beside(app)
            for each in (one, other)
        ]
        link(nursery, one, other)
        await other.host.found("cup", Opened("tic-tac-toe", "round-robin"))
        await trio.sleep(SETTLED)
        client, ours = trio.testing.memory_stream_pair()
        nursery.start_soon(
            Http(doors[0], one.host.guard, one.host.limits).attend, StreamWire(ours, one.host.guard)
        )
        head = ("POST /api/tournaments/cup/start HTTP/1.1", "Host: localhost", f"Authorization: {given}")
        await client.send_all("\r\n".join((*head, "Content-Length: 0", "", "")).encode())
        heard = bytes(await client.receive_some())
        assert heard.startswith(b"HTTP/1.1 200 ")
        assert heard.endswith(f"\r\n\r\n{seen}".encode())
        nursery.cancel_scope.cancel()
