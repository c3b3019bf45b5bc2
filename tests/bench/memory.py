"""What a bot that waits for its match costs in memory, on each wire.

Bots come into a tournament that does not begin, and the growth of the process
is divided by their number. As many come before that, so that what is made once,
or used while somebody comes, is there. The goals are per connection; with it
comes all that the host knows of a bot: a name, a player, an entrant.
"""

import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.json import encode

from server.net.parking import LONG_ENOUGH
from tests.bench.crowd import Address
from tests.bench.load_websocket import REQUEST, masked
from tests.bench.server import Server, quintain

FIRST, COUNTED = 900, 1000  # bots: a Swiss has room for 2,000
LOOK, IDLE = (
    2 * LONG_ENOUGH,
    0.03,
)  # seconds between two looks, and how much of such a time an idle server works


class Wire(Struct, frozen=True):
    door: str
    game: str
    greeting: Callable[[str], bytes]  # of a bot of that name: all that it sends
    goal: str


def join(name: str) -> bytes:
    body = encode({"name": name})
    head = b"POST /tic-tac-toe/join HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    return head + body


def start(name: str) -> bytes:
    return REQUEST + masked(encode({"type": "start", "id": name}))


WIRES: Mapping[str, Wire] = {
    "TCP": Wire("tcp", "santorini", lambda name: name.encode() + b"\n", "6 KB"),
    "websocket": Wire(
        "websocket",
        "connect-4",
        lambda name: REQUEST + masked(encode({"type": "start", "id": name})),
        "11 KB",
    ),
    "held HTTP request": Wire("http", "tic-tac-toe", join, "7 KB"),
}


def bench() -> None:
    print(f"memory of one of {COUNTED:,} bots that wait")
    for name, wire in WIRES.items():
        print(f"{name:26}{apiece(wire) / 1000:7.1f} KB   goal {wire.goal}", flush=True)


def apiece(wire: Wire) -> float:
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        entrants = str(FIRST + COUNTED + 1)  # one more than come
        swiss = ("--format", "swiss", "--entrants", entrants)
        tournament = ("--tournament", "later", "--game", wire.game, *swiss)
        server = stack.enter_context(quintain(folder, *tournament))
        sizes: list[int] = []
        for names in (range(FIRST), range(FIRST, FIRST + COUNTED)):
            for number in names:
                stack.enter_context(waiting(server.address(wire.door), wire.greeting(f"bot{number:04}")))
            settle(server)
            sizes.append(server.memory())
    return (sizes[1] - sizes[0]) / COUNTED


def waiting(address: Address, greeting: bytes) -> socket.socket:
    bot = socket.create_connection(address)
    bot.sendall(greeting)
    return bot


def settle(server: Server) -> None:
    """Until it has nothing to do."""
    while True:
        before = server.seconds()
        time.sleep(LOOK)
        if server.seconds() - before < IDLE * LOOK:
            return
