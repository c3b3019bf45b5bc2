"""Which page a browser asks for. What is on a page is in the file of that name.

Everything here is public and read with GET. Unlike other doors, `Pages` does not have
the first parts of its paths to itself, because bots use some of them too: `shows`
says what is a page.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from time import thread_time
from typing import Any

from markupsafe import Markup
from msgspec import structs

from games.catalogue import catalogue
from server.host.appearances import unseen
from server.host.boards import NoBoard, Run, in_a_thread
from server.host.grading import estimated, graded
from server.host.opening import OPEN
from server.host.view import Held, View
from server.host.wire_log import Tape
from server.http.exchange import Exchange
from server.http.wire import JSON, Response, json_response
from server.pages import (
    bot,
    by_hand,
    files,
    game,
    group,
    match,
    projector,
    protocols,
    rendering,
    tables,
    wire,
)
from server.pages.addressed import ASSISTANTS, MARKDOWN, addressed
from server.pages.addresses import Addresses
from server.pages.fair_share import Turns
from server.pages.home import PLACES, HomeLook
from server.pages.live import Live
from server.pages.match import MatchLook
from server.pages.parts import Look
from server.pages.projector import ProjectorLook
from server.pages.stories import Stories
from server.pages.strength_over_time import Curves
from server.pages.tournament import PLACES as BOARDS
from server.pages.tournament import TournamentLook
from tournament.facts import Concluded

FIRST = frozenset(
    {"tournaments", "matches", "bots", "embed", "static", "live", "protocols", "wall", "groups"}
)
ROOT = frozenset({"", "favicon.ico", "robots.txt", "for-assistants.md"})
READS = ("GET", "HEAD")
SOON = 0.5  # seconds that a page waits for how well a match was played
FRAMES = 262_144  # characters of boards in one answer, beyond the first of them
NOTHING: Mapping[int, Tape] = {}


class Pages:
    def __init__(
        self,
        host: View,
        addresses: Addresses | None = None,
        *,
        run: Run = in_a_thread,
        timer: Callable[[], float] = thread_time,
        key: str | None = None,
    ) -> None:
        """`key` is the public one that the host signs exports with, if it has one."""
        self.live = Live(host, timer)
        self._host = host
        self._key = key
        self._addresses = addresses or Addresses()
        self._turns = Turns(run)
        self._curves = Curves()
        self._stories = Stories(host)

    @cached_property
    def _home(self) -> HomeLook:
        return HomeLook(self._host)

    @property
    def port(self) -> str:
        """The port on which the pages are served."""
        return self._addresses.http.rpartition(":")[2]

    def shows(self, path: str) -> bool:
        """Whether there may be a page at a path, for a request that reads."""
        return shows(path)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        if request.method not in READS:
            exchange.respond(self.page("missing.html", exchange, 405, what="This page can only be read."))
            return None
        match request.path.split("/")[1:]:
            case [""]:
                return self._live(exchange, "/", self._home, "home.html", places=PLACES)
            case ["live"]:
                return self._patiently(exchange, self._stream(exchange))
            case ["groups", *parts]:
                name = "/".join(parts) or exchange.request.query.get("name", "")
                return self._patiently(exchange, self._group(exchange, name))
            case ["wall"]:
                return self._projector(exchange, None)
            case ["wall", name] if name in self._host.shown:
                return self._projector(exchange, self._host.shown[name])
            case ["static", version, name]:
                exchange.respond(files.answer(name, version, request.headers.get("if-none-match", "")))
            case ["favicon.ico"]:
                exchange.respond(files.answer("favicon.svg", None))
            case ["robots.txt"]:
                exchange.respond(files.answer("robots.txt", None))
            case ["tournaments", name, *rest] if name in self._host.shown:
                return self._patiently(exchange, self._tournament(exchange, self._host.shown[name], rest))
            case ["matches", name]:
                return self._match(exchange, name, "match.html")
            case ["matches", name, "wire"]:
                return self.wire(exchange, name)
            case ["matches", name, "frames"]:
                return self._frames(exchange, name)
            case ["matches", name, "hand"]:
                return self._hand(exchange, name)
            case ["matches", name, "board.svg"]:
                return self._picture(exchange, name)
            case ["embed", "matches", name]:
                return self._match(exchange, name, "embed.html", framed=True)
            case ["bots", *parts]:
                return self._bot(exchange, "/".join(parts) or request.query.get("name", ""))
            case ["games", name] if name in catalogue():
                exchange.respond(self.page("game.html", exchange, **game.about(name), table=OPEN + name))
            case ["games", name, "play"] if name in catalogue():
                seen = by_hand.page(catalogue()[name], request.query)
                exchange.respond(self.page(by_hand.TEMPLATE, exchange, **seen))
            case ["protocols", name] if name in protocols.SOURCES:
                seen = protocols.page(name)
                content = addressed(seen["content"], self._addresses.reached(request))
                seen["content"] = Markup(content)  # noqa: S704
                exchange.respond(self.page("protocol.html", exchange, **seen))
            case ["for-assistants.md"]:
                text = addressed(ASSISTANTS, self._addresses.reached(request))
                exchange.respond(Response(200, MARKDOWN, text.encode()))
            case ["protocols", name] if name in protocols.GRAMMARS:
                exchange.respond(Response(200, JSON, protocols.GRAMMARS[name]))
            case _:
                self.missing(exchange)
        return None

    def missing(self, exchange: Exchange, what: str | None = None, *, framed: bool = False) -> None:
        what = what or f"There is nothing at {exchange.request.path[:80]}."
        exchange.respond(self.page("missing.html", exchange, 404, framed=framed, what=what))

    async def _patiently(self, exchange: Exchange, answer: Awaitable[object]) -> None:
        """Answer; or say that the standings are not there yet."""
        try:
            await answer
        except NoBoard:
            what = "The standings are being computed, and it takes a while: look again in a second."
            page = self.page("missing.html", exchange, 503, what=what)
            exchange.respond(structs.replace(page, own=(("Retry-After", "1"),)))

    def page(
        self,
        template: str,
        exchange: Exchange,
        status: int = 200,
        *,
        framed: bool = False,
        **seen: Any,
    ) -> Response:
        """A page of this host, with its addresses as they are reached from the browser."""
        connect = self._addresses.reached(exchange.request)
        speaks_to = connect["websocket"] if template == by_hand.TEMPLATE else ""
        games = [(name, each.title) for name, each in catalogue().items()]
        return rendering.page(
            template,
            status,
            framed=framed,
            speaks_to=speaks_to,
            connect=connect,
            games=games,
            path=exchange.request.path,
            **seen,
        )

    # Live pages

    async def _live(self, exchange: Exchange, address: str, look: Look, template: str, **seen: Any) -> None:
        """A page with the parts that its stream keeps up to date."""
        await self.live.ready(address, look)
        async with self._turns.short:
            exchange.respond(self.page(template, exchange, live=self.live.show(address), **seen))

    async def _stream(self, exchange: Exchange) -> None:
        address = exchange.request.query.get("page", "")
        match address.split("/")[1:]:
            case [""]:
                look: Look = self._home
            case ["wall"]:
                look = ProjectorLook(self._host, None)
            case ["wall", name] if name in self._host.shown:
                look = ProjectorLook(self._host, self._host.shown[name])
            case ["tournaments", name] if name in self._host.shown:
                look = TournamentLook(self._host, self._host.shown[name], self._turns)
            case ["matches", name] if (found := await self._stories.find(name)) is not None:
                look = MatchLook(*found)
            case _:
                self.missing(exchange, f"There is no page {address[:80]!r} that changes.")
                return
        await self.live.ready(address, look)
        self.live.stream(exchange, address)

    def _projector(self, exchange: Exchange, only: Held | None) -> Awaitable[None]:
        name = None if only is None else only.record.name
        address = "/wall" if name is None else f"/wall/{name}"
        look = ProjectorLook(self._host, only)
        return self._live(exchange, address, look, "wall.html", places=projector.PLACES, name=name)

    # Tournaments

    async def _tournament(self, exchange: Exchange, tournament: Held, rest: list[str]) -> None:
        record, number = tournament.record, _number(exchange, "page") or 1
        about: dict[str, Any] = {"record": record, "game": tournament.game, "key": self._key}
        match rest:
            case []:
                look = TournamentLook(self._host, tournament, self._turns)
                address = f"/tournaments/{record.name}"
                about["summary"] = self._host.grader.summary(record.public, tournament.concluded)
                await self._live(exchange, address, look, "tournament.html", places=BOARDS, **about)
            case ["standings"]:
                board = await self._host.boards.current(record.public)
                seen = tables.standings(record.public, board, number)
                about["part"] = await self._whole("standings", seen)
                exchange.respond(self.page("table.html", exchange, title="Standings", **about))
            case ["schedule"]:
                about["part"] = await self._whole("schedule", tables.schedule(record, number))
                exchange.respond(self.page("table.html", exchange, title="Schedule", **about))
            case _:
                self.missing(exchange)

    async def _whole(self, name: str, seen: dict[str, Any]) -> Markup:
        """A page of a whole table."""
        return await self._turns.aside(lambda: lambda: rendering.part(name, seen | {"whole": True}))

    async def _group(self, exchange: Exchange, name: str) -> None:
        if (seen := await group.page(self._host, name, _number(exchange, "page") or 1)) is None:
            self.missing(exchange, f"There is no group {name[:64]!r}.")
            return
        exchange.respond(self.page("group.html", exchange, **seen))

    # Matches

    async def _match(self, exchange: Exchange, name: str, template: str, *, framed: bool = False) -> None:
        if (found := await self._stories.find(name)) is None:
            self.missing(exchange, f"There is no match {name[:80]!r}.", framed=framed)
            return
        record, story = found
        address, goes_on = f"/matches/{name}", story.ended is None
        receipt = None if goes_on else await self._host.tournaments[record.name].receipt(name)
        if goes_on:
            await self.live.ready(address, MatchLook(record, story))
        judged = None
        if isinstance(story.source, Concluded) and not framed:
            judged = match.judged(story, await self._host.grader.of(record, story.source, SOON))
        async with self._turns.short:
            live = self.live.show(address) if goes_on else None
            seen = match.page(record, await match.completed(story), _number(exchange, "ply"))
            seen |= {"receipt": receipt, "judged": judged}
            seen |= {"graded": graded(record) and not goes_on, "estimated": estimated(record)}
            exchange.respond(self.page(template, exchange, framed=framed, live=live, **seen))

    async def wire(
        self,
        exchange: Exchange,
        name: str,
        status: int = 200,
        *,
        seen: Mapping[int, Tape] = NOTHING,
        why: str = "",
    ) -> None:
        """What was said in a match, as far as `seen`, or `why` it is not shown; and a form to ask with."""
        if (found := await self._stories.find(name)) is None:
            self.missing(exchange, f"There is no match {name[:80]!r}.")
            return
        record, story = found
        sides = [wire.side(story, seat, tape) for seat, tape in seen.items()]
        answer = self.page("wire.html", exchange, status, record=record, story=story, sides=sides, why=why)
        exchange.respond(wire.private(answer))

    async def _frames(self, exchange: Exchange, name: str) -> None:
        """Boards for a replay, some at a time: as many as one answer should hold."""
        if (found := await self._stories.find(name)) is None:
            self.missing(exchange)
            return
        async with self._turns.short:
            story = await match.completed(found[1])
        first, size, frames = min(_number(exchange, "from") or 0, len(story.plies)), 0, list[Any]()
        causes = story.causes
        for ply in range(first, len(story.plies) + 1):
            async with self._turns.short:
                frames.append(match.frame(story, ply, causes))
            size += len(frames[-1]["board"])
            if size >= FRAMES:
                break
        answer = {"from": first, "plies": len(story.plies), "over": story.ended is not None, "frames": frames}
        exchange.respond(json_response(200, answer, ("Referrer-Policy", "no-referrer")))

    async def _picture(self, exchange: Exchange, name: str) -> None:
        if (found := await self._stories.find(name)) is None:
            self.missing(exchange)
            return
        async with self._turns.short:
            story = await match.completed(found[1])
            asked = _number(exchange, "ply")
            ply = len(story.plies) if asked is None else min(asked, len(story.plies))
            exchange.respond(match.picture(story.drawing(ply)))

    async def _hand(self, exchange: Exchange, name: str) -> None:
        """The board as whoever plays by hand sees it, with what may be clicked."""
        found, seen = await self._stories.find(name), by_hand.BEHIND
        if found is not None:
            async with self._turns.short:
                story = await match.completed(found[1])
                seat = exchange.request.query.get("seat", "")
                seen = by_hand.board(story, _number(exchange, "ply") or 0, seat)
        exchange.respond(json_response(200, seen, ("Cache-Control", "no-store")))

    # Bots

    async def _bot(self, exchange: Exchange, name: str) -> None:
        page = _number(exchange, "page") or 1
        records = [each.record.public for each in self._host.tournaments.values()]
        rated = await self._host.versions.of_games(name, records)

        def begin() -> Callable[[], dict[str, Any] | None]:
            return lambda: bot.seen(name, records, page, self._host.versions.index, self._curves, rated)

        seen = await self._turns.aside(begin)
        if not seen:
            why = unseen(name)
            self.missing(exchange, f"{why[:1].upper()}{why[1:]}.")
            return
        exchange.respond(self.page("bot.html", exchange, kept=bot.kept(self._host, name), **seen))


def shows(path: str) -> bool:
    """Whether there may be a page at a path."""
    first, *rest = path.strip("/").split("/")
    if first == "games":
        return len(rest) == 1 or (rest[1:] == ["play"] and rest[0] in catalogue())
    return first in FIRST or (not rest and first in ROOT)


def _number(exchange: Exchange, name: str) -> int | None:
    given = exchange.request.query.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 7 else None
