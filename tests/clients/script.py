"""A host that says what it is told to, and notes what it hears: for what a real one says rarely."""

import json
import socket
import struct
from contextlib import ExitStack
from typing import Any

from tests.hang import HANG


def to_be_reset(connection: socket.socket) -> None:
    """Have whatever is said to it from now on answered by a reset, as soon as it is closed."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Script:
    """A host that says what it is told to, and notes what it hears."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, 0), family=family)
        self._listener.settimeout(HANG)
        self.port: int = self._listener.getsockname()[1]
        self._opened = ExitStack()  # nothing, if nobody comes

    def accept(self) -> None:
        connection, (_, self.peer, *_) = self._listener.accept()
        self._connection = self._opened.enter_context(connection)
        self._connection.settimeout(HANG)
        self._lines = self._opened.enter_context(self._connection.makefile("r"))

    def hear(self) -> dict[str, Any]:
        return json.loads(self._lines.readline())

    def say(self, *messages: dict[str, Any]) -> None:
        """As hosts write it: without spaces, and whatever is no ASCII as it is."""
        texts = (json.dumps(message, separators=(",", ":"), ensure_ascii=False) for message in messages)
        lines = "".join(f"{text}\n" for text in texts)
        self._connection.sendall(lines.encode())

    def mumble(self, text: str) -> None:
        """Say less than a line."""
        self._connection.sendall(text.encode())

    def hang_up(self) -> None:
        self._opened.close()

    def reset(self) -> None:
        """Hang up without waiting for anything that is on its way."""
        to_be_reset(self._connection)
        self.hang_up()

    def close(self) -> None:
        self.hang_up()
        self._listener.close()
