"""HTTP/1.1 without I/O: bytes in, requests out; responses in, bytes out.

One request at a time is read, and the next only on demand: requests that a
client sends ahead cost no more than their bytes. A body has a length or comes in
chunks; nothing else is accepted.

Not here: deadlines, connections, whose turn it is (`server/http/service.py`).
"""

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Literal

import msgspec
from msgspec import Struct

from server.http.chunks import Chunks, check_length
from server.http.head import Head, HttpError, check_begun, read_head
from server.net.escaping import safe
from server.net.limits import Limits

Headers = tuple[tuple[str, str], ...]

TEXT = "text/plain; charset=utf-8"
NOSNIFF = ("X-Content-Type-Options", "nosniff")


def typed(kind: str) -> Headers:
    """The headers of an answer of that type, for which browsers are not to guess another."""
    return (("Content-Type", kind), NOSNIFF)


JSON = typed("application/json; charset=utf-8")
EVENTS = ("Content-Type", "text/event-stream")
NO_STORE = ("Cache-Control", "no-store")  # the answer holds a secret, or another is to be had the next time
PRIVATE: Headers = (NO_STORE, ("Referrer-Policy", "no-referrer"))  # where an address is a secret as well
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
_PLAIN = frozenset({"", "identity", "utf-8", "utf8"})  # some clients put the charset where the coding belongs
_CLOSE = b"Connection: close\r\n"
_EXPOSED = b"Access-Control-Expose-Headers: X-Turn-Token, Location, Retry-After\r\n"
_SHARED = b"Access-Control-Allow-Origin: *\r\n" + _EXPOSED
_ENDS = (  # ends of heads, by whether pages of any site may read the answer, and whether the connection ends
    (b"\r\n", _CLOSE + b"\r\n"),
    (_SHARED + b"\r\n", _SHARED + _CLOSE + b"\r\n"),
)

_STARTS = 256  # beginnings of answers that are remembered, a few hundred bytes each: bots are sent three
_STATUS = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


def event_stream(*headers: tuple[str, str]) -> Headers:
    """The headers of a stream of events with these, which no proxy may gather until it is over."""
    return (EVENTS, *headers, ("X-Accel-Buffering", "no"))


class Request(Struct, frozen=True):
    """One request, whole."""

    method: str
    path: str  # decoded, without the query
    query: Mapping[str, str]  # decoded; the last value, if a name comes twice
    headers: Mapping[str, str]  # names in lower case; all values joined by commas, if a name comes twice
    body: bytes
    peer: str  # the client's address; "" when it is not known
    arrived: float  # when its last byte arrived, on trio's clock
    secure: bool  # over TLS
    asked: str = ""  # the query as it was written
    old: bool = False  # HTTP/1.0

    @property
    def bearer(self) -> bytes:
        """The token that it brings; b"" if it brings none."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""


class Response(Struct, frozen=True):
    """One answer, whole. Content-Length, Transfer-Encoding and Connection are added where they belong."""

    status: int = 200
    headers: Headers = ()
    body: bytes = b""
    own: Headers = ()  # headers that only this answer has, after the others: caching them would be no use


def json_response(status: int, value: object, *headers: tuple[str, str]) -> Response:
    return Response(status, JSON + headers, msgspec.json.encode(value))


def text_response(kind: str, text: str) -> Response:
    return Response(200, typed(kind), text.encode())


def refused(status: int, sentence: str, *headers: tuple[str, str]) -> Response:
    """`{"error": sentence}`: what was expected, and what came."""
    return json_response(status, {"error": sentence}, *headers)


def unstored(response: Response, *more: tuple[str, str]) -> Response:
    """The same, with headers by which no browser keeps it, and `more` in place of those of these names."""
    own = NO_STORE, *more
    names = {name for name, _ in own}
    kept = [header for header in response.headers if header[0] not in names]
    return Response(response.status, (*kept, *own), response.body)


def takes_only(request: Request, *allowed: str) -> Response:
    """Refuse a method that an address does not take."""
    methods = ", ".join(allowed)
    return refused(405, f"{safe(request.path)} takes {methods}, not {request.method}", ("Allow", methods))


def check_coding(request: Request) -> None:
    """Refuse a body that is compressed, in a request that says how: applications read it as it stands."""
    coding = request.headers["content-encoding"]
    if request.body and not _PLAIN.issuperset(each.strip(" \t").lower() for each in coding.split(",")):
        sentence = f"expected a body as it is, without Content-Encoding, and this one came as {safe(coding)}"
        raise HttpError(415, sentence, ("Accept-Encoding", "identity"))


class Requests:
    """The requests of one connection, one after the other.

    However the bytes are cut, the same requests come out, and then the same
    `HttpError`; after that, it must not be asked again.
    """

    __slots__ = (
        "_buffer",
        "_chunks",
        "_limits",
        "_peer",
        "_raw",
        "_scanned",
        "_secure",
        "_skipped",
        "head",
        "stage",
    )

    def __init__(self, limits: Limits, peer: str = "", secure: bool = False) -> None:
        self._limits = limits
        self._peer = peer
        self._secure = secure
        self._buffer: bytes = b""
        self._scanned = 0  # where to look for the end of a head in what was fed: it does not begin before
        self._skipped = False  # whether the one empty line that may come before a request was skipped
        self._raw: bytes = b""  # the bytes of `head`: a bot sends the same head again and again
        self._chunks: Chunks | None = None  # of the body, so far
        self.head: Head | None = None  # of the request that was read last, or is being read
        self.stage: Literal["idle", "head", "body"] = "idle"  # what the client is in the middle of

    @property
    def left(self) -> bool:
        """Whether something was fed that no request has used up."""
        return bool(self._buffer)

    @property
    def begun(self) -> bytes:
        """The head of the request that is being read, or cannot be read."""
        return self._raw if self.stage == "body" else self._buffer

    def feed(self, received: bytes) -> None:
        self._buffer = self._buffer + received if self._buffer else received

    def give_up(self, body: bytes) -> tuple[bytes, bytes]:
        """Bytes that make up the last request again, with its `body`; and what was fed and not used."""
        head, left = self.head, self._buffer
        assert head is not None  # noqa: S101
        if head.length is None:
            body = chunk(body) + LAST_CHUNK if body else LAST_CHUNK
        self._buffer = b""
        return self._raw + body, left

    def next(self, arrived: float) -> Request | None:
        """The next request, if all of it was fed; `arrived` is when its last byte was. Raises `HttpError`."""
        if not self._buffer:
            return None
        if self.stage != "body" and not self._begin():
            return None
        head = self.head
        assert head is not None  # noqa: S101
        body = self._chunked() if head.length is None else self._counted(head.length)
        if body is None:
            return None
        self.stage = "idle"
        return Request(
            head.method,
            head.path,
            head.query,
            head.headers,
            body,
            self._peer,
            arrived,
            self._secure,
            head.asked,
            head.old,
        )

    def _begin(self) -> bool:
        """Take a head, if all of it is there."""
        buffer = self._buffer
        if buffer.startswith(b"\r\n") and not self._skipped:
            self._skipped = True  # some old clients send one after a body
            self._buffer = buffer = buffer[2:]
        end = buffer.find(b"\r\n\r\n", self._scanned) + 4
        if end < 4:
            if buffer not in (b"", b"\r"):
                self.stage = "head"
                check_begun(buffer, self._limits)
            self._scanned = max(0, len(buffer) - 3)
            return False
        raw = buffer[:end]
        if raw != self._raw:
            self.head = self._read(raw)
            self._raw = raw
        self._buffer = buffer[end:]
        self._scanned = 0
        self._skipped = False
        self.stage = "body"
        return True

    def _read(self, raw: bytes) -> Head:
        head = read_head(raw, self._limits)
        if head.length is not None:
            check_length(head.length, self._limits.body_bytes)
        return head

    def _counted(self, length: int) -> bytes | None:
        buffer = self._buffer
        if len(buffer) < length:
            return None
        self._buffer = buffer[length:]
        return buffer[:length]

    def _chunked(self) -> bytes | None:
        if self._chunks is None:
            self._chunks = Chunks(self._limits.body_bytes, len(self._raw), self._limits.head_bytes)
        body, self._buffer = self._chunks.take(self._buffer)
        if body is not None:
            self._chunks = None
        return body


def opening(
    status: int, headers: Headers, *, chunked: bool = False, last: bool = False, shared: bool = False
) -> bytes:
    """What comes before a body that is streamed: in chunks, or until the connection ends."""
    if chunked:
        headers += (("Transfer-Encoding", "chunked"),)
    return _start(status, headers) + _ENDS[shared][last]


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(content), content)


def written(
    response: Response, *, only_head: bool = False, last: bool = False, shared: bool = False
) -> bytes:
    """A whole answer.

    `only_head` is for HEAD; `last` says that the connection ends after it, `shared` that pages of any
    site may read it.
    """
    status, body = response.status, response.body
    start, end = _start(status, response.headers), _ENDS[shared][last]
    for name, value in response.own:
        start += _line(name, value)
    if status in (204, 304):  # these have no body, and must not mention one
        return start + end
    return b"%bContent-Length: %d\r\n%b%b" % (start, len(body), end, b"" if only_head else body)


@lru_cache(_STARTS)
def _start(status: int, headers: Headers) -> bytes:
    return b"".join([_STATUS[status], *(_line(name, value) for name, value in headers)])


def _line(name: str, value: str) -> bytes:
    """A header line. A line end within it would let a stranger forge another answer."""
    line = f"{name}: {value}"
    if "\n" in line or "\r" in line:
        raise ValueError(f"a header of an answer holds a line end: {line!r}")
    return f"{line}\r\n".encode("latin-1")
