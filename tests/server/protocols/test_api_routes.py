"""The table of the API's routes: how a request finds its route, and what is made from the table."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from server.http.head import HttpError
from server.http.wire import Request, Response
from server.protocols.api.door import NAMED, Api
from server.protocols.api.openapi import openapi
from server.protocols.api.routes import Caller, Route, Routes
from server.protocols.api.table import ROUTES


def request(method: str, path: str) -> Request:
    return Request(method, path, {}, {}, b"", "", 0.0, False)


def nothing(*_: object) -> Response:
    return Response()


def route(path: str, method: Any = "GET") -> Route:
    return Route(method, path, "It does nothing.", nothing, {})


def references(document: Any) -> Iterator[str]:
    """Whatever a document refers to within itself."""
    if isinstance(document, dict):
        for key, value in document.items():  # pyright: ignore[reportUnknownVariableType]
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(document, list):
        for each in document:  # pyright: ignore[reportUnknownVariableType]
            yield from references(each)


@pytest.mark.parametrize("wanted", ROUTES, ids=lambda each: f"{each.method} {each.path}")
def test_every_route_is_found_by_its_path_with_the_values_of_its_parameters(wanted: Route) -> None:
    values = [(name, f"a {name}") for name in wanted.parameters]
    path = wanted.path.format(**dict(values))
    assert Routes(ROUTES).find(request(wanted.method, path)) == (wanted, values)
    assert Routes(ROUTES).find(request(wanted.method, f"{path}/")) == (wanted, values)
    assert all(name in NAMED for name, _ in values)


def test_what_another_process_answers_is_named_where_a_method_is_not_taken() -> None:
    own = route("/healthz"), route("/{one}/standings", "POST")
    routes = Routes(own, Routes((*own, route("/{one}/standings"))))
    with pytest.raises(HttpError) as refused:
        routes.find(request("DELETE", "/a/standings"))
    assert refused.value.status == 405
    assert refused.value.headers == (("Allow", "GET, HEAD, POST"),)
    assert str(refused.value) == "/a/standings takes GET, HEAD, POST, not DELETE"


def test_what_is_read_is_read_by_head_too() -> None:
    assert Routes(ROUTES).find(request("HEAD", "/healthz")) == Routes(ROUTES).find(request("GET", "/healthz"))


def test_a_word_goes_before_a_parameter_and_only_for_its_own_method() -> None:
    word, other = route("/{one}/standings"), route("/{one}/{two}")
    posted = route("/{one}/{two}", "POST")
    routes = Routes((other, word, posted))
    assert routes.find(request("GET", "/a/standings")) == (word, [("one", "a")])
    assert routes.find(request("GET", "/a/b")) == (other, [("one", "a"), ("two", "b")])
    assert routes.find(request("POST", "/a/standings")) == (posted, [("one", "a"), ("two", "standings")])


@pytest.mark.parametrize("each", ROUTES, ids=lambda each: f"{each.method} {each.path}")
def test_a_method_that_an_address_does_not_take_is_told_those_that_it_does(each: Route) -> None:
    """Catches `POST …/standings`, which was taken for an order that there is not, and wanted a token."""
    path = each.path.format(name="cup", match="cup-1", game="x", order="x", group="x", bot="x")
    taken = {other.method for other in ROUTES if other.path == each.path and other.listed}
    for method in ({"GET", "POST"} - taken) if each.listed else ():
        with pytest.raises(HttpError) as refusal:
            Routes(ROUTES).find(request(method, path))
        allowed = "GET, HEAD" if taken == {"GET"} else "POST"
        assert (refusal.value.status, refusal.value.headers) == (405, (("Allow", allowed),))


@pytest.mark.parametrize("path", ["/", "/a", "/a/b/c", "/a//", "/a//b", "/{one}/b/c"])
def test_nothing_is_found_beyond_a_route_or_short_of_it(path: str) -> None:
    with pytest.raises(HttpError, match="there is nothing at") as refusal:
        Routes((route("/{one}/b"),)).find(request("GET", path))
    assert refusal.value.status == 404


@pytest.mark.parametrize("paths", [("/a", "/a"), ("/a/{one}", "/a/{one}"), ("/a/{one}", "/a/{two}/b")])
def test_a_table_that_says_two_things_about_one_path_is_none(paths: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"there are two routes|as in the routes before"):
        Routes(map(route, paths))


def test_the_document_refers_to_nothing_that_is_not_in_it() -> None:
    document = openapi(ROUTES)
    named = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= named
    assert {"#/components/schemas/TournamentSettings", "#/components/schemas/VoidOrder"} <= named
    for path, operations in document["paths"].items():
        for operation in operations.values():
            declared = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"]
            assert declared == re.findall(r"{(\w+)}", path)
            for scheme in (scheme for each in operation.get("security", ()) for scheme in each):
                assert scheme in document["components"]["securitySchemes"]


def test_the_document_has_every_route_that_may_be_called() -> None:
    paths = openapi(ROUTES)["paths"]
    found = {(method.upper(), path) for path, operations in paths.items() for method in operations}
    assert found == {(each.method, each.path) for each in ROUTES if each.listed}


@pytest.mark.parametrize("each", ROUTES, ids=lambda each: f"{each.method} {each.path}")
def test_pages_of_other_sites_may_bring_a_token_where_it_is_a_bots_and_nowhere_else(each: Route) -> None:
    path = each.path.format(name="cup", match="cup-1", game="x", order="x", group="x", bot="x")
    tokens = Api.sharing.tokens
    assert tokens is not None
    assert (tokens.fullmatch(path) is not None) == (each.who is Caller.BOT)
