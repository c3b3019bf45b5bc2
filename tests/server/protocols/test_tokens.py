"""Turn tokens of Hexagon Dots, which say what a bot has been told."""

from random import Random
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from games.hexagondots import GAME
from server.protocols.hexagon_dots.tokens import Tokens, begins_with

seeds = st.integers(0, 2**32 - 1)


def game(seed: int, plies: int) -> list[Any]:
    random, position, moves = Random(seed), GAME.opening({}), list[Any]()
    while len(moves) < plies and position.outcome is None:
        move = random.choice(list(position.moves()))
        moves.append(GAME.write(move))
        position = position.play(move)
    return moves


@given(seed=seeds, first=st.integers(0, 20), more=st.integers(0, 20))
def test_a_token_says_which_lines_its_bot_knows(seed: int, first: int, more: int) -> None:
    moves = game(seed, first + more)
    tokens = Tokens("a secret")
    early, late = tokens.token(moves[:first]), tokens.token(moves)
    assert late == Tokens("a secret").token(moves), "whenever it is made"
    kept = msgspec.json.decode(msgspec.json.encode(moves, order="deterministic"))
    for token, ply in ((early, len(moves[:first])), (late, len(moves))):
        known = Tokens("a secret").known(token)
        assert known is not None
        assert known.ply == ply
        assert begins_with(kept, known)
        assert begins_with(moves[:ply], known)
        assert not (ply and begins_with(moves[: ply - 1], known))
    if moves:
        other = [*moves[:-1], GAME.write(next(iter(GAME.opening({}).moves())))]
        assert (other == moves) == begins_with(other, known)


@given(text=st.text(max_size=40))
def test_nobody_makes_a_token_without_the_secret(text: str) -> None:
    mine, others = Tokens("a secret"), Tokens("another")
    assert mine.known(text) is None
    assert mine.known(others.token([])) is None
    token = mine.token([])
    changed = "A" if token[0] != "A" else "B"
    assert mine.known(changed + token[1:]) is None
    assert token.isascii()
    assert token.replace("-", "").replace("_", "").isalnum()
