"""A bot that plays and looks over one connection, at a host with workers: whoever answers, it is answered."""

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


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Served]:
    with holding(tmp_path) as served:
        yield served


def test_what_is_asked_of_a_tournament_between_messages_to_it_is_answered(host: Served) -> None:
    """Catches a worker that takes all about its tournaments for its own, and finds nothing to read there."""
    for cup in CUPS:
        connection = http.client.HTTPConnection("127.0.0.1", host.http, timeout=HANG)

        def ask(method: str, path: str, *, body: Any = None, accept: str = "*/*") -> tuple[int, str, bytes]:
            connection.request(method, path, body and json.dumps(body), {"Accept": accept})  # noqa: B023
            answer = connection.getresponse()  # noqa: B023
            return answer.status, answer.headers["Content-Type"], answer.read()

        hello = {"type": "hello", "name": f"in-{cup}", "game": GAME, "tournament": cup}
        status, _, welcome = ask("POST", "/play", body=hello)
        assert status == 201
        session = f"/play/{json.loads(welcome)['session']}"
        for path in (f"/api/tournaments/{cup}", f"/api/tournaments/{cup}/standings"):
            assert ask("GET", f"{session}?after=0")[0] == 200
            status, kind, _ = ask("GET", path)
            assert (status, kind) == (200, "application/json; charset=utf-8")
        assert ask("POST", session, body={"type": "bye"})[0] == 200
        connection.close()
