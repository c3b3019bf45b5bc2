"""What the HTTP API is, for programs: an OpenAPI document, made from its table of routes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from inspect import cleandoc
from typing import Any, cast

import msgspec
from msgspec import Struct

from server.http.sharing import READS
from server.http.undecided import UNDECIDED
from server.protocols.api.routes import Caller, Contents, Route

SECURITY: Mapping[Caller, list[dict[str, list[str]]]] = {  # whose token a request has to bring
    Caller.ANYONE: [],
    Caller.ORGANISER: [{"organiser": []}],
    Caller.BOT: [{"bot": []}, {"organiser": []}],
}
PARAMETERS = {  # of paths
    "name": "The name of a tournament; open-GAME is the open table of a game.",
    "game": "The name of a game, such as connect-4.",
    "group": "The name of a group.",
    "match": "The name of a match, such as friday-1.",
    "bot": "The name of a bot.",
}
_BETWEEN_WORDS = re.compile(r"[^A-Za-z0-9]+")
BESIDE = ("description", "required")  # what is said of a parameter beside its schema
TEMPLATE = "#/components/schemas/{name}"
ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def openapi(table: Iterable[Route]) -> dict[str, Any]:
    routes = [route for route in table if route.listed]
    components: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        body = None if route.takes is None or not _fields(route) else _body(route, route.takes, components)
        answers = {route.status: route.gives, **route.otherwise}
        given = {str(status): _content(what, components) for status, what in answers.items()}
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, body, given)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Quintain",
            "version": "1",
            "description": "Anybody may read; only the organiser may change anything.",
        },
        "paths": paths,
        "components": {
            "schemas": components | {"Error": ERROR},
            "securitySchemes": {who: {"type": "http", "scheme": "bearer"} for who in ("organiser", "bot")},
        },
    }
    plain = msgspec.json.decode(msgspec.json.encode(document))  # with lists for defaults that are tuples
    return _spelled_out(plain)


def _operation(
    route: Route, body: dict[str, Any] | None, given: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    wrong = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    operation: dict[str, Any] = {
        "operationId": _name(route),
        "summary": route.does,
        "responses": {
            **{
                status: {"description": HTTPStatus(int(status)).phrase, "content": content}
                for status, content in given.items()
            },
            "4XX": {"description": "What was wrong with the request."} | wrong,
            "5XX": {"description": "Why the host cannot do this just now."} | wrong,
        },
    }
    if route.method not in READS:
        operation["responses"]["502"] = {"description": f"{UNDECIDED.capitalize()}."} | wrong
    text = {"type": "string"}
    parameters = [
        {"name": name, "in": "path", "required": True, "description": PARAMETERS[name], "schema": text}
        for name in route.parameters
    ]
    parameters += [
        {"name": name, "in": "query"} | _beside(said) | {"schema": _schema_alone(said)}
        for name, said in route.query.items()
    ]
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {**_needed(route), "content": {"application/json": {"schema": body}}}
    if security := SECURITY[route.who]:
        operation["security"] = security
    return operation


def _name(route: Route) -> str:
    """What programs that are made from the document call it, such as `get_api_tournaments_name_standings`."""
    path = _BETWEEN_WORDS.sub("_", route.path).strip("_")
    return f"{route.method.lower()}_{path}"


def _fields(route: Route) -> Sequence[str]:
    """What a body may have. Where that is nothing, the document has no body: many clients would send null."""
    if route.fields is not None or route.takes is None:
        return route.fields or ()
    return route.takes.__struct_fields__


def _needed(route: Route) -> dict[str, Any]:
    """That a request has to bring a body and, where not all fields are taken, those that are."""
    if route.fields is None:
        return {"required": True}
    needed, *others = (f"`{field}`" for field in route.fields)
    more = f" It may have {', '.join(others)}." if others else ""
    return {"description": f"This order needs {needed}.{more}", "required": True}


def _body(route: Route, takes: type[Struct], components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a body; where not all fields are taken, of one that has only those that are."""
    if route.fields is None:
        return _schema(takes, components)
    _, parts = msgspec.json.schema_components((takes,), ref_template=TEMPLATE)
    whole = parts[takes.__name__]["properties"]
    properties: dict[str, Any] = {field: whole[field] for field in route.fields}
    for needed in route.fields[:1]:
        properties[needed] = next(each for each in whole[needed]["anyOf"] if each != {"type": "null"})
    name = route.path.rpartition("/")[2].title().replace("-", "") + takes.__name__  # such as CheckInOrder
    components[name] = {
        "title": name,
        "type": "object",
        "properties": properties,
        "required": [*route.fields[:1]],
        "additionalProperties": False,
    }
    return {"$ref": TEMPLATE.format(name=name)}


def _beside(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a parameter beside its schema."""
    return {key: said[key] for key in BESIDE if key in said}


def _schema_alone(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key not in BESIDE}


def _content(contents: Contents, components: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"schema": _schema(what, components)} for kind, what in contents.items()}


def _schema(what: Any, components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; the types to which it refers are added to the components."""
    if (union := getattr(what, "__args__", None)) and all(isinstance(each, type) for each in union):
        kinds = [each for each in union if issubclass(each, Struct)]
        if len(kinds) == len(union):  # msgspec wants tags even where fields tell them apart
            return {"anyOf": [_schema(each, components) for each in kinds]}
    (schema,), parts = msgspec.json.schema_components((what,), ref_template=TEMPLATE)
    components |= parts
    return schema


def _spelled_out(part: Any) -> Any:
    """A document that generators of clients can read, all of them.

    Many know no `prefixItems`, take an array without `items` for one of nothing, an object without
    `additionalProperties` for an empty one, and values without a `type` for texts. A pair has `items` and
    a `maxItems`, which say as much. Without a `format`, numbers are of 32 bits in many languages, and others
    cannot choose between integer and number.
    """
    if isinstance(part, list):
        return [_spelled_out(each) for each in cast("list[Any]", part)]
    if not isinstance(part, dict):
        return part
    found = {name: _spelled_out(each) for name, each in cast("dict[str, Any]", part).items()}
    if isinstance(said := found.get("description"), str):
        found["description"] = cleandoc(said)  # Markdown, where what is indented is code
    if kinds := found.pop("prefixItems", None):
        alike = all(each == kinds[0] for each in kinds)
        found["items"] = kinds[0] if alike else {"anyOf": kinds}
    match found:
        case {"enum": [str(), *_]}:
            found["type"] = "string"
        case {"enum": [int(), *_]} | {"type": "integer"}:
            found |= {"type": "integer", "format": "int64"}
        case {"type": "number"}:
            found["format"] = "double"
        case {"anyOf": [{"type": "integer"}, {"type": "number"} as number]}:  # which an integer is
            return number
        case {"type": "array"}:
            found.setdefault("items", {})
        case {"type": "object"} if "properties" not in found:
            found.setdefault("additionalProperties", True)
        case _:
            pass
    return found
