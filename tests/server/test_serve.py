"""`quintain serve` as its users meet it: a real process, real sockets, real signals."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
from functools import partial
from math import inf
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

import server.serve
from server.config import Ports, Settings
from server.exits import INTERRUPTED
from server.host.host import Host
from server.net.admission import Admission
from server.net.limits import Limits
from server.stopping import LINGER, PRINTING, print_meanwhile, print_standings, until_the_end
from tests.effort import tries
from tests.ending import signals_as_before
from tests.hang import HANG
from tests.loopback import ipv6
from tests.server.run import quintain
from tests.server.served import ROOT, Served
from tests.server.transcripts import hosting
from tests.server.windowed import windowed_pair
from tests.tournament.world import play, silent
from tournament.desk import Desk
from tournament.facts import Entered, Opened
from tournament.timekeeper import Timekeeper

pytestmark = pytest.mark.slow

GRACE = 2.0  # seconds
# How a shell starts a command without all or one of its streams.
CLOSED = ("<&- >&- 2>&-", "2>&-", ">&-", "<&-")
CUP = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}


class Bot:
    """A line of text at a time."""

    def __init__(self, port: int, first: str) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), HANG)
        self.lines = self.connection.makefile("r")
        self.say(first)

    def say(self, line: str) -> None:
        self.connection.sendall(line.encode() + b"\n")

    def hear(self) -> Any:
        return json.loads(self.lines.readline())

    def close(self) -> None:
        self.lines.close()
        self.connection.close()


def hello(name: str) -> str:
    return json.dumps({"type": "hello", "name": name, "game": "tic-tac-toe"})


def played_to_its_end(host: Any) -> list[Bot]:
    """The bots that have played a tournament of one match."""
    bots = [Bot(host.tcp, hello(name)) for name in ("ann", "bob")]
    begun: dict[str, Bot] = {}
    for bot in bots:
        while (message := bot.hear())["type"] != "begin":
            pass
        begun[message["you"]] = bot
    for field, seat in zip(("NW", "N", "W", "C", "SW"), "OXOXO", strict=True):
        begun[seat].say(json.dumps({"type": "move", "move": field}))
        for bot in bots:
            bot.hear()
    return bots


def test_a_tournament_until_it_is_done_ends_with_its_standings(serve: Any) -> None:
    flags = ("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2", "--until-done", "--json")
    host = serve(*flags)
    bots = played_to_its_end(host)
    code, out, _ = host.end()
    standings = json.loads(out.splitlines()[-1])
    assert code == 0
    assert (standings["tournament"], standings["state"]) == ("cup", "finished")
    assert [row["points"] for row in standings["rows"]] == [1.0, 0.0]
    for bot in bots:
        bot.close()


def test_a_host_ends_well_though_nobody_has_read_more_than_its_ready_line(serve: Any) -> None:
    """Catches an exit code of 1, and bots and webhooks that were not told the end."""
    host = serve("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2", "--until-done")
    host.process.stdout.close()
    for bot in played_to_its_end(host):
        assert [json.loads(line)["type"] for line in bot.lines][-2:] == ["standings", "refused"]
        bot.close()
    with host.process.stderr as errors:
        errors.read()
    assert host.process.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="it takes a shell that closes a stream")
def test_a_host_needs_no_standard_stream(serve: Any) -> None:
    """The tournament is over, so that the host ends by itself."""
    flags = ("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2", "--until-done")
    host = serve(*flags)
    for bot in played_to_its_end(host):
        bot.close()
    assert host.end()[0] == 0
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0", "--data", str(host.data))
    command = [sys.executable, "-m", "server", "serve", *ports, *flags]
    for closed in CLOSED[: tries(2, len(CLOSED))]:
        run = subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}', "sh", *command], cwd=ROOT, capture_output=True
        )
        assert run.returncode == 0, (closed, run.stderr)
        assert b"Traceback" not in run.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="it takes a shell that closes a stream")
@pytest.mark.parametrize("closed", CLOSED)
def test_what_a_command_starts_has_every_standard_stream_though_the_command_was_started_without(
    closed: str,
) -> None:
    """Workers failed at once without a standard error, and were started again, for ever."""
    child = "import sys; sys.exit(None in (sys.stdin, sys.stdout, sys.stderr))"
    command = (
        "import subprocess, sys, server.__main__ as command\n"
        "command.command_line = lambda words: lambda **_: subprocess.call([sys.executable, '-c', *words])\n"
        "command.main()"
    )
    start = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", command, child]
    assert subprocess.call(start, cwd=ROOT) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no file here is always full")
async def test_standings_without_room_are_no_reason_to_stop_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with hosting(CUP) as (host, _):
        with open("/dev/full", "w") as full, capture_logs() as logged:  # noqa: ASYNC230 - it waits for nobody
            monkeypatch.setattr(sys, "stdout", full)
            assert not await print_standings(host, "cup", as_json=False)
            monkeypatch.undo()
    assert [line["event"] for line in logged] == ["standard output cannot be written"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no file here is always full")
def test_a_ready_line_without_room_is_said_in_a_line(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
        command = [sys.executable, "-m", "server", "serve", *ports, "--data", str(tmp_path)]
        run = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 1
    assert re.fullmatch(r"quintain: standard output cannot be written: .+", run.stderr.splitlines()[-1])
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_one_signal_ends_an_idle_host_at_once_and_its_log_is_json_to_the_last_line(
    serve: Any, number: int, expected: int
) -> None:
    host = serve("--log-format", "json", "--log-level", "error")
    assert host.get("/readyz") == (200, {"ready": True})
    host.process.send_signal(number)
    code, _, logged = host.end()
    assert code == expected
    said = [json.loads(line) for line in logged.splitlines()]
    assert ["path" in line or "url" in line for line in said] == [True, True], (
        "where the token and the desk are"
    )


def test_a_host_that_nobody_has_come_to_prints_no_empty_table(serve: Any) -> None:
    host = serve("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2")
    host.process.send_signal(signal.SIGINT)
    code, out, _ = host.end()
    assert (code, out.strip()) == (130, "cup: tic-tac-toe, round-robin, registering: nobody is in the table")


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_two_signals_end_a_host_on_which_a_match_is_played(serve: Any, number: int, expected: int) -> None:
    host = serve("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2")
    bots = [Bot(host.tcp, hello(name)) for name in ("ann", "bob")]
    for bot in bots:
        while bot.hear()["type"] != "begin":
            pass
    host.process.send_signal(number)
    assert host.process.stderr is not None
    while '"stopping"' not in host.process.stderr.readline():
        pass
    host.process.send_signal(number)
    code, out, _ = host.end()
    assert code == expected
    assert "cup" in out, "the standings so far"
    for bot in bots:
        bot.close()


async def test_time_stands_still_until_bots_are_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers or the process for pages may take longer to start than anybody waits for an absent bot."""
    timekeepers, let_in, come_in = list[Timekeeper](), server.serve._let_in, trio.Event()

    def letting_in(doors: Any, nursery: trio.Nursery, host: Host, *rest: Any) -> None:
        assert host.timekeeper.paused
        timekeepers.append(host.timekeeper)
        let_in(doors, nursery, host, *rest)
        come_in.set()

    monkeypatch.setattr(server.serve, "_let_in", letting_in)
    ports = Ports(tcp=0, websocket=0, http=0)
    with signals_as_before():
        async with trio.open_nursery() as nursery:
            with capture_logs():
                nursery.start_soon(server.serve.serve, Settings(data=str(tmp_path), ports=ports, show=False))
                await come_in.wait()
            assert [timekeeper.paused for timekeeper in timekeepers] == [False]
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("signals", [1, 2])
async def test_what_is_played_is_waited_for_until_the_grace_is_over_or_a_second_signal_comes(
    signals: int, autojump_clock: MockClock
) -> None:
    async with hosting(CUP) as (host, nursery):
        for name in ("ann", "bob"):
            visit = await host.arrive(name, "tic-tac-toe")
            nursery.start_soon(play, visit.player, silent)
        await trio.testing.wait_all_tasks_blocked()
        send, receive = trio.open_memory_channel[int](signals)
        for _ in range(signals):
            send.send_nowait(signal.SIGINT)
        with capture_logs():
            assert await until_the_end(host, None, None, receive, GRACE) == INTERRUPTED
        assert host.tournaments["cup"].matches
        assert trio.current_time() == (GRACE if signals == 1 else 0.0)


async def test_what_can_be_resumed_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with hosting(CUP) as (host, nursery):
        for name in ("ann", "bob"):
            visit = await host.arrive(name, "tic-tac-toe", token=f"a token that {name} has", resumes=True)
            nursery.start_soon(play, visit.player, silent)
        await trio.testing.wait_all_tasks_blocked()
        send, receive = trio.open_memory_channel[int](1)
        send.send_nowait(signal.SIGTERM)
        with capture_logs():
            assert await until_the_end(host, None, None, receive, GRACE) == 0
        assert host.tournaments["cup"].matches
        assert trio.current_time() == 0.0


async def test_a_host_that_waits_for_a_tournament_ends_when_that_is_deleted(
    autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    async with hosting(CUP) as (host, nursery):
        nursery.start_soon(host.delete, host.tournaments["cup"], "the organiser")
        _, signals = trio.open_memory_channel[int](0)
        with capture_logs() as logged, trio.fail_after(100.0):
            assert await until_the_end(host, None, "cup", signals, GRACE) == 0
        assert {"tournament": "cup", "log_level": "warning"}.items() <= logged[-1].items()
        capsys.readouterr()
        await print_standings(host, "cup", as_json=False)
        assert capsys.readouterr().out == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe cannot be made small")
async def test_while_nobody_reads_the_standings_the_host_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a host that never stops, because whoever started it reads no more than the ready line."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    async with hosting(CUP) as (host, nursery):
        cup = host.tournaments["cup"]
        await cup.keep(*(Entered(f"bot-{number}") for number in range(100)))
        await Desk(cup).start()
        with open(writer, "w") as full:  # noqa: ASYNC230 - it is open already
            monkeypatch.setattr(sys, "stdout", full)
            nursery.start_soon(partial(print_standings, host, "cup", as_json=True))
            read = b""
            while not read.endswith(b"}\n"):
                await trio.lowlevel.wait_readable(reader)
                read += os.read(reader, 1024)
        monkeypatch.undo()
    os.close(reader)
    assert len(json.loads(read)["rows"]) == 100
    assert len(read) > 2 * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe cannot be made small")
async def test_a_tournament_is_opened_while_the_standings_are_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches a host that was told to stop and failed, because of an order that was on its way."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    async with hosting(CUP) as (host, nursery):
        await host.open("league", Opened("tic-tac-toe", "round-robin"))
        await host.tournaments["cup"].keep(*(Entered(f"bot-{number}") for number in range(100)))
        with open(writer, "w") as full, capture_logs():  # noqa: ASYNC230 - it is open already
            monkeypatch.setattr(sys, "stdout", full)
            nursery.start_soon(partial(print_standings, host, None, as_json=True))
            await trio.lowlevel.wait_readable(reader)  # and it waits for somebody to read on
            await host.open("late", Opened("tic-tac-toe", "round-robin"))
            read = b""
            while read.count(b"}\n") < 2:
                await trio.lowlevel.wait_readable(reader)
                read += os.read(reader, 1024)
        monkeypatch.undo()
    os.close(reader)
    assert [json.loads(each)["tournament"] for each in read.splitlines()] == ["cup", "league"]


async def test_the_standings_do_not_wait_for_a_client_that_is_slow_to_hang_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever had stopped the host looked at nothing for a second, whatever it had to print."""
    reader, writer = os.pipe()
    admission, done = Admission(Limits()), trio.Event()
    _, signals = trio.open_memory_channel[int](0)
    client = admission.admit(windowed_pair()[0])
    assert client is not None

    async def stop() -> None:
        assert await print_meanwhile(host, "cup", False, admission, inf, signals)
        done.set()

    async with hosting(CUP) as (host, nursery):
        with open(writer, "w") as output:  # noqa: ASYNC230 - it is open already
            monkeypatch.setattr(sys, "stdout", output)
            nursery.start_soon(stop)
            with trio.fail_after(HANG):
                await trio.lowlevel.wait_readable(reader)
                assert b"cup" in os.read(reader, 1024)
                assert not done.is_set()
                client.leave()
                await done.wait()
        monkeypatch.undo()
    os.close(reader)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe cannot be made small")
async def test_standings_that_nobody_reads_are_waited_for_until_there_is_another_signal(
    monkeypatch: pytest.MonkeyPatch, mock_clock: MockClock
) -> None:
    """A host on a busy machine gave up after 2 seconds, with four names, and called their table too long."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    signal_again, signals = trio.open_memory_channel[int](0)
    async with hosting(CUP) as (host, _):
        await host.tournaments["cup"].keep(*(Entered(f"bot-{number}") for number in range(100)))
        with open(writer, "w") as full, capture_logs() as logged:  # noqa: ASYNC230 - it is open already
            monkeypatch.setattr(sys, "stdout", full)
            async with trio.open_nursery() as printing:
                nobody = Admission(Limits())
                printing.start_soon(print_meanwhile, host, "cup", True, nobody, inf, signals)
                await trio.lowlevel.wait_readable(reader)
                mock_clock.jump(2 * GRACE)
                await wait_all_tasks_blocked()
                assert not logged
                await signal_again.send(signal.SIGINT)
            assert [each["event"] for each in logged] == ["the standings were not printed in time"]
            while not os.read(reader, 4096).endswith(b"}\n"):
                pass  # so that the thread ends as well
        monkeypatch.undo()
    os.close(reader)


def test_a_host_that_is_stopped_ends_before_a_container_is_killed() -> None:
    assert Settings().grace + LINGER + PRINTING < 10.0


def test_the_organisers_token_is_made_once_and_nobody_else_can_read_it(serve: Any) -> None:
    host = serve()
    path = host.data / "organiser-token"
    token = path.read_text().strip()
    assert len(token) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    host.process.send_signal(signal.SIGTERM)
    assert str(path.relative_to(host.folder)) in host.end()[2]
    again = serve()
    assert path.read_text().strip() == token
    body = '{"name":"friday","game":"santorini"}'
    head = (
        "POST /api/tournaments HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n"
    )
    assert again.ask(f"{head}\r\n{body}")[0] == 401
    assert again.ask(f"{head}Authorization: Bearer {token}\r\n\r\n{body}")[0] == 201


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--tcp", "70000"), "65535"),
        (("--until-done",), "--until-done needs a --tournament"),
        (("--tournament", "cup"), "--tournament and --game go together"),
        (("--places", "0"), "--places: expected --tournament as well"),
        (("--tournament", "cup", "--game", "chess"), "no game 'chess'; there are: connect-4"),
        (("--tournament", "cup", "--game", "quoridor", "--format", "x"), "no format 'x'; there are: "),
        (("--config", "nothing.toml"), "nothing.toml: cannot be read"),
        (("--bind", "203.0.113.7"), "cannot listen on 203.0.113.7"),
        (("--nonsense",), "--nonsense"),
    ],
)
def test_wrong_usage_is_said_in_a_line_and_ends_with_two(
    tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    ports = ("--websocket", "0", "--http", "0") + (() if "--tcp" in flags else ("--tcp", "0"))
    code, out, errors = quintain("serve", *ports, *flags, folder=tmp_path)
    assert code == 2
    assert said in out + errors
    assert "Traceback" not in errors
    assert "ready" not in out


def test_a_port_that_is_taken_is_said_in_a_line(serve: Any, tmp_path: Path) -> None:
    host = serve()
    code, _, errors = quintain("serve", "--tcp", str(host.tcp), "--data", "other", folder=tmp_path)
    assert code == 2
    assert f"tcp: cannot listen on 127.0.0.1 port {host.tcp}: Address already in use" in errors


@ipv6
def test_every_door_is_open_on_both_addresses_of_the_machine(serve: Any) -> None:
    host = serve()
    for port in (host.tcp, host.websocket, host.http):
        for address in ("127.0.0.1", "::1"):
            socket.create_connection((address, port), HANG).close()
    only = serve("--bind", "127.0.0.1", "--data", "another")
    socket.create_connection(("::1", only.tcp), HANG).close()


def test_pages_have_no_address_for_a_port_that_nobody_else_reaches(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def page(host: Served) -> str:
        request = Request(f"http://127.0.0.1:{host.http}/games/quoridor", headers={"Accept": "text/html"})
        with urlopen(request, timeout=HANG) as response:  # noqa: S310
            return str(response.read(), "utf-8")

    host = serve()
    assert f"nc 127.0.0.1 {host.tcp}\n" in page(host).replace("</pre>", "\n")
    monkeypatch.setenv("QUINTAIN_TCP_URL", "none")
    assert "nc 127.0.0.1" not in page(serve("--data", "another"))


@ipv6
def test_a_port_that_is_taken_on_the_other_address_is_said_in_a_line(tmp_path: Path) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        ports = ("--tcp", "0", "--websocket", "0", "--http", str(port))
        code, out, errors = quintain("serve", *ports, folder=tmp_path, QUINTAIN_RESERVE_BYTES="0")
    assert code == 2
    assert f"http: cannot listen on ::1 port {port}: Address already in use" in errors
    assert "ready" not in out
