"""What `quintain doctor` checks: questions about this machine, and what to do if an answer is bad.

It changes nothing, except that it writes an empty file and removes it again.
"""

import errno
import math
import os
import platform
import shutil
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from server.certificate import context, dates
from server.config import Settings, Tls
from server.exits import ConfigError, Unavailable, Unusable
from server.net.limits import Limits
from server.net.listening import addresses
from server.net.open_files import room_for_files, shortage, too_few
from server.store.address import MISWRITTEN, clear
from server.store.choice import beside
from server.store.data_folder import JOURNAL, LOCK, NO_HOST
from server.store.journal import jotted, kept
from server.store.schema import Newer, NothingKept, Older
from server.store.sqlite_database import SOUND

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None

OLDEST = (3, 11)  # of Python
SCARCE = 1 << 30  # bytes on the disk: a week of busy tournaments
TOO_LITTLE = 256 << 20  # bytes: less than some hours
LATE = 0.1  # seconds by which a sleep of a hundredth may be late, on a machine that has time for us
SERVER = "see to the PostgreSQL server"
OWNER = "run this as the user that the host runs as"
AHEAD = 60.0  # seconds by which the newest fact may be ahead of the clock


class Severity(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


class Diagnosis(Struct, frozen=True):
    about: str
    state: Severity
    said: str
    advice: str = ""


def examination(settings: Settings) -> Iterator[Diagnosis]:
    yield _python()
    if fcntl is None:
        yield Diagnosis("system", Severity.FAULT, platform.system(), NO_HOST)
    yield _sqlite()
    yield _folder(Path(settings.data))
    running = None
    try:
        running = _running(Path(settings.data))
    except PermissionError:
        yield Diagnosis("host", Severity.WARNING, "whether one is running here cannot be seen", OWNER)
    else:
        said = "none is running on this data folder" if running is None else f"process {running} is running"
        yield Diagnosis("host", Severity.OK, said)
    yield from _journal(settings, running is not None)
    if settings.store:
        yield from _hosts(settings.store)
    yield from _space(Path(settings.data))
    if settings.tls is not None:
        yield _certificate(settings.tls)
    yield from _ports(settings, running is not None)
    yield _clock()
    yield _files(settings.limits)


def _python() -> Diagnosis:
    found = platform.python_version()
    if sys.version_info < OLDEST:
        return Diagnosis("python", Severity.FAULT, found, "install Python 3.11 or later")
    return Diagnosis("python", Severity.OK, found)


def _sqlite() -> Diagnosis:
    if sqlite3.sqlite_version_info < SOUND:
        sound = ".".join(map(str, SOUND))
        advice = f"use {sound} or later where you can, and make backups"
        said = f"{sqlite3.sqlite_version} has a rare fault that may damage a database"
        return Diagnosis("sqlite", Severity.WARNING, said, advice)
    return Diagnosis("sqlite", Severity.OK, sqlite3.sqlite_version)


def _folder(folder: Path) -> Diagnosis:
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.exists(path))
    if there.is_dir() and os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return Diagnosis(
            "folder", Severity.OK, f"{folder} {'can be written' if there == folder else 'can be made'}"
        )
    if not there.is_dir():
        advice = "choose a folder with --data"
        return Diagnosis("folder", Severity.FAULT, f"{there} is a file, and a folder was expected", advice)
    advice = "give the user that the host runs as the right to write there, or choose another with --data"
    return Diagnosis("folder", Severity.FAULT, f"{there} cannot be written", advice)


def _running(folder: Path) -> str | None:
    """The process that holds the folder. Raises `PermissionError` in another user's."""
    if fcntl is None:
        return None
    try:
        with (folder / LOCK).open(encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip() or "unknown"
    except PermissionError:
        raise
    except OSError:
        pass
    return None


def _journal(settings: Settings, running: bool) -> Iterator[Diagnosis]:
    restore = "`quintain restore` goes back to a backup"
    find = f"{restore}; there may be some in the folder `backups`"
    try:
        with closing(beside(settings)) as reader:
            wrong = reader.check()
            newest = max((fact.when for fact in map(kept, reader.kept())), default=0.0)
            jotted(reader.jotted())  # or a host could not go on with the matches in play
            count = reader.last()
    except NothingKept:
        if running and not settings.store:
            path = Path(settings.data) / JOURNAL
            said, advice = f"{path} is empty, and a host is running", find
            if not path.exists():
                said = f"{path} is gone, and a host is running"
                advice = "move it back; if it was deleted, stop the host, which then writes all of it again"
            yield Diagnosis("journal", Severity.FAULT, said, advice)
        else:
            yield Diagnosis("journal", Severity.OK, "nothing has been kept yet")
        return
    except Older as older:
        yield Diagnosis("journal", Severity.OK, str(older))
        return
    except Newer as newer:
        yield Diagnosis("journal", Severity.FAULT, str(newer), "use that one, or a later one")
        return
    except Unavailable as error:
        yield Diagnosis(
            "journal", Severity.FAULT, str(error), SERVER if settings.store else "a host waits for it"
        )
        return
    except Unusable as error:  # which names the newest backup
        yield Diagnosis("journal", Severity.FAULT, str(error), SERVER if settings.store else restore)
        return
    except (ConfigError, sqlite3.Error) as error:
        own = find if isinstance(error, sqlite3.Error) else OWNER
        yield Diagnosis("journal", Severity.FAULT, str(error), SERVER if settings.store else own)
        return
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        yield Diagnosis("journal", Severity.FAULT, f"{wrong[0]}{more}", find)
    else:
        yield Diagnosis("journal", Severity.OK, f"sound; {count:,} facts")
    if newest > time.time() + AHEAD:
        advice = "set the clock: matches are told with the times at which they ended"
        yield Diagnosis("clock", Severity.WARNING, "what is kept is from the future", advice)


def _hosts(url: str) -> Iterator[Diagnosis]:
    """Answers about the database itself, apart from what is kept in it, and the hosts that share it."""
    try:
        from server.peers.health import health, off  # psycopg, which it needs, is an extra
        from server.peers.looking import look

        looked = look(url)
    except (ConfigError, Unavailable) as error:
        yield Diagnosis("database", Severity.FAULT, str(error) if clear(url) else MISWRITTEN, SERVER)
        return
    if looked.refuses:
        advice = "give it room, or the rights: hosts stand still until they can write"
        yield Diagnosis("database", Severity.FAULT, f"nothing can be written: {looked.refuses}", advice)
    elif by := off(looked.ahead):
        yield Diagnosis("database", Severity.WARNING, f"the clock of this machine {by}", "set it")
    else:
        yield Diagnosis("database", Severity.OK, "it can be written, and its clock is this machine's")
    if not looked.set_up:
        return
    found = health(looked.peers)
    said = f"{found.registered} were heard of within the hour, of which {found.alive} live"
    yield Diagnosis("hosts", Severity.OK, said if found.registered else "no hosts share this database")
    for problem in found.problems:
        yield Diagnosis("hosts", Severity.WARNING, problem.said, problem.advice)


def _space(folder: Path) -> Iterator[Diagnosis]:
    """Also on the disk to which a journal was moved, with a link to it in its place."""
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.exists(path))
    yield _room(there)
    journal = os.path.realpath(folder / JOURNAL)
    if os.path.exists(journal) and os.stat(journal).st_dev != os.stat(there).st_dev:
        yield _room(Path(journal).parent, " where the journal is")


def _room(there: Path, where: str = "") -> Diagnosis:
    free = shutil.disk_usage(there).free
    said = f"{free / 2**30:.1f} GiB are free{where}"
    advice = "make room: a host whose disk is full stands still until there is some"
    if free < SCARCE:
        return Diagnosis("space", Severity.FAULT if free < TOO_LITTLE else Severity.WARNING, said, advice)
    return Diagnosis("space", Severity.OK, said)


def _certificate(tls: Tls) -> Diagnosis:
    try:
        found = dates(tls, context(tls))
    except ConfigError as error:
        return Diagnosis("certificate", Severity.FAULT, str(error), "no host starts with it")
    if found is None:
        return Diagnosis(
            "certificate", Severity.OK, f"{tls.certificate} can be used; its dates cannot be read"
        )
    advice = "renew it, and send a running host SIGHUP"
    if why := found.refused(time.time()):
        return Diagnosis(
            "certificate", Severity.WARNING, f"no client trusts {tls.certificate}: {why}", advice
        )
    said = f"{tls.certificate} can be used until {found.until}"
    if found.runs_out(time.time()):
        return Diagnosis("certificate", Severity.WARNING, said, advice)
    return Diagnosis("certificate", Severity.OK, said)


def _ports(settings: Settings, running: bool) -> Iterator[Diagnosis]:
    ports = settings.ports
    for name, port in (("tcp", ports.tcp), ("websocket", ports.websocket), ("http", ports.http)):
        address = settings.bind
        try:
            for address in addresses(settings.bind):
                _bind(address, port)
        except OSError as error:
            said = f"{address} port {port}: {error.strerror}"
            if running:
                yield Diagnosis(name, Severity.OK, f"{said}, and a host is running")
            else:
                yield Diagnosis(name, Severity.FAULT, said, _how_to_listen(name, error))
        else:
            yield Diagnosis(
                name, Severity.OK, f"{settings.bind} {f'port {port} is free' if port else 'has a free port'}"
            )


def _how_to_listen(name: str, error: OSError) -> str:
    """What to do about a port at which a host cannot listen."""
    match error.errno:
        case errno.EADDRINUSE:
            return f"end what listens there, or choose another with --{name} (0 picks a free one)"
        case errno.EACCES:
            return f"choose one from 1024 on with --{name}: those below need rights of the system"
        case _:
            return "set `bind` to an address of this machine: 0.0.0.0 is all of IPv4, :: all of IPv6"


def _bind(address: str, port: int) -> None:
    family, kind, protocol, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # as a host listens
        probe.bind(where)
        probe.listen()


def _clock(sleep: Callable[[float], None] = time.sleep) -> Diagnosis:
    """Whether sleeps are exact: bots are judged by hundredths of a second."""
    begun = time.perf_counter()
    for _ in range(5):
        sleep(0.01)
    late = (time.perf_counter() - begun) / 5 - 0.01
    if late > LATE:
        advice = "this machine is too busy: bots will get time back, and matches take longer"
        return Diagnosis(
            "clock", Severity.WARNING, f"a sleep takes {late:.2f} s longer than it should", advice
        )
    if time.time() < os.stat(__file__).st_mtime - AHEAD:
        return Diagnosis("clock", Severity.WARNING, "it is behind the program's own files", "set the clock")
    return Diagnosis("clock", Severity.OK, f"a sleep is late by {late * 1000:.1f} ms")


def _files(limits: Limits) -> Diagnosis:
    files = room_for_files()
    if why := shortage(files, limits):
        return Diagnosis("files", Severity.FAULT if too_few(files, limits) else Severity.WARNING, why)
    return Diagnosis(
        "files", Severity.OK, f"{'any number' if files == math.inf else f'{files:,.0f}'} may be open"
    )
