"""`python -m tests.fuzz --door line --sessions 100000 --seed 1`: strangers at one door, at any length."""

import sys
from argparse import ArgumentParser

from tests.fuzz.campaign import DOORS, run


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--door", choices=[*DOORS, "all"], default="all")
    parser.add_argument("--sessions", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, metavar="K", dest="first", help="the first session")
    args = parser.parse_args()
    failed = False
    for door in DOORS.values() if args.door == "all" else [DOORS[args.door]]:
        report = run(door, args.seed, range(args.first, args.first + args.sessions))
        print("\n".join(report.lines), flush=True)
        failed |= bool(report.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
