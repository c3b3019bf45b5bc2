"""Santorini as the memo has it, to the byte: a name, and then moves for states.

A `Memo` is one bot's side of it, without I/O: lines in, lines out. After every
change both bots are sent the state as one JSON array; whose turn it is answers
`x y` or `w x y`. Nothing else is ever sent to a bot that has said no more than
its name, so that it may parse every line as a state: a move that may not be
played is answered with the unchanged state, and why is logged.

`docs/protocols/santorini.md` is the page for authors of bots.
"""

import re
from collections.abc import Callable
from typing import Any, assert_never

import msgspec
import structlog
import trio

from games.game import Illegal
from server.host.host import Host
from server.host.names import BadName
from server.host.reception import Unwelcome, Visit
from server.host.wire_log import NO_TAPE
from server.net.limits import Limits
from server.net.outbox import Say
from server.protocols.common.encode_once import Once
from server.protocols.common.talk_budget import Patience
from server.protocols.common.tournament_end import when_over
from tournament.events import AnyEvent, Began, Ended, Moved, Refused
from tournament.match import Match, OutOfTurn
from tournament.player import Seat
from tournament.record import AnyFact
from tournament.tournament import Tournament

GAME = "santorini"  # whoever says no more than a name has come to play this
NOT_NAMES = re.compile(r"[A-Z]+ \S+ HTTP/\d|SSH-\d")  # how the first lines of other protocols begin

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()
encode = msgspec.json.Encoder().encode
once = Once()  # both bots are sent the same bytes


class Memo:
    """One bot's side of Santorini as the memo has it."""

    def __init__(
        self,
        host: Host,
        put: Say,
        hang_up: Callable[[str], None],
        peer: str,
        authenticated: Callable[[], None],
    ) -> None:
        self.asked = 0  # how many questions this bot has been asked
        self.arriving = True  # until it is let in or refused
        self._host = host
        self._put = put
        self._hang_up = hang_up
        self._peer = peer
        self._authenticated = authenticated
        self._patience = Patience(host.limits, trio.current_time())
        self._gone = False
        self._visit: Visit | None = None
        self._seat: Seat | None = None
        self._tape = NO_TAPE
        self._stop_waiting: Callable[[], None] = lambda: None

    def arrive(self, line: bytes) -> None:
        """Take the line with the name; whoever may not come in is told why, in plain text."""
        try:
            self._host.guard.start_soon(self._arrive, spoken_name(line, self._host.limits))
        except BadName as error:
            self._refuse(str(error))

    def hear(self, message: bytes, at: float, fresh: bool) -> None:
        """Take one line. What is no answer to a question has no effect."""
        self._tape.heard(message, at)
        answer = message.strip(b" \t\r")
        if not self._patience.message(at):
            self.give_up("too many lines")
        elif not answer:
            pass  # some bots end their lines twice
        elif self._seat is None or not self._seat.to_move:
            self._junk(at)
        elif not fresh:
            self._junk(at)
            self._say(state(self._seat.match, self._seat.match.ply))
        else:
            self._play(self._seat, answer.decode("utf-8", "replace"), at)

    def give_up(self, reason: str) -> None:
        player = None if self._visit is None else self._visit.player.name
        log.info("cut", peer=self._peer, player=player, why=reason)
        self._hang_up(reason)

    def gone(self) -> None:
        self._gone = True
        self._stop_waiting()
        if self._visit is not None:
            self._visit.leave()

    async def _arrive(self, name: str) -> None:
        try:
            visit = await self._host.arrive(name, GAME, keeps=False, peer=self._peer)
        except Unwelcome as refusal:
            self._refuse(str(refusal))
            return
        finally:
            self.arriving = False
        if self._gone:
            visit.leave()
            return
        self._visit, player = visit, visit.player
        player.dealt = self._dealt
        self._stop_waiting = when_over(self._host, player.place or "", self._tournament_over)
        self._authenticated()

    def _tournament_over(self, tournament: Tournament, fact: AnyFact) -> None:
        self._hang_up(f"{tournament.record.name} is over")

    def _refuse(self, reason: str) -> None:
        self._say(reason.encode() + b"\n")
        self._hang_up(reason)

    def _dealt(self, seat: Seat) -> None:
        self._seat, self._tape = seat, self._host.wires.tape(seat, self._visit)
        seat.follow(self._tell)

    def _play(self, seat: Seat, answer: str, at: float) -> None:
        try:
            seat.play(answer, at)
        except OutOfTurn:
            pass  # it came too late
        except Illegal as refusal:
            log.info("refused", match=seat.match.name, player=seat.match.names[seat.index], why=str(refusal))

    def _tell(self, event: AnyEvent) -> None:
        seat = self._seat
        if seat is None:
            return
        match = seat.match
        match event:
            case Moved(ply=ply):
                if match.verdict is None or not _last(match, ply):
                    self._show(once(event, state, match, ply), seat.to_move, event.at)
            case Began():
                self._show(once(event, state, match, 0), seat.to_move)
            case Refused(ply=ply):
                if event.seat == seat.index and not _last(match, ply):
                    self._show(state(match, ply), seat.to_move, event.at)
            case Ended():
                self._seat = None
                self._say(once(event, final, match, event))
                self._tape = NO_TAPE
            case _:
                assert_never(event)

    def _show(self, line: bytes, asked: bool, at: float | None = None) -> None:
        """Send the bot a state; if it names the bot, that is a question."""
        self._say(line, asked, at)
        if asked:
            self.asked += 1
            self._patience.asked()

    def _say(self, line: bytes, urgent: bool = True, at: float | None = None) -> None:
        self._tape.told(line, at)
        self._put(line, urgent)

    def _junk(self, at: float) -> None:
        if not self._patience.junk(at):
            self.give_up("too many lines out of turn")


def spoken_name(line: bytes, limits: Limits) -> str:
    """The name in a first line, which may be a JSON string; raises `BadName`."""
    if len(line) > limits.line_bytes:
        raise BadName(f"a name is no line of {len(line)} bytes")
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


def state(match: Match, ply: int) -> bytes:
    """The memo's array, as a line."""
    return encode(match.game.show(match.positions[ply], match.names)) + b"\n"


def final(match: Match, ended: Ended) -> bytes:
    """The array at the end, whichever way it came: who is named has won."""
    shown: Any = match.game.show(match.position, match.names)
    winner = "Draw" if ended.winner is None else match.names[ended.winner]
    return encode(["gameOver", winner, *shown[2:]]) + b"\n"


def _last(match: Match, ply: int) -> bool:
    """Whether nothing came after that ply but the end, which will tell of both."""
    return match.verdict is not None and match.log.closed and ply == match.ply
