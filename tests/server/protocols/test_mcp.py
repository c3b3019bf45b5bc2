"""The Model Context Protocol, message by message: what it refuses and how, and what a model can rely on.

Whole matches are played by the protocol's own client in `test_mcp_sdk.py`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from msgspec import Struct
from trio.testing import MockClock

from games.game import Pace
from server.host.host import Host
from server.http.exchange import Exchange
from server.http.routes import routed
from server.net.limits import Limits
from server.protocols.api.door import Api
from server.protocols.mcp import words
from server.protocols.mcp.places import AT_A_TIME, SWEEP, Places
from server.protocols.mcp.revisions import REVISIONS
from server.protocols.mcp.rpc import (
    BAD_PARAMETERS,
    HEADERS_DIFFER,
    NO_MESSAGE,
    NO_METHOD,
    NO_SUCH_REVISION,
    UNREADABLE,
)
from server.protocols.mcp.sessions import IDLE
from server.protocols.mcp.tools import LISTED, TOOLS, latest
from tests.hang import HANG
from tests.server.doors import memory
from tests.server.ends import Connect, End
from tests.server.protocols.test_api import Office
from tests.server.transcripts import hosting
from tests.server.web import Holds, post, serving
from tests.steps import steps_taken
from tournament.desk import Desk
from tournament.facts import Opened, State, Turned
from tournament.record import Record

NEW, OLD = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ANN = {"name": "ann", "game": "connect-4", "token": "ann-keeps-this-secret"}
BOB = {"name": "bob", "game": "connect-4", "token": "bob-has-another-one"}


class Answer(Struct, frozen=True):
    status: int
    head: str
    body: Any

    @property
    def code(self) -> int:
        return self.body["error"]["code"]

    @property
    def told(self) -> dict[str, Any]:
        return self.body["result"]["structuredContent"]

    @property
    def text(self) -> str:
        return self.body["result"]["content"][0]["text"]


class Client:
    """One connection over which messages are sent as they are."""

    def __init__(self, end: End) -> None:
        self._end = end
        self.session = ""

    async def send(self, body: str, *headers: str, method: str = "POST", path: str = "/mcp") -> Answer:
        await self._end.say(" ".join([method, path, *headers, body]).strip())
        heard = await self._end.hear()
        assert heard is not None
        head, brace, body = heard.partition("{")
        return Answer(int(head[:3]), head[4:].strip(), msgspec.json.decode(brace + body) if brace else None)

    async def new(self, method: str, params: dict[str, Any] | None = None, *headers: str) -> Answer:
        """A request of the stateless revision."""
        params = {"_meta": META, **(params or {})}
        named = [f"Mcp-Name: {params['name']}"] if method == "tools/call" else []
        head = headers or (f"MCP-Protocol-Version: {NEW}", f"Mcp-Method: {method}", *named)
        return await self.send(said(method, params), *head)

    async def old(self, method: str, params: dict[str, Any] | None = None, id: object = 1) -> Answer:
        """A request in a session."""
        head = [f"MCP-Protocol-Version: {OLD}"]
        head += [f"Mcp-Session-Id: {self.session}"] if self.session else []
        return await self.send(said(method, params, id), *head)

    async def begin(self, revision: object = OLD) -> Answer:
        params = {
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"},
        }
        answer = await self.old("initialize", params)
        self.session = answer.head.removeprefix("Mcp-Session-Id: ")
        return answer

    async def call(self, tool: str, **arguments: Any) -> Answer:
        answer = await self.new("tools/call", {"name": tool, "arguments": arguments})
        assert answer.status == 200, answer.body
        return answer

    async def close(self) -> None:
        await self._end.close()


def said(method: str, params: dict[str, Any] | None = None, id: object = 1) -> str:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    message |= {} if id is None else {"id": id}
    return msgspec.json.encode(message | ({} if params is None else {"params": params})).decode()


@asynccontextmanager
async def served(limits: Limits | None = None, **tournament: str) -> AsyncIterator[tuple[Host, Connect]]:
    async with hosting(tournament, limits) as (host, nursery):
        yield host, (await memory(host, nursery))["http"]


@asynccontextmanager
async def connected(limits: Limits | None = None) -> AsyncIterator[Client]:
    async with served(limits) as (_, connect):
        client = Client(await connect())
        yield client
        await client.close()


@asynccontextmanager
async def playing(
    limits: Limits | None = None, **tournament: str
) -> AsyncIterator[tuple[Host, Client, Client]]:
    """Two models at a match, of which the first is to move and has been shown so."""
    async with served(limits, **tournament) as (host, connect):
        ann, bob = Client(await connect()), Client(await connect())
        await ann.call("join", **ANN)
        await bob.call("join", **BOB)
        first = await ann.call("wait", seconds=1, token=ANN["token"])
        yield (host, ann, bob) if first.told["type"] == "turn" else (host, bob, ann)
        await ann.close()
        await bob.close()


async def token_of(client: Client, host: Host) -> str:
    """Of whichever of the two this is."""
    for known in (ANN, BOB):
        if (await client.call("position", token=known["token"])).text.startswith("It is your move"):
            return known["token"]
    raise AssertionError("nobody is to move")


async def tokens_of(client: Client, host: Host) -> tuple[str, str]:
    """Of whichever of the two this is, and of the other."""
    mine = await token_of(client, host)
    return mine, BOB["token"] if mine == ANN["token"] else ANN["token"]


async def begin_to_wait(client: Client, token: str) -> None:
    params = {"name": "wait", "arguments": {"token": token}, "_meta": META}
    head = f"POST /mcp MCP-Protocol-Version: {NEW} Mcp-Method: tools/call Mcp-Name: wait "
    await client._end.say(head + said("tools/call", params))
    await trio.testing.wait_all_tasks_blocked()


# The stateless revision


def test_a_table_says_every_half_point_of_a_million_matches() -> None:
    row = {"rank": 1, "name": "ann", "points": 1_234_567.5}
    told = words.ranked({"tournament": "open-connect-4", "final": False, "rows": [row]})
    assert told.splitlines()[1:] == ["1. ann, points: 1234567.5"]


async def test_a_host_says_what_it_speaks(autojump_clock: MockClock) -> None:
    async with connected() as client:
        result = (await client.new("server/discover")).body["result"]
    assert result["supportedVersions"] == [*REVISIONS]
    assert result["resultType"] == "complete"
    assert result["instructions"] == words.INSTRUCTIONS
    assert {"ttlMs", "cacheScope", "capabilities"} <= {*result}


async def test_every_tool_is_listed_with_what_it_takes_and_each_takes_a_token(
    autojump_clock: MockClock,
) -> None:
    async with connected() as client:
        new = (await client.new("tools/list")).body["result"]
        await client.begin()
        old = (await client.old("tools/list")).body["result"]
    assert [tool["name"] for tool in new["tools"]] == [*TOOLS]
    assert old == {"tools": new["tools"]}
    for tool in new["tools"]:
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert "token" in schema["properties"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        (["Mcp-Method: ping"], HEADERS_DIFFER),
        ([f"MCP-Protocol-Version: {NEW}"], HEADERS_DIFFER),
        ([f"MCP-Protocol-Version: {OLD}", "Mcp-Method: tools/list"], HEADERS_DIFFER),
        ([f"MCP-Protocol-Version: {NEW}", "Mcp-Method: tools/call"], HEADERS_DIFFER),
        (["MCP-Protocol-Version: 1900-01-01", "Mcp-Method: tools/list"], HEADERS_DIFFER),
    ],
)
async def test_headers_that_differ_from_the_body_are_refused(
    headers: list[str], code: int, autojump_clock: MockClock
) -> None:
    async with connected() as client:
        answer = await client.new("tools/list", None, *headers)
    assert (answer.status, answer.code, answer.body["id"]) == (400, code, 1)


async def test_a_client_that_names_its_revision_in_the_header_alone_is_told_so(
    autojump_clock: MockClock,
) -> None:
    async with connected() as client:
        answer = await client.send(
            said("tools/list"), f"MCP-Protocol-Version: {NEW}", "Mcp-Method: tools/list"
        )
    assert answer.code == HEADERS_DIFFER
    told = f"the header MCP-Protocol-Version is {NEW!r}, and the body has none"
    assert answer.body["error"]["message"] == told


async def test_the_name_of_a_tool_may_come_in_base64(autojump_clock: MockClock) -> None:
    async with connected() as client:
        head = (f"MCP-Protocol-Version: {NEW}", "Mcp-Method: tools/call")
        params = {"name": "games", "arguments": {}}
        fits = await client.new("tools/call", params, *head, "Mcp-Name: =?base64?Z2FtZXM=?=")
        differs = await client.new("tools/call", params, *head, "Mcp-Name: =?base64?d2FpdA==?=")
        broken = await client.new("tools/call", params, *head, "Mcp-Name: =?base64?!!?=")
    assert (fits.status, differs.status, broken.status) == (200, 400, 400)
    assert (differs.code, broken.code) == (HEADERS_DIFFER, HEADERS_DIFFER)


async def test_an_unknown_revision_is_told_which_there_are(autojump_clock: MockClock) -> None:
    async with connected() as client:
        meta = META | {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}
        head = ("MCP-Protocol-Version: 1900-01-01", "Mcp-Method: tools/list")
        new = await client.new("tools/list", {"_meta": meta}, *head)
        old = await client.send(said("tools/list"), "MCP-Protocol-Version: 1900-01-01")
    for answer in (new, old):
        assert (answer.status, answer.code) == (400, NO_SUCH_REVISION)
        assert answer.body["error"]["data"] == {"supported": [*REVISIONS], "requested": "1900-01-01"}


async def test_a_request_without_the_clients_capabilities_is_malformed(autojump_clock: MockClock) -> None:
    async with connected() as client:
        meta = {"io.modelcontextprotocol/protocolVersion": NEW}
        answer = await client.new("tools/list", {"_meta": meta})
    assert (answer.status, answer.code) == (400, BAD_PARAMETERS)


async def test_an_unknown_method_is_not_found(autojump_clock: MockClock) -> None:
    async with connected() as client:
        new = await client.new("resources/list")
        ping = await client.new("ping")  # which this revision has no more
        await client.begin()
        old = await client.old("resources/list")
    assert (new.status, new.code) == (ping.status, ping.code) == (404, NO_METHOD)
    assert (old.status, old.code) == (200, NO_METHOD)


# Sessions


async def test_a_session_begins_ends_and_is_not_found_afterwards(autojump_clock: MockClock) -> None:
    async with connected() as client:
        begun = await client.begin()
        assert begun.body["result"]["protocolVersion"] == OLD
        accepted = await client.old("notifications/initialized", id=None)
        assert (accepted.status, accepted.body) == (202, None)
        assert (await client.old("ping")).body["result"] == {}
        named = f"Mcp-Session-Id: {client.session}"
        assert (await client.send("", named, method="DELETE")).status == 204
        assert (await client.send("", named, method="DELETE")).status == 404
        assert (await client.old("ping")).status == 404


async def test_a_session_that_was_only_opened_leads_nowhere(autojump_clock: MockClock) -> None:
    """Catches a move that goes to where its session was opened, when it is quicker than word of its join."""
    async with served() as (host, connect):
        keys = list[str]()
        host.on_key = keys.append
        client = Client(await connect())
        await client.begin()
        assert len(keys) == 1, "other hosts know that it was opened"
        assert client.session not in keys
        await client.close()


async def test_a_client_that_asks_for_another_revision_is_offered_one(autojump_clock: MockClock) -> None:
    async with connected() as client:
        assert (await client.begin("2025-06-18")).body["result"]["protocolVersion"] == "2025-06-18"
        assert (await client.begin("2024-11-05")).body["result"]["protocolVersion"] == OLD
        assert (await client.begin(7)).body["result"]["protocolVersion"] == OLD


async def test_without_a_session_an_old_request_is_told_how_to_begin(autojump_clock: MockClock) -> None:
    async with connected() as client:
        answer = await client.old("tools/list")
    assert (answer.status, answer.code) == (400, NO_MESSAGE)
    assert "initialize" in answer.body["error"]["message"]


async def test_a_session_remembers_the_token_of_its_model(autojump_clock: MockClock) -> None:
    async with connected() as client:
        await client.begin()
        params = {"name": "join", "arguments": {"name": "ann", "game": "connect-4"}}
        welcome = await client.old("tools/call", params)
        again = await client.old("tools/call", params)
        waits = await client.old("tools/call", {"name": "wait", "arguments": {"seconds": 1}})
    assert welcome.told["token"] == again.told["token"]
    assert waits.told == {"type": "waiting"}


async def test_a_session_that_nobody_uses_is_forgotten_when_another_one_begins(
    autojump_clock: MockClock,
) -> None:
    async with served() as (_, connect):
        old = Client(await connect())
        await old.begin()
        await old.close()
        await trio.sleep(IDLE + 1)
        new = Client(await connect())
        await new.begin()
        new.session, kept = old.session, new.session
        assert (await new.old("ping")).status == 404
        new.session = kept
        assert (await new.old("ping")).status == 200
        await new.close()


async def test_where_sessions_are_full_the_longest_silent_makes_way(autojump_clock: MockClock) -> None:
    """Catches a stranger who opens all sessions that there may be, and keeps everybody out."""
    async with connected(Limits(sessions=2)) as client:
        await client.begin()
        first = client.session
        await client.begin()
        second, client.session = client.session, first
        await client.old("ping")
        assert (await client.begin()).status == 200
        client.session = second
        assert (await client.old("ping")).status == 404
        client.session = first
        assert (await client.old("ping")).status == 200


async def test_an_address_that_has_opened_its_share_loses_only_its_own_sessions(
    autojump_clock: MockClock,
) -> None:
    """Catches a client that was started again too often, and is then refused for an hour."""
    limits = Limits(trust_loopback=False, connections_per_address=2)
    async with connected(limits) as client:
        opened = list[str]()
        for _ in range(3):
            assert (await client.begin()).status == 200
            opened.append(client.session)
        answers = list[int]()
        for client.session in opened:
            answers.append((await client.old("ping")).status)
    assert answers == [404, 200, 200]


async def test_a_session_in_which_a_model_plays_makes_way_for_nobody(autojump_clock: MockClock) -> None:
    async with connected(Limits(sessions=2)) as client:
        opened = list[str]()
        for who in (ANN, ANN):
            await client.begin()
            await client.old("tools/call", {"name": "join", "arguments": who})
            opened.append(client.session)
        assert (await client.begin()).status == 200, "ann plays by the second of hers alone"
        await client.old("tools/call", {"name": "join", "arguments": BOB})
        assert (await client.begin()).status == 503
        client.session = opened[1]
        assert (await client.old("tools/call", {"name": "wait", "arguments": {"seconds": 1}})).status == 200


# What is no message


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", UNREADABLE),
        ("{", UNREADABLE),
        ("[" * 3000, UNREADABLE),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', NO_MESSAGE),
        ("7", NO_MESSAGE),
        ('{"id":1,"method":"ping"}', NO_MESSAGE),
        ('{"jsonrpc":"2.0","id":1}', NO_MESSAGE),
        ('{"jsonrpc":"2.0","id":1,"result":{}}', NO_MESSAGE),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', NO_MESSAGE),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', NO_MESSAGE),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', BAD_PARAMETERS),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}', BAD_PARAMETERS),
    ],
)
async def test_what_is_no_message_is_refused_with_the_protocols_own_error(
    body: str, code: int, autojump_clock: MockClock
) -> None:
    async with connected() as client:
        answer = await client.send(body)
    assert (answer.status, answer.code) == (400, code)


async def test_a_huge_body_is_refused_before_it_is_read(autojump_clock: MockClock) -> None:
    async with connected() as client:
        assert (await client.send('"' + "x" * Limits().body_bytes + '"')).status == 413


async def test_only_posts_and_deletes_are_taken_and_a_browser_is_led_to_the_page(
    autojump_clock: MockClock,
) -> None:
    async with connected() as client:
        for method in ("GET", "PUT"):
            answer = await client.send("", method=method)
            assert (answer.status, answer.head) == (405, "Allow: POST, DELETE")
        browser = await client.send("", "Accept: text/html", method="GET")
        assert (browser.status, browser.head) == (303, "Location: /protocols/mcp")
        assert (await client.send("", path="/mcp/more")).status == 404


async def test_pages_of_other_sites_may_do_nothing(autojump_clock: MockClock) -> None:
    async with connected() as client:
        for method in ("POST", "GET", "DELETE"):
            answer = await client.send("", "Origin: https://evil.example", method=method)
            assert (answer.status, answer.code) == (403, NO_MESSAGE)
            assert "id" not in answer.body


# Tools


@pytest.mark.parametrize(
    "params", [{}, {"name": 7}, {"name": "shout"}, {"name": "wait", "arguments": []}], ids=str
)
async def test_a_call_of_no_tool_is_an_error_of_the_protocol(
    params: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with connected() as client:
        named = f"Mcp-Name: {params.get('name', '')}"
        await client.begin()
        assert (await client.old("tools/call", params)).code == BAD_PARAMETERS
        if isinstance(params.get("name"), str):
            head = (f"MCP-Protocol-Version: {NEW}", "Mcp-Method: tools/call", named)
            answer = await client.new("tools/call", params, *head)
            assert (answer.status, answer.code) == (400, BAD_PARAMETERS)


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("join", {"name": "ann"}, "these arguments do not fit join: game is required, and is missing"),
        ("join", ANN | {"name": ""}, "a name has at least one character, and this one has none"),
        ("join", ANN | {"game": ""}, 'there is no game ""; there are: '),
        (
            "join",
            {"name": 7, "game": "connect-4"},
            "these arguments do not fit join: name: expected a text, not 7",
        ),
        ("join", {"name": "ann", "game": "chess"}, "there is no game"),
        ("join", {"name": "ann", "game": "connect-4", "tournament": "none"}, "there is no tournament"),
        (
            "wait",
            {"seconds": -1},
            "these arguments do not fit wait: seconds: expected a number of 0 or more, not -1",
        ),
        ("wait", {}, "join first"),
        ("move", {"move": 3, "token": "nobody has this one"}, "nobody plays with this token"),
        ("standings", {"tournament": "none"}, "there is no tournament"),
    ],
)
async def test_what_a_model_can_mend_is_a_result_that_says_how(
    tool: str, arguments: dict[str, Any], why: str, autojump_clock: MockClock
) -> None:
    async with connected() as client:
        answer = await client.call(tool, **arguments)
    assert answer.body["result"]["isError"] is True
    assert answer.told["type"] == "refused"
    assert why in answer.told["reason"]
    assert why in answer.text


async def test_guessing_tokens_comes_to_an_end(autojump_clock: MockClock) -> None:
    async with connected() as client:
        reasons = [(await client.call("position", token=f"guess {n}")).told["reason"] for n in range(12)]
    assert "too many wrong tokens" in reasons[-1]


async def test_a_move_answers_what_was_shown_and_nothing_else(autojump_clock: MockClock) -> None:
    async with playing() as (host, first, second):
        mine, other = await tokens_of(first, host)
        blind = await second.call("move", move=3, token=other)
        assert blind.told["reason"] == "it is the other player's turn"
        illegal = await first.call("move", move=7, token=mine)
        assert (illegal.told["ply"], illegal.body["result"]["isError"]) == (0, True)
        assert illegal.text.endswith("It is still your move.")
        played = await first.call("move", move="3", token=mine)
        assert (played.told["type"], played.told["ply"]) == ("turn", 1)
        blind = await second.call("move", move=3, token=other)
        assert "look first" in blind.told["reason"]
        moves = await second.call("legal_moves", token=other)
        assert moves.told["legal_moves"] == [*"0123456"]
        assert (await second.call("move", move=3, token=other)).told["ply"] == 2
        match = host.tournaments["open-connect-4"].matches["open-connect-4-1"]
        assert match.moves == [3, 3]


async def test_whose_move_it_is_cannot_be_mistaken_where_a_name_is_that_of_a_seat(
    autojump_clock: MockClock,
) -> None:
    """Catches "It is first's move. You are first", as against the house's player of that name."""
    async with connected() as client:
        await client.call("join", **ANN, against="first")
        turn = await client.call("wait", token=ANN["token"])
        told = await client.call("move", move=3, token=ANN["token"])
        assert turn.text.startswith("It is your move. You are ")
        assert told.text.startswith(f"It is your opponent's move: call wait. You are {turn.told['turn']} ")


async def test_an_end_is_told_once_and_can_be_looked_up_until_the_next_match(
    autojump_clock: MockClock,
) -> None:
    async with playing() as (host, first, second):
        mine, other = await tokens_of(first, host)
        lost = await first.call("resign", token=mine)
        assert (lost.told["type"], lost.told["ending"]) == ("end", "resigned")
        assert "You have lost" in lost.text
        won = await second.call("wait", token=other)
        assert won.told == lost.told
        assert "You have won" in won.text
        assert (await second.call("wait", seconds=1, token=other)).told["type"] != "end"


async def test_a_wait_whose_client_hangs_up_takes_no_news_with_it(autojump_clock: MockClock) -> None:
    async with playing() as (host, first, second):
        mine, other = await tokens_of(first, host)
        await begin_to_wait(second, other)
        await second.close()
        await trio.testing.wait_all_tasks_blocked()
        await first.call("resign", token=mine)
        assert (await first.call("wait", token=other)).told["type"] == "end"


@pytest.mark.parametrize("time", range(5))
async def test_an_end_is_told_to_the_call_that_came_last(autojump_clock: MockClock, time: int) -> None:
    """Catches a call that its client has given up without hanging up, and that was told in place of the next.

    It was chance which of the two was told.
    """
    async with playing() as (host, first, second):
        _, other = await tokens_of(first, host)
        await begin_to_wait(second, other)
        await begin_to_wait(first, other)
        await Desk(host.tournaments["open-connect-4"], "").void("open-connect-4-1", "")
        with trio.fail_after(HANG):
            assert '"type":"end"' in (await first._end.hear() or "")


async def test_a_move_is_answered_with_what_it_led_to_whatever_else_there_is_to_tell(
    autojump_clock: MockClock,
) -> None:
    """Catches a model that moves in one match and is told how the one before it ended."""
    async with playing() as (host, first, second):
        mine, other = await tokens_of(first, host)
        before = await second.call("resign", token=other)
        await trio.testing.wait_all_tasks_blocked()
        # Of the next match; how this one ended is yet to be told.
        at = await first.call("position", token=mine)
        assert at.told["match"] != before.told["match"]
        if not at.text.startswith("It is your move"):
            await second.call("wait", token=other)
            await second.call("move", move=0, token=other)
            await first.call("position", token=mine)
        moved = await first.call("move", move=3, token=mine)
        assert (moved.told["type"], moved.told["match"]) == ("turn", at.told["match"])
        resigned = await first.call("resign", token=mine)
        assert (resigned.told["type"], resigned.told["match"]) == ("end", at.told["match"])
        assert (await first.call("wait", token=mine)).told == before.told


async def test_whoever_has_the_token_goes_on_elsewhere_and_comes_back(autojump_clock: MockClock) -> None:
    async with playing() as (host, first, _):
        mine = await token_of(first, host)
        who = ANN if mine == ANN["token"] else BOB
        elsewhere = await host.arrive(who["name"], who["game"], token=mine)
        gone = await first.call("position", token=mine)
        assert "somebody with the same token has taken over" in gone.told["reason"]
        assert (await first.call("join", **who)).told["type"] == "welcome"
        assert not elsewhere.current
        assert (await first.call("position", token=mine)).told["type"] == "turn"


async def test_a_model_that_is_taken_out_is_told_so(autojump_clock: MockClock) -> None:
    async with playing() as (host, first, second):
        mine = await token_of(first, host)
        name = next(who["name"] for who in (ANN, BOB) if who["token"] == mine)
        (table,) = host.tournaments.values()
        other = next(who["token"] for who in (ANN, BOB) if who["token"] != mine)
        await Desk(table).withdraw(name)
        await trio.testing.wait_all_tasks_blocked()
        why = f"{name} was withdrawn from {table.record.name}: ask its organiser why"
        for client, token in ((first, mine), (second, other)):
            assert (await client.call("wait", seconds=1, token=token)).told["type"] == "end"
        assert (await first.call("wait", seconds=1, token=mine)).told["reason"].startswith(f"{why}. To")
        again = next(who for who in (ANN, BOB) if who["token"] == mine)
        assert (await first.call("join", **again)).told == {"type": "refused", "reason": why}


async def test_a_model_whose_tournament_is_over_does_not_wait_for_more_and_may_join_elsewhere(
    autojump_clock: MockClock,
) -> None:
    """Catches a model that is told for ever to wait, and that `join` leads to what is over."""
    cup = {"tournament": "cup", "game": ANN["game"], "format": "round-robin", "entrants": "2"}
    over = "cup is over, and you get no more matches there. Call join to play elsewhere, or leave."
    async with playing(**cup) as (host, first, _):
        mine = await token_of(first, host)
        who = next(who for who in (ANN, BOB) if who["token"] == mine)
        assert (await first.call("resign", token=mine)).told["type"] == "end"
        standings = await first.call("wait", token=mine)
        assert (standings.told["type"], standings.text.splitlines()[-1]) == ("standings", over)
        before = trio.current_time()
        nothing = await first.call("wait", token=mine)
        assert (nothing.told, nothing.text) == ({"type": "waiting"}, over)
        assert trio.current_time() == before
        assert (await first.call("join", **who)).told["tournament"] is None
        assert (await first.call("wait", seconds=1, token=mine)).text.startswith("Nothing yet")


async def test_a_model_that_joins_again_gets_what_it_asks_for_then(autojump_clock: MockClock) -> None:
    """Catches a second `join` that is answered as if all was well, and whose wishes are forgotten."""
    async with served() as (host, connect):
        client = Client(await connect())
        joined = await client.call("join", **ANN)
        assert (await client.call("wait", seconds=1, token=ANN["token"])).told == {"type": "waiting"}
        assert (await client.call("join", **ANN)).told == joined.told
        assert (await client.call("join", **ANN, against="random")).told == joined.told
        assert (await client.call("wait", token=ANN["token"])).told["type"] == "turn"
        assert (await client.call("join", **ANN, against="random")).told == joined.told
        other = await client.call("join", **ANN, against="greedy")
        assert other.told["reason"] == "you are playing match open-connect-4-1: end it or resign it first"
        await client.call("join", **BOB)
        await host.open("cup", Opened("connect-4", "round-robin"))
        assert (await client.call("join", **BOB, tournament="nowhere")).told["type"] == "refused"
        assert (await client.call("join", **BOB, tournament="open-connect-4")).told["tournament"] is None
        assert (await client.call("join", **BOB, tournament="cup")).told["tournament"] == "cup"
        assert (await client.call("join", **BOB)).told["tournament"] == "cup"
        other = await client.call("join", **BOB, against="random")
        assert other.told["reason"] == "you are in cup: leave first to play elsewhere"
        await client.call("leave", token=BOB["token"])
        assert (await client.call("join", **BOB, against="random")).told["tournament"] is None
        await client.close()


async def test_whoever_joins_again_for_something_else_is_still_told_how_its_match_ended(
    autojump_clock: MockClock,
) -> None:
    async with served() as (_, connect):
        ann, bob = Client(await connect()), Client(await connect())
        await ann.call("join", **ANN)
        await bob.call("join", **BOB)
        await ann.call("wait", seconds=1, token=ANN["token"])
        await bob.call("leave", token=BOB["token"])
        assert (await ann.call("join", **ANN, against="greedy")).told["type"] == "welcome"
        told = await ann.call("wait", token=ANN["token"])
        assert (told.told["type"], told.told["why"]) == ("end", "bob left before both had moved")
        assert (await ann.call("wait", token=ANN["token"])).told["type"] == "turn"
        await ann.close()
        await bob.close()


async def test_whoever_joins_again_and_is_refused_is_not_told_that_somebody_has_its_token(
    autojump_clock: MockClock,
) -> None:
    async with connected() as client:
        await client.call("join", **ANN)
        assert (await client.call("join", **ANN, against="ann")).told["type"] == "refused"
        told = await client.call("wait", token=ANN["token"])
        assert told.told["reason"].startswith(
            "your last join was refused, and you are in no longer. To come back"
        )
        assert (await client.call("join", **ANN)).told["type"] == "welcome"


async def test_whoever_joins_again_for_something_else_needs_no_more_room(autojump_clock: MockClock) -> None:
    """Catches "let some leave" of one that takes its own place, where no more may come from an address."""
    async with served(limits=Limits(connections_per_address=1, sessions=1)) as (_, connect):
        client = Client(await connect())
        await client.call("join", **ANN)
        assert (await client.call("join", **ANN, against="greedy")).told["type"] == "welcome"
        assert (await client.call("wait", token=ANN["token"])).told["type"] == "turn"
        await client.close()


async def test_one_token_is_for_one_name_at_a_time(autojump_clock: MockClock) -> None:
    async with connected() as client:
        await client.call("join", **ANN)
        other = await client.call("join", name="bob", game="connect-4", token=ANN["token"])
        assert "this token is that of ann" in other.told["reason"]
        assert (await client.call("leave", token=ANN["token"])).told == {"type": "bye"}
        assert (await client.call("join", **(BOB | {"token": ANN["token"]}))).told["name"] == "bob"


async def test_a_model_that_is_silent_for_too_long_is_gone(autojump_clock: MockClock) -> None:
    async with served() as (host, connect):
        client = Client(await connect())
        await client.call("join", **ANN)
        await client.close()
        await trio.sleep(host.limits.model_seconds - 5)
        assert [player.present for player in host.lobby.players()] == [False], "nothing is dealt to it"
        client = Client(await connect())
        assert (await client.call("wait", seconds=1, token=ANN["token"])).told == {"type": "waiting"}
        assert [player.present for player in host.lobby.players()] == [True]
        await client.close()
        await trio.sleep(host.limits.model_seconds + 5)
        client = Client(await connect())
        gone = await client.call("wait", token=ANN["token"])
        assert "nobody plays with this token" in gone.told["reason"]
        await client.close()


@pytest.mark.parametrize("played", [False, True], ids=["alone", "in a match"])
async def test_a_model_whose_token_was_lost_on_the_way_may_join_again(
    played: bool, autojump_clock: MockClock
) -> None:
    """Catches one that is kept out of its tournament for ten minutes: its name is taken, by itself."""
    cup = {"tournament": "cup", "game": ANN["game"], "format": "round-robin", "entrants": "2"}
    async with served(**cup) as (host, connect):
        client, bob = Client(await connect()), Client(await connect())
        ann = {key: ANN[key] for key in ("name", "game")}
        lost = (await client.call("join", **ann)).told["token"]
        if played:
            await bob.call("join", **BOB)
            assert (await bob.call("wait", seconds=1, token=BOB["token"])).told["type"] != "refused"
        assert "is taken" in (await client.call("join", **ann)).told["reason"], "its model may be thinking"
        await trio.sleep(host.limits.session_begin_seconds)
        found = (await client.call("join", **ann)).told
        assert (found["type"], found["tournament"]) == ("welcome", "cup")
        assert found["token"] != lost
        assert "nobody plays with this token" in (await client.call("wait", token=lost)).told["reason"]
        await client.call("wait", seconds=1, token=found["token"])
        await trio.sleep(host.limits.session_begin_seconds)
        assert "is taken" in (await client.call("join", **ann)).told["reason"], "its model has called with it"
        await client.close()
        await bob.close()


@pytest.mark.parametrize("tool", ["wait", "position"])
async def test_whoever_has_its_token_keeps_its_name_however_long_it_thinks(
    tool: str, autojump_clock: MockClock
) -> None:
    async with served() as (host, connect):
        client = Client(await connect())
        ann = {key: ANN[key] for key in ("name", "game")}
        token = (await client.call("join", **ann)).told["token"]
        await client.call(tool, token=token)
        await client.call("join", **BOB)
        await trio.sleep(3 * host.limits.session_begin_seconds)
        for name in ("ann", "bob"):
            refused = await client.call("join", name=name, game=ANN["game"])
            assert "is taken" in refused.told["reason"]
        await client.close()


async def test_there_are_no_more_models_than_the_limit(autojump_clock: MockClock) -> None:
    async with connected(Limits(sessions=1)) as client:
        await client.call("join", **ANN)
        assert "too many are here" in (await client.call("join", **BOB)).told["reason"]
        await client.call("leave", token=ANN["token"])
        assert (await client.call("join", **BOB)).told["type"] == "welcome"


async def test_however_many_models_are_gone_at_once_others_get_their_turn(autojump_clock: MockClock) -> None:
    """Catches a look at all of them in one step: where 1,800 models had gone, moves waited for 36 ms."""
    limits = Limits(model_seconds=3.0, connections_per_address=1000)
    async with served(limits) as (host, connect):
        client = Client(await connect())
        for number in range(5 * AT_A_TIME):
            await client.call("join", name=f"model-{number}", game=ANN["game"], against="nobody")
        left = [5 * AT_A_TIME]
        for _ in range(5):
            await trio.sleep(SWEEP)
            for _ in range(20):
                left.append(sum(player.present for player in host.lobby.players()))
                await trio.lowlevel.checkpoint()
        assert left[-1] == 0
        assert max(before - after for before, after in pairwise(left)) <= 2 * AT_A_TIME
        await client.close()


async def test_a_model_is_not_silent_while_the_host_stands_still(autojump_clock: MockClock) -> None:
    async with served() as (host, connect):
        client = Client(await connect())
        await client.call("join", **ANN)
        await client.close()
        await trio.sleep(host.limits.model_seconds - 5)
        autojump_clock.jump(60.0)
        await trio.testing.wait_all_tasks_blocked()
        client = Client(await connect())
        assert (await client.call("wait", seconds=1, token=ANN["token"])).told == {"type": "waiting"}
        await client.close()


async def test_there_is_a_place_as_soon_however_many_models_are_here(autojump_clock: MockClock) -> None:
    """Catches looks at all of them for each join, also for one that is refused: 11 ms with 4,000."""
    cost: list[int] = []
    for many in (20, 200):
        limits, holds = Limits(sessions=many + 2, connections_per_address=many + 2), Holds()
        async with hosting({}, limits) as (host, _), serving(holds) as server:
            await server.connect().end.send_all(post(b""))
            await trio.testing.wait_all_tasks_blocked()
            places, (exchange,) = Places(host), holds.exchanges
            for _ in range(many):
                places.make(exchange)

            def once(places: Places = places, exchange: Exchange = exchange) -> None:
                places.give_back(ANN["name"], ANN["game"], exchange)
                places.forget(places.make(exchange))

            once()
            cost.append(steps_taken(once))
    assert cost[0] == cost[1]


async def test_where_models_are_too_many_one_that_is_silent_at_the_open_table_makes_way(
    autojump_clock: MockClock,
) -> None:
    """Catches strangers who join once each, say nothing more, and keep everybody out for ten minutes."""
    async with served(Limits(sessions=1)) as (host, connect):
        client = Client(await connect())
        await client.call("join", **ANN)
        await trio.sleep(host.limits.ghost_seconds + 2)
        assert (await client.call("join", **BOB)).told["type"] == "welcome"
        gone = await client.call("wait", token=ANN["token"])
        assert "nobody plays with this token" in gone.told["reason"]
        await client.close()


async def test_a_model_in_a_tournament_makes_way_for_nobody(autojump_clock: MockClock) -> None:
    cup = {"tournament": "cup", "game": ANN["game"], "format": "round-robin", "entrants": "2"}
    async with served(Limits(sessions=1), **cup) as (host, connect):
        client = Client(await connect())
        await client.call("join", **ANN)
        await trio.sleep(host.limits.ghost_seconds + 2)
        assert "too many are here" in (await client.call("join", **BOB)).told["reason"]
        await client.close()


async def test_the_games_the_tournaments_and_standings_are_told_to_anybody(autojump_clock: MockClock) -> None:
    settings = {"tournament": "cup", "game": "connect-4", "format": "swiss", "entrants": "4"}
    async with hosting(settings) as (host, nursery):
        client = Client(await (await memory(host, nursery))["http"]())
        assert "connect-4" in (await client.call("games")).text
        (listed,) = (await client.call("tournaments")).told["tournaments"]
        assert (listed["tournament"], listed["state"], listed["wanted"]) == ("cup", "registering", 4)
        assert (
            "registering, 0 of 4 entrants\n"
            in (await client.call("tournaments", token="of-nobody-here")).text
        )
        await client.call("join", **ANN)
        assert "registering, 1 of 4 entrants\n" in (await client.call("tournaments")).text
        await host.open("club", Opened("connect-4", "swiss", by_invitation=True))
        assert "registering, 0 entrants, by invitation\n" in (await client.call("tournaments")).text
        standings = await client.call("standings", tournament="cup")
        assert (standings.told["type"], standings.told["final"]) == ("standings", False)
        assert [row["name"] for row in standings.told["rows"]] == ["ann"]
        await Desk(host.tournaments["cup"]).withdraw("ann")
        assert (
            "cup: connect-4, swiss, registering, 0 of 4 entrants\n" in (await client.call("tournaments")).text
        )
        nobody = (await client.call("standings", tournament="open-quoridor")).told
        assert (nobody["type"], nobody["tournament"], nobody["rows"]) == ("standings", "open-quoridor", [])
        await client.close()


async def test_only_the_tournaments_that_are_told_are_looked_at(autojump_clock: MockClock) -> None:
    """Catches a look at thousands whenever anybody asks: no move is played meanwhile."""
    steps: list[int] = []
    for many in (2 * LISTED, 10 * LISTED):
        async with hosting({}) as (host, _):
            for number in range(many):
                record = Record(f"cup-{number}", Opened("connect-4", "round-robin"))
                record.add(Turned(State.RUNNING))
                host.hold(record)
            for number in range(many):  # later ones, that are over
                record = Record(f"cap-{number}", Opened("connect-4", "round-robin"))
                record.add(Turned(State.FINISHED))
                host.hold(record)
            told = [each["tournament"] for each in latest(host)]
            steps.append(steps_taken(lambda host=host: latest(host)))
        assert told == [f"cup-{number}" for number in range(many - LISTED, many)]
    assert steps[1] == steps[0]


async def test_games_and_tournaments_are_told_as_the_api_tells_them(autojump_clock: MockClock) -> None:
    """Catches a field that one of the two has under another name, or only one has of a game."""
    when = datetime(2100, 3, 1, 18, tzinfo=UTC).timestamp()
    async with hosting({}) as (host, nursery):
        opened = Opened("connect-4", "swiss", pace=Pace(turn=300.0), start_at=when, group="all")
        await host.open("cup", opened)
        client = Client(await (await memory(host, nursery))["http"]())
        games = (await client.call("games", token="a-token-of-nobody-here")).told
        told = await client.call("tournaments", token="a-token-of-nobody-here")
        await client.close()
        async with serving(routed((Api(host, "a-token"),))) as server:
            office = Office(host, nursery, server)
            assert await office.read("/api/games") == games
            everything = (await office.read("/api/tournaments"))["tournaments"]
    (listed,) = (each for each in everything if each["tournament"] == "cup")
    (found,) = told.told["tournaments"]
    assert found == {key: listed[key] for key in found}
    assert {"tournament", "pace", "start_at", "checking_in", "options"} <= found.keys()
    assert "0 entrants, begins at 2100-03-01T18:00:00.000Z\n" in told.text


async def test_a_model_that_has_not_come_to_its_match_is_dealt_no_other_until_it_calls(
    autojump_clock: MockClock,
) -> None:
    """Catches one that is gone for good and binds an honest bot again and again, for ten minutes."""
    async with served() as (host, connect):
        ann, bob = Client(await connect()), Client(await connect())
        await ann.call("join", **ANN)
        await bob.call("join", **BOB)
        ended: list[str] = []
        for _ in range(20):
            told = (await bob.call("wait", seconds=1, token=BOB["token"])).told
            ended += [told["why"]] if told["type"] == "end" else []
            await trio.sleep(1.0)
        assert ended == ["ann left before both had moved"]
        (table,) = host.tournaments.values()
        assert not table.matches
        await ann.call("wait", seconds=1, token=ANN["token"])
        await bob.call("wait", seconds=1, token=BOB["token"])
        assert len(table.matches) == 1, "she is heard again"
        await ann.close()
        await bob.close()


async def test_a_model_that_is_silent_is_missed_also_when_none_was_there_before(
    autojump_clock: MockClock,
) -> None:
    async with served() as (host, connect):
        for who in (ANN, BOB):
            client = Client(await connect())
            await client.call("join", **who)
            assert host.here("open-connect-4").names == (who["name"],)
            await client.close()
            await trio.sleep(1000.0)
            assert host.here("open-connect-4").names == ()
