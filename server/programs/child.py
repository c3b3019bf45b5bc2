"""A host of our own in a child process, on free ports, with a folder that is removed when it ends.

`quintain demo` and `quintain check` use a real host behind its real doors. It shares
nothing with any other host on this machine: no configuration, no data, no port.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from server.config import PREFIX
from server.exits import Failure
from server.programs.api_client import Remote
from server.store.data_folder import TOKEN

TIMEOUT = 15.0  # seconds for a child to end when it is told to
ROOT = Path(__file__).parents[2]
PLACES = (str(ROOT), str(ROOT / "clients/python"))  # where our modules are, installed or not
PARENT_DIED = 1  # PR_SET_PDEATHSIG
DOORS = {"tcp": "tcp", "ws": "websocket", "http": "http"}  # by the scheme of their addresses


class ChildHost:
    def __init__(self, addresses: Mapping[str, str], token: str) -> None:
        self.urls = {scheme: f"{scheme}://{addresses[door]}" for scheme, door in DOORS.items()}
        self.remote = Remote(self.urls["http"], token)


@contextmanager
def child_host(http: int) -> "Generator[ChildHost]":
    """To be used within `Interrupts`, or a SIGTERM would leave all of it behind."""
    with TemporaryDirectory(prefix="quintain-") as folder:
        ports = ("--tcp", "0", "--websocket", "0", "--http", str(http))
        data = os.path.join(folder, "data")
        arguments = ("serve", *ports, "--data", data, "--log-level", "error")
        child = started(arguments, folder=folder, stdout=subprocess.PIPE)
        try:
            ready = child.stdout.readline().decode() if child.stdout else ""
            if not ready.startswith("ready "):
                raise Failure("the host could not be started: its own message is above")
            addresses = dict(re.findall(r"(\w+)=(\S+)", ready))
            yield ChildHost(addresses, (Path(data) / TOKEN).read_text(encoding="ascii").strip())
        finally:
            ended(child)
            if child.stdout:
                child.stdout.close()


def started(
    arguments: Sequence[str], *, folder: str, stdout: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start `quintain` with these arguments, in that folder, with default settings.

    On Linux the child is told to end when the thread that calls this is gone, as when this process is killed.
    """
    # Made ready here: what begins in the child before its program does can load nothing.
    on_linux = sys.platform == "linux"
    begin = partial(ctypes.CDLL(None).prctl, PARENT_DIED, signal.SIGTERM) if on_linux else None
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    environment["PYTHONPATH"] = os.pathsep.join((*PLACES, *filter(None, (environment.get("PYTHONPATH"),))))
    return subprocess.Popen(  # noqa: S603 - ourselves
        (sys.executable, "-P", "-m", "server", *arguments),  # -P: whatever lies in that folder is not ours
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        start_new_session=True,  # Ctrl-C is ours to deal with
        preexec_fn=begin,
    )


def ended(child: subprocess.Popen[bytes]) -> None:
    """End a child, and make sure that it has ended."""
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            child.kill()
    child.wait()
