"""What is read over the API: games, tournaments, standings, matches, and how the host is.

Each function answers one route of `table.py`.
"""

import csv
import io
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from games.catalogue import catalogue
from server.export import match_text
from server.export.decision_views import board_summed, decision_shown, eta_of_all
from server.export.game_views import game_shown
from server.export.json_views import (
    entrants_shown,
    grades_shown,
    match_in_play,
    match_shown,
    missing_shown,
    moment,
    out_shown,
    row_shown,
    row_whole,
    tournament_shown,
    tournament_summed,
)
from server.export.signing import ALGORITHM, unsigned
from server.export.trf import NotInTrf, trf
from server.export.words import out_in_words
from server.host.boards import WAIT, NoBoard
from server.host.exposition import CONTENT_TYPE
from server.host.unwelcome import STOPPING
from server.host.view import HeldTournament
from server.http.head import RETRY_SOON, HttpError
from server.http.wire import TEXT, Response, json_response, text_response, typed
from server.net.escaping import in_quotes
from server.net.pauses import WithPauses
from server.protocols.api.call import Call, Look
from server.protocols.api.game_schema import schemas
from server.protocols.api.giving import Giving, give
from server.protocols.api.paging import MOST, asked
from server.protocols.api.streams import stream_match
from tournament.check_in import unchecked
from tournament.facts import State
from tournament.record import Record
from tournament.score_sheet import Board
from tournament.standings import Row

CSV = "text/csv; charset=utf-8"
AT_A_TIME = 100  # tournaments that are summed up before other tasks get their turn
# Names of those who are awaited, in lists and in answers to orders. Entering ten thousand bots is as many
# orders, and each answer would be longer than the one before.
AWAITED = 100
PIECE = 500  # of them all, that are shown before other tasks get their turn: two milliseconds


def games(call: Look) -> Response:
    return json_response(200, {"games": [*map(game_shown, catalogue().values())]})


async def game_schema(call: Look, name: str) -> Response:
    return json_response(200, await call.view.boards.run(partial(schemas, name)))


async def tournaments(call: Look) -> Response:
    held, page = call.view.shown, asked(call.exchange.request)
    some = islice(held.values(), page.after, page.end)
    listed = [summary(each, each.eta()) async for each in WithPauses(some, AT_A_TIME)]
    return json_response(200, {"tournaments": listed, "next": page.next(len(held))})


async def tournament(call: Look, found: HeldTournament) -> Response:
    entrants, page = found.record.entrants, asked(call.exchange.request)
    some = islice(entrants.values(), page.after, page.end)
    listed = entrants_shown(found.record, some, everything=call.organiser)
    shown: dict[str, Any] = summary(found, found.eta(), 0)
    shown |= {"entrants": listed, "next": page.next(len(entrants))}
    shown["missing"] = [missing_shown(each) async for each in WithPauses(found.missing(), PIECE)]
    if shown["checking_in"] is not None:
        shown["checking_in"]["missing"] = [*unchecked(found.record)]
    shown["holder"] = call.view.holders.get(found.record.name)
    if (graded := call.view.grader.summary(found.record.public, found.concluded)) is not None:
        whole, figure = ("estimated", "estimate") if graded.estimate else ("graded", "accuracy")
        shown[whole] = {"matches": graded.matches, figure: graded.whole.accuracy}
        for entrant in listed:
            entrant[figure] = graded.bot(entrant["name"]).accuracy
    if found.record.format.decides:
        shown["deciding"] = None  # null while it is being worked out
        with suppress(NoBoard):
            record, board = await call.board(found.record, WAIT)
            if board.decision is not None:
                shown["deciding"] = decision_shown(record, board, board.decision)
                over = found.record.state is State.FINISHED  # also where the standings are those of before
                shown["eta"] = None if over else eta_of_all(record, board.decision, found.eta())
    return json_response(200, shown)


async def standings(call: Look, found: HeldTournament) -> Response | None:
    page = asked(call.exchange.request)
    form = _form(call, "csv", "trf")
    if form == "trf":
        return await _trf(call, call.seen(found.record))
    record, board = await board_of(call, found.record)
    if form == "csv":
        await _give_csv(call, board, record)
        return None
    shown = {
        "as_of": moment(board.as_of),
        **board_summed(record, board),
        "rows": [row_whole(row, record) for row in board.rows[page.after : page.end]],
        "next": page.next(len(board.rows)),
    }
    return json_response(200, tournament_shown(found.record) | shown)


def _form(call: Look, *others: str) -> str:
    """The form of an answer that is JSON unless the request asks for one of the `others`."""
    form = call.exchange.request.query.get("format", "json")
    if form not in ("json", *others):
        known = f"{', '.join(('json', *others[:-1]))} or {others[-1]}"
        raise HttpError(400, f"`format` is {known}, not {in_quotes(form)}")
    return form


async def board_of(call: Look, record: Record) -> tuple[Record, Board]:
    """The standings, and the record that they are of; raises `HttpError` if they are not there yet."""
    try:
        return await call.board(record)
    except NoBoard as error:
        raise not_yet(error) from None


def not_yet(error: NoBoard) -> HttpError:
    """The answer to whoever asks for standings that are not there yet."""
    return HttpError(503, str(error), RETRY_SOON)


def matches(call: Look, found: HeldTournament) -> Response:
    """The matches: those that are over in the order of their ends, then those in play."""
    record, page = found.record, asked(call.exchange.request)
    over = len(record.endings)
    listed = [
        match_shown(record, record.matches[name], False) for name in record.endings[page.after : page.end]
    ]
    playing = islice(found.matches.values(), max(0, page.after - over), max(0, page.end - over))
    listed += [match_in_play(record, match, False) for match in playing]
    shown = {"frozen": record.frozen is not None, "matches": listed}
    return json_response(200, shown | {"next": page.next(over + len(found.matches))})


async def match(call: Look, found: HeldTournament, name: str) -> Response:
    record = found.record
    if _form(call, "text") == "text":
        if name not in record.matches:
            raise HttpError(409, f"{name} is still being played: there is a text of it when it is over")
        return text_response(TEXT, match_text.text(record, await found.concluded(name)))
    if name in record.matches:
        over = await found.concluded(name)
        shown = match_shown(record, over, True) | grades_shown(await call.view.grader.of(record, over))
        return json_response(200, shown | {"receipt": await found.receipt(name)})
    shown = match_in_play(record, found.matches[name], True) | grades_shown(None)
    return json_response(200, shown | {"receipt": None})


def key(call: Look) -> Response:
    """The public part of the key with which exports are signed."""
    if call.signer is None:
        return json_response(200, {"algorithm": None, "key": None, "why": unsigned()})
    return json_response(200, {"algorithm": ALGORITHM, "key": call.signer.public})


def match_events(call: Look, found: HeldTournament, name: str) -> Awaitable[None] | None:
    return stream_match(call.exchange, found, name, call.feed.heartbeats)


def all_events(call: Look) -> Awaitable[None] | None:
    return call.feed.stream(call.exchange)


def status(call: Call) -> Response:
    return json_response(200, {"trouble": call.host.store.trouble, "draining": call.host.draining})


def hosts(call: Call) -> Response:
    return json_response(200, {"hosts": [] if call.host.group is None else call.host.group.hosts()})


def organiser(call: Call) -> Response:
    return json_response(200, {"organiser": True})


def alive(call: Call) -> Response:
    return json_response(200, {"alive": True})


def ready(call: Call) -> Response:
    host = call.host
    peers = {} if host.group is None else {"peers": host.group.health()}
    others = "" if host.workers is None else host.workers.not_ready()
    stopping = STOPPING if host.draining else ""
    # It plays on beside what is damaged, and so do others on that database: no balancer should give up all.
    damaged = {"damaged": host.guard.damage} if host.guard.damage else {}
    if why := host.store.trouble or stopping or others:
        return json_response(503, {"ready": False, "why": why, **damaged, **peers})
    return json_response(200, {"ready": True, **damaged, **peers})


async def metrics(call: Call) -> Response:
    return text_response(CONTENT_TYPE, await call.figures.get())


def summary(tournament: HeldTournament, eta: float | None, awaited: int = AWAITED) -> dict[str, Any]:
    """A tournament as lists show it, and as the answer to an order about it."""
    matches, missing = list(tournament.matches), tournament.missing()
    return tournament_summed(tournament.record, matches, eta, missing, awaited)


async def _give_csv(call: Look, board: Board, record: Record) -> None:
    """Give the whole table; large ones in pieces, so that other tasks get their turn."""
    if len(board.rows) <= MOST:
        rest = give(call.exchange, text_response(CSV, _csv(board.rows, record, head=True)))
        if rest is not None:
            await rest
        return
    giving = Giving(call.exchange, 200, typed(CSV))
    for start in range(0, len(board.rows), MOST):
        piece = _csv(board.rows[start : start + MOST], record, head=start == 0)
        if not await giving.put(piece.encode()):
            return
    giving.close()


async def _trf(call: Look, record: Record) -> Response:
    if record.format.endless:
        made = _trf_or_why_not(record)  # which is refused at once
    else:
        made = await call.view.boards.made_of(record, _trf_or_why_not)
    if isinstance(made, NotInTrf):
        raise HttpError(409, str(made))
    return Response(200, typed(TEXT), made)


def _trf_or_why_not(record: Record) -> bytes | NotInTrf:
    """The bytes, which all who are given them share: there may be ten million."""
    try:
        return trf(record).encode()
    except NotInTrf as error:
        return error.with_traceback(None)  # which would keep the record


def _csv(rows: Iterable[Row], record: Record, *, head: bool) -> str:
    """Lines of a spreadsheet. Columns keep their places, whatever was added later."""
    out = io.StringIO()
    columns = ("rank", "name", "points", "played", "wins", "draws", "losses", "rating", "low", "high")
    order = record.format.order
    tie_breaks = [criterion for criterion in order if criterion != "points"]
    writer = csv.writer(out)
    if head:
        writer.writerow((*columns, "affiliation", *(f"tie_break_{name}" for name in tie_breaks), "out"))
    for each in rows:
        row = row_shown(each, order)
        low, high = row["interval"] or (None, None)
        figures = (row[column] for column in columns[2:8])
        affiliation = _cell(record.affiliations.get(each.name, ""))
        ends = (affiliation, *each.tie_breaks, out_in_words(out_shown(record, each.name)))
        writer.writerow([row["rank"], _cell(each.name), *figures, low, high, *ends])
    return out.getvalue()


def _cell(text: str) -> str:
    """A text for a spreadsheet, for which a leading = + - @ would begin a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text
