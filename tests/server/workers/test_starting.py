"""The first processes that play are copies of the one that starts them, made before it has an event loop."""

import subprocess
import sys

import pytest

from tests.hang import HANG
from tests.server.workers.linked import only_on_linux

pytestmark = [pytest.mark.slow, only_on_linux]

EARLY = """
import os
import trio
from server.show.begin import zero
from server.workers.starting import CLOCK, next_of, started_early

def work(link, requests):
    os.write(requests, os.read(link, CLOCK.size) or b"nothing")
    return 0

"""


def run(script: str) -> tuple[str, str]:
    """What a process of its own says, which has only one thread: only such a one may be copied."""
    command = [sys.executable, "-c", EARLY + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True)
    return done.stdout, done.stderr


def test_each_is_taken_once_and_told_the_clock_of_whoever_took_it() -> None:
    taken = """
async def take(early):
    for number in range(2):
        child, link, requests = next_of(early)
        print(len(early), abs(CLOCK.unpack(requests.recv(100))[0] - zero()) < 1, child.wait())

with started_early(2, work) as early:
    trio.run(take, early)
"""
    assert run(taken) == ("1 True 0\n0 True 0\n", "")


def test_those_that_nobody_took_are_gone_and_there_are_no_more_than_the_machine_has_room_for() -> None:
    """Catches a host that does not start where there is no process left for all, and so never tries again."""
    none_left = """
fork, left = os.fork, [1, 2]

def until_none_is_left():
    if not left:
        raise BlockingIOError(11, os.strerror(11))
    left.pop()
    return fork()

os.fork = until_none_is_left
with started_early(3, work) as early:
    print([child.poll() for child, _, _ in early])
print([(child.returncode, link.fileno(), requests.fileno()) for child, link, requests in early])
"""
    assert run(none_left) == ("[None, None]\n[(-9, -1, -1), (-9, -1, -1)]\n", "")
