"""What is left of connections under TLS that have ended, before the collector looks: nothing."""

import gc
import ssl
from collections.abc import Iterator

import pytest
import trio
import trio.testing
import trustme

from server.net.tls import untie
from server.net.wire import Wire
from tests.server.net.test_listening import connect, listening


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def streams() -> int:
    return sum(isinstance(each, trio.SSLStream) for each in gc.get_objects())


@pytest.mark.parametrize("how", ["without a word", "with nonsense", "after a handshake"])
@pytest.mark.usefixtures("uncollected")
async def test_a_connection_that_has_ended_is_gone(how: str) -> None:
    """Catches a stranger who comes and goes, and takes 50 KB each time until the collector looks."""
    authority = trustme.CA()
    server, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(theirs)
    before = streams()

    async def attend(wire: Wire, visitor: object) -> None:
        await wire.receive()

    async with listening(attend, tls=server) as (listener, guard), await connect(listener) as plain:
        if how == "with nonsense":
            await plain.send_all(b"no handshake")
        elif how == "after a handshake":
            await shaken_hands(plain, theirs)
        await plain.send_eof()
        while await plain.receive_some():
            pass
    assert streams() == before
    assert not guard.caught


async def shaken_hands(plain: trio.SocketStream, context: ssl.SSLContext) -> None:
    client = trio.SSLStream(plain, context, server_hostname="localhost")
    await client.do_handshake()
    untie(client)


def test_other_streams_are_left_alone() -> None:
    one, _ = trio.testing.memory_stream_pair()
    untie(one)
