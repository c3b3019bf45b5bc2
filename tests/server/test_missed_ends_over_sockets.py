"""An end that bots have missed, as real bots meet it: over every transport, after a kill, with workers."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.host.opening import OPEN
from tests.hang import wait_for
from tests.server.served import Served
from tests.server.test_matrix import TRANSPORTS, Talk, open_tournament
from tests.server.workers.test_spread_processes import workers

pytestmark = pytest.mark.slow

GAMES = ("connect-4", "santorini")  # two tournaments are held by two workers, and so are two tables
TOKENS = {name: f"{name}-keeps-this-secret" for name in ("ann", "bob")}
PASSED_ON = pytest.mark.skipif(sys.platform != "linux", reason="only there connections are passed on")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[list[Served]]:
    """The hosts that were started, of which the last may still run."""
    hosts: list[Served] = []
    yield hosts
    for host in hosts:
        host.kill()


def say_hello(talk: Talk, name: str, game: str) -> str | None:
    """The tournament to which a bot is welcomed that names none."""
    talk.say({"type": "hello", "name": name, "game": game, "token": TOKENS[name]})
    return hear(talk, "welcome")


def sits_at_the_table(talk: Talk, name: str, game: str) -> None:
    """It has heard of the end. So that it plays no match there, it leaves at once."""
    assert say_hello(talk, name, game) is None
    talk.say({"type": "bye"})
    talk.close()


def hear(talk: Talk, kind: str) -> str | None:
    while (told := talk.hear())["type"] != kind:
        assert told["type"] in ("begin", "turn", "end"), told
    return told.get("tournament")


@pytest.mark.parametrize(
    ("transport", "workers"),
    [("tcp", 1), pytest.param("websocket", 2, marks=PASSED_ON), pytest.param("http", 2, marks=PASSED_ON)],
)
def test_a_bot_that_missed_the_end_is_told_it_first_before_and_after_a_kill(
    transport: str, workers: int, tmp_path: Path, served: list[Served]
) -> None:
    flags = ("--workers", str(workers), "--show", "1") if workers > 1 else ()

    def start() -> Served:
        served.append(Served(tmp_path, *flags))
        return served[-1]

    host = start()
    connect = TRANSPORTS[transport]
    for game in GAMES:
        open_tournament(host, f"cup-{game}", game)
    for game in GAMES:
        ann, bob = connect(host), TRANSPORTS["tcp"](host)
        assert (say_hello(ann, "ann", game), say_hello(bob, "bob", game)) == (f"cup-{game}", f"cup-{game}")
        hear(ann, "begin")
        ann.close()
        bob.say({"type": "resign"})
        assert hear(bob, "standings") == f"cup-{game}"
        sits_at_the_table(bob, "bob", game)
        sits_at_the_table(connect(host), "bob", game)
    for game in GAMES:
        ann = connect(host)
        assert (say_hello(ann, "ann", game), hear(ann, "standings")) == (f"cup-{game}", f"cup-{game}")
        if transport == "http":
            ann.close()
            ann = connect(host)
        sits_at_the_table(ann, "ann", game)
        sits_at_the_table(connect(host), "ann", game)
        wait_for(lambda name=OPEN + game: host.get(f"/api/tournaments/{name}")[0] == 200, "the open table")
    host.kill()
    host = start()
    for game in GAMES:
        bob = connect(host)
        assert (say_hello(bob, "bob", game), hear(bob, "standings")) == (f"cup-{game}", f"cup-{game}")
        bob.close()
        sits_at_the_table(connect(host), "bob", game)


@PASSED_ON
def test_whoever_has_heard_of_the_end_does_not_hear_it_again_when_a_worker_was_killed(
    tmp_path: Path, served: list[Served]
) -> None:
    """Of two workers, the one that is killed has the open table, and then the tournament as well."""
    served.append(host := Served(tmp_path, "--workers", "2", "--show", "1"))
    connect, (game, other) = TRANSPORTS["tcp"], GAMES
    sits_at_the_table(connect(host), "ann", game)
    open_tournament(host, "other", other)
    elsewhere = [connect(host) for _ in TOKENS]
    for talk, name in zip(elsewhere, TOKENS, strict=True):
        assert say_hello(talk, name, other) == "other"
    hear(elsewhere[0], "begin")
    open_tournament(host, "cup", game)
    ann, bob = connect(host), connect(host)
    assert (say_hello(ann, "ann", game), say_hello(bob, "bob", game)) == ("cup", "cup")
    hear(bob, "begin")
    bob.say({"type": "resign"})
    assert hear(bob, "standings") == hear(ann, "standings") == "cup"
    sits_at_the_table(bob, "bob", game)
    (worker,) = workers(host)
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(ValueError, match="Expecting value"):  # there is nothing more: the worker is gone
        ann.hear()
    for talk in (ann, *elsewhere):
        talk.close()
    sits_at_the_table(connect(host), "bob", game)
