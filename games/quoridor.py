"""Quoridor: cross the board before the other does, and put walls in its way.

A move is its notation: "e2" is a step, "e3h" a wall, named by the lower-left of
the four squares it touches. Squares are numbered by rows: a1 is 0, i9 is 80.
The walls on the board are one int, 81 bits for those that lie between rows and
81 for those that stand between columns, so that a question about walls is a
mask and an `&`. No wall begins in column i or row 9: masks may spill there.

The search for a way to the goal is the one costly rule, and seldom needed.
Walls shut something off only where they form a ring, with or without the rim of
the board, and a new wall is part of a ring only where at least two of its three
points (two ends and the middle) touch a wall or the rim already.

No rule says what becomes of a player who cannot move: there always is a step.
A pawn without one could leave its square only for the other pawn's, and nobody
could go on from there: two squares shut off from all others, holding both pawns
and one goal at most. The wall that shut them off was not legal.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import tanh
from typing import Any

from msgspec import Struct

from games import svg
from games.game import Game, Illegal, Outcome, Pace, quoted

SIDE = 9
SQUARES = tuple(column + row for row in "123456789" for column in "abcdefghi")
SQUARE = {name: square for square, name in enumerate(SQUARES)}
UPRIGHT = len(SQUARES)  # from the bit of a wall between rows to that of the wall that crosses it
RIM = 1 << 2 * UPRIGHT  # the rim of the board, where it counts as a wall
BOARD = (1 << UPRIGHT) - 1
LOWER = BOARD >> SIDE  # the squares with a neighbour to the north
LEFT = sum(0b11111111 << SIDE * row for row in range(SIDE))  # those with a neighbour to the east
GOALS = (0b111111111 << 8 * SIDE, 0b111111111)  # row 9 for seat 0, row 1 for seat 1
FAR = len(SQUARES)  # more steps than any way has; means that there is no way
SUPPLY = 10  # walls of each seat at the start
SEATS = ("first", "second")
WON = (Outcome(0, "first has reached row 9"), Outcome(1, "second has reached row 1"))

A_SQUARE = 'a square from "a1" to "i9"'
A_WALL = 'a wall such as "e3h" or "e3v", from "a1h" to "h8v"'
WALL_WORTH = 0.5  # steps: what a wall in hand counts for in the evaluation
PITCH, GROOVE = 56, 10  # of the drawing: from one square to the next, and what lies between


class Wall(Struct, frozen=True):
    """A wall to be put somewhere, and masks of others."""

    square: int
    upright: bool
    bit: int
    clashes: int  # those that it would overlap or cross; itself too
    touches: tuple[int, int, int]  # those that reach one end of it, its middle, its other end


class Step(Struct, frozen=True):
    """A way for a pawn to go while the other pawn stays where it is, and masks of walls."""

    squares: tuple[int, ...]  # its own, the other pawn's where that is jumped, and the last
    free: int  # walls of which none may be there
    shut: int  # walls of which one must be there, if there is any: those behind a pawn passed sideways


def _wall(square: int, upright: bool) -> Wall:
    along = SIDE if upright else 1
    bit, crossing = 1 << square, 1 << square + UPRIGHT
    if upright:
        bit, crossing = crossing, bit
    one, middle, other = (_reaching(square + at) for at in (-along, 0, along))
    return Wall(square, upright, bit, bit >> along | bit | bit << along | crossing, (one, middle, other))


def _reaching(square: int) -> int:
    """The walls that reach the upper right corner of a square."""
    if square % SIDE == SIDE - 1 or not 0 <= square < SIDE * (SIDE - 1):
        return RIM
    between_rows, upright = 1 << square, 1 << square + UPRIGHT
    return between_rows >> 1 | between_rows | between_rows << 1 | upright >> SIDE | upright | upright << SIDE


def _parting(one: int, other: int) -> int:
    """The walls that lie between two neighbours."""
    low = min(one, other)
    if abs(one - other) == SIDE:
        return 1 << low | 1 << low >> 1
    return 1 << low + UPRIGHT | 1 << low + UPRIGHT - SIDE


@cache
def _neighbours(square: int) -> list[int]:
    beside = (square + SIDE, square + 1, square - 1, square - SIDE)
    return [to for to in beside if 0 <= to < len(SQUARES) and abs(to % SIDE - square % SIDE) < 2]


@cache
def _steps(here: int, there: int) -> dict[str, Step]:
    """The ways from `here` while the other pawn is `there`, by the name of the square they lead to."""
    steps = [Step((here, to), _parting(here, to), 0) for to in _neighbours(here) if to != there]
    if there in _neighbours(here):
        straight = there + there - here
        behind = _parting(there, straight) if straight in _neighbours(there) else 0
        for to in _neighbours(there):
            free = _parting(here, there) | _parting(there, to)
            if to != here:
                steps.append(Step((here, there, to), free, 0 if to == straight else behind))
    return {SQUARES[step.squares[-1]]: step for step in steps}


WALLS = {
    column + row + way: _wall(SQUARE[column + row], way == "v")
    for column in "abcdefgh"
    for row in "12345678"
    for way in "hv"
}
STEPS = [  # [here][there]; where the other pawn is not near, as if it were not there
    [_steps(here, there if there in _neighbours(here) else here) for there in range(len(SQUARES))]
    for here in range(len(SQUARES))
]


# One value for all matches in which it comes up: a host keeps very many positions and moves.
WRITTEN = {
    **{name: {"action": "move", "position": name} for name in SQUARES},
    **{name: {"action": "putWall", "position": name} for name in WALLS},
}
PAWNS = [[(first, second) for second in range(len(SQUARES))] for first in range(len(SQUARES))]
LEFT_OVER = [[(first, second) for second in range(SUPPLY + 1)] for first in range(SUPPLY + 1)]


class Quoridor(Struct, frozen=True, gc=False):
    """`pawns` and `left`, the walls still to be put, are in the order of the seats."""

    pawns: tuple[int, int] = (SQUARE["e1"], SQUARE["e9"])
    walls: int = 0
    left: tuple[int, int] = (SUPPLY, SUPPLY)
    turn: int = 0
    outcome: Outcome | None = None

    def moves(self) -> Iterator[str]:
        if self.outcome is not None:
            return
        walls = self.walls
        for name, step in STEPS[self.pawns[self.turn]][self.pawns[1 - self.turn]].items():
            if not walls & step.free and (not step.shut or walls & step.shut):
                yield name
        if self.left[self.turn]:
            for name, wall in WALLS.items():
                if not walls & wall.clashes and self._cut_off(wall) is None:
                    yield name

    def play(self, move: str) -> "Quoridor":
        if self.outcome is not None:
            raise Illegal("the game is over")
        seat, walls = self.turn, self.walls
        if (wall := WALLS.get(move)) is not None:
            if not self.left[seat] or walls & wall.clashes or self._cut_off(wall) is not None:
                raise self._illegal_wall(move, wall)
            first, second = self.left
            left = LEFT_OVER[first][second - 1] if seat else LEFT_OVER[first - 1][second]
            return Quoridor(self.pawns, walls | wall.bit, left, 1 - seat)
        first, second = self.pawns
        step = (STEPS[second][first] if seat else STEPS[first][second]).get(move)
        if step is None or walls & step.free or (step.shut and not walls & step.shut):
            raise self._illegal_step(move, step)
        to = step.squares[-1]
        pawns = PAWNS[first][to] if seat else PAWNS[to][second]
        return Quoridor(pawns, walls, self.left, 1 - seat, WON[seat] if GOALS[seat] >> to & 1 else None)

    def _cut_off(self, wall: Wall) -> int | None:
        """The seat that `wall` would leave without a way."""
        one, middle, other = wall.touches
        rimmed = self.walls | RIM
        if (not rimmed & one) + (not rimmed & middle) + (not rimmed & other) > 1:
            return None
        walls = self.walls | wall.bit
        if _rounds(self.pawns[0], GOALS[0], walls) == FAR:
            return 0
        return 1 if _rounds(self.pawns[1], GOALS[1], walls) == FAR else None

    def _illegal_wall(self, move: str, wall: Wall) -> Illegal:
        if not self.left[self.turn]:
            return Illegal(f"{SEATS[self.turn]} has no walls left")
        if not self.walls & wall.clashes:
            seat = self._cut_off(wall) or 0
            return Illegal(f"{move} would leave {SEATS[seat]} without a way to row {(9, 1)[seat]}")
        if self.walls & wall.bit:
            return Illegal(f"there is a wall at {move} already")
        clash = next(name for name in walls(self) if WALLS[name].bit & wall.clashes)
        return Illegal(f"{move} {'crosses' if WALLS[clash].square == wall.square else 'overlaps'} {clash}")

    def _illegal_step(self, move: str, step: Step | None) -> Illegal:
        here, there = self.pawns[self.turn], self.pawns[1 - self.turn]
        if step is not None:
            for one, other in pairwise(step.squares):
                if self.walls & _parting(one, other):
                    return Illegal(f"a wall lies between {SQUARES[one]} and {SQUARES[other]}")
            straight = SQUARES[there + there - here]
            return Illegal(f"no jump goes sideways to {move} while the straight one to {straight} is open")
        if move == SQUARES[there]:
            return Illegal(f"{move} is taken by the other pawn")
        if move == SQUARES[here]:
            return Illegal(f"{move} is where the pawn of {SEATS[self.turn]} stands already")
        return Illegal(f"{move} is not next to {SQUARES[here]}")


def _rounds(square: int, goal: int, walls: int) -> int:
    """The steps from a square to a goal where nothing but walls is in the way, or FAR."""
    rows, columns = walls & BOARD, walls >> UPRIGHT
    north = LOWER & ~(rows | rows << 1)  # the squares that are open to the north
    east = LEFT & ~(columns | columns << SIDE)
    reached, steps = 1 << square, 0
    while not reached & goal:
        before = reached
        reached |= (before & north) << SIDE | before >> SIDE & north
        reached |= (before & east) << 1 | before >> 1 & east
        if reached == before:
            return FAR
        steps += 1
    return steps


def distance(position: Quoridor, seat: int) -> int:
    """The steps that a seat's pawn is from its goal, if the other pawn were not there."""
    return _rounds(position.pawns[seat], GOALS[seat], position.walls)


def evaluate(position: Quoridor) -> float:
    """Who is ahead in steps, half a step for being to move, and something for walls in hand."""
    if position.outcome is not None:
        return -1.0 if position.outcome.winner else 1.0
    lead = distance(position, 1) - distance(position, 0) + 0.5 - position.turn
    return tanh((lead + WALL_WORTH * (position.left[0] - position.left[1])) / 10)


def walls(position: Quoridor) -> list[str]:
    """The walls on the board, in the order of their names."""
    return [name for name, wall in WALLS.items() if position.walls & wall.bit]


def start() -> Quoridor:
    return Quoridor()


def read(sent: Any, position: Quoridor) -> str:
    match sent:
        case str() as name if name in SQUARE or name in WALLS:
            return name
        case {"action": "move", "position": str() as name} if name in SQUARE:
            return name
        case {"action": "putWall", "position": str() as name} if name in WALLS:
            return name
        case {"action": "move"}:
            raise Illegal(f'the "position" of a "move" is {A_SQUARE}, not {quoted(sent.get("position"))}')
        case {"action": "putWall"}:
            raise Illegal(f'the "position" of a "putWall" is {A_WALL}, not {quoted(sent.get("position"))}')
        case {"action": action}:
            raise Illegal(f'{quoted(action)} is not an action of this game; expected "move" or "putWall"')
        case str() as name:
            raise Illegal(f"{quoted(name)} is neither {A_SQUARE} nor {A_WALL}")
        case _:
            expected = (
                '{"action":"move","position":"e2"}, {"action":"putWall","position":"e3h"}, "e2" or "e3h"'
            )
            raise Illegal(f"expected {expected}, not {quoted(sent)}")


def write(move: str) -> object:
    return WRITTEN[move]


def show(position: Quoridor, names: tuple[str, str]) -> object:
    pawns = [SQUARES[square] for square in position.pawns]
    return {"pawns": pawns, "walls": walls(position), "left": list(position.left)}


def draw(position: Quoridor, last: str | None = None) -> str:
    size, bottom = PITCH * SIDE, _y(0) + PITCH
    return svg.drawing(
        size + 56,
        size + 136,
        _title(position),
        svg.rect(_x(0), _y(80) - 10, size - GROOVE, 4, svg.SEATS[0], rx=2),  # the row for seat 0 to reach
        svg.rect(_x(0), bottom - 4, size - GROOVE, 4, svg.SEATS[1], rx=2),
        *(
            svg.rect(_x(at), _y(at), PITCH - GROOVE, PITCH - GROOVE, svg.FIELD, rx=4)
            for at in range(len(SQUARES))
        ),
        *(svg.text(_x(at) + 23, bottom + 14, SQUARES[at][0], 16) for at in range(SIDE)),
        *(svg.text(22, _y(SIDE * at) + 23, str(at + 1), 16) for at in range(SIDE)),
        *(_bar(WALLS[name], name == last) for name in walls(position)),
        *_pawn(position, 0, last),
        *_pawn(position, 1, last),
        *_supply(position, 0, bottom + 46),
        *_supply(position, 1, 26),
    )


def _x(square: int) -> int:
    return 40 + PITCH * (square % SIDE)


def _y(square: int) -> int:
    return 60 + PITCH * (SIDE - 1 - square // SIDE)


def _bar(wall: Wall, newest: bool) -> str:
    mark = {"stroke": svg.MARK, "stroke_width": 4} if newest else {}
    x, y, length = _x(wall.square), _y(wall.square), 2 * PITCH - GROOVE
    if wall.upright:
        return svg.rect(x + PITCH - GROOVE, y - PITCH, GROOVE, length, svg.INK, rx=3, **mark)
    return svg.rect(x, y - GROOVE, length, GROOVE, svg.INK, rx=3, **mark)


def _pawn(position: Quoridor, seat: int, last: str | None) -> Iterator[str]:
    """A disc with a number on it, for those who cannot tell the colours apart."""
    square = position.pawns[seat]
    x, y = _x(square) + 23, _y(square) + 23
    if SQUARES[square] == last:
        yield svg.circle(x, y, 20, "none", stroke=svg.MARK, stroke_width=4)
    yield svg.circle(x, y, 17, svg.SEATS[seat])
    yield svg.text(x, y, str(seat + 1), 20, fill=svg.GROUND, font_weight="bold")


def spot(move: str, position: Quoridor) -> str:
    """A square; for a wall, the half beside the square it is named by, so that no two share a place."""
    if (wall := WALLS.get(move)) is None:
        at = SQUARE[move]
        return svg.rect(_x(at), _y(at), PITCH - GROOVE, PITCH - GROOVE, svg.MARK, **svg.TOUCH)
    x, y, length = _x(wall.square), _y(wall.square), PITCH - GROOVE
    if wall.upright:
        return svg.rect(x + length, y, GROOVE, length, svg.MARK, **svg.TOUCH)
    return svg.rect(x, y - GROOVE, length, GROOVE, svg.MARK, **svg.TOUCH)


def _supply(position: Quoridor, seat: int, y: float) -> Iterator[str]:
    """The name of a seat, bold where it is to move, and its walls, with those already put as shadows."""
    weight = "bold" if position.turn == seat and position.outcome is None else None
    yield svg.text(_x(0), y, SEATS[seat], 18, fill=svg.SEATS[seat], text_anchor="start", font_weight=weight)
    for at in range(SUPPLY):
        opacity = None if at < position.left[seat] else 0.15
        yield svg.rect(_x(8) + 36 - 20 * at, y - 15, GROOVE, 30, svg.INK, rx=3, opacity=opacity)


def _title(position: Quoridor) -> str:
    state = position.outcome.why if position.outcome else f"{SEATS[position.turn]} to move"
    first, second = (
        f"{name} on {SQUARES[square]} with {left} {'wall' if left == 1 else 'walls'} left"
        for name, square, left in zip(SEATS, position.pawns, position.left, strict=True)
    )
    return f"Quoridor, {state}: {first}, {second}; walls at {' '.join(walls(position)) or 'no place yet'}"


RULES = """\
Nine by nine squares. Each pawn begins in the middle of its side and has to reach the row on the other side.
The two take turns: each steps to a square next to its pawn, or puts one of its ten walls, each two squares
long, into the grooves between the squares. Walls may not overlap or cross, and must leave each pawn a way to
its goal. A pawn that faces the other jumps over it; where a wall or the edge of the board is behind that
pawn, it goes to one side of it instead.

Squares are `a1` to `i9`; `e2` is a step. A wall is named by the lower-left of the four squares it touches and
its direction: `e3h` is horizontal, `e3v` vertical.
"""

GAME = Game(
    name="quoridor",
    title="Quoridor",
    rules=RULES,
    seats=SEATS,
    start=start,
    read=read,
    write=write,
    short=str,
    show=show,
    draw=draw,
    spot=spot,
    pace=Pace(bank=60.0, gain=2.0),
    faults="forfeit",
    ply_limit=200,
    evaluate=evaluate,
)
