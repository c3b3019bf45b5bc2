"""Round robin and double round robin: every number of entrants from 2 to 40, and those who come late."""

from itertools import chain, combinations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournament.holding import (
    Held,
    by_round,
    field,
    imbalance,
    meetings,
    nobody_twice,
    repetitions,
    sides,
    toss,
)
from tournament.format import Entrant, Format, Pairing, Terms, formats
from tournament.pairing.drawing import Sides
from tournament.pairing.round_robin import alternating, catching_up

SINGLE, DOUBLE = formats()["round-robin"], formats()["double-round-robin"]
LEGS = {SINGLE.name: 1, DOUBLE.name: 2}

both = pytest.mark.parametrize("format", [SINGLE, DOUBLE], ids=LEGS)
every_count = pytest.mark.parametrize("count", range(2, 41))


def drawn(format: Format, count: int) -> list[Pairing]:
    return list(format.draw(field(count), [], [], Terms(seed=count)))


@both
@every_count
def test_everybody_meets_everybody(format: Format, count: int) -> None:
    met = meetings(drawn(format, count))
    assert len(met) == count * (count - 1) // 2
    assert set(met.values()) == {LEGS[format.name]}


@both
@every_count
def test_nobody_plays_twice_in_a_round_and_no_round_is_needless(format: Format, count: int) -> None:
    pairings = drawn(format, count)
    assert nobody_twice(pairings)
    assert all(pairing.second is not None for pairing in pairings), "an idle round is no bye"
    rounds = by_round(pairings)
    assert list(rounds) == list(range(1, LEGS[format.name] * (count - 1 + count % 2) + 1))
    assert {len(pairings) for pairings in rounds.values()} == {count // 2}


@every_count
def test_firsts_and_seconds_differ_by_one_at_most(count: int) -> None:
    balances = [sum(row) for row in sides(drawn(SINGLE, count)).values()]
    assert {abs(balance) for balance in balances} == ({0} if count % 2 else {1})


@every_count
def test_twice_round_everybody_is_first_as_often_as_second_and_so_is_each_of_every_pair(count: int) -> None:
    pairings = drawn(DOUBLE, count)
    assert imbalance(pairings) == 0
    assert len({(pairing.first, pairing.second) for pairing in pairings}) == count * (count - 1)


@both
@every_count
def test_sides_alternate_as_evenly_as_can_be(format: Format, count: int) -> None:
    """Of an odd number all alternate throughout; of an even number all but two repeat one side once a leg.

    Fewer repetitions there cannot be: whoever repeats none begins first or begins second, and two who
    begin alike would never meet.
    """
    repeated = sorted(repetitions(row) for row in sides(drawn(format, count)).values())
    assert sum(repeated) == (0 if count % 2 else LEGS[format.name] * (count - 2))
    assert repeated[-1] <= LEGS[format.name]


@both
@given(count=st.integers(2, 12), late=st.lists(st.integers(1, 4), max_size=4), seed=st.integers(0, 99))
def test_late_entries_meet_everybody_and_upset_no_balance(
    format: Format, count: int, late: list[int], seed: int
) -> None:
    held = Held(format, field(count), Terms(seed=seed))
    held.advance()
    for wave, size in enumerate(late):
        begun = held.drawn[-1].round
        held.entrants += field(size, f"late{wave}.")
        added = held.advance()
        assert nobody_twice(added)
        assert min(pairing.round for pairing in added) == begun + 1
    met = meetings(held.drawn)
    assert len(met) == len(held.entrants) * (len(held.entrants) - 1) // 2
    assert set(met.values()) == {LEGS[format.name]}
    assert imbalance(held.drawn) <= 2 - LEGS[format.name]


@both
@given(count=st.integers(2, 9), seed=st.integers(0, 2**32), late=st.integers(0, 4))
def test_whoever_stays_meets_everybody_who_stays(format: Format, count: int, seed: int, late: int) -> None:
    random = Random(seed)
    held = Held(format, field(count), Terms(seed=seed)).hold(random, toss(random), 0.1, late)
    held.hold(random, toss(random))  # for those who came after the last result
    met = meetings(held.drawn)
    stay = [entrant.name for entrant in held.entrants if not entrant.gone]
    assert all(
        met[frozenset((one, other))] == LEGS[format.name] for one in stay for other in stay if one < other
    )
    assert max(met.values(), default=0) <= LEGS[format.name]


@given(balances=st.lists(st.integers(-4, 4), min_size=1, max_size=7))
def test_a_newcomer_takes_the_sides_that_leave_balances_as_even_as_can_be(balances: list[int]) -> None:
    """By the sum of their squares; compared with every way to hand out the sides."""
    others = [f"p{index}" for index in range(len(balances))]
    before = Sides()
    before.balance.update(dict(zip(others, balances, strict=True)))

    def squares(taken: dict[str, int]) -> int:  # `taken`: 1 for each that the newcomer is first against
        own = sum(taken.values())
        return own**2 + sum((before.balance[other] - side) ** 2 for other, side in taken.items())

    chosen = {
        second if first == "new" else first: 1 if first == "new" else -1
        for first, second in alternating("new", others, before)
    }
    ways = (dict(zip(others, way, strict=True)) for way in product((1, -1), repeat=len(others)))
    assert squares(chosen) == min(map(squares, ways))


def test_those_who_come_late_play_in_the_first_round_in_which_both_are_free() -> None:
    names = [entrant.name for entrant in field(8)]
    early = [Pairing(number, 1, *pair) for number, pair in enumerate(combinations(names[:4], 2), 1)]
    rounds = catching_up(names, early)
    assert sum(map(len, rounds)) == 8 * 7 // 2 - len(early)
    for number, round in enumerate(rounds):
        for pair in round:
            assert all({*pair} & {*chain(*earlier)} for earlier in rounds[:number]), pair


def test_whoever_is_left_over_and_whoever_comes_instead_even_each_other_out() -> None:
    """Ann has been first; so against Cid, who comes when Bob has gone, she is second."""
    held = Held(SINGLE, [Entrant("ann"), Entrant("bob")])
    (only,) = held.advance()
    held.withdraw(str(only.second))
    held.entrants.append(Entrant("cid"))
    (added,) = held.advance()
    assert (added.first, added.second) == ("cid", only.first)
