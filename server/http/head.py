"""The head of an HTTP/1.1 request: request line and headers, from bytes to a value.

llhttp, through httptools, reads only the head, and only when all of it is there.
Around it is the narrowest reading of RFC 9112: anything that two servers might
understand differently is refused, because what one of them takes for a body the
other may take for a request. Old clients lose nothing by that: none was found that
sends any of this.

The heads that bots send are unambiguous, and most of their lines have come before.
Such a head is put together from its lines; llhttp reads every other head, and any
that is refused.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import unquote

import httptools
from msgspec import Struct

from server.exits import Unavailable, Unusable
from server.net.escaping import safe
from server.net.guard import MovedAway
from server.net.hosts import host_and_path
from server.net.limits import Limits

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

Address = tuple[str, Mapping[str, str], str]  # path, query, and the query as it was written
RequestLine = tuple[str, bytes, bool]  # method, target, and whether it is HTTP/1.0
LF_ALONE = "lines of a head end with CR LF, and here is one with LF alone"
RETRY_SOON = ("Retry-After", "1")  # seconds
RETRY_LATER = ("Retry-After", "5")  # enough for a host to start again
KNOWN = 1024  # lines of each kind that are remembered: a bot sends most of them with every move of a match
ONCE = ("host", "content-length", "transfer-encoding")
ESCAPED_SLASH = "\x1f"  # in a path, where it separates nothing; no path holds this otherwise
PLAIN = 1024  # bytes of a head that is put together from its lines, each of which may be remembered

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}"
_REQUEST_LINE = re.compile(_TOKEN.join((b"(", rb") ([!-~]+) HTTP/([0-9]\.[0-9])")))
_BEGUN_LINE = re.compile(_TOKEN + rb"( [ -~]*)?")  # what may yet become a request line
_LINE_BESIDE_TARGET = 50  # bytes: a method, the version and spaces
_HOST = re.compile(r"[0-9A-Za-z._~!$&'()*+,;=:%\[\]-]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NOT_IN_PATHS = re.compile(rb"%(?:[01][0-9a-f]|7f)", re.IGNORECASE)
_SLASH = re.compile(rb"%2f", re.IGNORECASE)
_PLAIN_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*")
_NEVER = re.compile(r"(?!)")
_PLAIN_VALUES: Mapping[str, re.Pattern[str]] = {  # of the headers that say something to HTTP itself
    "host": _HOST,
    "content-length": re.compile(r"[0-9]{1,15}"),
    "connection": re.compile(r"keep-alive", re.IGNORECASE),
    "proxy-connection": _NEVER,
    "transfer-encoding": _NEVER,
    "upgrade": _NEVER,
    "expect": _NEVER,
}


def retry_after(seconds: int) -> tuple[str, str]:
    """The header that says when a client may come again."""
    return ("Retry-After", str(seconds))


BEARER = ("WWW-Authenticate", "Bearer")  # a 401 names the scheme that it wants


class HttpError(Exception):
    """The client's fault: the answer has `status` and the message, a sentence for the client's author.

    After it nobody knows where the next request begins, so the connection ends.
    """

    def __init__(self, status: int, sentence: str, *headers: tuple[str, str]) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers


def told_of(error: Exception) -> HttpError:
    """The error that a client is told when an application raised `error` over its request."""
    if isinstance(error, HttpError):
        return error
    if isinstance(error, MovedAway):
        return HttpError(503, str(error), RETRY_SOON)
    if isinstance(error, Unavailable):  # its message is for the organiser
        return HttpError(503, "this host cannot read its journal just now: ask again in a second", RETRY_SOON)
    if isinstance(error, Unusable):
        return HttpError(503, "this host's journal is damaged: only its organiser can mend that", RETRY_LATER)
    return HttpError(500, "the fault is this host's, and it is logged")


class _NotPlain(Exception):
    """A line whose meaning, or whether it is allowed, depends on the whole head."""


class Head(Struct, frozen=True):
    """What comes before a body."""

    method: str
    path: str  # decoded, without the query
    query: Mapping[str, str]
    asked: str  # the query as it was written
    headers: Mapping[str, str]
    length: int | None  # of the body; None if it comes in chunks
    old: bool  # HTTP/1.0: the client knows no chunks
    last: bool  # the client wants no answer after this one
    waits: bool  # the client sends its body only when told that it may


def check_begun(begun: bytes, limits: Limits) -> RequestLine | None:
    """Refuse, as early as possible, what can no longer become a head; `begun` is all or the start of it."""
    end, found = begun.find(b"\r\n"), None
    if end >= 0:
        found = _request_line(begun[:end], limits.target_bytes)
    else:
        _check_line(begun.removesuffix(b"\r"), limits.target_bytes)
    if begun.count(b"\n", 0, limits.head_bytes) > begun.count(b"\r\n", 0, limits.head_bytes):
        raise HttpError(400, LF_ALONE)
    if len(begun) > limits.head_bytes:
        raise HttpError(431, f"request line and headers may have {limits.head_bytes} bytes together")
    return found


def read_head(raw: bytes, limits: Limits) -> Head:
    """The head in `raw`, which is all of it, including the empty line that ends it."""
    return _plain(raw, limits) or _careful(raw, limits)


def _plain(raw: bytes, limits: Limits) -> Head | None:
    """The head, read faster, if each line is plain by itself; None if one is not."""
    if len(raw) > PLAIN or len(raw) > limits.head_bytes or not raw.endswith(b"\r\n\r\n"):
        return None
    line, _, lines = raw[:-4].partition(b"\r\n")
    try:
        method, path, query, asked = _plain_request_line(line, limits.target_bytes)
        headers, length = _plain_headers(lines, limits.headers)
    except (_NotPlain, HttpError):
        return None
    return Head(method, path, query, asked, headers, length, False, False, False)


@lru_cache(KNOWN)
def _plain_request_line(line: bytes, most: int) -> tuple[str, str, Mapping[str, str], str]:
    method, target, old = _request_line(line, most)
    if old or not target.startswith(b"/"):
        raise _NotPlain
    return method, *_address(target)


@lru_cache(KNOWN)
def _plain_headers(raw: bytes, most: int) -> tuple[Mapping[str, str], int]:
    """Headers by name in lower case, and the length of the body."""
    lines = raw.split(b"\r\n")
    headers = dict(map(_plain_header, lines))
    if "host" not in headers or not len(headers) == len(lines) <= most:  # a name may come twice
        raise _NotPlain
    return headers, int(headers.get("content-length", "0"))


@lru_cache(KNOWN)
def _plain_header(line: bytes) -> tuple[str, str]:
    if not _PLAIN_HEADER.fullmatch(line):
        raise _NotPlain
    name, _, value = line.decode().partition(":")
    key, text = name.lower(), value.strip(" ")
    if key in _PLAIN_VALUES and not _PLAIN_VALUES[key].fullmatch(text):
        raise _NotPlain
    return key, text


def _careful(raw: bytes, limits: Limits) -> Head:
    line = check_begun(raw, limits)
    if line is None:
        raise _no_request(raw)
    method, target, old = line
    headers = _headers(raw, limits)
    host = headers.get("host")
    if host is not None or old:
        named, target = host_and_path(target)
        if named:
            headers["host"] = host = named.decode()
    if (host is None and not old) or (host and not _HOST.fullmatch(host)):
        raise HttpError(400, "a request names one host, as in `Host: example.org`; in HTTP/1.1 it has to")
    if headers.get("upgrade", "").lower() == "websocket":
        raise HttpError(
            400,
            "HTTP is spoken at this port: bots speak websocket at another one of this host, "
            "8001 unless its organiser has set another",
        )
    if (expected := headers.get("expect", "").lower()) not in ("", "100-continue"):
        raise HttpError(417, "the only expectation that can be met is 100-continue")
    path, query, asked = _address(target)
    return Head(
        method,
        path,
        query,
        asked,
        headers,
        _length(headers, old),
        old,
        old or ("connection" in headers and _closes(headers["connection"])),
        expected != "" and not old,
    )


def form(pairs: bytes) -> dict[str, str]:
    """The values in `a=1&b=x+y`, as addresses and forms write it; the last one, if a name comes twice."""
    found: dict[str, str] = {}
    for pair in pairs.split(b"&") if pairs else ():
        if pair:
            name, _, value = pair.replace(b"+", b" ").partition(b"=")
            found[_unescaped(name)] = _unescaped(value)
    return found


def _check_line(line: bytes, most: int) -> None:
    """Refuse the beginning of a request line whose target has more than `most` bytes, or that is none."""
    longest = most + _LINE_BESIDE_TARGET
    if not _BEGUN_LINE.fullmatch(line, 0, longest):
        raise _no_request(line)
    if len(line) > longest:
        raise HttpError(414, f"an address may have {most} bytes")


@lru_cache(KNOWN)
def _request_line(line: bytes, most: int) -> RequestLine:
    _check_line(line, most)
    found = _REQUEST_LINE.fullmatch(line)
    if found is None:
        raise _no_request(line)
    method, target, version = found.groups()
    if version not in (b"1.0", b"1.1"):
        raise HttpError(505, f"HTTP/1.1 and HTTP/1.0 are spoken here, not HTTP/{version.decode()}")
    if len(target) > most:
        raise HttpError(414, f"an address may have {most} bytes")
    if method.decode() not in METHODS:
        allowed = ", ".join(sorted(METHODS))
        sentence = f"{method.decode()} is not a method of this host; these are: {allowed}"
        raise HttpError(405, sentence, ("Allow", allowed))
    return method.decode(), target, version == b"1.0"


def _no_request(line: bytes) -> HttpError:
    first, alone, _ = line.partition(b"\n")
    if alone and _REQUEST_LINE.fullmatch(first):
        return HttpError(400, LF_ALONE)
    return HttpError(400, f"expected a line such as GET / HTTP/1.1, not {safe(ascii(line)[1:])}")


def _headers(raw: bytes, limits: Limits) -> dict[str, str]:
    """Headers by name in lower case; if a name comes twice, its values are joined where that can be right."""
    ended = _Ended()
    try:
        httptools.HttpRequestParser(ended).feed_data(raw)
    except httptools.HttpParserUpgrade:
        pass  # offered, not demanded: answering in HTTP/1.1 declines it
    except httptools.HttpParserError as error:
        raise HttpError(400, f"the headers cannot be read: {error}") from None
    if not ended.headers:
        raise HttpError(400, "the headers cannot be read")
    lines = raw.decode("latin-1").split("\r\n")[1:-2]  # now each is a token, a colon and a value
    if len(lines) > limits.headers:
        raise HttpError(431, f"a request may have {limits.headers} headers, and this one has {len(lines)}")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        key, text = name.lower(), value.strip(" \t")
        if key in headers:
            if key in ONCE:
                raise HttpError(400, f"{key} may come once, and it came twice")
            text = f"{headers[key]}, {text}"
        headers[key] = text
    return headers


def _length(headers: Mapping[str, str], old: bool) -> int | None:
    """How long the body is: the one question on which two servers must not differ."""
    length = headers.get("content-length")
    if (coding := headers.get("transfer-encoding")) is not None:
        if coding.lower() != "chunked" or length is not None or old:
            raise HttpError(
                400, "Transfer-Encoding may be chunked and nothing else, in HTTP/1.1, without Content-Length"
            )
        return None
    if length is None:
        return 0
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise HttpError(400, "Content-Length is a number of bytes")
    return int(length)


def _closes(connection: str) -> bool:
    return "close" in (option.strip() for option in connection.lower().split(","))


@lru_cache(KNOWN)
def _address(target: bytes) -> Address:
    """Path and query of `/path?query`."""
    if b"#" in target or not (target.startswith(b"/") or target == b"*"):
        raise HttpError(400, "an address is a path that begins with /, and a query after a ?")
    path, _, query = target.partition(b"?")
    if b"%" in path:
        if _NOT_IN_PATHS.search(path):
            raise HttpError(400, "a path holds no control characters")
        path = _SLASH.sub(ESCAPED_SLASH.encode(), path)
    return _unescaped(path), form(query), query.decode()


def _unescaped(text: bytes) -> str:
    """Percent signs and UTF-8 undone, strictly."""
    try:
        decoded = text.decode()
        if "%" in decoded:
            if _BAD_ESCAPE.search(decoded):
                raise HttpError(400, "after a percent sign come two hexadecimal digits")
            decoded = unquote(decoded, errors="strict")
    except UnicodeDecodeError:
        raise HttpError(400, "text has to be UTF-8") from None
    return decoded


class _Ended:
    """Notes that llhttp has read the whole head."""

    headers = False

    def on_headers_complete(self) -> None:
        self.headers = True
