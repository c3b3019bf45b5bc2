"""How far each webhook has been told: a small file beside the journal, written whole or not at all.

Hosts that share a database keep it there as well, for the one that goes on when another dies.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
import structlog

from server.config import Webhook
from server.store import private

if TYPE_CHECKING:
    from server.store.duties import Duties  # psycopg, which it needs, is an extra

FILE = "webhooks.json"
WEBHOOK = "webhook "  # how the names of webhooks' duties begin
KEY = 16  # hexadecimal digits that stand for an address: it may have a secret in it

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Positions:
    """Numbers of entries, by address. One process writes them."""

    shared = False  # whether other hosts may tell some of the webhooks

    def __init__(self, path: Path) -> None:
        self._path = path
        self._told = read(path)

    def mine(self, url: str) -> bool:
        """Whether this host tells a webhook."""
        return True

    def of(self, url: str) -> int | None:
        """The number of the last entry with which a webhook is done; None: it is new."""
        return self._told.get(key(url))

    def keep(self, told: Mapping[str, int]) -> None:
        """Keep positions, by address. They are on the disk when this returns. Raises `OSError`."""
        self._told.update((key(url), number) for url, number in told.items())
        self._write()

    def _write(self) -> None:
        private.write(self._path, msgspec.json.encode(self._told))


class SharedPositions(Positions):
    """The positions of hosts that share webhooks, each told by one host. All raise `Unavailable`.

    The file, and this host's figures, have the webhooks that this host tells.
    """

    shared = True

    def __init__(self, path: Path, duties: "Duties") -> None:
        super().__init__(path)
        self._duties = duties

    def mine(self, url: str) -> bool:
        duty = WEBHOOK + key(url)
        if self._duties.mine(duty):
            return True
        # A host that starts has no duty yet: where it began a webhook that nobody has told anything counts.
        if key(url) in self._told and self._duties.told(duty) is not None:
            del self._told[key(url)]
            self._write()
        return False

    def of(self, url: str) -> int | None:
        """The position in the database, or in the file if this host was alone before."""
        told = self._duties.told(WEBHOOK + key(url))
        return super().of(url) if told is None else told

    def keep(self, told: Mapping[str, int]) -> None:
        for url, number in told.items():
            self._duties.keep(WEBHOOK + key(url), number)
        super().keep(told)


def read(path: Path) -> dict[str, int]:
    """The positions in a file; none, if it cannot be read."""
    try:
        return _read(path)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        log.error("how far webhooks were told is lost: they go on from now", path=str(path), why=str(error))
        return {}


def _read(path: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, int])
    except FileNotFoundError:
        return {}


def begin(path: Path, webhooks: Iterable[Webhook], last: int) -> None:
    """Have new webhooks, and those that a restore has set back, told what comes after the last entry.

    Raises `OSError`. This is done before a start keeps anything, or nobody could tell what is new by then.
    """
    positions = Positions(path)
    for each in webhooks:
        told = positions.of(each.url)
        if (begins := beginning(each.url, told, last)) != told:
            positions.keep({each.url: begins})


def beginning(url: str, told: int | None, last: int) -> int:
    """The entry after which a webhook goes on that has been told so far; None: it is new."""
    if told is not None and told > last:
        log.warning("the journal is older than what a webhook was told", webhook=shown(url))
        return last
    return last if told is None else told


def behind(path: Path, webhooks: Iterable[Webhook], last: int) -> list[int]:
    """How many entries, up to the last one, each webhook has yet to be told of; none, if it is new.

    Nobody knows while the file cannot be read, as when no more files can be opened. Nothing is lost by that.
    """
    try:
        told = _read(path)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return []
    return [max(0, last - told.get(key(each.url), last)) for each in webhooks]


def key(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:KEY]


def shown(url: str) -> str:
    """An address without its path and query, which may have a secret in them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
