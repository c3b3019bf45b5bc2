"""The doors of a host, in memory and over real sockets, and which page on a dialect is about which.

Whatever dialects the catalogue knows are behind these doors. The key of a door is
the transport, `tcp`, `websocket` (at `/play`) or `http`, or the name of a dialect.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import trio
from msgspec import Struct

from server.config import Evaluation, Settings
from server.host.host import Host
from server.http.routes import HttpDoor, routed
from server.http.service import Http
from server.net.admission import Admission, Visitor
from server.net.wire import Served, Wire
from server.protocols import tcp, websocket
from server.protocols.arena.door import Arena
from server.protocols.catalogue import carried, dialects
from server.protocols.dialect import Dialect, OverHttp, OverTcp, OverWebsocket
from tests.server.ends import Attend, Connect, End, FrameEnd, LineEnd, in_memory, over_sockets
from tests.server.http_end import HttpEnd
from tests.server.protocols.lists import Telephone
from tests.server.transcripts import Doors, Transcript, transcripts

PAGES = Path(__file__).parents[2] / "docs/protocols"
ANY_GAME = "/play"  # where websockets speak the house protocol

Stream = trio.abc.Stream
Around = Callable[[Stream], Stream]


class Page(Struct, frozen=True):
    """A page for authors of bots, and the door by which those come that name no other."""

    path: Path
    dialect: str
    over: str

    def transcripts(self) -> list[Transcript]:
        return transcripts(self.path)


def pages() -> Iterator[Page]:
    """Of every dialect its page, and those about one of the ways in which it is carried: `house-http.md`."""
    for name, dialect in dialects().items():
        yield Page(dialect.page or PAGES / f"{name}.md", name, name)
        for kind in ("tcp", "websocket", "http"):
            if (path := PAGES / f"{name}-{kind}.md").exists():
                yield Page(path, name, kind)


def web(host: Host, telephone: Telephone) -> Attend:
    """What is behind the HTTP port."""
    doors = [served(dialect, way, host, telephone) for dialect, way in carried(OverHttp)]
    http = Http(routed(doors), host.guard, host.limits)

    def attend(host: Host, wire: Wire, visitor: Visitor) -> Awaitable[Served | None]:
        return http.attend(wire, visitor)

    return attend


def served(dialect: Dialect, way: OverHttp, host: Host, telephone: Telephone) -> HttpDoor:
    """The Arena calls its bots, and in tests it calls them by telephone."""
    if dialect.name == "arena":
        return Arena(host, Evaluation(), "127.0.0.1", telephone)
    return way.serve(host, Settings())


Opened = Callable[[Attend, Callable[[Stream], End]], Awaitable[Connect]]


async def _all(
    host: Host, opened: Opened, around: Around | None = None, around_lines: Around | None = None
) -> Mapping[str, Connect]:
    around = around or _as_it_is
    around_lines = around_lines or around
    telephone = Telephone()
    lines = await opened(tcp.attend, lambda stream: LineEnd(around_lines(stream)))
    http = await opened(web(host, telephone), lambda stream: HttpEnd(around(stream)))

    async def frames(path: str) -> Connect:
        return await opened(websocket.attend, lambda stream: FrameEnd(around(stream), path))

    paths = {ANY_GAME, *(way.path for _, way in carried(OverWebsocket))}
    return by_dialect(lines, {path: await frames(path) for path in paths}, http, telephone)


def by_dialect(
    lines: Connect, frames: Mapping[str, Connect], requests: Connect, telephone: Telephone
) -> Mapping[str, Connect]:
    """The same doors under the names of all transports and dialects; websockets by their paths."""
    found = {
        "tcp": lines,
        "websocket": frames[ANY_GAME],
        "http": requests,
        "stream": requests,
        "called": telephone.answering,
    }
    for name, dialect in dialects().items():
        match dialect.carried_by[0]:
            case OverTcp():
                found[name] = lines
            case OverWebsocket(path=path):
                found[name] = frames[path]
            case OverHttp():
                found[name] = requests
    return found


def in_memory_with(
    around: Around | None = None, around_lines: Around | None = None, admission: Admission | None = None
) -> Doors:
    """Over a simulated network, with something `around` each stream of a bot; lines may have their own."""

    async def doors(host: Host, nursery: trio.Nursery) -> Mapping[str, Connect]:
        async def opened(attend: Attend, end: Callable[[Stream], End]) -> Connect:
            return in_memory(host, attend, end, admission=admission)

        return await _all(host, opened, around, around_lines)

    return doors


memory = in_memory_with()


async def sockets(host: Host, nursery: trio.Nursery) -> Mapping[str, Connect]:
    """Over real ones."""
    return await _all(host, partial(over_sockets, host, nursery))


def _as_it_is(stream: Stream) -> Stream:
    return stream
