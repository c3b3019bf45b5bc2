"""How many files a host may open, and what it does about too few: asked of real processes."""

import math
import re
import resource
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from server.net.limits import Limits
from server.net.open_files import FEWEST, promised, room_for_files, shortage, too_few
from tests.hang import HANG
from tests.lacking import lacking
from tests.server.served import ROOT, Served

pytestmark = pytest.mark.slow

LIMITS = Limits(spare_files=100, unauthenticated=200, backlog=300)


def test_there_is_room_for_as_many_files_as_the_system_allows() -> None:
    """Catches a host that stays within what it was started with, often a thousand and twenty-four."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    hard = before[1]
    endless = hard == resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024 if endless else hard // 2, hard))
    try:
        assert room_for_files() == (math.inf if endless else hard)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_host_wants_what_its_limits_promise_and_does_not_start_for_hardly_anybody() -> None:
    wanted, fewest = promised(LIMITS), LIMITS.spare_files + FEWEST
    assert wanted == 600
    assert shortage(wanted, LIMITS) == shortage(math.inf, LIMITS) == ""
    assert [too_few(files, LIMITS) for files in (0, fewest - 1, fewest, math.inf)] == [
        True,
        True,
        False,
        False,
    ]
    for files, left in ((wanted - 1, 499), (fewest, FEWEST), (40, 0)):
        said = shortage(files, LIMITS)
        assert said.startswith(f"{files} files may be open at once, which leaves {left} for connections")
        assert f"ulimit -n {wanted}" in said
        assert f"LimitNOFILE={wanted}" in said


@pytest.mark.parametrize(
    "files", [pytest.param(20, marks=pytest.mark.campaign), Limits().spare_files + FEWEST - 1]
)
def test_a_host_that_may_open_hardly_any_file_says_so_in_one_line_and_touches_nothing(
    tmp_path: Path, files: int
) -> None:
    command = (sys.executable, "-m", "server", "serve", "--tcp", "0", "--websocket", "0", "--http", "0")
    ended = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -n {files} && cd "$0" && exec "$@"', str(tmp_path), *command],
        env={"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": sys.pycache_prefix or ""},
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"quintain: files: {files} files may be open at once")
    assert f"ulimit -n {promised(Limits())}" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_host_with_few_files_warns_and_idle_connections_of_its_own_machine_do_not_shut_others_out(
    tmp_path: Path,
) -> None:
    """Catches a host that says that it is ready, and then resets every connection."""
    files = room_for_files()
    if files == math.inf:
        lacking("there is no limit on open files here: `ulimit -Hn 65536` sets one")
    (tmp_path / "quintain.toml").write_text(
        f"[limits]\nspare_files = {files - FEWEST}\nidle_seconds = 3600\n"
    )
    host = Served(tmp_path)
    with ExitStack() as stack:
        stack.callback(host.kill)
        for _ in range(2 * FEWEST):
            stack.enter_context(socket.create_connection(("127.0.0.1", host.http), HANG))
        for path in ("/healthz", "/readyz", "/api/tournaments"):
            assert host.get(path)[0] == 200
        host.process.terminate()
        code, _, errors = host.end()
    assert code == 0
    (warned,) = (line for line in errors.splitlines() if f"leaves {FEWEST} for connections" in line)
    assert re.search(r"LimitNOFILE=\d+ in a systemd unit", warned), "a value in the log is cut at some length"
    assert "Traceback" not in errors
