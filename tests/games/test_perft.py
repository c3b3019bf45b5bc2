"""Counts of all that can be played: `perft/*.txt`.

A table counts the sequences of so many moves from one position. Its first line
names the game and its options; a line `# after` has the moves that lead to the
position, which is the opening without it; then come depths and counts. Every
count for Quoridor and Hexagon Dots was agreed on by two independent
implementations; here the oracle counts again as far as it is quick.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from games.catalogue import catalogue
from games.game import typed
from tests.effort import tries
from tests.games.test_against_oracles import ORACLES

TABLES = sorted(Path(__file__).with_name("perft").glob("*.txt"))
# Positions in which the oracle counts the moves. In Quoridor, there are walls to try.
QUICK = {"quoridor": tries(100, 200)}
MOST = tries(500, 3_000)  # for the other games


class Line(NamedTuple):
    game: str
    options: dict[str, Any]
    after: list[str]
    depth: int
    count: int
    counted: int  # the positions whose moves are counted: the line above


def lines(table: Path) -> Iterator[Line]:
    first, *others = table.read_text().splitlines()
    name, *options = first.removeprefix("# ").split()
    keywords = {key: typed(value) for key, value in (option.split("=") for option in options)}
    after: list[str] = []
    counted = 1
    for line in others:
        if line.startswith("# after "):
            after = line.removeprefix("# after ").split(", ")
        else:
            depth, count = map(int, line.split())
            yield Line(name, keywords, after, depth, count, counted)
            counted = count


LINES = {f"{table.stem}:{line.depth}": line for table in TABLES for line in lines(table)}
AFFORDABLE = {label: line for label, line in LINES.items() if line.counted <= QUICK.get(line.game, MOST)}


# The whole matches of Tic-Tac-Toe are counted below, of Quoridor other positions go as deep as this one, and
# of the others a ply less has the same moves in it.
DEAR = {
    "connect-4:7",
    "connect-4-late:11",
    "hexagon-dots-3-3:6",
    "quoridor:3",
    "tic-tac-toe:8",
    "tic-tac-toe:9",
    "tic-tac-toe:10",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "label",
    [pytest.param(label, marks=pytest.mark.campaign) if label in DEAR else label for label in LINES],
)
def test_a_game_has_as_many_sequences_of_moves_as_the_table_says(label: str) -> None:
    line = LINES[label]
    game = catalogue()[line.game]
    position = game.opening(line.options)
    for short in line.after:
        position = position.play(game.read(typed(short), position))
    assert perft(position, line.depth) == line.count


@pytest.mark.slow
@pytest.mark.parametrize(
    "label",
    [  # face to face there is more to see than in the opening
        pytest.param(label, marks=pytest.mark.campaign if label == "quoridor:2" else ())
        for label in AFFORDABLE
    ],
)
def test_the_oracle_counts_the_same(label: str) -> None:
    line = LINES[label]
    oracle = ORACLES[line.game](**line.options)
    for short in line.after:
        oracle = oracle.play(short)
    assert perft(oracle, line.depth) == line.count


def test_every_game_with_an_oracle_has_a_table() -> None:
    assert {line.game for line in LINES.values()} == set(ORACLES)


@pytest.mark.slow
def test_tic_tac_toe_has_255168_whole_matches() -> None:
    assert finished(catalogue()["tic-tac-toe"].opening({})) == 255_168


def perft(position: Any, depth: int) -> int:
    """The sequences of `depth` moves; a finished position has none. The last ones are counted, not played."""
    moves = list(position.moves())
    return len(moves) if depth == 1 else sum(perft(position.play(move), depth - 1) for move in moves)


def finished(position: Any) -> int:
    """The sequences of moves that end the play."""
    if position.outcome is not None:
        return 1
    return sum(finished(position.play(move)) for move in position.moves())
