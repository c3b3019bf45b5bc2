"""The ports of the host, which are opened before everything else."""

import socket
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from server import supervised
from server.config import Settings
from server.exits import ConfigError
from server.net import listening
from server.net.addresses import is_loopback

SEEN = ("http", "websocket")  # ports at which a browser's rights and the names of the host matter


async def opened(settings: Settings) -> dict[str, list[socket.socket]]:
    """Listen on all ports, or on the sockets of a service manager. Raises `ConfigError`."""
    try:
        sockets = supervised.inherited()
    except supervised.NoSocket as error:
        raise ConfigError(f"sockets: {error}") from None
    hosts = listening.addresses(settings.bind)
    for name, port in (
        ("tcp", settings.ports.tcp),
        ("websocket", settings.ports.websocket),
        ("http", settings.ports.http),
    ):
        if name in sockets:
            continue
        try:
            sockets[name] = await listening.opened(hosts, port, settings.limits)
        except listening.CannotListen as error:
            listening.close(each for found in sockets.values() for each in found)
            raise ConfigError(f"{name}: {error}") from None
    return {name: sockets[name] for name in supervised.DOORS}  # a manager has an order of its own


def as_reached(settings: Settings, doors: Mapping[str, Sequence[socket.socket]]) -> Settings:
    """The settings, with a `bind` that others reach if they reach a service manager's sockets.

    Whether there is a desk, and which names are expected, goes by that.
    """
    places = (str(each.getsockname()[0]) for name in SEEN for each in doors[name])
    others = next((place for place in places if not is_loopback(place)), None)
    return settings if others is None or not is_loopback(settings.bind) else replace(settings, bind=others)
