"""What the Arena does wrong on purpose, to see whether a bot notices.

A `rigged` game has the rules of the game, but that the house may show whatever
it likes; after that nothing is right but to flip the table, and that wins. A
trick says what is shown: a cheater plays legally until it can cheat in its way.

When a bot is tried with which of these, and what that is worth, is
`server/evaluation.py`'s business.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from msgspec import Struct, structs

from games import quoridor, tictactoe
from games.game import Game, Illegal, Outcome
from games.quoridor import SIDE, SQUARES, STEPS, WALLS, Quoridor
from games.tictactoe import FIELDS, TicTacToe
from server.doors.battle import FLIP


class Cheat(Struct, frozen=True):
    """A move that is shown and not played, as the game would write it."""

    shown: Mapping[str, str]


class Again(Struct, frozen=True):
    """An honest move after which the house does not wait for its turn."""

    move: Any


Cheater = Callable[[Any, Random], Sequence[Any]]  # of a position and lots: moves to play, or one of these


class Trick(Struct, frozen=True):
    cheater: Cheater
    delay: int = 0  # so many moves, at most, the house makes honestly before
    seat: int | None = None  # of the house; None: either
    begins: bool = False  # the house begins, whoever should


class Rigged(Struct, frozen=True):
    """A position of a rigged game: one of the game itself, and what was done beside it."""

    position: Any
    house: int
    turn: int
    cheated: bool = False
    crossing: bool = False  # the bot was to move when the house cheated: its move may be on its way
    outcome: Outcome | None = None

    def moves(self) -> Iterable[Any]:
        if self.outcome is None:
            if self.cheated:
                yield FLIP
            if self.crossing or not self.cheated:
                yield from self.position.moves()

    def play(self, move: Any) -> "Rigged":
        if self.outcome is not None:
            raise Illegal("the game is over")
        bot = 1 - self.house
        if isinstance(move, Cheat):
            return structs.replace(self, turn=bot, cheated=True, crossing=self.position.turn == bot)
        if isinstance(move, Again):
            return structs.replace(self, position=self.position.play(move.move), turn=self.house)
        if not self.cheated:
            after = self.position.play(move)
            return structs.replace(self, position=after, turn=after.turn, outcome=after.outcome)
        if move == FLIP:
            return structs.replace(self, outcome=Outcome(bot, "the table was flipped, and rightly"))
        if not self.crossing:
            raise Illegal("the Arena had cheated, and the table was not flipped")
        return structs.replace(self, position=self.position.play(move), crossing=False)


def rigged(game: Game[Any, Any], house: int, trick: Trick) -> Game[Any, Any]:
    """The game as it is when the house cheats in it. What only people see of a game is not rigged."""

    def start() -> Rigged:
        position = game.opening({})
        return Rigged(position, house, house if trick.begins else position.turn)

    def read(sent: Any, position: Rigged) -> Any:
        match sent:
            case Cheat() | Again():
                return sent
            case {"action": action} if action == FLIP and position.cheated:
                return FLIP
            case _:
                return game.read(sent, position.position)

    def write(move: Any) -> object:
        match move:
            case Cheat(shown=shown):
                return shown
            case Again(move=honest):
                return game.write(honest)
            case _:
                return {"action": FLIP} if move == FLIP else game.write(move)

    return structs.replace(game, start=start, read=read, write=write)


def flip_without_reason(position: Any, lots: Random) -> Sequence[Any]:
    return [Cheat({"action": FLIP})]


# Tic-Tac-Toe


def _symbol(name: str) -> Cheat:
    return Cheat({"action": "putSymbol", "position": name})


def duplicate(position: TicTacToe, lots: Random) -> Sequence[Any]:
    taken = position.mine | position.theirs
    there = [name for field, name in enumerate(FIELDS) if taken >> field & 1]
    return [_symbol(lots.choice(there))] if there else [lots.choice(list(position.moves()))]


def two_symbols(position: TicTacToe, lots: Random) -> Sequence[Any]:
    one, other = lots.sample(list(position.moves()), 2)
    return [Again(one), _symbol(FIELDS[other])]


def any_symbol(position: TicTacToe, lots: Random) -> Sequence[Any]:
    return [_symbol(lots.choice(FIELDS))]


def out_of_bound(position: TicTacToe, lots: Random) -> Sequence[Any]:
    return [_symbol(lots.choice(("NNE", "NNW", "EE", "WW", "SSE", "SSW")))]


# Quoridor


def _shown(name: str) -> Cheat:
    return Cheat({"action": "putWall" if name[-1] in "hv" else "move", "position": name})


def _walls(position: Quoridor) -> list[str]:
    """Those that may be put."""
    return [move for move in position.moves() if move in WALLS]


def _steps(position: Quoridor) -> list[str]:
    return [move for move in position.moves() if move not in WALLS]


def teleport(position: Quoridor, lots: Random) -> Sequence[Any]:
    """To a square of the inner board that is three steps away or more."""
    row, column = divmod(position.pawns[position.turn], SIDE)
    far = [
        name
        for square, name in enumerate(SQUARES)
        if abs(square // SIDE - row) + abs(square % SIDE - column) >= 3
        and 0 < square // SIDE < SIDE - 1
        and square != position.pawns[1 - position.turn]
    ]
    return [_shown(lots.choice(far))]


def second_first(position: Quoridor, lots: Random) -> Sequence[Any]:
    return [_shown(lots.choice(_steps(structs.replace(position, turn=1))))]


def two_turns(position: Quoridor, lots: Random) -> Sequence[Any]:
    step = lots.choice(_steps(position))
    again = structs.replace(position.play(step), turn=position.turn)
    return [Again(step), _shown(lots.choice(list(again.moves())))]


def wall_outside(position: Quoridor, lots: Random) -> Sequence[Any]:
    return [_shown(lots.choice(("i4v", "i4h", "a9h", "c9v", "a0h", "f0v")))]


def pawn_outside(position: Quoridor, lots: Random) -> Sequence[Any]:
    name = SQUARES[position.pawns[position.turn]]
    return [_shown(lots.choice((f"j{name[1]}", f"{name[0]}{10 if position.turn else 0}")))]


def wall_cross(position: Quoridor, lots: Random) -> Sequence[Any]:
    there = quoridor.walls(position)
    if not there:
        return [lots.choice(_walls(position))]
    name = lots.choice(there)
    return [_shown(name[:2] + ("h" if name[2] == "v" else "v"))]


def walk_through_wall(position: Quoridor, lots: Random) -> Sequence[Any]:
    seat = position.turn
    ways = STEPS[position.pawns[seat]][position.pawns[1 - seat]]
    straight = {name: step.free for name, step in ways.items() if len(step.squares) == 2}
    if shut := [name for name, between in straight.items() if position.walls & between]:
        return [_shown(lots.choice(shut))]
    near = [wall for wall in _walls(position) if any(WALLS[wall].bit & way for way in straight.values())]
    return [lots.choice(near or list(position.moves()))]


def put_11_walls(position: Quoridor, lots: Random) -> Sequence[Any]:
    """Ten where they make the other's way longest, so that it is not over before the eleventh."""
    seat = position.turn
    walls = _walls(structs.replace(position, left=(quoridor.SUPPLY, quoridor.SUPPLY)))
    if not position.left[seat]:
        return [_shown(lots.choice(walls))]
    return [max(walls, key=lambda wall: quoridor.distance(position.play(wall), 1 - seat))]


def wall_blocking(position: Quoridor, lots: Random) -> Sequence[Any]:
    """Wall the house's own pawn in, where it began, with a part of the two rows nearest to it."""
    legal = {*position.moves()}
    free = [name for name, wall in WALLS.items() if not position.walls & wall.clashes]
    if blocking := [name for name in free if name not in legal] if position.left[position.turn] else ():
        return [_shown(lots.choice(blocking))]
    there = {*quoridor.walls(position)}
    missing = [[name for name in pen if name not in there] for pen in _pens(position)]
    possible = [walls for walls in missing if {*walls} <= {*free}]
    return [min(possible, key=len)[0] if possible else lots.choice(sorted(legal))]


def _pens(position: Quoridor) -> Iterable[list[str]]:
    """Walls that shut off so many columns of the two rows at the house's rim, its pawn among them."""
    at, sides, front = position.pawns[position.turn] % SIDE, *(("1", "2"), ("8", "7"))[position.turn]
    for left in range(SIDE):
        for right in range(left + 1, SIDE, 2):
            if left <= at <= right:
                pen = [f"{'abcdefgh'[column]}{front}h" for column in range(left, right, 2)]
                pen += [f"{'abcdefgh'[edge]}{sides}v" for edge in (left - 1, right) if 0 <= edge < SIDE - 1]
                yield pen


TRICKS: Mapping[str, Mapping[str, Trick]] = {
    tictactoe.GAME.name: {
        "C_AI_DUP": Trick(duplicate, delay=1),
        "C_AI_TWICE_A_ROW": Trick(two_symbols, delay=1),
        "C_AI_X_FIRST": Trick(any_symbol, seat=1, begins=True),
        "C_AI_OUT_OF_BOUND": Trick(out_of_bound, delay=1),
        "C_AI_FLIP_TABLE_RANDOMLY": Trick(flip_without_reason, delay=1),
    },
    quoridor.GAME.name: {
        "TELEPORT": Trick(teleport, delay=3),
        "SECOND_FIRST": Trick(second_first, seat=1, begins=True),
        "TWICE_A_ROW": Trick(two_turns, delay=3),
        "WALL_OUTSIDE": Trick(wall_outside, delay=3),
        "PAWN_OUTSIDE": Trick(pawn_outside, delay=3),
        "WALL_CROSS": Trick(wall_cross),
        "WALK_THROUGH_WALL": Trick(walk_through_wall),
        "PUT_11_WALLS": Trick(put_11_walls),
        "WALL_BLOCKING": Trick(wall_blocking),
    },
}
