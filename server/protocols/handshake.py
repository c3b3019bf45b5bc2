"""The websocket handshake, which trio-websocket reads and this file supervises.

The library reads one request and says what to answer. It sees no more of the
connection than that: its answer is held here until it is known, bytes after the
request are not passed on, and then the library is fed nonsense, upon which it gives
up. So a peer that hangs up, stays silent or never reads cannot break it, and requests
on which the library's parsers fail (bytes in `Host` that are not ASCII, for one) are
refused like any other bad request.

No extension is ever agreed on, so nothing is compressed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus

import structlog
import trio
from msgspec import Struct
from trio_websocket import wrap_server_stream

from games.game import quoted
from server.net.escaping import safe
from server.net.guard import PEER_GONE
from server.net.hosts import host_and_path
from server.net.limits import Limits
from server.net.proxies import HEADER
from server.net.time_limits import within
from server.net.wire import Wire

# With the spaces around a value: looking for where they begin takes seconds where there are thousands.
HOST = re.compile(rb"^host:([^\r\n]*)\r?$", re.IGNORECASE | re.MULTILINE)
CONNECTION = re.compile(rb"^connection:([^\r\n]*)\r?\n", re.IGNORECASE | re.MULTILINE)
HOST_BYTES = 512  # of a `Host`: no name and port have more; the library takes seconds to decode thousands
# Of a request's head; the library finds it at the same place. A second empty line before it is not a request.
END = re.compile(rb"\A\r\n|\n\r?\n")
# As long as this matches, a request may come: a bot that speaks lines or TLS need not wait to hear that it is
# at the wrong port.
REQUEST = re.compile(rb"[A-Z]+(?: |\Z)|\r?\Z")
EMPTY = b"\r\n"  # one empty line before a request is skipped, as over HTTP: the library would refuse it
# No frame begins like this. The library's reader of frames and its generator keep each other alive until the
# generator ends: left alone, they would stay until the garbage collector looks, which it hardly ever does.
NONSENSE = b"\xff\xff"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Accepted(Struct, frozen=True):
    path: str
    forwarded: str  # the request's `X-Forwarded-For`
    answer: bytes
    rest: bytes  # frames that came right after the request


class Refused(Struct, frozen=True):
    answer: bytes  # b"" if there is nobody to answer


async def shake_hands(
    wire: Wire, spoken: Mapping[str, str], limits: Limits, objection: Callable[[str], str] = lambda named: ""
) -> Accepted | Refused:
    """Read a request and return the answer, which the caller sends.

    `spoken` names the dialect of each path, and `objection` returns what is wrong with a request's name
    for this host, in a sentence.
    """
    view = _View(wire, limits.head_bytes)
    asked = accepted = None
    forwarded = misnamed = ""
    with within(limits.handshake_seconds) as limit:
        try:
            async with trio.open_nursery() as nursery:
                view.let_go = nursery.cancel_scope.cancel
                request = await wrap_server_stream(nursery, view, receive_buffer_size=None)
                named, target = host_and_path(request.path.encode())
                asked = target.partition(b"?")[0].decode()
                misnamed = objection(named.decode() or view.host)
                if asked in spoken and not misnamed:
                    forwarded = _joined(request.headers, HEADER)
                    await request.accept()
                    accepted = asked
                    view.answered.set()
                else:
                    view.let_go()
        except* Exception as errors:
            # The wire's own failures do not get here: this comes from the library and the bytes that it was
            # given.
            log.debug("a handshake that cannot be read", peer=wire.peer, why=repr(errors.exceptions[0]))
    if accepted is not None:
        return Accepted(accepted, forwarded, view.answer, view.rest)
    if view.gone:
        return Refused(b"")
    if limit.cancelled_caught:
        return Refused(_refusal(408, f"a handshake takes {limits.handshake_seconds:g} s at most"))
    if view.too_long:
        return Refused(_refusal(431, f"the head of a request has {limits.head_bytes} bytes at most"))
    if misnamed:
        return Refused(_refusal(421, misnamed))
    here = ", ".join(f"{title} at {path}" for path, title in spoken.items())
    here = f"bots speak websocket here, version 13: {here}"
    if view.strange:
        return Refused(_refusal(400, f"expected a line such as GET / HTTP/1.1, not {view.strange}; {here}"))
    if asked is not None:
        return Refused(_refusal(404, f"there is nothing at {quoted(asked)}; {here}"))
    return Refused(_refusal(426 if view.answer.startswith(b"HTTP/1.1 426") else 400, here))


class _View(trio.abc.Stream):
    """What the library sees of a connection: one request."""

    def __init__(self, wire: Wire, most: int) -> None:
        self.answer = b""
        self.host = ""  # as the request names it
        self.rest = b""
        self.gone = False
        self.too_long = False
        self.strange = ""  # what came instead of a request
        self.answered = trio.Event()  # set when the library's answer is complete
        self.let_go: Callable[[], None] = lambda: None
        self._wire = wire
        self._most = most
        self._given = False

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The head of the request, whole; then nothing before the answer, and nonsense after it."""
        if self._given:
            await self.answered.wait()
            return NONSENSE
        self._given = True
        head = await self._head()
        if not head:
            self.let_go()
        return head

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if not self.answered.is_set():
            self.answer += data
        await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        """The library has given the connection up."""
        self.let_go()
        await trio.lowlevel.checkpoint()

    async def _head(self) -> bytes:
        came = head = b""
        while (end := END.search(head)) is None and len(came) <= self._most:
            try:
                received = await self._wire.receive()
            except PEER_GONE:
                received = b""
            if not received:
                self.gone = True
                return b""
            came += received
            head = came.removeprefix(EMPTY)
            if REQUEST.match(head) is None:
                self.strange = safe(ascii(head.partition(b"\n")[0])[1:])
                return b""
        if end is None or end.end() > self._most:
            self.too_long = True
            return b""
        self.rest = head[end.end() :]
        if (named := HOST.search(head, 0, end.end())) is not None:
            self.host = named[1].strip(b" \t").decode("latin-1")
            if len(named[1]) > HOST_BYTES:
                return b""
        return _with_one_connection(head[: end.end()])


def _with_one_connection(head: bytes) -> bytes:
    """The head with all options of the connection in one line: the library heeds only the last line."""
    options = CONNECTION.findall(head)
    if len(options) < 2:
        return head
    start = head.index(b"\n") + 1  # after the request line
    return b"%sConnection:%s\r\n%s" % (head[:start], b",".join(options), CONNECTION.sub(b"", head[start:]))


def _joined(headers: Iterable[tuple[bytes, bytes]], wanted: str) -> str:
    """The values of a header, which may come several times."""
    return ", ".join(value.decode("latin-1") for name, value in headers if name.lower() == wanted.encode())


def _refusal(status: int, why: str) -> bytes:
    body = f"{why}\n"
    lines = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        "Connection: close",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body.encode())}",
    )
    return "\r\n".join((*lines, "", body)).encode()
