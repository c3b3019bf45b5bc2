"""Streams of trio's under TLS, without a reference to themselves.

Each keeps the method that makes its handshake, which is called once. So it refers to itself, and whatever
OpenSSL has for the connection, some 50 KB, stays in memory until the collector looks. That is rare: see
`server/interpreter.py`. Strangers who come and go could take hundreds of MB meanwhile.
"""

from contextlib import suppress

import trio


def untie(stream: trio.abc.Stream) -> None:
    """Have a stream freed with the last reference to it; its handshake has begun, or never will."""
    if isinstance(stream, trio.SSLStream):
        with suppress(AttributeError):  # another version of trio may have nothing to untie
            stream._handshook._afn = _nothing  # pyright: ignore[reportPrivateUsage]


async def _nothing(*_: object) -> None:
    """In place of the handshake that is never made again."""
    await trio.lowlevel.checkpoint()
