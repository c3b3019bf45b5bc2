"""A client that a generator makes from `/openapi.json` works, and holds a tournament."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.hang import HANG
from tests.server.served import Served

pytestmark = pytest.mark.slow

PACKAGE = "generated_quintain_client"
UNREAD = {"x-ndjson", "atom+xml", "event-stream"}  # media types that the generator has no reader for


@pytest.fixture
def client(serve: Callable[..., Served], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The client, with the organiser's token; and whatever the generator has passed over is no JSON."""
    host = serve()
    status, document = host.get("/openapi.json")
    assert status == 200
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / "generator.yml").write_text("post_hooks: []\n")
    places = ("--path", tmp_path / "openapi.json", "--config", tmp_path / "generator.yml")
    generate = [sys.executable, "-m", "openapi_python_client", "generate", *places, "--meta", "none"]
    generate += ["--output-path", tmp_path / PACKAGE]
    done = subprocess.run(generate, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    passed_over = re.findall(r"Unsupported content_type \w+/(\S+)\)", done.stdout)
    assert done.stdout.count("WARNING") == len(passed_over), done.stdout
    assert set(passed_over) <= UNREAD
    monkeypatch.syspath_prepend(tmp_path)
    token = (host.data / "organiser-token").read_text().strip()
    made = import_module(PACKAGE).AuthenticatedClient(f"http://127.0.0.1:{host.http}", token)
    with made as entered:
        yield entered, host
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


def call(operation: str) -> Any:
    """The function of that name, as the generator names it: by the method and the path."""
    return import_module(f"{PACKAGE}.api.default.{operation}").sync


def model(name: str) -> Any:
    return getattr(import_module(f"{PACKAGE}.models"), name)


def test_a_generated_client_holds_a_tournament(client: tuple[Any, Served]) -> None:
    organiser, host = client
    tables = call("get_api_tournaments")(client=organiser).tournaments
    assert [(table.format_, table.state.value) for table in tables] == [("open", "running")] * 5
    settings = model("TournamentSettings")(name="cup", game="quoridor", entrants=2)
    opened = call("post_api_tournaments")(client=organiser, body=settings)
    assert (opened.tournament, opened.state.value, opened.wanted) == ("cup", "registering", 2)
    assert call("get_api_tournaments")(client=organiser).tournaments == [opened, *tables]
    again = call("post_api_tournaments")(client=organiser, body=settings)
    assert isinstance(again, model("Error"))
    assert "cup" in again.error

    ann = model("InviteOrder")(name="ann")
    invited = call("post_api_tournaments_name_invite")("cup", client=organiser, body=ann)
    tokens = {"ann": invited.token, "bob": None}
    ends = {}
    for name, token in tokens.items():
        ends[name] = socket.create_connection(("127.0.0.1", host.tcp), HANG)
        hello = {"type": "hello", "name": name, "game": "quoridor", "token": token, "tournament": "cup"}
        ends[name].sendall(json.dumps(hello).encode() + b"\n")
    with closing(ends["ann"]), closing(ends["bob"]), ends["ann"].makefile("r") as said:
        next(line for line in said if '"turn"' in line)
        ends["ann"].sendall(b'{"type":"resign"}\n')
        next(line for line in said if '"standings"' in line)

    standings = call("get_api_tournaments_name_standings")("cup", client=organiser)
    assert [(row.rank, row.name, row.points, row.wins) for row in standings.rows] == [
        (1, "bob", 1.0, 1),
        (2, "ann", 0.0, 0),
    ]
    (match,) = call("get_api_tournaments_name_matches")("cup", client=organiser).matches
    whole = call("get_api_matches_match")(match.match, client=organiser)
    assert (whole.ending.value, whole.why, whole.moves) == ("resigned", "ann resigned", [])
    eve = model("EnterOrder")(name="eve")
    late = call("post_api_tournaments_name_enter")("cup", client=organiser, body=eve)
    assert isinstance(late, model("Error"))
