"""What a format without an end looks back on is the same, counted as it came or looked up afterwards."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened, Voided
from tournament.format import Pairing, Result
from tournament.latest import MEMORY, Latest, met
from tournament.pairing.drawing import Sides, unfinished
from tournament.record import Record

NAMES = tuple("abcdef")
PAIRS = tuple(permutations(NAMES, 2))
seeds = st.integers(0, 2**32 - 1)
before = st.sampled_from((0, 0, MEMORY - 20, MEMORY + 20))  # pairings that are drawn first, at once


def told(format: str, random: Random, before: int, steps: int) -> Record:
    """A tournament whose matches end in any order, are void, voided later, or forfeited without a deal."""
    record = Record("cup", Opened("tic-tac-toe", format))
    for name in NAMES:
        record.add(Entered(name))
    record.add(drew(record, random, before))
    for _ in range(steps):
        record.add(happening(record, random))
    return record


def happening(record: Record, random: Random) -> AnyFact:
    chosen = random.random()
    if chosen < 0.2 and record.dealt:
        match, number = random.choice(list(record.dealt.items()))
        return concluded(record, match, number, random)
    if chosen < 0.3 and record.open:
        number = random.choice(list(record.open))
        return concluded(record, record.match_name(number), number, random)
    if chosen < 0.6 and record.open:
        number = random.choice(list(record.open))
        return Dealt(record.match_name(number), number)
    if chosen < 0.7 and record.matches:
        return Voided(random.choice(list(record.matches)), "?")
    return drew(record, random, random.randint(1, 3))


def drew(record: Record, random: Random, count: int) -> Drew:
    number = len(record.drawn) + 1
    return Drew(tuple(Pairing(number + more, number, *random.sample(NAMES, 2)) for more in range(count)))


def concluded(record: Record, match: str, number: int, random: Random) -> Concluded:
    pairing = record.drawn[number]
    score = random.choice((None, (1.0, 0.0), (0.5, 0.5)))
    ending = Ending.VOID if score is None else Ending.PLAYED
    return Concluded(match, number, (pairing.first, pairing.second or ""), None, ending, "so", score)


def looked_up(record: Record) -> tuple[list[Pairing], list[Result]]:
    """The latest, found by going through all that is known."""
    drawn = list(record.drawn.values())[-MEMORY:]
    results = {result.pairing.number: result for result in record.results.remembered()}
    return drawn, [results[pairing.number] for pairing in drawn if pairing.number in results]


def counted(drawn: Sequence[Pairing], results: Sequence[Result]) -> tuple[object, object]:
    playing = unfinished(drawn, results)
    return Counter(pairing.names for pairing in drawn), Counter(pairing.names for pairing in playing)


@given(seed=seeds, before=before, steps=st.integers(0, 200), format=st.sampled_from(("open", "ladder")))
def test_it_is_what_was_drawn_last_and_what_that_came_to(
    seed: int, before: int, steps: int, format: str
) -> None:
    record = told(format, Random(seed), before, steps)
    expected = looked_up(record)
    for known in (record, record.after()):
        drawn, results = known.past()
        assert isinstance(drawn, Latest)
        assert ([*drawn], [*results]) == expected
        assert [*reversed(drawn)] == expected[0][::-1]
        assert (drawn.times, drawn.playing) == counted(*expected)
        assert all(drawn.met_by(one).get(other, 0) == met(drawn.times, one, other) for one, other in PAIRS)
        last = {pairing.names: pairing.number for pairing in expected[0]}
        assert all(drawn.last_met(*pair) == last.get(pair, 0) for pair in PAIRS)
        sides = Sides(expected[0])
        assert all(drawn.balance[name] == sides.balance[name] for name in NAMES)


@given(seed=seeds, before=before, steps=st.integers(0, 200))
def test_a_copy_goes_on_by_itself(seed: int, before: int, steps: int) -> None:
    random = Random(seed)
    record = told("open", random, before, steps)
    expected = looked_up(record)
    later = record.after()
    for _ in range(50):
        later.add(happening(later, random))
    for known, latest in ((record, expected), (later, looked_up(later))):
        drawn, results = known.past()
        assert ([*drawn], [*results]) == latest
