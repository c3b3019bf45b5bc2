"""A worker's side of connections: serving those that it is handed, and giving them back."""

import math
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

import trio
from msgspec import Struct

from server.host.abroad import Handed, HeldAbroad, Holder, Wanted
from server.host.host import Host
from server.host.names import key
from server.host.visits import Visit
from server.net.guard import Guard, Waiting, start_in_turn
from server.net.readiness import readiness
from server.net.served_connection import ServedConnection
from server.net.sockets import SocketWire
from server.net.wire import Piece, Served, Wire
from server.protocols import handed
from server.show.conduit import Back, Gone, Known, NoRoom
from server.workers.messages import Hand, NeedTable
from tournament.record import Record

Say = Callable[[Struct], None]


class RelayedWire(SocketWire):
    """Under TLS, worker 0 copies what the peer says, which may lie there while worker 0 stands still."""

    __slots__ = ("_hear_now",)

    relayed = True

    def __init__(self, connected: socket.socket, peer: str, hear_now: Callable[[], None]) -> None:
        """`hear_now` takes in what worker 0 has said: that it stood still, say."""
        super().__init__(connected, peer, readiness())
        self._hear_now = hear_now
        self.secure = True

    def hand_on(self) -> None:
        self._hear_now()
        super().hand_on()


def passed_wire(
    connected: socket.socket, peer: str, secure: bool, hear_now: Callable[[], None]
) -> SocketWire:
    """The wire of a connection that was passed on to this process; `hear_now` is as in `RelayedWire`."""
    return RelayedWire(connected, peer, hear_now) if secure else SocketWire(connected, peer, readiness())


class AdmittedPeer:
    """The peer of a connection, which worker 0 has admitted."""

    def __init__(self, say: Say, number: int) -> None:
        self._say = say
        self._number = number
        self._said = False

    def authenticated(self) -> None:
        if not self._said:  # some bots show who they are before each match
            self._said = True
            self._say(Known(self._number))


class HandedOver(ServedConnection):
    """A connection that worker 0 has handed over, until it has ended or goes back."""

    __slots__ = ("_serving",)

    def __init__(self, serving: "Serving", wire: SocketWire, guard: Guard) -> None:
        super().__init__(wire, guard)
        self._serving = serving

    def ended(self) -> None:
        self._wire.close()  # first: worker 0 is told that it is closed here
        self._serving.ended(self._wire)


class Serving:
    """All connections that a worker has, and where others go: its host's `Abroad`."""

    def __init__(self, host: Host, say: Say, *, most: float = math.inf) -> None:
        """`most` connections may be here at once."""
        self.alone: frozenset[str] = frozenset()  # games of which no other worker holds anything
        self.hear_now: Callable[[], None] = lambda: None  # takes in what worker 0 has said already
        self._host = host
        self._say = say
        self._most = most
        self.held: Mapping[str, HeldAbroad] = {}  # empty: nobody asks a worker what others hold
        self._handed: Waiting = deque()  # those about to be served
        self._here: dict[object, int] = {}  # wires, and the numbers by which worker 0 knows them
        self._needed: dict[str, trio.Event] = {}  # by game: open tables that worker 0 was asked for

    def serve(self, hand: Hand, descriptor: int | None) -> None:
        if descriptor is None or len(self._here) >= self._most:
            if descriptor is not None:
                socket.socket(fileno=descriptor).close()
            self._say(NoRoom(hand.number))
            return
        wire = passed_wire(socket.socket(fileno=descriptor), hand.peer, hand.secure, self.hear_now)
        self._here[wire] = hand.number
        connection = HandedOver(self, wire, self._host.guard)
        start_in_turn(
            self._host.guard, self._handed, partial(connection.run, partial(self._attend, hand, wire))
        )

    def _attend(self, hand: Hand, wire: SocketWire) -> Awaitable[Served | None]:
        """Serve a connection, until it has ended or is parked."""
        visitor = AdmittedPeer(self._say, hand.number)
        return handed.attend(self._host, wire, visitor, hand.door, hand.path, hand.pieces)

    def ended(self, wire: Wire) -> None:
        """Nobody serves a connection any more, or worker 0 does again."""
        if (number := self._here.pop(wire, None)) is not None:
            self._say(Gone(number))

    # An `Abroad`: worker 0 finds everything that is not here

    def entered(self, name: str, game: str) -> Iterable[Record]:
        return self._host.roll.of(name, game)

    def expects(self, name: str, game: str) -> bool:
        return self._host.placing.expects(name, game)

    def may_hold(self, tournament: str, game: str) -> bool:
        return game not in self.alone

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> Holder | None:
        known = self._host.reception.present((wanted.game, key(wanted.name))) is not None
        if known and wanted.tournament in self._host.tournaments:
            return None
        if wanted.game in self.alone:
            self.hear_now()  # worker 0 may have said that this is so no longer
        return None if wanted.game in self.alone else self

    def place(self, record: Record) -> None:
        """None: a worker holds what it is told to hold."""

    async def is_free(self, name: str) -> bool:
        """False: worker 0 opens all tournaments that organisers name."""
        return False

    async def opens(self, game: str) -> bool:
        """False: worker 0 opens it, once a bot is let in, so that a refused bot leaves no table behind."""
        if game not in self._needed:
            self._needed[game] = trio.Event()
            self._say(NeedTable(game))
        await self._needed[game].wait()
        return False

    def opened(self, game: str) -> None:
        """Worker 0 says that a table, asked for by this process or one before it, is held."""
        if (needed := self._needed.pop(game, None)) is not None:
            needed.set()

    async def take(self, handed: Handed) -> Sequence[Piece]:
        """Give the connection back to worker 0, which has a descriptor of its own."""
        number = self._here.pop(handed.wire, None)
        if number is not None:
            handed.wire.close()
            self._say(Back(number, tuple(handed.pieces)))
        return ()
