"""`python -m tests.simulation --seeds A-B`: whole tournaments, as many as there is time for.

With `--doors` they are held behind the real doors, before a simulated network.
"""

import os
import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from types import FrameType

from msgspec import Struct

import tests.simulation.doors.plan
import tests.simulation.doors.world
from tests.simulation.plan import draw
from tests.simulation.world import Report, simulate

BATCH = 50  # seeds that a process takes at a time
STUCK = 60.0  # CPU seconds for one seed, which takes hundredths: more is a loop without time in it
SHOWN = 3  # complaints of a seed that are printed


class Batch(Struct):
    tournaments: int = 0
    matches: int = 0
    seconds: float = 0.0  # virtual
    cpu: float = 0.0
    digest: str = ""  # of all that happened
    failed: list[Report] = []


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", default="1-1000", metavar="A-B", help="from A to B, both included")
    parser.add_argument("--doors", action="store_true", help="through the doors")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--trace", type=int, metavar="SEED", help="print all that happens in one seed")
    parser.add_argument("--digest", action="store_true", help="print a digest of all that happens")
    arguments = parser.parse_args()
    if arguments.trace is not None:
        return trace(arguments.trace, arguments.doors)
    first, _, last = arguments.seeds.partition("-")
    total = Batch()
    seeds = range(int(first), int(last or first) + 1)
    for batch in played(seeds, arguments.doors, arguments.jobs, arguments.digest):
        for report in batch.failed:
            describe(report, arguments.doors)
        total.tournaments += batch.tournaments
        total.matches += batch.matches
        total.seconds += batch.seconds
        total.cpu += batch.cpu
        total.digest = sha256((total.digest + batch.digest).encode()).hexdigest()
        total.failed += batch.failed
    violations = sum(len(report.complaints) for report in total.failed)
    print(
        f"seeds {arguments.seeds}: {total.tournaments} tournaments, {total.matches} matches,"
        f" {total.seconds / 3600:.1f} virtual hours, {violations} violations,"
        f" {total.cpu:.1f} CPU seconds, {total.matches / total.cpu:.0f} matches per CPU second"
    )
    if arguments.digest:
        print(total.digest)
    return 1 if total.failed else 0


def held(seed: int, doors: bool, tracing: bool = False) -> Report:
    if doors:
        plan = tests.simulation.doors.plan.draw(seed)
        return tests.simulation.doors.world.simulate(plan, tracing)
    return simulate(draw(seed), tracing)


def played(seeds: range, doors: bool, jobs: int, tracing: bool) -> Iterator[Batch]:
    batches = [seeds[at : at + BATCH] for at in range(0, len(seeds), BATCH)]
    if jobs == 1:
        yield from (play(batch, doors, tracing) for batch in batches)
    else:
        with ProcessPoolExecutor(jobs) as pool:
            yield from pool.map(play, batches, [doors] * len(batches), [tracing] * len(batches))


def play(seeds: range, doors: bool, tracing: bool) -> Batch:
    batch, begun = Batch(), time.process_time()
    happened = sha256()
    for seed in seeds:
        give_up_on(seed, doors)
        report = held(seed, doors, tracing)
        batch.tournaments += report.tournaments
        batch.matches += report.matches
        batch.seconds += report.seconds
        happened.update("\n".join(report.trace).encode())
        if report.complaints:
            batch.failed.append(report)
    signal.setitimer(signal.ITIMER_PROF, 0)
    batch.cpu = time.process_time() - begun
    batch.digest = happened.hexdigest()
    return batch


def give_up_on(seed: int, doors: bool) -> None:
    """Should it never come to an end, say which one it was."""

    def stuck(number: int, frame: FrameType | None) -> None:
        print(f"seed {seed} has not come to an end in {STUCK:.0f} s\n  {replay(seed, doors)}", flush=True)
        os._exit(1)  # an exception would be raised wherever the event loop happens to be

    signal.signal(signal.SIGPROF, stuck)
    signal.setitimer(signal.ITIMER_PROF, STUCK)


def describe(report: Report, doors: bool) -> None:
    shown = report.complaints[:SHOWN]
    print(f"seed {report.seed}: {len(report.complaints)} violations\n  {replay(report.seed, doors)}")
    for complaint in shown:
        print(f"  {complaint}")


def replay(seed: int, doors: bool = False) -> str:
    return f"replay it: python -m tests.simulation{' --doors' if doors else ''} --trace {seed}"


def trace(seed: int, doors: bool) -> int:
    plan = (tests.simulation.doors.plan.draw if doors else draw)(seed)
    for field in plan.__struct_fields__:
        value = getattr(plan, field)
        if isinstance(value, dict):
            print(f"{field}:", *(f"\n    {key}: {what}" for key, what in value.items()))
        else:
            print(f"{field}: {value}")
    report = held(seed, doors, tracing=True)
    print(*report.trace, sep="\n")
    print(f"{len(report.complaints)} violations in {report.matches} matches, {report.seconds:.0f} virtual s")
    return 1 if report.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
