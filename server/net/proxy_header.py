"""The PROXY protocol, versions 1 and 2: a proxy first says whose connection it passes on.

https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt Bytes in, an address out; who may say such a
thing, and how long that may take, is decided in `server/net/listening.py`.
"""

import re
from ipaddress import IPv4Address, IPv6Address

from msgspec import Struct

FIRST, SECOND = b"PROXY ", b"\r\n\r\n\x00\r\nQUIT\n"  # how the versions begin
LINE = 107  # bytes of the longest line of version 1, including its end
HEAD = 16  # bytes of version 2 before the addresses
LAST_PORT = 65535
MOST = 2048  # bytes of version 2 in all: proxies add names and certificates, which are skipped
LOCAL, PASSED_ON = 0x20, 0x21  # of version 2: the proxy speaks for itself, or for somebody

# By the kind of addresses in version 2: how many bytes they take, and how many of these are the first.
ADDRESSES = {0x11: (12, 4), 0x21: (36, 16)}  # TCP over IPv4, and over IPv6
NO_ADDRESSES = {0x00, 0x12, 0x22, 0x31, 0x32}  # unknown, UDP, Unix: no address for us

_LINE = re.compile(
    rb"PROXY (?:UNKNOWN[^\r]*"
    rb"|TCP(?P<version>[46]) (?P<source>[0-9A-Fa-f.:]+) (?P<target>[0-9A-Fa-f.:]+)"
    rb" (?P<source_port>0|[1-9]\d{0,4}) (?P<target_port>0|[1-9]\d{0,4}))\r\n"
)


class BadHeader(Exception):
    """A listed proxy has sent something that is no header. The message is for the organiser's log."""


class Header(Struct, frozen=True):
    source: str  # the address that the proxy speaks for; "": the proxy speaks for itself, or does not know
    length: int  # in bytes


def may_begin(begun: bytes) -> bool:
    """Whether a header can begin with these bytes."""
    return any(begun.startswith(version[: len(begun)]) for version in (FIRST, SECOND))


def header(begun: bytes) -> Header | None:
    """The header that these bytes begin with; None while it is not complete. Raises `BadHeader`."""
    if begun.startswith(FIRST):
        return _first(begun)
    return _second(begun) if begun.startswith(SECOND) else None


def _first(begun: bytes) -> Header | None:
    end = begun.find(b"\n", 0, LINE) + 1
    if not end:
        if len(begun) >= LINE:
            raise BadHeader(f"expected the end of a PROXY line within {LINE} bytes")
        return None
    found = _LINE.fullmatch(begun[:end])
    if found is None:
        raise BadHeader("expected PROXY TCP4|TCP6 SOURCE DESTINATION PORT PORT, or PROXY UNKNOWN")
    if found["source"] is None:
        return Header("", end)
    kind = IPv4Address if found["version"] == b"4" else IPv6Address
    try:
        source, _ = (kind(address.decode()) for address in found.group("source", "target"))
    except ValueError:
        raise BadHeader("expected addresses of the kind that the PROXY line names") from None
    if any(int(port) > LAST_PORT for port in found.group("source_port", "target_port")):
        raise BadHeader(f"expected ports up to {LAST_PORT} in a PROXY line")
    return Header(_plain(source), end)


def _second(begun: bytes) -> Header | None:
    if len(begun) < HEAD:
        return None
    command, kind = begun[12], begun[13]
    length = HEAD + int.from_bytes(begun[14:HEAD])
    if command not in (LOCAL, PASSED_ON):
        raise BadHeader(f"expected version 2 and a command of the PROXY protocol, not {command:#04x}")
    if length > MOST:
        raise BadHeader(f"expected a PROXY header of at most {MOST} bytes, not {length}")
    if len(begun) < length:
        return None
    if command == LOCAL or kind in NO_ADDRESSES:
        return Header("", length)
    if kind not in ADDRESSES:
        raise BadHeader(f"expected TCP over IPv4 or IPv6 in a PROXY header, not {kind:#04x}")
    size, source = ADDRESSES[kind]
    if length - HEAD < size:
        raise BadHeader(f"expected {size} bytes of addresses in a PROXY header, not {length - HEAD}")
    packed = begun[HEAD : HEAD + source]
    return Header(_plain(IPv4Address(packed) if source == 4 else IPv6Address(packed)), length)


def _plain(source: IPv4Address | IPv6Address) -> str:
    """The address: as IPv4 if it came through an IPv6 socket, in which all of IPv4 is one network."""
    return str(source.ipv4_mapped or source) if isinstance(source, IPv6Address) else str(source)
