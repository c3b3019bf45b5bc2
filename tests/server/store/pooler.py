"""A pooler before a PostgreSQL server, as PgBouncer is one: it lends whole sessions, or for a transaction."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread

from psycopg.conninfo import conninfo_to_dict

from tests.server.store.between import Between

LEAST = 8  # bytes of what a client says first
TLS = struct.pack("!ii", LEAST, 80877103)  # a client that asks whether it may encrypt
KEY = b"K", struct.pack("!ii", 4242, 0)  # by which a client cancels: a pooler makes one of its own
END = b"X", b""  # a client says so
READY = b"Z"
IDLE = b"I"  # no transaction is open

Message = tuple[bytes, bytes]


class Pooler(Between):
    def __init__(self, server: tuple[str, int], *, whole: bool) -> None:
        self._whole = whole  # whether a client has a session until it ends, or only for a transaction
        self._free: list[socket.socket] = []
        self._taking = Lock()
        self._greeting: list[Message] = []  # what the server says to whoever comes
        super().__init__(server)

    def meet(self, client: socket.socket) -> None:
        Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, EOFError):
            while (first := _read(client, LEAST)) == TLS:
                client.sendall(b"N")
            started = first + _read(client, struct.unpack("!i", first[:4])[0] - LEAST)
            session: socket.socket | None = self._taken(started)
            for message in self._greeting:
                session = self._after(message, session)
                _say(client, message)
            while (said := _heard(client)) != END:
                session = session or self._taken(started)
                _say(session, said)
                if said[0] in b"QS":  # whereupon a server says that it is ready
                    for reply in _replies(session):
                        session = self._after(reply, session)
                        _say(client, reply)

    def _after(self, message: Message, session: socket.socket | None) -> socket.socket | None:
        """The session that a client still has after a message of the server's."""
        if message != (READY, IDLE) or self._whole or session is None:
            return session
        self._free.append(session)
        return None

    def _taken(self, started: bytes) -> socket.socket:
        with self._taking:
            if self._free:
                return self._free.pop()
            session = self.connect()
            session.sendall(started)
            self._greeting = [KEY if message[0] == KEY[0] else message for message in _replies(session)]
            return session


@contextmanager
def pooled(url: str, *, whole: bool) -> Iterator[str]:
    """The address of the same database by way of a pooler."""
    parts = conninfo_to_dict(url)
    host, port = str(parts["host"]), int(parts["port"] or 5432)
    pooler = Pooler((host, port), whole=whole)
    try:
        yield url.replace(f":{port}/", f":{pooler.port}/")
    finally:
        pooler.close()


def _replies(session: socket.socket) -> Iterator[Message]:
    while (reply := _heard(session))[0] != READY:
        yield reply
    yield reply


def _heard(end: socket.socket) -> Message:
    kind = _read(end, 1)
    (length,) = struct.unpack("!i", _read(end, 4))
    return kind, _read(end, length - 4)


def _say(end: socket.socket, message: Message) -> None:
    kind, content = message
    end.sendall(kind + struct.pack("!i", len(content) + 4) + content)


def _read(end: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        part = end.recv(length - len(found))
        if not part:
            raise EOFError
        found += part
    return found
