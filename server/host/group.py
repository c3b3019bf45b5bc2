"""Other processes that a host belongs with, as its doors and pages ask for them.

A group consists of hosts that share a database: see `server/peers`. Workers belong to one host: see
`server/workers`. `abroad.py` says which of them holds a tournament.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from server.host.exposition import Family

NOBODY: Mapping[str, str] = MappingProxyType({})  # holds anything: there are no other hosts


class Group(Protocol):
    """Hosts that have the same tournaments, and bots come to any of them."""

    def holders(self) -> Mapping[str, str]:
        """The addresses of the hosts that hold tournaments, by the tournaments' names.

        It is the same object until something changes, because there may be many.
        """
        ...

    def hosts(self) -> list[dict[str, Any]]:
        """What is known of each host, as the API shows it."""
        ...

    def health(self) -> Any:
        """What is wrong with all of them, as the API shows it."""
        ...


class Workers(Protocol):
    """Processes of this host that play beside this one."""

    def not_ready(self) -> str:
        """Why players cannot come to one of them; "" if they can."""
        ...

    def figures(self, own: Iterable[Family]) -> Iterable[Family]:
        """This process's own figures, with theirs added, for a monitor."""
        ...
