"""What every attacker has: the host's ports, addresses to come from, and notes of what it got."""

from collections import Counter
from ipaddress import ip_network
from itertools import count

import trio
from msgspec import Struct

from tests.adversaries.wires import Answer, Lines, Requests
from tests.attacks.attacks import Ports, connected

BLOCK = ip_network("198.18.0.0/15")  # set aside for tests like these
FORWARDED = "X-Forwarded-For"

_numbers = count(1)


class Task(Struct, frozen=True):
    """What a process of attackers is told."""

    ports: Ports
    strangers: tuple[str, ...]
    internal: str  # the address of a service beside the host, which nobody may have called
    planted: bool = False  # the squatters are given the token of an honest bot: the league has to notice


class Report(Struct, frozen=True):
    """What it says at the end."""

    tries: dict[str, int]
    through: dict[str, int]  # what attackers got that they must not get, and how often


class Ground:
    def __init__(self, task: Task) -> None:
        self.ports = task.ports
        self.internal = task.internal
        self.planted = task.planted
        self.tries = Counter[str]()
        self.through = Counter[str]()

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """One request on a connection of its own, from somewhere, whose answer has a length."""
        headers = {FORWARDED: somewhere(), **headers}
        async with await connected(self.ports.http) as stream:
            return await Requests(stream).ask(method, path, body, **headers)

    async def read(self, path: str) -> None:
        """Have a page or a list sent, however long it is."""
        async with await connected(self.ports.http) as stream:
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            await stream.send_all(head.encode())
            while await stream.receive_some(1 << 20):
                pass

    async def hello(self, name: str, game: str, **more: str) -> tuple[Lines, dict[str, object]]:
        """Come in over TCP; the connection and the first answer."""
        wire = Lines(await connected(self.ports.tcp))
        try:
            await wire.say({"type": "hello", "name": name, "game": game, **more})
            return wire, await wire.hear()
        except BaseException:
            await trio.aclose_forcefully(wire.stream)
            raise


def somewhere() -> str:
    """An address that nobody has come from."""
    return str(BLOCK[next(_numbers) % BLOCK.num_addresses])


def fresh(name: str) -> str:
    """A name that nobody has had."""
    return f"{name}{next(_numbers)}"
