"""A process that shows, started before it is known whether anybody will use it."""

import pytest

from server.show.child import FOR_ALL, started, started_early
from tests.hang import HANG
from tests.server.show.lent import possible

pytestmark = possible


def test_one_that_nobody_used_is_gone_and_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with started_early(True) as early:
        assert early is not None
        assert early.child.poll() is None
    assert early.child.returncode is not None
    assert (early.feed.fileno(), early.conduit.fileno()) == (-1, -1)
    assert capfd.readouterr() == ("", "")


def test_one_that_has_ended_meanwhile_is_not_missed() -> None:
    with started_early(True) as early:
        assert early is not None
        early.child.kill()
        early.child.wait(HANG)


def test_none_is_started_that_is_not_wanted() -> None:
    with started_early(False) as early:
        assert early is None


@pytest.mark.slow
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


@pytest.mark.slow
def test_one_whose_parent_lets_go_of_the_feed_ends(capfd: pytest.CaptureFixture[str]) -> None:
    child, feed, conduit = started()
    with conduit:
        feed.close()
        assert child.wait(HANG) == 1
    assert "gone before it had said what to show" in capfd.readouterr().err
