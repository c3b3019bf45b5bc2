"""The commands that speak to a host, against a real one; and the demo."""

import json
import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from games.brains import BRAINS
from games.catalogue import catalogue
from games.game import Game
from server.commands.demo import MOVES, demo
from server.commands.play import play
from server.commands.results import listed
from server.exits import Failure
from server.programs.child import started
from server.programs.report import standings_table
from server.store.data_folder import TOKEN
from tests.effort import IS_CAMPAIGN
from tests.hang import HANG, is_alive, wait_for
from tests.ports import refusing
from tests.server.example_programs import GOOD, HEAD, command
from tests.server.forked import Forked
from tests.server.run import quintain
from tests.server.served import ROOT, Served

pytestmark = pytest.mark.slow

FALLS_ONCE = """    if turn['ply'] > 3 and not open('fallen', 'a+').tell():
        open('fallen', 'w').write('yes')
        sys.exit('what now?')
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("host"))
    yield served
    served.kill()


@pytest.fixture
def desk(host: Served) -> Callable[..., tuple[int, str, str]]:
    def ask(*words: str) -> tuple[int, str, str]:
        data = ("--data", str(host.data)) if words[0] == "tournament" and words[1] in CHANGING else ()
        # Elsewhere than in the checkout, where `make serve` may have left the token of another host.
        url = f"http://127.0.0.1:{host.http}"
        return quintain(*words, "--url", url, *data, folder=host.data, QUINTAIN_TOKEN="")

    return ask


CHANGING = {"create", "start", "pause", "resume", "enter", "release", "withdraw", "disqualify", "void"}
CHANGING |= {"delete", "end"}


@pytest.mark.slow
def test_from_an_empty_desk_to_the_standings_a_replay_and_a_second_thought(
    host: Served, desk: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """All of it by commands: two house bots and a program, over the three transports."""
    assert desk("tournament", "create", "cup", "--game", "connect-4", "--turn", "20", "--json")[0] == 0
    assert desk("tournament", "create", "cup", "--game", "connect-4")[0] == 1
    state = {"XDG_STATE_HOME": str(tmp_path)}
    common = ("--game", "connect-4", "--tournament", "cup", "--url")
    players = (
        ("bot", "greedy", *common, f"ws://127.0.0.1:{host.websocket}", "--think", "0"),
        ("bot", "random", *common, f"http://127.0.0.1:{host.http}", "--json"),
        (
            "play",
            "--bot",
            command(tmp_path, "good"),
            "--name",
            "good",
            *common,
            f"tcp://127.0.0.1:{host.tcp}",
        ),
    )
    ends: dict[int, tuple[int, str, str]] = {}
    threads = [
        threading.Thread(target=lambda n=n, words=words: ends.update({n: quintain(*words, **state)}))
        for n, words in enumerate(players)
    ]
    for thread in threads:
        thread.start()
    wait_for(lambda: ends or len(host.get("/api/tournaments/cup")[1]["entrants"]) == 3, "three bots")
    assert not ends
    assert len(json.loads(desk("tournament", "show", "cup", "--json")[1])["entrants"]) == 3
    assert "3" in desk("tournament", "start", "cup")[1]
    for thread in threads:
        thread.join(HANG)
    assert [ends[n][0] for n in range(3)] == [0, 0, 0], ends
    assert re.search(r"^house-greedy is connected to \S+: cup$", ends[0][1], re.MULTILINE)
    assert json.loads(ends[1][1].splitlines()[-1])["type"] == "standings"
    assert "cup: the final standings" in ends[2][1]

    standings: dict[str, Any] = json.loads(desk("standings", "cup", "--json")[1])
    assert standings["state"] == "finished"
    assert len(standings["rows"]) == 3
    _, table, _ = desk("standings", "cup")
    assert all(row["name"] in table for row in standings["rows"])
    assert desk("standings", "cup", "--csv")[1].startswith("rank,name,points")
    assert desk("standings", "cup", "--trf")[1].startswith("012 cup\n022 \n")
    assert "cup" in desk("tournament", "list")[1]

    code, replay, _ = desk("replay", "cup-1")
    assert code == 0
    found: dict[str, Any] = json.loads(desk("replay", "cup-1", "--json")[1])
    assert len(found["positions"]) == len(found["moves"]) + 1
    assert len(re.findall(r"^ +\d+ ", replay, re.MULTILINE)) == len(found["moves"])
    assert found["why"] in replay
    written = tmp_path / "cup-1.txt"
    written.write_text(desk("replay", "cup-1", "--text")[1])
    code, told, _ = quintain("import-match", str(written), "--json", **state)
    assert (code, json.loads(told)["moves"], json.loads(told)["findings"]) == (0, found["moves"], [])

    before = desk("standings", "cup", "--json")
    code, preview, _ = desk("tournament", "disqualify", "cup", "good", "--why", "a trial", "--preview")
    assert code == 0
    assert "new rank" in preview
    assert desk("standings", "cup", "--json") == before
    code, _, errors = desk("tournament", "void", "cup", "cup-9")
    assert (code, "no match 'cup-9'" in errors) == (1, True)
    code, exported, _ = desk("tournament", "export", "cup")
    assert code == 0
    assert {json.loads(line)["type"] for line in exported.splitlines()} >= {
        "tournament",
        "match",
        "standings",
    }


@pytest.mark.slow
def test_an_organiser_exports_what_came_after_a_freeze_too(host: Served, tmp_path: Path) -> None:
    url = ("--url", f"http://127.0.0.1:{host.http}")
    data, elsewhere = ("--data", str(host.data)), ("--data", str(tmp_path))
    token = (host.data / TOKEN).read_text().strip()
    for words in (
        ("create", "still", "--game", "connect-4"),
        ("freeze", "still"),
        ("invite", "still", "eve"),
    ):
        assert quintain("tournament", *words, *url, *data, QUINTAIN_TOKEN="")[0] == 0

    def exported(*words: str, environment: str = "") -> str:
        code, out, _ = quintain("tournament", "export", "still", *url, *words, QUINTAIN_TOKEN=environment)
        assert code == 0
        return out

    assert '"eve"' not in exported(*elsewhere)
    for words, environment in ((data, ""), ((*elsewhere, "--token", token), ""), (elsewhere, token)):
        assert '"eve"' in exported(*words, environment=environment)
    file = tmp_path / "still.jsonl"
    assert exported(*data, "--output", str(file)) == ""
    assert '"eve"' in file.read_text()
    assert file.stat().st_mode & 0o077 == 0, "it has what only the organiser should know"
    (tmp_path / TOKEN).write_text("an old one")
    for words, environment, origin in (
        (data, "a wrong one", "QUINTAIN_TOKEN"),
        ((*data, "--token", "a wrong one"), "", "--token"),
        (elsewhere, "", str(tmp_path / TOKEN)),
    ):
        code, out, errors = quintain(
            "tournament", "export", "still", *url, *words, QUINTAIN_TOKEN=environment
        )
        assert (code, out) == (1, "")
        assert f"a different one came; it was taken from {origin}" in errors
    code, *_ = quintain("tournament", "delete", "still", *url, *data)
    assert code == 0  # other bots here want no place in it


@pytest.mark.slow
def test_a_program_that_ends_loses_its_match_and_the_command_fails(host: Served, tmp_path: Path) -> None:
    where = ("--url", f"tcp://127.0.0.1:{host.tcp}", "--game", "connect-4")
    other = started(("bot", "first", *where, "--token", "first-has-a-token"), folder=str(tmp_path))
    try:
        words = ("play", "--bot", command(tmp_path, "crashing"), "--matches", "5", *where)
        code, out, errors = quintain(*words, XDG_STATE_HOME=str(tmp_path))
    finally:
        other.kill()
        other.wait()
    assert code == 1
    assert re.search(r"^crashing is connected to \S+: the open table$", out, re.MULTILINE)
    assert "ended with exit code 1" in errors


def test_a_program_that_cannot_run_is_told_of_before_any_host_hears_that_it_plays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches one that comes to its table all the same, and loses the first match that is dealt to it."""
    monkeypatch.setattr("server.commands.play.TRIAL", HANG)
    bot = shlex.join([sys.executable, "-c", "exit(3)"])
    with refusing() as port:
        assert play(game="connect-4", bot=bot, name="ann", url=f"tcp://127.0.0.1:{port}") == 1
    said = capsys.readouterr().err
    assert f"{bot} ended with exit code 3, before it was asked anything" in said
    assert "no host answers" not in said


@pytest.mark.slow
def test_a_program_that_is_restarted_goes_on_with_its_match_and_what_it_says_is_kept(
    host: Served, tmp_path: Path
) -> None:
    """It crashes once, in the middle; its match is played to the end, and every message is recorded."""
    (tmp_path / "bot.py").write_text(HEAD + FALLS_ONCE + GOOD)
    where = ("--url", f"tcp://127.0.0.1:{host.tcp}", "--game", "connect-4", "--matches", "1")
    other = started(("bot", "first", *where, "--token", "first-has-a-token"), folder=str(tmp_path))
    try:
        words = ("play", "--bot", f"{sys.executable} bot.py", *where, "--restart", "--record", "talk.jsonl")
        code, out, errors = quintain(*words, folder=tmp_path, XDG_STATE_HOME=str(tmp_path))
    finally:
        other.kill()
        other.wait()
    assert code == 0, errors
    assert "its last words: what now?: it is started again, restart 1 of 5" in errors
    (match,) = re.findall(r"^(\S+): (?:won|lost|drawn) ", out, re.MULTILINE)
    assert host.get(f"/api/matches/{match}")[1]["ending"] == "played"
    (log,) = (tmp_path / "bot-logs").iterdir()
    assert (log.name, log.read_text()) == (f"{match}.log", "what now?\n")
    recorded = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text().splitlines()]
    assert [each["message"]["type"] for each in recorded][:2] == ["hello", "welcome"]
    assert recorded[0]["message"]["token"] == recorded[1]["message"]["token"] == "…"
    assert (tmp_path / "talk.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "words", [("standings", "no-such"), ("replay", "no-such-1"), ("tournament", "show", "x")]
)
def test_a_name_that_nobody_knows_is_said(
    words: tuple[str, ...], desk: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, errors = desk(*words)
    assert (code, out) == (1, "")
    assert re.fullmatch(r"quintain: there is no \w+ '[\w-]+'\n", errors)


@pytest.mark.parametrize(("name", "code"), [("good", 0), ("illegal", 1)])
def test_check_ends_with_whether_something_broke(name: str, code: int, tmp_path: Path) -> None:
    got, out, _ = quintain("check", command(tmp_path, name), "--game", "connect-4", "--json")
    told = json.loads(out)
    assert (got, told["ok"]) == (code, not code)
    assert any(not each["ok"] for each in told["checks"]) == bool(code)


def test_a_demo_lasts_about_as_long_as_the_longest_series_of_its_thinking_bot() -> None:
    """Catches bots that think for a fraction of what `--seconds` leaves them: 90 took 30."""
    longest = max(map(thoughts, catalogue().values()))
    assert longest / 1.5 < MOVES < longest * 1.5


def thoughts(game: Game[Any, Any]) -> float:
    """How many moves alphabeta makes against all others, from either seat on average."""
    made = 0
    for other in BRAINS.keys() - {"alphabeta"}:
        for seat in (0, 1):
            brains = [BRAINS[other](game, 0), BRAINS[other](game, 0)]
            brains[seat] = BRAINS["alphabeta"](game, 0)
            position = game.opening({})
            while position.outcome is None:
                made += position.turn == seat
                stop = partial(next, repeat(False, 100), True)
                position = position.play(brains[position.turn](position, stop))
    return made / 2


@pytest.mark.slow
def test_the_demo_holds_a_tournament_in_every_game_and_ends_with_the_standings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each game has four processes, so that `make test` has no more than two; these are graded soonest."""
    games = [*catalogue()] if IS_CAMPAIGN else ["connect-4", "tic-tac-toe"]
    monkeypatch.setattr("server.commands.demo.catalogue", lambda: games)
    code = demo(seconds=1, json=True)
    out, errors = capsys.readouterr()
    assert code == 0, errors
    told = json.loads(out)
    assert re.search(r"Follow it at http://127\.0\.0\.1:\d+/", errors)
    assert [each["tournament"] for each in told["tournaments"]] == [f"demo-{game}" for game in games]
    for each in told["tournaments"]:
        assert each["state"] == "finished"
        assert [row["played"] for row in each["rows"]] == [3, 3, 3, 3]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is full")
def test_a_disk_that_is_full_costs_a_bot_no_match(host: Served, tmp_path: Path) -> None:
    """Both bots play on, and end with the code for what could not be written."""
    places = os.pathsep.join((str(ROOT), str(ROOT / "clients/python")))
    where = ("--url", f"tcp://127.0.0.1:{host.tcp}", "--game", "santorini", "--matches", "1")
    with open("/dev/full", "w") as full:
        bots = [
            subprocess.Popen(
                [sys.executable, "-m", "server", "bot", "random", *where, "--name", name],
                env=os.environ | {"PYTHONPATH": places, "XDG_STATE_HOME": str(tmp_path)},
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name in ("full-one", "full-two")
        ]
    for bot in bots:
        _, errors = bot.communicate(timeout=HANG)
        assert (bot.returncode, errors) == (
            1,
            "quintain: standard output cannot be written: No space left on device\n",
        )
    listed = host.get("/api/tournaments/open-santorini/matches")[1]["matches"]
    assert [each["ending"] for each in listed if "full-one" in each["players"]] == ["played"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", [("play", "--bot"), ("check",), ("check", "--wire")])
def test_whatever_a_command_has_started_ends_with_it(
    words: tuple[str, ...], number: signal.Signals, host: Served, tmp_path: Path
) -> None:
    """Catches programs that run on where a service or a container stops what has started them, or where the
    terminal is closed.
    """
    running = tmp_path / "running"
    body = f"import os, time; open({str(running)!r}, 'w').write(str(os.getpid()) + '\\n'); time.sleep(600)"
    where = ("--url", f"tcp://127.0.0.1:{host.tcp}") if words[0] == "play" else ()
    program = f"{sys.executable} -c {shlex.quote(body)}"
    told = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    playing = Forked((*words, program, "--game", "connect-4", *where), ROOT, told)
    wait_for(lambda: running.exists() and running.read_text().endswith("\n"), "the program")
    playing.send_signal(number)
    playing.communicate()
    assert playing.wait() == 130
    wait_for(lambda: not is_alive(int(running.read_text())), "the end of the program")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("play", "--bot"), ("check",), ("check", "--wire"), ("match", "brain:first")]
)
def test_a_program_ends_with_a_command_that_is_told_to_end_while_it_starts_it(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """The program itself sends the signal, as its first act: nearly always too soon for what came later."""
    running = tmp_path / "running"
    program = f"sh -c 'echo $$ > {shlex.quote(str(running))}; kill -TERM $PPID; exec sleep 600'"
    code, _, _ = quintain(*words, program, "--game", "connect-4", XDG_STATE_HOME=str(tmp_path))
    assert code == 130
    wait_for(lambda: not is_alive(int(running.read_text())), "the end of the program")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_demo_that_is_interrupted_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    running = Forked(("demo",), ROOT, os.environ | {"TMPDIR": str(tmp_path)})
    assert running.stdout.readline().startswith("Follow it at")
    running.send_signal(number)
    running.communicate()
    assert running.wait() == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there a child is told that its parent is gone")
def test_a_demo_that_is_killed_leaves_no_process_behind(tmp_path: Path) -> None:
    running = Forked(("demo", "--seconds", "600"), ROOT, os.environ | {"TMPDIR": str(tmp_path)})
    assert running.stdout.readline().startswith("Follow it at")
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    wait_for(lambda: len(children.read_text().split()) > 2, "some of its bots")
    processes = [int(each) for each in children.read_text().split()]
    running.send_signal(signal.SIGKILL)
    running.communicate()
    wait_for(lambda: not any(map(is_alive, processes)), "the end of its host and bots")


@pytest.mark.slow
def test_a_tournament_is_shown_without_a_host_and_deleted_and_late_comers_are_entered(
    host: Served, desk: Callable[..., tuple[int, str, str]]
) -> None:
    at = "2099-03-01T18:00:00Z"
    more = ("--absent", "wait", "--group", "spring", "--start-at", at, "--rounds-at", at)
    assert desk("tournament", "create", "late", "--game", "santorini", *more)[0] == 0
    told = desk("tournament", "show", "late")[1]
    assert "group: spring" in told
    assert "starts by itself at 2099-03-01T18:00:00.000Z" in told
    assert "round 1 begins at 2099-03-01T18:00:00.000Z\n" in told, "there is no round before it"
    kept = quintain("tournament", "show", "late", "--data", str(host.data))
    assert kept == (0, told, ""), "what a data folder has is shown in the same way"
    done, _, why = desk("tournament", "enter", "late", "ann", "bob")
    assert (done, "late has not begun" in why) == (1, True)
    assert desk("tournament", "enter", "late")[0] == 2
    done, told, _ = desk("tournament", "delete", "late")
    assert (done, "deleted" in told) == (0, True)
    done, _, why = desk("tournament", "show", "late")
    assert (done, "there is no tournament" in why) == (1, True)
    assert desk("tournament", "create", "late", "--game", "quoridor")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("order", ["delete", "end"])
def test_what_cannot_be_undone_is_asked_of_whoever_sits_at_a_terminal(
    order: str, host: Served, desk: Callable[..., tuple[int, str, str]]
) -> None:
    name = f"{order}-asks"
    by_invitation = "--by-invitation"  # so that no bot of another test comes to it
    assert desk("tournament", "create", name, "--game", "santorini", by_invitation)[0] == 0
    words = ("tournament", order, name, "--url", f"http://127.0.0.1:{host.http}", "--data", str(host.data))
    outer, inner = pty.openpty()
    os.write(outer, b"no\n")
    command = (sys.executable, "-m", "server", *words)
    refused = subprocess.run(
        command, stdin=inner, stderr=inner, stdout=subprocess.PIPE, cwd=ROOT, timeout=HANG
    )
    said = os.read(outer, 65536).decode()
    os.close(inner)
    os.close(outer)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert f"{order.capitalize()} {name} for good?" in said
    assert "nothing was changed" in said
    assert desk("tournament", "show", name)[0] == 0
    assert desk(*words[:3], "--yes")[0] == (1 if order == "end" else 0)  # it has not begun


@pytest.mark.slow
def test_names_are_entered_in_a_tournament_by_invitation_before_it_begins_by_a_command(
    host: Served, desk: Callable[..., tuple[int, str, str]]
) -> None:
    assert desk("tournament", "create", "closed", "--game", "santorini", "--by-invitation")[0] == 0
    assert desk("tournament", "enter", "closed", "ann", "bob")[0] == 0
    told = desk("tournament", "show", "closed")[1]
    assert "entrants: ann, bob\n" in told
    assert "by invitation: only bots that are invited, or entered by name, take part\n" in told
    assert "missing: ann, since" in told
    assert "by invitation" in quintain("tournament", "show", "closed", "--data", str(host.data))[1]
    assert desk("tournament", "show", "closed", "--data", str(host.data)) == (0, told, ""), (
        "the host is asked"
    )
    code, _, errors = desk("tournament", "enter", "closed", "cas", "Draw", "dan")
    assert code != 0
    assert errors.startswith("quintain: in closed now: cas; but not Draw\nquintain: ")
    assert desk("tournament", "delete", "closed")[0] == 0


@pytest.mark.slow
def test_invitations_that_lead_nowhere_but_to_this_machine_are_said_to(
    host: Served, desk: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Catches letters with an address that their recipients cannot reach, of which nobody was told."""
    (tmp_path / "list.csv").write_text("ann\n")
    assert desk("tournament", "create", "listed", "--game", "santorini", "--by-invitation")[0] == 0
    lists = ("--from", str(tmp_path / "list.csv"), "--invitations", str(tmp_path / "letters"))
    done, told, note = desk("tournament", "enter", "listed", *lists)
    assert (done, told) == (0, f"1 bot is invited to listed; its invitation is in {tmp_path / 'letters'}\n")
    assert f"lead to http://127.0.0.1:{host.http}, which only programs on this machine reach" in note
    assert "--url" in note
    assert desk("tournament", "delete", "listed")[0] == 0


@pytest.mark.slow
def test_where_somebody_on_a_list_is_refused_it_is_said_who_is_invited_and_who_is_not(
    host: Served, desk: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Catches an organiser who has to find out in the folder how far it went."""
    (tmp_path / "list.csv").write_text("kim\nlou\nmax\n")
    assert desk("tournament", "create", "listed", "--game", "santorini", "--entrants", "9")[0] == 0
    with socket.create_connection(("127.0.0.1", host.tcp), HANG) as bot:
        bot.sendall(b"lou\n")
        wait_for(lambda: host.get("/api/tournaments/listed")[1]["entrants"], "the bot")
        lists = ("--from", str(tmp_path / "list.csv"), "--invitations", str(tmp_path / "letters"))
        done, told, why = desk("tournament", "enter", "listed", *lists)
    assert (done, told) == (1, "")
    assert why.startswith(
        "quintain: of the list, the first is invited to listed, but not lou nor those after it;"
    )
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["001-kim.txt"]
    assert desk("tournament", "delete", "listed")[0] == 0


@pytest.mark.slow
def test_an_export_is_written_whatever_a_bot_has_noted(
    host: Served, desk: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Catches a note that ends a line for Python, and for no reader of JSON Lines."""
    note = "one\u2028two\u2029three\x85four"
    assert desk("tournament", "create", "noted", "--game", "tic-tac-toe", "--entrants", "2")[0] == 0
    with (
        socket.create_connection(("127.0.0.1", host.tcp), HANG) as ann,
        socket.create_connection(("127.0.0.1", host.tcp), HANG) as bob,
    ):
        for bot, name in ((ann, "ann"), (bob, "bob")):
            hello = {"type": "hello", "name": name, "game": "tic-tac-toe", "tournament": "noted"}
            bot.sendall(json.dumps(hello).encode() + b"\n")
        for bot in (ann, bob):  # of whom one is to move
            heard = bot.makefile("rb")
            while json.loads(next(heard))["type"] != "turn":
                pass
            bot.sendall(json.dumps({"type": "move", "move": "C", "note": note}).encode() + b"\n")
        wait_for(lambda: host.get("/api/matches/noted-1")[1]["plies"], "the move")
        ann.sendall(b'{"type":"resign"}\n')
        wait_for(lambda: host.get("/api/tournaments/noted")[1]["state"] == "finished", "the end")
    code, exported, errors = desk("tournament", "export", "noted")
    assert (code, errors) == (0, "")
    lines = [json.loads(line) for line in exported.rstrip("\n").split("\n")]
    assert [each["note"] for line in lines if line["type"] == "match" for each in line["notes"]] == [note]
    file = tmp_path / "noted.jsonl"
    assert desk("tournament", "export", "noted", "--output", str(file))[2].startswith(f"{len(lines)} lines")
    assert desk("tournament", "delete", "noted")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_whoever_stops_in_the_middle_of_a_list_is_told_how_far_it_went_and_each_who_is_invited_has_a_letter(
    how: signal.Signals, host: Served, desk: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Catches a bot whose token nobody has, and a letter with none in it."""
    names, letters = [f"bot{number}" for number in range(1000)], tmp_path / "letters"
    (tmp_path / "list.csv").write_text("\n".join(names))
    assert desk("tournament", "create", "long", "--game", "connect-4", "--by-invitation")[0] == 0
    lists = ("--from", str(tmp_path / "list.csv"), "--invitations", str(letters))
    there = ("--url", f"http://127.0.0.1:{host.http}", "--data", str(host.data))
    inviting = Forked(("tournament", "enter", "long", *lists, *there), ROOT, os.environ)
    wait_for(lambda: letters.is_dir() and len([*letters.iterdir()]) > 2, "two letters")
    inviting.send_signal(how)
    told, why = inviting.communicate()
    assert (inviting.wait(), told) == (130, "")
    written = sorted(letters.iterdir())
    entrants = host.get("/api/tournaments/long")[1]["entrants"]
    assert [each["name"] for each in entrants] == names[: len(written)]
    assert f"the first {len(written)} are invited to long, but not {names[len(written)]} nor those" in why
    assert not [path for path in written if "-" * 22 in path.read_text()]
    assert desk("tournament", "delete", "long")[0] == 0


def test_a_table_calls_strength_what_the_page_and_the_documentation_call_it() -> None:
    """Catches *rating*, which is another figure at a ladder and decides its order."""
    row = {"rank": 1, "name": "ann", "points": 1.0, "played": 1, "wins": 1, "draws": 0, "losses": 0}
    table = standings_table([row | {"rating": 33.4, "interval": [-10.0, 70.0]}], "cup")
    assert table.splitlines()[2].split()[-1] == "strength"
    assert table.splitlines()[-1].endswith("33, -10 to 70")


@pytest.mark.slow
def test_a_name_that_came_without_a_token_is_released_or_bound_by_a_command(
    host: Served, desk: Callable[..., tuple[int, str, str]]
) -> None:
    assert desk("tournament", "create", "seats", "--game", "santorini")[0] == 0
    with socket.create_connection(("127.0.0.1", host.tcp), HANG) as bot:
        bot.sendall(b"ann\n")
        wait_for(lambda: host.get("/api/tournaments/seats")[1]["entrants"], "the bot")
        kept = ("tournament", "show", "seats", "--data", str(host.data))
        assert "missing: a data folder does not say who" in quintain(*kept)[1]
        assert json.loads(quintain(*kept, "--json")[1])["missing"] is None, "that is not to say: nobody"
        done, told, _ = desk("tournament", "release", "seats", "ann")
        assert (done, "seats" in told) == (0, True)
        done, _, why = desk("tournament", "release", "seats", "ann")
        assert (done, "ann belongs to nobody" in why) == (1, True)
        done, told, _ = desk("tournament", "release", "seats", "ann", "--bind", "--json")
        assert (done, json.loads(told)["name"]) == (0, "ann")
        done, token, _ = desk("tournament", "release", "seats", "ann", "--bind")
        assert (done, len(token.strip()) >= 16) == (0, True)


@pytest.mark.parametrize(("ending", "said"), [("played", "A draw: so"), ("left", "Both have lost: so")])
def test_what_nobody_has_won_is_a_draw_only_where_it_was_played(ending: str, said: str) -> None:
    nothing: dict[str, Any] = {"moves": [], "times": [], "notes": [], "cause": [], "fault": None, "plies": 0}
    how = {"winner": None, "ending": ending, "why": "so", "began": None, "ended": None, "options": {}}
    unknown = dict.fromkeys(("mistakes", "accuracy", "ungraded", "estimate"))
    match = {"match": "cup-1", "game": "santorini", "players": ["ann", "bob"]} | nothing | how | unknown
    assert f"{said} ({ending})." in listed(match)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"options": {"new": 1}}, r'^cup-1 does not follow .* version: Santorini has no option "new"'),
        (
            {"moves": ["9 9"]},
            "^cup-1 does not follow the rules of santorini, of which the host may",
        ),
    ],
)
def test_a_match_by_the_rules_of_another_version_is_said_to_be_one(more: dict[str, Any], why: str) -> None:
    match = {"match": "cup-1", "game": "santorini", "players": ["ann", "bob"], "options": {}, "moves": []}
    with pytest.raises(Failure, match=why):
        listed(match | more)
