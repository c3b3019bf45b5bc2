"""The routes of the API, each listed once.

Requests are dispatched by this table (`routes.py`), `GET /openapi.json` is made
from it (`openapi.py`), and so is the list in `docs/api.md`: a test keeps that
equal to what `python -m server.protocols.api.table` prints.
"""

import sys
from functools import cache, partial
from typing import Any, NoReturn

import msgspec

from server.host.tournament_settings import TournamentSettings
from server.http.head import HttpError
from server.http.wire import Response, json_response
from server.protocols.api import answers, bots, feeds, groups, orders, paging, reading, wire_log
from server.protocols.api.call import Call
from server.protocols.api.openapi import openapi
from server.protocols.api.orders import Order, simply
from server.protocols.api.routes import Caller, Route
from tournament.desk import Desk
from tournament.tournament import Tournament

ONE = "/api/tournaments/{name}"
JSON, CSV, LINES = "application/json", "text/csv", "application/x-ndjson"
STREAM, TEXT = "text/event-stream", "text/plain"
ATOM, CALENDAR = "application/atom+xml", "text/calendar"
CHANGED = {JSON: answers.Summary}
COMPARED = {JSON: answers.Summary | answers.Preview}
AFTER = {"after": {"type": "integer", "minimum": 0}}  # for clients that cannot send `Last-Event-ID`


def description(call: Call) -> Response:
    return json_response(200, document())


@cache
def document() -> msgspec.Raw:
    """Written once: it takes some hundredths of a second of the loop that plays, and anybody may ask."""
    return msgspec.Raw(msgspec.json.encode(openapi(ROUTES)))


def no_such_order(call: Call, tournament: Tournament, asked: str, body: Order) -> NoReturn:
    known = [route.path.rpartition("/")[2] for route in ROUTES if route.takes is Order and route.listed]
    raise HttpError(404, f"a tournament can be told to {', '.join(known)}, not {asked[:40]!r}")


get = partial(Route, "GET")
look = partial(get, looks=True)
post = partial(Route, "POST", who=Caller.ORGANISER)
order = partial(post, takes=Order, gives=CHANGED)

ROUTES: tuple[Route, ...] = (
    look(
        "/api/games",
        "The games, with their options, paces and formats.",
        reading.games,
        {JSON: answers.Games},
    ),
    look(
        "/api/games/{game}/schema",
        "What the states and moves of a game look like, as JSON Schema.",
        reading.game_schema,
        {JSON: answers.GameSchema},
    ),
    look(
        "/api/tournaments",
        "All tournaments; open tables are those named open-GAME.",
        reading.tournaments,
        {JSON: answers.Tournaments},
        query=paging.QUERY,
    ),
    look(
        ONE,
        "One tournament, with its entrants.",
        reading.tournament,
        {JSON: answers.Whole},
        query=paging.QUERY,
    ),
    look(
        f"{ONE}/standings",
        "The standings; with ?format=csv as CSV, with ?format=trf as FIDE's report file.",
        reading.standings,
        {JSON: answers.Standings, CSV: str, TEXT: str},
        query={"format": {"enum": ["json", "csv", "trf"]}, **paging.QUERY},
    ),
    look(
        f"{ONE}/matches",
        "Its matches, without their moves.",
        reading.matches,
        {JSON: answers.Matches},
        query=paging.QUERY,
    ),
    look(f"{ONE}/export", "All of it, as JSON Lines.", reading.export, {LINES: str}),
    look(f"{ONE}/feed", "Its latest results, as an Atom feed.", feeds.results, {ATOM: str}),
    look(
        f"{ONE}/calendar", "When it and its rounds begin, as a calendar (ICS).", feeds.plan, {CALENDAR: str}
    ),
    look(
        "/api/groups",
        "The groups of tournaments that belong together.",
        groups.listed,
        {JSON: answers.Groups},
    ),
    look(
        "/api/groups/{group}",
        "One table over all tournaments of a group.",
        groups.table,
        {JSON: answers.TableOver},
        query=paging.QUERY,
    ),
    look(
        "/api/calendar",
        "When all tournaments and rounds begin that have a date, as a calendar (ICS).",
        feeds.plans,
        {CALENDAR: str},
    ),
    look(
        "/api/matches/{match}",
        "One match, with its moves and the seconds spent on each; with ?format=text as text.",
        reading.match,
        {JSON: answers.Match, TEXT: str},
        query={"format": {"enum": ["json", "text"]}},
    ),
    look(
        "/api/matches/{match}/events",
        "Event stream of a match, resumable by Last-Event-ID.",
        reading.match_events,
        {STREAM: str},
        query=AFTER,
    ),
    get(
        "/api/matches/{match}/wire",
        "What a bot in it and the host said to each other.",
        wire_log.side,
        {JSON: answers.Wire},
        who=Caller.BOT,
        query={"seat": {"enum": [0, 1]}},
    ),
    look(
        "/api/bots/{bot}",
        "What a bot has done in each game, version by version.",
        bots.career,
        {JSON: answers.Bot},
    ),
    look(
        "/api/bots",
        "The same of the bot whose ?name= it is, which may have a / in it.",
        bots.named,
        {JSON: answers.Bot},
        query={"name": {"type": "string"}},
    ),
    look(
        "/api/events",
        "Event stream of everything: begin, end, standings.",
        reading.all_events,
        {STREAM: str},
        query=AFTER,
    ),
    look("/api/key", "The public key that the host signs exports with.", reading.key, {JSON: answers.Key}),
    get(
        "/api/status",
        "What keeps the host from going on, if anything does.",
        reading.status,
        {JSON: answers.Status},
    ),
    get(
        "/api/hosts",
        "The hosts that share this host's database; none if it is alone.",
        reading.hosts,
        {JSON: answers.Hosts},
    ),
    get("/healthz", "Whether the host is alive.", reading.alive, {JSON: answers.Alive}),
    get(
        "/readyz",
        "Whether it takes players.",
        reading.ready,
        {JSON: answers.Ready},
        otherwise={503: {JSON: answers.Ready}},
    ),
    get("/metrics", "Figures for a monitor.", reading.metrics, {TEXT: str}),
    get("/openapi.json", "This list, as an OpenAPI document.", description, {JSON: dict[str, Any]}),
    post(
        "/api/tournaments", "Hold a tournament.", orders.hold, CHANGED, takes=TournamentSettings, status=201
    ),
    order(f"{ONE}/start", "Start it with the entrants that it has.", simply(Desk.start)),
    order(f"{ONE}/pause", "Deal nothing more; what is being played goes on.", simply(Desk.pause)),
    order(f"{ONE}/resume", "Go on after a pause.", simply(Desk.resume)),
    order(
        f"{ONE}/freeze",
        "Show the public the standings as they are now, until they thaw.",
        simply(Desk.freeze),
    ),
    order(f"{ONE}/unfreeze", "Show the public the standings as they come.", simply(Desk.unfreeze)),
    order(
        f"{ONE}/invite",
        "Enter a bot that is to come with the token that this returns.",
        orders.invite,
        gives={JSON: answers.Invited},
        status=201,
    ),
    order(
        f"{ONE}/release",
        "Have a name that came without a token belong to whoever comes next; with bind, to a new token.",
        orders.release,
        otherwise={201: {JSON: answers.Invited}},  # with `bind`
    ),
    order(f"{ONE}/enter", "Take a bot in, late or before the start by invitation.", orders.enter),
    order(
        f"{ONE}/describe",
        "Say whose an entrant is (affiliation), and how to reach them (contact).",
        orders.describe,
    ),
    order(f"{ONE}/check-in", "Have an entrant count as checked in, here or not.", orders.check_in),
    order(f"{ONE}/delete", "Delete it, while it does not run: its name is free again.", orders.delete),
    order(f"{ONE}/withdraw", "Take an entrant out.", orders.withdraw, gives=COMPARED),
    order(
        f"{ONE}/disqualify",
        "Take an entrant out, and give its matches to the others.",
        orders.disqualify,
        gives=COMPARED,
    ),
    order(f"{ONE}/void", "Have a match count for nothing and be played again.", orders.void, gives=COMPARED),
    order(f"{ONE}/{{order}}", "Say which orders there are.", no_such_order, listed=False),
    post(
        "/api/admin-link",
        "Make a link that opens the desk, once.",
        orders.admin_link,
        {JSON: answers.Link},
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
