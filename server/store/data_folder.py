"""The folder in which a host keeps everything: the journal, copies of it, the organiser's token.

A folder belongs to one host: a second host is turned away before it has touched
anything.
"""

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import structlog
from msgspec import Struct

from server.exits import ConfigError, Failure
from server.store import private
from server.store.reserve import SPENT

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None

JOURNAL = "quintain.sqlite"
RESERVE = "reserve"  # disk space kept back: the content means nothing
LOCK = "lock"
READABLE = 0o644  # for everybody: `quintain doctor` says which process has the folder
PROBE_BYTES = 65536  # that have to fit: a database is not opened in less, and a full disk takes empty files
FULL = (errno.ENOSPC, errno.EDQUOT)  # of a disk without room, or a quota that is used up: it may pass
TOKEN = "organiser-token"  # noqa: S105 - the name of the file
VARIABLE = "QUINTAIN_TOKEN"
NO_HOST = (
    "a host needs Linux, macOS or another Unix, and so does whatever writes to its data folder; "
    "on this system `quintain match`, `check`, `play`, `bot` and `standings` run"
)

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def prepared(folder: str) -> Path:
    """The folder, made if need be; raises `Failure` if nothing can be kept in it.

    It is a `ConfigError` unless the disk is full. A host that was killed has left its reserve there, which is
    given up then.
    """
    path = Path(folder)
    try:
        private.make_folder(path)
        try:
            _probe(path)
        except OSError as error:
            if error.errno not in FULL or not _reserve_given_up(path):
                raise
            _probe(path)
    except (FileExistsError, NotADirectoryError):
        raise ConfigError(f"{path}: expected a folder, and a file is in the way") from None
    except OSError as error:
        why = error.strerror
        if error.errno in FULL:
            raise Failure(f"{path}: nothing can be kept in this folder until there is room: {why}") from None
        raise ConfigError(f"{path}: nothing can be kept in this folder: {why}") from None
    return path


def _probe(folder: Path) -> None:
    """Raise `OSError` if nothing can be written to a folder."""
    probe = folder / ".writable"
    try:
        probe.write_bytes(bytes(PROBE_BYTES))
    finally:
        probe.unlink(missing_ok=True)


def _reserve_given_up(folder: Path) -> bool:
    """Give up the reserve that no host holds; returns whether there was one."""
    if not (folder / RESERVE).exists():
        return False
    with locked(folder, say_so=False):
        (folder / RESERVE).unlink()
    log.warning(SPENT, folder=str(folder))
    return True


@contextmanager
def locked(folder: Path, *, say_so: bool = True) -> Generator[None]:
    """Lock the folder for this host; raises `ConfigError` if another host has it, or no host can run here.

    With `say_so` the process that has it is in the file.
    """
    if fcntl is None:
        raise ConfigError(NO_HOST)
    path = folder / LOCK
    try:
        private.create(path, READABLE)
        file = path.open("a+", encoding="ascii")
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be opened: {error.strerror}: perhaps another user has started a host here"
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise ConfigError(
                f"{folder}: another host (process {file.read().strip()}) keeps its data here"
            ) from None
        except OSError as error:
            raise ConfigError(f"{path}: cannot be locked: {error.strerror}: choose another disk") from None
        if not say_so:
            yield
            return
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


class OrganiserToken(Struct, frozen=True):
    """The organiser's token."""

    text: str
    path: Path | None  # the file it is in; None: it comes from the environment
    made: bool = False  # whether it was made just now, at the first start


def token_brought() -> str:
    """The organiser's token from the environment, without a line end; "" if there is none."""
    return os.environ.get(VARIABLE, "").strip()


def can_be_sent(token: str) -> bool:
    """Whether a header of a request can hold this token."""
    return token.isascii() and token.isprintable()


def organiser_token(folder: Path) -> OrganiserToken:
    if brought := token_brought():
        if not can_be_sent(brought):  # nobody could give orders
            raise ConfigError(f"the environment: {VARIABLE}: expected one line of ASCII")
        return OrganiserToken(brought, None)
    path = folder / TOKEN
    private.tighten(path)
    try:
        # An empty file is what a full disk or a power cut has left of one, and a token that everybody brings.
        if path.exists() and (text := path.read_text(encoding="ascii").strip()):
            return OrganiserToken(text, path)
    except OSError as error:
        raise ConfigError(f"{path}: the organiser's token cannot be read: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{path}: this is no token: remove it, and the next start makes another") from None
    token = secrets.token_urlsafe(32)
    try:
        private.write(path, f"{token}\n".encode())
    except OSError as error:
        raise Failure(f"{path}: the organiser's token cannot be written: {error.strerror}") from None
    return OrganiserToken(token, path, made=True)
