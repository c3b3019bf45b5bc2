"""Several hosts on one virtual clock, with links and a database in memory."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import cycle
from math import inf
from typing import Any, cast

import trio
import trio.testing
from msgspec import structs

from server.host.host import Host
from server.http.routes import routed
from server.http.service import Http
from server.net.wire import Wire
from server.pages.desk.sessions import Sessions
from server.peers.abroad import Peers
from server.peers.channel import FarEnd
from server.peers.keeping import LeaseKeeper
from server.peers.ledger import SharedLedger
from server.peers.link import Link, attended
from server.peers.messages import Open
from server.peers.peering import attend
from server.peers.requests import Relayed
from server.peers.watching import Watching
from server.protocols import tcp, websocket
from server.protocols.catalogue import carried
from server.protocols.dialect import OverHttp, OverWebsocket
from server.store.journal import Jot
from server.store.ledger import InThread
from server.store.shared import SharedPostgres
from tests.server.doors import ANY_GAME, by_dialect, served
from tests.server.ends import Connect, End, FrameEnd, LineEnd, in_memory
from tests.server.http_end import HttpEnd
from tests.server.peers.test_keeping import CARD, here
from tests.server.protocols.lists import Telephone
from tests.server.transcripts import always_zero, at_once, grade_at_once
from tests.simulation.cluster.database import Database, Session
from tournament.entries import Entry
from tournament.timekeeper import Timekeeper


class Shared(Database):
    def remove(self, host: int, tournament: str) -> None:
        self.hosts[host].changes += 1
        del self.leases[tournament]


class Journal(Session):
    """One host's way to it, by which it reads as well. Entries have their numbers by the order of writing."""

    def __init__(self, database: Database, host: Callable[[], int]) -> None:
        super().__init__(database, host)
        self._shared = database

    def last(self) -> int:
        return len(self._shared.journal)

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterable[Entry]:
        rows = [
            structs.replace(row, number=number) for number, (_, row) in enumerate(self._shared.journal, 1)
        ]
        return [row for row in rows if row.number > after and tournament in (None, row.tournament)]

    def jotted(self) -> Iterable[Jot]:
        return [self._shared.jots[place] for place in sorted(self._shared.jots)]

    def concluded(self, tournament: str, match: str) -> str | None:
        key = f"concluded {match}"
        return next((row.body for row in self.kept(0, tournament) if row.key == key), None)

    def receipt(self, tournament: str, match: str) -> str | None:
        found = self._shared._keys.get((tournament, f"concluded {match}"))
        return None if found is None else found[1].hex()


class Links:
    """As `server/peers/links.py` has them, without a network."""

    def __init__(self) -> None:
        self.host = 0
        self.token = ""
        self.reply: Any = None
        self.hear: Any = None
        self.linked: Any = None
        self.links: dict[int, Link] = {}

    def to(self, peer: int) -> Link | None:
        return self.links.get(peer)

    def all(self) -> Iterable[Link]:
        return self.links.values()


class One:
    """One of the hosts."""

    def __init__(self, database: Shared, in_thread: InThread = here) -> None:
        """`in_thread` is how it reaches the database."""
        self.links = Links()
        self.keeping = LeaseKeeper(database, in_thread, now=trio.current_time, sleep=trio.sleep)
        journal = cast("SharedPostgres", Journal(database, lambda: self.links.host))
        self.ledger = SharedLedger(journal, self.keeping, in_thread)
        self.peers = Peers(self.keeping, self.ledger, journal, self.links.to, in_thread)
        self.host = Host(
            store=self.ledger,
            timekeeper=Timekeeper(inf),
            wall=trio.current_time,
            load=self.peers.load,
            whole=False,
        )
        self.host.boards.run = at_once
        self.host.grader.grade = grade_at_once
        self.host.random_bits = always_zero

    async def run(self, nursery: trio.Nursery) -> None:
        self.links.host = await self.keeping.register(CARD)
        await nursery.start(self.keeping.run)
        self.peers.serve(self.host)
        self.host.group = cast("Any", object())  # there is one: more is not asked
        await nursery.start(self.host.run)
        nursery.start_soon(self.peers.run)

    def doors(self, telephone: Telephone, sessions: Sessions | None = None) -> Mapping[str, Connect]:
        host = self.host
        behind = [served(dialect, way, host, telephone) for dialect, way in carried(OverHttp)]
        watching = Watching(self.links.all, self.peers.link)
        relayed = Relayed(self.peers, cast("Any", self.links), behind, "token", sessions, watching)
        http = Http(relayed.beside(routed(behind)), host.guard, host.limits)

        async def web(host: Host, wire: Wire, visitor: Any) -> None:
            await http.attend(wire, visitor)

        frames = {
            path: in_memory(host, websocket.attend, partial(FrameEnd, path=path))
            for path in (ANY_GAME, *(way.path for _, way in carried(OverWebsocket)))
        }
        lines, requests = in_memory(host, tcp.attend, LineEnd), in_memory(host, web, HttpEnd)
        return by_dialect(lines, frames, requests, telephone)

    async def attend(self, wire: FarEnd, opened: Open) -> None:
        await attend(self.host, self.peers, wire, opened)


class RoamingEnd(End):
    """Each request comes to the next host, over a connection of its own."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._ends: list[HttpEnd] = []
        self._news = trio.Event()

    async def say(self, text: str) -> None:
        end = await self._connect()
        self._ends.append(end)
        await end.say(text)
        self._news.set()

    async def hear(self) -> str | None:
        while not self._ends:
            self._news = trio.Event()
            await self._news.wait()
        end = self._ends[0]
        said = await end.hear()
        if said is not None and not end.streaming:
            self._ends.pop(0)
            await end.close()
        return said

    async def close(self) -> None:
        for end in self._ends:
            await end.close()


@asynccontextmanager
async def several(count: int) -> AsyncIterator[tuple[Sequence[Host], Mapping[str, Connect]]]:
    """Hosts, and doors each of which leads to the next of them."""
    database = Shared(trio.current_time)
    found = [One(database) for _ in range(count)]
    async with trio.open_nursery() as nursery:
        for one in found:
            await one.run(nursery)
        telephone = Telephone()
        doors = [one.doors(telephone) for one in found]
        for later, one in enumerate(found):
            for other in found[:later]:
                link(nursery, one, other)
        yield [one.host for one in found], _roaming(doors)
        nursery.cancel_scope.cancel()
    for one in found:
        assert not one.host.guard.caught, "something failed that nobody expected"


def link(nursery: trio.Nursery, one: One, other: One) -> None:
    """Have two hosts talk to each other from now on; the first came later."""
    ends = trio.testing.memory_stream_pair()
    for mine, theirs, stream, dialled in ((one, other, ends[0], True), (other, one, ends[1], False)):
        made = Link(
            stream,
            theirs.links.host,
            attended(mine.host.guard, mine.attend),
            dialled=dialled,
            reply=mine.links.reply,
            hear=mine.links.hear,
            token="token",
            timekeeper=mine.host.timekeeper,
        )
        mine.links.links[theirs.links.host] = made
        mine.links.linked(made)
        nursery.start_soon(made.run)


def _roaming(doors: Sequence[Mapping[str, Connect]]) -> Mapping[str, Connect]:
    turns = cycle((*doors[1:], doors[0]))

    def to_the_next(name: str) -> Connect:
        async def connect() -> End:
            return await next(turns)[name]()

        async def roam() -> End:
            return RoamingEnd(connect)

        return roam if doors[0][name] is doors[0]["http"] else connect

    return {name: to_the_next(name) for name in doors[0]}
