"""The Arena's cheats: what it does wrong on purpose, to see whether a bot notices.

A `rigged` game has the rules of the game, except that the house may show any move;
after that the only right answer is to flip the table, which wins. A trick says
which side the house has and what it does: it plays legally until it can cheat in
its way. Nothing in it is random: what a trick does depends on its name and the
bot's moves alone, as it did in the old system.

`server/protocols/arena/cases.py` and `server/protocols/arena/evaluation.py` decide
when a bot is tried with which of these, and what that is worth.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from games import quoridor, tictactoe
from games.game import Game, Illegal, Outcome
from games.quoridor import SIDE, WALLS, Quoridor
from games.tictactoe import FIELDS, INDEX, TicTacToe
from server.protocols.arena.messages import FLIP


class Cheat(Struct, frozen=True):
    """A move that is shown and not played, as the game would write it."""

    shown: Mapping[str, str]


class Again(Struct, frozen=True):
    """An honest move after which the house does not wait for its turn."""

    move: Any


Cheater = Callable[[Any], Sequence[Any]]  # from a position with the house to move: moves to play, or cheats


class Trick(Struct, frozen=True):
    cheater: Cheater
    seat: int  # of the house
    begins: bool = False  # whether the house begins, even if the bot should


class Rigged(Struct, frozen=True):
    """A position of a rigged game: one of the game itself, and what the house did beside it."""

    position: Any
    house: int
    turn: int
    cheated: bool = False
    crossing: bool = False  # whether the bot was to move when the house cheated: its move may be on its way
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


def rigged(game: Game[Any, Any], trick: Trick) -> Game[Any, Any]:
    """The game with a trick of the house in it. Parts that only people see are not rigged."""
    house = trick.seat

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


def flip_without_reason(position: Any) -> Sequence[Any]:
    return [Cheat({"action": FLIP})]


# Tic-Tac-Toe

SECONDS = ("N", "W", "E", "S", "SE")  # of these fields, a house with NW takes two at once


def _symbol(name: str) -> Cheat:
    return Cheat({"action": "putSymbol", "position": name})


def duplicate(position: TicTacToe) -> Sequence[Any]:
    taken = position.mine | position.theirs
    return [_symbol(next(name for field, name in enumerate(FIELDS) if taken >> field & 1))]


def two_symbols(position: TicTacToe) -> Sequence[Any]:
    if not position.mine:
        return [INDEX["NW"]]
    free = {*position.moves()}
    one, other, *_ = (name for name in SECONDS if INDEX[name] in free)
    return [Again(INDEX[other]), _symbol(one)]


def second_begins(position: TicTacToe) -> Sequence[Any]:
    return [_symbol("NW")]


def out_of_bound(position: TicTacToe) -> Sequence[Any]:
    return [_symbol("")]  # as the old system wrote a field beside the board


# Quoridor


def _shown(name: str) -> Cheat:
    return Cheat({"action": "putWall" if name[-1] in "hv" else "move", "position": name})


def _steps(position: Quoridor) -> list[str]:
    return [move for move in position.moves() if move not in WALLS]


def teleport(position: Quoridor) -> Sequence[Any]:
    return [_shown("e5")]


def second_first(position: Quoridor) -> Sequence[Any]:
    return [_shown("e8")]


def two_turns(position: Quoridor) -> Sequence[Any]:
    """Two steps straight on; if a wall of the bot is in the way of the first, another way."""
    step = "e8" if "e8" in (steps := _steps(position)) else steps[0]
    again = structs.replace(position.play(step), turn=position.turn)
    return [Again(step), _shown("e7" if step == "e8" else _steps(again)[0])]


def wall_outside(position: Quoridor) -> Sequence[Any]:
    return [_shown("i4h")]


def pawn_outside(position: Quoridor) -> Sequence[Any]:
    return [_shown("e10")]


def wall_cross(position: Quoridor) -> Sequence[Any]:
    return [_shown("e4v")] if "e4h" in quoridor.walls(position) else ["e4h"]


def walk_through_wall(position: Quoridor) -> Sequence[Any]:
    return [_shown("e2")] if "e1h" in quoridor.walls(position) else ["e1h"]


def put_11_walls(position: Quoridor) -> Sequence[Any]:
    """Ten where they make the bot's way longest, so that it has not won before the eleventh."""
    seat = position.turn
    supplied = structs.replace(position, left=(quoridor.SUPPLY, quoridor.SUPPLY))
    walls = [move for move in supplied.moves() if move in WALLS]
    if not position.left[seat]:
        return [_shown(walls[0])]
    return [max(walls, key=lambda wall: quoridor.distance(position.play(wall), 1 - seat))]


def wall_blocking(position: Quoridor) -> Sequence[Any]:
    """Wall in the house's own pawn, where it began, with part of the two rows nearest to it."""
    legal = {*position.moves()}
    free = [name for name, wall in WALLS.items() if not position.walls & wall.clashes]
    if blocking := [name for name in free if name not in legal] if position.left[position.turn] else ():
        return [_shown(blocking[0])]
    there = {*quoridor.walls(position)}
    missing = [[name for name in pen if name not in there] for pen in _pens(position)]
    possible = [walls for walls in missing if {*walls} <= {*free}]
    return [min(possible, key=len)[0] if possible else min(legal)]


def _pens(position: Quoridor) -> Iterable[list[str]]:
    """Walls that shut off some columns of the two rows at the house's rim, with its pawn inside."""
    at, sides, front = position.pawns[position.turn] % SIDE, *(("1", "2"), ("8", "7"))[position.turn]
    for left in range(SIDE):
        for right in range(left + 1, SIDE, 2):
            if left <= at <= right:
                pen = [f"{'abcdefgh'[column]}{front}h" for column in range(left, right, 2)]
                pen += [f"{'abcdefgh'[edge]}{sides}v" for edge in (left - 1, right) if 0 <= edge < SIDE - 1]
                yield pen


FIRST, SECOND = 0, 1  # the seat of the house

TRICKS: Mapping[str, Mapping[str, Trick]] = {
    tictactoe.GAME.name: {
        "C_AI_DUP": Trick(duplicate, SECOND),
        "C_AI_TWICE_A_ROW": Trick(two_symbols, FIRST),
        "C_AI_X_FIRST": Trick(second_begins, SECOND, begins=True),
        "C_AI_OUT_OF_BOUND": Trick(out_of_bound, SECOND),
        "C_AI_FLIP_TABLE_RANDOMLY": Trick(flip_without_reason, SECOND),
    },
    quoridor.GAME.name: {
        "C_AI_TELEPORT": Trick(teleport, SECOND),
        "C_AI_SECOND_FIRST": Trick(second_first, SECOND, begins=True),
        "C_AI_TWICE_A_ROW": Trick(two_turns, SECOND),
        "C_AI_WALL_OUTSIDE": Trick(wall_outside, FIRST),
        "C_AI_PAWN_OUTSIDE": Trick(pawn_outside, SECOND),
        "C_AI_WALL_CROSS": Trick(wall_cross, FIRST),
        "C_AI_WALK_THROUGH_WALL": Trick(walk_through_wall, FIRST),
        "C_AI_PUT_11_WALLS": Trick(put_11_walls, SECOND),
        "C_AI_WALL_BLOCKING": Trick(wall_blocking, SECOND),
    },
}
