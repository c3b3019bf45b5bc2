"""How long events in which bots die or come late take, and what is foreseen of it; on a virtual clock."""

from random import Random
from statistics import median

import pytest

from tests.effort import IS_CAMPAIGN
from tests.simulation.events import Event, Habit, held
from tests.simulation.forecasts import FORMATS, TOLERATED, errors

pytestmark = pytest.mark.slow

SEEDS = range(30 if IS_CAMPAIGN else 3)
EVENTS = 200 if IS_CAMPAIGN else 2
TWELVE = [f"bot-{number}" for number in range(12)]
LATE = TWELVE[-1]
DEAD = TWELVE[:3]


def twelve(seed: int, habits: dict[str, Habit]) -> Event:
    """Twelve bots that think for unequal times, some of whom have other habits."""
    chance = Random(seed)
    thinks = {name: chance.uniform(4.0, 9.0) for name in TWELVE}
    return Event(
        "round-robin",
        {
            name: Habit(thinks[name], habits[name].comes, habits[name].dies)
            if name in habits
            else Habit(thinks[name])
            for name in TWELVE
        },
        seed=seed,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_three_dead_bots_and_a_late_one_hold_up_an_event_by_less_than_a_third(seed: int) -> None:
    """Catches waiting for each match of the dead: it took an event to three times its length and more."""
    usual = held(twelve(seed, {}))
    assert usual.seconds >= 120.0
    absent = dict.fromkeys(DEAD, Habit(0.0, dies=1)) | {LATE: Habit(0.0, comes=60.0)}
    troubled = held(twelve(seed, absent))
    assert troubled.seconds <= 1.3 * usual.seconds
    could_play = len(TWELVE) - 1 - len(DEAD)
    assert troubled.played(LATE) > could_play / 2, "a minute late, it has most of its matches to play"
    others = set(TWELVE) - {LATE, *DEAD}
    assert all(troubled.played(name) >= len(others) - 1 for name in others), "they have missed nothing"


def test_a_swiss_that_is_long_enough_is_not_held_up_either() -> None:
    slow = {name: Habit(20.0, dies=1 if name in DEAD else None) for name in TWELVE}
    usual = Event("swiss", dict.fromkeys(TWELVE, Habit(20.0)))
    assert held(Event("swiss", slow)).seconds <= 1.3 * held(usual).seconds


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("absences", [False, True], ids=["all there", "some absent"])
def test_what_is_foreseen_is_about_right_from_the_first_third_on(format: str, absences: bool) -> None:
    assert median(errors(format, absences, EVENTS)) <= TOLERATED
