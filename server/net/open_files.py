"""How many files this process may have open: every connection is one, and `ulimit -n` bounds them.

A host that could hold hardly any connections does not start. One that has room for fewer
than its limits promise says so and works with what there is: most events are small.
"""

import math
from contextlib import suppress

from server.net.limits import Limits

try:  # here, because later there may be no file left to read the module from
    import resource
except ImportError:  # not a Unix
    resource = None

FEWEST = 64  # connections: with fewer, people who look at pages would shut out bots at a small event
ADVICE = "raise the limit: `ulimit -n {wanted}` in a shell, LimitNOFILE={wanted} in a systemd unit"


def room_for_files() -> float:
    """How many files this process may open, once it has asked for as many as it can get."""
    if resource is None:
        return math.inf
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return math.inf if soft == resource.RLIM_INFINITY else soft


def promised(limits: Limits) -> int:
    """The files that the limits promise: the host's own, strangers, and a tournament that comes at once."""
    return limits.spare_files + limits.unauthenticated + limits.backlog


def too_few(files: float, limits: Limits) -> bool:
    """Whether nearly everybody would have to be turned away."""
    return files < limits.spare_files + FEWEST


def shortage(files: float, limits: Limits) -> str:
    """What is wrong with so few files, in a line that says how to get more; "" if there are enough."""
    wanted = promised(limits)
    if files >= wanted:
        return ""
    left = max(0, files - limits.spare_files)
    return (
        f"{files:.0f} files may be open at once, which leaves {left:.0f} for connections; "
        f"expected {wanted} or more; {ADVICE.format(wanted=wanted)}"
    )
