"""What a game writes and decides is such that it can be kept, told and read again, or is `Unsound`."""

from enum import IntEnum

import pytest
from msgspec import Struct, msgpack

from games.game import Outcome
from games.soundness import Unsound, expect_sound


class Text(str):
    """As libraries have it that say whether a text may go on a page."""


class Number(int):
    pass


class Side(IntEnum):
    SECOND = 1


class After(Struct, frozen=True):
    """A position: whose turn it is, or how it has ended."""

    turn: object = 0
    outcome: Outcome | None = None


def won(winner: object, why: object = "the second won") -> After:
    return After(outcome=Outcome(winner, why))  # type: ignore[arg-type]


@pytest.mark.parametrize("written", [2**70, object(), "\ud800", [Number(1)], Text("a1"), {0: 2}, {(0, 1): 2}])
def test_a_move_that_cannot_be_written_is_unsound(written: object) -> None:
    """Catches the end of the host when it kept a move whose keys are numbers: only processes tell these."""
    with pytest.raises(Unsound, match=r"^a move or an outcome cannot be written: "):
        expect_sound(written, After())


@pytest.mark.parametrize("turn", [2, -1, None, True, False, 1.0, "0", Number(1)])
def test_the_seat_to_move_is_0_or_1_and_nothing_that_is_equal_to_these(turn: object) -> None:
    """Catches `not self.turn` of a position: it was kept as `true`, and no host could read that again."""
    with pytest.raises(Unsound):
        expect_sound(0, After(turn))


@pytest.mark.parametrize("winner", [2, -1, True, False, 1.0, "0", Number(1)])
def test_the_winner_is_0_or_1_or_none_and_nothing_that_is_equal_to_these(winner: object) -> None:
    with pytest.raises(Unsound):
        expect_sound(0, won(winner))


@pytest.mark.parametrize("why", ["\ud800", Text("it is over"), b"the second won", None, 1])
def test_why_it_was_won_is_a_text_that_can_be_written(why: object) -> None:
    """Catches a text of another type that ended the store: it is one, and yet nothing writes it."""
    with pytest.raises(Unsound):
        expect_sound(0, won(1, why))


@pytest.mark.parametrize("after", [After(0), After(1), After(Side.SECOND), won(None), won(0), won(1)])
def test_whatever_is_sound_is_read_again_as_it_was(after: After) -> None:
    expect_sound({"heap": 0, "take": 2}, after)
    assert msgpack.decode(msgpack.encode(after), type=Sound) == Sound(after.turn, after.outcome)


class Sound(Struct, frozen=True):
    turn: int
    outcome: Outcome | None
