"""What one address may use up: a bucket of credits for each, for a limited number of addresses.

An address is what one customer has (`addresses.py`). `localhost` is one address,
whether it is taken for 127.0.0.1 or for ::1.
"""

from collections import OrderedDict
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from server.net.addresses import customer
from server.net.limits import Bucket, Rate

LOCALHOST = "127.0.0.1"
MOST = 1000  # addresses that are remembered: somebody with more of them has as many budgets anyway


@lru_cache(MOST)  # a bot comes for each of its matches, always from the same address
def address_of(peer: str) -> str:
    """What is counted as one address; `peer` itself, if it is not an internet address."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if isinstance(address, IPv6Address) and address.is_loopback:
        return LOCALHOST
    return customer(address)


class Budgets:
    """One bucket for each address. The address that spent longest ago is forgotten first."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, peer: str, now: float) -> bool:
        """Spend a credit of `peer`'s address; False if it has none left."""
        address = address_of(peer)
        bucket = self._buckets.get(address)
        if bucket is None:
            bucket = self._buckets[address] = Bucket(self._rate, now)
        self._buckets.move_to_end(address)
        if len(self._buckets) > MOST:
            self._buckets.popitem(last=False)
        return bucket.take(now)
