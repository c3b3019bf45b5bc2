"""The host's certificate: read at the start, and again at every SIGHUP; and the log warns before it runs out.

A certificate lasts for weeks, and a host runs for months. A service without a certificate is told by the
same signal to read everything again, and goes on. Where there is a terminal, the signal says that it was
closed, and a host without a certificate ends.
"""

import os
import signal
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Never

import structlog
import trio

from server.config import Tls
from server.exits import ConfigError

DAY = 86_400.0  # seconds
SOON = 14 * DAY  # before its end, a certificate that is renewed by itself was renewed weeks ago …
LAST_PART = 1 / 4  # … but one that lasts for less than 56 days has as much of its life left
# OpenSSL's reasons if a key does not go with a certificate, the last one if they are not even of one kind.
ANOTHERS = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED")
AT_ANY_TIME = 0x200000  # OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which Python has no name for

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Dates(NamedTuple):
    """From when until when clients trust a certificate, in seconds since the epoch."""

    begins: float
    ends: float

    def refused(self, now: float) -> str:
        """Why clients refuse it at that time, in OpenSSL's words; empty if they do not."""
        if now < self.begins:
            return "certificate is not yet valid"
        return "certificate has expired" if now > self.ends else ""

    def runs_out(self, now: float) -> bool:
        """Whether it should have been renewed by then: those of a week are renewed days before their end."""
        return self.ends - now < min(SOON, (self.ends - self.begins) * LAST_PART)

    @property
    def until(self) -> str:
        return datetime.fromtimestamp(self.ends, UTC).strftime("%Y-%m-%d %H:%M UTC")


class Certificate:
    """The host's certificate, as it was last read."""

    def __init__(self, tls: Tls, wall: Callable[[], float] = time.time) -> None:
        """Raises `ConfigError` if the files cannot be used. `wall` tells the time."""
        self._tls = tls
        self._wall = wall
        self.read_again()

    def now(self) -> ssl.SSLContext:
        """The TLS context of a connection that begins now."""
        return self._context

    def read_again(self) -> None:
        """Take up what is in the files now; if that cannot be used, raises `ConfigError` and changes nothing.

        One context is never given another certificate: where its key does not follow, because somebody is
        just replacing the files, it would have none.
        """
        self._context = made = context(self._tls)
        self.dates = dates(self._tls, made)
        self._look()

    async def watch(self) -> None:
        """Look at the dates every day: a host runs for longer than a certificate lasts."""
        while True:
            await trio.sleep(DAY)
            self._look()

    def _look(self) -> None:
        """Have the log say so if clients refuse it, or soon will: nothing else tells an organiser."""
        if self.dates is None:
            return
        file, now = self._tls.certificate, self._wall()
        if why := self.dates.refused(now):
            log.warning("no client trusts the certificate", certificate=file, why=why)
        elif self.dates.runs_out(now):
            log.warning("the certificate runs out", certificate=file, until=self.dates.until)


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


def dates(tls: Tls, host: ssl.SSLContext) -> Dates | None:
    """The dates of the certificate; None if a client has other reasons to refuse it.

    A client in this process, which trusts whoever has issued it at any time, looks at it: nothing else in
    Python's own library reads dates.
    """
    to_host, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        client = ssl.create_default_context(cafile=tls.certificate)
        client.check_hostname = False
        client.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python's from 3.13 on; browsers are less strict
        client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | AT_ANY_TIME
        looking = client.wrap_bio(to_client, to_host)
        ends = looking, host.wrap_bio(to_host, to_client, server_side=True)
        for end in (*ends, *ends):  # a hello, the certificate, and what the client says to that
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
        shown = looking.getpeercert() or {}
        return Dates(*(float(ssl.cert_time_to_seconds(str(shown[end]))) for end in ("notBefore", "notAfter")))
    except (OSError, ValueError, KeyError):
        return None  # they do not agree about something, or somebody is just replacing the file


def _objection(tls: Tls, error: OSError) -> str:
    """Which file cannot be used, and why: OpenSSL does not name it, or say what is not PEM."""
    try:
        ssl.create_default_context(cafile=tls.certificate)
    except (OSError, ssl.SSLError):
        return f"tls.certificate: {tls.certificate} cannot be used: expected a certificate in PEM format"
    reason = getattr(error, "reason", None)
    if reason in ANOTHERS:
        why = "it is the key of another certificate"
    else:
        why = str(error) if reason else "expected a private key in PEM format"
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
