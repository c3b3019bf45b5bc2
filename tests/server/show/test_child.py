"""A process for pages, started before it is known whether anybody will use it."""

import subprocess
import sys

import pytest

from server.show.child import FOR_ALL, started, started_early
from tests.hang import HANG
from tests.server.show.lent import possible

pytestmark = [pytest.mark.slow, possible]


EARLY = """
import sys
from server.show.child import started_early

def show(feed, conduit):
    sys.exit("it complains that the feed has ended" if not open(feed, "rb").read() else None)

"""


def run(script: str) -> tuple[str, str]:
    """What a process of its own says, which has only one thread: only such a one may be copied."""
    command = [sys.executable, "-c", EARLY + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True)
    return done.stdout, done.stderr


def test_one_that_nobody_used_is_gone_and_says_nothing() -> None:
    used = """
with started_early(show) as early:
    print(early.child.poll())
print(early.child.returncode, early.feed.fileno(), early.conduit.fileno())
"""
    assert run(used) == ("None\n-9 -1 -1\n", "")


def test_one_that_has_ended_meanwhile_is_not_missed() -> None:
    killed = """
with started_early(show) as early:
    early.child.kill()
    print(early.child.wait())
"""
    assert run(killed) == ("-9\n", "")


def test_a_machine_that_has_no_process_left_is_said_and_what_to_do() -> None:
    none_left = """
import os
from server.exits import Failure

def none_left():
    raise BlockingIOError(11, os.strerror(11))

os.fork = none_left
try:
    with started_early(show):
        print("started")
except Failure as failure:
    print(failure)
"""
    assert run(none_left) == (
        "the process for pages cannot be started: Resource temporarily unavailable;"
        " --show 0 runs without it\n",
        "",
    )


def test_nothing_that_is_not_wanted_is_started() -> None:
    with started_early(None) as early:
        assert early is None


def test_ctrl_c_while_it_imports_is_its_parent_s_to_deal_with(capfd: pytest.CaptureFixture[str]) -> None:
    """Catches a traceback for whoever presses Ctrl-C while a host starts."""
    child, feed, conduit = started()
    with conduit:
        for number in FOR_ALL:
            child.send_signal(number)
        feed.close()
        assert child.wait(HANG) == 1
    said = capfd.readouterr().err
    assert "gone before it had said what to show" in said
    assert "Traceback" not in said


def test_one_whose_parent_lets_go_of_the_feed_ends(capfd: pytest.CaptureFixture[str]) -> None:
    child, feed, conduit = started()
    with conduit:
        feed.close()
        assert child.wait(HANG) == 1
    assert "gone before it had said what to show" in capfd.readouterr().err
