"""What bots that come over HTTP have in common: requests, and connections to make them over."""

import re
from random import Random

import trio
from msgspec import Struct

from tests.server.ends import LOST as CUT
from tests.server.http_end import HttpEnd
from tests.server.windowed import End as Wire
from tests.simulation.doors.talk import (
    Gone,
    Talk,
    Town,
)

STALE = 60.0  # seconds after which a client of HTTP does not rely on a connection any more
ANSWER = re.compile(r"(\d+)((?: [A-Z][A-Za-z-]*: \S+)*)(?: (.*))?", re.DOTALL)


class Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: str


class Client:
    """One request at a time, over a connection that is made when it is needed."""

    def __init__(self, town: Town, name: str) -> None:
        self._town = town
        self._name = name
        self._used = 0.0
        self.wire: Wire | None = None
        self._end: HttpEnd | None = None

    async def ask(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        now = trio.current_time()
        if now - self._used > STALE or (self.wire is not None and not self.wire.open):
            self.close()
        if self.wire is None or self._end is None:
            self.wire = self._town.dial("http", self._name)
            self._end = HttpEnd(self.wire)
        named = "".join(f" {name.replace('_', '-')}: {value}" for name, value in headers.items())
        try:
            await self._end.say(f"{method} {path}{named} {body}".rstrip())
        except CUT:
            self.close()
            raise Gone from None
        answer = ANSWER.fullmatch(await self.next())
        self._used = trio.current_time()
        assert answer is not None
        headers = dict(re.findall(r" ([A-Za-z-]+): (\S+)", answer[2]))
        return Answer(int(answer[1]), headers, answer[3] or "")

    async def next(self) -> str:
        """The next chunk, or the answer."""
        assert self._end is not None
        try:
            text = await self._end.hear()
        except AssertionError as torn:
            raise Gone(torn) from None
        if text is None:
            self.close()
            raise Gone
        return text

    def close(self) -> None:
        if self.wire is not None:
            self.wire.close()
        self.wire = self._end = None


def open_wires(*clients: Client) -> list[Wire]:
    return [client.wire for client in clients if client.wire is not None]


class Web(Talk):
    """A wire over HTTP, with a connection to ask over and one to listen on."""

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        super().__init__(name, game, town, chance, prompt)
        self.asks, self.listens = Client(town, name), Client(town, name)

    @property
    def wires(self) -> list[Wire]:
        return open_wires(self.asks, self.listens)

    async def babble(self, junk: str) -> None:
        await self.asks.ask("POST", self.path, junk)

    @property
    def path(self) -> str:
        """Where something is said."""
        raise NotImplementedError
