"""Websocket frames: against wsproto, against the letter of RFC 6455, and against those who want to grow something."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, TextMessage
from wsproto.events import Ping as TheirPing
from wsproto.events import Pong as TheirPong
from wsproto.frame_protocol import FrameProtocol, Opcode, ParseFailed

from server.frames import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, BadFrame, Close, Frames, Ping, Pong
from server.frames import closing, framed
from server.limits import Limits
from tests.server.cutting import cut, places

LIMITS = Limits()
KEY = b"\x9c\x00\xff\x31"


def masked(payload: bytes) -> bytes:
    return bytes(byte ^ KEY[place % 4] for place, byte in enumerate(payload))


def frame(
    payload: bytes = b"",
    opcode: int = TEXT,
    *,
    final: bool = True,
    reserved: int = 0,
    mask: bool = True,
    width: int | None = None,
) -> bytes:
    """A client's frame; `width` is how many bytes its size is written in, where that is not what it has to be."""
    size = len(payload)
    if width is None:
        width = 0 if size < 126 else 2 if size < 65536 else 8
    short = {0: size, 2: 126, 8: 127}[width]
    head = bytes((final << 7 | reserved << 4 | opcode, mask << 7 | short)) + (
        size.to_bytes(width, "big") if width else b""
    )
    return head + KEY + masked(payload) if mask else head + payload


def read(pieces: Sequence[bytes], limits: Limits = LIMITS) -> list[object]:
    """Every item, and the code of the failure, if there is one."""
    frames, items = Frames(limits), list[object]()
    try:
        for piece in pieces:
            items.extend(frames.receive(piece))
    except BadFrame as error:
        items.append(error.code)
        assert not list(frames.receive(frame(b"more"))), "it is for good"
    return items
