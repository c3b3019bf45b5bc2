"""A host whose log nobody reads plays on, with all of its processes, and nothing of the log is lost."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.hang import HANG
from tests.server.served import ROOT

FILLER = b"-" * 4096


def filled() -> tuple[int, int]:
    """A pipe that is full."""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    for piece in (FILLER, b"-"):
        try:
            while True:
                os.write(writes, piece)
        except BlockingIOError:
            pass
    os.set_blocking(writes, True)
    return reads, writes


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.slow
def test_bots_meet_although_nobody_reads_the_log_and_it_is_whole_when_somebody_does(
    workers: int, tmp_path: Path
) -> None:
    reads, writes = filled()
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
    command = [sys.executable, "-m", "server", "serve", *ports, "--workers", str(workers)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "QUINTAIN_SHOW": "1"}
    said: list[bytes] = []
    with ExitStack() as stack:
        read = stack.enter_context(os.fdopen(reads, "rb"))
        host = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=writes, text=True
        )
        stack.callback(host.wait)
        stack.callback(host.kill)
        os.close(writes)
        assert host.stdout is not None
        stack.enter_context(host.stdout)
        found = re.search(r"tcp=127\.0\.0\.1:(\d+)", host.stdout.readline())
        assert found is not None
        bots = [
            stack.enter_context(socket.create_connection(("127.0.0.1", int(found[1])), HANG))
            for _ in range(2)
        ]
        for bot, name in zip(bots, ("ann", "bob"), strict=True):
            bot.sendall(f"{name}\n".encode())
        states = [json.loads(stack.enter_context(bot.makefile("rb")).readline()) for bot in bots]
        assert [state[:2] for state in states] == [["placeWorker", "ann"]] * 2
        reading = threading.Thread(target=lambda: said.append(read.read()), daemon=True)
        reading.start()
        host.terminate()
        assert host.wait(HANG) == 0
        reading.join(HANG)
    lines = said[0].decode().lstrip("-").splitlines()
    assert lines[0].startswith("the organiser's token is in ")
    told = [json.loads(line) for line in lines if line.startswith("{")]
    came = {line["player"]: line["tournament"] for line in told if line["event"] == "came"}
    assert came == dict.fromkeys(("ann", "bob"), "open-santorini")
    assert not any("missing" in line["event"] for line in told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ((sys.executable, "-m", "server", "fly"), 2),
        ((sys.executable, "-c", "import sys; from server.log_writer import tell_traceback as tell\n"
          "sys.excepthook = tell; raise ValueError('a bug of ours')"), 1),
    ],
    ids=["a line", "a traceback"],
)  # fmt: skip
def test_a_process_that_fails_ends_although_nobody_reads_why(command: tuple[str, ...], code: int) -> None:
    """Catches a service that is not started again, because it still waits to say why it has failed."""
    reads, writes = filled()
    with os.fdopen(reads, "rb"):
        process = subprocess.Popen(command, cwd=ROOT, stderr=writes)
        os.close(writes)
        try:
            assert process.wait(HANG) == code
        finally:
            process.kill()
            process.wait()
