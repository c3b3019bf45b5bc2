"""`python -m tests.crashes --crashes N`: hosts that are killed before some step of some task."""

import sys
import tempfile
import time
import traceback
from argparse import ArgumentParser
from pathlib import Path

from tests.crashes.campaign import crash
from tests.crashes.world import FAST


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.crashes", description=__doc__)
    parser.add_argument("--crashes", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the first of the seeds")
    arguments = parser.parse_args()
    seed, crashes, failed, begun = arguments.seed, 0, 0, time.monotonic()
    while crashes < arguments.crashes:
        with tempfile.TemporaryDirectory(dir=FAST) as folder:
            try:
                crashes += crash(seed, Path(folder))
            except Exception:
                failed += 1
                print(f"seed {seed}:", traceback.format_exc())
        seed += 1
    contests = seed - arguments.seed
    print(f"{crashes} crashes of {contests} contests, {failed} failed, {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
