"""The doors for trials of a client: a TCP, a websocket and an HTTP port, and the clients that come in.

Everything is in one thread, which looks at the sockets only while it waits for the
client. So messages are sent in the order of the trial, and nothing happens behind its
back.
"""

import socket
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from selectors import EVENT_READ, DefaultSelector

from server.programs.wire.carriers import Carrier, Malformed, OverTcp, OverWebsocket
from server.programs.wire.sessions import Caller, Sessions
from server.programs.wire.talk import PLAIN, Connection, Manner, Talk

HERE = "127.0.0.1"
CARRIERS: Mapping[str, Callable[[], Carrier]] = {"tcp": OverTcp, "websocket": OverWebsocket}
NAMES = (*CARRIERS, "http")
TICK = 0.1  # seconds after which a wait also looks at things other than sockets


class Doors:
    def __init__(self) -> None:
        self.arrived: deque[Talk] = deque()  # clients that nobody has received yet
        self.broken: tuple[str, str] | None = None  # the door at which it sent something unreadable, and why
        self._selector = DefaultSelector()
        self._connections: list[Connection] = []
        self._sessions = Sessions(self.arrived.append, partial(self._break, "http"))
        self._ports = {name: _bound(0) for name in NAMES}
        self.addresses = {name: f"{HERE}:{end.getsockname()[1]}" for name, end in self._ports.items()}
        self.open()

    def open(self) -> None:
        """Take connections."""
        for name, end in self._ports.items():
            end.listen()
            self._selector.register(end, EVENT_READ, partial(self._accept, name, end))

    def crash(self) -> None:
        """Lose all connections, and take no more, until `open`. The ports stay ours meanwhile."""
        for name, end in self._ports.items():
            self._ports[name] = _bound(end.getsockname()[1])
            self._selector.unregister(end)
            end.close()
        self.cut()
        self._sessions.forget()

    def cut(self) -> None:
        """Lose all connections, as when a network fails."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self.arrived.clear()

    def pump(self, seconds: float) -> None:
        """Take what has come; if nothing has, wait for it, but no longer than a tick."""
        for key, _ in self._selector.select(max(0.0, min(seconds, TICK))):
            key.data()
        self._sessions.sweep(time.monotonic())

    def close(self) -> None:
        self.cut()
        for end in self._ports.values():
            end.close()
        self._selector.close()

    def _accept(self, name: str, end: socket.socket) -> None:
        accepted, _ = end.accept()
        if name == "http":
            caller = Caller(self._sessions)
            caller.connection = self._keep(accepted, caller.receive)
        else:
            talk = Streamed(name, CARRIERS[name](), partial(self._break, name))
            talk.connection = self._keep(accepted, talk.receive)
            self.arrived.append(talk)

    def _keep(self, accepted: socket.socket, receive: Callable[[bytes], None]) -> Connection:
        self._connections.append(Connection(accepted, self._selector, receive))
        return self._connections[-1]

    def _break(self, door: str, why: str) -> None:
        self.broken = self.broken or (door, why)


class Streamed:
    """A client over a connection of its own."""

    def __init__(self, door: str, carrier: Carrier, broken: Callable[[str], None]) -> None:
        self.door = door
        self.heard: deque[bytes] = deque()
        self.gone = False
        self.connection: Connection | None = None
        self._carrier = carrier
        self._broken = broken

    def receive(self, received: bytes) -> None:
        try:
            if received:
                self.heard.extend(self._carrier.receive(received))
            else:
                self.gone = True
        except Malformed as error:
            self._broken(str(error))
            self.gone = True
        except EOFError:
            self.gone = True
        self._send(bytes(self._carrier.reply))
        self._carrier.reply.clear()

    def say(self, messages: Sequence[bytes], manner: Manner = PLAIN) -> None:
        self._send(self._carrier.written(messages), manner)

    def hang_up(self, why: str) -> None:
        self.gone = True
        self._send(self._carrier.closing(why))
        if self.connection is not None:
            self.connection.finish()

    def _send(self, content: bytes, manner: Manner = PLAIN) -> None:
        if content and self.connection is not None:
            self.connection.send(content, manner)


def _bound(port: int) -> socket.socket:
    """A socket at that port, which another socket of ours may have, too; it takes no connections yet."""
    end = socket.socket()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    end.bind((HERE, port))
    return end
