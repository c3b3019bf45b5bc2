"""How far each webhook has been told: a small file beside the journal, written whole or not at all."""

import hashlib
import os
from pathlib import Path

import msgspec
import structlog

FILE = "webhooks.json"
KEY = 16  # hexadecimal digits that stand for an address: it may have a secret in it

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Positions:
    """Numbers of entries, by address. One process writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._told = read(path)

    def of(self, url: str) -> int | None:
        """The number of the last entry that it need not be told of any more; None: it is new."""
        return self._told.get(key(url))

    def keep(self, url: str, number: int) -> None:
        """It is on the disk when this returns. Raises `OSError`."""
        self._told[key(url)] = number
        part = self._path.with_name(self._path.name + ".part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(self._told))
            file.flush()
            os.fsync(file.fileno())
        part.rename(self._path)


def read(path: Path) -> dict[str, int]:
    """What is there; nothing, if it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, int])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        log.error("how far webhooks were told is lost: they go on from now", path=str(path), why=str(error))
        return {}


def key(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:KEY]
