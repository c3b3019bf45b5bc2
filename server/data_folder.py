"""The folder that a host keeps everything in: the organiser's token, and with a store on disk the data."""

import os
import secrets
from pathlib import Path

from server.config import ConfigError

TOKEN = "organiser-token"  # noqa: S105 - the name of the file
VARIABLE = "QUINTAIN_TOKEN"


def prepared(folder: str) -> Path:
    """The folder, made if it is not there; raises `ConfigError` where nothing can be kept in it."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigError(f"{path}: nothing can be kept in this folder: {error.strerror}") from None
    return path


def organiser_token(folder: Path) -> tuple[str, Path | None]:
    """The token that organising wants, and the file it is in; None where the environment has brought it."""
    if brought := os.environ.get(VARIABLE):
        return brought, None
    path = folder / TOKEN
    try:
        return path.read_text(encoding="ascii").strip(), path
    except FileNotFoundError:
        token = secrets.token_urlsafe(32)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(token + "\n")
        return token, path
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: the organiser's token cannot be read: {error}") from None
