"""One POST: signed, and what counts as taken."""

import gc
import ssl
from base64 import b64encode
from contextlib import nullcontext

import pytest
import trio
import trustme
from trio.testing import MockClock

from server.webhooks.posting import Undelivered, post, signature
from tests.ports import refusing
from tests.server.webhooks.receiver import SECRET, receiving


def test_the_signature_is_that_of_the_standard() -> None:
    """The second test case of RFC 4231."""
    assert signature("Jefe", b"what do ya want for nothing?") == (
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


async def test_it_is_signed_and_sent_as_it_is() -> None:
    async with receiving() as receiver:
        await post(receiver.url, b'{"a":1}', SECRET)
        assert receiver.told == [{"a": 1}]
        assert receiver.forged == 0
        await post(receiver.url, b'{"a":2}', "another secret")
        assert receiver.forged == 1


async def test_a_user_and_a_password_in_the_address_are_sent_as_http_has_it() -> None:
    async with receiving() as receiver:
        await post(receiver.url, b"{}", SECRET)
        await post(receiver.url.replace("//", "//ann:p%40ss@"), b"{}", SECRET)
    without, with_both = receiver.heads
    assert "authorization" not in without.lower()
    assert f"Authorization: Basic {b64encode(b'ann:p@ss').decode()}\r\n" in with_both
    assert "ann" not in with_both


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 500 Sorry\r\n\r\n", "the answer was 500"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "the answer was 302"),
        (b"HTTP/1.1 101 Go on\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n\x00", "the answer was 101"),
        (b"HTTP/1.1 204 ", "before its status and headers were complete"),
        (b"", "before its status and headers were complete"),
        (b"SSH-2.0-OpenSSH\r\n", "."),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, "."),
    ],
)
async def test_what_is_no_good_answer_was_not_taken(answer: bytes, why: str) -> None:
    async with receiving() as receiver:
        receiver.answer = answer
        with pytest.raises(Undelivered, match=why):
            await post(receiver.url, b"{}", SECRET)


INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"


@pytest.mark.parametrize("cut", [5, len(INTERIM[0]), len(INTERIM[0]) + 9, len(b"".join(INTERIM)), 1000])
async def test_an_answer_is_the_one_after_those_that_say_that_it_is_on_its_way(cut: int) -> None:
    """Catches an event that was told again for ever, and none after it, to a receiver that had taken it."""
    async with receiving() as receiver:
        for status in (200, 204, 503):
            answer = b"".join(INTERIM) + b"HTTP/1.1 %d So\r\n\r\n" % status
            receiver.answer, receiver.rest = answer[:cut], answer[cut:]
            outcome = pytest.raises(Undelivered, match="503") if status == 503 else nullcontext()
            with outcome:
                await post(receiver.url, b"{}", SECRET)


async def test_what_comes_after_the_head_of_an_answer_does_not_matter() -> None:
    """Catches the same of a receiver that says something after a 204, which has no body."""
    async with receiving() as receiver:
        for answer in (
            b"HTTP/1.1 204 So\r\n\r\nthanks",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nthanks",
        ):
            receiver.answer = answer
            await post(receiver.url, b"{}", SECRET)


async def test_where_nobody_listens_it_was_not_taken() -> None:
    with refusing() as port, pytest.raises(Undelivered, match=r"^Connection refused$"):
        await post(f"http://127.0.0.1:{port}/hook", b"{}", SECRET)
    with pytest.raises(Undelivered, match=r"^[^\[]+$"):
        await post("http://nowhere.invalid/", b"{}", SECRET)


async def test_an_answer_is_waited_for_within_bounds(autojump_clock: MockClock) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        with pytest.raises(Undelivered, match="no answer within 10 s"):
            await post(f"http://127.0.0.1:{listener.socket.getsockname()[1]}/", b"{}", SECRET)


async def test_over_tls_the_receiver_has_to_be_who_it_says_and_nothing_is_left_of_the_connections() -> None:
    """Catches 50 KB for each of them until the collector looks, which is rare in a host."""
    authority, stranger = trustme.CA(), trustme.CA()
    server, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(ours)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.configure_trust(theirs)

    async def attend(stream: trio.SSLStream[trio.SocketStream]) -> None:
        try:
            await stream.receive_some()
            await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        except trio.BrokenResourceError:
            pass  # it is not trusted

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_ssl_over_tcp_listeners(0, server, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, attend, listeners)
        port = listeners[0].transport_listener.socket.getsockname()[1]
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                with pytest.raises(Undelivered, match="its certificate is not trusted here"):
                    await post(f"https://localhost:{port}/", b"{}", SECRET, theirs)
                await post(f"https://localhost:{port}/", b"{}", SECRET, ours)
            await trio.lowlevel.checkpoint()  # what was awaited last is let go
            assert calling(ours, theirs) == 0
        finally:
            gc.enable()
        nursery.cancel_scope.cancel()


def calling(*contexts: ssl.SSLContext) -> int:
    """How many connections there are that were made with these."""
    objects = (each for each in gc.get_objects() if isinstance(each, ssl.SSLObject))
    return sum(each.context in contexts for each in objects)
