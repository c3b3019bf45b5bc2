"""`python -m tests.simulation.cluster --seeds A-B`: hosts that share a database, while there is time."""

import logging
import sys
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor

import structlog

from tests.simulation.cluster.plan import draw
from tests.simulation.cluster.world import Report, simulate

SHOWN = 3  # complaints of a seed that are printed


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.simulation.cluster", description=__doc__)
    parser.add_argument("--seeds", default="1-1000", metavar="A-B", help="from A to B, both included")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    arguments = parser.parse_args()
    first, _, last = arguments.seeds.partition("-")
    results = taken = violations = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for report in pool.map(held, range(int(first), int(last or first) + 1), chunksize=20):
            results, taken = results + report.results, taken + report.taken
            violations += len(report.complaints)
            for complaint in report.complaints[:SHOWN]:
                print(complaint, file=sys.stderr)
    print(
        f"seeds {arguments.seeds}: {results} results told, {taken} times a tournament went to another host,"
        f" {violations} violations"
    )
    return 1 if violations else 0


def held(seed: int) -> Report:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    return simulate(draw(seed))


if __name__ == "__main__":
    sys.exit(main())
