"""What a service manager and the host say to each other, by systemd's protocol."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from server.supervised import READY, STOPPING, inherited, notify
from tests.bench import past
from tests.hang import HANG
from tests.server.served import READY as READY_LINE
from tests.server.served import ROOT

pytestmark = pytest.mark.slow

linux = pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")


# What systemd does between its fork and its exec.
LAUNCHER = """
import os, sys
for place, number in enumerate(sys.argv[1].split(","), 3):
    os.dup2(os.dup2(int(number), place + 100), place)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""

OURS = ("-m", "server")
MUCH = 100  # entries that are as many as take five seconds, to this one:
HASTY = (
    f"from server.store import snapshots; snapshots.MUCH = {MUCH}; import server.__main__ as us; us.main()"
)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(HANG)
        yield listening


def test_whoever_wants_to_know_is_told(manager: socket.socket) -> None:
    assert notify(READY, {"NOTIFY_SOCKET": manager.getsockname()})
    assert manager.recv(100) == b"READY=1"


@linux
def test_an_abstract_address_is_one_too() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0quintain-{os.getpid()}")
        assert notify(STOPPING, {"NOTIFY_SOCKET": f"@quintain-{os.getpid()}"})
        assert listening.recv(100) == b"STOPPING=1"


def test_where_nobody_wants_to_know_or_can_be_told_nothing_happens(tmp_path: Path) -> None:
    assert not notify(READY, {})
    assert not notify(READY, {"NOTIFY_SOCKET": str(tmp_path / "nobody")})


@linux
def test_a_manager_that_reads_nothing_is_not_waited_for(manager: socket.socket) -> None:
    """Catches a host that says it is ready, serves nobody and cannot be stopped."""
    environment = {"NOTIFY_SOCKET": manager.getsockname()}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as others:
        others.connect(manager.getsockname())
        others.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                others.send(b"WATCHDOG=1")
    assert not notify(READY, environment)


def test_sockets_of_another_process_are_left_alone() -> None:
    environment = {"LISTEN_PID": "1", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "tcp:websocket:http"}
    assert inherited(environment) == {}
    assert inherited({}) == {}


def started(
    folder: Path, sockets: list[socket.socket], names: str, notified: str, program: tuple[str, str] = OURS
) -> "subprocess.Popen[str]":
    """A host as systemd starts it: with these sockets from the third descriptor on."""
    numbers = [each.fileno() for each in sockets]
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")  # of whatever has no socket
    words = [sys.executable, *program, "serve", *ports, "--data", "data"]
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, ",".join(map(str, numbers)), *words],
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "QUINTAIN_RESERVE_BYTES": "0", "NOTIFY_SOCKET": notified}
        | {"LISTEN_FDS": str(len(sockets)), "LISTEN_FDNAMES": names},
        pass_fds=numbers,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@linux
def test_a_restart_on_the_managers_sockets_refuses_nobody(tmp_path: Path, manager: socket.socket) -> None:
    hello = json.dumps({"type": "hello", "name": "ann", "game": "tic-tac-toe"}).encode() + b"\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        for _ in (1, 2):
            with socket.create_connection(listening.getsockname(), HANG) as bot:  # while no host is there
                host = started(tmp_path, [listening], "tcp", manager.getsockname())
                try:
                    assert manager.recv(100) == b"READY=1"
                    assert host.stdout is not None
                    assert f"tcp=127.0.0.1:{listening.getsockname()[1]} " in host.stdout.readline()
                    bot.sendall(hello)
                    assert b"welcome" in bot.recv(4096)
                    host.send_signal(signal.SIGTERM)
                    assert manager.recv(100) == b"STOPPING=1"
                    host.communicate(timeout=HANG)
                    assert host.returncode == 0
                finally:
                    host.kill()
                    host.communicate()
            hello = hello.replace(b"ann", b"bob")


@linux
def test_the_ready_line_has_its_order_whatever_the_managers_is(
    tmp_path: Path, manager: socket.socket
) -> None:
    """systemd's is that of the names of its units."""
    with socket.create_server(("127.0.0.1", 0)) as http, socket.create_server(("127.0.0.1", 0)) as tcp:
        host = started(tmp_path, [http, tcp], "http:tcp", manager.getsockname())
        try:
            assert host.stdout is not None
            assert READY_LINE.fullmatch(host.stdout.readline())
        finally:
            host.kill()
            host.communicate()


@linux
def test_a_start_that_reads_for_long_asks_for_more_time(tmp_path: Path, manager: socket.socket) -> None:
    """Catches a start that was killed after ten minutes, and began again, and again."""
    (tmp_path / "data").mkdir()
    past.write(tmp_path / "data" / past.JOURNAL, MUCH // 3 + past.TABLES, 10)  # a match has three entries
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host = started(tmp_path, [listening], "tcp", manager.getsockname(), ("-c", HASTY))
        try:
            assert manager.recv(100) == b"EXTEND_TIMEOUT_USEC=600000000"
            assert manager.recv(100) == b"READY=1"
        finally:
            host.kill()
            _, errors = host.communicate()
    assert "reading what was kept" in errors


@linux
def test_a_socket_for_no_port_of_ours_is_said_in_a_line(tmp_path: Path, manager: socket.socket) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host = started(tmp_path, [listening], "web", manager.getsockname())
        _, errors = host.communicate(timeout=HANG)
    assert host.returncode == 2
    assert "sockets: expected FileDescriptorName= tcp, websocket, http, not 'web'" in errors


@linux
def test_a_socket_in_the_file_system_is_none_for_this_host(tmp_path: Path, manager: socket.socket) -> None:
    """Catches a host that says it is ready, and ends when the first client comes."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "http"))
        listening.listen()
        host = started(tmp_path, [listening], "http", manager.getsockname())
        _, errors = host.communicate(timeout=HANG)
    assert host.returncode == 2
    assert "sockets: the socket 'http' of the service manager does not listen for TCP" in errors


@linux
def test_a_manager_that_listens_for_others_opens_no_desk_to_them(
    tmp_path: Path, manager: socket.socket
) -> None:
    """Unless `bind` is set, it says this machine alone; and the cookies of a desk would cross a network."""
    for bind, desk, named in (("0.0.0.0", 404, 200), ("127.0.0.1", 401, 421)):  # noqa: S104
        with socket.create_server((bind, 0)) as listening:
            host = started(tmp_path, [listening], "http", manager.getsockname())
            try:
                assert manager.recv(100) == b"READY=1"
                asking = http.client.HTTPConnection("127.0.0.1", listening.getsockname()[1], HANG)
                with closing(asking):
                    for path, name, status in (
                        ("/admin", "localhost", desk),
                        ("/healthz", "a.example", named),
                    ):
                        asking.request("GET", path, headers={"Host": name})
                        answer = asking.getresponse()
                        answer.read()
                        assert answer.status == status, (bind, path)
                host.send_signal(signal.SIGTERM)
                assert manager.recv(100) == b"STOPPING=1"
            finally:
                host.kill()
                host.communicate()
