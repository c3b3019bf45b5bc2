"""Moves graded in games that nobody plays perfectly: an estimate, by a house brain that looks a little ahead.

Each move is held against the best one that the brain sees from there, by the game's own
`evaluate`. What the brain cannot see counts for nothing, and a bot that sees further is
marked down for it. So this says something about a bot over many matches, and little
about any one move.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from games.brains import SURE, Stop, worth_in_time
from games.game import Game
from games.perfect import Counted

DEPTH = 3  # plies that the brain looks ahead
MOST = 400_000  # positions looked at for one match: some four seconds
# Of what an evaluation may come to, from −1 to 1: a move that loses no more is as good as the best
NEAR = 0.1
SLIP = 0.5  # a move that loses this much or more is named


class Slip(Struct, frozen=True):
    """A move after which its seat was much worse off than it might have been, as far as the brain sees."""

    ply: int  # from 0
    seat: int
    lost: float  # of an evaluation from −1 to 1, so at most 2


class Estimate(Counted, frozen=True):
    """Moves held against the best that the brain sees: about as good is good enough."""

    depth: int
    slips: tuple[Slip, ...]


def estimate(
    game: Game[Any, Any], options: Mapping[str, object], moves: Sequence[Any], most: int = MOST
) -> Estimate | None:
    """Grades moves as the game writes them; None where perfect play is known, or where nothing can be told.

    Each move may use its share of `most` and what the moves before it left over, so the same match has
    the same estimate on every machine. Where that is less than one position for each legal move, none is
    looked at: nothing would come of it, and on the largest boards it would take minutes.
    """
    if game.solver is not None or game.evaluate is None:
        return None
    spent, allowed = 0, 0

    def stop() -> bool:
        nonlocal spent
        spent += 1
        return spent > allowed

    position = game.opening(options)
    slips: list[Slip] = []
    kept, had, ungraded = [0, 0], [0, 0], 0
    for ply, move in enumerate(moves):
        seat: int = position.turn
        allowed = most * (ply + 1) // len(moves)
        after = position.play(game.read(move, position))
        if _more_moves(position, allowed - spent):
            best = came = None
            spent = allowed
        else:
            best = _worth(game, position, DEPTH, seat, stop)
            came = _worth(game, after, DEPTH - 1, seat, stop)
        position = after
        if best is None or came is None:
            ungraded, spent = ungraded + 1, min(spent, allowed)
        elif best > -1:
            lost = max(0.0, best - came)  # it may have been better than what the brain looked at
            had[seat] += 1
            kept[seat] += lost <= NEAR
            if lost >= SLIP:
                slips.append(Slip(ply, seat, round(lost, 2)))
    return Estimate((kept[0], kept[1]), (had[0], had[1]), ungraded, DEPTH, tuple(slips))


def in_words(slip: Slip, player: str) -> str:
    """`ann may have gone wrong at move 17`, where the first move is 1."""
    return f"{player} may have gone wrong at move {slip.ply + 1}"


def _more_moves(position: Any, most: int) -> bool:
    """Whether there are more than `most` legal moves."""
    moves: Iterable[Any] = position.moves()
    return any(True for _ in islice(moves, most, most + 1))


def _worth(game: Game[Any, Any], position: Any, depth: int, seat: int, stop: Stop) -> float | None:
    """What a position is worth to a seat, from −1 to 1."""
    if position.outcome is not None:
        winner = position.outcome.winner
        return 0.0 if winner is None else 1.0 if winner == seat else -1.0
    found = worth_in_time(game, position, depth, stop)
    if found is None:
        return None
    mine = -found if seat else found
    return 1.0 if mine > SURE else -1.0 if mine < -SURE else mine
