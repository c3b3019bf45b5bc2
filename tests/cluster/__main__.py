"""`python -m tests.cluster --faults N`: three hosts on one PostgreSQL, and one fault after another."""

import sys
import time
from argparse import ArgumentParser
from itertools import cycle, islice
from random import Random
from statistics import quantiles

import trio

from tests.chaos.warm import FAKETIME
from tests.cluster.campaign import FAULTS, campaign
from tests.server.store.postgresql import running


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--faults", type=int, default=200, metavar="N", help="how many")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--only", action="append", choices=FAULTS, help="these, and no others")
    arguments = parser.parse_args()
    faults = list(islice(cycle(arguments.only or FAULTS), arguments.faults))
    Random(arguments.seed).shuffle(faults)
    begun = time.monotonic()
    with running() as server:
        found = trio.run(campaign, server, faults, arguments.seed)
    verdict = found.verdict
    kinds = ", ".join(f"{count} {name}" for name, count in found.faults.items())
    print(
        f"{len(faults)} faults ({kinds}):"
        f" {verdict.matches} matches, {verdict.void} void, {verdict.told} told;"
        f" lost {len(verdict.lost)}, doubled {len(verdict.doubled)}, changed {len(verdict.changed)},"
        f" otherwise wrong {len(verdict.wrong)}; {time.monotonic() - begun:.0f} s",
        *verdict.complaints,
        sep="\n",
    )
    print(f"behind {found.balancer}, with clocks set wrong by {'libfaketime' if FAKETIME else 'time.time'}")
    overtaken = ", ".join(f"{count} after {name}" for name, count in found.overtaken.items())
    print(f"hosts that others took over from, and that were not stopped: {overtaken or 'none'}")
    for what, seconds in found.resumed.items():
        middle, late = median_and_p95(seconds)
        print(f"play went on after {what}: median {middle:.2f} s, p95 {late:.2f} s, of {len(seconds)}")
    return 1 if verdict.complaints else 0


def median_and_p95(seconds: list[float]) -> tuple[float, float]:
    cuts = quantiles([*seconds, *seconds], n=20, method="inclusive")
    return cuts[9], cuts[18]


if __name__ == "__main__":
    sys.exit(main())
