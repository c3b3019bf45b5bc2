"""Attackers who only look: each at more than anybody wants to see, or without reading it."""

import socket

import trio

from tests.adversaries.company import CUPS, ENTRANTS
from tests.adversaries.ground import Ground
from tests.adversaries.scripts import GAMES
from tests.attacks import attacks
from tests.attacks.attacks import connected

TABLES = (  # with everybody who ever came, or everybody against everybody
    "/api/tournaments/open-{game}/standings?n={n}",
    "/api/tournaments/open-{game}/standings?format=csv&n={n}",
    "/tournaments/open-{game}?n={n}",
    "/tournaments/open-{game}/standings?n={n}",
    "/bots/{game}-{n}",
    "/bots/{name}?n={n}",
)
DOWNLOADS = (
    "/api/tournaments/open-{game}/export",
    "/api/tournaments/cup-{game}/export",
    "/api/tournaments/open-{game}/matches?after={n}",
    "/tournaments/cup-{game}/schedule?n={n}",
    "/api/tournaments",
    "/openapi.json",
    "/metrics",
    "/games/{game}",
)
PAGES = (
    "/",
    *(f"/tournaments/open-{game}" for game in GAMES),
    *(f"/tournaments/{cup.tournament}" for cup in CUPS),
)
NEVER_READ = (
    "/api/events?after=0",
    "/api/tournaments/open-quoridor/export",
    "/live?page=/tournaments/open-quoridor",
)
SEVERAL = 4  # big answers that nobody reads
STAY = 30.0  # seconds that somebody who does not read stays
BATCH = 50  # requests that are sent in one piece


def _path(templates: tuple[str, ...], turn: int) -> str:
    template = templates[turn % len(templates)]
    return template.format(game=GAMES[turn // len(templates) % len(GAMES)], n=turn % 997, name=ENTRANTS[0])


async def standings(ground: Ground) -> None:
    await ground.read(_path(TABLES, ground.tries["standings"]))


async def downloads(ground: Ground) -> None:
    await ground.read(_path(DOWNLOADS, ground.tries["downloads"]))


async def pages(ground: Ground) -> None:
    """A page that updates itself, for as long as it does."""
    await ground.read(f"/live?page={PAGES[ground.tries['pages'] % len(PAGES)]}")


async def deaf(ground: Ground) -> None:
    """Subscribe to everything, and read nothing of it."""
    async with await connected(ground.ports.http) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        path = NEVER_READ[ground.tries["deaf"] % len(NEVER_READ)]
        await stream.send_all(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await trio.sleep(STAY)


async def unread(ground: Ground) -> None:
    """Ask for several big tables in one go, and read none."""
    async with await connected(ground.ports.http) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        turn = ground.tries["unread"]
        paths = [_path(TABLES[:4], turn + number) for number in range(SEVERAL)]
        asked = "".join(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n" for path in paths)
        await stream.send_all(asked.encode())
        await trio.sleep(STAY)


async def leavers(ground: Ground) -> None:
    """Ask for something that takes a while, and hang up."""
    await _ask_and_leave(ground, _path((*TABLES, *DOWNLOADS), ground.tries["leavers"]))


async def comers(ground: Ground) -> None:
    """Come to the stream of everything, and leave again."""
    await _ask_and_leave(ground, "/api/events")


async def _ask_and_leave(ground: Ground, path: str) -> None:
    async with await connected(ground.ports.http) as stream:
        await stream.send_all(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


async def pipelines(ground: Ground) -> None:
    """Requests without waiting for answers, which are read as they come; then such as confuse a proxy."""

    async def ask(stream: trio.SocketStream) -> None:
        standings = "/api/tournaments/open-quoridor/standings"
        for path in ("/healthz", "/metrics", "/", standings, "/nothing", "/g/nothing"):
            await stream.send_all(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * BATCH)

    async with await connected(ground.ports.http) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(ask, stream)
        with trio.move_on_after(STAY):
            while await stream.receive_some(1 << 20):
                pass
        nursery.cancel_scope.cancel()
    await attacks.smuggled(ground.ports)
    await attacks.huge_headers(ground.ports)
