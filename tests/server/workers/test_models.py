"""A language model at a host with workers: its session leads to where it plays, whatever else it tries."""

import http.client
import json
import sys
from collections.abc import Iterator
from contextlib import closing, nullcontext
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.hang import HANG
from tests.server.served import Served
from tests.server.workers.cups import CUPS, GAME, holding

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on"),
]

REVISION = "2025-11-25"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Served]:
    with holding(tmp_path) as served:
        yield served


class Model:
    """Each of its requests comes over a connection of its own, unless it is to talk `over` one."""

    def __init__(self, host: Served) -> None:
        self.over: http.client.HTTPConnection | None = None
        self._host = host
        self._headers = {"MCP-Protocol-Version": REVISION}
        about = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        self._headers["Mcp-Session-Id"] = self._ask("initialize", about)[0]["mcp-session-id"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self._call(tool, arguments)["structuredContent"]

    def say(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and return what the model reads."""
        return self._call(tool, arguments)["content"][0]["text"]

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        _, answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        return answer["result"]

    def _ask(self, method: str, params: Any) -> tuple[dict[str, str], Any]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        with closing(connected(self._host)) if self.over is None else nullcontext(self.over) as connection:
            connection.request("POST", "/mcp", body, self._headers)
            answer = connection.getresponse()
            return {name.lower(): value for name, value in answer.getheaders()}, json.loads(answer.read())


def connected(host: Served) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", host.http, timeout=HANG)


def test_a_model_plays_where_it_has_joined_last_and_a_refusal_changes_nothing(host: Served) -> None:
    model = Model(host)
    for cup in CUPS:
        assert model.call("join", name=f"in-{cup}", game=GAME, tournament=cup)["tournament"] == cup
        for name, game in (("ann", "connect4"), ("far too long for a name" * 10, GAME)):
            assert model.call("join", name=name, game=game)["type"] == "refused"
            assert model.call("wait", seconds=0)["type"] == "waiting"
        assert model.call("leave")["type"] == "bye"


def test_each_token_leads_over_one_connection_to_its_own_place(host: Served) -> None:
    """Catches workers that were lent the connection and answered for places which others have."""
    model = Model(host)
    with closing(connected(host)) as model.over:
        tokens = {
            cup: model.call("join", name=f"in-{cup}", game=GAME, tournament=cup)["token"] for cup in CUPS
        }
        for _ in range(2):
            for token in tokens.values():
                assert model.call("position", token=token)["type"] == "waiting"
        for cup, token in tokens.items():
            assert model.say("leave", token=token) == f"in-{cup} has left."


def test_a_session_leads_over_each_connection_to_where_its_model_has_joined_last(host: Served) -> None:
    """Catches workers that went on to answer for their own place over a connection that was lent to them."""
    for cups in permutations(CUPS, 2):
        model = Model(host)
        with closing(connected(host)) as earlier, closing(connected(host)) as later:
            for model.over, cup in zip((earlier, later), cups, strict=True):
                secret = f"in-{cup}-keeps-this-secret"
                model.call("join", name=f"in-{cup}", game=GAME, tournament=cup, token=secret)
                assert model.call("position")["type"] == "waiting"
            model.over = earlier
            assert model.say("leave") == f"in-{cups[1]} has left."
