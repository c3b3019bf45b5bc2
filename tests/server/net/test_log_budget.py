"""The budget of lines in the log: what one address, and all of them, may cause."""

from typing import Any

import pytest
import structlog

from server.net.limits import Rate
from server.net.log_budget import COUNTED, EVERYBODY, IN_ALL, LogBudget

FIVE = Rate(5, 50.0)


class Budget:
    """A log under that budget, at a time that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.budget = LogBudget(FIVE, lambda: self.now)

    def logged(self, **event: Any) -> dict[str, Any] | None:
        try:
            return dict(self.budget(None, "info", {"event": "came", **event}))
        except structlog.DropEvent:
            return None


def test_an_address_causes_as_many_lines_as_it_may_and_the_next_one_says_how_many_more_there_were() -> None:
    log = Budget()
    lines = [log.logged(peer="10.0.0.1") for _ in range(20)]
    assert [line is not None for line in lines] == [True] * 5 + [False] * 15
    assert log.logged(peer="10.0.0.2") == {"event": "came", "peer": "10.0.0.2"}, "another address has its own"
    log.now = 10.0
    assert log.logged(peer="10.0.0.1") == {"event": "came", "peer": "10.0.0.1", "more": 15}
    assert log.budget.rest() == {}, "they have been told of"


def test_lines_of_nobody_are_never_left_out() -> None:
    log = Budget()
    assert all(log.logged(tournament="cup") for _ in range(1000))


def test_a_line_that_names_no_address_counts_for_the_player_whom_it_is_about() -> None:
    log = Budget()
    assert sum(log.logged(player="ann") is not None for _ in range(20)) == 5
    assert log.logged(player="bob") is not None


@pytest.mark.slow
def test_a_network_of_many_addresses_has_one_budget_and_many_networks_have_one_too() -> None:
    log = Budget()
    assert sum(log.logged(peer=f"2001:db8::{each:x}") is not None for each in range(20)) == 5
    log = Budget()
    passed = sum(log.logged(peer=f"2001:db8:{each:x}::1") is not None for each in range(3000))
    assert passed == FIVE.credits * IN_ALL
    assert log.budget.rest() == {EVERYBODY: 3000 - passed}


def test_what_no_line_has_told_of_can_be_asked_for_and_is_counted_within_bounds() -> None:
    log = Budget()
    log.budget = LogBudget(Rate(1, 1e9), lambda: 0.0)
    addresses = [f"10.0.{each // 200}.{each % 200}" for each in range(2 * COUNTED)]
    passed = sum(log.logged(peer=address) is not None for address in addresses for _ in (1, 2))
    rest = log.budget.rest()
    assert passed == IN_ALL
    assert sum(rest.values()) == 4 * COUNTED - passed
    assert len(rest) == COUNTED
    assert log.budget.rest() == {}
