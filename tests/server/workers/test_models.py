"""A language model at a host with workers: its session leads to where it plays, whatever else it tries."""

import http.client
import json
import sys
from collections.abc import Iterator
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
    """Each of its requests comes over a connection of its own."""

    def __init__(self, host: Served) -> None:
        self._host = host
        self._headers = {"MCP-Protocol-Version": REVISION}
        about = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        self._headers["Mcp-Session-Id"] = self._ask("initialize", about)[0]["mcp-session-id"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        _, answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        return answer["result"]["structuredContent"]

    def _ask(self, method: str, params: Any) -> tuple[dict[str, str], Any]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        connection = http.client.HTTPConnection("127.0.0.1", self._host.http, timeout=HANG)
        connection.request("POST", "/mcp", body, self._headers)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}, json.loads(answer.read())
        connection.close()
        return found


def test_a_model_plays_where_it_has_joined_last_and_a_refusal_changes_nothing(host: Served) -> None:
    model = Model(host)
    for cup in CUPS:
        assert model.call("join", name=f"in-{cup}", game=GAME, tournament=cup)["tournament"] == cup
        for name, game in (("ann", "connect4"), ("far too long for a name" * 10, GAME)):
            assert model.call("join", name=name, game=game)["type"] == "refused"
            assert model.call("wait", seconds=0)["type"] == "waiting"
        assert model.call("leave")["type"] == "bye"
