"""A few seconds of the soak: that everybody comes and plays, and that it would notice a leak."""

import pytest

from tests.soak.soak import Sample, Soak, soak

pytestmark = pytest.mark.slow

SECONDS = 12.0  # longer than a wave stays


def measured(*sizes: tuple[float, float]) -> Soak:
    """By the minute, of both processes."""
    samples = [Sample(60.0 * minute, size) for minute, size in enumerate(sizes)]
    return Soak(samples[-1].at, samples, {})


def test_bots_of_every_dialect_come_and_play_and_both_processes_are_measured() -> None:
    said: list[str] = []
    found = soak(SECONDS, said.append)
    assert set(found.moves) == {"santorini", "c4-arena", "arena", "hexagon-dots", "house"}
    assert all(found.moves.values()), found.moves
    assert len(found.samples) >= 2
    assert all(size > 10.0 for sample in found.samples for size in sample.sizes)


def test_what_grew_in_the_first_half_has_filled_up_and_what_grows_in_the_second_is_told() -> None:
    full = [(100.0 + min(minute, 30) * 10, 90.0) for minute in range(61)]
    assert measured(*full).growing() == []
    leaking = [(100.0, 90.0 + 0.05 * minute) for minute in range(61)]
    assert [round(slope, 6) for slope in measured(*leaking).slopes()] == [0.0, 3.0]
    assert measured(*leaking).growing() == ["show: +3.00 MiB an hour"]
    slowly = [(100.0 + 0.01 * minute, 90.0) for minute in range(61)]
    assert measured(*slowly).growing() == [], "0.6 MiB an hour are within the bound"
