"""Compressed once, sent to everybody: gzip streams that are put together from pieces.

A thousand spectators are sent the same things, but each has a stream of its own
that began at a different time. A deflate block that refers to nothing before it and
ends on a whole byte fits into any stream at any place. So each piece is packed once,
and a stream is a head and pieces. A board shrinks to a tenth.

Event streams do not end, so nobody misses the checksum at the end.
"""

import struct
import zlib

HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # of gzip: no name, no time, an unknown system
LEVEL = 4  # of 9: beyond it little is gained, and it takes twice as long
LONGEST = 0xFFFF  # bytes of a block that is not compressed


def packed(piece: bytes) -> bytes:
    """A piece that fits into any stream."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)


def stored(piece: bytes) -> bytes:
    """Like `packed`, for a piece that is too short to be worth compressing."""
    if len(piece) > LONGEST:
        raise ValueError(f"a block holds {LONGEST} bytes, and this piece has {len(piece)}")
    return struct.pack("<BHH", 0, len(piece), len(piece) ^ LONGEST) + piece


def accepted(encodings: str) -> bool:
    """Whether a client with these accepted encodings takes gzip."""
    for each in encodings.lower().split(","):
        name, _, weight = each.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight not in ("0", "0.0", "0.00", "0.000")
    return False
