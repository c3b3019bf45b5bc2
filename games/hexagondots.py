"""Hexagon Dots: whoever draws the last side of a hexagon captures it and draws again.

Points lie in rows, short and long by turns, and are (row, column); a line joins
two neighbours, the earlier point first. A hexagon is named by its centre. Its
six sides are the lines between the six neighbours of the centre; the six
spokes to the centre may be drawn but do not count, and once the hexagon is
captured no line may end at its centre.

The game is over when no line can be drawn or, under the option `end="hexagons"`,
as soon as no hexagon can be captured any more. The score is the same.

What a seat has is one number: a bit for each line it drew, in the order of
`Board.lines`, and above those a bit for each hexagon it captured.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from typing import Any

from msgspec import Struct, structs

from games import svg
from games.game import BadOption, Game, Illegal, Outcome, Pace, quoted

Point = tuple[int, int]  # (row, column)
Line = tuple[Point, Point]

FEWEST, MOST = 3, 31  # rows and columns; the seed has no upper end, but an answer holds the whole board
WRITTEN = 4096  # lines whose JSON is kept, once for all matches: a board has fewer than 3,000
SIZES = 8  # boards kept ready for the next match; the largest takes about 3 MB
SIDES = ((0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5))  # of a hexagon: which of its `neighbours` they join
SEATS = ("first", "second")
ENDS = ("lines", "hexagons")  # what has run out when a game is over
SHORT = re.compile(" ".join([",".join(["(0|[1-9][0-9]?)"] * 2)] * 2))
EXPECTED = 'the two ends of a line, [{"row":0,"col":0},{"row":0,"col":1}] or "0,0 0,1"'
LABELS = ("1st", "2nd")  # in a captured hexagon, short enough to stand clear of its spokes
DASHES = (None, "11 5")  # for the lines of seat 0 and of seat 1


class Hexagon(Struct, frozen=True):
    """`seen & drawn == sides`: all six sides are drawn, and no hexagon that overlaps is captured."""

    bit: int
    sides: int
    seen: int  # its sides and the hexagons that overlap it, whose centres its sides touch
    closes: int  # when it is captured: its spokes, itself and the hexagons that overlap it


class Hexagons(dict[Point, Hexagon]):
    """Those of a board, by their centres: each is worked out when it is first asked for."""

    def __init__(self, lines: Mapping[Line, int], centres: Mapping[Point, int]) -> None:
        self._lines = lines
        self._centres = centres

    def __missing__(self, centre: Point) -> Hexagon:
        around = neighbours(centre)
        sides = sum(self._lines[around[one], around[other]] for one, other in SIDES)
        overlapping = sum(self._centres.get(point, 0) for point in around)
        spokes = sum(self._lines[min(centre, point), max(centre, point)] for point in around)
        bit = self._centres[centre]
        found = self[centre] = Hexagon(bit, sides, sides | overlapping, spokes | bit | overlapping)
        return found


class Beside(dict[Line, tuple[Hexagon, ...]]):
    """The hexagons that a line is a side of: what its ends have as a neighbour in common is their centre."""

    def __init__(self, hexagons: Hexagons, centres: Mapping[Point, int]) -> None:
        self._hexagons = hexagons
        self._centres = centres

    def __missing__(self, line: Line) -> tuple[Hexagon, ...]:
        one, other = map(neighbours, line)
        found = self[line] = tuple([self._hexagons[c] for c in one if c in other and c in self._centres])
        return found


@dataclass(frozen=True)  # unlike a Struct it can leave the tables out of comparing and hashing
class Board:
    """The geometry of one size, row by row, and when a game there is over.

    Its hexagons are worked out by the moves that need them. All those of the largest board take 25 ms, and
    anybody may ask for a board of any size, while all matches wait.
    """

    rows: int
    cols: int
    end: str
    points: frozenset[Point] = field(compare=False, repr=False)
    lines: Mapping[Line, int] = field(compare=False, repr=False)  # with their bits
    centres: Mapping[Point, int] = field(compare=False, repr=False)  # with the bits of their hexagons
    hexagons: Hexagons = field(compare=False, repr=False)
    beside: Beside = field(compare=False, repr=False)
    every_line: int = field(compare=False, repr=False)
    over: int = field(compare=False, repr=False)  # the game is over when `closed` is at least this


class HexagonDots(Struct, frozen=True, gc=False):
    """`first` and `second` are what the seats have; `closed` what cannot be drawn or captured any more."""

    board: Board
    first: int = 0
    second: int = 0
    closed: int = 0
    turn: int = 0
    outcome: Outcome | None = None

    def moves(self) -> Iterable[Line]:
        closed = self.closed
        return [line for line, bit in self.board.lines.items() if not closed & bit]

    def play(self, move: Line) -> "HexagonDots":
        board, first, second, closed = self.board, self.first, self.second, self.closed
        bit = board.lines.get(move)
        if bit is None or closed & bit:
            raise self._illegal(move)
        drawn = first | second | bit
        closed |= bit
        gained = bit
        # One line can complete two: they lie on either side of it and never overlap.
        for hexagon in board.beside[move]:
            if hexagon.seen & drawn == hexagon.sides:
                gained |= hexagon.bit
                closed |= hexagon.closes
        if self.turn == 0:
            first |= gained
        else:
            second |= gained
        turn = 1 - self.turn if gained == bit else self.turn
        after = HexagonDots(board, first, second, closed, turn)
        if closed < board.over:
            return after
        return structs.replace(after, closed=closed | board.every_line, outcome=_ended(after))

    def _illegal(self, move: Line) -> Illegal:
        board, (earlier, later) = self.board, move
        if self.outcome is not None:
            return Illegal("the game is over")
        for row, col in move:
            if (row, col) not in board.points:
                size = f"the board has {board.rows} rows of {board.cols - 1} and {board.cols} points by turns"
                return Illegal(f"row {quoted(row)}, column {quoted(col)} is not on the board: {size}")
        name = short(move)
        if earlier >= later:
            return Illegal(f"{name} is not a line: it has to join two different points")
        if move not in board.lines:
            return Illegal(f"the points of {name} are not adjacent")
        if (seat := owner(self, board.lines[move])) is not None:
            return Illegal(f"{name} is already drawn, by {SEATS[seat]}")
        return Illegal(f"{name} touches a captured hexagon: no line may end at its centre any more")


def owner(position: HexagonDots, bit: int) -> int | None:
    """The seat that has a line or a hexagon."""
    return 0 if position.first & bit else 1 if position.second & bit else None


def scores(position: HexagonDots) -> tuple[int, int]:
    """How many hexagons seat 0 and seat 1 captured."""
    lines = len(position.board.lines)
    return (position.first >> lines).bit_count(), (position.second >> lines).bit_count()


def _ended(position: HexagonDots) -> Outcome:
    first, second = scores(position)
    if first == second:
        return Outcome(None, f"both captured as many hexagons, {first} each")
    if first > second:
        return Outcome(0, f"first captured more hexagons, {first} to {second}")
    return Outcome(1, f"second captured more hexagons, {second} to {first}")


def neighbours(point: Point) -> tuple[Point, ...]:
    """The six points around one, row by row, whether or not they are on a board."""
    row, col = point
    left = col - row % 2  # of the two above and the two below
    above, below = ((row - 1, left), (row - 1, left + 1)), ((row + 1, left), (row + 1, left + 1))
    return (*above, (row, col - 1), (row, col + 1), *below)


@lru_cache(SIZES)
def board(rows: int, cols: int, end: str = "lines") -> Board:
    """The board of that size for games with that end.

    The bits of hexagons are above those of lines, so `closed >= over` can mean that all hexagons are closed,
    or everything. If every line is closed, every hexagon is: its sides are drawn, or touch a captured
    centre.
    """
    if end == "hexagons":
        same = board(rows, cols, "lines")
        return replace(same, end=end, over=same.over ^ same.every_line)
    points = [(row, col) for row in range(rows) for col in range(cols - 1 + row % 2)]
    there = frozenset(points)
    near = {point: neighbours(point) for point in points}
    pairs = [(one, other) for one in points for other in near[one][3:] if other in there]  # each pair once
    lines = {line: 1 << n for n, line in enumerate(pairs)}
    inside = [point for point in points if there.issuperset(near[point])]
    centres = {centre: 1 << n for n, centre in enumerate(inside, len(lines))}
    every_line, everything = (1 << len(lines)) - 1, (1 << len(lines) + len(centres)) - 1
    hexagons = Hexagons(lines, centres)
    beside = Beside(hexagons, centres)
    return Board(rows, cols, end, there, lines, centres, hexagons, beside, every_line, everything)


def start(rows: int = 5, cols: int = 5, end: str = "lines") -> HexagonDots:
    if type(rows) is not int or not FEWEST <= rows <= MOST or rows % 2 == 0:
        raise BadOption(f"rows has to be an odd number from {FEWEST} to {MOST}, not {quoted(rows)}")
    if type(cols) is not int or not FEWEST <= cols <= MOST:
        raise BadOption(f"cols has to be a number from {FEWEST} to {MOST}, not {quoted(cols)}")
    if end not in ENDS:
        raise BadOption(f'end has to be "lines" or "hexagons", not {quoted(end)}')
    return HexagonDots(board(rows, cols, end))


def read(sent: Any, position: HexagonDots) -> Line:
    """A line from its two ends in any order; whether the board has it is for `play` to say."""
    match sent:
        case str() if (words := SHORT.fullmatch(sent)) is not None:
            row, col, other_row, other_col = map(int, words.groups())
        case [{"row": row, "col": col}, {"row": other_row, "col": other_col}] if (
            type(row) is type(col) is type(other_row) is type(other_col) is int
        ):
            pass
        case [one, other]:
            wrong = other if _is_point(one) else one
            raise Illegal(f"expected {EXPECTED}, and one end came as {_end_quoted(wrong)}")
        case _:
            raise Illegal(f"expected {EXPECTED}, not {quoted(sent)}")
    one, other = (row, col), (other_row, other_col)
    return (one, other) if one <= other else (other, one)


def _is_point(end: Any) -> bool:
    match end:
        case {"row": row, "col": col}:
            return type(row) is type(col) is int
        case _:
            return False


def _end_quoted(end: Any) -> str:
    """What came as an end, with its numbers: that it is an object says nothing, since it is to be one."""
    match end:
        case {"row": row, "col": col}:
            return f"row {quoted(row)}, col {quoted(col)}"
        case {"row": row}:
            return f"row {quoted(row)} without a col"
        case {"col": col}:
            return f"col {quoted(col)} without a row"
        case _:
            return quoted(end)


@lru_cache(WRITTEN)
def write(move: Line) -> object:
    (row, col), (other_row, other_col) = move
    return [{"row": row, "col": col}, {"row": other_row, "col": other_col}]


def short(move: Line) -> str:
    return " ".join(f"{row},{col}" for row, col in move)


def show(position: HexagonDots, names: tuple[str, str]) -> object:
    """The Game object of the wire."""
    opening, owners = HexagonDots(position.board), players_shown(position, names)
    return {
        "rows": position.board.rows,
        "cols": position.board.cols,
        "lines": lines_shown(opening, position, owners),
        "hexagons": hexagons_shown(opening, position, owners),
        "players": owners,
        "state": "in play" if position.outcome is None else "completed",
    }


def players_shown(position: HexagonDots, names: tuple[str, str]) -> list[object]:
    first, second = scores(position)
    return [{"name": names[0], "score": first}, {"name": names[1], "score": second}]


def lines_shown(since: HexagonDots, position: HexagonDots, owners: Sequence[object]) -> list[object]:
    """The lines drawn between two positions of a match, row by row; `owners` as `players_shown` has them."""
    fresh = _fresh(since, position)
    return [
        {"endpoints": write(line), "owner": owners[0 if position.first & bit else 1]}
        for line, bit in position.board.lines.items()
        if fresh & bit
    ]


def hexagons_shown(since: HexagonDots, position: HexagonDots, owners: Sequence[object]) -> list[object]:
    """The hexagons captured between two positions of a match, row by row."""
    if (fresh := _fresh(since, position)) <= position.board.every_line:
        return []  # the usual case: only lines, whose bits are the lower ones
    return [
        {"center": point_shown(centre), "owner": owners[0 if position.first & bit else 1]}
        for centre, bit in position.board.centres.items()
        if fresh & bit
    ]


def _fresh(since: HexagonDots, position: HexagonDots) -> int:
    """The bits of what was drawn or captured between two positions."""
    return (position.first | position.second) & ~(since.first | since.second)


def point_shown(point: Point) -> object:
    return {"row": point[0], "col": point[1]}


def evaluate(position: HexagonDots) -> float:
    """The lead, and half a point to the seat to move for each hexagon it could capture at once."""
    drawn, board = position.first | position.second, position.board
    hexagons = [board.hexagons[centre] for centre in board.centres]
    missing = [(hexagon.sides, hexagon.sides ^ (hexagon.seen & drawn)) for hexagon in hexagons]
    ready = sum(1 for sides, bits in missing if bits & sides and bits.bit_count() == 1)
    first, second = scores(position)
    return (first - second + (ready / 2 if position.turn == 0 else -ready / 2)) / len(hexagons)


def draw(position: HexagonDots, last: Line | None = None) -> str:
    board = position.board
    parts = [_area(centre, position) for centre in board.centres]
    if last is not None:
        parts.append(_stroke(last, svg.MARK, 15))
    for line, bit in board.lines.items():
        if (seat := owner(position, bit)) is not None:
            parts.append(_stroke(line, svg.SEATS[seat], 6, stroke_dasharray=DASHES[seat]))
    parts += (svg.circle(*_place(point), 5, svg.INK) for point in sorted(board.points))
    right, below = _place((1, board.cols))[0], _place((board.rows, 0))[1] - 20
    for row in range(board.rows):
        parts.append(svg.text(18, _place((row, 0))[1], str(row), 16))
    for row, y in ((0, 60), (1, below)):  # the columns of the short rows above, of the long ones below
        parts += (svg.text(_place((row, col))[0], y, str(col), 16) for col in range(board.cols - 1 + row))
    for seat, score in enumerate(scores(position)):
        x = 18 + 110 * seat
        parts.append(svg.line(x, 24, x + 27, 24, svg.SEATS[seat], 6, stroke_dasharray=DASHES[seat]))
        parts.append(svg.text(x + 34, 24, f"{SEATS[seat]} {score}", 16, text_anchor="start"))
    return svg.drawing(max(right, 250), below + 24, _title(position), *parts)


def _place(point: Point) -> tuple[float, float]:
    """Where a point is in the drawing."""
    row, col = point
    return 48 + 64 * (col + (row + 1) % 2 / 2), 90 + 32 * sqrt(3) * row


def _stroke(line: Line, colour: str, width: float, **attributes: object) -> str:
    return svg.line(*_place(line[0]), *_place(line[1]), colour, width, **attributes)


def spot(move: Line, position: HexagonDots) -> str:
    """A rhombus around the line: those of lines that meet at a dot do not overlap."""
    (x, y), (to_x, to_y) = map(_place, move)
    middle_x, middle_y, across_x, across_y = (x + to_x) / 2, (y + to_y) / 2, (y - to_y) / 5, (to_x - x) / 5
    one, other = (middle_x + across_x, middle_y + across_y), (middle_x - across_x, middle_y - across_y)
    return svg.polygon([(x, y), one, (to_x, to_y), other], svg.MARK)


def _area(centre: Point, position: HexagonDots) -> str:
    """A captured hexagon, with the label of its seat between the two upper spokes."""
    if (seat := owner(position, position.board.centres[centre])) is None:
        return ""
    top_left, top_right, left, right, low_left, low_right = map(_place, neighbours(centre))
    corners = [top_left, top_right, right, low_right, low_left, left]
    x, y = _place(centre)
    return svg.polygon(corners, svg.SEATS[seat], fill_opacity=0.25) + svg.text(x, y - 39, LABELS[seat], 12)


def _title(position: HexagonDots) -> str:
    state = position.outcome.why if position.outcome else f"{SEATS[position.turn]} to move"
    lines = position.board.every_line
    drawn = ((position.first | position.second) & lines).bit_count()
    first, second = scores(position)
    return f"Hexagon Dots, {state}: {drawn} of {lines.bit_count()} lines drawn, score {first} to {second}"


RULES = """\
Dots in rows, every other row shifted by half a dot. The two take turns and join two neighbouring dots by a
line. Whoever draws the last of the six sides of a hexagon captures it and draws again; once it is captured,
no more lines may end at its centre. When nothing can be drawn, whoever has captured more hexagons has won.
With the option `end` set to `hexagons` instead of `lines` the game is over as soon as no more hexagons can be
captured: the score is the same, and the rest of the board stays empty.

A dot is `row,column`, a line its two dots: `0,0 0,1`.
"""

GAME = Game(
    name="hexagon-dots",
    title="Hexagon Dots",
    rules=RULES,
    seats=SEATS,
    start=start,
    read=read,
    write=write,
    short=short,
    show=show,
    draw=draw,
    spot=spot,
    pace=Pace(turn=5.0),
    faults="forfeit",
    evaluate=evaluate,
    variants=(
        {"rows": 3, "cols": 3},
        {"rows": 3, "cols": 5},
        {"rows": 5, "cols": 3},
        {"rows": 7, "cols": 6},
        {"end": "hexagons"},
        {"rows": 3, "cols": 5, "end": "hexagons"},
    ),
)
