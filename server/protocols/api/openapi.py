"""What the HTTP API is, for programs: an OpenAPI document, made from its table of routes."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, cast

import msgspec

from server.protocols.api.answers import answers, schema_of
from server.protocols.api.routes import Caller, Route

SECURITY: Mapping[Caller, list[dict[str, list[str]]]] = {  # whose token a request has to bring
    Caller.ANYONE: [],
    Caller.ORGANISER: [{"organiser": []}],
    Caller.BOT: [{"bot": []}, {"organiser": []}],
}
ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def openapi(table: Iterable[Route]) -> dict[str, Any]:
    routes = [route for route in table if route.listed]
    taken = list(dict.fromkeys(route.takes for route in routes if route.takes is not None))
    found, components = msgspec.json.schema_components(taken, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(taken, found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        body = None if route.takes is None else schemas[route.takes]
        given = {
            str(status): {kind: {"schema": schema_of(what, components)} for kind, what in content.items()}
            for status, content in answers(route.method, route.path, route.status)
        }
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, body, given)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Quintain",
            "version": "1",
            "description": "Read by anybody, changed by the organiser.",
        },
        "paths": paths,
        "components": {
            "schemas": components | {"Error": ERROR},
            "securitySchemes": {who: {"type": "http", "scheme": "bearer"} for who in ("organiser", "bot")},
        },
    }
    return _spelled_out(
        msgspec.json.decode(msgspec.json.encode(document))
    )  # of defaults that are tuples, lists


def _operation(
    route: Route, body: dict[str, Any] | None, given: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    wrong = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    operation: dict[str, Any] = {
        "summary": route.does,
        "responses": {
            **{
                status: {"description": HTTPStatus(int(status)).phrase, "content": content}
                for status, content in given.items()
            },
            "4XX": {"description": "What was wrong."} | wrong,
        },
    }
    text = {"type": "string"}
    parameters = [{"name": name, "in": "path", "required": True, "schema": text} for name in route.parameters]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in route.query.items()]
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    if security := SECURITY[route.who]:
        operation["security"] = security
    return operation


def _spelled_out(part: Any) -> Any:
    """The same, as generators of clients can read it: the type of an array's items is a schema, and is there.

    Where `prefixItems` has them all, `maxItems` says that there are no more.
    """
    if isinstance(part, list):
        return [_spelled_out(each) for each in cast("list[Any]", part)]
    if not isinstance(part, dict):
        return part
    found = {name: _spelled_out(each) for name, each in cast("dict[str, Any]", part).items()}
    if found.get("items") is False and len(found.get("prefixItems", ())) == found.get("maxItems"):
        del found["items"]
    elif found.get("type") == "array" and "prefixItems" not in found:
        found.setdefault("items", {})
    return found
