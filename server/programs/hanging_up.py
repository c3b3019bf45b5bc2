"""Giving a server up that goes on and on without an answer."""

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.client import HTTPException


@contextmanager
def hanging_up(until: float, connected: socket.socket) -> Generator[None]:
    """Raise `TimeoutError` at that moment of the monotonic clock, whatever the server says until then.

    The time-out of a socket begins again with every byte: some servers send spaces while a model thinks.
    """
    late = threading.Event()

    def hang_up() -> None:
        late.set()
        with suppress(OSError):  # the server was quicker
            socket.socket.shutdown(connected, socket.SHUT_RDWR)  # the same for TLS, without its close_notify

    timer = threading.Timer(max(0.0, until - time.monotonic()), hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, HTTPException):
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError("timed out")
