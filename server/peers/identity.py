"""Who a host is to other hosts: a key of its own, and a certificate that it has made itself.

Both are made anew at every start. Only the certificate leaves the process, for the
database, by which other hosts know it. No authority has to be set up, and nobody who
cannot write to the database can pose as a host.
"""

import datetime
import secrets
import ssl
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from server.exits import ConfigError

LASTS = datetime.timedelta(days=3650)  # longer than any process


class Identity(Struct, frozen=True):
    """What proves who a host is."""

    certificate: str  # in PEM
    key: str  # in PEM; a secret

    @property
    def fingerprint(self) -> str:
        return fingerprint(ssl.PEM_cert_to_DER_cert(self.certificate))


def fingerprint(certificate: bytes | None) -> str:
    """The fingerprint of a certificate in DER; "" for none."""
    return "" if certificate is None else sha256(certificate).hexdigest()


def made() -> Identity:
    """A new identity; raises `ConfigError` where the package that makes certificates is missing."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:  # it is an extra
        raise ConfigError(f"peers: install quintain with the extra sign ({error})") from None
    key = ec.generate_private_key(ec.SECP256R1())
    # A name of its own, because OpenSSL takes certificates of the same name for the same one.
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"quintain {secrets.token_hex(8)}")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LASTS)  # clocks may be off, and fingerprints decide
        .not_valid_after(now + LASTS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Identity(
        certificate.public_bytes(serialization.Encoding.PEM).decode(),
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode(),
    )


def context(own: Identity, others: Iterable[str], *, server: bool) -> ssl.SSLContext:
    """The TLS context of a link, which ends unless the other side has one of the `others`' certificates.

    The fingerprint says whose certificate it is; names in certificates mean nothing here.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    with tempfile.TemporaryDirectory() as folder:  # nobody else can read it; ssl takes only files
        file = Path(folder) / "host.pem"
        file.touch(mode=0o600)
        file.write_text(own.key + own.certificate)
        made.load_cert_chain(file)
    if known := "".join(others):
        made.load_verify_locations(cadata=known)
    return made
