"""Websocket frames (RFC 6455) as a server reads and writes them.

`Frames` turns bytes into messages and control frames, and holds the peer to the
protocol and to the limits: it never keeps more than one message, however the
message was cut up. It does no I/O and decides nothing. The handshake is not here;
neither are extensions, since the host agrees to none.

A server's own frames are not masked: a header before the payload, and no more.
"""

from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Iterable, Iterator
from struct import pack

from msgspec import Struct

from server.net.limits import Limits

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
OPCODES = frozenset({CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG})
FINAL, RESERVED, OPCODE, CONTROL = 0x80, 0x70, 0x0F, 0x08  # bits of a frame's first byte
WHOLE_TEXT = FINAL | TEXT  # that byte, for a text message in one frame
MASKED, SIZE = 0x80, 0x7F  # bits of its second byte
TWO_BYTES, EIGHT_BYTES = 126, 127  # in place of the size, which follows in so many bytes
SHORT = 125  # bytes of payload: the largest size that needs no more bytes, and all that a control frame has
MASK = 4  # bytes
_Utf8 = getincrementaldecoder("utf-8")

# Why a connection is closed.
NORMAL, GOING_AWAY, PROTOCOL_ERROR, NOT_UTF8, POLICY, TOO_BIG = 1000, 1001, 1002, 1007, 1008, 1009


class Ping(Struct, frozen=True):
    payload: bytes


class Pong(Struct, frozen=True):
    payload: bytes


class Close(Struct, frozen=True):
    """The last thing that the peer says. Without a code it did not say why."""

    code: int | None = None
    reason: str = ""


Item = bytes | Ping | Pong | Close  # bytes are a message, text and binary alike


class BadFrame(Exception):
    """The peer broke the protocol or passed a limit; `code` is what to close with."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


class Frames:
    """The frames of one client.

    However the input is cut, the same items come out, and then the same
    `BadFrame`, if there is one. After that, and after a `Close`, nothing does.
    """

    __slots__ = ("_begun", "_count", "_limits", "_message", "_needed", "_open", "_over", "_short", "_utf8")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._short = min(SHORT, limits.message_bytes)
        self._begun = bytearray()  # the part of a frame that has come so far
        self._needed = 0  # bytes of it that have to have come before it is worth another look
        self._open = False  # a message has begun and not ended:
        self._message = bytearray()  # what has come of it
        self._count = 0  # how many frames it has so far
        self._utf8: IncrementalDecoder | None = None  # if it is text
        self._over = False

    def receive(self, data: bytes) -> Iterable[Item]:
        """Every item that `data` completes. Iterate to the end before the next call."""
        size = len(data) - 2 - MASK
        if (
            0 <= size <= self._short
            and data[0] == WHOLE_TEXT
            and data[1] == MASKED | size
            and not (self._begun or self._open or self._over)
        ):
            payload = _unmasked(data[2 : 2 + MASK], data[2 + MASK :])
            if payload.isascii():
                return (payload,)  # one short message, as nearly always
        return self._receive(data)

    @property
    def unread(self) -> bytes:
        """What has come of the next message, as frames that say the same to a reader who begins here."""
        begun = b""
        if self._open:
            opcode = BINARY if self._utf8 is None else TEXT
            begun = masked(bytes(self._message), opcode, final=False)
        return begun + self._begun

    def _receive(self, data: bytes) -> Iterator[Item]:
        if self._begun:
            self._begun += data
            if len(self._begun) < self._needed:
                return
            data = bytes(self._begun)
            self._begun.clear()
        start = 0
        try:
            while not self._over and (bounds := self._bounds(data, start)) is not None:
                at, end = bounds
                payload = _unmasked(data[at - MASK : at], data[at:end])
                first, start = data[start], end
                if first & CONTROL:
                    yield self._control(first & OPCODE, payload)
                elif (message := self._part(first, payload)) is not None:
                    yield message
        except BadFrame:
            self._over = True
            raise
        if not self._over:
            self._begun += data[start:]

    def _bounds(self, data: bytes, start: int) -> tuple[int, int] | None:
        """Where the payload of the frame at `start` begins and ends; None while part of it is missing."""
        there = len(data) - start
        if there < 2:
            self._needed = 2
            return None
        first, second = data[start], data[start + 1]
        self._check(first, second)
        size, at = second & SIZE, start + 2
        if size > SHORT:
            least = SHORT + 1 if size == TWO_BYTES else 1 << 16
            at += 2 if size == TWO_BYTES else 8
            if len(data) < at:
                self._needed = at - start
                return None
            size = int.from_bytes(data[start + 2 : at], "big")
            if size < least or size >> 63:
                raise BadFrame(PROTOCOL_ERROR, "a size is written in as few bytes as it needs")
        if not first & CONTROL and size + len(self._message) > self._limits.message_bytes:
            raise BadFrame(TOO_BIG, f"a message may have {self._limits.message_bytes} bytes")
        at += MASK
        self._needed = at + size - start
        return (at, at + size) if there >= self._needed else None

    def _check(self, first: int, second: int) -> None:
        """Raise `BadFrame` if a frame may not begin with these two bytes."""
        opcode = first & OPCODE
        if first & RESERVED:
            why = "a reserved bit is set, and no extension was agreed on"
        elif opcode not in OPCODES:
            why = f"there is no opcode {opcode}"
        elif not second & MASKED:
            why = "a client masks its frames"
        elif opcode & CONTROL and (not first & FINAL or second & SIZE > SHORT):
            why = f"a control frame is a single one, of at most {SHORT} bytes"
        elif opcode == CONTINUATION and not self._open:
            why = "there is no message to go on with"
        elif opcode in (TEXT, BINARY) and self._open:
            why = "a message begins before the last one has ended"
        else:
            return
        raise BadFrame(PROTOCOL_ERROR, why)

    def _part(self, first: int, payload: bytes) -> bytes | None:
        """Take in a frame of a message; returns the message if this was its last frame."""
        opcode, final = first & OPCODE, bool(first & FINAL)
        if final and opcode != CONTINUATION:  # as nearly all are
            if opcode == TEXT and not payload.isascii():
                _verify(_Utf8(), payload, final)
            return payload
        if opcode != CONTINUATION:
            self._open, self._count = True, 0
            self._utf8 = _Utf8() if opcode == TEXT else None
        self._count += 1
        if self._count > self._limits.frames_per_message:
            raise BadFrame(POLICY, f"a message may have {self._limits.frames_per_message} frames")
        if self._utf8 is not None:
            _verify(self._utf8, payload, final)
        self._message += payload
        if not final:
            return None
        message = bytes(self._message)
        self._message.clear()
        self._open = False
        return message

    def _control(self, opcode: int, payload: bytes) -> Ping | Pong | Close:
        if opcode == PING:
            return Ping(payload)
        if opcode == PONG:
            return Pong(payload)
        self._over = True
        if not payload:
            return Close()
        code, reason = int.from_bytes(payload[:2], "big"), payload[2:]
        if len(payload) < 2 or not _may_close(code):
            raise BadFrame(PROTOCOL_ERROR, f"nobody may close with {payload[:2].hex()}")
        _verify(_Utf8(), reason, True)
        return Close(code, reason.decode())


def masked(payload: bytes, opcode: int = TEXT, *, final: bool = True) -> bytes:
    """A frame as a client sends it, with a mask that changes nothing."""
    size, first = len(payload), (FINAL if final else 0) | opcode
    if size <= SHORT:
        head = pack(">BB", first, MASKED | size)
    elif size < 1 << 16:
        head = pack(">BBH", first, MASKED | TWO_BYTES, size)
    else:
        head = pack(">BBQ", first, MASKED | EIGHT_BYTES, size)
    return head + bytes(MASK) + payload


def repeated(item: Item) -> bytes:
    """What a client sends to say this."""
    match item:
        case bytes():
            return masked(item, BINARY)  # a text was found to be UTF-8 already
        case Ping(payload=payload):
            return masked(payload, PING)
        case Pong(payload=payload):
            return masked(payload, PONG)
        case Close(code=code, reason=reason):
            return masked(b"" if code is None else pack(">H", code) + reason.encode(), CLOSE)


def framed(payload: bytes, opcode: int = TEXT) -> bytes:
    """A whole message, or a control frame, as a server sends it."""
    size = len(payload)
    if size <= SHORT:
        return pack(">BB", FINAL | opcode, size) + payload
    if size < 1 << 16:
        return pack(">BBH", FINAL | opcode, TWO_BYTES, size) + payload
    return pack(">BBQ", FINAL | opcode, EIGHT_BYTES, size) + payload


def closing(code: int | None, why: str = "") -> bytes:
    """The frame that closes a connection; the reason is cut to what fits."""
    if code is None:
        return framed(b"", CLOSE)
    reason = why.encode()[: SHORT - 2].decode(errors="ignore")
    return framed(pack(">H", code) + reason.encode(), CLOSE)


def _may_close(code: int) -> bool:
    """Whether a peer may close with it: 1004 to 1006 and 1015 are internal, others unassigned."""
    return 1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999


def _verify(utf8: IncrementalDecoder, text: bytes, final: bool) -> None:
    try:
        utf8.decode(text, final)
    except UnicodeDecodeError as error:
        raise BadFrame(NOT_UTF8, f"a text is UTF-8, and this one has an {error.reason}") from None


def _unmasked(mask: bytes, payload: bytes) -> bytes:
    """Unmask a payload as one big number: Python has nothing quicker for a short one."""
    size = len(payload)
    pattern = (mask * (size // MASK + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")).to_bytes(size, "big")
