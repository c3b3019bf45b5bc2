"""The words of the house protocol: what a bot may say and what it is told, as types.

A message is one JSON object, whatever carries it. What bots say is read here,
and what happens in a match is put into words; `docs/protocols/house.md` is the
page for their authors. `python -m server.protocols.house.messages` writes the grammar as
a JSON Schema, which is `docs/protocols/house.schema.json`.

Not here: what is said when (`server/protocols/house/talk.py`).
"""

import sys
from codecs import BOM_UTF8
from inspect import cleandoc
from typing import Annotated, Any, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from games.game import Pace, quoted, typed
from server.export.json_views import causes_shown
from server.host.misfits import UNREADABLE, misfit, unreadable
from tournament.causes import moved_by
from tournament.events import Ended, Ending, Fault
from tournament.match import Match
from tournament.notes import Taken
from tournament.player import Seat

PROTOCOL = 1
OBJECT = b"{", BOM_UTF8  # how a JSON object begins, or what was meant as one: no move begins with either
MOST_SPENT = 1_000_000.0  # seconds that a bot may say it has spent on a move: eleven days
Count = Annotated[int, Meta(ge=0, le=2**31)]


class Question(Struct, frozen=True):
    """What a move says that it answers."""

    match: str | None = None
    ply: Count | None = None


NO_QUESTION = Question()


class Unreadable(ValueError):
    """What a bot said is not a message. The sentence is for its author."""

    def __init__(self, sentence: str, answers: Question = NO_QUESTION) -> None:
        super().__init__(sentence)
        self.answers = answers  # the question, if it was meant to be a move that names one


class FromBot(Struct, frozen=True, tag_field="type", tag=str.lower):
    """What a bot may say. Fields that are not known are passed over."""


class Hello(FromBot, frozen=True):
    """Come in, or come back; the first message."""

    name: str
    game: str
    token: str | None = None  # of the last welcome: takes one's place over from any other connection
    tournament: str | None = None  # None: the host finds a place
    protocol: int = PROTOCOL
    matches: Annotated[int, Meta(ge=1, le=2**31)] | None = None  # None: any number
    version: Annotated[str, Meta(max_length=64)] | None = None  # of the bot, in its own words
    against: str | None = None  # the only opponent that it wants, at the open table; None: anybody
    person: bool = False  # plays by hand


class Move(FromBot, frozen=True):
    """Answer the question that `match` and `ply` name; if they are left out, the one that is asked now."""

    move: Any  # as the game writes it, or the short text that people type
    match: str | None = None
    ply: Count | None = None
    spent: Annotated[float, Meta(ge=0, le=MOST_SPENT)] | None = None  # seconds that the bot has thought
    note: Taken | None = None  # kept with the move, and shown when the match is over


class Resign(FromBot, frozen=True):
    """Lose the match."""

    match: str | None = None


class AskState(FromBot, frozen=True, tag="state"):
    """Be told the last `turn` again, with the clocks as they are now."""


class Bye(FromBot, frozen=True):
    """Leave, and not come back: what is being played is lost."""


class ToBot(Struct, frozen=True, kw_only=True, tag_field="type", tag=str.lower):
    """What a bot is told. More fields may come with time; a bot passes over what it does not know."""

    seq: Count | UnsetType = UNSET  # 1, 2, 3 … where a transport resumes by it


class Welcome(ToBot, frozen=True):
    """The bot is in. With `name` and `token` it may come back over any transport."""

    name: str
    token: str
    game: str
    tournament: str | None  # None: the open table


class Begin(ToBot, frozen=True):
    """A match, which begins or is gone on with."""

    match: str
    you: str  # this bot's seat, as the game calls it
    players: tuple[str, str]  # in the order of the seats
    clock: Pace  # seconds; null where there is no limit
    state: Any
    options: dict[str, Any] | UnsetType = UNSET  # of the game, where it has others than usual
    moves: list[Any] | UnsetType = UNSET  # what has been played, where that is something
    restarted: bool | UnsetType = UNSET  # true: the host has been, and `moves` are what it has kept of them


class Turn(ToBot, frozen=True):
    """How things stand, to both players and after every change; whoever `turn` names is asked."""

    match: str
    ply: Count  # how many moves have been played
    turn: str | None  # the seat to move; None: the match is over
    last: Any  # the last move as the game writes it; None: there was none
    state: Any
    clock: tuple[float | None, float | None]  # seconds left, in the order of the seats; None: no limit


class Refused(ToBot, frozen=True, kw_only=True):
    """Something the bot said had no effect; with a `ply`, it was a move."""

    match: str | UnsetType = UNSET
    ply: Count | UnsetType = UNSET
    reason: str


class End(ToBot, frozen=True):
    """A match is over."""

    match: str
    winner: str | None  # a seat, or "draw"; None: nobody has won, and it is no draw
    ending: Ending
    why: str
    replay: str  # where it can be seen, on the host's HTTP port
    fault: Fault | None  # whose fault it is that it was not played to its end; None: nobody's
    cause: list[dict[str, Any]]  # what led to the end, oldest first: {"at","kind",…}
    receipt: str  # a head of the journal's chain that holds this result, in hexadecimal


class Standings(ToBot, frozen=True):
    """The bot's tournament is over. It may say hello again."""

    tournament: str
    final: bool
    rows: list[dict[str, Any]]
    frozen: bool | UnsetType = UNSET  # true where an organiser has frozen them: more was played since


Said = Hello | Move | Resign | AskState | Bye
Told = Welcome | Begin | Turn | Refused | End | Standings

encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Said).decode
_SAID = {each.__struct_config__.tag: each for each in get_args(Said)}


def read(message: bytes, most: int) -> Said:
    """What a bot said; raises `Unreadable`. What is not a JSON object is a move as people type it."""
    if len(message) > most:
        raise Unreadable(f"a message may have {most} bytes, and this one has {len(message)}")
    try:
        if message.lstrip().startswith(OBJECT):
            return _fitting(message)
        return Move(move=typed(message.decode().strip()))
    except msgspec.ValidationError:
        raise Unreadable("a number in this message is too large") from None
    except UNREADABLE as error:
        if str(error).endswith("truncated"):  # some libraries write an object in several lines by themselves
            raise Unreadable(f"this is not JSON: {error}; over TCP a message is one line") from None
        raise Unreadable(unreadable(error, "message", message)) from None


def _fitting(message: bytes) -> Said:
    """A JSON object as a message; raises `Unreadable`, which names the field that does not fit."""
    try:
        return _decode(str(message, "utf-8"))  # so that skipped parts have to be UTF-8 as well
    except msgspec.ValidationError:
        given = msgspec.json.decode(message, type=dict[str, Any])  # raises if it is no JSON at all
    try:
        return msgspec.convert(given, Said)  # of two types, as of any other two keys, the last one counts
    except msgspec.ValidationError as error:
        raise Unreadable(_misfit(error, given), _question(given)) from None


def _misfit(error: msgspec.ValidationError, given: dict[str, Any]) -> str:
    if "type" not in given:
        return f"type is required, and is missing; there are: {', '.join(map(str, _SAID))}"
    kind = given["type"]
    if not isinstance(kind, str) or kind not in _SAID:
        return f"type: expected one of {', '.join(map(str, _SAID))}, not {quoted(kind)}"
    return f"this {kind} does not fit: {misfit(error, given, _SAID[kind])}"


def _question(given: dict[str, Any]) -> Question:
    """What a message says that it answers, as far as that can be read."""
    try:
        return msgspec.convert(given, Question) if given.get("type") == "move" else NO_QUESTION
    except msgspec.ValidationError:
        return NO_QUESTION


def begin(seat: Seat, ply: int) -> Begin:
    """What a bot is told when it is dealt a seat, or comes back to one after this many plies."""
    return begun(seat.match, seat.index, ply)


def begun(match: Match, seat: int, ply: int) -> Begin:
    """The same, for a seat that is held in another way."""
    state = match.game.show(match.positions[ply], match.names)
    options = dict(match.options) or UNSET
    moves, restarted = list(match.moves[:ply]) or UNSET, match.interrupted or UNSET
    you, pace = match.game.seats[seat], match.clock.pace
    return Begin(match.name, you, match.names, pace, state, options, moves, restarted)


def turn(match: Match, ply: int, at: float) -> Turn:
    """How a match stood after this many plies, with the clocks as they are `at` that time."""
    position, names = match.positions[ply], match.names
    mover: int = position.turn
    over = position.outcome is not None or (match.log.closed and ply == match.ply)
    first, second = match.left(at)
    return Turn(
        match.name,
        ply,
        None if over else match.game.seats[mover],
        match.moves[ply - 1] if ply else None,
        match.game.show(position, names),
        (_seconds(first), _seconds(second)),
    )


def turned(match: Match, ply: int, at: float) -> bytes:
    """The same, as it is sent."""
    return encode(turn(match, ply, at))


def end(match: Match, ended: Ended) -> End:
    draw = "draw" if ended.ending is Ending.PLAYED else None
    winner = draw if ended.winner is None else match.game.seats[ended.winner]
    return End(
        match.name,
        winner,
        ended.ending,
        ended.why,
        f"/matches/{match.name}",
        ended.fault,
        causes_shown(moved_by(ended.cause, match.epoch)),
        match.receipt,
    )


def ended(match: Match, event: Ended) -> bytes:
    """The same, as it is sent."""
    return encode(end(match, event))


def _seconds(left: float | None) -> float | None:
    return None if left is None else round(left, 3)


def schema() -> dict[str, Any]:
    """The grammar as a JSON Schema: `FromBot` and `ToBot` say which messages there are."""
    grammar: dict[str, Any] = {}
    (said, told), parts = msgspec.json.schema_components((Said, Told), ref_template="#/$defs/{name}")
    for part in parts.values():
        if "description" in part:  # a docstring, which newer Pythons have without its indentation
            part["description"] = cleandoc(part["description"])
    grammar["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    grammar["title"] = f"The house protocol, version {PROTOCOL}"
    grammar["anyOf"] = [{"$ref": "#/$defs/FromBot"}, {"$ref": "#/$defs/ToBot"}]
    grammar["$defs"] = {"FromBot": said, "ToBot": told, **parts}
    return grammar


def schema_text() -> str:
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
