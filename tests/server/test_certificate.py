"""The certificate of a running host: another one is taken up without a restart, and a bad one is not."""

import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
import trio
import trio.testing
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from structlog.testing import capture_logs

from server import figures
from server.certificate import DAY, Certificate, Dates, context, dates
from server.config import Tls
from server.exits import ConfigError
from tests.hang import HANG
from tests.lacking import lacking
from tests.server.served import ROOT, Served


def issue(authority: trustme.CA, folder: Path, *, not_after: datetime | None = None) -> None:
    """A new certificate and its key, in the files that the host was given."""
    issued = authority.issue_cert("localhost", not_after=not_after)
    issued.private_key_pem.write_to_path(folder / "host.key")
    (folder / "host.pem").write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))


def shown(port: int, trust: ssl.SSLContext) -> bytes:
    """The certificate that a client meets with, and believes."""
    with (
        socket.create_connection(("127.0.0.1", port), HANG) as plain,
        trust.wrap_socket(plain, server_hostname="localhost") as client,
    ):
        return client.getpeercert(binary_form=True) or b""


@pytest.mark.parametrize("missing", ["certificate", "key"])
def test_the_file_that_cannot_be_read_is_named(tmp_path: Path, missing: str) -> None:
    issue(trustme.CA(), tmp_path)
    files = {"certificate": str(tmp_path / "host.pem"), "key": str(tmp_path / "host.key")}
    Path(files[missing]).unlink()
    with pytest.raises(ConfigError) as error:
        context(Tls(**files))
    assert str(error.value) == f"tls.{missing}: {files[missing]} cannot be read: No such file or directory"


@pytest.mark.parametrize("broken", ["certificate", "key"])
def test_the_file_that_is_not_in_pem_format_is_named(tmp_path: Path, broken: str) -> None:
    """Catches "[SSL] PEM lib (_ssl.c:3905)"."""
    issue(trustme.CA(), tmp_path)
    files = {"certificate": str(tmp_path / "host.pem"), "key": str(tmp_path / "host.key")}
    whole = Path(files[broken]).read_bytes()
    for left in (b"", b"junk\n", whole[: len(whole) // 2]):
        Path(files[broken]).write_bytes(left)
        with pytest.raises(ConfigError) as error:
            context(Tls(**files))
        assert str(error.value).startswith(f"tls.{broken}: {files[broken]} cannot be used")
        assert str(error.value).endswith(" in PEM format")


@pytest.mark.parametrize("kind", trustme.KeyType)
def test_a_key_of_another_certificate_is_said_to_be_one(kind: trustme.KeyType, tmp_path: Path) -> None:
    """Catches "[SSL: NO_CERTIFICATE_ASSIGNED] no certificate assigned", where one was."""
    issue(trustme.CA(), tmp_path)
    key = tmp_path / "host.key"
    trustme.CA().issue_cert("localhost", key_type=kind).private_key_pem.write_to_path(key)
    with pytest.raises(ConfigError) as error:
        context(Tls(str(tmp_path / "host.pem"), str(key)))
    why = f"cannot be used with {tmp_path / 'host.pem'}: it is the key of another certificate"
    assert str(error.value) == f"tls.key: {key} {why}"


def test_nobody_is_asked_for_the_password_of_a_key(tmp_path: Path) -> None:
    """Catches a question at the terminal or on standard input, during which the whole host stood still."""
    issued = trustme.CA().issue_cert("localhost")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "host.pem")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    (tmp_path / "host.key").write_bytes(locked)
    with pytest.raises(ConfigError) as error:
        context(Tls(str(tmp_path / "host.pem"), str(tmp_path / "host.key")))
    assert (
        str(error.value)
        == f"tls.key: {tmp_path / 'host.key'} is encrypted; expected a key without a password"
    )


class Replaced:
    """The names of a certificate's files, one of which is replaced when they have been asked for so often."""

    def __init__(self, folder: Path, after: int, replace: Callable[[], object]) -> None:
        self.after = after
        self._folder = folder
        self._replace = replace

    @property
    def certificate(self) -> str:
        return self._named("host.pem")

    @property
    def key(self) -> str:
        return self._named("host.key")

    def _named(self, name: str) -> str:
        if self.after == 0:
            self._replace()
        self.after -= 1
        return str(self._folder / name)


@pytest.mark.parametrize("after", range(6))
async def test_files_that_are_just_being_replaced_leave_no_host_without_a_certificate(
    tmp_path: Path, after: int
) -> None:
    """Catches a certificate in use beside no key, with which no handshake came to its end any more."""
    authority, trust = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trust)
    issue(authority, tmp_path)
    another = authority.issue_cert("localhost").private_key_pem
    names = Replaced(tmp_path, -1, lambda: another.write_to_path(tmp_path / "host.key"))
    certificate = Certificate(cast("Tls", names))
    issue(authority, tmp_path)
    names.after = after
    with suppress(ConfigError):
        certificate.read_again()
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.SSLStream(ours, certificate.now(), server_side=True).do_handshake)
        await trio.SSLStream(theirs, trust, server_hostname="localhost").do_handshake()


def test_a_certificate_out_of_its_dates_is_used_and_the_log_says_that_no_client_trusts_it(
    tmp_path: Path,
) -> None:
    """Catches one that was renewed too late, or another file than the renewed: bots alone saw that."""
    authority = trustme.CA()
    issue(authority, tmp_path)
    tls = Tls(str(tmp_path / "host.pem"), str(tmp_path / "host.key"))
    with capture_logs() as told:
        certificate = Certificate(tls)
    assert told == []
    issue(authority, tmp_path, not_after=datetime(2020, 1, 1, tzinfo=UTC))
    with capture_logs() as told:
        certificate.read_again()
    assert [(line["event"], line["why"]) for line in told] == [
        ("no client trusts the certificate", "certificate has expired")
    ]


def test_clients_trust_a_certificate_from_its_first_second_to_its_last(tmp_path: Path) -> None:
    end = datetime(2035, 3, 1, 12, tzinfo=UTC)
    issue(trustme.CA(), tmp_path, not_after=end)
    tls = Tls(str(tmp_path / "host.pem"), str(tmp_path / "host.key"))
    found = dates(tls, context(tls))
    assert found is not None
    assert (found.ends, found.until) == (end.timestamp(), "2035-03-01 12:00 UTC")
    assert (found.refused(found.begins), found.refused(found.ends)) == ("", "")
    assert found.refused(found.begins - 1) == "certificate is not yet valid"
    assert found.refused(found.ends + 1) == "certificate has expired"


def test_the_dates_of_a_certificate_are_known_if_its_issuer_has_written_nothing_but_what_must_be_there(
    tmp_path: Path,
) -> None:
    """Catches silence about a certificate's end, since Python 3.13 demands more of issuers."""
    end = datetime(2035, 3, 1, 12, tzinfo=UTC)
    club, host = generate_private_key(SECP256R1()), generate_private_key(SECP256R1())
    chain = signed("localhost", host, club, end) + signed("club", club, club, end)
    key = host.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "host.pem").write_bytes(chain)
    (tmp_path / "host.key").write_bytes(key)
    tls = Tls(str(tmp_path / "host.pem"), str(tmp_path / "host.key"))
    found = dates(tls, context(tls))
    assert found is not None
    assert found.ends == end.timestamp()


def signed(
    name: str, key: EllipticCurvePrivateKey, issuer: EllipticCurvePrivateKey, not_after: datetime
) -> bytes:
    """A certificate by "club" that says whether it may issue others, and nothing more."""
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, each)]) for each in (name, "club")]
    return (
        x509.CertificateBuilder(names[1], names[0], key.public_key(), x509.random_serial_number())
        .not_valid_before(not_after - timedelta(days=90))
        .not_valid_after(not_after)
        .add_extension(x509.BasicConstraints(ca=key is issuer, path_length=None), critical=True)
        .sign(issuer, SHA256())
        .public_bytes(Encoding.PEM)
    )


@pytest.mark.parametrize(("lasts", "days"), [(398, 14), (90, 14), (6, 1.5)])
def test_a_certificate_runs_out_days_before_its_end_and_sooner_where_it_lasts_for_less(
    lasts: float, days: float
) -> None:
    here = Dates(0.0, lasts * DAY)
    assert not here.runs_out(here.ends - days * DAY)
    assert here.runs_out(here.ends - days * DAY + 1)


async def test_a_host_that_runs_for_months_says_every_day_that_its_certificate_runs_out_and_then_that_it_has(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    """Catches silence between the start of a host and the morning on which no bot could come in."""
    begun = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    end = datetime.fromtimestamp(begun + 30.5 * DAY, UTC)
    issue(trustme.CA(), tmp_path, not_after=end)
    tls = Tls(str(tmp_path / "host.pem"), str(tmp_path / "host.key"))
    with capture_logs() as told:
        certificate = Certificate(tls, lambda: begun + trio.current_time())
        with trio.move_on_after(32.5 * DAY):
            await certificate.watch()
    runs_out, refused = "the certificate runs out", "no client trusts the certificate"
    assert [line["event"] for line in told] == [runs_out] * 14 + [refused] * 2
    assert told[0]["until"] == "2026-01-31 12:00 UTC"
    issue(trustme.CA(), tmp_path)
    with capture_logs() as told:
        certificate.read_again()
    assert told == []


def test_a_monitor_is_told_until_when_clients_trust_the_certificate_in_use(tmp_path: Path) -> None:
    end = datetime(2035, 3, 1, 12, tzinfo=UTC)
    issue(trustme.CA(), tmp_path, not_after=end)
    certificate = Certificate(Tls(str(tmp_path / "host.pem"), str(tmp_path / "host.key")))
    issue(trustme.CA(), tmp_path)  # which nobody has told the host
    (family,) = figures.certificate(certificate)
    assert [sample.value for sample in family.samples] == [end.timestamp()]


@pytest.mark.slow
def test_a_certificate_is_read_again_when_the_host_is_told_to_and_a_bad_one_changes_nothing(
    tmp_path: Path,
) -> None:
    if not hasattr(signal, "SIGHUP"):
        lacking("this system has no SIGHUP")
    authority, trust = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trust)
    issue(authority, tmp_path)
    (tmp_path / "quintain.toml").write_text('tls = { certificate = "host.pem", key = "host.key" }\n')
    host = Served(tmp_path)

    def told_to_read() -> str:
        host.process.send_signal(signal.SIGHUP)
        assert host.process.stderr is not None
        return next(line for line in host.process.stderr if "certificate" in line)

    try:
        first = [shown(port, trust) for port in (host.http, host.websocket)]
        assert first[0] == first[1]
        issue(authority, tmp_path)
        assert shown(host.http, trust) == first[0], "nobody has told it"
        assert "read again" in told_to_read()
        second = [shown(port, trust) for port in (host.http, host.websocket)]
        assert second[0] == second[1] != first[0]

        key = (tmp_path / "host.key").read_bytes()
        issue(authority, tmp_path)
        (tmp_path / "host.key").write_bytes(key)  # of another certificate
        assert "is the one before" in told_to_read()
        assert shown(host.http, trust) == second[0]
    finally:
        host.kill()


@pytest.mark.slow
def test_a_service_without_a_certificate_that_is_told_to_read_it_again_goes_on(tmp_path: Path) -> None:
    """Catches `systemctl reload`, which ended the host for good: to systemd, SIGHUP is no failure."""
    if not hasattr(signal, "SIGHUP"):
        lacking("this system has no SIGHUP")
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
    host = subprocess.Popen(
        [sys.executable, "-m", "server", "serve", *ports, "--show", "0", "--data", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a service has no terminal
    )
    try:
        assert host.stdout is not None
        assert host.stderr is not None
        assert host.stdout.readline().startswith("ready ")
        host.send_signal(signal.SIGHUP)
        assert any("there is no certificate to be read again" in line for line in host.stderr)
        host.terminate()
        assert host.wait(HANG) == 0
    finally:
        host.kill()
        host.communicate()
