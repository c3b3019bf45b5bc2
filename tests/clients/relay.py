"""Between a bot and its host: passes on what it is given, until it is told to cut."""

import select
import socket
import threading
from contextlib import suppress


class Relay:
    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, port: int) -> None:
        """Connect whoever comes next to another host."""
        self._target = port

    def cut(self) -> None:
        """End what is connected; whoever comes next is served again."""
        while self._open:
            end = self._open.pop()
            with suppress(OSError):  # it may have ended by itself
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # nobody is there now
                near.close()
                continue
            self._open += [near, far]
            threading.Thread(target=_pass_on, args=(near, far), daemon=True).start()


def _pass_on(near: socket.socket, far: socket.socket) -> None:
    """Both ways, until one of them has ended."""
    other = {near: far, far: near}
    with near, far:
        while True:
            for source in select.select(list(other), [], [])[0]:
                try:
                    received = source.recv(65536)
                    other[source].sendall(received)
                except OSError:
                    return
                if not received:
                    return
