"""What random play rarely meets: how to lead a match there, and how to tell that it got there.

A mood names the moves that it would like best in a position of an oracle, and
may name none. `seen` names what is remarkable about one move. Both are for
choosing what to test; neither decides what is right.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tests.oracles import OPEN
from tests.oracles.connect4 import Connect4
from tests.oracles.hexagondots import HexagonDots, line_of
from tests.oracles.quoridor import WALLS, Quoridor, edges, square_of
from tests.oracles.santorini import Santorini, neighbours

T = TypeVar("T")
Choice = Callable[[Sequence[Any]], Any]  # one of these: by a seed, or by hypothesis
Mood = Callable[[Any, set[str]], set[str]]


def chosen(oracle: Any, mood: Mood, choice: Choice) -> str:
    """A legal move: three times in four one that the mood likes best."""
    moves = oracle.moves()
    liked = mood(oracle, moves)
    return choice(sorted(liked if liked and choice(range(4)) else moves))


def any_mood(oracle: Any, moves: set[str]) -> set[str]:
    return moves


def patient(oracle: Any, moves: set[str]) -> set[str]:
    """Plays on: towards full boards and draws."""
    return {move for move in moves if oracle.play(move).winner in (OPEN, None)}


# Santorini


def climbing(oracle: Santorini, moves: set[str]) -> set[str]:
    """Up where it goes up, and building the next stair."""
    mine = oracle.workers[oracle.turn]
    if oracle.status == "moveWorker":
        return highest(oracle, moves)
    stairs = oracle.floors[mine[oracle.builder]] + 1 if oracle.status == "build" else 0
    return {move for move in moves if oracle.floors[target(move)] < stairs}


def walling_in(oracle: Santorini, moves: set[str]) -> set[str]:
    """Stays down and builds up whatever is next to the other's workers, and places its own in corners."""
    if oracle.status == "placeWorker":
        return moves & {"0 0", "0 1", "1 0", "1 1"}
    if oracle.status == "moveWorker":
        low = min((oracle.floors[target(move)] for move in moves), default=0)
        return {move for move in moves if oracle.floors[target(move)] == low}
    around = {field for worker in oracle.workers[1 - oracle.turn] for field in neighbours(worker)}
    return highest(oracle, {move for move in moves if target(move) in around})


def highest(oracle: Santorini, moves: set[str]) -> set[str]:
    top = max((oracle.floors[target(move)] for move in moves), default=0)
    return {move for move in moves if oracle.floors[target(move)] == top}


def target(short: str) -> tuple[int, int]:
    x, y = short.split()[-2:]
    return int(x), int(y)


def seen_in_santorini(before: Santorini, move: str, after: Santorini) -> set[str]:
    seen = set()
    if before.status == "moveWorker":
        here, there = before.workers[before.turn][int(move[0]) - 1], target(move)
        climb = before.floors[there] - before.floors[here]
        seen.add(f"by {climb} to {before.floors[there]}" if climb > 0 else f"by {climb}")
    if before.status == "build":
        seen.add(f"floor {after.floors[target(move)]}")
        if after.winner != OPEN:
            seen.add("stuck, a draw" if after.winner is None else "stuck, a loss")
    return seen


# Quoridor


def meeting(oracle: Quoridor, moves: set[str]) -> set[str]:
    """Pawns that seek each other, and once they are face to face, walls beside them, and jumps."""
    (column, row), (column2, row2) = oracle.pawns
    steps = {move for move in moves if len(move) == 2}
    if abs(column - column2) + abs(row - row2) == 1:
        beside = {move for move in moves - steps if touches(move, oracle.pawns)}
        return beside | {move for move in steps if is_jump(oracle, move)}
    other = oracle.pawns[1 - oracle.turn]
    return nearest(steps, lambda square: abs(square[0] - other[0]) + abs(square[1] - other[1]))


def fencing(oracle: Quoridor, moves: set[str]) -> set[str]:
    """Walls that go on from other walls, until paths are few."""
    ends = {square for wall in oracle.walls for edge in edges(wall) for square in edge}
    return {move for move in moves if len(move) == 3 and (not ends or touches(move, ends))}


def running(oracle: Quoridor, moves: set[str]) -> set[str]:
    """Straight for the goal."""
    goal = [9, 1][oracle.turn]
    return nearest({move for move in moves if len(move) == 2}, lambda square: abs(square[1] - goal))


def nearest(steps: set[str], distance: Callable[[tuple[int, int]], int]) -> set[str]:
    least = min((distance(square_of(step)) for step in steps), default=0)
    return {step for step in steps if distance(square_of(step)) == least}


def touches(wall: str, squares: Any) -> bool:
    return any(square in squares for edge in edges(wall) for square in edge)


def is_jump(oracle: Quoridor, move: str) -> bool:
    return square_of(move) not in oracle.graph[oracle.pawns[oracle.turn]]


def seen_in_quoridor(before: Quoridor, move: str, after: Quoridor) -> set[str]:
    if len(move) == 3:
        shut = any(map(before.has_room, {*WALLS} - before.wall_moves()))
        return {f"wall, {after.left[before.turn]} left"} | (
            {"a wall would shut somebody in"} if shut else set()
        )
    seen = {"the goal"} if after.winner != OPEN else set()
    if is_jump(before, move):
        (column, row), other = before.pawns[before.turn], before.pawns[1 - before.turn]
        face = "along a row" if row == other[1] else "along a column"
        straight = column == square_of(move)[0] or row == square_of(move)[1]
        seen.add(f"{'straight' if straight else 'diagonal'} jump {face}")
    return seen


# Hexagon Dots


def gathering(oracle: HexagonDots, moves: set[str]) -> set[str]:
    """Round hexagons that are begun, but never the last line: the captures come all at once in the end."""
    return {move for move in moves if 1 < most_drawn_round(oracle, move) < 5}


def grasping(oracle: HexagonDots, moves: set[str]) -> set[str]:
    best = max((most_drawn_round(oracle, move) for move in moves), default=0)
    return {move for move in moves if most_drawn_round(oracle, move) == best}


def most_drawn_round(oracle: HexagonDots, move: str) -> int:
    line = line_of(move)
    rounds = [perimeter for perimeter in oracle.perimeters.values() if line in perimeter]
    return max((sum(side in oracle.drawn for side in perimeter) for perimeter in rounds), default=0)


def seen_in_hexagondots(before: HexagonDots, move: str, after: HexagonDots) -> set[str]:
    seen = {f"{len(after.captured) - len(before.captured)} captured"}
    if any(after.completes(centre, ()) for centre in after.perimeters if centre not in after.captured):
        seen.add("overlaps a captured one")
    if len(after.free()) < len(after.all_lines) - len(after.drawn):
        seen.add("a line that touches a captured one")
    if after.winner != OPEN:
        seen.add("a draw" if after.winner is None else "a winner")
        if after.turn == before.turn:
            seen.add("over with a capture")
        if after.free():
            seen.add("over with lines left")
    return seen


# Connect-4 and Tic-Tac-Toe


def seen_in_connect4(before: Connect4, move: str, after: Connect4) -> set[str]:
    if after.winner == OPEN:
        return set()
    full = all(len(column) == 6 for column in after.columns)
    return {f"{'draw' if after.winner is None else 'four'}, {'' if full else 'not '}full"}


def seen_in_tictactoe(before: Any, move: str, after: Any) -> set[str]:
    return {f"{after.winner} after {len(after.fields)}"} - {f"open after {number}" for number in range(9)}


MOODS: dict[str, list[Mood]] = {
    "tic-tac-toe": [any_mood, patient],
    "connect-4": [any_mood, patient],
    "santorini": [any_mood, climbing, walling_in],
    "quoridor": [any_mood, meeting, fencing, running],
    "hexagon-dots": [any_mood, gathering, grasping],
}

SEEN: dict[str, Callable[[Any, str, Any], set[str]]] = {
    "tic-tac-toe": seen_in_tictactoe,
    "connect-4": seen_in_connect4,
    "santorini": seen_in_santorini,
    "quoridor": seen_in_quoridor,
    "hexagon-dots": seen_in_hexagondots,
}

# What the matches of a test must have led to, or the test has proved little.
RARE: dict[str, set[str]] = {
    "tic-tac-toe": {f"{number % 2 ^ 1} after {number}" for number in range(5, 10)} | {"None after 9"},
    "connect-4": {"four, not full", "four, full", "draw, full"},
    "santorini": {
        "by -2",
        "by 0",
        "by 1 to 1",
        "by 1 to 2",
        "by 1 to 3",
        "floor 4",
        "stuck, a loss",
        "stuck, a draw",
    },
    "quoridor": {
        *("straight jump along a row", "straight jump along a column"),
        *("diagonal jump along a row", "diagonal jump along a column"),
        *("the goal", "a wall would shut somebody in", "wall, 0 left"),
    },
    "hexagon-dots": {
        *("1 captured", "2 captured", "overlaps a captured one", "a line that touches a captured one"),
        *("a draw", "a winner", "over with a capture", "over with lines left"),
    },
}
