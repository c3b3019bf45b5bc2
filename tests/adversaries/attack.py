"""`python -m tests.adversaries.attack TASK`: attackers, until standard input ends.

Then they say what they did. Task and report are JSON. They give way to whoever else needs
a processor: they and the host would be on different machines.
"""

import os
import sys

import msgspec
import trio

from server.net.open_files import room_for_files
from tests.adversaries.ground import Ground, Report, Task
from tests.adversaries.strangers import LEAGUE, Stranger
from tests.adversaries.wires import Gone

NICENESS = 10
PAUSE = 0.01  # seconds after a go that failed at once


def main() -> None:
    task = msgspec.json.decode(sys.argv[1], type=Task)
    os.nice(NICENESS)
    room_for_files()
    ground = Ground(task)
    trio.run(attack, task, ground)
    print(msgspec.json.encode(Report(dict(ground.tries), dict(ground.through))).decode())


async def attack(task: Task, ground: Ground) -> None:
    async with trio.open_nursery() as nursery:
        for name in task.strangers:
            for _ in range(LEAGUE[name].at_once):
                nursery.start_soon(keep_at_it, name, LEAGUE[name], ground)
        print("ready", flush=True)
        await trio.to_thread.run_sync(sys.stdin.read)
        nursery.cancel_scope.cancel()


async def keep_at_it(name: str, stranger: Stranger, ground: Ground) -> None:
    """Whatever comes of it: what the host must do about each attack, `tests/attacks` says."""
    while True:
        ground.tries[name] += 1
        try:
            await stranger.act(ground)
        except* (OSError, trio.BrokenResourceError, trio.ClosedResourceError, Gone, AssertionError):
            await trio.sleep(PAUSE)
        await trio.lowlevel.checkpoint()


if __name__ == "__main__":
    main()
