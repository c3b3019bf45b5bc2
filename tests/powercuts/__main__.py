"""`python -m tests.powercuts --cuts N`: cut the power, and see whether anything is gone that was safe."""

import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

from tests.crashes.world import FAST
from tests.powercuts.cuts import cut


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.powercuts", description=__doc__)
    parser.add_argument("--cuts", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the first of the seeds")
    arguments = parser.parse_args()
    safe, failed, begun = 0, 0, time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.cuts):
        with tempfile.TemporaryDirectory(dir=FAST) as folder:
            try:
                safe += cut(seed, Path(folder)).safe
            except AssertionError as error:
                failed += 1
                print(f"seed {seed}: {error}")
    took = time.monotonic() - begun
    print(f"{arguments.cuts} power cuts, {safe} results were safe, {failed} cuts took one, {took:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
