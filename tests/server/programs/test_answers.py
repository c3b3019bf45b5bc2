"""Whatever else answers in the place of a host, commands say so in one sentence."""

import copy
import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from select import select
from typing import Any

import pytest

from server.commands import admin_link, results, tournament, tournament_entrants
from server.commands.hosts import DeskOptions, HostOptions
from server.exits import Failure
from server.programs import api_client
from server.programs.api_client import Remote
from tests.hang import HANG

JUNK: Sequence[Any] = (None, "x", -0.5, True, [], {}, [None], {"x": 1}, 10**30, "\u202ex\x1b[31m")

COURSE = {
    "tournament": "cup",
    "game": "connect-4",
    "format": "swiss",
    "state": "registering",
    "frozen": False,
}
SUMMARY = COURSE | {"wanted": None, "played": 0, "open": 3, "entrants": 2}
WHOLE = SUMMARY | {
    "entrants": [{"name": "ann", "gone": False, "affiliation": "ETH", "contact": "ann@x"}],
    "playing": ["cup-1"],
    "eta": 3.5,
    "group": "cups",
    "by_invitation": False,
    "start_at": None,
    "rounds_at": None,
    "next_round": {"round": 2, "at": "2030-03-01T18:00:00Z"},
    "checking_in": {"from": "2030-03-01T18:00:00Z", "missing": ["bob"]},
    "missing": [{"name": "bob", "since": "2030-03-01T18:00:00Z"}],
    "deciding": {"said": ["ann is the best"]},
    "next": None,
}
ROW = {"rank": 1, "name": "ann", "points": 1.5, "played": 2, "wins": 1, "draws": 1, "losses": 0}
ROW |= {"rating": 12.5, "interval": [-3.0, 30.0], "out": "", "affiliation": "ETH"}
MATCH = {
    "match": "cup-1",
    "game": "connect-4",
    "players": ["ann", "bob"],
    "options": {},
    "moves": [3],
    "times": [0.5],
    "winner": 0,
    "ending": "time",
    "why": "bob ran out of time",
    "ended": "2030-03-01T18:00:00Z",
    "fault": "bot",
    "cause": [
        {"kind": "refused", "at": "18:00", "ply": 0, "seat": 0, "sent": "9", "why": "not open"},
        {"kind": "credited", "at": "18:00", "ply": 0, "seconds": 1.5},
        {"kind": "late", "at": "18:00", "ply": 1, "seat": 1, "deadline": 5.0},
    ],
}

# What is asked of a host, and the answer that it gives.
ASKED: dict[str, tuple[Callable[[HostOptions, DeskOptions], int], dict[str, Any]]] = {
    "list": (
        lambda host, desk: tournament.list_all(host=host),
        {"tournaments": [SUMMARY], "next": None},
    ),
    "show": (lambda host, desk: tournament.show("cup", host=host), WHOLE),
    "standings": (
        lambda host, desk: results.standings("cup", host=host),
        COURSE | {"rows": [ROW], "said": ["so it is"], "next": None},
    ),
    "replay": (lambda host, desk: results.replay("cup-1", host=host), MATCH),
    "start": (lambda host, desk: tournament.start("cup", desk=desk), SUMMARY),
    "withdraw": (
        lambda host, desk: tournament_entrants.withdraw("cup", "ann", preview=True, desk=desk),
        {"before": [ROW], "after": [ROW]},
    ),
    "invite": (lambda host, desk: tournament_entrants.invite("cup", "ann", desk=desk), {"token": "t"}),
    "admin-link": (lambda host, desk: admin_link.admin_link(desk=desk), {"path": "/desk"}),
}


def spoilt(answer: Any) -> Iterator[Any]:
    """The answer with something else in the place of each of its parts."""
    yield from JUNK
    parts: list[Any] = [*answer.items()] if isinstance(answer, dict) else [*enumerate(answer)]
    for key, value in parts:
        for other in spoilt(value) if isinstance(value, dict | list) else JUNK:
            whole = copy.copy(answer)
            whole[key] = other
            yield whole


@contextmanager
def saying() -> Generator[tuple[str, list[bytes]]]:
    """The address of something that answers whatever it is asked, and a list of one: with what."""
    bodies = [b""]

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(HANG)
                with connection.makefile("rb") as request:  # all of it, or what is sent next may be lost
                    head = [*iter(request.readline, b"\r\n")]
                    sizes = [line.split()[1] for line in head if line.lower().startswith(b"content-length")]
                    request.read(int(sizes[0]) if sizes else 0)
                if not bodies[0]:
                    return
                with suppress(OSError):  # whoever has asked takes no more
                    connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + bodies[0])

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        where = listener.getsockname()
        try:
            yield f"http://127.0.0.1:{where[1]}", bodies
        finally:
            bodies[0] = b""
            with socket.create_connection(where) as last:
                last.sendall(b"the end\r\n\r\n")
            thread.join(HANG)


@pytest.mark.parametrize("command", ASKED)
def test_no_part_of_an_answer_is_taken_for_what_it_is_not(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches tracebacks of commands that were led to another program's API, with `"rows": null` perhaps."""
    ask, answer = ASKED[command]
    with saying() as (url, bodies):
        host, desk = HostOptions(url), DeskOptions(url, token="a token")
        bodies[0] = json.dumps(answer).encode()
        assert ask(host, desk) == 0
        for other in spoilt(answer):
            bodies[0] = json.dumps(other).encode()
            with suppress(Failure):
                ask(host, desk)
    capsys.readouterr()


@pytest.mark.parametrize("following", [0, -5, 1, 7])
def test_a_list_that_has_no_end_is_none_of_a_host(following: int) -> None:
    """Catches a command that asks for the next page until its memory is full."""
    with saying() as (url, bodies):
        bodies[0] = json.dumps({"tournaments": [SUMMARY], "next": following}).encode()
        with pytest.raises(Failure, match="is not a Quintain host: its tournaments"):
            Remote(url).whole("tournaments", "tournaments")


def test_no_answer_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_client, "LARGEST", 1000)
    with saying() as (url, bodies):
        bodies[0] = json.dumps({"tournaments": [SUMMARY] * 10, "next": None}).encode()
        with pytest.raises(Failure, match="has more than 1,000 bytes"):
            Remote(url).whole("tournaments", "tournaments")


def test_an_answer_may_take_as_long_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a report of ten million bytes that is no host's because it came over a slow line."""
    monkeypatch.setattr(api_client, "WHOLE_WITHIN", 0.0)
    with saying() as (url, bodies):
        bodies[0] = json.dumps({"tournaments": [SUMMARY] * 1000, "next": None}).encode()
        assert len(Remote(url).get("tournaments")["tournaments"]) == 1000
        monkeypatch.setattr(api_client, "SLOWEST", inf)
        with pytest.raises(Failure, match="comes too slowly"):
            Remote(url).get("tournaments")


@pytest.mark.parametrize("written", ["NaN", "Infinity", "1e999", '"\\ud800"', '"\xff"'])
def test_what_json_does_not_have_is_none_of_a_host(written: str) -> None:
    with saying() as (url, bodies):
        bodies[0] = f'{{"games":{written}}}'.encode("latin-1")
        with pytest.raises(Failure, match="is not a Quintain host"):
            Remote(url).get("games")


@pytest.mark.parametrize("said", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_head_that_has_no_end_is_no_answer(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a command that waits for ever, because something says something again and again."""
    monkeypatch.setattr(api_client, "TIMEOUT", 0.5)

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.settimeout(HANG)
            rest = said
            while True:
                connection.sendall(rest)
                if not said.endswith(b"\n\r\n"):
                    rest = b"x"
                select([connection], [], [], 0.01)
                if select([connection], [], [], 0)[0] and not connection.recv(65536):
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(Failure, match=r"no host answers at .*: timed out"):
            Remote(f"http://127.0.0.1:{listener.getsockname()[1]}").get("games")
        thread.join(HANG)
