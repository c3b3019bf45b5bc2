"""Connect-4: seven columns, six rows, four in a line wins.

A side's discs are a bitboard of 49 bits: seven to a column, the lowest is the
bottom row and the seventh stays empty, so that a shift by 1, 6, 7 or 8 never
runs round an edge and four in a line is found by two shifts a direction.
`next` holds one bit for each column: where its next disc will fall.
"""

from collections.abc import Iterable
from itertools import product

from msgspec import Struct

from games import svg
from games.game import Game, Illegal, Opponent, Outcome, Pace, Worth, quoted

COLUMNS, ROWS = 7, 6
COLUMN = tuple(0b111111 << 7 * column for column in range(COLUMNS))
BOTTOM = sum(1 << 7 * column for column in range(COLUMNS))
BOARD = sum(COLUMN)
FULL = BOTTOM << ROWS  # `next` when every column is full
OWN_ROWS = (0b010101 * BOTTOM, 0b101010 * BOTTOM)  # those a seat gets when the columns are filled up in turn
MIDDLE = tuple(sum(COLUMN[3 - far : 4 + far]) for far in range(3))  # the middle one, three and five columns
APART = 80  # bits from one seat's discs to the other's in one number: no shift below brings them together
LOWEST = tuple(range(0, 7 * COLUMNS, 7))  # of each column, the bit of its lowest place
COLUMN_OF_BOTH = COLUMN[0] | COLUMN[0] << APART
SHOWN = {  # a column as shown, from the bottom, by both seats' discs in it, in one number
    sum(1 << row + APART * (disc - 1) for row, disc in enumerate(column) if disc): column
    for column in product(range(3), repeat=ROWS)
}
SEATS = ("first", "second")

WON = tuple(Outcome(seat, f"{name} has four in a line") for seat, name in enumerate(SEATS))
DRAWN = Outcome(None, "the board is full and nobody has four in a line")


class Connect4(Struct, frozen=True, gc=False):
    """`mine` are the discs of the seat to move, `theirs` those of the other."""

    mine: int = 0
    theirs: int = 0
    next: int = BOTTOM
    turn: int = 0
    outcome: Outcome | None = None

    def moves(self) -> Iterable[int]:
        if self.outcome is not None:
            return ()
        return (column for column in range(COLUMNS) if self.next & COLUMN[column])

    def play(self, move: int) -> "Connect4":
        disc = self.next & COLUMN[move]
        if not disc or self.outcome is not None:
            raise self._illegal(move)
        mine = self.mine | disc
        after = self.next + disc
        if (
            (pair := mine & mine >> 7) & pair >> 14
            or (pair := mine & mine >> 1) & pair >> 2
            or (pair := mine & mine >> 6) & pair >> 12
            or (pair := mine & mine >> 8) & pair >> 16
        ):
            return Connect4(self.theirs, mine, after, 1 - self.turn, WON[self.turn])
        return Connect4(self.theirs, mine, after, 1 - self.turn, DRAWN if after == FULL else None)

    def _illegal(self, move: int) -> Illegal:
        return Illegal("the game is over" if self.outcome is not None else f"column {move} is full")


def discs(position: Connect4) -> tuple[int, int]:
    """The bitboards of seat 0 and of seat 1."""
    pair = (position.mine, position.theirs)
    return pair if position.turn == 0 else (position.theirs, position.mine)


def start() -> Connect4:
    return Connect4()


def read(sent: object, position: Connect4) -> int:
    if type(sent) is not int:  # a bool is an int to Python, and not to a bot's author
        raise Illegal(f"a move is the number of a column, 0 to 6, not {quoted(sent)}")
    if not 0 <= sent < COLUMNS:
        raise Illegal(f"there is no column {quoted(sent)}; the columns are 0 to 6")
    return sent


def write(move: int) -> object:
    return move


def show(position: Connect4, names: tuple[str, str]) -> object:
    """Column by column from the bottom: 0 empty, 1 and 2 the seats."""
    first, second = discs(position)
    both = first | second << APART
    shown: list[int] = []  # `list[int]()` takes eight times as long: it tries to note its type in the list
    for lowest in LOWEST:
        shown += SHOWN[both >> lowest & COLUMN_OF_BOTH]
    return shown


def evaluate(position: Connect4) -> float:
    """Empty places that would complete a four, twice on the seat's own rows; and discs in the middle."""
    first, second = discs(position)
    empty = BOARD ^ (first | second)
    places = fours(first | second << APART) & (empty | empty << APART)
    one, other = places & BOARD, places >> APART
    good = 8 * (one.bit_count() - other.bit_count())
    good += 8 * ((one & OWN_ROWS[0]).bit_count() - (other & OWN_ROWS[1]).bit_count())
    for columns in MIDDLE:
        good += (first & columns).bit_count() - (second & columns).bit_count()
    return good / 1000  # 42 such places, all on own rows, and the whole middle come to less


def fours(taken: int) -> int:
    """Every place, on the board or off it, that has the other three of some four in line beside it."""
    places = taken << 1 & taken << 2 & taken << 3
    for way in (6, 7, 8):
        above, below = taken >> way & taken >> 2 * way, taken << way & taken << 2 * way
        places |= above & (taken << way | taken >> 3 * way) | below & (taken >> way | taken << 3 * way)
    return places


def solver() -> Worth[Connect4]:
    from games.connect4_solver import solver  # which is written in terms of this file

    return solver()


def draw(position: Connect4, last: int | None = None) -> str:
    first, second = discs(position)
    newest = (position.next & (COLUMN[last] << 1)) >> 1 if last is not None else 0
    parts = [svg.rect(14, 14, 60 * COLUMNS + 12, 60 * ROWS + 12, svg.FIELD, rx=14)]
    for column in range(COLUMNS):
        x = 50 + 60 * column
        parts.append(svg.text(x, 60 * ROWS + 46, str(column), 18))
        for row in range(ROWS):
            bit, y = 1 << 7 * column + row, 50 + 60 * (ROWS - 1 - row)
            seat = 0 if first & bit else 1 if second & bit else None
            parts.append(svg.circle(x, y, 25, svg.GROUND if seat is None else svg.SEATS[seat]))
            if seat is not None:  # a ring for seat 1 too, for those who cannot tell the colours apart
                parts.append(
                    svg.circle(x, y, 15, "none", stroke=svg.GROUND, stroke_width=2 + 4 * seat, opacity=0.5)
                )
            if bit == newest:
                parts.append(svg.circle(x, y, 25, "none", stroke=svg.MARK, stroke_width=5))
    return svg.drawing(60 * COLUMNS + 40, 60 * ROWS + 66, _title(position), *parts)


def spot(move: int, position: Connect4) -> str:
    return svg.rect(21 + 60 * move, 16, 58, 60 * ROWS + 8, svg.MARK, **svg.TOUCH)


def _title(position: Connect4) -> str:
    state = position.outcome.why if position.outcome else f"{SEATS[position.turn]} to move"
    count = (position.mine | position.theirs).bit_count()
    return f"Connect-4, {state}, {count} {'disc' if count == 1 else 'discs'} on the board"


RULES = """\
Seven columns of six. The two take turns and drop a disc into a column that is not full; it falls as far as it
can. Whoever has four in a line, across, up or diagonally, has won. When the board is full and nobody has, it
is a draw.

A move is the number of a column, `0` to `6`, from the left.
"""

GAME = Game(
    name="connect-4",
    title="Connect-4",
    rules=RULES,
    seats=SEATS,
    start=start,
    read=read,
    write=write,
    short=str,
    show=show,
    draw=draw,
    spot=spot,
    pace=Pace(turn=60.0),
    faults="retry",
    evaluate=evaluate,
    solver=solver,
    lots=True,
    opponents=(Opponent("random", "random"), Opponent("aima", "alphabeta", seconds=0.5)),
)
