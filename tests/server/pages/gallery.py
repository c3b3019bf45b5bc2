"""A host with its pages, and somebody who looks, on a virtual clock."""

import re
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import trio
import trio.testing

from games import hexagondots
from server.host.boards import Run
from server.host.host import Host
from server.host.wire_reader import WireReader
from server.http.routes import routed
from server.net.limits import Limits
from server.pages.addresses import Addresses
from server.pages.door import Pages
from server.pages.wire import WirePage
from server.protocols.api.door import Api
from server.protocols.hexagon_dots.door import HexagonDots
from tests.server.transcripts import at_once, hosting
from tests.server.web import Answer, Client, Server, get, serving
from tests.server.windowed import Weather
from tests.tournament.world import Behaviour, first, play
from tournament.facts import Opened
from tournament.format import Terms
from tournament.tournament import Tournament

GAME = "tic-tac-toe"
TOKEN = "the organiser's own"
TAG = re.compile(r"<[a-z]")  # an element begins
LISTENS = Addresses("127.0.0.1:7000", "127.0.0.1:7001", "127.0.0.1:7080")


def raised(error: Exception) -> None:
    """For a story: its game is expected not to fail."""
    raise error


class Gallery:
    def __init__(self, host: Host, nursery: trio.Nursery, server: Server, pages: Pages) -> None:
        self.host = host
        self.nursery = nursery
        self.server = server
        self.pages = pages

    async def hold(self, name: str = "cup", entrants: int | None = None, **chosen: Any) -> Tournament:
        game, format = chosen.pop("game", GAME), chosen.pop("format", "round-robin")
        return await self.host.open(name, Opened(game, format, entrants, Terms(), **chosen))

    async def come(self, *names: str, game: str = GAME, behave: Behaviour = first) -> None:
        for name in names:
            visit = await self.host.arrive(name, game)
            self.nursery.start_soon(play, visit.player, behave)

    async def ask(self, path: str, *headers: str, method: str = "GET") -> Answer:
        """As a browser does, but for what other headers say."""
        if not any(header.startswith("Accept:") for header in headers):
            headers += ("Accept: text/html",)
        return await self.server.connect().ask(get(path, *headers, method=method), method)

    async def read(self, path: str, *headers: str, status: int = 200) -> str:
        answer = await self.ask(path, *headers)
        assert answer.status == status, answer.body[:500]
        return answer.body.decode()

    async def watch(self, query: str, *headers: str, weather: Weather | None = None) -> "Watcher":
        client = self.server.connect(weather)
        await client.end.send_all(get(f"/live?{query}", *headers))
        return Watcher(client)


class Watcher:
    """An open page, as its script sees it: what stands at each place, and the lists."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.parts: dict[str, str] = {}
        self.places: list[str] = []  # of all parts that were sent, in their order
        self.items: list[str] = []
        self.id = ""
        self.batches = 0
        self.alive = 0
        self.gaps = 0
        self._raw = b""  # that is no whole chunk yet
        self._rest = b""  # and no whole event
        self._begun = False
        self._unpack: Callable[[bytes], bytes] = bytes

    async def look(self) -> None:
        """Take in what was sent so far."""
        await trio.testing.wait_all_tasks_blocked()
        self._raw += self.client.end.here()
        if not self._begun and b"\r\n\r\n" in self._raw:
            head, _, self._raw = self._raw.partition(b"\r\n\r\n")
            assert b" 200 " in head, head
            self._begun = True
            self._unpack = zlib.decompressobj(31).decompress if b"Content-Encoding: gzip" in head else bytes
        content, self._raw = unchunked(self._raw) if self._begun else (b"", self._raw)
        content = self._unpack(content)
        *events, self._rest = (self._rest + content).split(b"\n\n")
        for event in events:
            self._take(event.decode())

    def _take(self, event: str) -> None:
        fields = dict(line.partition(": ")[::2] for line in event.splitlines() if not line.startswith(":"))
        match fields.get("event"):
            case "part":
                told = msgspec.json.decode(fields["data"])
                self.parts[told["place"]] = told["html"]
                self.places.append(told["place"])
            case "items":
                told = msgspec.json.decode(fields["data"])
                self.gaps += told["from"] > len(self.items)
                self.items[told["from"] :] = re.findall(r"<li.*?</li>", told["html"])
            case "now":
                self.batches += 1
                self.id = fields["id"]
            case "alive":
                self.alive += 1
            case _:
                pass


def unchunked(received: bytes) -> tuple[bytes, bytes]:
    """What whole chunks hold, and what is left of the others."""
    content = b""
    while True:
        size, ended, rest = received.partition(b"\r\n")
        if not ended or len(rest) < int(size, 16) + 2:
            return content, received
        content += rest[: int(size, 16)]
        received = rest[int(size, 16) + 2 :]


@asynccontextmanager
async def gallery(
    limits: Limits | None = None, run: Run = at_once, addresses: Addresses = LISTENS
) -> AsyncIterator[Gallery]:
    async with hosting({}, limits) as (host, nursery):
        pages = Pages(host, addresses, run=run, timer=trio.current_time, limits=limits)
        doors = (
            HexagonDots(host, hexagondots.GAME),
            Api(host, TOKEN),
            WirePage(pages, WireReader(host, TOKEN)),
        )
        async with serving(routed(doors, pages), limits) as server:
            yield Gallery(host, nursery, server, pages)
            assert not server.guard.caught
