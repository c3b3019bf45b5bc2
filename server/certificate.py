"""The host's certificate: read at the start, and again at every SIGHUP.

A certificate lasts for weeks, and a host runs for months. A service without a certificate is told by the
same signal to read everything again, and goes on. Where there is a terminal, the signal says that it was
closed, and a host without a certificate ends.
"""

import os
import signal
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Never

import structlog
import trio

from server.config import Tls
from server.exits import ConfigError

DATES = (9, 10)  # OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Certificate:
    """The host's certificate, as it was last read."""

    def __init__(self, tls: Tls) -> None:
        """Raises `ConfigError` if the files cannot be used."""
        self._tls = tls
        self._context = _usable(tls)

    def now(self) -> ssl.SSLContext:
        """The TLS context of a connection that begins now."""
        return self._context

    def read_again(self) -> None:
        """Take up what is in the files now; if that cannot be used, raises `ConfigError` and changes nothing.

        One context is never given another certificate: where its key does not follow, because somebody is
        just replacing the files, it would have none.
        """
        self._context = _usable(self._tls)


def _usable(tls: Tls) -> ssl.SSLContext:
    """The context; the log says so if no client will like it, of which nothing else tells an organiser."""
    made = context(tls)
    if why := out_of_date(tls, made):
        log.warning("no client trusts the certificate", certificate=tls.certificate, why=why)
    return made


def context(tls: Tls) -> ssl.SSLContext:
    """A TLS context for connections; raises `ConfigError` if the files cannot be used."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    for name, path in (("certificate", tls.certificate), ("key", tls.key)):
        try:
            Path(path).open("rb").close()  # OpenSSL does not say which of the two it could not read
        except OSError as error:
            raise ConfigError(f"tls.{name}: {path} cannot be read: {error.strerror}") from None

    def password() -> Never:
        # Otherwise OpenSSL would ask at the terminal or on standard input, while the whole host waits.
        raise ConfigError(f"tls.key: {tls.key} is encrypted; expected a key without a password")

    try:
        made.load_cert_chain(tls.certificate, tls.key, password)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(_objection(tls, error)) from None
    return made


def out_of_date(tls: Tls, host: ssl.SSLContext) -> str:
    """Why clients refuse the certificate by its dates, by this machine's clock; empty if they do not.

    A client in this process, which trusts whoever has issued it, looks at it: nothing else in Python's
    own library reads dates.
    """
    to_host, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        client = ssl.create_default_context(cafile=tls.certificate)
        client.check_hostname = False
        client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        ends = client.wrap_bio(to_client, to_host), host.wrap_bio(to_host, to_client, server_side=True)
        for end in (*ends, *ends):  # a hello, the certificate, and what the client says to that
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    except ssl.SSLCertVerificationError as error:
        return error.verify_message if error.verify_code in DATES else ""
    except OSError:
        pass  # they do not agree about something else, or somebody is just replacing the file
    return ""


def _objection(tls: Tls, error: OSError) -> str:
    """Which file cannot be used, and why: OpenSSL does not name it, and says nothing of what is no PEM."""
    try:
        ssl.create_default_context(cafile=tls.certificate)
    except (OSError, ssl.SSLError):
        return f"tls.certificate: {tls.certificate} cannot be used: expected a certificate in PEM format"
    why = str(error) if getattr(error, "reason", None) else "expected a private key in PEM format"
    return f"tls.key: {tls.key} cannot be used with {tls.certificate}: {why}"


async def renew(
    certificate: Certificate | None, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """At every SIGHUP, read the files again, for later connections."""
    if not hasattr(signal, "SIGHUP") or (certificate is None and _has_terminal()):  # or this is not a Unix
        task_status.started()
        return
    with trio.open_signal_receiver(signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            if certificate is None:
                log.info("there is no certificate to be read again")
                continue
            try:
                certificate.read_again()
            except ConfigError as error:
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
