"""This checkout and another one in turns: what a change costs, in a run in which both met the same machine.

    git worktree add ../before v0.1.0
    python -m tests.bench.turns ../before [--starts 4] [--matches 50] [--here CHECKOUT] [tcp websocket http]

A ratio above 1 means that this checkout (or the one that `--here` names) makes more moves with a second of
its processor time. Both are started anew several times, because how memory happens
to be laid out at a start is worth several per cent.
"""

import argparse
import math
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, median, stdev
from tempfile import TemporaryDirectory

from server.net.open_files import room_for_files
from tests.bench.compiled_crowd import CompiledCrowd
from tests.bench.doors import ROWS, WARM, WIDTH, Row, speed
from tests.bench.server import Server, quintain

ROUNDS = 8  # turns of each at every start
HERE = Path(__file__).parents[2]


def compared(row: Row, checkouts: tuple[Path, Path], matches: int) -> float:
    """The median of the turns' ratios at one start."""
    with ExitStack() as stack:
        sides: list[tuple[Server, CompiledCrowd]] = []
        # Both are started before anybody comes: a bot that stands still for seconds before its first move is
        # taken for a ghost, and its match ends.
        folders = [stack.enter_context(TemporaryDirectory()) for _ in checkouts]
        servers = [
            stack.enter_context(quintain(folder, checkout=checkout))
            for folder, checkout in zip(folders, checkouts, strict=True)
        ]
        for server in servers:
            crowd = row.crowd(server, matches)
            stack.callback(crowd.leave)
            sides.append((server, crowd))
        for _, crowd in sides:
            crowd.play(WARM)
        ratios: list[float] = []
        for number in range(ROUNDS):
            order = sides if number % 2 else sides[::-1]  # nobody is always the first
            speeds = {id(server): speed(server.seconds_in_all, crowd) for server, crowd in order}
            ratios.append(speeds[id(sides[0][0])] / speeds[id(sides[1][0])])
        return median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m tests.bench.turns", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("other", type=Path, help="another checkout of this project")
    parser.add_argument("doors", nargs="*", default=["tcp", "websocket", "http"])
    parser.add_argument("--here", type=Path, default=HERE, help="a checkout instead of this one")
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--matches", type=int, default=50)
    chosen = parser.parse_intermixed_args()
    room_for_files()
    checkouts = here, other = chosen.here.resolve(), chosen.other.resolve()
    print(f"moves per second of the server's processor time, {chosen.matches} matches: {here} / {other}")
    for name, row in ROWS.items():
        if row.door in chosen.doors:
            found = [compared(row, checkouts, chosen.matches) for _ in range(chosen.starts)]
            error = stdev(found) / math.sqrt(len(found)) if len(found) > 1 else math.nan
            each = " ".join(f"{ratio:.2f}" for ratio in found)
            print(f"{name:{WIDTH}}{fmean(found):7.3f} ± {error:.3f}   {each}", flush=True)


if __name__ == "__main__":
    main()
