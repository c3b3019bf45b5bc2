"""What a bot and the host said to each other in a match, as a page and as a text, for the bot's author.

A token shows who is asking. It comes in a form, and never appears in an address
or on a page. Browsers are told to keep none of this.

What a bot has said may take long to be shown, and its author may ask for it again and again. So that is done
in a thread, for one after the other, for as long as they wait for it.
"""

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from server.host.wire_log import Tape
from server.host.wire_reader import TapeCopy, WireReader, messages_of
from server.http.exchange import Exchange
from server.http.head import HttpError, form
from server.http.sharing import READS
from server.http.wanted import WhileWanted
from server.http.wire import NO_STORE, NOSNIFF, TEXT, Headers, Response, takes_only
from server.net.escaping import safe
from server.pages.story import Story
from server.protocols.api import wire_log
from server.protocols.api.export_places import ExportPlaces


class MatchPages(Protocol):
    async def wire(
        self,
        exchange: Exchange,
        name: str,
        status: int = ...,
        *,
        seen: Mapping[int, Tape] = ...,
        why: str = ...,
    ) -> None: ...

    async def wire_text(self, exchange: Exchange, name: str, seen: Mapping[int, Tape]) -> None: ...


class Pages(Protocol):
    """What this needs of the other pages."""

    @property
    def matches(self) -> MatchPages: ...
    def answer(self, exchange: Exchange) -> Awaitable[object] | None: ...


class WirePage:
    """Takes the form; `Pages` shows what is only read."""

    paths = frozenset({"matches"})

    def __init__(self, pages: Pages, reader: WireReader) -> None:
        self._pages = pages
        self._reader = reader
        self._while_wanted = WhileWanted()
        self._places = ExportPlaces()  # nobody waits for more than one request of each network

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        match exchange.request.method, exchange.request.path.split("/")[1:]:
            case "POST", ["matches", name, "wire"]:
                return self._while_wanted(exchange, self._give(exchange, name))
            case method, ["matches", _, "wire"] if method not in READS:
                exchange.respond(takes_only(exchange.request, *sorted({*READS, "POST"})))
                return None
            case _:
                return self._pages.answer(exchange)

    async def _give(self, exchange: Exchange, name: str) -> None:
        asked = form(exchange.request.body)
        token = asked.get("token", "").strip().encode()
        try:
            tapes = wire_log.tapes(self._reader, name, token, exchange.request.peer)
        except HttpError as refusal:
            await self._pages.matches.wire(exchange, name, refusal.status, why=str(refusal))
            return
        async with self._places.one(exchange.request.peer):
            if asked.get("as") == "text":
                await self._pages.matches.wire_text(exchange, name, tapes)
            else:
                await self._pages.matches.wire(exchange, name, seen=tapes)


def side(story: Story, seat: int, tape: TapeCopy) -> dict[str, Any]:
    """One seat's side, for the page."""
    return {
        "name": tape.name,
        "called": story.game.seats[seat],
        "omitted": tape.omitted,
        "said": _lines(tape),
    }


def as_text(match: str, tapes: Mapping[int, TapeCopy]) -> Response:
    """What was said as a text file, one message a line."""
    lines: list[str] = []
    for seat, tape in tapes.items():
        lines.append(f"# {match}, seat {seat}, {_on_one_line(tape.name)}: seconds, who, what")
        if tape.omitted:
            lines.append(f"# … {tape.omitted} earlier messages are not kept")
        lines += [f"{at} {who:4} {text}" for at, who, text in _lines(tape)]
    headers: Headers = (
        ("Content-Type", TEXT),
        ("Content-Disposition", f'attachment; filename="{match}-wire.txt"'),
        NOSNIFF,
        ("Referrer-Policy", "no-referrer"),
        NO_STORE,
    )
    return Response(200, headers, "".join(f"{line}\n" for line in lines).encode())


def _lines(tape: TapeCopy) -> list[tuple[str, str, str]]:
    return [(f"{each['at']:9.3f}", each["from"], _on_one_line(each["text"])) for each in messages_of(tape)]


def _on_one_line(text: str) -> str:
    """All of it, with what cannot be seen as in programs."""
    return safe(text, cut=len(text))
