"""Whose request a proxy is passing on, according to proxies that are trusted.

Anybody can write anything into `X-Forwarded-For`, and each proxy appends the
address that connected to it. So the header is read from its end, for as long as
the address that added an entry is a proxy of ours.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from server.net.addresses import as_networks

HEADER = "x-forwarded-for"
LOOPBACK, OTHER_LOOPBACK = ip_address("127.0.0.1"), ip_network("::1")  # proxies here come from either

# As some proxies write an address: 203.0.113.5:4711, [2001:db9::1]:4711 or [2001:db9::1].
WITH_PORT = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<four>[^:\[\]]+))(?::[0-9]{1,5})?")

MARKS = frozenset(  # headers that proxies add, beside those that begin with `x-forwarded`
    {"forwarded", "via", "cdn-loop", "client-ip", "true-client-ip", "x-real-ip", "x-client-ip"}
    | {"x-cluster-client-ip", "x-original-forwarded-for", "x-envoy-external-address", "x-proxyuser-ip"}
    | {"cf-connecting-ip", "cf-ray", "fastly-client-ip", "fly-client-ip"}
)


class Proxies:
    def __init__(self, networks: Sequence[str] = ()) -> None:
        """`networks` are in CIDR form, or single addresses; raises `ValueError` for anything else."""
        listed = as_networks(networks)
        here = any(LOOPBACK in network for network in listed)
        self._networks = (*listed, OTHER_LOOPBACK) if here else listed

    def __contains__(self, peer: str) -> bool:
        address = _address(peer)
        return address is not None and any(address in network for network in self._networks)

    def client(self, peer: str, forwarded: str) -> str:
        """Who is behind `peer` according to the header: `peer` itself, unless it is a proxy of ours."""
        for said in reversed(forwarded.split(",")):
            if peer not in self or (address := _address(_without_port(said.strip(" \t")))) is None:
                break
            peer = str(address)
        return peer


def passed_on(headers: Iterable[str]) -> bool:
    """Whether these are headers of a request that some proxy has passed on, whoever set it up."""
    return any(name in MARKS or name.startswith("x-forwarded") for name in headers)


def _without_port(said: str) -> str:
    with_port = WITH_PORT.fullmatch(said)
    return said if with_port is None else with_port["six"] or with_port["four"]


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
