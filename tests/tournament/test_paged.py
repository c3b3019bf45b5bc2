"""A mapping in pages is what a dictionary would be, and nothing that is done to a large one takes long."""

import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.facts import Drew, Entered, Froze, Opened
from tournament.format import Pairing
from tournament.paged import PAGE, PIECE, Paged
from tournament.record import Record

NUMBERS = (0, 1, 2, PAGE - 1, PAGE, PAGE + 1, 5 * PAGE)
MANY = 4 * PAGE * PIECE
AT_ONCE = 64 * PIECE * PAGE  # bytes of a dictionary that is made, or gets more room, in one step


@given(seed=st.integers(0, 2**32 - 1))
def test_it_is_what_a_dictionary_would_be(seed: int) -> None:
    random, expected, paged = Random(seed), dict[int, str](), Paged[str]()
    for _ in range(60):
        number = random.choice(NUMBERS)
        if random.random() < 0.6:
            expected[number] = paged[number] = str(random.random())
        elif number in expected:
            assert paged.pop(number) == expected.pop(number)
        else:
            with pytest.raises(KeyError):
                del paged[number]
            with pytest.raises(KeyError):
                paged[number]
        assert paged == expected
        assert len(paged) == len(expected)
        assert sorted(paged) == sorted(expected)
        assert sorted(paged.values()) == sorted(expected.values())
        assert all(paged.get(each) == expected.get(each) for each in NUMBERS)
        assert all((each in paged) == (each in expected) for each in (*NUMBERS, "1", None))


def test_numbers_that_come_in_rising_order_stay_in_it() -> None:
    paged = Paged((number, -number) for number in range(1, 3 * PAGE, 7))
    assert [*paged] == [*range(1, 3 * PAGE, 7)]
    assert [*paged.values()] == [-number for number in paged]


def test_a_copy_is_made_in_pieces_and_goes_on_by_itself() -> None:
    """Catches a copy of a million in one step, for which all matches wait for 40 ms."""
    paged, copied = Paged((number, number) for number in range(MANY)), Paged[int]()
    made = [sum(map(len, copied.pages.values())) for _ in copied.copying(paged)]
    assert (
        max(later - earlier for earlier, later in zip((0, *made), (*made, MANY), strict=True)) <= PIECE * PAGE
    )
    assert copied == paged
    del copied[0]
    copied[MANY] = 1
    assert 0 in paged
    assert MANY not in paged
    assert len(paged) == MANY


def test_no_step_with_a_large_draw_makes_or_enlarges_a_large_dictionary() -> None:
    """Catches 80 ms in which no match goes on as a round robin begins, and 50 ms for a look at what if."""
    record = Record("cup", Opened("tic-tac-toe", "round-robin"))
    for name in ("ann", "bob"):
        record.add(Entered(name))
    pairings = tuple([Pairing(number, 1, "ann", "bob") for number in range(1, MANY + 1)])
    for fact in (Drew(pairings), Froze(on=True)):
        for _ in record.adding(fact):
            pass
    assert record.frozen is not None
    for known in (record, record.frozen):
        assert len(known.drawn) == len(known.open) == MANY
        every = (*vars(known).values(), *vars(known.open).values(), *vars(known.results).values())
        assert max(sys.getsizeof(each) for each in every if isinstance(each, dict)) < AT_ONCE
