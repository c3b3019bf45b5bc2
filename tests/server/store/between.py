"""What stands between a client and a PostgreSQL server, on a port of its own."""

import socket
from abc import ABC, abstractmethod
from contextlib import suppress
from threading import Thread


class Between(ABC):
    def __init__(self, server: tuple[str, int]) -> None:
        """Begins to take clients: whatever `meet` needs has to be there by now."""
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        self._accepting = Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def port(self) -> int:
        return self._listener.getsockname()[1]

    @abstractmethod
    def meet(self, client: socket.socket) -> None:
        """A client has come."""

    def connect(self) -> socket.socket:
        """A connection to the server, which ends with this."""
        server = socket.create_connection(self._server)
        self._sockets.append(server)
        return server

    def close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):  # it has ended already
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._accepting.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._sockets.append(client)
                self.meet(client)
