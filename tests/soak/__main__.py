"""`python -m tests.soak --minutes 30`: bots come, play and go, and the host's memory is not to grow.

Prints the memory of both processes every minute, and at the end by how much it grew in an
hour over the second half. Exit code 1 if that is more than 1 MiB. Much less than 30 minutes
say little: a table remembers its latest thousand matches, and so many of Quoridor take ten
minutes on two shared cores.
"""

import sys
from argparse import ArgumentParser
from functools import partial

from tests.soak.soak import BOUND, PROCESSES, soak


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, metavar="N")
    found = soak(parser.parse_args().minutes * 60, partial(print, flush=True))
    for name, slope in zip(PROCESSES, found.slopes(), strict=True):
        print(f"{name}: {slope:+.2f} MiB an hour over the second half; the bound is {BOUND:g}")
    return 1 if found.growing() else 0


if __name__ == "__main__":
    sys.exit(main())
