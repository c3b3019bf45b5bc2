"""What an organiser may set: the file, the environment and the flags, in that order of rising weight.

Every error is one line that says where the fault is, in which key, and what is
wrong with it.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct, structs

from server.exits import ConfigError
from server.host.durations import BadDuration, seconds
from server.host.misfits import misfit
from server.host.opening import check
from server.host.tournament_settings import TournamentSettings
from server.http.origins import Origins
from server.net.addresses import callable_networks
from server.net.escaping import in_quotes, safe
from server.net.hosts import Hosts
from server.net.limits import MOST, Count, Limits, Pause, Seconds
from server.net.proxies import Proxies
from tournament.refusals import Refusal

FILE = "quintain.toml"
HOST_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?\.?")
NOWHERE = "none"  # where others reach the TCP port, if they do not
TCP = re.compile(r"tcp://[A-Za-z0-9.-]+:[0-9]{1,5}")
WEBSOCKET = re.compile(r"wss?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")
MEANT_AS_TOML = re.compile(r'\s*(\{|\[\s*[\[{"])')  # a list or a table, and not an address in brackets
UNWRITABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")  # the last ones are bytes that are not UTF-8
SCHEMES = ("postgresql://", "postgres://")  # of a database
PREFIX = "QUINTAIN_"
# These are read where they are used: the organiser's token, which is a secret, and settings for bots.
NOT_SETTINGS = frozenset({"QUINTAIN_TOKEN", "QUINTAIN_URL", "QUINTAIN_NAME"})

RESERVE_BYTES = 64 << 20  # some 60,000 matches

# The settings that may be written as "10m" and the like.
DURATION = re.compile(
    r"grace|backups\.every|limits\.(\w+\.)?(\w+_)?seconds|tournament\[\d+\]\.pace\.(bank|gain|turn)"
)

Port = Annotated[int, Meta(ge=0, le=65535)]
WebhookEvent = Literal[
    "tournament.opened",
    "tournament.begun",
    "tournament.paused",
    "tournament.resumed",
    "tournament.ended",
    "round.begun",
    "match.ended",
    "match.voided",
]


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
    """Whom the Arena may call. With no networks: nobody; but if a host listens on loopback only, programs on
    its machine may have loopback called.
    """

    networks: tuple[str, ...] = ()  # as CIDR: "10.1.0.0/16"


class Backups(Struct, frozen=True, forbid_unknown_fields=True):
    """Copies that the host makes by itself."""

    every: Seconds
    keep: Annotated[int, Meta(ge=1, le=MOST)] = 7  # of them; older ones are deleted


class Webhook(Struct, frozen=True, forbid_unknown_fields=True):
    """An address that is told what happens."""

    url: str
    secret: Annotated[str, Meta(min_length=1)]  # by which it knows that this host tells it
    events: tuple[WebhookEvent, ...] = get_args(WebhookEvent)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    bind: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    ports: Ports = Ports()
    data: Annotated[str, Meta(min_length=1)] = "quintain-data"
    store: str = ""  # postgresql://…; nothing is a file in the data folder
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] | None = None  # None: text on a terminal, JSON anywhere else
    # In one tournament; None: all that can be played
    matches_at_once: Annotated[int, Meta(ge=1, le=MOST)] | None = None
    reserve_bytes: Count = RESERVE_BYTES  # of the disk, given up when it is full
    grace: Pause = 2.0  # at a stop, for matches that cannot be resumed
    tls: Tls | None = None
    proxies: tuple[str, ...] = ()  # as CIDR: whose `X-Forwarded-For` is believed
    hosts: tuple[str, ...] = ()  # names for this host, beside its own, while it listens on loopback only
    # Where others reach the TCP and the websocket port; "": at the page's own name, on that port
    tcp_url: str = ""  # "tcp://NAME:PORT"; "none": nowhere
    websocket_url: str = ""  # "wss://…"
    origins: tuple[str, ...] = ()  # "https://…": sites whose pages may order what pages of the host may
    admin_anywhere: bool = False  # the desk also where its cookies cross a network in the clear
    evaluation: Evaluation = Evaluation()
    backups: Backups | None = None
    webhook: tuple[Webhook, ...] = ()
    workers: Annotated[int, Meta(ge=1, le=64)] = 1  # processes that play
    spread: Annotated[int, Meta(ge=2, le=MOST)] = 200  # bots: of larger tournaments several workers play
    peers: str = ""  # ADDRESS:PORT where other hosts on the same database reach this one
    advertise: str = ""  # ADDRESS:PORT by which they do, if that is another
    grading: bool = True  # tell whoever asks how well a match was played
    show: Literal[0, 1] = 1  # processes for pages and whatever only looks; 0: the one that plays does it
    limits: Limits = Limits()
    tournament: tuple[TournamentSettings, ...] = ()  # opened at the start, if there is none of that name


SEVERAL = ("tournament", "webhook")  # settings that are lists of tables
TEXTS = {name for name, kind in get_type_hints(Settings).items() if kind is str}  # settings that are texts


def settings(file: str | None, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """The settings in force; `file` is the one asked for; None: the usual one, if it is there."""
    path = Path(file or FILE)
    said = {str(path): _of_file(path)} if file is not None or _is_there(path) else {}
    said |= {"the environment": _of_environment(environment), "the flags": flags}
    found, merged = Settings(), dict[str, Any]()
    for origin, values in said.items():
        merged = _merged(merged, values)
        found = _checked(merged, origin)
    try:
        _check_together(found)
    except Unfit as unfit:
        *_, origin = (origin for origin, values in said.items() if unfit.key in values)
        raise ConfigError(f"{origin}: {unfit.key}: {unfit}") from None
    return found


class Unfit(Exception):
    """A setting does not go together with the others. The message says why."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key = key


def _check_together(found: Settings) -> None:
    if found.workers > 1 and not found.show:
        raise Unfit("workers", "several workers need the process for pages, so leave show at 1")
    if found.advertise and not found.peers:
        raise Unfit("advertise", "others come to the address in peers, so set that as well")
    if not found.peers:
        return
    if not found.store:
        raise Unfit(
            "peers",
            'hosts share a PostgreSQL database, so set store = "postgresql://…" as well:'
            " a file belongs to one host",
        )
    if found.workers > 1:
        raise Unfit(
            "peers",
            "a host with several workers has its database to itself, so set workers or peers, not both",
        )
    if not found.show:
        raise Unfit("peers", "hosts that share a database need the process for pages, so leave show at 1")
    if not found.advertise and found.peers.rpartition(":")[0].strip("[]") in ("0.0.0.0", "::"):  # noqa: S104
        raise Unfit("peers", f"no host can be reached at {found.peers}, so set advertise as well")


def with_tournament(found: Settings, wanted: Mapping[str, Any]) -> Settings:
    """The settings with one more tournament, as flags ask for it."""
    try:
        one = msgspec.convert(wanted, TournamentSettings)
        check(one.name, one.opened())
    except msgspec.ValidationError as error:
        raise ConfigError(f"the flags: {misfit(error, wanted, TournamentSettings)}") from None
    except Refusal as refusal:
        raise ConfigError(f"tournament {wanted['name']}: {refusal}") from None
    others = (each for each in found.tournament if each.name != one.name)
    return structs.replace(found, tournament=(*others, one))


def _is_there(path: Path) -> bool:
    """Whether there is such a file, even if it cannot be read: a host must not go on without its settings."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def _of_file(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors put a mark before it
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: expected text in UTF-8") from None
    except RecursionError:
        raise ConfigError(f"{path}: lists or tables are nested too deep") from None
    except ValueError as error:
        raise ConfigError(f"{path}: this is not TOML: {error}") from None
    for key in SEVERAL:
        if isinstance(found.get(key), dict):
            raise ConfigError(f"{path}: expected [[{key}]], not [{key}]: there may be several")
    return found


def _of_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """`QUINTAIN_PORTS__TCP=9000` is `tcp = 9000` in `[ports]`."""
    found: dict[str, Any] = {}
    for variable, text in sorted(environment.items()):
        if variable.startswith(PREFIX) and variable not in NOT_SETTINGS:
            keys = variable.removeprefix(PREFIX).lower().split("__")
            value = _value(variable, keys[0], text)
            for key in reversed(keys):
                value = {key: value}
            found = _merged(found, value)
    return found


def _value(variable: str, key: str, text: str) -> Any:
    """A text from the environment, read as TOML if it is that, else as words.

    Where a text is expected, only a quoted one is TOML: a data folder may be called `2026-11-29`.
    """
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except ValueError as error:
        if key not in TEXTS and MEANT_AS_TOML.match(text):  # it may hold a secret, so it is not repeated
            raise ConfigError(
                f"the environment: {variable}: expected what stands after = in the file, such as "
                f'["a", "b"] or {{ every = "1d" }}: {error}'
            ) from None
        return text
    return value if isinstance(value, str) or key not in TEXTS else text


def _checked(values: Mapping[str, Any], origin: str) -> Settings:
    try:
        found = msgspec.convert(_in_seconds(values), Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}: {misfit(error, values, Settings)}") from None
    except BadDuration as error:
        raise ConfigError(f"{origin}: {error}") from None
    _check_webhooks(found.webhook, origin)
    for key, text in (("data", found.data), ("store", found.store)):
        if UNWRITABLE.search(text):
            raise ConfigError(f"{origin}: {key}: expected one line in UTF-8")  # it may hold a password
    _check_addresses(found, origin)
    for key, listed, reads in (
        ("proxies", found.proxies, Proxies),
        ("hosts", found.hosts, Hosts),
        ("origins", found.origins, Origins),
        ("evaluation.networks", found.evaluation.networks, partial(callable_networks, bind=found.bind)),
    ):
        try:
            reads(listed)
        except ValueError as error:
            raise ConfigError(f"{origin}: {key}: {error}") from None
    for number, wanted in enumerate(found.tournament):
        try:
            check(wanted.name, wanted.opened())
        except Refusal as refusal:
            raise ConfigError(f"{origin}: tournament {wanted.name}: {refusal}") from None
        if any(wanted.name == other.name for other in found.tournament[:number]):
            raise ConfigError(f"{origin}: tournament[{number}].name: {wanted.name} is there already")
    return found


def _in_seconds(values: Any, place: str = "") -> Any:
    """The values with all durations as numbers."""
    if isinstance(values, Mapping):
        inner = cast("Mapping[str, Any]", values)
        return {key: _in_seconds(each, f"{place}.{key}" if place else key) for key, each in inner.items()}
    if isinstance(values, list):
        return [_in_seconds(each, f"{place}[{i}]") for i, each in enumerate(cast("list[Any]", values))]
    if isinstance(values, str) and DURATION.fullmatch(place):
        return seconds(values, place)
    return values


def _check_addresses(found: Settings, origin: str) -> None:
    if not _is_host(found.bind):
        wanted = "expected an address such as 0.0.0.0, or a name, without a port"
        raise ConfigError(f"{origin}: bind: {wanted}, not {in_quotes(found.bind)}")
    for key, address in (("peers", found.peers), ("advertise", found.advertise)):
        host, _, port = address.rpartition(":")
        is_port = port.isascii() and port.isdigit() and int(port) <= 65535
        if address and not (_is_host(host.removeprefix("[").removesuffix("]")) and is_port):
            raise ConfigError(f"{origin}: {key}: expected ADDRESS:PORT, not {in_quotes(address)}")
    if found.advertise and not int(found.advertise.rpartition(":")[2]):
        raise ConfigError(f"{origin}: advertise: nobody can be reached at port 0")
    if found.tcp_url not in ("", NOWHERE) and not TCP.fullmatch(found.tcp_url):
        wanted = f"expected tcp://NAME:PORT or {NOWHERE}"
        raise ConfigError(f"{origin}: tcp_url: {wanted}, not {in_quotes(found.tcp_url)}")
    if found.websocket_url and not WEBSOCKET.fullmatch(found.websocket_url):
        wanted = "expected ws:// or wss://, a host, and perhaps a port, without a path"
        raise ConfigError(f"{origin}: websocket_url: {wanted}, not {in_quotes(found.websocket_url)}")
    if found.store and not found.store.startswith(SCHEMES):
        scheme = found.store.partition("://")[0] if "://" in found.store else "what has no :// in it"
        raise ConfigError(f"{origin}: store: expected postgresql://…, or nothing for a file, not {scheme}")


def _is_host(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return HOST_NAME.fullmatch(text) is not None
    return True


def _check_webhooks(webhooks: Sequence[Webhook], origin: str) -> None:
    for number, each in enumerate(webhooks):
        try:
            parts = urlsplit(each.url)
            host = (parts.hostname or "").encode("idna")  # what looks it up does so, too
            sound = parts.scheme in ("http", "https") and host and parts.port != 0
        except ValueError:  # not a port, or not a name
            sound = False
        if not sound or not each.url.isascii() or not each.url.isprintable() or " " in each.url:
            wanted = "expected http:// or https://, a host, and perhaps a port, a path and a query"
            raise ConfigError(f"{origin}: webhook[{number}].url: {wanted}, not {in_quotes(each.url)}")
        if any(each.url == other.url for other in webhooks[:number]):
            raise ConfigError(f"{origin}: webhook[{number}].url: {safe(each.url)} is there already")


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """`upper` over `lower`, table by table."""
    both = dict(lower)
    for key, value in upper.items():
        if isinstance(value, Mapping) and isinstance(both.get(key), Mapping):
            value = _merged(both[key], value)  # pyright: ignore[reportUnknownArgumentType]
        both[key] = value
    return both
