"""Hexagon Dots as points in the plane: neighbours are those that lie near.

Short rows are set in by half a step, so in half steps the six neighbours of a
point are two to either side, and one to either side in the rows above and below.
"""

from collections import Counter
from collections.abc import Container, Sequence
from functools import cache
from itertools import combinations

from tests.oracles import OPEN

Point = tuple[int, int]  # row, column
Line = tuple[Point, Point]  # the end that comes first in the rows, then the other


def near(one: Point, two: Point) -> bool:
    (row, col), (row2, col2) = one, two
    across = abs((2 * col + (row % 2 == 0)) - (2 * col2 + (row2 % 2 == 0)))
    return (abs(row - row2), across) in {(0, 2), (1, 1)}


def written(line: Line) -> str:
    return " ".join(f"{row},{col}" for row, col in line)


def line_of(short: str) -> Line:
    one, two = (end.split(",") for end in short.split())
    return (int(one[0]), int(one[1])), (int(two[0]), int(two[1]))


@cache
def board(rows: int, cols: int) -> tuple[list[Line], dict[Point, list[Line]]]:
    """All lines, and of each point that has six neighbours the lines between those."""
    points = [(row, col) for row in range(rows) for col in range(cols if row % 2 else cols - 1)]
    perimeters = {}
    for centre in points:
        ring = [point for point in points if near(centre, point)]
        if len(ring) == 6:
            perimeters[centre] = [pair for pair in combinations(ring, 2) if near(*pair)]
    return [pair for pair in combinations(points, 2) if near(*pair)], perimeters


class HexagonDots:
    def __init__(self, rows: int = 5, cols: int = 5, end: str = "lines") -> None:
        self.rows, self.cols, self.end = rows, cols, end
        self.all_lines, self.perimeters = board(rows, cols)
        self.drawn: dict[Line, int] = {}  # by whom
        self.captured: dict[Point, int] = {}  # by whom
        self.turn = 0
        self.winner: int | str | None = OPEN

    def moves(self) -> set[str]:
        return self.free() if self.winner == OPEN else set()

    def free(self) -> set[str]:
        """The lines that nobody has drawn and that touch no captured hexagon's centre."""
        return {
            written(line)
            for line in self.all_lines
            if line not in self.drawn and not any(end in self.captured for end in line)
        }

    def play(self, short: str) -> "HexagonDots":
        after = HexagonDots(self.rows, self.cols, self.end)
        after.drawn = {**self.drawn, line_of(short): self.turn}
        completed = [centre for centre in self.perimeters if after.completes(centre, self.captured)]
        after.captured = {**self.captured, **dict.fromkeys(completed, self.turn)}
        after.turn = self.turn if completed else 1 - self.turn
        if not (after.free() if self.end == "lines" else after.possible()):
            first, second = after.score(0), after.score(1)
            after.winner = None if first == second else int(second > first)
        return after

    def completes(self, centre: Point, captured: Container[Point]) -> bool:
        """Whether the hexagon round `centre` is drawn now and can be captured beside those that were."""
        perimeter = self.perimeters[centre]
        ring = {end for line in perimeter for end in line}
        drawn = all(line in self.drawn for line in perimeter)
        return drawn and centre not in captured and not any(point in captured for point in ring)

    def possible(self) -> list[Point]:
        """The hexagons that would be completed if every line that may be drawn were."""
        filled = HexagonDots(self.rows, self.cols)
        filled.drawn = {**self.drawn, **dict.fromkeys(map(line_of, self.free()), self.turn)}
        return [centre for centre in self.perimeters if filled.completes(centre, self.captured)]

    def score(self, seat: int) -> int:
        return Counter(self.captured.values())[seat]

    def show(self, names: Sequence[str]) -> object:
        players = [{"name": name, "score": self.score(seat)} for seat, name in enumerate(names)]
        return {
            "rows": self.rows,
            "cols": self.cols,
            "lines": [
                {"endpoints": [{"row": row, "col": col} for row, col in line], "owner": players[seat]}
                for line, seat in self.drawn.items()
            ],
            "hexagons": [
                {"center": {"row": row, "col": col}, "owner": players[seat]}
                for (row, col), seat in self.captured.items()
            ],
            "players": players,
            "state": "in play" if self.winner == OPEN else "completed",
        }
