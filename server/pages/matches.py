"""Answers about one match: its page, boards for a replay and for playing by hand, the wire log."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from server.host.grading import estimated
from server.host.view import View
from server.host.wire_log import Tape
from server.host.wire_reader import TapeCopy, copied
from server.http.exchange import Exchange
from server.http.wire import NO_STORE, TEXT, Response, json_response, unstored
from server.net.escaping import in_quotes
from server.pages import by_hand, match, wire
from server.pages.fair_share import FairShare
from server.pages.live import Live
from server.pages.match import MatchLook
from server.pages.paging import asked_for
from server.pages.site import Site
from server.pages.stories import Stories
from tournament.facts import Concluded
from tournament.match import Match

SOON = 0.5  # seconds that a page waits for the grades of a match
FRAMES = 262_144  # characters of boards that are drawn for one answer, beyond the first of them
NOTHING: Mapping[int, Tape] = {}


class MatchPages:
    def __init__(self, host: View, site: Site, live: Live, turns: FairShare, stories: Stories) -> None:
        self._host = host
        self._site = site
        self._live = live
        self._turns = turns
        self._stories = stories

    def answer(self, exchange: Exchange, name: str, rest: list[str]) -> Awaitable[None] | None:
        """What is at the `rest` of a path after the match's name; None: there is no such page."""
        match rest:
            case []:
                return self.page(exchange, name, "match.html")
            case ["wire"]:
                return self.wire(exchange, name)
            case ["frames"]:
                return self._frames(exchange, name)
            case ["edition"]:
                return self._edition(exchange, name)
            case ["hand"]:
                return self._hand(exchange, name)
            case ["board.svg"]:
                return self._picture(exchange, name)
            case _:
                return None

    async def page(self, exchange: Exchange, name: str, template: str, *, framed: bool = False) -> None:
        if (found := await self._stories.find(name)) is None:
            self._site.missing(exchange, f"There is no match {in_quotes(name)}.", framed=framed)
            return
        record, story = found
        address, goes_on = f"/matches/{name}", isinstance(story.source, Match)  # or its end is being kept
        receipt = None if goes_on else await self._host.tournaments[record.name].receipt(name)
        shown = None
        if goes_on:
            shown = await self._live.ready(address, MatchLook(record, story, self._host.grader))
        judged = None
        if isinstance(story.source, Concluded) and not framed:
            judged = match.judged(story, await self._host.grader.of(record, story.source, SOON))
        has = "live" if goes_on else match.edition(record, name, self._host.grader.knows(record, name))
        async with self._turns.short:
            live = None if shown is None else self._live.show(address, shown)
            seen = match.page(record, await match.completed(story), asked_for(exchange.request, "ply"))
            seen |= {"receipt": receipt, "judged": judged, "edition": has}
            is_graded = self._host.grader.grades(record) and not goes_on and bool(story.plies)
            seen |= {"graded": is_graded, "estimated": estimated(record)}
            exchange.respond(self._site.page(template, exchange, framed=framed, live=live, **seen))

    async def wire(
        self,
        exchange: Exchange,
        name: str,
        status: int = 200,
        *,
        seen: Mapping[int, Tape] = NOTHING,
        why: str = "",
    ) -> None:
        """What was said in a match: the tapes `seen`, or `why` none is shown; and a form to ask with."""
        if (found := await self._stories.find(name)) is None:
            self._site.missing(exchange, f"There is no match {in_quotes(name)}.")
            return
        record, story = found

        def page(tapes: Mapping[int, TapeCopy]) -> Response:
            sides = [wire.side(story, seat, tape) for seat, tape in tapes.items()]
            about: dict[str, Any] = {"record": record, "story": story, "sides": sides, "why": why}
            return unstored(self._site.page("wire.html", exchange, status, **about))

        exchange.respond(await self._said(page, seen) if seen else page({}))

    async def wire_text(self, exchange: Exchange, name: str, seen: Mapping[int, Tape]) -> None:
        """The same as a text."""
        exchange.respond(await self._said(partial(wire.as_text, name), seen))

    async def _said(
        self, told: Callable[[Mapping[int, TapeCopy]], Response], seen: Mapping[int, Tape]
    ) -> Response:
        """The answer in which tapes are told, made where matches do not wait for it."""
        return await self._turns.aside(
            lambda: partial(told, {seat: copied(tape) for seat, tape in seen.items()})
        )

    async def _edition(self, exchange: Exchange, name: str) -> None:
        """What can be had of a match's page by now: for a page without a stream, and from memory alone."""
        tournament = self._host.tournaments.get(name.rpartition("-")[0])
        if tournament is None or not (name in tournament.matches or tournament.record.is_over(name)):
            self._site.missing(exchange)
            return
        has = match.edition(tournament.record, name, self._host.grader.knows(tournament.record, name))
        headers = (("Content-Type", TEXT), NO_STORE)
        exchange.respond(Response(200, headers, has.encode()))

    async def _frames(self, exchange: Exchange, name: str) -> None:
        """Boards for a replay, some at a time: as many as one answer should hold.

        A large one is drawn as well, to find that it is large, though the answer only has a link to it.
        """
        if (found := await self._stories.find(name)) is None:
            self._site.missing(exchange)
            return
        async with self._turns.short:
            story = await match.completed(found[1])
        first, size, frames = min(asked_for(exchange.request, "from") or 0, len(story.plies)), 0, list[Any]()
        causes = story.causes
        for ply in range(first, len(story.plies) + 1):
            async with self._turns.short:
                board, drawn = story.board_and_size(ply)
                frames.append(match.frame(story, ply, board, causes))
            size += drawn
            if size >= FRAMES:
                break
        answer = {"from": first, "plies": len(story.plies), "over": story.ended is not None, "frames": frames}
        exchange.respond(json_response(200, answer, ("Referrer-Policy", "no-referrer")))

    async def _picture(self, exchange: Exchange, name: str) -> None:
        if (found := await self._stories.find(name)) is None:
            self._site.missing(exchange)
            return
        async with self._turns.short:
            story = await match.completed(found[1])
            asked = asked_for(exchange.request, "ply")
            ply = len(story.plies) if asked is None else min(asked, len(story.plies))
            exchange.respond(match.picture(story.drawing(ply)))

    async def _hand(self, exchange: Exchange, name: str) -> None:
        """The board for a person who plays by hand, with what may be clicked."""
        found, seen = await self._stories.find(name), by_hand.BEHIND
        if found is not None:
            async with self._turns.short:
                story = await match.completed(found[1])
                seat = exchange.request.query.get("seat", "")
                seen = by_hand.board(story, asked_for(exchange.request, "ply") or 0, seat)
        exchange.respond(json_response(200, seen, NO_STORE))
