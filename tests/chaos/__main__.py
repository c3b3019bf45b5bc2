"""`python -m tests.chaos --kills N`: real hosts that are ended at random instants, and bots that play on."""

import sys
import time
from argparse import ArgumentParser
from contextlib import nullcontext

from tests.chaos.campaign import Plan, campaign
from tests.chaos.told import Verdict
from tests.server.store.postgresql import running

HOW = ("kill", "term", "restart-postgres")


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="how often, whatever --how")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument(
        "--how", choices=HOW, default="kill", help="kill -9, SIGTERM, or a database that crashes"
    )
    arguments = parser.parse_args()
    postgres = arguments.store == "postgres" or arguments.how == "restart-postgres"
    begun = time.monotonic()

    def said(ended: int, verdict: Verdict) -> None:
        print(
            f"{ended} {arguments.how}s: {verdict.matches} matches, {verdict.void} void, {verdict.told} told;"
            f" lost {len(verdict.lost)}, doubled {len(verdict.doubled)}, changed {len(verdict.changed)},"
            f" otherwise wrong {len(verdict.wrong)}; {time.monotonic() - begun:.0f} s",
            *verdict.complaints,
            sep="\n",
            flush=True,
        )

    with running() if postgres else nullcontext() as server:
        lives, verdict = campaign(Plan(arguments.seed, arguments.how, arguments.kills, server), said)
    if lives.interrupted or lives.strange:
        print(
            f"in play when a host was killed: {lives.interrupted} matches of bots that can come back,"
            f" {lives.void} of them void (of these {lives.addressed} by an address,"
            f" {lives.addressed_void} of them void); {lives.strange} of others,"
            f" {lives.strange_void} of them void"
        )
    print(
        f"of these, {lives.early} before it was ready and {lives.late} while it was about to stop;", end=" "
    )
    print(f"from SIGTERM to the end {lives.slowest:.1f} s at most")
    return 1 if verdict.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
