"""What relays cost: nobody's clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.peers.stamps import ArrivalTime, Handing, Sending

ways = st.floats(0.0, 5.0)
clocks = st.floats(-1e5, 1e5)


@given(there=ways, back=ways, ahead=clocks, thought=st.floats(0.0, 10.0))
def test_a_bot_is_charged_what_it_thought_however_long_its_bytes_are_on_their_way(
    there: float, back: float, ahead: float, thought: float
) -> None:
    sending, handing = Sending(0.0), Handing(ahead)
    asked = 200.0
    sending.send(80, asked)
    seen = asked + there
    handing.hand(80, seen + ahead)
    heard = handing.heard(seen + thought + ahead)
    arrived = sending.arrived(heard, now=seen + thought + back)
    assert arrived - asked == pytest.approx(thought, abs=1e-6)


def test_what_was_said_before_the_bot_saw_the_next_counts_from_what_it_had_seen() -> None:
    """Catches a referee that takes the last bytes that it sent for the last that the bot had."""
    sending = Sending(0.0)
    sending.send(10, 1.0)
    sending.send(10, 5.0)
    assert sending.arrived(ArrivalTime(10, 0.5), now=5.1) == 1.5
    assert sending.arrived(ArrivalTime(20, 0.5), now=9.0) == 5.5


def test_bytes_that_were_handed_in_part_count_from_when_what_came_before_was_whole() -> None:
    sending = Sending(0.0)
    sending.send(10, 1.0)
    sending.send(10, 5.0)
    assert sending.arrived(ArrivalTime(15, 4.25), now=9.0) == 5.25


def test_nothing_has_arrived_in_the_future() -> None:
    sending = Sending(0.0)
    assert sending.arrived(ArrivalTime(0, 1e9), now=3.0) == 3.0


def test_only_what_is_on_its_way_is_remembered() -> None:
    sending = Sending(0.0)
    for number in range(1, 1001):
        sending.send(1, float(number))
        sending.arrived(ArrivalTime(number, 0.0), now=float(number))
    assert len(sending._marks) == 1
