"""`python -m tests.simulation --seeds A-B`: as many tournaments as one has time for."""

import sys
import time
from argparse import ArgumentParser

from tests.simulation.plan import draw
from tests.simulation.world import simulate


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", default="1-1000", help="A-B: the seeds from A to B, both included")
    parser.add_argument("--trace", type=int, metavar="SEED", help="print the plan and the trace of one seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    begun = time.process_time()
    bad = 0
    T = M = S = 0
    for seed in range(int(first), int(last or first) + 1) if args.trace is None else [args.trace]:
        if args.trace is not None:
            print(draw(seed))
        report = simulate(draw(seed), args.trace is not None)
        for line in report.trace:
            print(line)
        T += report.tournaments
        M += report.matches
        S += report.seconds
        if report.complaints:
            bad += 1
            print(seed, len(report.complaints), "\n   ".join(report.complaints[:3])[:1800])
    cpu = time.process_time() - begun
    print(
        T,
        "tournaments",
        M,
        "matches",
        round(S / 3600, 1),
        "h",
        bad,
        "bad",
        round(cpu, 2),
        "CPU s",
        round(M / cpu),
        "matches/CPU s",
    )
    return bad > 0


sys.exit(main())
