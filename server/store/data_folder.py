"""The folder in which a host keeps everything: the journal, copies of it, the organiser's token.

A folder belongs to one host: a second host is turned away before it has touched
anything.
"""

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from server.exits import ConfigError
from server.store import private

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None

JOURNAL = "quintain.sqlite"
RESERVE = "reserve"  # disk space kept back: the content means nothing
LOCK = "lock"
PROBE_BYTES = 65536  # that have to fit: a database is not opened in less, and a full disk takes empty files
TOKEN = "organiser-token"  # noqa: S105 - the name of the file
VARIABLE = "QUINTAIN_TOKEN"
NO_HOST = (
    "a host needs Linux, macOS or another Unix, and so does whatever writes to its data folder; "
    "on this system `quintain match`, `check`, `play`, `bot` and `standings` run"
)


def prepared(folder: str) -> Path:
    """The folder, made if need be; raises `ConfigError` if nothing can be kept in it."""
    path = Path(folder)
    try:
        private.make_folder(path)
        probe = path / ".writable"
        try:
            probe.write_bytes(bytes(PROBE_BYTES))
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{path}: nothing can be kept in this folder: {error.strerror}") from None
    return path


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Lock the folder for this host; raises `ConfigError` if another host has it, or no host can run here."""
    if fcntl is None:
        raise ConfigError(NO_HOST)
    with (folder / LOCK).open("a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise ConfigError(
                f"{folder}: another host (process {file.read().strip()}) keeps its data here"
            ) from None
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


def organiser_token(folder: Path) -> OrganiserToken:
    if brought := token_brought():
        return OrganiserToken(brought, None)
    path = folder / TOKEN
    try:
        return OrganiserToken(path.read_text(encoding="ascii").strip(), path)
    except FileNotFoundError:
        token = secrets.token_urlsafe(32)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(token + "\n")
        return OrganiserToken(token, path, made=True)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: the organiser's token cannot be read: {error}") from None
