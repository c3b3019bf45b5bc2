"""The ports of the host, which are opened before everything else."""

import socket

from server import supervised
from server.config import Settings
from server.exits import ConfigError
from server.net import listening


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
    return sockets
