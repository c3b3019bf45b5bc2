"""What is freed goes back to the system, whichever thread has used it."""

import subprocess
import sys

import pytest

from tests.hang import HANG

MEASURE = """
import sys, threading
from pathlib import Path
from server.allocator import give_back

def own():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0])

def use():
    for size in range(1, 40, 3):  # each that is freed lets a library that is left alone keep a larger one
        block = bytearray(size << 20)
    pieces = [bytearray(100_000) for _ in range(400)]
    kept.append(bytearray(1000))  # above them
    del pieces

kept = []
if sys.argv[1] == "give back":
    give_back()
before = own()
for _ in range(3):
    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(own() - before)
"""


def held(how: str) -> int:
    """KiB that a process holds of some hundred megabytes that it has freed."""
    ran = subprocess.run([sys.executable, "-c", MEASURE, how], capture_output=True, check=True, timeout=HANG)
    return int(ran.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only the C library of Linux has these settings")
def test_a_process_that_gives_memory_back_holds_less_of_what_it_has_freed() -> None:
    assert held("give back") < held("keep") / 2
