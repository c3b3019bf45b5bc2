"""`python -m tests.busy make test`: a command beside four loops that keep processors busy.

A test that passes alone and fails here cries wolf: it takes a machine that has
other things to do for a fault of the host. `--loops 8` has more of them.
The exit code is the command's.
"""

import argparse
import signal
import subprocess
import sys

LOOPS = 4
LOOP = "while True: pass"


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.busy", description="a command beside busy loops")
    parser.add_argument("--loops", type=int, default=LOOPS)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("expected a command, such as: make test")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the loops end with it
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(chosen.loops)]
    try:
        return subprocess.run(chosen.command).returncode
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


sys.exit(main())
