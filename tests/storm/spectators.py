"""Whoever looks on: keeps tables by the stream of everything, reads pages, and watches pages."""

import re
from collections.abc import AsyncIterator
from html import unescape
from random import Random
from typing import Any
from urllib.parse import quote

import trio
from msgspec.json import decode

from tests.adversaries.wires import Gone, Requests
from tests.cluster.balancer import LOST
from tests.storm.ask import AGAIN, TRIES, ask, asked
from tests.storm.ground import Ground, Host
from tests.storm.scene import Scene

Rows = dict[str, dict[str, Any]]  # by name
# fmt: off
READ = (
    "/", "/tournaments", "/tournaments/{t}", "/tournaments/{t}/standings", "/tournaments/{t}/schedule",
    "/matches/{m}", "/wall", "/wall/{t}", "/bots/{b}", "/groups/spring", "/games/connect-4",
    "/api/tournaments", "/api/tournaments/{t}", "/api/tournaments/{t}/standings",
    "/api/tournaments/{t}/matches",
    "/api/tournaments/{t}/export", "/api/tournaments/{t}/feed", "/api/tournaments/{t}/calendar",
    "/api/tournaments/{t}/standings?format=csv", "/api/tournaments/{t}/standings?format=trf",
    "/api/groups", "/api/groups/spring", "/api/calendar", "/api/matches/{m}", "/api/matches/{m}?format=text",
    "/api/matches/{m}/wire", "/api/bots/{b}", "/api/status", "/api/hosts", "/api/organiser", "/api/key",
    "/healthz", "/readyz", "/metrics", "/openapi.json", "/api/games", "/match",
)
# fmt: on
WATCHED = (
    "/live?page=/tournaments/{t}&tournament={t}&after=0",
    *("/live?page=/matches/{m}", "/live?page=/", "/live?page=/wall"),
    *("/api/matches/{m}/events", "/api/events?after=3"),
)
STAYS = 2.0  # seconds for which a page is watched, at most
ROW = re.compile(
    r'<td class="figure rank">(\d+)</td>\s*'
    r'<th scope="row">.*?<a [^>]*href="/bots/[^"]*"[^>]*>(.*?)</a>.*?</th>\s*'
    r'<td class="figure points">.*?</td>\s*<td class="figure">(\d+)</td>\s*'
    r'<td class="figure">(\d+)–(\d+)–(\d+)</td>',
    re.DOTALL,
)
COLUMNS = ("rank", "played", "wins", "draws", "losses")


def rows_on_page(html: str) -> dict[str, tuple[int, ...]]:
    """The ranks, and how many matches were played, won, drawn and lost."""
    found: dict[str, tuple[int, ...]] = {}
    for rank, name, *counts in ROW.findall(html):
        found[unescape(re.sub("<[^>]*>", "", name))] = (int(rank), *map(int, counts))
    return found


def figures(rows: Rows) -> dict[str, tuple[int, ...]]:
    """The same of rows as the API has them."""
    return {name: tuple(row[column] for column in COLUMNS) for name, row in rows.items()}


async def events(wire: Requests) -> AsyncIterator[dict[str, Any]]:
    unread = b""
    while size := int(await wire.until(b"\r\n"), 16):
        *lines, unread = (unread + (await wire.exactly(size + 2))[:-2]).split(b"\n")
        for line in lines:
            if line.startswith(b"data: {"):
                yield decode(line.removeprefix(b"data: "))


class Listener:
    """Keeps the tables of all tournaments, in the way that `docs/api.md` gives to those who want one."""

    def __init__(self, scene: Scene, host: Host) -> None:
        self.tables: dict[str, Rows] = {}
        self._scene = scene
        self._host = host

    async def run(self) -> None:
        while True:
            try:
                await self._listen()
            except (*LOST, Gone):
                pass
            await trio.sleep(AGAIN)

    async def _listen(self) -> None:
        async with await trio.open_tcp_stream("127.0.0.1", self._host.http) as stream:
            wire = Requests(stream)
            await wire.listen("/api/events")
            self.tables = {}
            for name in list(self._scene.held):
                answer = await asked(self._host.http, f"/api/tournaments/{name}/standings", token="")
                if answer.status == 200:
                    self.tables[name] = {row["name"]: row for row in answer.json["rows"]}
            async for event in events(wire):
                self._hear(event)

    def _hear(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "begin", "match": match}:
                self._scene.begun(match)
            case {"type": "end", "match": match, "winner": winner, "ending": ending, "why": why}:
                self._scene.told.end(match, winner, ending, why, None)
            case {"type": "standings", "tournament": tournament, "rows": rows}:
                self.tables.setdefault(tournament, {}).update({row["name"]: row for row in rows})
            case _:
                pass


async def read(scene: Scene, ground: Ground, chance: Random) -> None:
    """One page after another; an organiser now and then."""
    while True:
        path = _somewhere(scene, chance, READ)
        try:
            token = {"token": ""} if chance.random() < 0.7 else {}
            answer = await ask(chance.choice(ground.hosts).http, "GET", path, **token)
            scene.answer(path, answer.status, answer.body)
        except (OSError, Gone):
            pass
        await trio.sleep(chance.uniform(0, AGAIN))


async def watch(scene: Scene, ground: Ground, chance: Random) -> None:
    while True:
        path = _somewhere(scene, chance, WATCHED)
        with trio.move_on_after(chance.uniform(0, STAYS)):
            try:
                async with await trio.open_tcp_stream(
                    "127.0.0.1", chance.choice(ground.hosts).http
                ) as stream:
                    wire = Requests(stream)
                    await wire.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                    status, _ = await wire.head()
                    scene.answer(path, status)
                    if status == 200:
                        async for _ in events(wire):
                            pass
            except (*LOST, Gone):
                pass
        await trio.sleep(AGAIN)


def _somewhere(scene: Scene, chance: Random, places: tuple[str, ...]) -> str:
    tournament = chance.choice([*scene.held][-6:] or ["nowhere"])
    match = chance.choice(scene.matches[-20:] or ["nowhere-1"])
    return chance.choice(places).format(t=tournament, m=match, b=quote(chance.choice(scene.names)))


async def agree(scene: Scene, ground: Ground, listeners: list[Listener]) -> list[str]:
    """What differs between a page, the API and the stream, when nothing happens any more."""
    found: list[str] = []
    for host, listener in zip(ground.hosts, listeners, strict=True):
        for name in list(scene.held):
            differs: str | None = None
            for _ in range(TRIES):
                if (differs := await _differs(host, listener, name)) is None:
                    break
                await trio.sleep(AGAIN)
            found += [] if differs is None else [differs]
    return found


def _as_told(row: tuple[int, ...], shown: tuple[int, ...] | None, newcomers: int) -> bool:
    """Whether a row is as the stream has told it, but for so many newcomers that may be before it."""
    return shown is not None and row[1:] == shown[1:] and row[0] <= shown[0] <= row[0] + newcomers


async def _differs(host: Host, listener: Listener, name: str) -> str | None:
    answer = await asked(host.http, f"/api/tournaments/{name}/standings", token="")
    if answer.status == 404:
        return None
    shown = figures({row["name"]: row for row in answer.json["rows"]})
    page = rows_on_page((await asked(host.http, f"/tournaments/{name}/standings", token="")).body.decode())
    if page != shown:
        return f"{name}: the API has {shown}, the page {page}"
    kept = figures(listener.tables.get(name, {}))
    # Whoever has only come in is told with the next result, and so are the ranks of those who are behind it.
    untold = len(shown.keys() - kept.keys())
    differ = {
        who: (row, shown.get(who)) for who, row in kept.items() if not _as_told(row, shown.get(who), untold)
    }
    if differ:
        return f"{name}: what the stream has told, and what the API has: {differ}"
    if missing := {who for who, row in shown.items() if row[1] and who not in kept}:
        return f"{name}: the stream has never told of {missing}"
    return None
