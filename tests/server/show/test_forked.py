"""A copy of a process goes on as another one, and has nothing of what the first one is in the middle of."""

import subprocess
import sys
from subprocess import CompletedProcess

import pytest

from tests.hang import HANG
from tests.server.show.lent import possible

pytestmark = [pytest.mark.slow, possible]

BEGINNING = """
import os, socket, subprocess, sys
from server.show.forked import Forked

ours, theirs = socket.socketpair()
file = open(os.devnull)

def run(main):
    child = Forked(main, (theirs.fileno(),))
    theirs.close()
    return child

"""


def process(script: str) -> CompletedProcess[str]:
    """Run in a process with one thread: only such a one may be copied."""
    command = [sys.executable, "-c", BEGINNING + script]
    return subprocess.run(command, capture_output=True, text=True, input="ours\n", timeout=HANG, check=False)


def test_it_has_its_descriptors_and_no_others() -> None:
    """Catches a copy that keeps the host's ports open, or that has lost its standard error."""
    done = process("""
def main(given):
    open_there = set(map(int, os.listdir("/proc/self/fd")))
    still = [each for each in open_there if os.path.exists(f"/proc/self/fd/{each}")]  # not the list itself
    os.write(given, f"{sorted(set(still) - {0, 1, 2, given})} {file.fileno() in still}".encode())
    return 7

child = run(main)
print(ours.recv(1000).decode())
print(child.wait())
""")
    left, code = done.stdout.splitlines()
    assert left.endswith("] False")
    assert left.count(",") == 0  # the one by which its parent notices its end
    assert code == "7"
    assert done.stderr == ""


def test_what_it_says_goes_to_standard_error_and_nothing_comes_in() -> None:
    done = process("""
def main(given):
    print("read", repr(sys.stdin.read()), flush=True)
    return 0

print("before", end="")
print(run(main).wait(), sys.stdin.read())
""")
    assert done.stdout == "before0 ours\n\n"
    assert done.stderr == "read ''\n"


def test_an_error_is_its_own_and_what_its_parent_would_do_at_the_end_is_not_done_there() -> None:
    done = process("""
import atexit

def main(given):
    raise ValueError("of the copy")

atexit.register(print, "at the end")
try:
    print(run(main).wait())
finally:
    print("finally")
""")
    assert done.stdout == "1\nfinally\nat the end\n"
    assert done.stderr.count("ValueError: of the copy") == 1


def test_a_reason_to_end_is_said_without_a_traceback() -> None:
    done = process("""
def main(given):
    raise SystemExit("the process that plays was gone")

print(run(main).wait())
""")
    assert (done.stdout, done.stderr) == ("1\n", "the process that plays was gone\n")


def test_whoever_waits_for_it_no_longer_than_so_long_may_kill_it_then() -> None:
    done = process("""
def main(given):
    os.read(given, 1)

child = run(main)
print(child.poll())
try:
    child.wait(0.001)
except subprocess.TimeoutExpired:
    print("it goes on")
child.kill()
print(child.wait(60), child.poll(), child.wait())
child.kill()
""")
    assert done.stdout == "None\nit goes on\n-9 -9 -9\n"
    assert done.stderr == ""
