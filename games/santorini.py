"""Santorini: two workers each climb what both build; the third floor wins.

The seats place their workers in turn: first, second, first, second. After that a
turn is a worker's move and a build with that worker: two moves of the same seat,
one after the other. The rules are those of the course this game was played in,
on 6×6 fields and without gods.

A set of fields is a byte a row, bit 0 at (0, 0); a worker is the one bit of its
field. The fields with so many floors or more are a set, and so are the fields that
are too high for somebody: nothing is searched. How the floors are shown is a number
too: the digits of the wire's array as its bytes, so that to build is to add one at
the right place.
"""

from collections.abc import Iterable
from itertools import permutations
from typing import Any

from msgspec import Raw, Struct
from msgspec.json import encode as json

from games import svg
from games.game import BadOption, Game, Illegal, Outcome, Pace, quoted

Move = tuple[int, ...]  # (x, y) places a worker or builds; (worker, x, y) moves a worker


class Floors(Struct, frozen=True, gc=False):
    """The fields with one floor or more, with two, three, four; and how they are shown."""

    one: int
    two: int
    three: int
    four: int
    text: int


SIZE = 6
BIT: dict[Move, int] = {(x, y): 1 << 8 * y + x for y in range(SIZE) for x in range(SIZE)}
FIELD = {bit: field for field, bit in BIT.items()}
STEP: dict[Move, tuple[int, int]] = {(w, x, y): (w - 1, bit) for w in (1, 2) for (x, y), bit in BIT.items()}
NEAR = {
    bit: sum(BIT.get((x + dx, y + dy), 0) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
    for (x, y), bit in BIT.items()
}
STANDING = {  # of the workers of a seat, in their order: where they stand, as shown
    bits: Raw(json([number for bit in bits for number in FIELD[bit]]))
    for count in range(3)
    for bits in permutations(FIELD, count)
}
GROUND = json([[0] * SIZE] * SIZE)
LENGTH = len(GROUND)
RISE = {bit: 1 << 8 * (2 + 14 * y + 2 * x) for (x, y), bit in BIT.items()}  # one floor at a field's digit
FLAT = Floors(0, 0, 0, 0, int.from_bytes(GROUND, "little"))
SEATS = ("first", "second")

WON = tuple(Outcome(seat, f"{name} stands on the third floor") for seat, name in enumerate(SEATS))
STUCK = {
    "loses": tuple(Outcome(1 - seat, f"{name} cannot move") for seat, name in enumerate(SEATS)),
    "draws": tuple(Outcome(None, f"{name} cannot move, a draw here") for name in SEATS),
}
WITHIN = "with x and y from 0 to 5"
EXPECTED = {  # as text, as a list, and what it is
    "placeWorker": ('"x y"', "[x,y]", f"a field for a worker, {WITHIN}"),
    "moveWorker": ('"w x y"', "[w,x,y]", f"a worker, 1 or 2, and the field it moves to, {WITHIN}"),
    "build": ('"x y"', "[x,y]", f"a field to build on, {WITHIN}"),
}
TYPED = {" ".join(map(str, move)): move for move in (*BIT, *STEP)}
WRITTEN = {move: [*move] for move in (*BIT, *STEP)}  # one list for all matches in which a move is made …
WORKERS = {bits: bits for bits in STANDING}  # … and one tuple where workers stand alike


class Santorini(Struct, frozen=True, gc=False):
    """`mine` are the workers of the seat to move in the order they were placed, `theirs` the other's."""

    floors: Floors = FLAT
    mine: tuple[int, ...] = ()
    theirs: tuple[int, ...] = ()
    turn: int = 0
    builder: int = 0  # the worker that has moved and has yet to build
    stuck: str = "loses"
    outcome: Outcome | None = None

    def moves(self) -> Iterable[Move]:
        if self.outcome is not None:
            return []
        free = ~sum(self.mine + self.theirs)  # a sum of different bits is their union
        if self.builder:
            return fields(NEAR[self.builder] & free & ~self.floors.four)
        if len(self.mine) < 2:
            return fields(free)
        pairs = enumerate(self.mine, 1)
        return [(w, x, y) for w, bit in pairs for x, y in fields(reach(bit, self.floors) & free)]

    def play(self, move: Move) -> "Santorini":
        if self.outcome is not None:
            raise self._illegal(move)
        if self.builder:
            return self._build(move)
        if len(self.mine) < 2:
            return self._place(move)
        return self._move(move)

    def _place(self, move: Move) -> "Santorini":
        field = BIT.get(move, 0)
        if not field & ~sum(self.mine + self.theirs):
            raise self._illegal(move)
        # Nobody is stuck when all stand: even in a corner one of two workers has a free field beside it.
        placed = WORKERS[*self.mine, field]
        return Santorini(self.floors, self.theirs, placed, 1 - self.turn, 0, self.stuck)

    def _move(self, move: Move) -> "Santorini":
        worker, field = STEP.get(move, (0, 0))
        floors, mine, theirs = self.floors, self.mine, self.theirs
        one, other = mine
        if not field & reach(mine[worker], floors) & ~(one | other | theirs[0] | theirs[1]):
            raise self._illegal(move)
        moved = WORKERS[(one, field) if worker else (field, other)]
        if field & floors.three:
            return Santorini(floors, moved, theirs, self.turn, 0, self.stuck, WON[self.turn])
        # The field it left is free and has two floors at most, so there is always something to build on.
        return Santorini(floors, moved, theirs, self.turn, field, self.stuck)

    def _build(self, move: Move) -> "Santorini":
        field = BIT.get(move, 0)
        mine, theirs, turn = self.mine, self.theirs, 1 - self.turn
        one, other = theirs
        free = ~(one | other | mine[0] | mine[1])
        if not field & NEAR[self.builder] & free & ~self.floors.four:
            raise self._illegal(move)
        floors = raised(self.floors, field)
        if reach(one, floors) & free or reach(other, floors) & free:
            return Santorini(floors, theirs, mine, turn, 0, self.stuck)
        return Santorini(floors, theirs, mine, turn, 0, self.stuck, STUCK[self.stuck][turn])

    def _illegal(self, move: Move) -> Illegal:
        if self.outcome is not None:
            return Illegal("the game is over")
        moving = status(self) == "moveWorker"
        field = STEP.get(move, (0, 0))[1] if moving else BIT.get(move, 0)
        if not field:
            return _unreadable([*move], self)
        there, height = "{} {}".format(*FIELD[field]), levels(self, field)
        for seat, bits in enumerate(workers(self)):
            if field in bits:
                return Illegal(f"{there} is taken by worker {bits.index(field) + 1} of {SEATS[seat]}")
        worker = self.mine[move[0] - 1] if moving else self.builder
        name = "worker {} at {} {}".format(self.mine.index(worker) + 1, *FIELD[worker])
        if not field & NEAR[worker]:
            return Illegal(f"{there} is not next to {name}")
        if height == 4:
            return Illegal(f"{there} has 4 floors: nobody builds there or goes there any more")
        below = levels(self, worker)
        return Illegal(f"{there} has {height} floors and {name} stands on {below}: one floor up at most")


def raised(floors: Floors, field: int) -> Floors:
    """The floors with one more on a field."""
    one, two, three, four = floors.one, floors.two, floors.three, floors.four
    text = floors.text + RISE[field]
    return Floors(one | field, two | one & field, three | two & field, four | three & field, text)


def reach(worker: int, floors: Floors) -> int:
    """The fields beside a worker that are low enough for it, free or not."""
    higher = floors.four if worker & floors.two else floors.three if worker & floors.one else floors.two
    return NEAR[worker] & ~higher


def fields(bits: int) -> list[Move]:
    return [field for field, bit in BIT.items() if bits & bit]


def workers(position: Santorini) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The workers of seat 0 and of seat 1."""
    pair = (position.mine, position.theirs)
    return pair if position.turn == 0 else (position.theirs, position.mine)


def built(floors: Floors) -> tuple[int, int, int, int]:
    """The fields with one floor or more, with two, three, four."""
    return floors.one, floors.two, floors.three, floors.four


def levels(position: Santorini, field: int) -> int:
    """How many floors a field has."""
    return sum(1 for level in built(position.floors) if level & field)


def status(position: Santorini) -> str:
    """What comes next, in the words of the wire."""
    if position.outcome is not None:
        return "gameOver"
    return "build" if position.builder else "placeWorker" if len(position.mine) < 2 else "moveWorker"


def start(stuck: str = "loses") -> Santorini:
    if stuck not in tuple(STUCK):  # compared, not looked up: it may be anything, even a list
        raise BadOption(f'stuck has to be "loses" or "draws", not {quoted(stuck)}')
    return Santorini(stuck=stuck)


def read(sent: Any, position: Santorini) -> Move:
    match sent:
        case str():
            move = TYPED.get(sent, ())
        case [*numbers] if len(numbers) <= 3 and all(type(number) is int for number in numbers):
            move = tuple(numbers)
        case _:
            move = ()
    if move not in (STEP if status(position) == "moveWorker" else BIT):
        raise _unreadable(sent, position)
    return move


def _unreadable(sent: object, position: Santorini) -> Illegal:
    if position.outcome is not None:
        return Illegal("the game is over")
    text, listed, what = EXPECTED[status(position)]
    if not isinstance(sent, str):  # in the memo's protocol, where all is text, "[x,y]" is no move
        text = f"{text} or {listed}"
    return Illegal(f"expected {text}, {what}; not {quoted(sent)}")


def write(move: Move) -> object:
    return WRITTEN[move]


def short(move: Move) -> str:
    return " ".join(map(str, move))


def spell(move: Move, before: Santorini) -> str:
    """What a move does, in words."""
    *worker, x, y = move
    if worker:
        return f"worker {worker[0]} → ({x},{y})"
    return f"{'build' if before.builder else 'place'} ({x},{y})"


def show(position: Santorini, names: tuple[str, str]) -> object:
    """The array of the wire: status, whose turn (at the end the winner or "Draw"), floors, workers."""
    outcome, turn = position.outcome, position.turn
    seat = turn if outcome is None else outcome.winner
    first, second = names
    mine, theirs = STANDING[position.mine], STANDING[position.theirs]
    return [
        status(position),
        "Draw" if seat is None else names[seat],
        Raw(position.floors.text.to_bytes(LENGTH, "little")),
        [first, theirs if turn else mine],
        [second, mine if turn else theirs],
    ]


def evaluate(position: Santorini) -> float:
    """Height and freedom of the workers; both at their most come to 28."""
    good = 0
    free = ~sum(position.mine + position.theirs)
    for sign, bits in ((1, position.mine), (-1, position.theirs)):
        for worker in bits:
            freedom = (reach(worker, position.floors) & free).bit_count()
            good += sign * (3 * min(levels(position, worker), 2) + freedom)
    return (good if position.turn == 0 else -good) / 28


def draw(position: Santorini, last: Move | None = None) -> str:
    parts: list[str] = []
    for (x, y), bit in BIT.items():
        left, top = 34 + 70 * x, 34 + 70 * y
        parts += _building(left, top, levels(position, bit))
        for seat, bits in enumerate(workers(position)):
            if bit in bits:
                parts += _worker(seat, bits.index(bit) + 1, left + 33, top + 33)
        if last is not None and last[-2:] == (x, y):
            parts.append(svg.rect(left, top, 66, 66, "none", stroke=svg.MARK, stroke_width=5, rx=4))
    for n in range(SIZE):
        parts.append(svg.text(67 + 70 * n, 17, str(n), 16))
        parts.append(svg.text(17, 67 + 70 * n, str(n), 16))
    return svg.drawing(470, 470, _title(position), *parts)


def spot(move: Move, position: Santorini) -> str:
    """A field; for a move to it, the worker's half and number: both workers may be able to go there."""
    *worker, x, y = move
    left, top = 34 + 70 * x, 34 + 70 * y
    if not worker:
        return svg.rect(left, top, 66, 66, svg.MARK, **svg.TOUCH)
    left += 34 * (worker[0] - 1)
    number = svg.text(left + 16, top + 54, str(worker[0]), 18, font_weight="bold")
    return svg.rect(left, top, 32, 66, svg.MARK, **svg.TOUCH) + number


def _building(left: int, top: int, height: int) -> list[str]:
    """A field from above: a smaller square on it for each floor, a dome for the fourth, and the number."""
    parts = [svg.rect(left, top, 66, 66, svg.FIELD, rx=4)]
    edge = {"stroke": svg.GRID, "stroke_width": 2, "rx": 3}
    for floor in range(min(height, 3)):
        inset, fill = (3, 15, 22)[floor], svg.FIELD if floor % 2 else svg.GROUND
        side = 66 - 2 * inset
        parts.append(svg.rect(left + inset, top + inset, side, side, fill, **edge))
    if height == 4:
        parts.append(svg.circle(left + 33, top + 33, 14, svg.INK))
    if height:
        parts.append(svg.text(left + 9, top + 10, str(height), 12, font_weight="bold"))
    return parts


def _worker(seat: int, number: int, x: float, y: float) -> tuple[str, str]:
    """A disc for seat 0, a square for seat 1."""
    edge = {"stroke": svg.GROUND, "stroke_width": 2}
    shape = (
        svg.circle(x, y, 18, svg.SEATS[0], **edge)
        if seat == 0
        else svg.rect(x - 16, y - 16, 32, 32, svg.SEATS[1], rx=3, **edge)
    )
    return shape, svg.text(x, y, str(number), 19, fill=svg.GROUND, font_weight="bold")


def _title(position: Santorini) -> str:
    doing = {"placeWorker": "to place a worker", "moveWorker": "to move", "build": "to build"}
    outcome = position.outcome
    state = outcome.why if outcome else f"{SEATS[position.turn]} {doing[status(position)]}"
    standing = ", ".join(
        f"{name} on {' and '.join(short(FIELD[worker]) for worker in bits) or 'no field'}"
        for name, bits in zip(SEATS, workers(position), strict=True)
    )
    count = sum(level.bit_count() for level in built(position.floors))
    return f"Santorini, {state}: {standing}; {count} {'floor' if count == 1 else 'floors'} built"


RULES = """\
Six by six fields, and two workers each, which the two place in turn. After that a turn is two moves: one of
your workers goes to a field next to it, diagonally too, which is free and at most one floor higher; then that
worker builds a floor on a free field next to it. A fourth floor is a dome, which nobody climbs. Whoever steps
up onto the third floor has won; whoever cannot move has lost (or draws, where a tournament says so).

Fields are `x y`, both from 0 to 5. To place a worker or to build, say a field; to move, say which worker and
the field: `1 2 3` moves the first worker to `2 3`.
"""

GAME = Game(
    name="santorini",
    title="Santorini",
    rules=RULES,
    seats=SEATS,
    start=start,
    read=read,
    write=write,
    short=short,
    show=show,
    draw=draw,
    spot=spot,
    pace=Pace(turn=10.0),
    faults="retry",
    evaluate=evaluate,
    variants=({"stuck": "draws"},),
    spell=spell,
)
