"""A few seconds of the soak: that everybody comes and plays, and that it would notice a leak."""

import pytest

from tests.hang import HANG
from tests.soak.soak import KEPT, MIB, TURN, Sample, Soak, soak

pytestmark = pytest.mark.slow

SECONDS, STAY, SAMPLE = 4.0, 1.5, 1.0  # so that waves come and go, and somebody looks at what they leave


def measured(*sizes: tuple[float, float], matches: int = 0) -> Soak:
    """By the minute, of both processes, while so many matches end in each."""
    samples = [
        Sample(60.0 * minute, size, (matches * minute, matches * minute)) for minute, size in enumerate(sizes)
    ]
    return Soak(samples[-1].at / 2, samples, {})


def test_bots_of_every_dialect_come_and_play_and_both_processes_are_measured() -> None:
    said: list[str] = []
    found = soak(SECONDS, said.append, most=HANG, sample=SAMPLE, stay=STAY, filling=TURN, enough=0)
    assert set(found.moves) == {"santorini", "c4-arena", "arena", "hexagon-dots", "house"}
    assert all(found.moves.values()), found.moves
    assert len(found.samples) >= 2
    assert all(size > 10.0 for sample in found.samples for size in sample.sizes)
    assert sum(found.samples[-1].matches) > 0


def test_what_grew_in_the_first_half_has_filled_up_and_what_grows_in_the_second_is_told() -> None:
    full = [(100.0 + min(minute, 30) * 10, 90.0) for minute in range(61)]
    assert measured(*full).growing() == []
    leaking = [(100.0, 90.0 + 0.05 * minute) for minute in range(61)]
    assert [round(slope, 6) for slope in measured(*leaking).slopes()] == [0.0, 3.0]
    assert measured(*leaking).growing() == ["show: +3.00 MiB an hour"]
    slowly = [(100.0 + 0.01 * minute, 90.0) for minute in range(61)]
    assert measured(*slowly).growing() == [], "0.6 MiB an hour are within the bound"


def test_what_is_kept_of_finished_matches_is_no_leak_and_does_not_hide_one() -> None:
    hourly = [2 * 60 * 100_000 * size / MIB for size in KEPT]
    kept = [(100.0 + hourly[0] * minute / 60, 90.0 + hourly[1] * minute / 60) for minute in range(61)]
    assert measured(*kept, matches=100_000).growing() == []
    assert [round(leak, 6) for leak in measured(*kept, matches=100_000).leaks()] == [0.0, 0.0]
    leaking = [(play + 0.05 * minute, show) for minute, (play, show) in enumerate(kept)]
    assert measured(*leaking, matches=100_000).growing() == ["play: +3.00 MiB an hour"]


def test_a_run_says_whether_every_table_had_filled_its_memory() -> None:
    flat = [(100.0, 90.0)] * 61
    assert measured(*flat, matches=100).filled
    assert not measured(*flat, matches=30).filled
