"""A way to a PostgreSQL server that counts round trips, as a server that is far away makes them felt.

Whatever a client says after it has heard something begins another round trip.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from psycopg.conninfo import conninfo_to_dict

from tests.server.store.between import Between

READ = 1 << 16  # bytes


class Far(Between):
    def __init__(self, server: tuple[str, int]) -> None:
        self.said: list[int] = []  # by round trip: bytes that the client said
        super().__init__(server)

    def made(self, call: Callable[[], object]) -> int:
        """How many round trips a call makes."""
        before = len(self.said)
        call()
        return len(self.said) - before

    def meet(self, client: socket.socket) -> None:
        server = self.connect()
        heard = [True]  # whether the server has said something since the client did
        Thread(target=self._ask, args=(client, server, heard), daemon=True).start()
        Thread(target=self._reply, args=(server, client, heard), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket, heard: list[bool]) -> None:
        for said in _said(client):
            if heard[0]:
                self.said.append(0)
            heard[0] = False
            self.said[-1] += len(said)
            _say(server, said)
        _end(server)

    def _reply(self, server: socket.socket, client: socket.socket, heard: list[bool]) -> None:
        for said in _said(server):
            heard[0] = True
            _say(client, said)
        _end(client)


def _said(by: socket.socket) -> Iterator[bytes]:
    with suppress(OSError):
        while said := by.recv(READ):
            yield said


def _say(to: socket.socket, said: bytes) -> None:
    with suppress(OSError):
        to.sendall(said)


def _end(of: socket.socket) -> None:
    with suppress(OSError):
        of.shutdown(socket.SHUT_WR)


@contextmanager
def far(url: str) -> Iterator[tuple[Far, str]]:
    """A way to the server of a database, and the address by which a client takes it."""
    parts = conninfo_to_dict(url)
    way = Far((str(parts["host"]), int(str(parts["port"]))))
    try:
        yield way, f"postgresql://{parts['user']}@127.0.0.1:{way.port}/{parts['dbname']}"
    finally:
        way.close()
