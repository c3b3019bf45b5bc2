"""The lists, where the Arena's battles are fought: a host with its HTTP door, bots, and a telephone.

Bots say and hear what the tests say, over simulated connections on a virtual
clock. Whoever is called hears it on the telephone.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import trio
import trio.testing

from server.config import Evaluation
from server.host.host import Host
from server.http.routes import routed
from server.http.service import Http
from server.net.addresses import Url
from server.net.limits import Limits
from server.net.outbound import Caller, Forbidden
from server.protocols.arena.door import Arena
from server.protocols.arena.messages import FLIP
from tests.server.ends import End
from tests.server.transcripts import hosting
from tests.server.web import Answer, Client, Server, get
from tests.server.windowed import Weather
from tournament.store import Memory, Store

CUP = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    b"Referrer-Policy: no-referrer\r\nX-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n"
    b"Access-Control-Allow-Origin: *\r\n"
    b"Access-Control-Expose-Headers: X-Turn-Token, Location, Retry-After\r\n\r\n"
)
LAST_CHUNK = b"0\r\n\r\n"

USUAL = "127.0.0.1:5000"  # the number of the bots on pages

Called = Callable[[str, dict[str, Any]], Awaitable[bool]]  # where, and what was said → whether it could be


class Telephone(Caller):
    """Reaches whoever has a number, by the host and port; nobody else may be called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.numbers: dict[str, Called] = {}

    def connect(self, number: str, called: Called | None = None) -> str:
        """Give somebody a number, and say what its address is."""
        self.numbers[number] = called or picks_up
        return f"http://{number}"

    async def answering(self) -> "Receiver":
        """Somebody at the usual number, who tells what is said to it."""
        receiver = Receiver()
        self.connect(USUAL, receiver.called)
        return receiver

    async def check(self, url: Url) -> None:
        if url.authority not in self.numbers:
            raise Forbidden(f"{url.host} is not known, or nothing that this host may call")

    async def post(self, url: Url, body: bytes) -> bool:
        message = msgspec.json.decode(body)
        self.calls.append((f"{url.authority}{url.target}", message))
        return await self.numbers[url.authority](url.target, message)


class Receiver(End):
    """Hears of every call, as of a request."""

    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[str](100)

    async def called(self, where: str, message: dict[str, Any]) -> bool:
        await self._send.send(f"POST {where} {msgspec.json.encode(message).decode()}")
        return True

    async def say(self, text: str) -> None:
        raise AssertionError("nobody looks at what a bot answers to a call")

    async def hear(self) -> str | None:
        return await anext(self._receive, None)

    async def close(self) -> None:
        self._send.close()


async def picks_up(where: str, message: dict[str, Any]) -> bool:
    return True


async def dead(where: str, message: dict[str, Any]) -> bool:
    return False


class Stream:
    """An event stream, to the byte."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.over = False  # it has ended as it should
        self._begun = False
        self._got = b""

    async def told(self) -> list[dict[str, Any]]:
        """What has been told since it was last asked, once nothing more happens."""
        return self._read(await self.client.now())

    async def wait(self) -> list[dict[str, Any]]:
        """What is told next; nothing at the end."""
        while not self.over:
            received = await self.client.end.receive()
            assert received, "the stream was cut"
            if told := self._read(received):
                return told
        return []

    def _read(self, received: bytes) -> list[dict[str, Any]]:
        """The events in it. Whatever else comes than chunks, one event each, is an error."""
        self._got += received
        if not self._begun and self._got:
            assert self._got.startswith(STREAM_HEAD), self._got
            self._got = self._got.removeprefix(STREAM_HEAD)
            self._begun = True
        events: list[dict[str, Any]] = []
        while self._got != LAST_CHUNK:
            size, ended, rest = self._got.partition(b"\r\n")
            if not ended or len(rest) < int(size, 16) + 2:
                break
            event, end, self._got = (
                rest[: int(size, 16)],
                rest[int(size, 16) :][:2],
                rest[int(size, 16) + 2 :],
            )
            assert event.startswith(b"data: {"), event
            assert event.endswith(b"}\n\n"), event
            assert event.count(b"\n") == 2, event
            assert end == b"\r\n"
            events.append(msgspec.json.decode(event[6:]))
        if self._got == LAST_CHUNK:
            self.over, self._got = True, b""
        return events


class Lists:
    def __init__(self, host: Host, nursery: trio.Nursery, telephone: Telephone) -> None:
        self.host = host
        self.nursery = nursery
        self.telephone = telephone
        self.arena = Arena(host, Evaluation(), "127.0.0.1", telephone)
        http = Http(routed([self.arena]), host.guard, host.limits)
        self.server = Server(http, host.guard)

    def send(self, path: str, body: Mapping[str, Any] | bytes | None = None, **how: Any) -> Client:
        """Send a request over a connection of its own, and wait for nothing."""
        peer = how.pop("peer", "192.0.2.1")
        client = self.server.connect(how.pop("weather", None), visitor=how.pop("visitor", None), peer=peer)
        method = how.pop("method", "GET" if body is None else "POST")
        content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        headers = [f"{name}: {value}" for name, value in how.pop("headers", {}).items()]
        request = get(path, f"Content-Length: {len(content)}", *headers, method=method) + content
        self.nursery.start_soon(client.end.send_all, request)
        return client

    async def ask(self, path: str, body: Mapping[str, Any] | bytes | None = None, **how: Any) -> Answer:
        method = how.get("method", "GET" if body is None else "POST")
        return await self.send(path, body, **how).answer(method)

    async def says(
        self, path: str, body: Mapping[str, Any] | bytes | None = None, **how: Any
    ) -> tuple[int, Any]:
        """The status of the answer, and what its JSON says."""
        answer = await self.ask(path, body, **how)
        return answer.status, msgspec.json.decode(answer.body)

    async def join(self, name: str, game: str = "tic-tac-toe", **more: Any) -> Client:
        """Ask to join, and let everybody have done with it."""
        client = self.send(f"/{game}/join", {"name": name, **more})
        await trio.testing.wait_all_tasks_blocked()
        return client

    async def waits(self, client: Client) -> bool:
        """Whether a request has not been answered yet."""
        client.over = await client.now()
        return not client.over

    async def pair(self, game: str = "tic-tac-toe", *names: str) -> tuple["Fighter", "Fighter"]:
        """Two who have joined and opened their streams; the first is to begin."""
        clients = [await self.join(name, game) for name in names or ("ann", "bob")]
        fighters = [Fighter(self, await answered(client), game) for client in clients]
        for fighter in fighters:
            await fighter.start()
        return fighters[0], fighters[1]


async def answered(client: Client) -> str:
    """The battle that somebody's request to join was answered with."""
    with trio.fail_after(1.0):
        answer = await client.answer("POST")
    assert answer.status == 200, answer
    return msgspec.json.decode(answer.body)["battleId"]


class Fighter:
    """One side of a battle, as a bot has it."""

    def __init__(self, lists: Lists, battle: str, game: str = "tic-tac-toe") -> None:
        self.lists = lists
        self.battle = battle
        self.game = game
        self.side = ""
        self.stream: Stream

    async def start(self) -> list[dict[str, Any]]:
        """Open the stream; what it begins with, without the first event."""
        self.stream = Stream(self.lists.send(f"/{self.game}/start/{self.battle}"))
        first, *rest = await self.stream.told()
        assert first["id"] == self.battle
        assert [*first] == ["youAre", "id"]
        self.side = first["youAre"]
        return rest

    async def told(self) -> list[dict[str, Any]]:
        return await self.stream.told()

    async def command(self, **body: Any) -> tuple[int, Any]:
        """The status, and `clock` or the error."""
        with trio.fail_after(5.0):
            status, said = await self.lists.says(f"/{self.game}/play/{self.battle}", body)
        return status, said.get("error", said.get("clock"))

    async def put(self, field: str) -> tuple[int, Any]:
        return await self.command(action="putSymbol", position=field)

    async def flip(self) -> tuple[int, Any]:
        return await self.command(action=FLIP)


@asynccontextmanager
async def lists(
    settings: Mapping[str, str] | None = None, limits: Limits | None = None, store: Store | None = None
) -> AsyncIterator[Lists]:
    with trio.fail_after(100_000):  # of virtual time: what waits for ever is to fail and not to hang
        async with hosting(settings or {}, limits, store) as (host, nursery):
            yield Lists(host, nursery, Telephone())


class Slow(Memory):
    """A store that takes its time."""

    async def keep(self, *facts: Any) -> Any:
        await trio.sleep(0.5)
        return await super().keep(*facts)


def put(player: str, field: str) -> dict[str, str]:
    return {"player": player, "action": "putSymbol", "position": field}


def flipped(player: str) -> dict[str, str]:
    return {"player": player, "action": FLIP}


__all__ = [
    "CUP",
    "Fighter",
    "Lists",
    "Slow",
    "Stream",
    "Telephone",
    "Weather",
    "answered",
    "dead",
    "flipped",
    "lists",
    "put",
]
