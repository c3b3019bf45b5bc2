"""Which addresses, given by strangers, may be called, and which addresses belong to one customer.

Pure: nothing is looked up and nobody is called here.

The table of networks is this file's own. `ipaddress.is_global` answers a different
question: it is true for multicast, NAT64 of loopback and more, and it varies
between versions of Python.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from server.net.escaping import in_quotes

IP = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LONGEST = 1000  # characters of an address: the target of the request alone may have 2048 bytes

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[!-~]*?)?(?P<query>\?[!-~]*)?"
)
_NOT_IN_URLS = frozenset("#\\")  # a fragment is never sent; some servers read a backslash as a slash

# Ports above 1023 that are not called: a POST could harm a service there that asks for no password.
SERVICES = frozenset(
    {1433, 1521, 3306, 5432, 6379, 9042, 9200, 9300, 11211, 27017}  # databases and caches
    | {2375, 2376, 2379, 2380, 6443, 8500, 10250, 10255}  # control of containers
    | {1080, 1719, 1720, 1723, 3128, 5060, 5061}  # proxies, tunnels, telephony
    | {2049, 3389, 3659, 4045, 4190, 5672, 5900, 6566, 6679, 6697, 10080}  # files, screens, queues, chat
    | {*range(6000, 6010), *range(6665, 6670)}  # X11, more chat
)


def _networks(*written: str) -> tuple[Network, ...]:
    return tuple([ip_network(each) for each in written])


LOOPBACK = _networks("127.0.0.0/8", "::1/128")
OWN = (  # private: called only if a listed network lies within one of these
    *LOOPBACK,
    *_networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    *_networks("100.64.0.0/10", "198.18.0.0/15"),  # behind a provider's NAT; benchmarks
)
NEVER = (  # never called, whatever is listed
    *_networks("0.0.0.0/8"),  # this host: on many systems, loopback
    *_networks("169.254.0.0/16"),  # link-local: where clouds keep their keys
    *_networks("192.0.0.0/24", "2001::/23"),  # protocols: Teredo, ORCHID
    *_networks("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),  # examples
    *_networks("192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"),  # anycast for DNS
    *_networks("192.52.193.0/24", "192.88.99.0/24", "2002::/16"),  # relays: multicast, 6to4
    *_networks("224.0.0.0/4", "240.0.0.0/4"),  # multicast; reserved, and broadcast
)
ASSIGNED = ip_network("2000::/3")  # what is assigned of IPv6: the rest has special purposes
NAT64 = ip_network("64:ff9b::/96")


class BadUrl(ValueError):
    """An address of a kind that is not called. The message is for whoever gave it."""


class Url(Struct, frozen=True):
    """An address, taken apart."""

    secure: bool
    host: str  # without the brackets of IPv6
    port: int
    target: str  # path and query
    from_here: bool = False  # the one who gave it is on this machine, and may have this machine called
    origin: str = ""  # the network of the one who gave it; "" where that is not counted

    @property
    def text(self) -> str:
        """The whole address, in one spelling."""
        return f"http{'s' if self.secure else ''}://{self.authority}{self.target}"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def taken_apart(text: str) -> Url:
    """The parts of an address of a kind that is called; raises `BadUrl` for any other."""
    if len(text) > LONGEST:
        raise BadUrl(f"an address to call may have {LONGEST} characters, and this one has {len(text)}")
    found = None if _NOT_IN_URLS & {*text} else _URL.fullmatch(text)
    if found is None:
        raise BadUrl(
            "an address to call is http:// or https://, a host, and perhaps a port, a path and a query: "
            "without a user, a fragment or blanks, and in ASCII"
        )
    secure = found["scheme"] == "https"
    port = int(found["port"]) if found["port"] else 443 if secure else 80
    if not (port in (80, 443) or 1024 <= port <= 65535) or port in SERVICES:
        raise BadUrl(
            f"port {port} is not called: expected 80, 443, or one above 1023 of no well-known service"
        )
    return Url(
        secure, found["host"].strip("[]").lower(), port, (found["path"] or "/") + (found["query"] or "")
    )


def http_parts(url: str) -> SplitResult | None:
    """The parts of an address of a server that speaks HTTP; None if it is no such address."""
    try:
        parts = urlsplit(url)
        _ = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError:  # a port that is none, half of a pair of brackets, or a name with two dots in a row
        return None
    sendable = url.isprintable() and " " not in url and parts.path.isascii()
    return parts if parts.scheme in ("http", "https") and parts.hostname and sendable else None


def unmapped(address: IP) -> IP:
    """The address of IPv4 to which connecting to an address of IPv6 connects, if it stands for one."""
    return address if isinstance(address, IPv4Address) else address.ipv4_mapped or address


def allowed(address: IP, networks: Sequence[Network]) -> bool:
    """Whether an address may be called where these networks are listed.

    A public address may be called if one of them holds it; a private one only if a
    listed network lies within its own: listing everything does not list that.
    """
    address = unmapped(address)
    if address in NAT64:  # seen from a relay, whose private networks are not ours
        inner = IPv4Address(address.packed[-4:])
        return not _holds(OWN, inner) and allowed(inner, networks)
    own = next((network for network in OWN if address in network), None)
    if own is None and (_holds(NEVER, address) or (address.version == 6 and address not in ASSIGNED)):
        return False
    return any(address in listed and (own is None or _within(listed, own)) for listed in networks)


def _holds(networks: Sequence[Network], address: IP) -> bool:
    return any(address in network for network in networks)


def _within(inner: Network, outer: Network) -> bool:
    return inner.network_address in outer and inner.broadcast_address in outer


def as_networks(listed: Sequence[str]) -> tuple[Network, ...]:
    """What an organiser has listed: networks, or single addresses. Raises `ValueError` for anything else."""
    return tuple([_network(each) for each in listed])


def _network(written: str) -> Network:
    try:
        return ip_network(written)
    except ValueError:
        pass
    expected = f"expected an address, or a network such as 10.1.0.0/16, not {in_quotes(written)}"
    try:
        around = ip_network(written, strict=False)
    except ValueError:
        raise ValueError(expected) from None
    raise ValueError(f"{expected}, which is an address in {around}") from None


def callable_networks(listed: Sequence[str], bind: str) -> tuple[Network, ...]:
    """The networks that may be called for clients on this machine.

    Those are the ones that an organiser lists; else loopback, if only loopback can reach this host. For
    anybody else they are the listed ones alone. Raises `ValueError` like `as_networks`.
    """
    if listed:
        return as_networks(listed)
    return LOOPBACK if is_loopback(bind) else ()


def customer(address: IP) -> str:
    """The part of an address that one customer has: all of IPv4, or the 64 bits of an IPv6 network."""
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address.packed[:8] + bytes(8), 64)))
    return str(address)


def is_loopback(bind: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        return ip_address(bind).is_loopback
    except ValueError:
        return bind == "localhost"
