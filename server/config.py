"""What an organiser may set: the file, the environment and the flags, in that order of rising weight.

Every error is one line that says where the fault is, in which key, and what is
wrong with it.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs

from server.exits import ConfigError
from server.host.host import check
from server.host.tournament_settings import TournamentSettings
from server.http.origins import Origins
from server.net.hosts import Hosts
from server.net.limits import Limits
from server.net.proxies import Proxies
from tournament.tournament import Refusal

FILE = "quintain.toml"
PREFIX = "QUINTAIN_"
NOT_SETTINGS = frozenset({"QUINTAIN_TOKEN"})  # the organiser's token: a secret, read where it is used

RESERVE_BYTES = 64 << 20  # some 60,000 matches

Port = Annotated[int, Meta(ge=0, le=65535)]


class Ports(Struct, frozen=True, forbid_unknown_fields=True):
    """0 picks a free one."""

    tcp: Port = 8000
    websocket: Port = 8001
    http: Port = 8080


class Tls(Struct, frozen=True, forbid_unknown_fields=True):
    """Files in PEM. With them the HTTP port speaks HTTPS and the websocket port wss."""

    certificate: str
    key: str


class Evaluation(Struct, frozen=True, forbid_unknown_fields=True):
    """Whom the Arena may call. With no networks: nobody; but whoever is on the machine of a host that listens
    on loopback only may have loopback called.
    """

    networks: tuple[str, ...] = ()  # as CIDR: "10.1.0.0/16"


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    bind: str = "127.0.0.1"
    ports: Ports = Ports()
    data: str = "quintain-data"
    store: str = ""  # postgresql://…; nothing is a file in the data folder
    log_level: str = "info"
    matches_at_once: Annotated[int, Meta(ge=1)] | None = (
        None  # in one tournament; None: all that can be played
    )
    reserve_bytes: Annotated[int, Meta(ge=0)] = RESERVE_BYTES  # of the disk, given up when it is full
    grace: Annotated[float, Meta(ge=0)] = 2.0  # seconds, at a stop, for matches that cannot be resumed
    tls: Tls | None = None
    proxies: tuple[str, ...] = ()  # as CIDR: whose `X-Forwarded-For` is believed
    hosts: tuple[str, ...] = ()  # names for this host, beside its own, while it listens on loopback only
    origins: tuple[str, ...] = ()  # "https://…": sites whose pages may order what pages of the host may
    admin_anywhere: bool = False  # the desk also where its cookies cross a network in the clear
    evaluation: Evaluation = Evaluation()
    show: Literal[0, 1] = 1  # processes for pages and whatever only looks; 0: the one that plays does it
    limits: Limits = Limits()
    tournament: tuple[TournamentSettings, ...] = ()  # opened at the start, if there is none of that name


def settings(file: str | None, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """The settings in force; `file` is the one asked for, None the usual one if it is there."""
    path = Path(file or FILE)
    merged: dict[str, Any] = {}
    if file is not None or path.exists():
        merged = _merged(merged, _of_file(path))
        _checked(merged, str(path))
    merged = _merged(merged, _of_environment(environment))
    _checked(merged, "the environment")
    return _checked(_merged(merged, flags), "the flags")


def with_tournament(found: Settings, wanted: Mapping[str, Any]) -> Settings:
    """One more to hold, as flags ask for it."""
    return structs.replace(found, tournament=(*found.tournament, msgspec.convert(wanted, TournamentSettings)))


def _of_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise ConfigError(f"{path}: {error}") from None


def _of_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """`QUINTAIN_PORTS__TCP=9000` is `tcp = 9000` in `[ports]`. Values are read as TOML, else as words."""
    found: dict[str, Any] = {}
    for variable, text in sorted(environment.items()):
        if variable.startswith(PREFIX) and variable not in NOT_SETTINGS:
            keys = variable.removeprefix(PREFIX).lower().split("__")
            try:
                value: Any = tomllib.loads(f"value = {text}")["value"]
            except ValueError:
                value = text
            for key in reversed(keys):
                value = {key: value}
            found = _merged(found, value)
    return found


def _checked(values: Mapping[str, Any], origin: str) -> Settings:
    try:
        found = msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}: {error}") from None
    for key, listed, reads in (
        ("proxies", found.proxies, Proxies),
        ("hosts", found.hosts, Hosts),
        ("origins", found.origins, Origins),
    ):
        try:
            reads(listed)
        except ValueError as error:
            raise ConfigError(f"{origin}: {key}: {error}") from None
    for wanted in found.tournament:
        try:
            check(wanted.name, wanted.opened())
        except Refusal as refusal:
            raise ConfigError(f"{origin}: tournament {wanted.name}: {refusal}") from None
    return found


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """`upper` over `lower`, table by table."""
    both = dict(lower)
    for key, value in upper.items():
        if isinstance(value, Mapping) and isinstance(both.get(key), Mapping):
            value = _merged(both[key], value)  # pyright: ignore[reportUnknownArgumentType]
        both[key] = value
    return both
