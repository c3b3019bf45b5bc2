"""One POST to an address that the organiser lists: no redirect is followed, and only the status counts."""

import hmac
import ssl
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from urllib.parse import SplitResult, unquote, urlsplit

import httptools
import trio

from server.net.causes import why
from server.net.tls import untie
from server.net.trusted import trusted

SECONDS = 10.0  # for all of it
MOST = 16384  # bytes of an answer that are read to find its status
READ = 4096
INTERIM = {*range(100, 200)} - {101}  # statuses that only say that an answer is on its way

Post = Callable[[str, bytes, str], Awaitable[None]]


class Undelivered(Exception):
    """The receiver did not take it. The message says why, for the organiser."""


def signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()


async def post(url: str, body: bytes, secret: str, tls: ssl.SSLContext | None = None) -> None:
    """Post, and return when the answer has a status of 200 to 299; else raise `Undelivered`."""
    try:
        with trio.fail_after(SECONDS):
            status = await _status(url, body, secret, tls)
    except trio.TooSlowError:
        raise Undelivered(f"there was no answer within {SECONDS:g} s") from None
    except (OSError, trio.BrokenResourceError, ssl.SSLError, httptools.HttpParserError) as error:
        raise Undelivered(why(error)) from None
    if not 200 <= status < 300:
        raise Undelivered(f"the answer was {status}, and 200 to 299 was expected")


async def _status(url: str, body: bytes, secret: str, tls: ssl.SSLContext | None) -> int:
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    stream: trio.abc.Stream = await trio.open_tcp_stream(host, port)
    try:
        if secure:
            context = tls or await trusted()
            stream = trio.SSLStream(stream, context, server_hostname=host, https_compatible=True)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        head = (
            f"POST {target} HTTP/1.1\r\nHost: {parts.netloc.rpartition('@')[2]}\r\nUser-Agent: quintain\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
            f"{_login(parts)}X-Quintain-Signature: {signature(secret, body)}\r\n\r\n"
        )
        await stream.send_all(head.encode() + body)
        return await _answered(stream)
    finally:
        untie(stream)
        await trio.aclose_forcefully(stream)


def _login(parts: SplitResult) -> str:
    """The header for a user and a password in the address, if they are there."""
    if parts.username is None:
        return ""
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Authorization: Basic {b64encode(login.encode()).decode()}\r\n"


async def _answered(stream: trio.abc.Stream) -> int:
    """The status of the answer, once its head is there; whatever a receiver sends after that is not read."""
    answer = _Head()
    parser = httptools.HttpResponseParser(answer)
    left = MOST
    while left > 0 and (received := await stream.receive_some(READ)):
        left -= len(received)
        for line in received.splitlines(keepends=True):
            with suppress(httptools.HttpParserUpgrade):  # of a 101, which is a status like any other
                parser.feed_data(line)
            if answer.complete and (status := parser.get_status_code()) not in INTERIM:
                return status
    raise Undelivered("the answer ended before its status and headers were complete")


class _Head:
    complete = False

    def on_message_begin(self) -> None:
        self.complete = False

    def on_headers_complete(self) -> None:
        self.complete = True
