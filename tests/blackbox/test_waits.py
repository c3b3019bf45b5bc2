"""Deadlines, as they show on a wire. They are watched from the beginning of the run on."""

import pytest

from tests.blackbox.waits import Waits

pytestmark = pytest.mark.slow
BUSY = 1.5  # seconds by which a machine that is busy may be late


@pytest.mark.parametrize(
    "who", ["silent_bot", "half_a_name", "tls_on_tcp", "half_a_handshake", "half_a_head"]
)
def test_who_has_not_said_who_it_is_within_5_seconds_is_closed(waits: Waits, who: str) -> None:
    assert 4.0 <= waits.saw(who) <= 5.0 + BUSY


def test_another_protocol_on_the_http_port_is_closed_within_5_seconds(waits: Waits) -> None:
    assert waits.saw("http_2_on_http") <= 5.0 + BUSY


def test_a_body_that_does_not_come_is_waited_for_10_seconds(waits: Waits) -> None:
    assert 4.0 <= waits.saw("half_a_body") <= 10.0 + BUSY


def test_santorinis_clock_of_10_seconds_runs_on_through_retries(waits: Waits) -> None:
    took, (opponent_won, told_both) = waits.saw("santorini_retries")
    assert 9.5 <= took <= 10.0 + BUSY
    assert opponent_won
    assert told_both


def test_hexagon_dots_gives_5_seconds_a_turn_and_lateness_loses(waits: Waits) -> None:
    took, end, late = waits.saw("hexagon_late")
    assert 4.5 <= took <= 5.0 + BUSY
    assert (end.status, end.json["state"]) == (200, "completed")
    assert "x-turn-token" not in end.headers
    assert end.json["players"][0]["score"] == "disqualified"
    assert late in (403, 410)


def test_a_stream_of_the_arena_has_no_heartbeats(waits: Waits) -> None:
    assert waits.saw("arena")["silent"]


def test_the_arenas_clock_does_not_run_before_the_stream_is_opened(waits: Waits) -> None:
    assert waits.saw("arena")["clock"] > 18_500


def test_without_a_flip_both_streams_close_when_the_grace_of_10_seconds_is_over(waits: Waits) -> None:
    seen = waits.saw("arena")
    assert seen["cheat"] == [b"", b""], "without a winner"
    assert 5.0 <= seen["cheat closed"] <= 10.0 + BUSY


def test_lateness_is_noticed_at_the_time_and_not_when_the_late_move_comes(waits: Waits) -> None:
    seen = waits.saw("arena")
    assert seen["late status"] == 423
    assert seen["late closed"] <= 18.0 + 10.0 + BUSY
    assert seen["late streams"]["O"] == seen["late streams"]["X"]
