"""Whether a peer's machine is still there: the kernel asks it, beneath all that is said over a connection.

A machine that loses its power or its network does not say goodbye. By itself the kernel asks after half a
minute of silence and gives up after two; here it asks at once. Every machine answers by itself, whatever
the bot on it does meanwhile; only one with no more room for what its bot leaves unread is asked ever more
rarely, and may count as gone.
"""

import socket
import struct
from contextlib import suppress

import trio

from server.net.tcp_info import tcp_info
from server.net.time_limits import within

LONGEST = 4.0  # seconds for an answer to any question: the first is asked after a second of silence …
EVERY = 1  # … and then there is one each second, which is as often as the kernel can be told to ask
RECENT = 1000  # milliseconds: whoever has answered since then need not be asked, and nobody waits for it
LOOK = 0.05  # seconds between two looks at what the kernel has heard …
AT_ONCE = 0.001  # … after the first ones: most answers come within a round trip
INFO = struct.Struct("=56xI")  # of Linux's `struct tcp_info`: milliseconds since anything was acknowledged
ASKED = struct.Struct("=2xBB52xI")  # how often data was sent again, and it was asked, in vain; and the same
IN_VAIN = 2  # times: once may be on its way
VANISHED = "its machine answers no more, and its name is wanted from the same address"  # for the log
OPTIONS = [getattr(socket, name) for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL") if hasattr(socket, name)]
USUAL = (30, 15)  # seconds of silence after which the kernel asks by itself, and between two questions


async def still_there(connected: socket.socket) -> bool:
    """Whether the peer's machine answers within some seconds; True where that cannot be found out."""
    if (silent := silence(connected)) is None or silent < RECENT:
        return True
    _ask(connected, EVERY, EVERY)
    pause = AT_ONCE
    try:
        with within(LONGEST):
            while True:
                await trio.sleep(pause)
                pause = min(2 * pause, LOOK)
                before, silent = silent, silence(connected)
                if silent is None:
                    break  # it was closed meanwhile
                if silent < before:
                    return True
        return False
    finally:
        _ask(connected, *USUAL)  # and not as was found: others may be asking at the same time


def _ask(connected: socket.socket, *seconds: int) -> None:
    """Ask after so many seconds of silence, at once if they are over, and then every so many."""
    with suppress(OSError):  # it was closed meanwhile
        for option, value in zip(OPTIONS, seconds, strict=True):
            connected.setsockopt(socket.IPPROTO_TCP, option, value)


def unanswered(connected: socket.socket) -> float:
    """Seconds since anything came from the peer's machine, if the kernel asks it in vain; otherwise 0.0.

    It asks only if there is something to tell, or after half a minute of silence.
    """
    if (info := tcp_info(connected, ASKED)) is None:
        return 0.0
    *asked, silent = info
    return silent / 1000 if max(asked) >= IN_VAIN else 0.0


def silence(connected: socket.socket) -> int | None:
    """Milliseconds since anything came from the peer's machine; None where that is not known."""
    info = tcp_info(connected, INFO)
    return None if info is None else info[0]
