"""`python -m tests.soak --minutes 30`: bots come, play and go, and the host's memory is not to grow.

Prints the memory of both processes every minute, and at the end by how much it grew in an
hour over the second half: how much of that finished matches take, which are kept for good, and
how much anything else. Exit code 1 if the latter is more than 1 MiB. Of its latest thousand
matches a table remembers more than of others. The second half does not begin before all tables
have so many, so on a busy machine a run takes longer, up to twice as long as it was told; it says
if that was not enough.
"""

import sys
from argparse import ArgumentParser
from functools import partial

from tests.soak.soak import BOUND, KEPT, PROCESSES, soak


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, metavar="N")
    seconds = parser.parse_args().minutes * 60
    found = soak(seconds, partial(print, flush=True), most=seconds)
    figures = zip(PROCESSES, found.slopes(), found.matches(), KEPT, found.leaks(), strict=True)
    for name, slope, matches, size, leak in figures:
        print(
            f"{name}: {slope:+.2f} MiB an hour over the second half: {matches:+.2f} for finished matches, "
            f"{size:g} bytes each, and {leak:+.2f} for anything else; the bound is {BOUND:g}"
        )
    if not found.filled:
        print("a table had not filled its memory before that: run it for longer")
    return 1 if found.growing() else 0


if __name__ == "__main__":
    sys.exit(main())
