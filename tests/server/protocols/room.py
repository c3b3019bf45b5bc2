"""A host with its TCP door, and bots that come in by it, for tests on a virtual clock."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import trio
import trio.testing

from server.host.host import Host
from server.net.admission import Admission
from server.net.limits import Limits
from server.protocols.tcp import attend
from tests.server.ends import LineEnd, in_memory
from tests.server.transcripts import Bot, hosting
from tests.server.windowed import End, Weather
from tournament.facts import AnyFact, Dealt, Entered, Opened
from tournament.store import Memory, Store

FLAT = [[0] * 6] * 6  # Santorini before anything is built


class SlowToEnter(Memory):
    """A store that takes twelve seconds to open a table or take somebody in, and no time for the rest."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if any(isinstance(fact, Entered | Opened) for fact in facts):
            await trio.sleep(12.0)
        return await super().keep(tournament, when, facts)


class SlowToDeal(Memory):
    """A store that takes a second to keep that a match was dealt."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if any(isinstance(fact, Dealt) for fact in facts):
            await trio.sleep(1.0)
        return await super().keep(tournament, when, facts)


class Guest(Bot):
    """A bot at a table, who says what the test says."""

    end: LineEnd

    @property
    def wire(self) -> End:
        assert isinstance(self.end.stream, End)
        return self.end.stream

    async def say(self, *lines: str) -> None:
        """Say all of it in one piece, and let everybody have heard it."""
        await self.send("".join(f"{line}\n" for line in lines).encode())

    async def send(self, content: bytes) -> None:
        await self.wire.send_all(content)
        await trio.testing.wait_all_tasks_blocked()

    async def tell(self, **message: Any) -> None:
        await self.say(msgspec.json.encode(message).decode())

    async def lines(self) -> list[str]:
        """What it has been sent since it was last asked; "[closed]" at the end."""
        await trio.testing.wait_all_tasks_blocked()
        heard = [*self.heard]
        self.heard.clear()
        return heard

    async def messages(self, *types: str) -> list[dict[str, Any]]:
        """The same for the house protocol; only of these types, if there are any."""
        decoded = [
            msgspec.json.decode(line) if line[:1] == "{" else {"type": line} for line in await self.lines()
        ]
        return [message for message in decoded if not types or message["type"] in types]

    async def states(self) -> list[list[Any]]:
        """The same for the memo."""
        return [msgspec.json.decode(line) for line in await self.lines()]


class Room:
    def __init__(self, host: Host, nursery: trio.Nursery) -> None:
        self.host = host
        self._nursery = nursery
        self._admission = Admission(host.limits)

    async def come(self, *first: str, weather: Weather | None = None, deaf: bool = False) -> Guest:
        """A new connection, and what is said first over it. A deaf guest never reads."""
        connect = in_memory(self.host, attend, weather=weather, admission=self._admission)
        guest = Guest(await connect())
        if not deaf:
            self._nursery.start_soon(guest.listen)
        if first:
            await guest.say(*first)
        return guest

    async def hello(self, name: str, game: str = "tic-tac-toe", **more: Any) -> Guest:
        guest = await self.come()
        await guest.tell(type="hello", name=name, game=game, **more)
        return guest


@asynccontextmanager
async def room(
    settings: Mapping[str, str] | None = None, limits: Limits | None = None, store: Store | None = None
) -> AsyncIterator[Room]:
    async with hosting(settings or {}, limits, store) as (host, nursery):
        yield Room(host, nursery)
