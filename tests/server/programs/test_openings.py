"""What pairs begin with: drawn openings are balanced and different, those in a file are as it says."""

from functools import cache, reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.brains import worth
from games.catalogue import catalogue
from games.game import Game
from server.exits import Misuse
from server.programs.openings import EVEN, Opening, RandomOpenings, in_turn, listed
from tests.games.play import random_match

PAIRS = 8
CONNECT4, TIC_TAC_TOE = catalogue()["connect-4"], catalogue()["tic-tac-toe"]


def after(game: Game[Any, Any], opening: Opening) -> Any:
    return reduce(lambda position, move: position.play(game.read(move, position)), opening, game.opening({}))


@cache
def drawn(name: str, plies: int, seed: int = 0) -> tuple[Opening, ...]:
    openings = RandomOpenings(catalogue()[name], plies, seed)
    return tuple(openings(pair) for pair in range(PAIRS))


@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue())
def test_drawn_openings_are_of_that_length_and_nobody_wins_by_force_at_once(name: str) -> None:
    game = catalogue()[name]
    for opening in drawn(name, 3):
        position = after(game, opening)
        assert len(opening) == 3
        assert position.outcome is None
        assert abs(worth(game, position, 2)) < 1
        winners = [position.play(move).outcome for move in position.moves()]
        assert not any(outcome and outcome.winner == position.turn for outcome in winners)


@pytest.mark.parametrize("name", catalogue())
@pytest.mark.slow
def test_drawn_openings_lead_to_different_positions(name: str) -> None:
    game = catalogue()[name]
    assert len({after(game, opening) for opening in drawn(name, 3)}) == PAIRS


def test_the_same_seed_gives_the_same_openings_and_another_one_others() -> None:
    assert [RandomOpenings(CONNECT4, 3, 0)(pair) for pair in range(PAIRS)] == [*drawn("connect-4", 3)]
    assert drawn("connect-4", 3, 1) != drawn("connect-4", 3)


def test_when_there_are_no_more_they_come_again_in_turn() -> None:
    openings = RandomOpenings(TIC_TAC_TOE, 1, 0)
    found = [after(TIC_TAC_TOE, openings(pair)) for pair in range(27)]
    assert len(set(found[:9])) == 9
    assert found == found[:9] * 3


def test_a_position_that_somebody_wins_by_force_is_no_opening() -> None:
    """After four plies of tic-tac-toe, most are."""
    openings = RandomOpenings(TIC_TAC_TOE, 4, 0)
    for pair in range(50):
        assert abs(worth(TIC_TAC_TOE, after(TIC_TAC_TOE, openings(pair)), 2)) <= EVEN


def test_more_plies_than_a_balanced_game_has_are_refused() -> None:
    with pytest.raises(Misuse, match="30 plies are too many: no balanced opening of tic-tac-toe"):
        RandomOpenings(TIC_TAC_TOE, 30, 0)


@given(seed=st.integers(0, 1000), name=st.sampled_from([*catalogue()]), plies=st.integers(1, 6))
def test_a_line_of_short_moves_is_the_opening_that_they_are(
    tmp_path_factory: pytest.TempPathFactory, seed: int, name: str, plies: int
) -> None:
    game = catalogue()[name]
    match = random_match(game, {}, Random(seed))
    moves = match.moves[: min(plies, len(match.moves) - 1)]
    path = tmp_path_factory.mktemp("openings") / "openings.txt"
    path.write_text(f"# how they begin\n\n{' '.join(map(game.short, moves))}\r\n")
    assert listed(game, str(path)) == [tuple(map(game.write, moves))]


def test_a_file_may_begin_with_the_mark_of_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "openings"
    path.write_bytes(b"\xef\xbb\xbf3 3\r\n")
    assert listed(CONNECT4, str(path)) == [(3, 3)]


def test_the_openings_of_a_file_come_in_turn_and_then_again(tmp_path: Path) -> None:
    (tmp_path / "three").write_text("3\n3 3\n2 4 1\n")
    openings = in_turn(listed(CONNECT4, str(tmp_path / "three")))
    assert [openings(pair) for pair in range(4)] == [(3,), (3, 3), (2, 4, 1), (3,)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3 3\n3 9\n", "line 2: move 2 cannot be played: there is no column 9"),
        ("# one\n\nthree\n", "line 3: move 1 cannot be played: "),
        ("3 3 3 3 3 3 3\n", "line 1: move 7 cannot be played: "),
        ("0 1 0 1 0 1 0\n", "line 1: the game is over after 7 moves"),
        ("0 1 0 1 0 1 0 1\n", "line 1: the game is over after 7 moves"),
        ("# nothing\n\n", "expected an opening on each line, and there is none"),
    ],
)
def test_a_line_that_is_no_opening_is_refused_with_its_number(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text(text)
    with pytest.raises(Misuse) as refused:
        listed(CONNECT4, str(path))
    assert str(refused.value).startswith(f"{path}")
    assert why in str(refused.value)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be read"):
        listed(CONNECT4, str(tmp_path / "nowhere"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe3\n")
    with pytest.raises(Misuse, match="not UTF-8"):
        listed(CONNECT4, str(tmp_path / "binary"))


@pytest.mark.parametrize(
    ("game", "text", "why"),
    [
        (
            "santorini",
            "0 0 5 5 1 1 4 4 1 3 3 1 3",
            "move 5 cannot be played: 3 3 is not next to worker 1 at 0 0",
        ),
        ("santorini", "0 0 0 0", "move 2 cannot be played: 0 0 is taken by worker 1 of first"),
        ("santorini", "0 0 9 9 1 1", 'not "9 9"'),
        ("hexagon-dots", "0,0 0,1 0,1 0,0", "move 2 cannot be played: 0,0 0,1 is already drawn, by first"),
    ],
)
def test_a_move_of_several_words_is_refused_as_a_whole(
    game: str, text: str, why: str, tmp_path: Path
) -> None:
    """Catches a move to a field too far away that was said to be no move, by its first word alone."""
    path = tmp_path / "openings.txt"
    path.write_text(text)
    with pytest.raises(Misuse) as refused:
        listed(catalogue()[game], str(path))
    assert str(refused.value).endswith(why)
