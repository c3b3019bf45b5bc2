"""A PostgreSQL server for tests alone, from Debian's package: in a folder of its own, on a free port.

Where there is none, tests are skipped with that reason; under continuous integration they fail.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg

from tests.hang import HANG
from tests.lacking import lacking
from tests.ports import free_ports
from tests.server.served import ROOT

MISSING = "there is no PostgreSQL server here: install Debian's package postgresql"
MADE = ROOT / ".cache" / "postgresql"
USER = "postgres"  # that Debian's package has made: the server refuses to run as root


class Server:
    def __init__(self, binaries: Path) -> None:
        self.binaries = binaries
        self._user = USER if os.geteuid() == 0 else None
        self._home = Path(tempfile.mkdtemp(prefix="quintain-postgresql-"))
        self._databases = count(1)
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            owner = pwd.getpwnam(self._user)
            os.chown(self._home, owner.pw_uid, owner.pw_gid)
        self._make()
        self.start()

    def _make(self) -> None:
        """Its cluster is a copy of the first, if there is one: to copy it takes a fifth of the time."""
        first, mine = MADE / "-".join((*self.binaries.parts[1:], str(os.geteuid()))), self._home / "data"
        if first.exists():
            _copy(first, mine)
            return
        self._run("initdb", "--auth=trust", "--username=quintain", "--no-sync", "--encoding=UTF8").wait()
        MADE.mkdir(parents=True, exist_ok=True)
        copied = first.with_name(self._home.name)
        _copy(mine, copied)
        try:
            copied.rename(first)
        except OSError:  # another test was faster
            shutil.rmtree(copied)

    def start(self) -> None:
        """On the port that it had before. No fsync: a process that dies takes nothing from the kernel."""
        self.port = self.port or free_ports(1)[0]
        settings = ("-p", str(self.port), "-k", str(self._home), "-h", "127.0.0.1", "-c", "fsync=off")
        self.process = self._run("postgres", *settings)
        self.expect()

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """At once, as in a crash: what was not committed is gone, and sessions are cut."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(HANG)
            self.process = None

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Its connections stay, and nothing comes over them."""
        assert self.process is not None
        backends = [int(str(pid)) for (pid,) in self.execute("SELECT pid FROM pg_stat_activity")]
        try:
            for process in (self.process.pid, *backends):
                with suppress(ProcessLookupError):  # the session that asked
                    os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in (self.process.pid, *backends):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def expect(self) -> None:
        """Until it answers."""
        until = time.monotonic() + HANG
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                assert self.process is not None
                assert self.process.poll() is None, self.log()
                assert time.monotonic() < until, self.log()
                time.sleep(0.02)

    def url(self, database: str) -> str:
        return f"postgresql://quintain@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The address of a new one."""
        name = f"test{next(self._databases)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def execute(self, statement: str, url: str | None = None) -> list[tuple[object, ...]]:
        with psycopg.connect(url or self.url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def log(self) -> str:
        return (self._home / "log").read_text(errors="replace")[-3000:]

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._home)

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with open(self._home / "log", "ab") as log:
            return subprocess.Popen(
                [self.binaries / program, "-D", self._home / "data", *arguments],
                cwd=self._home,
                user=self._user,
                extra_groups=None if self._user is None else (),
                stdout=log,
                stderr=log,
            )


def _copy(cluster: Path, there: Path) -> None:
    """With its owner, who is the only one that may read it."""
    subprocess.run(["cp", "-a", cluster, there], check=True)


def binaries() -> Path | None:
    """Where the newest is that Debian has installed, or whatever is in the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    if found:
        return found[-1].parent
    elsewhere = shutil.which("initdb")
    return Path(elsewhere).resolve().parent if elsewhere else None


@contextmanager
def running() -> Iterator[Server]:
    where = binaries()
    if where is None:
        lacking(MISSING)
    server = Server(where)
    try:
        yield server
    finally:
        server.close()
