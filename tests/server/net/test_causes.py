"""What organisers are told of connections that the host could not make, on real sockets."""

import ssl

import pytest
import trio
import trustme

from server.net.causes import why
from server.net.tls import untie
from tests.ports import refusing
from tests.server.net.test_listening import connect, listening, says_who


async def test_where_nobody_listens_it_is_refused_and_that_is_said_once() -> None:
    """Catches "all attempts to connect to localhost:9 failed", which may be a firewall, too."""
    with refusing() as port, pytest.raises(OSError, match="all attempts") as failed:
        await trio.open_tcp_stream("127.0.0.1", port)
    assert why(failed.value) == "Connection refused"
    assert why(ExceptionGroup("two addresses", [failed.value, failed.value])) == "Connection refused"


async def test_a_name_that_is_unknown_is_said_to_be_so_without_a_number() -> None:
    with pytest.raises(OSError, match="Errno") as failed:
        await trio.open_tcp_stream("nowhere.invalid", 80)
    assert "Errno" not in why(failed.value)


async def test_a_certificate_that_is_not_trusted_is_said_to_be_so() -> None:
    """Catches "BrokenResourceError" alone."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(server)
    assert (await failure(server)).startswith("its certificate is not trusted here: ")


async def test_whoever_does_not_speak_tls_is_said_not_to() -> None:
    assert (await failure(None)).startswith("no TLS comes about: ")


async def failure(tls: ssl.SSLContext | None) -> str:
    """Why no TLS comes about with a server that has this context; it speaks in plain otherwise."""
    ours = ssl.create_default_context()
    async with listening(says_who, tls=tls) as (listener, _):
        plain = await connect(listener)
        stream = trio.SSLStream(plain, ours, server_hostname="localhost")
        with pytest.raises(trio.BrokenResourceError) as broken:
            await stream.do_handshake()
        untie(stream)
        await trio.aclose_forcefully(stream)
        return why(broken.value)


def test_what_has_no_words_is_named() -> None:
    assert why(trio.BrokenResourceError()) == "BrokenResourceError"
    assert why(OSError("nobody answers within 5 s")) == "nobody answers within 5 s"
