"""What is freed goes back to the system, whichever thread has used it."""

import subprocess
import sys

import pytest

from tests.hang import HANG

pytestmark = pytest.mark.slow

OWN = """
from pathlib import Path

def own():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0])
"""
MEASURE = """
import sys, threading
from server.allocator import give_back

def use():
    together.wait()
    with in_turn:
        for size in range(1, 32, 6):  # each that is freed lets a library that is left alone keep a larger one
            block = bytearray(size << 20)
        pieces = [bytearray(100_000) for _ in range(400)]
        kept.append(bytearray(1000))  # above them
        del pieces, block
    together.wait()

# All threads are there at once, and have heaps of their own, but they use them in turn: so what is held
# does not depend on how they take turns.
together, in_turn, kept = threading.Barrier(4), threading.Lock(), []
if sys.argv[1] == "give back":
    give_back()
before = own()
threads = [threading.Thread(target=use) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(own() - before)
"""

TRIMMED = """
import sys
import trio
from trio.testing import MockClock
from server.allocator import PAUSE, give_back, trim

async def wait():
    with trio.move_on_after(1.5 * PAUSE):
        await (trim(lambda: sys.argv[1] == "give back") if sys.argv[1] != "keep" else trio.sleep_forever())

give_back()
before = own()
blocks = [bytearray(size) for _ in range(int(sys.argv[2])) for size in (50_000, 600)]
kept = blocks[1::2]
del blocks
trio.run(wait, clock=MockClock(autojump_threshold=0))
print(own() - before)
"""


def held(how: str, measure: str = MEASURE, pieces: int = 1000) -> int:
    """KiB that a process holds of the megabytes that it has freed, in so many pieces."""
    command = [sys.executable, "-c", OWN + measure, how, str(pieces)]
    ran = subprocess.run(command, capture_output=True, check=True, timeout=HANG)
    return int(ran.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only the C library of Linux has these settings")
def test_a_process_that_gives_memory_back_holds_less_of_what_it_has_freed() -> None:
    assert held("give back") < held("keep") / 2


@pytest.mark.skipif(sys.platform != "linux", reason="only the C library of Linux can do this")
def test_what_is_free_between_blocks_in_use_is_given_back_too() -> None:
    assert held("give back", TRIMMED) < held("keep", TRIMMED) / 2


@pytest.mark.skipif(sys.platform != "linux", reason="only the C library of Linux can do this")
def test_much_is_given_back_only_when_nobody_waits_for_it_and_a_little_always() -> None:
    """Catches a host that stands still for a moment in every minute in which it plays."""
    much, little = 1000, 200  # pieces: 50 MB and 10 MB
    assert held("while busy", TRIMMED, much) > held("give back", TRIMMED, much) * 2
    assert held("while busy", TRIMMED, little) < held("keep", TRIMMED, little) / 2
