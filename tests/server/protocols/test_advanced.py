"""The Arena's advanced opponent in Tic-Tac-Toe is the old one, field by field: better would be wrong."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from games.tictactoe import FIELDS, INDEX, SEATS, TicTacToe, show, start
from server.protocols.arena.advanced import advanced
from tests.oracles.advanced import Advanced, Board

each_seat = pytest.mark.parametrize("house", [0, 1], ids=SEATS)


@pytest.mark.slow
@each_seat
def test_it_takes_what_the_old_one_took_in_every_position_there_is(house: int) -> None:
    old = Advanced(SEATS[house])
    differing: list[tuple[Board, str, str]] = []
    compared = 0
    for position in positions():
        if position.turn == house:
            shown = board(position)
            expected, taken = FIELDS[old.choice(shown)], FIELDS[advanced(position)]
            compared += 1
            if taken != expected:
                differing.append((shown, expected, taken))
    assert not differing
    assert compared == (2423, 2097)[house], "with 0, 2, 4, 6, 8 or with 1, 3, 5, 7 symbols"


@each_seat
def test_whoever_searches_properly_row_by_row_draws_against_it(house: int) -> None:
    assert game(house, properly) == ("NW C N NE SW W E S SE", None)


@pytest.mark.parametrize(("house", "fields"), [(0, "NW N W S NE C"), (1, "N NW S W C")], ids=SEATS)
def test_it_can_be_beaten_as_ever(house: int, fields: str) -> None:
    replies = iter(fields.split()[1 - house :: 2])
    assert game(house, lambda position: INDEX[next(replies)]) == (fields, 1 - house)


def positions() -> Iterator[TicTacToe]:
    """Every legal position with a move to make, once."""
    layer = {start()}
    while layer:
        yield from layer
        after = {position.play(field) for position in layer for field in position.moves()}
        layer = {position for position in after if position.outcome is None}


def board(position: TicTacToe) -> Board:
    shown: Any = show(position, ("Ann", "Bob"))
    return tuple(shown["board"])


def game(house: int, client: Callable[[TicTacToe], int]) -> tuple[str, int | None]:
    """The fields as they were taken, and who won."""
    position, taken = start(), list[str]()
    while position.outcome is None:
        field = advanced(position) if position.turn == house else client(position)
        taken.append(FIELDS[field])
        position = position.play(field)
    return " ".join(taken), position.outcome.winner


def properly(position: TicTacToe) -> int:
    """The first of the best fields."""
    return max(position.moves(), key=lambda field: -prospect(position.play(field)))


@cache
def prospect(position: TicTacToe) -> int:
    """For the seat to move: 1 if it wins, 0 for a draw, -1 if it loses."""
    if position.outcome is not None:
        return 0 if position.outcome.winner is None else -1
    return max(-prospect(position.play(field)) for field in position.moves())
