"""What the server makes of the bytes that a client sends, without a connection."""

from server.http.head import HttpError
from server.http.wire import Request, Requests
from server.net.limits import Limits

CHUNKED = b"Transfer-Encoding: chunked"
LIMITS = Limits(body_bytes=200)


def requests(limits: Limits = LIMITS) -> Requests:
    return Requests(limits, "192.0.2.1")


def served(pieces: list[bytes], limits: Limits = LIMITS) -> tuple[list[Request], int | None]:
    """The requests that are served, and the status of the refusal that ends them."""
    reader, got = requests(limits), list[Request]()
    try:
        for piece in pieces:
            reader.feed(piece)
            while (request := reader.next(0.0)) is not None:
                got.append(request)
    except HttpError as refusal:
        return got, refusal.status
    return got, None


def get(*headers: bytes, line: bytes = b"GET / HTTP/1.1") -> bytes:
    return b"\r\n".join([line, b"Host: a", *headers, b"", b""])


def post(*headers: bytes, body: bytes = b"") -> bytes:
    return get(*headers, line=b"POST / HTTP/1.1") + body


def status(content: bytes, limits: Limits = LIMITS) -> int | None:
    """What the first request is refused with."""
    got, end = served([content], limits)
    assert not got
    return end
