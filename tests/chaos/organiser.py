"""Whoever holds the tournaments: a ladder that goes on for ever, and one round robin after another.

Speaks HTTP with the organiser's token, and is told of everything by the API's
event stream, as a page would be.
"""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import trio

from tests.chaos.told import Told
from tests.chaos.web_bots import chunks

AGAIN = 0.02  # seconds until the host is tried again …
STANDINGS = 0.1  # … and until it is asked again for standings that are not the last ones
LADDER = "ladder"
ROUND_ROBIN = 4  # entrants


class Organiser:
    def __init__(self, folder: Path, port: int, told: Told) -> None:
        self._token = folder / "data" / "organiser-token"
        self._port = port
        self._told = told
        self._cups = 0
        self.cup: str | None = None  # the round robin of the hour
        self.ladder: str | None = None

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hold)
            nursery.start_soon(self._listen)

    async def _hold(self) -> None:
        while True:
            with suppress(OSError, trio.BrokenResourceError, ValueError):  # it is down
                await self._look_after()
            await trio.sleep(AGAIN)

    async def _look_after(self) -> None:
        if self.ladder is None:
            await self._ask("POST", "/api/tournaments", name=LADDER, game="tic-tac-toe", format="ladder")
            await self._ask("POST", f"/api/tournaments/{LADDER}/start")
            if (await self._ask("GET", f"/api/tournaments/{LADDER}")).get("state") == "running":
                self.ladder = LADDER
        if self.cup is not None:
            found = await self._ask("GET", f"/api/tournaments/{self.cup}/standings")
            if str(found.get("error", "")).endswith(("come again later", "ask again in a second")):
                return
            if "error" in found:
                self._told.verdict.lost.append(f"{self.cup}, which was there before: {found['error']}")
                raise ValueError(found["error"])
            self._told.standings(self.cup, found["rows"])
            if found["state"] != "finished":
                await trio.sleep(STANDINGS)
                return
            self._cups += 1
        name = f"cup-{self._cups}"
        await self._ask("POST", "/api/tournaments", name=name, game="connect-4", entrants=ROUND_ROBIN)
        if "state" in await self._ask("GET", f"/api/tournaments/{name}"):
            self.cup = name

    async def _ask(self, method: str, path: str, **body: object) -> Any:
        """The answer, also where it is a refusal; `ValueError` where it was cut short."""
        content = json.dumps(body).encode() if body else b""
        token = self._token.read_text().strip()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Authorization: Bearer {token}\r\n"
        )
        head += f"Content-Length: {len(content)}\r\n\r\n"
        answer = b""
        async with await trio.open_tcp_stream("127.0.0.1", self._port) as stream:
            await stream.send_all(head.encode() + content)
            async for part in stream:
                answer += part
        return json.loads(answer.partition(b"\r\n\r\n")[2])

    async def _listen(self) -> None:
        """To everything that begins and ends."""
        while True:
            with suppress(OSError, trio.BrokenResourceError):
                async with await trio.open_tcp_stream("127.0.0.1", self._port) as stream:
                    await stream.send_all(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    await self._hear(stream)
            await trio.sleep(AGAIN)

    async def _hear(self, stream: trio.SocketStream) -> None:
        body = b""
        while b"\r\n\r\n" not in body:
            if not (part := await stream.receive_some()):
                return
            body += part
        if not body.startswith(b"HTTP/1.1 200 "):
            return
        body, unread = body.partition(b"\r\n\r\n")[2], b""
        while True:
            content, body, over = chunks(body)
            *lines, unread = (unread + content).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    event = json.loads(line.removeprefix(b"data: "))
                    if event["type"] == "end":
                        self._told.end(event["match"], event["winner"], event["ending"], event["why"], None)
                    elif event["type"] == "standings":
                        self._told.standings(event["tournament"], event["rows"])
            if over or not (part := await stream.receive_some()):
                return
            body += part
