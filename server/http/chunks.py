"""The body of a request that comes in chunks: bytes in, the body out once the last chunk is there.

Extensions of chunks and trailers are read and left out: nothing here uses them, but
RFC 9112 (7.1.1, 7.1.2) wants them accepted. They are held to the grammar, and together
with the head they may have as many bytes as a head.

How long a body is in the other case, a number in the head, is for `server/http/wire.py`.
"""

import re

from server.http.head import ONCE, HttpError

CRLF = b"\r\n"
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_BEGUN_SIZE = re.compile(rb"[0-9A-Fa-f]{0,8}\r?|[0-9A-Fa-f]{1,8};.*", re.DOTALL)
_NAME = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_QUOTED = rb'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*+"'
_VALUE = rb"(?:%b|%b)" % (_NAME, _QUOTED)
# No group that holds others is possessive: in early releases of Python 3.11 such a group takes what does not
# match. Whatever follows an extension or a trailer is no part of it, so little is tried twice all the same.
_EXTENSIONS = re.compile(rb"(?:[\t ]*+;[\t ]*+%b(?:[\t ]*+=[\t ]*+%b)?)+" % (_NAME, _VALUE))
_FRAMING = rb"(?!(?:%b):)" % "|".join(ONCE).encode()  # what another server might merge into the head
_TRAILERS = re.compile(rb"(?:%b%b:[\t -~\x80-\xff]*+\r\n)+\r\n" % (_FRAMING, _NAME), re.IGNORECASE)


class Chunks:
    """The chunks of one body, as they come."""

    __slots__ = ("_beside", "_body", "_head_bytes", "_room")

    def __init__(self, room: int, head: int, head_bytes: int) -> None:
        """`room` is for the body; its head had `head` of the `head_bytes` bytes that it may have."""
        self._room = room
        self._head_bytes = head_bytes
        self._beside = head  # bytes of the request, so far, that are neither body nor its framing
        self._body = bytearray()

    def take(self, buffer: bytes) -> tuple[bytes | None, bytes]:
        """The body, if `buffer` has its end, and what is left of `buffer`. Raises `HttpError`."""
        while True:
            line, ended, rest = buffer.partition(CRLF)
            if not ended:
                if not _BEGUN_SIZE.fullmatch(line):
                    raise _bad_chunk()
                if b";" in line:
                    self._check_beside(len(line.removesuffix(b"\r").partition(b";")[2]) + 1)
                return None, buffer
            extensions = b""
            if not _SIZE.fullmatch(line):
                line, extensions = self._without_extensions(line)
            size = int(line, 16)
            check_length(len(self._body) + size, self._room)
            if size == 0:
                left = self._after_last(rest, len(extensions))
                return (None, buffer) if left is None else (bytes(self._body), left)
            if rest[size : size + 2] != CRLF[: max(0, len(rest) - size)]:
                raise _bad_chunk()
            if len(rest) < size + 2:
                return None, buffer
            self._body += rest[:size]
            self._beside += len(extensions)
            buffer = rest[size + 2 :]

    def _without_extensions(self, line: bytes) -> tuple[bytes, bytes]:
        """The size in a line that says more, and the rest of the line."""
        size, semicolon, _ = line.partition(b";")
        if not (semicolon and _SIZE.fullmatch(size)):
            raise _bad_chunk()
        extensions = line[len(size) :]
        self._check_beside(len(extensions))
        if not _EXTENSIONS.fullmatch(extensions):
            raise HttpError(
                400, 'an extension of a chunk is ;name, ;name=value or ;name="value" after its size'
            )
        return size, extensions

    def _after_last(self, rest: bytes, beside: int) -> bytes | None:
        """What is left after the empty line that ends a body; None if that line is not there yet."""
        if rest.startswith(CRLF):
            return rest[2:]
        end = rest.find(b"\r\n\r\n") + 4
        if end < 4:
            self._check_beside(beside + len(rest))
            return None
        self._check_beside(beside + end)
        if not _TRAILERS.fullmatch(rest, 0, end):
            raise HttpError(
                400,
                "after the last chunk comes an empty line, with trailers like headers before it or not, "
                f"and none of them is {', '.join(ONCE)}",
            )
        return rest[end:]

    def _check_beside(self, more: int) -> None:
        if self._beside + more > self._head_bytes:
            raise HttpError(
                431,
                f"request line, headers, extensions of chunks and trailers may have {self._head_bytes} bytes "
                "together",
            )


def check_length(length: int, room: int) -> None:
    if length > room:
        raise HttpError(413, f"a body may have {room} bytes here")


def _bad_chunk() -> HttpError:
    return HttpError(400, "a chunk is its size in hexadecimal digits and its bytes, each with CR LF after it")
