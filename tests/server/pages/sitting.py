"""A host with its desk, and an organiser's browser that sits at it, on a virtual clock."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from typing import Any
from urllib.parse import urlencode

import msgspec
import trio

from server.host.host import Host
from server.http.routes import routed
from server.net.limits import Limits
from server.pages.addresses import Addresses
from server.pages.desk.door import DeskDoor, login_path
from server.pages.desk.sessions import Sessions
from server.pages.door import Pages
from server.protocols.api.door import Api
from tests.server.pages.gallery import TOKEN, Gallery
from tests.server.transcripts import at_once, hosting
from tests.server.web import Answer, Server, serving
from tournament.store import Store

WHERE = "desk.example:7080"
FORM = re.compile(r'<form[^>]* action="(?P<action>[^"]*)">(?P<body>.*?)</form>', re.DOTALL)
FIELD = re.compile(r'<input[^>]* name="(?P<name>[^"]*)"(?:[^>]* value="(?P<value>[^"]*)")?')
ROW = re.compile(r"<tr(?P<class>[^>]*)>(?P<cells>.*?)</tr>", re.DOTALL)
CELL = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>", re.DOTALL)


class Browser:
    """Asks as a browser does: with its cookies, and saying where a form comes from."""

    def __init__(self, server: Server) -> None:
        self.cookies: dict[str, str] = {}
        self._server = server

    async def ask(
        self, method: str, path: str, fields: dict[str, str] | None = None, **headers: str
    ) -> Answer:
        body = urlencode(fields or {})
        sent = {"Host": WHERE, "Accept": "text/html"}
        if method == "POST":
            sent |= {"Sec-Fetch-Site": "same-origin", "Origin": f"http://{WHERE}"}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items() if value)]
        request = "\r\n".join((*lines, f"Content-Length: {len(body)}", "", body))
        answer = await self._server.connect().ask(request.encode(), method)
        if given := answer.headers.get("set-cookie"):
            name, _, value = given.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    async def read(self, path: str, status: int = 200) -> str:
        answer = await self.ask("GET", path)
        assert answer.status == status, answer.body.decode()
        return answer.body.decode()

    async def send(self, page: str, action: str, status: int = 303, **typed: str) -> Answer:
        """Fill in a form of a page, and follow where it leads: the answer is the page that is then seen."""
        answer = await self.ask("POST", action, fields_of(page, action) | typed)
        assert answer.status == status, answer.body.decode()
        if answer.status != 303:
            return answer
        return await self.ask("GET", answer.headers["location"].partition("#")[0])


def fields_of(page: str, action: str) -> dict[str, str]:
    """What a form holds before anybody types."""
    for found in FORM.finditer(page):
        if unescape(found["action"]) == action:
            return {name: unescape(value) for name, value in FIELD.findall(found["body"])}
    raise AssertionError(f"there is no form for {action}")


def table(page: str, kind: str) -> list[tuple[bool, list[str]]]:
    """The rows of a table: whether each is marked, and its cells."""
    body = re.search(rf'<table class="{kind}">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert body is not None
    return [
        (
            "changed" in row["class"],
            [unescape(re.sub("<[^>]*>", "", each)).strip() for each in CELL.findall(row["cells"])],
        )
        for row in ROW.finditer(body[1])
    ]


class Sitting(Gallery):
    """A gallery with a desk in it."""

    sessions: Sessions

    def link(self) -> str:
        return login_path(self.sessions, trio.current_time())

    async def log_in(self) -> Browser:
        browser = Browser(self.server)
        await browser.send(await browser.read(self.link()), "/admin/login")
        return browser

    async def api(self, method: str, path: str, token: str | None = TOKEN, **body: Any) -> Any:
        content = msgspec.json.encode(body).decode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {WHERE}", f"Content-Length: {len(content)}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        answer = await self.server.connect().ask("\r\n".join((*lines, "", content)).encode())
        found = msgspec.json.decode(answer.body)
        return found | {"status": answer.status}


@asynccontextmanager
async def sitting(
    store: Store | None = None, *, closed: bool = False, limits: Limits | None = None
) -> AsyncIterator[Sitting]:
    async with hosting({}, limits) as (usual, nursery):
        host = usual
        if store is not None:
            host = Host(store=store)
            host.boards.run = at_once
            await nursery.start(host.run)
        pages = Pages(host, Addresses("a:7000", "a:7001", "a:7080"), run=at_once, timer=trio.current_time)
        sessions = Sessions()
        login = None if closed else lambda: login_path(sessions, trio.current_time())
        desk = DeskDoor(host, pages.site, None if closed else sessions, run=at_once)
        async with serving(routed((Api(host, TOKEN, login), desk), pages)) as server:
            here = Sitting(host, nursery, server, pages)
            here.sessions = sessions
            yield here
            assert not server.guard.caught
