"""The tools that a language model plays with: what each takes, what it is for, and what it does.

Each returns words for the model and a message of the house protocol. Whatever a model may do about a
failure (another move, another name) is a result that says so; it is no error of the protocol.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from games.catalogue import catalogue
from games.game import quoted
from server.export.game_views import game_shown
from server.export.json_views import row_shown, tournament_summed
from server.host.boards import NoBoard
from server.host.host import Host
from server.host.misfits import misfit
from server.host.opening import OPEN
from server.host.unwelcome import Guessing
from server.http.exchange import Exchange
from server.protocols.mcp import words
from server.protocols.mcp.place import WAITING, Place
from server.protocols.mcp.places import Full, Places
from server.protocols.mcp.sessions import Session
from tournament.facts import State
from tournament.player import Seat

LISTED = 100  # tournaments, or rows of standings: what fits in a prompt
# What a bot needs of a tournament to choose one, under the names that the API has for it.
OF_TOURNAMENTS = frozenset(
    {
        "tournament",
        "game",
        "format",
        "state",
        "entrants",
        "wanted",
        "rounds",
        "options",
        "pace",
        "by_invitation",
        "start_at",
        "checking_in",
        "group",
    }
)

Token = Annotated[str, Meta(description="The token that join returned. With a session it may be left out.")]
Earlier = Annotated[str, Meta(description="The token of an earlier join under this name, to come back.")]
Entered = Annotated[str, Meta(description="The name of a tournament. If left out, the host finds a place.")]
Opponent = Annotated[str, Meta(description="The only opponent that you want to meet, such as random.")]
Note = Annotated[Any, Meta(description="Kept with the move: up to 500 characters, or an object of numbers.")]
Seconds = Annotated[float, Meta(ge=0, description="How many seconds to wait; the host allows about 25.")]


class ToolResult(Struct, frozen=True):
    """What a tool returns."""

    text: str
    message: Mapping[str, Any]
    failed: bool = False


class ToolCall(Struct, frozen=True):
    """One call of a tool, as the functions that carry it out see it."""

    exchange: Exchange
    host: Host
    places: Places
    session: Session | None
    place: Place | None  # whose token it brings, or its session remembers
    token: str | None  # that it brings


class Mine(Struct, frozen=True):
    token: Token | None = None


class Join(Struct, frozen=True):
    name: Annotated[str, Meta(description="What you want to be called.")]
    game: Annotated[str, Meta(description="The name of the game as games lists it, such as connect-4.")]
    tournament: Entered | None = None
    against: Opponent | None = None
    token: Earlier | None = None


class Wait(Struct, frozen=True):
    seconds: Seconds | None = None
    token: Token | None = None


class MakeMove(Struct, frozen=True):
    move: Annotated[Any, Meta(description="The move, as legal_moves writes it or as JSON.")]
    note: Note = None
    token: Token | None = None


class OfTournament(Struct, frozen=True):
    tournament: Annotated[str, Meta(description="The name of the tournament.")]
    token: Token | None = None


# What they do


async def games(call: ToolCall, asked: Mine) -> ToolResult:
    found = catalogue().values()
    return ToolResult("\n\n".join(map(words.described, found)), {"games": [*map(game_shown, found)]})


async def tournaments(call: ToolCall, asked: Mine) -> ToolResult:
    listed = latest(call.host)
    return ToolResult("\n".join([*map(words.tournament, listed), words.OPEN_TABLES]), {"tournaments": listed})


def latest(host: Host) -> list[dict[str, Any]]:
    """The latest tournaments that are not over. There may be thousands, and only those told are looked at."""
    on = (each for each in host.latest_going_on if not each.name.startswith(OPEN))
    return [
        {
            key: each
            for key, each in tournament_summed(record, (), None, None).items()
            if key in OF_TOURNAMENTS
        }
        for record in reversed([*islice(on, LISTED)])
    ]


async def join(call: ToolCall, asked: Join) -> ToolResult:
    place, who, before = call.place, (asked.name, asked.game), None
    if place is not None and place.finished is not None:
        _leave(call, place)
    elif place is not None and place.over is None:
        if who == (place.name, place.game):
            if place.fits(asked.tournament, asked.against):
                return _welcomed(call, place)
            if (seat := place.seat) is not None:
                return _refused(f"you are playing match {seat.match.name}: end it or resign it first")
            if place.tournament is not None:
                return _refused(f"you are in {place.tournament}: leave first to play elsewhere")
            before, asked = place, structs.replace(asked, token=place.token)
        elif asked.token is not None:
            return _refused(f"this token is that of {place.name}, who plays {place.game}: leave first")
    if not asked.token:
        call.places.give_back(asked.name, asked.game, call.exchange)
    try:
        place = call.places.make(call.exchange, before)
    except Full as full:
        return _refused(str(full))
    given = {key: value for key, value in msgspec.to_builtins(asked).items() if value}  # "" is none of these
    hello = {"type": "hello", "name": asked.name, "game": asked.game, **given}
    answer = await place.come(hello)
    if place.welcome is None:
        call.places.forget(place)
        if before is not None and before.over is not None:  # and nobody else has taken over
            before.over = "your last join was refused, and you are in no longer"
        return ToolResult(words.refused(answer), answer, failed=True)
    call.places.add(place)
    if before is not None:
        place.go_on_after(before)
    return _welcomed(call, place)


async def wait(call: ToolCall, asked: Wait) -> ToolResult:
    place, most = _held(call), call.host.limits.poll_seconds
    seconds = most if asked.seconds is None else min(asked.seconds, most)
    news = await place.wait(seconds, call.exchange)
    return _moment(place if news is not None else _mine(call), news)


async def position(call: ToolCall, asked: Mine) -> ToolResult:
    place = _mine(call)
    if (seat := place.seat) is not None:
        return _moment(place, place.position(seat))
    return _moment(place, place.last)


async def legal_moves(call: ToolCall, asked: Mine) -> ToolResult:
    place = _mine(call)
    if (seat := place.seat) is None:
        return _moment(place, None)
    match = seat.match
    moves = [match.game.short(move) for move in match.position.moves()]
    return ToolResult(words.legal(seat, moves), place.position(seat) | {"legal_moves": moves})


async def move(call: ToolCall, asked: MakeMove) -> ToolResult:
    place = _mine(call)
    seat = place.seat
    refused = place.play(asked.move, asked.note, call.exchange.request.arrived)
    if refused is not None:
        again = place.seat is not None and place.seat.to_move
        return ToolResult(words.refused(refused, again=again), refused, failed=True)
    return await _after(call, place, seat)


async def resign(call: ToolCall, asked: Mine) -> ToolResult:
    place = _mine(call)
    seat = place.seat
    refused = place.resign(call.exchange.request.arrived)
    if refused is not None:
        return ToolResult(words.refused(refused), refused, failed=True)
    return await _after(call, place, seat)


async def standings(call: ToolCall, asked: OfTournament) -> ToolResult:
    held = call.host.find(asked.tournament)
    if held is None:
        if call.host.vacant(asked.tournament) is None:
            return _refused(f"there is no tournament {quoted(asked.tournament)}")
        return _table(asked.tournament, (), final=False)
    try:
        record, board = await call.host.boards.public(held.record)
    except NoBoard as error:
        return _refused(str(error))
    rows = [row_shown(row, record.format.order) for row in board.rows[:LISTED]]
    final, frozen = held.record.state is State.FINISHED, record.frozen is not None
    return _table(record.name, rows, final=final, frozen=frozen)


def _table(
    tournament: str, rows: Sequence[Mapping[str, Any]], *, final: bool, frozen: bool = False
) -> ToolResult:
    message = {"type": "standings", "tournament": tournament, "final": final, "rows": rows}
    message |= {"frozen": True} if frozen else {}
    return ToolResult(words.ranked(message), message)


async def leave(call: ToolCall, asked: Mine) -> ToolResult:
    place = _mine(call)
    _leave(call, place)
    return ToolResult(f"{place.name} has left.", {"type": "bye"})


def _leave(call: ToolCall, place: Place) -> None:
    place.leave(call.exchange.request.arrived)
    call.places.forget(place)
    if call.session is not None:
        call.session.token = None


class Tool(Struct, frozen=True):
    name: str
    does: str  # for the model
    takes: type[Struct]
    run: Callable[[ToolCall, Any], Awaitable[ToolResult]]
    reads: bool = False  # changes nothing


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("games", "List the games that can be played here, with their rules.", Mine, games, True),
        Tool(
            "tournaments",
            "List the tournaments that take entrants or are being played.",
            Mine,
            tournaments,
            True,
        ),
        Tool(
            "join",
            "Join under a name, to play a game. Returns the rules, and the token that all other tools take.",
            Join,
            join,
        ),
        Tool(
            "wait",
            "Wait until it is your move, a match has ended or the time is up. Call it again and again: "
            "you get matches only while you wait.",
            Wait,
            wait,
        ),
        Tool("position", "Get the state of your match.", Mine, position, True),
        Tool("legal_moves", "List every legal move, written the way move takes it.", Mine, legal_moves, True),
        Tool("move", "Make a move, when it is your turn.", MakeMove, move),
        Tool("resign", "Resign your match: you lose it.", Mine, resign),
        Tool("standings", "Get the standings of a tournament.", OfTournament, standings, True),
        Tool("leave", "Leave for good. You lose a match that is being played.", Mine, leave),
    )
}


@cache
def listed() -> list[dict[str, Any]]:
    """The tools as `tools/list` has them. Making their schemas takes as long as twenty other requests."""
    return [
        {
            "name": tool.name,
            "description": tool.does,
            "inputSchema": _schema(tool.takes),
            "annotations": {"readOnlyHint": tool.reads, "openWorldHint": False},
        }
        for tool in TOOLS.values()
    ]


async def called(call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
    try:
        asked = msgspec.convert(arguments, tool.takes)
    except msgspec.ValidationError as error:
        return _refused(f"these arguments do not fit {tool.name}: {misfit(error, arguments, tool.takes)}")
    try:
        return await tool.run(call, asked)
    except Unseated as unseated:
        return _refused(str(unseated))


class Unseated(Exception):
    """Nobody plays with the token that a call brings. The message is for the model."""


def _held(call: ToolCall) -> Place:
    """The place that a call is about, which may be over; raises `Unseated`."""
    if (place := call.place) is None:
        if call.token is None:
            raise Unseated("join first, and pass the token that it returns")
        try:
            call.host.reception.failed(call.exchange.request.peer, call.token)
        except Guessing as guessing:
            raise Unseated(str(guessing)) from None
        raise Unseated("nobody plays with this token now: join again, under your name and with your token")
    return place


def _mine(call: ToolCall) -> Place:
    """The place where the model plays; raises `Unseated`."""
    place = _held(call)
    if place.over is not None:
        raise Unseated(f"{place.over}. To come back, join again, under your name and with your token")
    return place


async def _after(call: ToolCall, place: Place, seat: Seat | None) -> ToolResult:
    """What a move at that seat has led to: the end, if it decided the match, else how things stand."""
    if seat is None:
        return _moment(place, place.now())
    match = seat.match
    if match.verdict is None:
        return _moment(place, place.position(seat))
    return _moment(place, await place.wait(call.host.limits.poll_seconds, call.exchange, match.name))


def _welcomed(call: ToolCall, place: Place) -> ToolResult:
    if call.session is not None:
        call.session.token, place.session = place.token, call.session
        call.host.on_key(call.session.name)  # from now on it leads here, and not where it has joined before
    return ToolResult(words.welcomed(place.welcome or {}), place.welcome or {})


def _moment(place: Place, message: Mapping[str, Any] | None) -> ToolResult:
    """A message, in words that fit it; None: there is nothing to tell yet."""
    match message:
        case {"type": "turn"} if (seat := place.seat) is not None:
            return ToolResult(words.asked(seat, message), message)
        case {"type": "end", "match": match}:
            return ToolResult(words.ended(message, place.seat_in(match)), message)
        case {"type": "standings"}:
            return ToolResult(f"{words.ranked(message)}\n\n{words.finished(message['tournament'])}", message)
        case _ if place.finished is not None:
            return ToolResult(words.finished(place.finished), WAITING)
        case _:
            where = "it is your opponent's move" if place.seat is not None else "no match has begun"
            return ToolResult(f"Nothing yet: {where}. Call wait again.", WAITING)


def _refused(reason: str) -> ToolResult:
    message = {"type": "refused", "reason": reason}
    return ToolResult(words.refused(message), message, failed=True)


def _schema(takes: type[Struct]) -> dict[str, Any]:
    _, parts = msgspec.json.schema_components((takes,))
    schema = dict(parts[takes.__name__])
    schema.pop("title", None)
    return schema
