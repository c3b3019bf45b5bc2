"""PostgreSQL with a synchronous standby: what was committed is on both, and either can be the primary."""

import os
import pwd
import signal
import tempfile
import time
from pathlib import Path

from tests.hang import HANG
from tests.ports import free_ports
from tests.server.store.postgresql import USER, Server

AGAIN = 100  # milliseconds until a standby looks for its primary again, for which all commits wait
SYNCHRONOUS = "synchronous_standby_names"


class Standby(Server):
    """A copy of a server that follows it, on a port of its own."""

    def __init__(self, binaries: Path, primary: Server, port: int) -> None:
        self.binaries = binaries
        self._user = USER if os.geteuid() == 0 else None
        self._home = Path(tempfile.mkdtemp(prefix="quintain-standby-"))
        self.process = None
        if self._user is not None:
            owner = pwd.getpwnam(self._user)
            os.chown(self._home, owner.pw_uid, owner.pw_gid)
        source = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", "quintain")
        flags = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        assert self._run("pg_basebackup", *source, *flags).wait(HANG) == 0, self.log()
        own = self._home / "data" / "postgresql.auto.conf"
        kept = [line for line in own.read_text().splitlines(keepends=True) if SYNCHRONOUS not in line]
        kept.append(f"wal_retrieve_retry_interval = '{AGAIN}ms'\n")
        own.write_text("".join(kept))  # it waits for nobody once it is the primary
        self.port = port or free_ports(1)[0]
        self.start()

    def promote(self) -> None:
        """Be the server that is written to. Returns when it is."""
        assert self._run("pg_ctl", "promote", "--wait").wait(HANG) == 0, self.log()


class Pair:
    def __init__(self, binaries: Path, primary: Server) -> None:
        self._binaries = binaries
        self._made: list[Standby] = []
        self.primary = primary
        self._ports = [primary.port, 0]
        self.standby = self._followed()
        self._ports[1] = self.standby.port

    def url(self, database: str) -> str:
        """Of whichever of the two can be written to."""
        places = ",".join(f"127.0.0.1:{port}" for port in self._ports)
        return f"postgresql://quintain@{places}/{database}?target_session_attrs=read-write"

    def fail_over(self) -> None:
        """The primary dies as in a crash, and the standby is the primary. Returns when it takes writes."""
        self.primary.stop(signal.SIGQUIT)
        self.standby.promote()
        self.primary = self.standby

    def mend(self) -> None:
        """Have a new standby where the old primary was."""
        self.standby = self._followed()

    def close(self) -> None:
        """All but the server that this was begun with."""
        for each in self._made:
            each.close()

    def _followed(self) -> Standby:
        port = next((port for port in self._ports if port != self.primary.port), 0)
        standby = Standby(self._binaries, self.primary, port)
        self._made.append(standby)
        self.primary.execute(f"ALTER SYSTEM SET {SYNCHRONOUS} = '*'")
        self.primary.execute("SELECT pg_reload_conf()")
        until = time.monotonic() + HANG
        while ("sync",) not in self.primary.execute("SELECT sync_state FROM pg_stat_replication"):
            assert time.monotonic() < until, self.primary.log()
            time.sleep(0.02)
        return standby
