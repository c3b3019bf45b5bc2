"""A long draw in the journal: it is read in pieces, and is what it would be in one."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tournament import entries
from tournament.facts import AnyFact, Drew, Entered, Ordered
from tournament.format import Pairing

NASTY = '"},{"number":'
NAMES = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from([NASTY, "]", '\\"', "[{}]"])
PAIRINGS = st.builds(Pairing, st.integers(1, 9), st.integers(1, 9), NAMES, st.none() | NAMES)


@given(pairings=st.lists(PAIRINGS), rules=st.integers(1, 2), letters=st.integers(0, 200))
@example(pairings=[Pairing(1, 1, NASTY, NASTY), Pairing(2, 1, "]", None)], rules=1, letters=0)
def test_a_draw_that_is_read_in_pieces_is_the_draw(pairings: list[Pairing], rules: int, letters: int) -> None:
    drew = Drew(tuple(pairings), rules)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(entries, "LETTERS", letters)
        rest, pieces = entries.parted(entries.body(drew))
        read = [pairing for piece in pieces for pairing in piece]
    fact = entries.fact(rest)
    assert isinstance(fact, Drew)
    assert msgspec.structs.replace(fact, pairings=(*read, *fact.pairings)) == drew
    assert not (read and fact.pairings)


@pytest.mark.parametrize(
    "fact", [Entered("a" * 2 * entries.LETTERS), Ordered("ann", "open", "drew" * entries.LETTERS)]
)
def test_any_other_fact_is_read_in_one_piece(fact: AnyFact) -> None:
    rest, pieces = entries.parted(entries.body(fact))
    assert entries.fact(rest) == fact
    assert [*pieces] == []
