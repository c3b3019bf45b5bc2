"""A process that makes hosts by forking, and is forked itself from one that has imported all of the host.

Most of what a start takes is importing, in which nothing can be lost: `tests/server/forked.py`. A request
is a line of JSON on standard input; the answers are lines too: `began PID`, and
`ended PID CODE` when it is so, negative where a signal has ended it.
"""

import gc
import json
import os
import selectors
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.deploy.debian import library


def begin(its_in: Connection, its_out: Connection, environment: Mapping[str, str]) -> None:
    """In a new process, which is a copy of the one that all hosts of tests are copies of: be this one."""
    for number, end in enumerate((its_in, its_out)):
        os.dup2(end.fileno(), number)
        end.close()  # or hosts would have it, and keep it open
    os.environ.clear()
    os.environ.update(environment)
    gc.freeze()
    main()


def main() -> None:
    import_module("server.store.postgres")
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    waiting = selectors.DefaultSelector()
    waiting.register(0, selectors.EVENT_READ)
    waiting.register(awake, selectors.EVENT_READ)
    running = set[int]()
    unread = b""
    while True:
        ready = {key.fd for key, _ in waiting.select()}
        if awake in ready:
            os.read(awake, 4096)
            for pid in tuple(running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    running.discard(pid)
                    said(f"ended {pid} {os.waitstatus_to_exitcode(status)}")
        if 0 in ready:
            received = os.read(0, 65536)
            if not received:  # nobody wants hosts any more
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                return
            *lines, unread = (unread + received).split(b"\n")
            for line in lines:
                running.add(begun(json.loads(line)))


def begun(wanted: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        said(f"began {pid}")
        return pid
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(wanted["folder"])
    for fd, name, flags in ((0, os.devnull, os.O_RDONLY), (1, wanted["out"], NEW), (2, wanted["log"], ON)):
        opened = os.open(name, flags, 0o600)
        os.dup2(opened, fd)
        os.close(opened)
    if wanted.get("ahead") and FAKETIME is not None:  # a clock that is wrong, also for all that is no Python
        os.environ.update(LD_PRELOAD=FAKETIME, FAKETIME=f"{wanted['ahead']:+g}s", **ONLY_WALL_CLOCKS)
        os.environ["PYTHONPATH"] = os.pathsep.join((str(SLEEP), os.environ.get("PYTHONPATH", "")))
        os.execv(sys.executable, [sys.executable, "-m", "server", *wanted["arguments"]])  # noqa: S606
    if wanted.get("ahead"):
        shifted = [sys.executable, "-c", SHIFTED, str(wanted["ahead"]), *wanted["arguments"]]
        os.execv(sys.executable, shifted)  # noqa: S606
    if wanted["fresh"]:
        os.execv(sys.executable, [sys.executable, "-m", "server", *wanted["arguments"]])  # noqa: S606
    sys.argv = ["quintain", *wanted["arguments"]]
    code = 1
    try:
        import_module("server.__main__").main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


FAKETIME = library("faketime/libfaketime.so.1")
ONLY_WALL_CLOCKS = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
SLEEP = Path(__file__).with_name("shifted")
SHIFTED = """
import sys, time
real, ahead = time.time, float(sys.argv.pop(1))
time.time = lambda: real() + ahead
from server.__main__ import main
main()
"""
NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
ON = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def said(line: str) -> None:
    os.write(1, line.encode() + b"\n")
