"""HTTP/1.1 without I/O: bytes in, requests out; responses in, bytes out.

One request at a time is read, and the next only when it is asked for: those
that a client sends ahead cost no more than their bytes. Bodies are taken by
their length or by chunks without extensions or trailers, and by nothing else.

Not here: deadlines, connections, whose turn it is (`server/http.py`).
"""

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Literal

import msgspec
from msgspec import Struct

from server.http_head import Head, Refusal, check_begun, read_head
from server.limits import Limits

Headers = tuple[tuple[str, str], ...]
Room = Callable[[str, str], int]  # method and path → the longest body, in bytes

JSON: Headers = (("Content-Type", "application/json; charset=utf-8"), ("X-Content-Type-Options", "nosniff"))
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"

_STATUS = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus}
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_BEGUN_SIZE = re.compile(rb"[0-9A-Fa-f]{0,8}\r?")


class Request(Struct, frozen=True):
    """One request, whole."""

    method: str
    path: str  # decoded, without the query
    query: Mapping[str, str]  # decoded; of a name that comes twice, the last
    headers: Mapping[str, str]  # names in lower case; of a name that comes twice all, joined by commas
    body: bytes
    peer: str  # the client's address; "" when it is not known
    arrived: float  # when the last byte of it was there, on trio's clock
    secure: bool  # over TLS


class Response(Struct, frozen=True):
    """One answer, whole. Content-Length, Transfer-Encoding and Connection are added where they belong."""

    status: int = 200
    headers: Headers = ()
    body: bytes = b""


def json_response(status: int, value: object, *headers: tuple[str, str]) -> Response:
    return Response(status, JSON + headers, msgspec.json.encode(value))


def refused(status: int, sentence: str) -> Response:
    """`{"error": sentence}`: what was expected, and what came."""
    return json_response(status, {"error": sentence})


class Requests:
    """The requests of one connection, one after the other.

    However the bytes are cut, the same requests come out, and then the same
    `Refusal`, which is for good.
    """

    __slots__ = (
        "_body",
        "_buffer",
        "_limits",
        "_peer",
        "_raw",
        "_room",
        "_scanned",
        "_secure",
        "_skipped",
        "head",
        "stage",
    )

    def __init__(self, limits: Limits, room: Room, peer: str = "", secure: bool = False) -> None:
        self._limits = limits
        self._room = room
        self._peer = peer
        self._secure = secure
        self._buffer = b""
        self._scanned = 0  # so much of it holds no end of a head
        self._skipped = False  # the one empty line that may come before a request
        self._raw = b""  # what `head` was read from: bots send the same head again and again
        self._body: bytearray | None = None  # of chunks, so far
        self.head: Head | None = None  # of the request that was read last, or is being read
        self.stage: Literal["idle", "head", "body"] = "idle"  # what the client is in the middle of

    def feed(self, received: bytes) -> None:
        self._buffer = self._buffer + received if self._buffer else received

    def next(self, arrived: float) -> Request | None:
        """The next request, if all of it was fed; `arrived` is when its last byte was. Raises `Refusal`."""
        head = self.head
        if self.stage != "body" or head is None:
            head = self._next_head()
            if head is None:
                return None
            self.head = head
            self.stage = "body"
        body = self._chunks() if head.length is None else self._counted(head.length)
        if body is None:
            return None
        self.stage = "idle"
        self._skipped = False
        return Request(
            head.method, head.path, head.query, head.headers, body, self._peer, arrived, self._secure
        )

    def _next_head(self) -> Head | None: ...
