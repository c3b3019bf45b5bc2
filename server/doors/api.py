"""The HTTP API: what is on, standings, matches, events; and, for who has the organiser's token, control.

Answers and errors are JSON. Everything that is read is public; what changes a
tournament wants `Authorization: Bearer TOKEN`. Streams of events are in
`server/doors/api_streams.py`, what the addresses are, for programs, in
`server/openapi.py`.
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
from server.doors.api_streams import Feed, stream_match
from server.export import export
from server.host import Host
from server.http import Exchange, Refusal, Response, json_response
from server.metrics import metrics
from server.openapi import openapi
from server.shown import match_in_play, match_shown, rows, standings_shown, tournament_shown
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

    name: str | None = None  # of an entrant: to withdraw or disqualify
    match: str | None = None  # to void
    why: str = ""
    preview: bool = False


class Api:
    paths = frozenset({"api", "healthz", "readyz", "metrics", "openapi.json"})

    def __init__(self, host: Host, token: str) -> None:
        self._host = host
        self._token = token.encode()
        self._feed = Feed(host)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        match request.method, request.path.strip("/").split("/"):
            case "GET" | "HEAD", ["api", "events"]:
                self._feed.stream(exchange)
            case "GET" | "HEAD", ["api", "matches", name, "events"]:
                stream_match(exchange, *self._match(name))
            case "GET" | "HEAD", parts:
                return _give(exchange, self._read(parts, exchange))
            case "POST", ["api", "tournaments"]:
                self._authorise(exchange)
                return self._open(exchange)
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
                if exchange.request.query.get("format") == "csv":
                    return _text("text/csv; charset=utf-8", _csv(record))
                return json_response(200, standings_shown(record))
            case ["api", "tournaments", name, "matches"]:
                return json_response(200, {"matches": _matches(self._tournament(name))})
            case ["api", "tournaments", name, "export"]:
                lines = b"".join(
                    msgspec.json.encode(line) + b"\n" for line in export(self._tournament(name).record)
                )
                return Response(200, (("Content-Type", LINES),), lines)
            case ["api", "matches", name]:
                tournament, found = self._match(name)
                return json_response(200, _one_match(tournament, found))
            case ["healthz"]:
                return json_response(200, {"alive": True})
            case ["readyz"]:
                ready = not self._host.draining
                return json_response(200 if ready else 503, {"ready": ready})
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

    # Changing

    def _authorise(self, exchange: Exchange) -> None:
        given = exchange.request.headers.get("authorization", "")
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode("utf-8"), self._token):
            raise Refusal(401, "this wants the organiser's token: `Authorization: Bearer TOKEN`")

    async def _open(self, exchange: Exchange) -> None:
        wanted = _decoded(exchange, Wanted)
        terms = Terms(wanted.rounds, wanted.seed)
        opened = Opened(wanted.game, wanted.format, wanted.entrants, terms, wanted.options, wanted.pace)
        try:
            tournament = await self._host.open(wanted.name, opened)
        except live.Refusal as refusal:
            raise Refusal(409 if wanted.name in self._host.tournaments else 400, str(refusal)) from None
        location = ("Location", f"/api/tournaments/{wanted.name}")
        exchange.respond(json_response(201, _summary(tournament), location))

    async def _act(self, exchange: Exchange, tournament: Tournament, action: str) -> None:
        order, desk = _decoded(exchange, Order), Desk(tournament)
        plain: dict[str, Callable[[], Awaitable[None]]] = {
            "start": desk.start,
            "pause": desk.pause,
            "resume": desk.resume,
        }
        try:
            if action in plain:
                await plain[action]()
            elif action in ("withdraw", "disqualify", "void"):
                changes = _changes(desk, action, order, tournament)
                if order.preview:
                    before, after = desk.preview(changes)
                    exchange.respond(json_response(200, {"before": before, "after": after}))
                    return
                await _do(desk, action, order)
            else:
                known = ", ".join((*plain, "withdraw", "disqualify", "void"))
                raise Refusal(404, f"a tournament can be told to {known}, not {action[:40]!r}")
        except live.Refusal as refusal:
            raise Refusal(409, str(refusal)) from None
        exchange.respond(json_response(200, _summary(tournament)))


def _give(exchange: Exchange, response: Response) -> Awaitable[object] | None:
    """Answer at once, or bit by bit where an answer is larger than what is kept for a slow reader."""
    if len(response.body) <= LARGE or exchange.request.method == "HEAD":
        exchange.respond(response)
        return None
    return _give_slowly(exchange, response)


async def _give_slowly(exchange: Exchange, response: Response) -> None:
    chunks = exchange.stream(response.status, response.headers)
    for start in range(0, len(response.body), LARGE):
        chunks.put(response.body[start : start + LARGE])
        await chunks.drained()
    chunks.close()


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


def _one_match(tournament: Tournament, name: str) -> dict[str, Any]:
    record = tournament.record
    if name in record.matches:
        return match_shown(record, record.matches[name], True)
    return match_in_play(record, tournament.matches[name], True)


def _csv(record: Record) -> str:
    out = io.StringIO()
    columns = ("rank", "name", "points", "played", "wins", "draws", "losses", "rating", "low", "high")
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows(record):
        low, high = row["interval"] or (None, None)
        # A leading = + - @ would be a formula to a spreadsheet.
        name = row["name"] if row["name"][0] not in "=+-@" else "'" + row["name"]
        writer.writerow([row["rank"], name, *(row[column] for column in columns[2:8]), low, high])
    return out.getvalue()


def _text(kind: str, text: str) -> Response:
    return Response(200, (("Content-Type", kind), ("X-Content-Type-Options", "nosniff")), text.encode())
