"""Tic-Tac-Toe: three in a row on nine fields. `O` begins.

A side's symbols are nine bits; bit 0 is NW, counted row by row.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import Struct

from games import svg
from games.game import Game, Illegal, Outcome, Pace, Worth, quoted
from games.perfect import trying_everything

FIELDS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")
INDEX = {name: index for index, name in enumerate(FIELDS)}
WRITTEN = [{"action": "putSymbol", "position": name} for name in FIELDS]  # the same for all matches
LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
THREE = tuple(any(line & symbols == line for line in LINES) for symbols in range(512))
FULL = 0o777
SEATS = ("O", "X")

WON = tuple(Outcome(seat, f"{name} has three in a row") for seat, name in enumerate(SEATS))
DRAWN = Outcome(None, "the board is full and nobody has three in a row")


class TicTacToe(Struct, frozen=True, gc=False):
    """`mine` are the symbols of the seat to move, `theirs` those of the other."""

    mine: int = 0
    theirs: int = 0
    turn: int = 0
    outcome: Outcome | None = None

    def moves(self) -> Iterable[int]:
        if self.outcome is not None:
            return ()
        taken = self.mine | self.theirs
        return (field for field in range(9) if not taken >> field & 1)

    def play(self, move: int) -> "TicTacToe":
        mine, theirs = self.mine, self.theirs
        if (mine | theirs) >> move & 1 or self.outcome is not None:
            raise self._illegal(move)
        mine |= 1 << move
        if THREE[mine]:
            outcome = WON[self.turn]
        elif mine | theirs == FULL:
            outcome = DRAWN
        else:
            outcome = None
        return TicTacToe(theirs, mine, 1 - self.turn, outcome)

    def _illegal(self, move: int) -> Illegal:
        if self.outcome is not None:
            return Illegal("the game is over")
        owner = self.turn if self.mine >> move & 1 else 1 - self.turn
        return Illegal(f"{FIELDS[move]} is taken by {SEATS[owner]}")


def symbols(position: TicTacToe) -> tuple[int, int]:
    """The fields of seat 0 and of seat 1."""
    pair = (position.mine, position.theirs)
    return pair if position.turn == 0 else (position.theirs, position.mine)


def start() -> TicTacToe:
    return TicTacToe()


def read(sent: Any, position: TicTacToe) -> int:
    match sent:
        case {"action": "putSymbol", "position": str() as name} | (str() as name):
            if (field := INDEX.get(name)) is not None:
                return field
            raise Illegal(f"{quoted(name)} is not a field; the fields are {' '.join(FIELDS)}")
        case {"action": "putSymbol"}:
            raise Illegal(f'"position" has to be one of {" ".join(FIELDS)}')
        case {"action": action}:
            raise Illegal(f'{quoted(action)} is not an action of this game; expected "putSymbol"')
        case _:
            raise Illegal(f'expected {{"action":"putSymbol","position":"SE"}} or "SE", not {quoted(sent)}')


def write(move: int) -> object:
    return WRITTEN[move]


def short(move: int) -> str:
    return FIELDS[move]


def show(position: TicTacToe, names: tuple[str, str]) -> object:
    first, second = symbols(position)
    return {"board": ["O" if first >> f & 1 else "X" if second >> f & 1 else None for f in range(9)]}


def draw(position: TicTacToe, last: int | None = None) -> str:
    parts: list[str] = []
    for field, name in enumerate(FIELDS):
        x, y = 20 + field % 3 * 100, 20 + field // 3 * 100
        ring = {"stroke": svg.MARK, "stroke_width": 4} if field == last else {}
        parts.append(svg.rect(x + 3, y + 3, 94, 94, svg.FIELD, rx=8, **ring))
        parts.append(svg.text(x + 50, y + 50, name, 16))
        parts += _symbol(position, field, x + 50, y + 50)
    return svg.drawing(340, 340, _title(position), *parts)


def spot(move: int, position: TicTacToe) -> str:
    return svg.rect(23 + move % 3 * 100, 23 + move // 3 * 100, 94, 94, svg.MARK, **svg.TOUCH)


def _symbol(position: TicTacToe, field: int, x: float, y: float) -> list[str]:
    first, second = symbols(position)
    if first >> field & 1:
        return [svg.circle(x, y, 28, svg.FIELD, stroke=svg.SEATS[0], stroke_width=11)]
    if second >> field & 1:
        arm = {"stroke_linecap": "round"}
        return [
            svg.rect(x - 34, y - 34, 68, 68, svg.FIELD),
            svg.line(x - 26, y - 26, x + 26, y + 26, svg.SEATS[1], 11, **arm),
            svg.line(x - 26, y + 26, x + 26, y - 26, svg.SEATS[1], 11, **arm),
        ]
    return []


def _title(position: TicTacToe) -> str:
    first, second = symbols(position)
    fields = ", ".join(
        f"{side} on {' '.join(name for f, name in enumerate(FIELDS) if bits >> f & 1) or 'nothing'}"
        for side, bits in zip(SEATS, (first, second), strict=True)
    )
    state = position.outcome.why if position.outcome else f"{SEATS[position.turn]} to move"
    return f"Tic-Tac-Toe, {state}: {fields}"


RULES = """\
Nine fields. **O** begins, then the two take turns and put their symbol on an empty field. Whoever has three
in a row, across, down or diagonally, has won. When the board is full and nobody has, it is a draw.

The fields are named as on a map: `NW` `N` `NE`, `W` `C` `E`, `SW` `S` `SE`.
"""


@cache
def solver() -> Worth[TicTacToe]:
    """Perfect play. One match after the other may ask: the 5,478 positions are looked at once."""
    return trying_everything()


GAME = Game(
    name="tic-tac-toe",
    title="Tic-Tac-Toe",
    rules=RULES,
    seats=SEATS,
    start=start,
    read=read,
    write=write,
    short=short,
    show=show,
    draw=draw,
    spot=spot,
    pace=Pace(bank=18.0, gain=2.0),
    faults="forfeit",
    solver=solver,
)
