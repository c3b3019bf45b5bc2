"""The door for pages: which page a browser asks for. The file of a page's name has its content.

Everything here is public and read with GET. Unlike other doors, `Pages` does not have
the first parts of its paths to itself, because bots use some of them too: `shows`
says what is a page.
"""

from collections.abc import Awaitable, Callable
from functools import cached_property
from time import thread_time
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from msgspec import structs

from games.catalogue import catalogue
from server.exits import Unavailable, Unusable
from server.host.appearances import unseen
from server.host.boards import NoBoard, Run, in_a_thread
from server.host.grouping import members
from server.host.opening import OPEN
from server.host.view import HeldTournament, View
from server.http.exchange import Exchange
from server.http.head import RETRY_SOON, told_of
from server.http.sharing import READS
from server.http.wire import JSON, Response, text_response
from server.net.escaping import in_quotes
from server.net.limits import Limits
from server.pages import (
    bot,
    by_hand,
    files,
    game,
    group,
    projector,
    protocols,
    rendering,
    tables,
)
from server.pages.addressed import ASSISTANTS, MARKDOWN, addressed
from server.pages.addresses import Addresses
from server.pages.fair_share import REST, FairShare
from server.pages.formatting import paged, sentence
from server.pages.home import PLACES, HomeLook, summaries
from server.pages.live import Live
from server.pages.match import MatchLook
from server.pages.matches import MatchPages
from server.pages.paging import asked_for
from server.pages.parts import Look
from server.pages.projector import ProjectorLook
from server.pages.site import Site
from server.pages.stories import Stories
from server.pages.strength_over_time import Curves
from server.pages.tournament import PLACES as BOARDS
from server.pages.tournament import TournamentLook

FIRST = frozenset(
    {"tournaments", "matches", "bots", "embed", "static", "live", "protocols", "wall", "groups"}
)
LOOK_AGAIN = ("Refresh", "2")  # seconds: browsers do nothing about Retry-After
ROOT = frozenset({"", "favicon.ico", "robots.txt", "for-assistants.md"})


class Pages:
    def __init__(
        self,
        host: View,
        addresses: Addresses | None = None,
        *,
        run: Run = in_a_thread,
        rest: float = REST,
        timer: Callable[[], float] = thread_time,
        key: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`key` is the public part of the key with which the host signs exports, if it has one.

        `limits` are the host's: some are told to whoever reads how to play, and streams give signs of life as
        often as one says. After long work comes `rest` times as long a pause (`fair_share.py`).
        """
        self.site = Site(addresses or Addresses())
        self._limits = limits or Limits()
        self.live = Live(host, timer, self._limits.heartbeat_seconds)
        self._host = host
        self._key = key
        self._turns = FairShare(run, rest)
        self._curves = Curves()
        self._stories = Stories(host)
        self.matches = MatchPages(host, self.site, self.live, self._turns, self._stories)

    @cached_property
    def _home(self) -> HomeLook:
        return HomeLook(self._host)

    def shows(self, path: str) -> bool:
        """Whether there may be a page at a path, for a request that reads."""
        return shows(path)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        if request.method not in READS:
            what = "This page can only be read."
            page = self.site.instead(exchange, 405, what)
            exchange.respond(structs.replace(page, own=(("Allow", ", ".join(sorted(READS))),)))
            return None
        known = request.headers.get("if-none-match", "")
        match (request.path.rstrip("/") or "/").split("/")[1:]:
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
                exchange.respond(files.answer(name, version, known))
            case ["favicon.ico"]:
                exchange.respond(files.answer("favicon.svg", None, known))
            case ["robots.txt"]:
                exchange.respond(files.answer("robots.txt", None, known))
            case ["tournaments"]:
                return self._patiently(exchange, self._tournaments(exchange))
            case ["tournaments", name, *rest] if name in self._host.shown:
                return self._patiently(exchange, self._tournament(exchange, self._host.shown[name], rest))
            case ["matches", name, *rest]:
                if (answer := self.matches.answer(exchange, name, rest)) is not None:
                    return self._patiently(exchange, answer)
                self.site.missing(exchange)
            case ["embed", "matches", name]:
                return self._patiently(exchange, self.matches.page(exchange, name, "embed.html", framed=True))
            case ["bots", *parts]:
                return self._bot(exchange, "/".join(parts) or request.query.get("name", ""))
            case ["games"]:
                exchange.respond(self.site.page("games.html", exchange))
            case ["games", name] if name in catalogue():
                seen: dict[str, Any] = {**game.about(name), "table": OPEN + name, "limits": self._limits}
                exchange.respond(self.site.page("game.html", exchange, **seen))
            case ["games", name, "play"] if name in catalogue():
                seen = by_hand.page(catalogue()[name], request.query)
                exchange.respond(self.site.page(by_hand.TEMPLATE, exchange, **seen))
            case ["protocols", name] if name in protocols.SOURCES:
                seen = protocols.page(name)
                content = addressed(str(seen["content"]), self.site.addresses.reached(request))
                seen["content"] = Markup(content)  # noqa: S704
                exchange.respond(self.site.page("protocol.html", exchange, **seen))
            case ["for-assistants.md"]:
                told = game.with_games(ASSISTANTS, catalogue())
                text = addressed(told, self.site.addresses.reached(request))
                exchange.respond(text_response(MARKDOWN, text))
            case ["protocols", name] if name in protocols.GRAMMARS:
                exchange.respond(Response(200, JSON, protocols.GRAMMARS[name]))
            case _:
                self.site.missing(exchange)
        return None

    def missing(self, exchange: Exchange) -> None:
        """Say that there is no page."""
        self.site.missing(exchange)

    async def _patiently(self, exchange: Exchange, answer: Awaitable[object]) -> object:
        """Answer, or say that what is asked for is not there yet, or not just now."""
        try:
            return await answer
        except NoBoard as error:
            what, later = str(error), (RETRY_SOON, LOOK_AGAIN)
        except (Unavailable, Unusable) as error:
            self._host.guard.report(error)
            what, later = str(told_of(error)), (RETRY_SOON,)
        page = self.site.instead(exchange, 503, sentence(what))
        exchange.respond(structs.replace(page, own=later))

    # Live pages

    async def _live(self, exchange: Exchange, address: str, look: Look, template: str, **seen: Any) -> None:
        """A page with the parts that its stream keeps up to date."""
        shown = await self.live.ready(address, look)
        async with self._turns.short:
            exchange.respond(self.site.page(template, exchange, live=self.live.show(address, shown), **seen))

    async def _stream(self, exchange: Exchange) -> None:
        address = exchange.request.query.get("page", "")
        match address.split("/"):
            case ["", ""]:
                look: Look = self._home
            case ["", "wall"]:
                look = ProjectorLook(self._host, None)
            case ["", "wall", name] if name in self._host.shown:
                look = ProjectorLook(self._host, self._host.shown[name])
            case ["", "tournaments", name] if name in self._host.shown:
                look = TournamentLook(self._host, self._host.shown[name], self._turns)
            case ["", "matches", name] if (found := await self._stories.find(name)) is not None:
                look = MatchLook(*found, self._host.grader)
            case _:
                self.site.missing(exchange, f"There is no page {in_quotes(address)} that changes.")
                return
        await self.live.ready(address, look)
        self.live.stream(exchange, address)

    def _projector(self, exchange: Exchange, only: HeldTournament | None) -> Awaitable[None]:
        name = None if only is None else only.record.name
        address = "/wall" if name is None else f"/wall/{name}"
        look = ProjectorLook(self._host, only)
        return self._live(exchange, address, look, "wall.html", places=projector.PLACES, name=name)

    # Tournaments

    async def _tournaments(self, exchange: Exchange) -> None:
        """All of them, or those of a bot or a group."""
        asked, whose, only, nobody = exchange.request.query, dict[str, str](), None, ""
        if name := asked.get("bot"):
            whose, nobody = {"bot": name}, sentence(unseen(name))
            only = await bot.tournaments(self._host, name, self._turns)
        elif name := asked.get("group"):
            whose, nobody = {"group": name}, f"There is no group {in_quotes(name)}."
            only = members(self._host.tournaments, name)
        if only == []:
            self.site.missing(exchange, nobody)
            return
        address = paged(f"?{urlencode(whose)}" if whose else "")
        seen = summaries(self._host, asked_for(exchange.request, "page") or 1, only)
        listed = await self._whole("tournaments", seen | {"address": address})
        exchange.respond(self.site.page("tournaments.html", exchange, part=listed, whose=whose))

    async def _tournament(self, exchange: Exchange, tournament: HeldTournament, rest: list[str]) -> None:
        record, number = tournament.record, asked_for(exchange.request, "page") or 1
        about: dict[str, Any] = {"record": record, "game": tournament.game, "key": self._key}
        match rest:
            case []:
                look = TournamentLook(self._host, tournament, self._turns)
                address = f"/tournaments/{record.name}"
                self._host.grader.summary(record.public, tournament.concluded)  # what is over is graded
                await self._live(exchange, address, look, "tournament.html", places=BOARDS, **about)
            case ["standings"]:
                public, board = await self._host.boards.public(record)
                seen = tables.standings(public, board, number)
                about["part"] = await self._whole("standings", seen)
                exchange.respond(self.site.page("table.html", exchange, title="Standings", **about))
            case ["schedule"]:
                about["part"] = await self._whole("schedule", tables.schedule(record, number))
                exchange.respond(self.site.page("table.html", exchange, title="Schedule", **about))
            case _:
                self.site.missing(exchange)

    async def _whole(self, name: str, seen: dict[str, Any]) -> Markup:
        """A page of a whole table."""
        return await self._turns.aside(lambda: lambda: rendering.part(name, seen | {"whole": True}))

    async def _group(self, exchange: Exchange, name: str) -> None:
        if (seen := await group.page(self._host, name, asked_for(exchange.request, "page") or 1)) is None:
            self.site.missing(exchange, f"There is no group {in_quotes(name)}.")
            return
        exchange.respond(self.site.page("group.html", exchange, **seen))

    # Bots

    async def _bot(self, exchange: Exchange, name: str) -> None:
        page = asked_for(exchange.request, "page") or 1
        records = [each.record.public for each in self._host.tournaments.values()]
        rated = await self._host.versions.of_games(name, records)

        def begin() -> Callable[[], dict[str, Any] | None]:
            return lambda: bot.seen(name, records, page, self._host.versions.index, self._curves, rated)

        seen = await self._turns.aside(begin)
        if not seen:
            self.site.missing(exchange, sentence(unseen(name)))
            return
        exchange.respond(self.site.page("bot.html", exchange, kept=bot.kept(self._host, name), **seen))


def shows(path: str) -> bool:
    """Whether there may be a page at a path."""
    first, *rest = path.strip("/").split("/")
    if first == "games":
        return len(rest) < 2 or rest[1:] == ["play"]
    return first in FIRST or (not rest and first in ROOT)
