"""What workers of pytest tell, and what they need not."""

from typing import Any

import pytest

from tests.told_briefly import SOON, brief


def told(name: str, **more: Any) -> bool:
    """Whether it is told, and then as it was."""
    all_told = list[tuple[str, dict[str, Any]]]()

    def send(name: str, **more: Any) -> None:
        all_told.append((name, more))

    brief(send)(name, **more)
    assert all_told in ([], [(name, more)])
    return bool(all_told)


def reported(when: str, outcome: str, duration: float = 0.0) -> bool:
    return told("testreport", data={"when": when, "outcome": outcome, "duration": duration})


@pytest.mark.parametrize("outcome", ["passed", "failed", "skipped"])
def test_how_a_test_went_is_always_told(outcome: str) -> None:
    assert reported("call", outcome)


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_what_comes_before_and_after_it_is_told_if_it_went_wrong_or_took_long(when: str) -> None:
    """Catches a fixture that fails after its test and is counted nowhere, and one that is slow unseen."""
    assert reported(when, "failed")
    assert reported(when, "skipped")
    assert reported(when, "passed", SOON)
    assert not reported(when, "passed")


def test_what_the_scheduler_needs_is_told() -> None:
    assert told("runtest_protocol_complete", item_index=1, duration=0.0)
    assert not told("logstart", nodeid="a", location=("a", 1, "a"))
    assert not told("logfinish", nodeid="a", location=("a", 1, "a"))
