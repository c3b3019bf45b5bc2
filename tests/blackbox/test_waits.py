"""Deadlines, as they show on a wire. They are watched from the beginning of the run on.

Nothing happens too early. That it does not happen too late is shown where time
is simulated (`tests/server`): here it is enough that it happens at all, since
a busy machine can hold up a host, and whoever watches it, as long as it likes.
"""

import pytest

from tests.blackbox.waits import Waits

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "who", ["silent_bot", "half_a_name", "tls_on_tcp", "half_a_handshake", "half_a_head"]
)
def test_whoever_has_not_said_who_it_is_has_5_seconds_and_is_then_closed(waits: Waits, who: str) -> None:
    assert waits.saw(who) >= 5.0


def test_another_protocol_on_the_http_port_is_closed(waits: Waits) -> None:
    assert waits.saw("http_2_on_http")


def test_a_body_that_does_not_come_is_waited_for_10_seconds(waits: Waits) -> None:
    assert waits.saw("half_a_body") >= 10.0


def test_santorinis_clock_of_10_seconds_runs_on_through_retries(waits: Waits) -> None:
    took, (opponent_won, told_both) = waits.saw("santorini_retries")
    assert took >= 10.0
    assert opponent_won
    assert told_both


def test_hexagon_dots_gives_5_seconds_a_turn_and_lateness_loses(waits: Waits) -> None:
    took, end, late = waits.saw("hexagon_late")
    assert took >= 5.0
    assert (end.status, end.json["state"]) == (200, "completed")
    assert "x-turn-token" not in end.headers
    assert end.json["players"][0]["score"] == "disqualified"
    assert late in (403, 410)


def test_a_stream_of_the_arena_has_no_heartbeats(waits: Waits) -> None:
    """Nothing was said on it but how the battle ended."""
    streams = waits.saw("arena")["late streams"]
    assert streams["X"] == streams["O"] == [b'data: {"winner":"X"}\n\n']


def test_the_arenas_clock_does_not_run_before_the_stream_is_opened(waits: Waits) -> None:
    seen = waits.saw("arena")
    assert seen["clock"] >= 20_000 - 1000 * seen["clock ran"] - 1


def test_without_a_flip_both_streams_close_when_the_grace_of_10_seconds_is_over(waits: Waits) -> None:
    seen = waits.saw("arena")
    assert seen["cheat"] == [b"", b""], "without a winner"
    assert seen["cheat closed"] >= 10.0


def test_lateness_is_noticed_at_the_time_and_not_when_the_late_move_comes(waits: Waits) -> None:
    seen = waits.saw("arena")
    assert seen["late status"] == 423
    assert seen["late closed"] >= 18.0
    assert seen["late streams"]["O"] == seen["late streams"]["X"]
