"""The routes of the API, each listed once.

Requests are dispatched by this table (`routes.py`), `GET /openapi.json` is made
from it (`openapi.py`), and so is the list in `docs/api.md`: a test keeps that
equal to what `python -m server.protocols.api.table` prints.
"""

import sys
from collections.abc import Awaitable
from functools import cache, partial
from typing import Any, NoReturn

import trio

from server.host.tournament_settings import TournamentSettings
from server.http.head import HttpError
from server.http.wire import Response, json_response
from server.net.escaping import in_quotes
from server.protocols.api import answers, bots, exporting, feeds, groups, orders, paging, reading, wire_log
from server.protocols.api.call import Call
from server.protocols.api.openapi import openapi
from server.protocols.api.orders import Carried, Nothing, Order, simply
from server.protocols.api.routes import Caller, Contents, Route
from tournament.desk import Desk
from tournament.tournament import Tournament

ONE = "/api/tournaments/{name}"
JSON, CSV, LINES = "application/json", "text/csv", "application/x-ndjson"
WRITING = trio.CapacityLimiter(1)  # the document, by the first who asks
STREAM, TEXT = "text/event-stream", "text/plain"
ATOM, CALENDAR = "application/atom+xml", "text/calendar"
FORMAT = "The form of the answer; JSON if left out."
SEAT = "Whose side to get; with a bot's token it is that bot's if left out."
CHANGED = {JSON: answers.Summary}
COMPARED = {JSON: answers.Summary | answers.Preview}
AFTER = {
    "after": {
        "type": "integer",
        "minimum": 0,
        "description": "The number of the last event received, for clients that cannot send Last-Event-ID.",
    }
}


def description(call: Call) -> Response | Awaitable[Response]:
    """Anybody may ask, so it is written once, where matches do not wait: it takes hundredths of a second."""
    if document.cache_info().currsize:
        return document()
    return trio.to_thread.run_sync(document, limiter=WRITING)


@cache
def document() -> Response:
    return json_response(200, openapi(ROUTES))


def no_such_order(call: Call, tournament: Tournament, asked: str, body: Order) -> NoReturn:
    known = [route.path.rpartition("/")[2] for route in ROUTES if route.takes is Order and route.listed]
    raise HttpError(404, f"a tournament can be told to {', '.join(known)}, not {in_quotes(asked)}")


get = partial(Route, "GET")
look = partial(get, looks=True)
post = partial(Route, "POST", who=Caller.ORGANISER)


def order(path: str, does: str, carried: Carried, gives: Contents = CHANGED, **more: Any) -> Route:
    return post(path, does, carried, gives, takes=Order, fields=carried.fields, **more)


ROUTES: tuple[Route, ...] = (
    look(
        "/api/games",
        "List the games, with their options, paces and formats.",
        reading.games,
        {JSON: answers.Games},
    ),
    look(
        "/api/games/{game}/schema",
        "Describe the states and moves of a game, as JSON Schema.",
        reading.game_schema,
        {JSON: answers.GameSchema},
    ),
    look(
        "/api/tournaments",
        "List all tournaments. Open tables are the ones named open-GAME.",
        reading.tournaments,
        {JSON: answers.Tournaments},
        query=paging.QUERY,
    ),
    look(
        ONE,
        "Get one tournament, with its entrants.",
        reading.tournament,
        {JSON: answers.Whole},
        query=paging.QUERY,
    ),
    look(
        f"{ONE}/standings",
        "Get the standings, as JSON, CSV or FIDE's report file (TRF).",
        reading.standings,
        {JSON: answers.Standings, CSV: str, TEXT: str},
        query={"format": {"enum": ["json", "csv", "trf"], "description": FORMAT}, **paging.QUERY},
    ),
    look(
        f"{ONE}/matches",
        "List its matches, without their moves.",
        reading.matches,
        {JSON: answers.Matches},
        query=paging.QUERY,
    ),
    look(f"{ONE}/export", "Export everything about it, as JSON Lines.", exporting.export, {LINES: str}),
    look(f"{ONE}/feed", "Get its latest results, as an Atom feed.", feeds.results, {ATOM: str}),
    look(
        f"{ONE}/calendar",
        "Get the times at which it and its rounds begin, as a calendar (ICS).",
        feeds.plan,
        {CALENDAR: str},
    ),
    look(
        "/api/groups",
        "List the groups of tournaments, or get the table of the one in ?name=, which may be . or ..",
        groups.listed,
        {JSON: answers.Groups | answers.TableOver},
        query={"name": {"type": "string", "description": "The name of a group."}, **paging.QUERY},
    ),
    look(
        "/api/groups/{group}",
        "Get one table over all tournaments of a group.",
        groups.table,
        {JSON: answers.TableOver},
        query=paging.QUERY,
    ),
    look(
        "/api/calendar",
        "Get the times at which tournaments and rounds begin, as a calendar (ICS).",
        feeds.plans,
        {CALENDAR: str},
    ),
    look(
        "/api/matches/{match}",
        "Get one match, with its moves and the seconds spent on each, as JSON or as text.",
        reading.match,
        {JSON: answers.Match, TEXT: str},
        query={"format": {"enum": ["json", "text"], "description": FORMAT}},
    ),
    look(
        "/api/matches/{match}/events",
        "Stream the events of a match; resumable by Last-Event-ID.",
        reading.match_events,
        {STREAM: str},
        otherwise={204: {}},  # to whoever has the end
        query=AFTER,
    ),
    get(
        "/api/matches/{match}/wire",
        "Get what a bot in this match and the host said to each other.",
        wire_log.side,
        {JSON: answers.Wire},
        who=Caller.BOT,
        query={"seat": {"enum": [0, 1], "description": SEAT}},
    ),
    look(
        "/api/bots/{bot}",
        "Get what a bot has done in each game, version by version.",
        bots.career,
        {JSON: answers.Bot},
    ),
    look(
        "/api/bots",
        "Get the same for the bot in ?name=, whose name may contain a slash, or be . or ..",
        bots.named,
        {JSON: answers.Bot},
        query={"name": {"type": "string", "description": "The name of a bot.", "required": True}},
    ),
    look(
        "/api/events",
        "Stream begin, end and standings of everything; resumable by Last-Event-ID.",
        reading.all_events,
        {STREAM: str},
        query=AFTER,
    ),
    look(
        "/api/key",
        "Get the public key that verifies the signatures of this host's exports.",
        reading.key,
        {JSON: answers.Key},
    ),
    get(
        "/api/status",
        "Get what keeps the host from playing on, if anything does.",
        reading.status,
        {JSON: answers.Status},
    ),
    get(
        "/api/hosts",
        "List the hosts that share this host's database; none if it shares with nobody.",
        reading.hosts,
        {JSON: answers.Hosts},
    ),
    get(
        "/api/organiser",
        "Check the organiser's token: with any other it is 401.",
        reading.organiser,
        {JSON: answers.Organiser},
        who=Caller.ORGANISER,
    ),
    get("/healthz", "Check that the host is alive.", reading.alive, {JSON: answers.Alive}),
    get(
        "/readyz",
        "Check whether the host accepts players.",
        reading.ready,
        {JSON: answers.Ready},
        otherwise={503: {JSON: answers.Ready}},
    ),
    get(
        "/metrics",
        "Get figures for a monitoring system, in Prometheus's format.",
        reading.metrics,
        {TEXT: str},
    ),
    get("/openapi.json", "Get this list, as an OpenAPI document.", description, {JSON: dict[str, Any]}),
    post(
        "/api/tournaments", "Open a tournament.", orders.hold, CHANGED, takes=TournamentSettings, status=201
    ),
    order(f"{ONE}/start", "Start it with the entrants that it has.", simply(Desk.start)),
    order(f"{ONE}/pause", "Pause it: no more matches begin, and those in play go on.", simply(Desk.pause)),
    order(f"{ONE}/resume", "Resume it after a pause.", simply(Desk.resume)),
    order(
        f"{ONE}/end",
        "End it with what was played: no more matches begin, and it is over when those in play are.",
        simply(Desk.end),
    ),
    order(
        f"{ONE}/freeze",
        "Freeze the standings: the public sees them as they are now, until unfreeze.",
        simply(Desk.freeze),
    ),
    order(
        f"{ONE}/unfreeze",
        "Unfreeze the standings: the public sees the current ones again.",
        simply(Desk.unfreeze),
    ),
    order(
        f"{ONE}/invite",
        "Enter a bot, which has to bring the token that this returns.",
        orders.invite,
        gives={JSON: answers.Invited},
        status=201,
    ),
    order(
        f"{ONE}/release",
        "Release a name that came without a token to whoever comes next, or bind it to a new token.",
        orders.release,
        otherwise={201: {JSON: answers.Invited}},  # with `bind`
    ),
    order(
        f"{ONE}/enter",
        "Enter a bot by name: late, or before the start of a tournament by invitation.",
        orders.enter,
    ),
    order(
        f"{ONE}/describe",
        "Set an entrant's affiliation, which everybody sees, and its contact, which only you see.",
        orders.describe,
    ),
    order(f"{ONE}/check-in", "Check an entrant in, whether its bot is here or not.", orders.check_in),
    order(f"{ONE}/delete", "Delete it, unless it is running. Its name becomes free.", orders.delete),
    order(f"{ONE}/withdraw", "Withdraw an entrant.", orders.withdraw, gives=COMPARED),
    order(
        f"{ONE}/disqualify",
        "Disqualify an entrant: its opponents win all of its matches.",
        orders.disqualify,
        gives=COMPARED,
    ),
    order(
        f"{ONE}/void", "Void a match: it counts for nothing and is played again.", orders.void, gives=COMPARED
    ),
    post(
        f"{ONE}/{{order}}", "Say which orders there are.", no_such_order, CHANGED, takes=Order, listed=False
    ),
    post(
        "/api/admin-link",
        "Make a link that opens the desk once.",
        orders.admin_link,
        {JSON: answers.Link},
        takes=Nothing,
        status=201,
    ),
)


def listing() -> str:
    """The routes as a table in Markdown."""
    lines = ["| route | for | what it does |", "|---|---|---|"]
    lines += [f"| `{r.method} {r.path}` | {r.who.value} | {r.does} |" for r in ROUTES if r.listed]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(listing())
