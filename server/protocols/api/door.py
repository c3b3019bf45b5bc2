"""The HTTP API: what is on, standings, matches, events; and, for who has the organiser's token, control.

Answers and errors are JSON. Everything that is read is public; what changes a
tournament wants `Authorization: Bearer TOKEN`. Streams of events are in
`server/protocols/api/streams.py`, what the addresses are, for programs, in
`server/protocols/api/openapi.py`.
"""

import csv
import hmac
import io
from collections.abc import Awaitable, Callable
from inspect import signature
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from games.catalogue import catalogue
from games.game import Pace
from server.export.json_views import match_in_play, match_shown, rows, tournament_shown
from server.export.write import after_matches, before_matches, match_line
from server.host.host import STOPPING, Host
from server.host.metrics import metrics
from server.host.wire_reader import WireReader, told
from server.http.exchange import Chunks, Exchange
from server.http.head import Refusal
from server.http.sharing import reading
from server.http.wire import Response, json_response
from server.protocols.api.openapi import openapi
from server.protocols.api.streams import Feed, stream_match
from tournament import tournament as live
from tournament.desk import Desk
from tournament.format import Terms, formats
from tournament.record import AnyFact, Opened, Record
from tournament.tournament import Tournament

LINES = "application/x-ndjson"
LARGE = 262_144  # bytes: an answer of more is given bit by bit


class Wanted(Struct, frozen=True, forbid_unknown_fields=True):
    """A tournament to hold."""

    name: str
    game: str
    format: str = "round-robin"
    entrants: Annotated[int, Meta(ge=2)] | None = None
    rounds: Annotated[int, Meta(ge=1)] | None = None
    seed: int = 0
    options: dict[str, Any] = {}
    pace: Pace | None = None


class Order(Struct, frozen=True, forbid_unknown_fields=True):
    """What to do with whom. With `preview` nothing is done: the answer is the standings before and after."""

    name: str | None = None  # of an entrant to withdraw or disqualify, of a bot to invite or enter
    match: str | None = None  # to void
    why: str = ""
    preview: bool = False


class Api:
    paths = frozenset({"api", "healthz", "readyz", "metrics", "openapi.json"})
    sharing = reading(tokens="/api/matches/[^/]+/wire/?")  # of bots: nothing here is for the organiser's

    def __init__(self, host: Host, token: str, login: Callable[[], str] | None = None) -> None:
        """`login` makes a path that opens the organiser's desk, once; None where there is no desk."""
        self._host = host
        self._login = login
        self._token = token.encode()
        self._feed = Feed(host)
        self._wires = WireReader(host, token)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        match request.method, request.path.strip("/").split("/"):
            case "GET" | "HEAD", ["api", "events"]:
                self._feed.stream(exchange)
            case "GET" | "HEAD", ["api", "matches", name, "events"]:
                return stream_match(exchange, *self._match(name))
            case "GET" | "HEAD", ["api", "matches", name, "wire"]:
                return _give(exchange, self._wire(exchange, name))
            case "GET" | "HEAD", ["api", "matches", name]:
                return _give_match(exchange, *self._match(name))
            case "GET" | "HEAD", ["api", "tournaments", name, "export"]:
                found = self._tournament(name)
                return _give_export(exchange, found, self._seen(found.record, exchange))
            case "GET" | "HEAD", parts:
                return _give(exchange, self._read(parts, exchange))
            case "POST", ["api", "tournaments"]:
                self._authorise(exchange)
                return self._open(exchange)
            case "POST", ["api", "admin-link"]:
                self._authorise(exchange)
                return self._link(exchange)
            case "POST", ["api", "tournaments", name, action]:
                self._authorise(exchange)
                return self._act(exchange, self._tournament(name), action)
            case method, _:
                raise Refusal(405, f"the API is read with GET and changed with POST, not {method}")
        return None

    # Reading

    def _read(self, parts: list[str], exchange: Exchange) -> Response:
        match parts:
            case ["api", "games"]:
                return json_response(200, {"games": [_game(name) for name in catalogue()]})
            case ["api", "tournaments"]:
                return json_response(
                    200, {"tournaments": [_summary(each) for each in self._host.tournaments.values()]}
                )
            case ["api", "tournaments", name]:
                found = self._tournament(name)
                entrants = [
                    {"name": e.name, "rating": e.rating, "gone": e.gone}
                    for e in found.record.entrants.values()
                ]
                return json_response(200, _summary(found) | {"entrants": entrants})
            case ["api", "tournaments", name, "standings"]:
                record = self._tournament(name).record
                seen = rows(self._seen(record, exchange))
                if exchange.request.query.get("format") == "csv":
                    return _text("text/csv; charset=utf-8", _csv(seen))
                return json_response(200, tournament_shown(record) | {"rows": seen})
            case ["api", "tournaments", name, "matches"]:
                return json_response(200, {"matches": _matches(self._tournament(name))})
            case ["healthz"]:
                return json_response(200, {"alive": True})
            case ["readyz"]:
                if why := self._host.store.trouble or (STOPPING if self._host.draining else ""):
                    return json_response(503, {"ready": False, "why": why})
                return json_response(200, {"ready": True})
            case ["api", "status"]:
                status = {"trouble": self._host.store.trouble, "draining": self._host.draining}
                return json_response(200, status)
            case ["metrics"]:
                return _text("text/plain; version=0.0.4; charset=utf-8", metrics(self._host))
            case ["openapi.json"]:
                return json_response(200, openapi(Wanted, Order))
            case _:
                raise Refusal(404, f"there is nothing at {exchange.request.path[:80]}; see /openapi.json")

    def _tournament(self, name: str) -> Tournament:
        found = self._host.tournaments.get(name)
        if found is None:
            raise Refusal(404, f"there is no tournament {name[:64]!r}")
        return found

    def _match(self, name: str) -> tuple[Tournament, str]:
        """The tournament of a match, and the match's name, which begins with the tournament's."""
        tournament = self._host.tournaments.get(name.rpartition("-")[0])
        if tournament is None or not (name in tournament.matches or name in tournament.record.matches):
            raise Refusal(404, f"there is no match {name[:80]!r}")
        return tournament, name

    def _wire(self, exchange: Exchange, name: str) -> Response:
        """What was said over a seat, for those whom it concerns; without `seat` the first that is theirs."""
        self._match(name)
        tapes = self._wires.open(name, _bearer(exchange), exchange.request.peer)
        asked = exchange.request.query.get("seat", str(min(tapes)))
        if asked not in ("0", "1"):
            raise Refusal(400, f"seat is 0 or 1, not {asked[:40]!r}")
        if (tape := tapes.get(int(asked))) is None:
            raise Refusal(403, f"what was said over seat {asked} is not yours to read, or was not noted")
        shown = {"match": name, "seat": int(asked), "name": tape.name, "messages": told(tape)}
        return json_response(200, shown | {"omitted": tape.omitted}, ("Cache-Control", "no-store"))

    # Changing

    def _seen(self, record: Record, exchange: Exchange) -> Record:
        """What standings are made of, for who asks: while they are frozen, only an organiser sees more."""
        return record if self._organises(exchange) else record.public

    def _organises(self, exchange: Exchange) -> bool:
        return hmac.compare_digest(_bearer(exchange), self._token)

    def _authorise(self, exchange: Exchange) -> None:
        if not self._organises(exchange):
            raise Refusal(401, "this wants the organiser's token: `Authorization: Bearer TOKEN`")

    async def _link(self, exchange: Exchange) -> None:
        if self._login is None:
            raise Refusal(409, "this host has no desk: it wants loopback, TLS, or admin_anywhere = true")
        await self._host.note(_who(exchange), "admin-link")
        exchange.respond(json_response(201, {"path": self._login()}, ("Cache-Control", "no-store")))

    async def _open(self, exchange: Exchange) -> None:
        wanted = _decoded(exchange, Wanted)
        terms = Terms(wanted.rounds, wanted.seed)
        opened = Opened(wanted.game, wanted.format, wanted.entrants, terms, wanted.options, wanted.pace)
        try:
            tournament = await self._host.open(wanted.name, opened, _who(exchange))
        except live.Refusal as refusal:
            raise Refusal(409 if wanted.name in self._host.tournaments else 400, str(refusal)) from None
        location = ("Location", f"/api/tournaments/{wanted.name}")
        exchange.respond(json_response(201, _summary(tournament), location))

    async def _act(self, exchange: Exchange, tournament: Tournament, action: str) -> None:
        order, desk = _decoded(exchange, Order), Desk(tournament, _who(exchange))
        plain: dict[str, Callable[[], Awaitable[None]]] = {
            "start": desk.start,
            "pause": desk.pause,
            "resume": desk.resume,
            "freeze": desk.freeze,
            "unfreeze": desk.unfreeze,
        }
        try:
            if action in plain:
                await plain[action]()
            elif action in ("invite", "enter"):
                await self._take_in(exchange, tournament, action, order)
                return
            elif action in ("withdraw", "disqualify", "void"):
                changes = _changes(desk, action, order, tournament)
                if order.preview:
                    before, after = desk.preview(changes)
                    exchange.respond(json_response(200, {"before": before, "after": after}))
                    return
                await _do(desk, action, order)
            else:
                known = ", ".join((*plain, "invite", "enter", "withdraw", "disqualify", "void"))
                raise Refusal(404, f"a tournament can be told to {known}, not {action[:40]!r}")
        except live.Refusal as refusal:
            raise Refusal(409, str(refusal)) from None
        exchange.respond(json_response(200, _summary(tournament)))

    async def _take_in(self, exchange: Exchange, tournament: Tournament, action: str, order: Order) -> None:
        if order.name is None:
            raise Refusal(400, f'expected {{"name": …}}, the bot to {action}')
        if action == "enter":
            name = self._host.entrant_name(tournament, order.name)
            await Desk(tournament, _who(exchange)).enter(name)
            exchange.respond(json_response(200, _summary(tournament)))
        else:
            token = await self._host.invite(tournament, order.name, _who(exchange))
            exchange.respond(json_response(201, {"name": order.name, "token": token}))


def _bearer(exchange: Exchange) -> bytes:
    """The token that a request brings; none is empty."""
    scheme, _, token = exchange.request.headers.get("authorization", "").partition(" ")
    return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""


def _give(exchange: Exchange, response: Response) -> Awaitable[object] | None:
    """Answer at once, or bit by bit where an answer is larger than what is kept for a slow reader."""
    if len(response.body) <= LARGE or exchange.request.method == "HEAD":
        exchange.respond(response)
        return None
    return _give_slowly(exchange, response)


async def _give_match(exchange: Exchange, tournament: Tournament, name: str) -> None:
    record = tournament.record
    if name in record.matches:
        shown = match_shown(record, await tournament.concluded(name), True)
    else:
        shown = match_in_play(record, tournament.matches[name], True)
    exchange.respond(json_response(200, shown))


async def _give_export(exchange: Exchange, tournament: Tournament, record: Record) -> None:
    """As of now; the moves of old matches are fetched as they are needed."""
    record = record.after()
    chunks = exchange.stream(200, (("Content-Type", LINES),))
    written = b"".join(map(_line, before_matches(record)))
    for name in record.matches:
        written += _line(match_line(record, await tournament.concluded(name)))
        if len(written) >= LARGE:
            await _put(chunks, written)
            written = b""
    await _put(chunks, written + _line(after_matches(record)))
    chunks.close()


def _line(shown: dict[str, Any]) -> bytes:
    return msgspec.json.encode(shown) + b"\n"


async def _give_slowly(exchange: Exchange, response: Response) -> None:
    chunks = exchange.stream(response.status, response.headers)
    await _put(chunks, response.body)
    chunks.close()


async def _put(chunks: Chunks, content: bytes) -> None:
    for start in range(0, len(content), LARGE):
        chunks.put(content[start : start + LARGE])
        await chunks.drained()


def _changes(desk: Desk, action: str, order: Order, tournament: Tournament) -> list[AnyFact]:
    """What an order would change; raises `Refusal` where it does not say enough."""
    if action == "void":
        if order.match is None:
            raise Refusal(400, 'expected {"match": …}, the match to void')
        return [] if order.match in tournament.matches else desk.voiding(order.match, order.why)
    if order.name is None:
        raise Refusal(400, f'expected {{"name": …}}, the entrant to {action}')
    return (
        desk.withdrawal(order.name) if action == "withdraw" else desk.disqualification(order.name, order.why)
    )


async def _do(desk: Desk, action: str, order: Order) -> None:
    match action:
        case "void":
            await desk.void(order.match or "", order.why)
        case "withdraw":
            await desk.withdraw(order.name or "")
        case _:
            await desk.disqualify(order.name or "", order.why)


def _decoded(exchange: Exchange, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(exchange.request.body or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(400, f"the body cannot be taken: {error}") from None


def _who(exchange: Exchange) -> str:
    """Whoever has the organiser's token; there is one."""
    return f"the organiser, from {exchange.request.peer}"


def _game(name: str) -> dict[str, Any]:
    game = catalogue()[name]
    options = {key: option.default for key, option in signature(game.start).parameters.items()}
    return {
        "name": name,
        "title": game.title,
        "seats": game.seats,
        "pace": game.pace,
        "faults": game.faults,
        "ply_limit": game.ply_limit,
        "options": options,
        "formats": list(formats()),
    }


def _summary(tournament: Tournament) -> dict[str, Any]:
    record = tournament.record
    return tournament_shown(record) | {
        "entrants": len(record.entrants),
        "wanted": record.opened.entrants,
        "rounds": record.opened.terms.rounds,
        "options": record.opened.options,
        "pace": record.opened.pace or catalogue()[record.opened.game].pace,
        "played": len(record.results()),
        "playing": list(tournament.matches),
        "open": len(record.open),
        "eta": tournament.eta(),
    }


def _matches(tournament: Tournament) -> list[dict[str, Any]]:
    record = tournament.record
    over = [match_shown(record, concluded, False) for concluded in record.matches.values()]
    return over + [match_in_play(record, match, False) for match in tournament.matches.values()]


def _csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    columns = ("rank", "name", "points", "played", "wins", "draws", "losses", "rating", "low", "high")
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        low, high = row["interval"] or (None, None)
        # A leading = + - @ would be a formula to a spreadsheet.
        name = row["name"] if row["name"][0] not in "=+-@" else "'" + row["name"]
        writer.writerow([row["rank"], name, *(row[column] for column in columns[2:8]), low, high])
    return out.getvalue()


def _text(kind: str, text: str) -> Response:
    return Response(200, (("Content-Type", kind), ("X-Content-Type-Options", "nosniff")), text.encode())
