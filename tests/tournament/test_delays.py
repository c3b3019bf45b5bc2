"""How long pairings of the absent wait in a tournament that waits for each of them."""

from math import inf

from tests.steps import steps_taken
from tournament.absences import AT_A_TIME, PIECE
from tournament.delays import Delays
from tournament.format import Pairing
from tournament.waiting import Waiting

GRACE = 30.0


def settled(delays: Delays, now: float, open: Waiting, free: set[str]) -> list[tuple[str, ...]]:
    """The names in the pairings that are over now, which are taken out of what is open."""
    found = delays.settled(now, free, open, 60.0, playing=True)
    for pairing in found:
        open.discard(pairing.number)
    return [pairing.names for pairing in found]


def test_one_pairing_of_each_waits_at_a_time() -> None:
    open = Waiting(Pairing(number, 1, "ann", other) for number, other in enumerate("bcd", 1))
    delays, over, now = Delays(GRACE), list[float](), 100.0
    delays.went("ann", plays=True, now=now)
    while open:
        over += [now for _ in settled(delays, now, open, {*"bcd"})]
        settled(delays, now, open, {*"bcd"})
        now = delays.until
    assert over == [130.0, 160.0, 190.0]


def test_a_wait_goes_on_when_an_earlier_pairing_becomes_possible() -> None:
    """Each match of another that ended had the wait begin anew: for hours, if matches were short."""
    open = Waiting([Pairing(1, 1, "ann", "b"), Pairing(2, 1, "ann", "c")])
    delays = Delays(GRACE)
    delays.went("ann", plays=True, now=0.0)
    assert settled(delays, 0.0, open, {"c"}) == []
    delays.free("b")
    assert settled(delays, 20.0, open, {"b", "c"}) == []
    assert delays.until == GRACE
    assert settled(delays, GRACE, open, {"b", "c"}) == [("ann", "c")]


def test_it_is_over_when_somebody_comes_or_is_busy_and_begins_anew_with_another() -> None:
    open = Waiting([Pairing(1, 1, "ann", "b"), Pairing(2, 1, "ann", "c")])
    delays = Delays(GRACE)
    delays.went("ann", plays=True, now=0.0)
    settled(delays, 0.0, open, {"b", "c"})
    delays.came("b")
    settled(delays, 10.0, open, {"c"})
    assert delays.until == 10.0 + GRACE
    delays.came("ann")
    settled(delays, 20.0, open, {"ann", "c"})
    assert delays.until == inf


def test_if_both_are_absent_each_has_the_full_grace() -> None:
    open = Waiting([Pairing(1, 1, "ann", "bob")])
    delays = Delays(GRACE)
    delays.went("ann", plays=True, now=0.0)
    settled(delays, 0.0, open, {"bob"})
    assert delays.wait_left("ann", 1, 10.0) == 20.0
    delays.went("bob", plays=True, now=20.0)
    settled(delays, 20.0, open, set())
    assert delays.until == 20.0 + GRACE


def test_after_nobody_was_waited_for_everybody_is_anew() -> None:
    """As where as many matches are played as may be."""
    open = Waiting([Pairing(1, 1, "ann", "b"), Pairing(2, 1, "c", "dan")])
    delays, free = Delays(GRACE), {"b", "c"}
    for name in ("ann", "dan"):
        delays.went(name, plays=True, now=0.0)
    settled(delays, 0.0, open, free)
    delays.put_off()
    assert delays.until == inf
    assert settled(delays, 20.0, open, free) == []
    assert delays.until == 20.0 + GRACE
    assert sorted(settled(delays, 20.0 + GRACE, open, free)) == [("ann", "b"), ("c", "dan")]


def test_what_a_look_costs_does_not_grow_with_the_number_of_the_absent() -> None:
    """With three thousand absent, each match that ended held up all others for 20 ms."""

    def cost(count: int) -> int:
        names = [(f"gone-{number}", f"here-{number}") for number in range(count)]
        open, free = Waiting(Pairing(number, 1, *both) for number, both in enumerate(names, 1)), set[str]()
        delays = Delays(GRACE)
        for absent, here in names:
            delays.went(absent, plays=True, now=0.0)
            free.add(here)
        settled(delays, 0.0, open, free)
        while delays.more:
            settled(delays, 0.0, open, free)

        def look() -> None:
            for now in range(1, 20):
                delays.came("here-0")
                settled(delays, float(now), open, free ^ {"here-0"} if now % 2 else free)

        return steps_taken(look)

    assert cost(900) <= cost(9)


def test_of_thousands_that_wait_some_are_looked_at_at_a_time() -> None:
    names = [(f"gone-{number}", f"here-{number}") for number in range(3 * PIECE)]
    open, free = Waiting(Pairing(number, 1, *both) for number, both in enumerate(names, 1)), set[str]()
    delays = Delays(GRACE)
    for absent, here in names:
        delays.went(absent, plays=True, now=0.0)
        free.add(here)
    for _ in range(3):
        assert delays.more or delays.until == inf
        settled(delays, 0.0, open, free)
    assert settled(delays, GRACE - 0.1, open, free) == []
    found = list[tuple[str, ...]]()
    while open:
        some = settled(delays, GRACE, open, free)
        assert 0 < len(some) <= AT_A_TIME
        found += some
    assert sorted(found) == sorted(names)
