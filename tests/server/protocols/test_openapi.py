"""The API as a program that knows nothing but `GET /openapi.json` finds it.

`Described` is a client that is driven by that document: it makes each request from it, and holds each
answer to the schema that is there for it. What a schema does not name may not come either, so that the
document cannot fall behind the answers.
"""

import random
import re
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from types import CodeType
from typing import Any, cast

import jsonschema
import msgspec
import pytest
import trio
from jsonschema import Draft202012Validator, ValidationError
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Game
from server.host.host import Host
from server.http.routes import routed
from server.http.undecided import is_order
from server.http.wire import Request
from server.protocols.api.door import Api
from server.protocols.api.game_schema import common, schemas
from server.protocols.api.openapi import openapi
from server.protocols.api.table import ROUTES, description, document
from tests.server.protocols.test_api import office
from tests.server.transcripts import hosting
from tests.server.web import Server, get, serving
from tests.steps import steps_taken
from tests.tournament.world import first, play
from tournament.match import Match
from tournament.player import Seat

TOKEN = "the organiser's own"
AT_MOST = 2_000  # steps of a document that is there; to write it takes a hundred times as many
STREAMS = "text/event-stream"


def closed(schema: Any) -> Any:
    """The same schema, of objects that have the fields that are named and no others."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {name: closed(each) for name, each in schema.items()}
    if "properties" in found and "additionalProperties" not in found:
        found["additionalProperties"] = False
    return found


class Described:
    """A client that is driven by the document."""

    def __init__(self, host: Host, server: Server, document: Mapping[str, Any], token: str) -> None:
        self.called: set[tuple[str, str]] = set()
        self.errs = False  # whether its requests may be refused
        self.host = host
        self._server = server
        self._document = document
        self._token = token
        self._components = closed(document["components"])
        self._validators: dict[int, Draft202012Validator] = {}  # of each of the document's schemas

    async def call(self, method: str, path: str, body: Any = None, /, **values: Any) -> Any:
        operation = self._document["paths"][path][method.lower()]
        parameters = {each["name"]: each for each in operation.get("parameters", ())}
        assert values.keys() <= parameters.keys(), "the document names every parameter"
        for name, value in values.items():
            jsonschema.validate(value, parameters[name]["schema"])
        query = "&".join(f"{n}={v}" for n, v in values.items() if parameters[n]["in"] == "query")
        address = path.format(**values) + (f"?{query}" if query else "")
        content, headers = b"", []
        if body is not None:
            if not self.errs:
                self.check(body, operation["requestBody"])
            content = msgspec.json.encode(body)
            headers = [f"Content-Length: {len(content)}"]
        if "security" in operation:
            headers.append(f"Authorization: Bearer {self._token}")
        answers: dict[str, Any] = operation["responses"]
        self.called.add((method, path))
        if STREAMS in answers.get("200", {}).get("content", {}):
            client = self._server.connect()
            await client.end.send_all(get(address, *headers))
            assert STREAMS.encode() in await client.now()
            return None
        answer = await self._server.connect().ask(get(address, *headers, method=method) + content, method)
        status = str(answer.status)
        if status not in answers and (answer.status >= 500 or self.errs):
            status = f"{status[0]}XX"
        assert status in answers, answer.body
        kinds = answers[status]["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in kinds, f"{method} {path} answers with {kind}"
        found = msgspec.json.decode(answer.body) if kind == "application/json" else answer.body.decode()
        self._check(found, kinds[kind]["schema"])
        return found

    def check(self, body: Any, said: Mapping[str, Any]) -> None:
        """Raise `ValidationError` for a body that is none by what the document says of it."""
        self._check(body, said["content"]["application/json"]["schema"])

    def _check(self, found: Any, schema: Mapping[str, Any]) -> None:
        validator = self._validators.get(id(schema))
        if validator is None:
            whole = {**closed(schema), "components": self._components}
            validator = self._validators[id(schema)] = Draft202012Validator(whole)
        validator.validate(found)


@asynccontextmanager
async def described() -> AsyncIterator[tuple[Described, Any]]:
    async with hosting({}) as (host, nursery), serving(routed((Api(host, TOKEN, lambda: "/in"),))) as server:
        answer = await server.connect().ask(get("/openapi.json"))

        async def come(*names: str, keeps: bool = True) -> None:
            for name in names:
                token = f"the token of {name}" if keeps else None
                visit = await host.arrive(name, "tic-tac-toe", token=token, keeps=keeps)
                nursery.start_soon(play, visit.player, first)

        def note(match: Match) -> None:
            host.wires.tape(Seat(match, 0, host.timekeeper), None).told(b"{}")

        host.on_begun.append(lambda tournament, match: note(match))
        yield Described(host, server, msgspec.json.decode(answer.body), TOKEN), come
        assert not server.guard.caught


@pytest.mark.slow
def test_the_document_is_one_by_the_standards_own_validator() -> None:
    from openapi_spec_validator import validate  # here, because it takes long to import

    validate(openapi(ROUTES))


def test_every_operation_has_a_name_of_its_own_that_is_one_in_any_language() -> None:
    """Generators of clients name functions by it: without one, each makes up names of its own."""
    names = [each["operationId"] for path in openapi(ROUTES)["paths"].values() for each in path.values()]
    assert len({*names}) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert "get_api_tournaments_name_standings" in names


def test_every_answer_has_a_schema() -> None:
    for operations in openapi(ROUTES)["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                assert bool(answer["content"]) == (status != "204"), (operation["summary"], status)


@pytest.mark.slow
async def test_a_client_that_knows_only_the_document_runs_a_tournament_and_all_answers_are_as_it_says(
    autojump_clock: MockClock,
) -> None:
    async with described() as (client, come):
        call, one = client.call, "/api/tournaments/{name}"
        for path in ("games", "tournaments", "calendar", "groups", "key", "status", "hosts", "organiser"):
            await call("GET", f"/api/{path}")
        for path in ("/healthz", "/readyz", "/metrics", "/openapi.json"):
            await call("GET", path)
        await call("GET", "/api/games/{game}/schema", game="tic-tac-toe")
        await call("POST", "/api/admin-link")
        settings = {"name": "cup", "game": "tic-tac-toe", "format": "double-round-robin", "group": "all"}
        await call("POST", "/api/tournaments", settings)
        await call("POST", f"{one}/invite", {"name": "eve"}, name="cup")
        await come("ann", "bob", "cas")
        await come("hal", keeps=False)
        await call("POST", f"{one}/start", name="cup")
        await call("POST", f"{one}/release", {"name": "hal"}, name="cup")
        await call("POST", f"{one}/describe", {"name": "ann", "affiliation": "ETH"}, name="cup")
        assert (await call("POST", f"{one}/release", {"name": "bob", "bind": True}, name="cup"))["token"]
        await call("POST", f"{one}/pause", name="cup")
        await call("POST", f"{one}/resume", name="cup")
        await call("POST", f"{one}/withdraw", {"name": "eve", "preview": True}, name="cup")
        await call("POST", f"{one}/withdraw", {"name": "eve"}, name="cup")
        await trio.sleep(1.5)
        (match, *_) = (await call("GET", one, name="cup"))["playing"]
        await call("GET", "/api/matches/{match}", match=match)
        await call("GET", "/api/matches/{match}/wire", match=match, seat=0)
        await call("GET", "/api/matches/{match}/events", match=match)
        await call("GET", "/api/events", after=0)
        await call("GET", f"{one}/matches", name="cup", limit=1)
        await trio.sleep(300.0)
        await call("GET", "/api/matches/{match}", match=match)
        await call("GET", "/api/matches/{match}", match=match, format="text")
        for path in ("", "/standings", "/matches", "/export", "/feed", "/calendar"):
            await call("GET", f"{one}{path}", name="cup")
        for kind in ("csv", "trf"):
            await call("GET", f"{one}/standings", name="cup", format=kind)
        await call("GET", "/api/groups/{group}", group="all")
        await call("GET", "/api/groups", name="all", limit=1)
        await call("GET", "/api/bots/{bot}", bot="ann")
        await call("GET", "/api/bots", name="ann")
        await call("POST", f"{one}/freeze", name="cup")
        await call("POST", f"{one}/unfreeze", name="cup")
        await call("POST", f"{one}/void", {"match": match, "preview": True}, name="cup")
        await call("POST", f"{one}/void", {"match": match, "why": "a test"}, name="cup")
        await call("POST", f"{one}/disqualify", {"name": "cas"}, name="cup")
        await call("GET", "/api/tournaments")
        await call("POST", "/api/tournaments", settings | {"name": "next", "format": "swiss", "rounds": 2})
        for name in ("fay", "gus"):
            await call("POST", f"{one}/invite", {"name": name}, name="next")
        await call("POST", f"{one}/start", name="next")
        await call("POST", f"{one}/enter", {"name": "dee"}, name="next")
        await call("POST", f"{one}/end", name="next")
        await call("GET", f"{one}/standings", name="next")
        await call("POST", "/api/tournaments", settings | {"name": "gone"})
        await call("POST", f"{one}/delete", name="gone")
        decided = settings | {"name": "open", "format": "decide", "entrants": 2, "games": 10}
        await call("POST", "/api/tournaments", decided)
        await call("GET", one, name="open")
        evening = {"rounds_at": ["2099-03-01T18:00:00Z", "2099-03-01T19:00:00Z"], "check_in": "15m"}
        await call("POST", "/api/tournaments", settings | {"name": "late", "format": "swiss"} | evening)
        await call("POST", f"{one}/invite", {"name": "ivy", "contact": "ivy@example"}, name="late")
        await call("POST", f"{one}/check-in", {"name": "ivy"}, name="late")
        await call("GET", one, name="late")
        await call("GET", "/api/calendar")
    missed = {(route.method, route.path) for route in ROUTES if route.listed} - client.called
    assert not missed


async def test_an_order_takes_and_needs_what_the_document_says(autojump_clock: MockClock) -> None:
    """Catches clients that are made from the document and refused whatever they send.

    Those in Go and Java send null for a body that is left out, so a body is needed or not there at all.
    """
    some = {"name": "ann", "match": "x-1", "why": "x", "bind": True, "preview": True}
    some |= {"affiliation": "x", "contact": "x"}
    async with described() as (client, _):
        paths = msgspec.json.decode(document().body)["paths"]
        client.errs = True
        orders = [path for path, operations in paths.items() if "{name}/" in path and "post" in operations]
        assert len(orders) > 10
        for number, path in enumerate(orders):
            body, name = paths[path]["post"].get("requestBody"), f"cup-{number}"
            await client.call("POST", "/api/tournaments", {"name": name, "game": "tic-tac-toe"})
            taken = set[str]() if body is None else set(re.findall(r"`(\w+)`", body["description"]))
            for field in some:
                refused = await client.call("POST", path, {field: some[field]}, name=name)
                assert (field not in taken) == ("nothing was done" in refused.get("error", "")), (path, field)
            nothing = await client.call("POST", path, {}, name=name)
            assert ("expected {" in nothing.get("error", "")) == (body is not None), path
            if body is None:
                continue
            assert body["required"]
            (lacks,) = re.findall(r"needs `(\w+)`", body["description"])
            with pytest.raises(ValidationError):
                client.check({}, body)
            for field in some:
                with nullcontext() if field in taken else pytest.raises(ValidationError):
                    client.check({lacks: some[lacks], field: some[field]}, body)
    assert paths["/api/tournaments"]["post"]["requestBody"]["required"]
    assert "requestBody" not in paths["/api/admin-link"]["post"]
    assert paths["/api/bots"]["get"]["parameters"][0]["required"]


def test_the_document_says_of_every_order_and_of_nothing_else_that_its_answer_may_be_lost() -> None:
    """Catches a client that takes it for a refusal, and gives the order twice."""
    for path, operations in openapi(ROUTES)["paths"].items():
        for method, operation in operations.items():
            request = Request(method.upper(), path, {}, {}, b"", "", 0.0, False)
            assert is_order(request) == ("502" in operation["responses"]), path


def test_generators_that_know_only_the_common_words_of_json_schema_can_read_every_type() -> None:
    """Catches options that a client in TypeScript could not set, and seeds that one in Go could not read."""
    document = openapi(ROUTES)
    for part in parts(document):
        assert "prefixItems" not in part
        choices = [each.get("type") for each in part.get("anyOf", ())]
        assert not {"integer", "number"} <= {*choices}, part
        if isinstance(part.get("enum"), list):
            assert "type" in part, part
        match part.get("type"):
            case "integer" | "number":
                assert part["format"] in ("int64", "double"), part
            case "array":
                assert "items" in part, part
            case "object":
                assert part.keys() & {"properties", "additionalProperties"}, part
            case _:
                pass
    for name, schema in document["components"]["schemas"].items():
        for field, said in schema.get("properties", {}).items():
            assert said.keys() & {"type", "anyOf", "enum", "$ref"}, (name, field)


def parts(whole: Any) -> Iterator[dict[str, Any]]:
    """All objects of a document, at any depth."""
    if isinstance(whole, dict):
        yield cast("dict[str, Any]", whole)
    if isinstance(whole, dict | list):
        inner = cast("list[Any]", [*whole.values()] if isinstance(whole, dict) else whole)
        for each in inner:
            yield from parts(each)


async def test_every_list_comes_in_pages_as_the_document_says(autojump_clock: MockClock) -> None:
    """Catches groups that were all listed, whatever `limit` said."""
    lists = [route.path for route in ROUTES if "limit" in route.query]
    async with office() as here:
        for name in ("one", "two"):
            settings = {"name": name, "game": "tic-tac-toe", "group": f"of {name}", "entrants": 2}
            await here.tell("/api/tournaments", 201, **settings)
        for path in lists:
            address = path.format(name="one", group="of%20one")
            await here.read(f"{address}?limit=1")
            for wrong in ("limit=0", "limit=1001", "after=-1"):
                await here.read(f"{address}?{wrong}", 400)
        first, second = [await here.read(f"/api/groups?limit=1&after={after}") for after in (0, 1)]
    assert len(lists) > 4
    assert (first["groups"], first["next"]) == ([{"group": "of one", "tournaments": ["one"]}], 1)
    assert (second["groups"], second["next"]) == ([{"group": "of two", "tournaments": ["two"]}], None)


def test_what_the_document_says_is_text_and_not_code() -> None:
    """Catches docstrings whose later lines are indented, which is code in Markdown."""
    assert b"\\n    " not in document().body


async def test_what_cannot_be_done_now_is_said_as_the_document_says(autojump_clock: MockClock) -> None:
    """Catches a client that is made from the document and cannot read why an order was not carried out."""
    async with described() as (client, _):
        client.host.store.trouble = "the disk is full"
        refused = await client.call("POST", "/api/tournaments", {"name": "cup", "game": "tic-tac-toe"})
        await client.call("GET", "/readyz")
    assert "the disk is full" in refused["error"]


async def test_what_is_damaged_is_said_as_the_document_says(autojump_clock: MockClock) -> None:
    async with described() as (client, _):
        client.host.guard.damage = "the journal"
        assert (await client.call("GET", "/readyz"))["damaged"] == "the journal"


# Games


def played(game: Game[Any, Any], seed: int) -> Iterator[tuple[Any, Any]]:
    """States and moves of a match that the schema has not been drawn from."""
    lots, position = random.Random(seed), game.opening({})
    while position.outcome is None and lots.random() < 0.99:
        move = lots.choice([*position.moves()])
        yield as_json(game.show(position, ("a", "b"))), as_json(game.write(move))
        position = position.play(move)


def as_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue())
def test_the_schemas_of_a_game_fit_matches_that_nobody_has_seen_and_no_other_games(name: str) -> None:
    schema = schemas(name)
    for part in ("state", "move"):
        Draft202012Validator.check_schema(schema[part])
    state, move = Draft202012Validator(schema["state"]), Draft202012Validator(schema["move"])
    for seed in range(3):
        for shown, written in played(catalogue()[name], seed):
            state.validate(shown)
            move.validate(written)
    for other in catalogue().values():
        if other.name != name:
            shown, written = next(played(other, 1))
            assert not (state.is_valid(shown) and move.is_valid(written)), other.name


def test_what_values_have_in_common_is_what_the_schema_says() -> None:
    assert common([1, 2]) == {"type": "integer"}
    assert common([1, "a"]) == {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert common([[1], [2, 3]]) == {"type": "array", "items": {"type": "integer"}}
    one = common([{"a": 1, "b": None}, {"a": 2}])
    assert (one["required"], [*one["properties"]]) == (["a"], ["a", "b"])
    pair = common([["a", 1], ["b", 2]])
    assert pair["prefixItems"] == [{"type": "string"}, {"type": "integer"}]
    assert re.fullmatch("2 2", f"{pair['minItems']} {pair['maxItems']}")


@pytest.mark.slow
async def test_the_document_is_written_once(autojump_clock: MockClock) -> None:
    """Catches a host whose matches wait while it is written for whoever asks, again and again."""
    async with hosting({}, None) as (host, _), serving(routed((Api(host, TOKEN),))) as server:
        first = await server.connect().ask(get("/openapi.json"))
        again = await server.connect().ask(get("/openapi.json"))
    assert first.body == again.body == msgspec.json.encode(openapi(ROUTES))
    assert steps_taken(document) < AT_MOST < steps_taken(document.__wrapped__) / 10


async def test_while_the_document_is_written_matches_go_on() -> None:
    """Catches one that is written on the event loop, which the first stranger to ask held up for 30 ms."""
    called = set[CodeType]()
    document.cache_clear()
    sys.setprofile(lambda frame, event, argument: called.add(frame.f_code))  # of this thread alone
    try:
        answer = await description(None)
    finally:
        sys.setprofile(None)
    assert answer.body == msgspec.json.encode(openapi(ROUTES))
    assert openapi.__code__ not in called


def test_every_parameter_is_described() -> None:
    """Catches a client that is made from the document and cannot say what `after` means."""
    paths = msgspec.json.decode(document().body)["paths"]
    described = [
        (path, each["name"], each.get("description", ""))
        for path, methods in paths.items()
        for operation in methods.values()
        for each in operation.get("parameters", ())
    ]
    assert len(described) > len(ROUTES) / 2
    assert [each for each in described if not each[2].endswith(".")] == []
