"""What a peer is told with which no TLS comes about, on real sockets."""

import ssl

import msgspec
import pytest
import trio
import trustme

from server.net.tls import untie
from tests.server.net.test_listening import connect, everything, listening, says_who
from tests.server.web import get


@pytest.mark.parametrize("cut", [1, 1000], ids=["byte by byte", "whole"])
async def test_whoever_speaks_http_to_a_port_with_tls_is_told_in_plain_text(cut: int) -> None:
    """Catches an empty answer after `http://` or `ws://`, which says nothing of TLS."""
    async with listening(says_who, tls=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)) as (listener, guard):
        async with await connect(listener) as plain:
            request = get("/play")
            for start in range(0, len(request), cut):
                await plain.send_all(request[start : start + cut])
            await plain.send_eof()
            head, _, body = (await everything(plain)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert b"Content-Length: %d\r\n" % len(body) in head
        assert list(msgspec.json.decode(body)) == ["error"]
        assert b"https://" in body
        assert b"wss://" in body
        assert not guard.caught


async def test_a_client_whose_tls_is_too_old_hears_the_alert_that_says_so() -> None:
    """Catches an end without an alert, which their library takes for a network that is down."""
    authority = trustme.CA()
    server, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(theirs)
    server.minimum_version = ssl.TLSVersion.TLSv1_3
    theirs.maximum_version = ssl.TLSVersion.TLSv1_2
    async with listening(says_who, tls=server) as (listener, guard), await connect(listener) as plain:
        client = trio.SSLStream(plain, theirs, server_hostname="localhost")
        with pytest.raises(trio.BrokenResourceError) as broken:
            await client.do_handshake()
        untie(client)
        assert isinstance(broken.value.__cause__, ssl.SSLError)
        assert broken.value.__cause__.reason == "TLSV1_ALERT_PROTOCOL_VERSION"
        await plain.aclose()
        assert not guard.caught
