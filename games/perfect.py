"""Moves graded against perfect play, in games where a position's worth can be told.

A move *keeps* what its position was worth, or is a mistake: it threw a win or a draw
away. A seat's accuracy is the share of its moves that kept something, of those that had
something to lose.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from games.game import PLY_LIMIT, Game, Worth

Value = Literal["win", "draw", "loss"]
CALLED: Mapping[int, Value] = {1: "win", 0: "draw", -1: "loss"}


class Mistake(Struct, frozen=True):
    ply: int  # from 0
    seat: int
    best: Value  # what perfect play would have kept
    came: Value  # what the move left


class Counted(Struct, frozen=True):
    """How many moves of one match were as good as they could be; pairs are in the order of the seats."""

    kept: tuple[int, int]  # moves that kept what there was to lose …
    had: tuple[int, int]  # … out of so many
    ungraded: int  # moves that would take too long to grade

    @property
    def accuracy(self) -> tuple[float | None, float | None]:
        return share(self.kept[0], self.had[0]), share(self.kept[1], self.had[1])


class Grades(Counted, frozen=True):
    """Moves graded against perfect play."""

    mistakes: tuple[Mistake, ...]


def share(kept: int, had: int) -> float | None:
    """An accuracy; None where there was nothing to lose."""
    return kept / had if had else None


def grades(game: Game[Any, Any], options: Mapping[str, object], moves: Sequence[Any]) -> Grades | None:
    """The grades of moves as the game writes them; None where nobody knows perfect play.

    Nobody does under an organiser's limit of plies: a win that takes longer is none.
    """
    if game.solver is None or PLY_LIMIT in options:
        return None
    worth, positions = game.solver(), [game.opening(options)]
    for move in moves:
        positions.append(positions[-1].play(game.read(move, positions[-1])))
    after = worth(positions[-1], -1)
    mistakes: list[Mistake] = []
    kept, had, ungraded = [0, 0], [0, 0], 0
    for ply in reversed(range(len(moves))):
        seat: int = positions[ply].turn
        came = after if after is None or positions[ply + 1].turn == seat else -after
        best = after = worth(positions[ply], -1 if came is None else came)
        if came is None or best is None:
            ungraded += 1
        elif best > -1:
            had[seat] += 1
            kept[seat] += came == best
            if came < best:
                mistakes.append(Mistake(ply, seat, CALLED[best], CALLED[came]))
    return Grades((kept[0], kept[1]), (had[0], had[1]), ungraded, tuple(reversed(mistakes)))


def in_words(mistake: Mistake, player: str) -> str:
    """`ann threw away a win at move 17`, where the first move is 1."""
    rest = " and was lost" if (mistake.best, mistake.came) == ("win", "loss") else ""
    return f"{player} threw away a {mistake.best} at move {mistake.ply + 1}{rest}"


def trying_everything() -> Worth[Any]:
    """Perfect play for a game so small that every position can be looked at."""
    known: dict[Any, int] = {}

    def exact(position: Any) -> int:
        outcome = position.outcome
        if outcome is not None:
            return 0 if outcome.winner is None else 1 if outcome.winner == position.turn else -1
        if position not in known:
            after = map(position.play, position.moves())
            known[position] = max(
                exact(each) if each.turn == position.turn else -exact(each) for each in after
            )
        return known[position]

    return lambda position, at_least: exact(position)
