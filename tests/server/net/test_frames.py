"""Websocket frames: by the letter of RFC 6455, against wsproto, and against those who want them to grow."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, TextMessage
from wsproto.events import Pong as TheirPong
from wsproto.frame_protocol import FrameProtocol, Opcode, ParseFailed

from server.net.frames import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    BadFrame,
    Close,
    Frames,
    Ping,
    Pong,
    closing,
    framed,
)
from server.net.limits import Limits
from tests.server.cutting import cut, places

LIMITS = Limits()
KEY = b"\x9c\x00\xff\x31"


def frame(
    payload: bytes = b"",
    opcode: int = TEXT,
    *,
    final: bool = True,
    reserved: int = 0,
    mask: bool = True,
    width: int | None = None,
) -> bytes:
    """A client's frame. Its size is written in `width` bytes beside the first, or as it has to be."""
    size = len(payload)
    if width is None:
        width = 0 if size < 126 else 2 if size < 65536 else 8
    short = {0: size, 2: 126, 8: 127}[width]
    head = bytes((final << 7 | reserved << 4 | opcode, mask << 7 | short))
    head += size.to_bytes(width, "big") if width else b""
    if not mask:
        return head + payload
    return head + KEY + bytes(byte ^ KEY[place % 4] for place, byte in enumerate(payload))


def part(payload: bytes = b"", opcode: int = CONTINUATION, *, final: bool = False) -> bytes:
    return frame(payload, opcode, final=final)


def read(*pieces: bytes, limits: Limits = LIMITS) -> list[object]:
    """Every item, and last the code of the failure, if there was one."""
    frames, items = Frames(limits), list[object]()
    try:
        for piece in pieces:
            for item in frames.receive(piece):  # not `extend`: what came before a failure counts
                items.append(item)
    except BadFrame as error:
        items.append(error.code)
        assert not list(frames.receive(frame(b"too late"))), "a failure is for good"
    return items


def read_by_wsproto(content: bytes) -> list[object]:
    """The same by a library that others wrote."""
    library, items, begun = FrameProtocol(False, []), list[object](), b""
    library.receive_bytes(content)
    try:
        for found in library.received_frames():
            match found.opcode, found.payload:
                case Opcode.PING, payload:
                    items.append(Ping(bytes(payload)))
                case Opcode.PONG, payload:
                    items.append(Pong(bytes(payload)))
                case Opcode.CLOSE, (code, reason):
                    items.append(Close(None if code == 1005 else int(code), reason))
                case _, payload:
                    begun += payload.encode() if isinstance(payload, str) else payload
                    if found.message_finished:
                        items.append(begun)
                        begun = b""
    except ParseFailed as error:
        items.append(int(error.code))
    return items


FORBIDDEN = {
    "not masked": (frame(b"x", mask=False), 1002),
    "a reserved bit": (frame(b"x", reserved=4), 1002),
    "compressed": (frame(b"\xca\x05\x00", reserved=4), 1002),
    "opcode 3": (frame(b"x", 3), 1002),
    "opcode 11": (frame(b"x", 11), 1002),
    "a ping in parts": (frame(b"x", PING, final=False), 1002),
    "a ping of 126 bytes": (frame(b"x" * 126, PING), 1002),
    "a close of 126 bytes": (frame(b"\x03\xe8" + b"x" * 124, CLOSE), 1002),
    "nothing to go on with": (part(b"x", final=True), 1002),
    "nothing to go on with after a message": (frame(b"x") + part(b"x"), 1002),
    "a message within a message": (part(b"x", TEXT) + frame(b"x"), 1002),
    "a size in more bytes than it needs": (frame(b"x", width=2), 1002),
    "a size in far more bytes than it needs": (frame(b"x" * 300, width=8), 1002),
    "a size of 2⁶³": (b"\x81\xff\x80" + bytes(7), 1002),
    "a close of one byte": (frame(b"\x03", CLOSE), 1002),
    "a close with a code that nobody may send": (frame(b"\x03\xee", CLOSE), 1002),
    "a close with a code above all": (frame(b"\x13\x88", CLOSE), 1002),
    "a close with a code below all": (frame(b"\x00\x01", CLOSE), 1002),
    "a close with a reason that is no UTF-8": (frame(b"\x03\xe8\xff", CLOSE), 1007),
    "no UTF-8": (frame(b"\xff"), 1007),
    "a surrogate": (frame(b"\xed\xa0\x80"), 1007),
    "half a character": (frame(b"\xe2\x82"), 1007),
    "UTF-8 that goes wrong in the next part": (part(b"\xe2\x82", TEXT) + part(b"\x28"), 1007),
    "half a character at the end of the last part": (part(b"a", TEXT) + part(b"\xe2", final=True), 1007),
    "too large": (frame(b"x" * 65537), 1009),
    "too large in parts": (part(b"x" * 40000, TEXT) + part(b"x" * 25537), 1009),
}


# What a client may send

texts = st.text(max_size=40).map(str.encode) | st.text(min_size=120, max_size=200).map(str.encode)
payloads = st.one_of(texts, st.binary(max_size=140))
codes = st.sampled_from(
    [0, 999, 1000, 1003, 1004, 1005, 1006, 1007, 1013, 1015, 1016, 2999, 3000, 4999, 5000]
)


@st.composite
def sessions(draw: st.DrawFn) -> bytes:
    """Frames of a client, mostly right, some in every way wrong."""
    return b"".join(draw(st.lists(st.one_of(messages(), controls(), oddities()), max_size=8)))


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    content = draw(payloads)
    pieces = cut(content, draw(st.lists(st.integers(0, 1 << 16), max_size=3)))
    first = draw(st.sampled_from([TEXT, BINARY]))
    opcodes = [first] + [CONTINUATION] * (len(pieces) - 1)
    between = [*draw(st.lists(controls(), max_size=2)), b"", b"", b"", b""]
    return b"".join(
        part(piece, opcode, final=number == len(pieces)) + extra
        for number, (piece, opcode, extra) in enumerate(zip(pieces, opcodes, between, strict=False), 1)
    )


@st.composite
def controls(draw: st.DrawFn) -> bytes:
    opcode = draw(st.sampled_from([PING, PONG, PING, PONG, CLOSE]))
    if opcode != CLOSE:
        return frame(draw(st.binary(max_size=125)), opcode)
    if draw(st.booleans()):
        return frame(draw(st.sampled_from([b"", b"\x03", b"\x03\xe8\xff"])), CLOSE)
    return frame(draw(codes).to_bytes(2, "big") + draw(texts)[:123], CLOSE)


@st.composite
def oddities(draw: st.DrawFn) -> bytes:
    return frame(
        draw(st.binary(max_size=130)),
        draw(st.integers(0, 15)),
        final=draw(st.booleans()),
        reserved=draw(st.sampled_from([0, 0, 1, 2, 4])),
        mask=draw(st.booleans()),
        width=draw(st.sampled_from([None, None, 2, 8])),
    )


@given(sessions())
@example(part(b"\xe2\x82", TEXT) + frame(b"!", PING) + part(b"\xac", final=True))
@example(part(b"\xe2\x82", TEXT) + part(b"A", final=True))
@example(frame(b"\xed\xa0\x80"))
def test_the_same_comes_out_as_of_another_library(content: bytes) -> None:
    assert read(content) == read_by_wsproto(content)


@given(sessions(), st.data())
def test_bits_that_flip_are_taken_as_another_library_takes_them(content: bytes, data: st.DataObject) -> None:
    flipped = bytearray(content or b"\x81\x80")
    flipped[data.draw(st.integers(0, len(flipped) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    ours, theirs = read(bytes(flipped)), read_by_wsproto(bytes(flipped))
    if ours[-1:] in ([1002], [1009]) and theirs[-1:] != ours[-1:]:
        ours = ours[:-1]  # we refuse a frame by its head, and it waits for the rest
        theirs = theirs[: len(ours)]
    elif theirs[-1:] == [1007] != ours[-1:]:
        theirs = theirs[:-1]  # it reads a text before it is all there
    assert ours == theirs


@given(sessions(), places)
def test_however_it_is_cut_the_same_comes_out(content: bytes, at: list[int]) -> None:
    assert read(*cut(content, at)) == read(content)


@pytest.mark.slow
@given(sessions())
def test_it_can_come_byte_by_byte(content: bytes) -> None:
    assert read(*(content[place : place + 1] for place in range(len(content)))) == read(content)


@pytest.mark.parametrize("size", [0, 1, 124, 125, 126, 127, 128, 65535, 65536])
@pytest.mark.parametrize("opcode", [TEXT, BINARY])
def test_a_message_of_any_size_is_read(size: int, opcode: int) -> None:
    payload = (b"0123456789" * 6554)[:size]
    assert read(frame(payload, opcode)) == [payload]
    assert read(part(payload[: size // 2], opcode), part(payload[size // 2 :], final=True)) == [payload]


@pytest.mark.parametrize(("content", "code"), FORBIDDEN.values(), ids=list(FORBIDDEN))
def test_what_the_standard_forbids_fails_with_its_code(content: bytes, code: int) -> None:
    before = frame(b"before")
    expected = [b"before", b"x", code] if content.startswith(frame(b"x")) else [b"before", code]
    assert read(before + content + frame(b"after")) == expected


def test_a_frame_that_is_too_large_fails_before_it_has_come() -> None:
    assert read(frame(b"x" * 65537)[:10]) == [1009]
    assert read(part(b"x" * 65536, TEXT), part(b"x")[:2]) == [1009]


def test_a_control_frame_within_a_large_message_is_not_too_large() -> None:
    whole = part(b"x" * 65536, TEXT) + frame(b"still there?", PING) + part(final=True)
    assert read(whole) == [Ping(b"still there?"), b"x" * 65536]


@pytest.mark.parametrize("piece", [b"", b"x"])
def test_a_message_may_have_so_many_frames_and_no_more(piece: bytes) -> None:
    """Catches a bound on bytes alone, which empty frames never reach."""
    limits = Limits(frames_per_message=64)
    begin, more = part(piece, TEXT), part(piece)
    assert read(begin + more * 62 + part(piece, final=True), limits=limits) == [piece * 64]
    assert read(begin + more * 63 + part(piece, final=True), limits=limits) == [1008]
    assert read(begin + more * 200_000, limits=limits) == [1008]


def test_the_frames_of_each_message_are_counted_anew() -> None:
    two = part(b"a", TEXT) + part(b"b", final=True)
    assert read(two * 100, limits=Limits(frames_per_message=2)) == [b"ab"] * 100


def test_nothing_comes_after_a_close() -> None:
    assert read(frame(b"\x03\xe8done", CLOSE) + frame(b"x"), frame(b"y")) == [Close(1000, "done")]


# What a server sends


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 100_000])
def test_a_client_reads_what_is_framed(size: int) -> None:
    text = ("ö" + "x" * size)[:size]
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(framed(text.encode()) + framed(b"\xff", BINARY) + framed(b"ping", PONG))
    first, *others = client.events()
    whole = first.data if isinstance(first, TextMessage) else None
    assert whole == text
    assert others == [BytesMessage(b"\xff"), TheirPong(b"ping")]


@given(st.sampled_from([1000, 1002, 1007, 1008, 1009, 4000]), st.text(max_size=200))
@example(1008, "x" * 122 + "öö")
def test_a_client_reads_the_code_and_as_much_of_the_reason_as_fits(code: int, why: str) -> None:
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(closing(code, why))
    (closed,) = client.events()
    assert isinstance(closed, CloseConnection)
    assert closed.code == code
    reason = closed.reason or ""
    assert why.startswith(reason)
    assert reason == why or len(reason.encode()) > 119


def test_a_close_without_a_code_is_answered_without_one() -> None:
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(closing(None))
    assert [*client.events()] == [CloseConnection(1005, "")]
