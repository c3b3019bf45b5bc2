"""What is read over the API: games, tournaments, standings, matches, and how the host is.

Each function answers one route of `table.py`.
"""

import csv
import io
from collections.abc import Awaitable
from typing import Any

import msgspec

from games.catalogue import catalogue
from games.game import Game
from server.export.json_views import match_in_play, match_shown, rows, tournament_shown
from server.export.write import after_matches, before_matches, match_line
from server.host.host import STOPPING
from server.host.metrics import metrics as figures
from server.http.wire import Response, json_response
from server.protocols.api.call import Call
from server.protocols.api.giving import LARGE, put
from server.protocols.api.streams import stream_match
from tournament.format import formats
from tournament.tournament import Tournament

LINES = "application/x-ndjson"


def games(call: Call) -> Response:
    return json_response(200, {"games": [_game(game) for game in catalogue().values()]})


def tournaments(call: Call) -> Response:
    return json_response(200, {"tournaments": [summary(each) for each in call.host.tournaments.values()]})


def tournament(call: Call, found: Tournament) -> Response:
    entrants = [
        {"name": each.name, "rating": each.rating, "gone": each.gone}
        for each in found.record.entrants.values()
    ]
    return json_response(200, summary(found) | {"entrants": entrants})


def standings(call: Call, found: Tournament) -> Response:
    seen = rows(call.seen(found.record))
    if call.exchange.request.query.get("format") == "csv":
        return _text("text/csv; charset=utf-8", _csv(seen))
    return json_response(200, tournament_shown(found.record) | {"rows": seen})


def matches(call: Call, found: Tournament) -> Response:
    record = found.record
    over = [match_shown(record, concluded, False) for concluded in record.matches.values()]
    playing = [match_in_play(record, match, False) for match in found.matches.values()]
    return json_response(200, {"matches": over + playing})


async def match(call: Call, found: Tournament, name: str) -> Response:
    record = found.record
    if name in record.matches:
        return json_response(200, match_shown(record, await found.concluded(name), True))
    return json_response(200, match_in_play(record, found.matches[name], True))


async def export(call: Call, found: Tournament) -> None:
    """As of now; the moves of old matches are fetched as they are needed."""
    record = call.seen(found.record).after()
    chunks = call.exchange.stream(200, (("Content-Type", LINES),))
    written = b"".join(map(_line, before_matches(record)))
    for name in record.matches:
        written += _line(match_line(record, await found.concluded(name)))
        if len(written) >= LARGE:
            await put(chunks, written)
            written = b""
    await put(chunks, written + _line(after_matches(record)))
    chunks.close()


def match_events(call: Call, found: Tournament, name: str) -> Awaitable[None] | None:
    return stream_match(call.exchange, found, name)


def all_events(call: Call) -> None:
    call.feed.stream(call.exchange)


def status(call: Call) -> Response:
    return json_response(200, {"trouble": call.host.store.trouble, "draining": call.host.draining})


def alive(call: Call) -> Response:
    return json_response(200, {"alive": True})


def ready(call: Call) -> Response:
    if why := call.host.store.trouble or (STOPPING if call.host.draining else ""):
        return json_response(503, {"ready": False, "why": why})
    return json_response(200, {"ready": True})


def metrics(call: Call) -> Response:
    return _text("text/plain; version=0.0.4; charset=utf-8", figures(call.host))


def summary(tournament: Tournament) -> dict[str, Any]:
    """A tournament in a list, and after whatever has changed it."""
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


def _game(game: Game[Any, Any]) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "seats": game.seats,
        "pace": game.pace,
        "faults": game.faults,
        "ply_limit": game.ply_limit,
        "options": game.options,
        "formats": list(formats()),
    }


def _line(shown: dict[str, Any]) -> bytes:
    return msgspec.json.encode(shown) + b"\n"


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
