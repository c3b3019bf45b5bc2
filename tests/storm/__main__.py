"""`python -m tests.storm --seeds A-B`: storms of orders over real hosts, as many as there is time for."""

import sys
import tempfile
import time
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path

import trio

from tests.server.store.postgresql import Server, binaries, running
from tests.storm.plan import KINDS, Plan, plans
from tests.storm.storm import Report, Say, storm

SHOWN = 20  # complaints of a storm that are printed
COMMON = 60  # answers that are, the most frequent ones


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.storm", description=__doc__)
    parser.add_argument("--seeds", default="1-10", metavar="A-B", help="from A to B, both included")
    parser.add_argument("--kind", action="append", choices=KINDS, help="hosts of this kind, and of no other")
    parser.add_argument("--faults", type=int, default=6, metavar="N", help="of hosts, in each storm")
    parser.add_argument("--orders", type=int, default=150, metavar="N", help="between two faults")
    parser.add_argument(
        "--keep", metavar="FOLDER", help="where everything is left that hosts have kept and logged"
    )
    parser.add_argument("--verbose", action="store_true", help="print how often which order had which answer")
    arguments = parser.parse_args()
    first, _, last = arguments.seeds.partition("-")
    kinds = tuple(arguments.kind or KINDS if binaries() else KINDS[:-1])
    wrong = 0
    with ExitStack() as stack:
        server = stack.enter_context(running()) if "hosts" in kinds else None
        for plan in plans(
            range(int(first), int(last or first) + 1), kinds, arguments.faults, arguments.orders
        ):
            begun = time.monotonic()
            report = trio.run(held, plan, server, arguments.keep, spoken if arguments.verbose else unspoken)
            wrong += len(report.wrong)
            print(line(report, time.monotonic() - begun), *report.wrong[:SHOWN], sep="\n", flush=True)
            if arguments.verbose:
                for counts in (report.scene.statuses, report.scene.refusals):
                    print(*(f"{count:6} {what}" for what, count in counts.most_common(COMMON)), sep="\n")
    return 1 if wrong else 0


def spoken(what: str) -> None:
    print(f"  {time.monotonic():.1f} {what}", flush=True)


def unspoken(what: str) -> None:
    pass


async def held(plan: Plan, server: Server | None, keep: str | None, say: Say) -> Report:
    store = server.database() if server is not None and plan.kind == "hosts" else ""
    if keep is not None:
        folder = Path(keep) / f"{plan.kind}-{plan.seed}"
        folder.mkdir(parents=True)
        return await storm(plan, folder, store, say)
    with tempfile.TemporaryDirectory(prefix="quintain-storm-") as folder:
        return await storm(plan, Path(folder), store, say)


def line(report: Report, seconds: float) -> str:
    plan = report.plan
    faults = ", ".join(f"{count} {name}" for name, count in report.befell.items())
    return (
        f"seed {plan.seed}, {plan.kind} ({faults}): {report.scene.orders} orders, {report.done} of them done,"
        f" {report.scene.opened} tournaments, {len(report.scene.told.ends)} matches told;"
        f" {len(report.wrong)} wrong; {seconds:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
