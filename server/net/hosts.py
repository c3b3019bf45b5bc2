"""Which names a host on loopback goes by, so that no other name leads a browser to it.

A page on the internet can have its own name point to 127.0.0.1 once it is loaded (DNS
rebinding). The browser then takes this host for a part of that page's site. But the
browser still says in `Host` which name it used, and that is none of our names.

Pure, except that it asks the system for this machine's name. It does not look up names.
"""

import re
import socket
from collections.abc import Iterable
from ipaddress import IPv6Address

from server.net.addresses import is_loopback
from server.net.escaping import in_quotes, safe

NAME = re.compile(r"[a-z0-9_](?:[a-z0-9._-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]+\]")
NAMED = re.compile(r"(?P<name>[^:\[\]]+|\[[0-9a-f:.]+\])(?::[0-9]*)?")  # by a name or an address
ABSOLUTE = re.compile(rb"https?://([^/?#]+)", re.IGNORECASE)


class Hosts:
    """The names of a host that listens on loopback; `in` is whether a `Host` header names it."""

    def __init__(self, listed: Iterable[str] = ()) -> None:
        """`listed` are names beside the host's own; raises `ValueError` for anything that is not a name."""
        self._listed = frozenset(map(_checked, listed))

    def __contains__(self, named: str) -> bool:
        return is_this_machine(named) or _name(named) in self._listed

    def objection(self, named: str) -> str:
        """What is wrong with a request that names this host, in a sentence; "" where nothing is."""
        if named in self:
            return ""
        return (
            f"this host does not go by the name {safe(ascii(named))}: "
            "its organiser can list names as `hosts`, and proxies as `proxies`, in quintain.toml"
        )


def expected_hosts(bind: str, listed: Iterable[str]) -> Hosts | None:
    """The names to expect where a host listens at `bind`; None: any, since others can reach it anyway."""
    return Hosts(listed) if is_loopback(bind) else None


def host_and_path(target: bytes) -> tuple[bytes, bytes]:
    """The host that a request's target names, and the rest of the target; b"" if it is not a whole address.

    What it names counts, and not the `Host` header (RFC 9112, 3.2.2): a proxy may go by the one alone.
    """
    found = ABSOLUTE.match(target)
    if found is None:
        return b"", target
    rest = target[found.end() :]
    return found[1], rest if rest.startswith(b"/") else b"/" + rest


def is_this_machine(named: str) -> bool:
    """Whether a `Host` header names this machine, by an address of loopback or a name that is always ours.

    A header that names nothing does not come from a browser.
    """
    name = _name(named)
    return not named or name in OWN or _is_loopback(name)


def is_oneself(named: str) -> bool:
    """Whether a name, with a port or without, leads every machine that uses it to itself."""
    return (name := _name(named)) == "localhost" or _is_loopback(name)


def _name(named: str) -> str:
    """The name without its port, in lower case; "" if it cannot be read."""
    found = NAMED.fullmatch(named.lower())
    return found["name"].removesuffix(".") if found else ""


def _is_loopback(name: str) -> bool:
    """Whether a name is a loopback address, in any spelling, such as 127.1; 0.0.0.0 is oneself, too."""
    try:
        if name.startswith("["):
            address = IPv6Address(name[1:-1])
            mapped = address.ipv4_mapped or address
            return mapped.is_loopback or mapped.is_unspecified
        return name[:1].isdigit() and socket.inet_aton(name)[0] in (0, 127)
    except (OSError, ValueError):
        return False


def _checked(listed: str) -> str:
    name = listed.lower().removesuffix(".")
    if not NAME.fullmatch(name):
        raise ValueError(
            f"expected a name or an address, such as arena.example.org, without a scheme or a port, "
            f"not {in_quotes(listed)}"
        )
    return name


def _own() -> frozenset[str]:
    """This machine's names, but not its full name: to look that up asks the network and may take long."""
    name = socket.gethostname().lower()
    return frozenset({"localhost", name, name.partition(".")[0]}) - {""}


OWN = _own()
