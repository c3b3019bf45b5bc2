"""The host's certificate: read at the start, and again at every SIGHUP.

A certificate lasts for weeks, and a host runs for months. A service without a certificate is told by the
same signal to read everything again, and goes on. Where there is a terminal, the signal says that it was
closed, and a host without a certificate ends.
"""

import os
import signal
import ssl
from pathlib import Path

import structlog
import trio

from server.config import Tls
from server.exits import ConfigError

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def context(tls: Tls) -> ssl.SSLContext:
    """The TLS context of connections; raises `ConfigError` if the files cannot be used."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    for name, path in (("certificate", tls.certificate), ("key", tls.key)):
        try:
            Path(path).open("rb").close()  # OpenSSL does not say which of the two it could not read
        except OSError as error:
            raise ConfigError(f"tls.{name}: {path} cannot be read: {error.strerror}") from None
    try:
        made.load_cert_chain(tls.certificate, tls.key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"tls: the certificate cannot be used: {error}") from None
    return made


async def renew(
    used: ssl.SSLContext | None,
    tls: Tls | None,
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """At every SIGHUP, read the files again, for later connections."""
    if not hasattr(signal, "SIGHUP") or (tls is None and _has_terminal()):  # or this is not a Unix
        task_status.started()
        return
    with trio.open_signal_receiver(signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            if used is None or tls is None:
                log.info("there is no certificate to be read again")
                continue
            try:
                context(tls)  # tried on another context first: files that do not match would be half in use
                used.load_cert_chain(tls.certificate, tls.key)
            except (ConfigError, OSError) as error:
                log.error("the certificate is the one before", why=str(error))
            else:
                log.info("the certificate was read again")


def _has_terminal() -> bool:
    """Whether this process was started from a terminal, wherever its output goes."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
