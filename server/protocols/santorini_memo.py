"""Santorini as the memo has it, byte for byte: a name, and then moves for states.

A `Memo` is one bot's side of it, without I/O: lines in, lines out. After every
change both bots are sent the state as one JSON array; the bot whose turn it is
answers `x y` or `w x y`. Nothing else is ever sent to a bot that has said no more
than its name, so that it may parse every line as a state: a move that may not be
played is answered with the unchanged state, and the reason is logged. Only a name that
it may not have is refused in words.

`docs/protocols/santorini.md` is the page for authors of bots.
"""

import re
from typing import Any, assert_never

import msgspec
import structlog
import trio

from games.game import Illegal
from server.host.abroad import Wanted
from server.host.names import BadName
from server.host.unwelcome import ComeAgain, Unwelcome
from server.host.view import HeldTournament
from server.host.visits import Visit
from server.net.limits import Limits
from server.net.time_limits import within
from server.protocols.common.attendance import Attendance
from server.protocols.common.encode_once import OnceEncoder
from server.protocols.common.states import State
from server.protocols.dialect import Channel, Dialect, OverTcp
from tournament.events import AnyEvent, Began, Ended, Incident, Moved, Refused, absences
from tournament.facts import AnyFact
from tournament.match import Match, OutOfTurn
from tournament.player import Seat
from tournament.verdicts import shut_out

USUAL = Limits()
DOOR = GAME = "santorini"  # the game of bots that say no more than a name
HANGING_UP = 5.0  # seconds that a program which plays a single game may take to end after it
NOT_NAMES = re.compile(r"[A-Z]+ \S+ HTTP/\d|SSH-\d")  # beginnings of first lines in other protocols

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()
encode = msgspec.json.Encoder().encode
encode_once = OnceEncoder()  # both bots are sent the same bytes


class Memo:
    """One bot's side of Santorini as the memo has it."""

    __slots__ = ("_channel", "_put", "attendance")

    def __init__(self, channel: Channel) -> None:
        self.attendance = Attendance(
            channel.host,
            channel.peer,
            tell=self._tell,
            replaced=self._hang_up,
            tournament_over=self._tournament_over,
        )
        self._channel = channel
        self._put = channel.say

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one line. The first has the name; a later one that answers nothing has no effect."""
        here = self.attendance
        if here.state is State.SILENT:
            self._come(message)
            return
        answer = message.strip(b" \t\r")
        if not here.budget.message(at, empty=not answer):
            self.give_up("too many lines")
        elif not answer:
            pass
        elif here.seat is None or not here.seat.to_move:
            self._junk(at)
        elif not fresh:
            self._junk(at)
            self._say(state(here.seat.match, here.seat.match.ply))
        else:
            self._play(here.seat, answer.decode("utf-8", "replace"), at)

    def give_up(self, reason: str) -> None:
        """Hang up without a word."""
        log.info("cut", peer=self._channel.peer, player=self.attendance.name, why=reason)
        self.attendance.note_cut(reason)
        self._hang_up(reason)

    def gone(self) -> None:
        self.attendance.lost()

    def remembered(self) -> str:
        return ""  # the bot is known by its match

    def acknowledged(self) -> None:
        """Nothing: its bots have no tokens."""

    def came_back(self, *, over: bool) -> None:
        if over:
            self._match_over()

    def _match_over(self) -> None:
        """The bot has been told. If it plays one match over a connection, it is about to hang up."""
        visit, host = self.attendance.visit, self._channel.host
        self.attendance.hangs_up = True
        if visit is not None and host.one_match_each.is_known(visit.key):
            visit.player.set_ready(False)
            host.guard.start_soon(self._await_hang_up, visit)
        self.attendance.ended()

    async def _await_hang_up(self, visit: Visit) -> None:
        with within(HANGING_UP):
            await trio.sleep_forever()
        if visit.current:
            self._channel.host.one_match_each.forget(visit.key)
            visit.player.set_ready(True)

    def _come(self, line: bytes) -> None:
        """Let a bot in by its first line, or tell it in plain text why it may not have that name."""
        try:
            name = spoken_name(line, self._channel.host.limits)
        except BadName as error:
            self._refuse(str(error))
        else:
            self.attendance.come(
                name,
                GAME,
                self._channel.authenticated,
                admitted=lambda visit: None,  # the bot is told nothing before its match
                refused=self._turn_away,
                keeps=False,
                door=DOOR,
            )

    def _tournament_over(self, tournament: HeldTournament, fact: AnyFact) -> None:
        self._hang_up(f"{tournament.record.name} is over")

    def _turn_away(self, why: Unwelcome) -> None:
        if isinstance(why, ComeAgain):
            self._hang_up(str(why))
        else:
            self._refuse(str(why))

    def _refuse(self, reason: str) -> None:
        self._say(reason.encode() + b"\n")
        self._hang_up(reason)

    def _hang_up(self, reason: str) -> None:
        if not self.attendance.over:
            self.attendance.hang_up()
            self._channel.hang_up(reason)

    def _play(self, seat: Seat, answer: str, at: float) -> None:
        try:
            seat.play(answer, at)
        except OutOfTurn:
            pass  # the move came too late
        except Illegal as refusal:
            log.info("refused", match=seat.match.name, player=seat.match.names[seat.index], why=str(refusal))

    def _tell(self, event: AnyEvent) -> None:
        seat = self.attendance.seat
        if seat is None:
            return
        match = seat.match
        match event:
            case Moved(ply=ply):
                if match.verdict is None or not _last(match, ply):
                    self._show(encode_once(event, state, match, ply), match.to_move == seat.index, event.at)
            case Began():
                self._show(encode_once(event, state, match, 0), seat.to_move)
            case Refused(ply=ply):
                if event.seat == seat.index and not _last(match, ply):
                    self._say(state(match, ply), at=event.at)
                    self.attendance.ask_again()
            case Ended():
                self._say(encode_once(event, final, match, event))
                self._match_over()
            case Incident():
                pass  # the memo is older than these events
            case _:
                assert_never(event)

    def _show(self, line: bytes, asked: bool, at: float | None = None) -> None:
        """Send the bot a state; if it names the bot, that is a question."""
        here = self.attendance
        here.tape.told(line, at)  # not by `_say`, because this runs for every move
        self._put(line, asked)
        if asked:
            here.ask()

    def _say(self, line: bytes, urgent: bool = True, at: float | None = None) -> None:
        self.attendance.tape.told(line, at)
        self._put(line, urgent)

    def _junk(self, at: float) -> None:
        if not self.attendance.budget.junk(at):
            self.give_up("too many lines out of turn")


def spoken_name(line: bytes, limits: Limits) -> str:
    """The name in a first line, which may be a JSON string; raises `BadName`."""
    if len(line) > limits.line_bytes:
        raise BadName(f"a line of {len(line)} bytes is too long for a name")
    try:
        text = line.decode().strip(" \t\r")
    except UnicodeDecodeError:
        raise BadName("a name is UTF-8, and this is not") from None
    if NOT_NAMES.match(text):
        raise BadName("this is no web server: the first line is the name of a bot")
    if text[:1] == '"':
        try:
            return msgspec.json.decode(text, type=str)
        except msgspec.MsgspecError:
            raise BadName(
                "a name that begins with a quotation mark is a JSON string, and this is not"
            ) from None
    return text


def wanted(line: bytes) -> Wanted | None:
    """Where a bot with this first line wants to play."""
    try:
        return Wanted(spoken_name(line, USUAL), GAME, None, door=DOOR)
    except BadName:
        return None


def state(match: Match, ply: int) -> bytes:
    """The memo's array, as a line."""
    return encode(match.game.show(match.positions[ply], match.names)) + b"\n"


def final(match: Match, ended: Ended) -> bytes:
    """The array at the end, whatever the reason: the name in it has won."""
    shown: Any = match.game.show(match.position, match.names)
    return encode(["gameOver", _winner(match, ended), *shown[2:]]) + b"\n"


def _winner(match: Match, ended: Ended) -> str:
    """The winner's name. On this wire the one who stays wins, even a match that counts for nothing."""
    if ended.winner is not None:
        return match.names[ended.winner]
    first, second = match.names
    for gone, stayed in ((first, second), (second, first)):
        if ended.why in (*absences(gone), shut_out(gone)):
            return stayed
    return "Draw"


def _last(match: Match, ply: int) -> bool:
    """Whether only the end came after that ply, and will tell both."""
    return match.verdict is not None and match.log.closed and ply == match.ply


DIALECT = Dialect(
    name=DOOR,
    title="Santorini",
    carried_by=(
        OverTcp(
            speak=Memo,
            goes_on=lambda channel, words: Memo(channel),
            recognises=None,
            longest=lambda limits: limits.line_bytes,
            wanted=wanted,
            comes_again=False,
        ),
    ),
    games=(GAME,),
)
