"""What the HTTP API is, for programs: an OpenAPI document, made from the types that it decodes with."""

from typing import Any

import msgspec

READS = {
    "/api/games": "The games, with their options and paces.",
    "/api/tournaments": "All tournaments; open tables are those named open-GAME.",
    "/api/tournaments/{name}": "One tournament, with its entrants.",
    "/api/tournaments/{name}/standings": "The standings; with ?format=csv as CSV.",
    "/api/tournaments/{name}/matches": "Its matches, without their moves.",
    "/api/tournaments/{name}/export": "All of it, as JSON Lines.",
    "/api/matches/{match}": "One match, with its moves and the seconds spent on each.",
    "/api/matches/{match}/events": "Event stream of a match, resumable by Last-Event-ID.",
    "/api/matches/{match}/wire": "What a bot in it and the host said to each other, for who has its token.",
    "/api/events": "Event stream of everything: begin, end, standings.",
    "/api/status": "What keeps the host from going on, if anything does.",
    "/healthz": "Whether the host is alive.",
    "/readyz": "Whether it takes players.",
    "/metrics": "Figures for a monitor.",
}
ACTIONS = {
    "start": "Start it with the entrants that it has.",
    "pause": "Deal nothing more; what is being played goes on.",
    "resume": "Go on.",
    "freeze": "Show the public the standings as they are now, until they thaw.",
    "unfreeze": "Show the public the standings as they come.",
    "invite": "Enter a bot that is to come with the token that this answers.",
    "enter": "Take a bot in that comes late, where the format does that.",
    "withdraw": "Take an entrant out.",
    "disqualify": "Take an entrant out, and give its matches to the others.",
    "void": "Have a match count for nothing and be played again.",
}


def openapi(wanted: type[Any], order: type[Any]) -> dict[str, Any]:
    schemas, components = msgspec.json.schema_components(
        (wanted, order), ref_template="#/components/schemas/{name}"
    )
    error = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    paths: dict[str, Any] = {path: {"get": _operation(path, summary)} for path, summary in READS.items()}
    wire = paths["/api/matches/{match}/wire"]["get"]
    wire["parameters"].append({"name": "seat", "in": "query", "schema": {"enum": [0, 1]}})
    wire["security"] = [{"bot": []}, {"organiser": []}]
    paths["/api/tournaments"]["post"] = _operation("", "Hold a tournament.", schemas[0], "201")
    for action, summary in ACTIONS.items():
        path = f"/api/tournaments/{{name}}/{action}"
        paths[path] = {"post": _operation(path, summary, schemas[1])}
    paths["/api/admin-link"] = {"post": _operation("", "A link that opens the desk, once.", {}, "201")}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Quintain",
            "version": "1",
            "description": "Read by anybody, changed by the organiser.",
        },
        "paths": paths,
        "components": {
            "schemas": components | {"Error": error},
            "securitySchemes": {who: {"type": "http", "scheme": "bearer"} for who in ("organiser", "bot")},
        },
    }


def _operation(path: str, summary: str, body: Any = None, done: str = "200") -> dict[str, Any]:
    wrong = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    operation: dict[str, Any] = {
        "summary": summary,
        "responses": {done: {"description": "Done."}, "4XX": {"description": "What was wrong."} | wrong},
    }
    named = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    if named:
        text = {"type": "string"}
        operation["parameters"] = [{"name": n, "in": "path", "required": True, "schema": text} for n in named]
    if body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
        operation["security"] = [{"organiser": []}]
    return operation
