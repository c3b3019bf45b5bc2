"""The contract between a game and everything else.

A game file holds the rules of one game and nothing of clocks, sockets or
tournaments. It declares a `Position` (an immutable value that knows whose turn
it is, how it ended, and what may be played) and, last in the file, one
`GAME = Game(…)`, which says how moves and positions are read, written, shown
and drawn. Putting such a file into this folder is all that it takes: see
`games/catalogue.py` and `docs/add-a-game.md`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Annotated, Any, Generic, Literal, Protocol, Self, TypeVar

from msgspec import Meta, Struct
from msgspec.json import decode

M = TypeVar("M")
P = TypeVar("P", bound="Position[Any]")

# What a position is worth to the seat to move: 1 is a win, 0 a draw, −1 a loss; None takes too long to tell.
# The number is the least that it is known to be worth already.
Worth = Callable[[P, int], int | None]

PLY_LIMIT = "ply_limit"  # an option of every game: after how many plies a match is drawn
PLIES = 1_000  # the most that it may be: each position of a match is kept in memory while it is played
SHOWN = 60  # characters of what a bot sent that a message repeats: enough to recognise it


class Illegal(ValueError):
    """A move that cannot be read or may not be played.

    The message is what the bot is told, so it is a sentence for the bot's
    author: what came, and what was expected or which rule it breaks.
    """


class BadOption(ValueError):
    """An option that the game does not offer. The message is for whoever opened the match."""


class Outcome(Struct, frozen=True):
    """How the rules ended a game: who won (None is a draw), and why, in the words of the rules."""

    winner: int | None
    why: str


class Pace(Struct, frozen=True, forbid_unknown_fields=True):
    """How much time each seat has, in seconds.

    `bank` is for the whole match, and `gain` is added to it after each move. `turn` is for each single
    move. If both `bank` and `turn` are given, both limits apply.
    """

    bank: Annotated[float, Meta(gt=0)] | None = None
    gain: Annotated[float, Meta(ge=0)] = 0.0
    turn: Annotated[float, Meta(gt=0)] | None = None


class Opponent(Struct, frozen=True):
    """A house player: a bot may ask for it by name at the open table, and nobody else may have that name."""

    name: str  # in lower case: names that differ only in case are the same name
    brain: str  # one of `games/brains.py`
    seconds: float = 0.0  # thinking time for each move; with 0 it moves at once


class Position(Protocol[M]):
    """A state of play: immutable, comparable, hashable, complete."""

    @property
    def turn(self) -> int:
        """The seat to move; may be the one that moved last. In a finished game, any seat."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """None exactly while there is a legal move."""
        ...

    def moves(self) -> Iterable[M]:
        """Every legal move once, in an order that is always the same."""
        ...

    def play(self, move: M) -> Self:
        """The position after a move that `read` or `moves` gave; `Illegal` where it may not be played."""
        ...


class Game(Struct, Generic[P, M], frozen=True, kw_only=True):
    """What the rest of the project knows of a game."""

    name: str  # as commands and addresses spell it: "connect-4"
    title: str  # as people spell it: "Connect-4"
    rules: str  # for people, in Markdown: how it is played, and how moves are typed; no headings
    seats: tuple[str, str]  # what the two sides are called; seat 0 begins
    start: Callable[..., P]  # options are keywords with defaults; raises BadOption
    read: Callable[[object, P], M]  # what a bot sent → a move; raises Illegal
    write: Callable[[M], object]  # a move → JSON, which nobody changes; `read` takes it back
    short: Callable[[M], str]  # a move as people write it; `read(typed(…))` takes it back
    show: Callable[[P, tuple[str, str]], object]  # a position and the players' names → JSON, by msgspec
    draw: Callable[..., str]  # draw(position, last=None): a position, and the move that led there → SVG
    pace: Pace  # the default; a tournament may choose its own
    faults: Literal["retry", "forfeit"]  # what an illegal move costs: another try, or the match
    ply_limit: int | None = None  # the default: drawn after this many plies; None where the rules end it
    evaluate: Callable[[P], float] | None = None  # how good for seat 0: −1 … 1; helps the house brains
    solver: Callable[[], Worth[P]] | None = None  # begins perfect play for one match, where it is known
    variants: tuple[Mapping[str, object], ...] = ()  # settings of its options, for the page and for tests
    lots: bool = False  # at the open table lots decide who begins; otherwise players take turns
    opponents: tuple[Opponent, ...] = ()  # house players at the open table
    spell: Callable[[M, P], str] | None = None  # a move in words, from the position before it; None: `short`
    spot: Callable[[M, P], str] | None = None  # where a move is clicked in the drawing, as SVG; None: nowhere

    @property
    def options(self) -> Mapping[str, object]:
        """The game's own options, each with its default; `ply_limit` is one of every game."""
        return _options(self.start)

    def spelled(self, move: M, before: P) -> str:
        """A move as spectators read it; bots and whoever types them write it as `short` does."""
        return self.short(move) if self.spell is None else self.spell(move, before)

    def opening(self, options: Mapping[str, object]) -> P:
        """The first position under `options`, which come from a file or a stranger."""
        self.longest(options)
        own = {name: value for name, value in options.items() if name != PLY_LIMIT}
        for name in own:
            if name not in self.options:
                expected = ", ".join((*self.options, PLY_LIMIT))
                raise BadOption(f"{self.title} has no option {quoted(name)}; its options: {expected}")
        return self.start(**own)

    def longest(self, options: Mapping[str, object]) -> int | None:
        """After how many plies a match under `options` is drawn; None where the rules end it."""
        if PLY_LIMIT not in options:
            return self.ply_limit
        plies = options[PLY_LIMIT]
        if type(plies) is not int or not 1 <= plies <= PLIES:
            raise BadOption(f"{PLY_LIMIT} has to be a number from 1 to {PLIES}, not {quoted(plies)}")
        return plies


@cache
def _options(start: Callable[..., object]) -> Mapping[str, object]:
    """Cached, because `signature` takes as long as a move of a match."""
    return {name: option.default for name, option in signature(start).parameters.items()}


class Quoted(str):
    """What a bot sent, quoted already."""

    __slots__ = ()


def quoted(sent: Any) -> str:
    """What a bot sent, as a message may repeat it: escaped, short, and never an error itself."""
    match sent:
        case Quoted():
            return sent
        case int() if abs(sent) >= 10**SHOWN:
            return f"a number of more than {SHOWN} digits"
        case str():
            text = json.dumps(sent[: SHOWN + 1])
        case bool() | int() | float() | None:
            text = json.dumps(sent)
        case [*items] if _short_numbers(items):
            text = json.dumps(items)
        case [*items]:
            return f"a list of {len(items)}"
        case {**items}:
            return f"an object of {len(items)}"
        case _:
            return f"a {type(sent).__name__}"
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _short_numbers(sent: Sequence[Any]) -> bool:
    return len(sent) < 10 and all(type(item) is int and abs(item) < 1_000_000 for item in sent)


def typed(text: str) -> object:
    """What a person typed: JSON where it is JSON, else the words themselves.

    NaN and half a character, as in `"\\ud800"`, are no JSON: what repeats them can be neither sent nor kept.
    """
    try:
        return decode(text)
    except (ValueError, RecursionError):  # msgspec's errors are of the former kind
        return text
