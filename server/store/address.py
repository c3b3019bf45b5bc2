"""The address of a database, fit to be shown on a screen, in a log or in an error: without its password.

A password may be before the host or in the query. If it is not escaped (and has,
say, a bare @ or / in it), it may be anywhere. So nothing is shown of an address
that cannot be parsed. Not here: what the parts mean.
"""

import re
from urllib.parse import unquote

SECRET = ("passw", "secret", "scram")  # a parameter whose name contains one of these is not shown
HIDDEN = "…"
MISWRITTEN = (
    "what was said of it may have a password in it, and is not shown; "
    "in a password % is written %25, / %2F, = %3D, @ %40, & %26 and a space %20"
)

_HOST = r"(?:\[[^\]@]*\]|[^][/@?=:,]*)(?::\d*)?"
_ADDRESS = re.compile(
    r"((?:[a-z0-9+.-]+://)?+)"  # possessive, or `postgresql` could be taken for a host
    r"(?:([^/@:]*)(:[^/@]*)?@)?"
    rf"({_HOST}(?:,{_HOST})*(?:/[^@?=]*)?)"
    r"(?:\?([^@]*))?",
    re.IGNORECASE,
)


def clear(address: str) -> bool:
    """Whether it is clear which part of the address is a password."""
    return _ADDRESS.fullmatch(address) is not None


def shown(address: str) -> str:
    """The address without passwords."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        scheme, there, _ = address.partition("://")
        return f"{scheme}://{HIDDEN}" if there and scheme.isalnum() else HIDDEN
    scheme, user, password, place, query = found.groups()
    login = "" if user is None else f"{user}{'' if password is None else ':' + HIDDEN}@"
    asked = "" if query is None else "?" + "&".join(map(_parameter, query.split("&")))
    return f"{scheme}{login}{place}{asked}"


def _parameter(text: str) -> str:
    name, equals, _ = text.partition("=")
    if not equals:  # the rest of a password with a bare & in it
        return HIDDEN if name else ""
    return f"{name}={HIDDEN}" if any(word in unquote(name).lower() for word in SECRET) else text
