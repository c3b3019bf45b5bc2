"""Connect-4 as the c4-arena speaks it: JSON messages over a websocket, at the path `/`.

A `C4Arena` is one bot's side of it, without I/O: messages in, messages out. A
bot says `start`, plays one match, and may `start` again. Everybody is told the
state after every move. Messages that have no effect are answered with `ignored`,
more and more slowly, because a client in use answers each `ignored` with a message
that is ignored as well. A bot is cut off only for junk. A message that is merely
out of step gets no answer if too many wait already, and a state that is asked for
too often is told later, and once.

`server/protocols/websocket.py` deals with framing, paths and limits of frames.
"""

from functools import partial
from typing import assert_never

import structlog
import trio
from msgspec import UNSET, UnsetType

from games.connect4 import GAME
from games.game import Illegal, Opponent
from server.host.abroad import Wanted
from server.host.house_players import HousePlayer, challenge
from server.host.opening import OPEN
from server.host.unwelcome import PlaysElsewhere, Unwelcome
from server.host.view import HeldTournament
from server.host.visits import Visit
from server.protocols.c4arena.messages import (
    AGAINST,
    AT_PLAY,
    DISCONNECTED,
    END,
    INVALID,
    NO_ID,
    NOT_YOUR_TURN,
    ONLY_START,
    OUT_OF_STEP,
    RESERVED,
    TOO_LONG,
    UNKNOWN,
    UNREADABLE,
    WAITING,
    Hello,
    Ignored,
    Move,
    Said,
    Start,
    State,
    StateRequest,
    Unreadable,
    encode,
    read,
    repeated,
)
from server.protocols.c4arena.tarpit import LONGEST, Tarpit
from server.protocols.common import states
from server.protocols.common.attendance import Attendance
from server.protocols.common.encode_once import OnceEncoder
from server.protocols.dialect import Channel
from tournament.events import AnyEvent, Began, Ended, Ending, Incident, Moved, Refused
from tournament.facts import AnyFact
from tournament.facts import State as Stage
from tournament.match import Match, OutOfTurn
from tournament.player import Seat
from tournament.record import Record
from tournament.refusals import taken_out

OPPONENTS = {opponent.name: opponent for opponent in GAME.opponents}
DOOR = "connect-4"
TOO_MANY = "too many messages"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()
encode_once = OnceEncoder()  # both players are told of a move one right after the other


class C4Arena:
    """One bot's side of the c4-arena's protocol. What it says are JSON messages without framing."""

    __slots__ = (
        "_before",
        "_channel",
        "_host",
        "_limits",
        "_may_ask",
        "_opponent",
        "_tarpit",
        "attendance",
    )

    def __init__(self, channel: Channel) -> None:
        self.attendance = Attendance(
            channel.host,
            channel.peer,
            tell=self._tell,
            replaced=self._give_way,
            tournament_over=self._tournament_over,
        )
        self._channel = channel
        self._host = channel.host
        self._limits = channel.host.limits
        self._tarpit = Tarpit(self._say, channel.host.guard)
        self._opponent: HousePlayer | None = None  # which came for this bot, and has not been dealt a seat
        self._may_ask = False  # for the state: it was ignored, and a client in use then asks
        self._before: tuple[str, Record] | None = None  # its id and tournament, when it last said `start`

    # What a transport calls

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one message, which arrived at `at`. Never waits; the bot always gets an answer in time.

        It is not `fresh` if it had been read already when the last position was told.
        """
        if self.attendance.over:
            return
        if (reason := self._understand(message, at, fresh)) is not None:
            self._ignore(message, reason, at)

    def give_up(self, reason: str) -> None:
        log.info("cut", peer=self._channel.peer, player=self.attendance.name, why=reason)
        self.attendance.note_cut(reason)
        self.attendance.hang_up()
        (self._channel.cut or self._channel.hang_up)(reason)

    def _give_way(self, why: str) -> None:
        self.attendance.hang_up()
        self._channel.hang_up(why)

    def _tournament_over(self, tournament: HeldTournament, fact: AnyFact) -> None:
        """Hang up on a bot that waits: there will be no match for it. A bot that plays is told the end."""
        if self.attendance.state is states.State.IN:
            self._give_way(f"{tournament.record.name} is over")

    def gone(self) -> None:
        """The connection is lost, and with it the match."""
        self._tarpit.stop()
        self.attendance.lost()
        self._send_opponent_away()

    # While another process serves the bot

    def remembered(self) -> str | None:
        """There is nothing to remember. A bot whose answers are late, or whose opponent is to come, stays."""
        return None if self._tarpit.waiting or self._opponent is not None else ""

    def acknowledged(self) -> None:
        """Nothing: its bots have no tokens."""

    def came_back(self, *, over: bool) -> None:
        """The bot left with the end of its match."""
        self._tarpit.row = 0
        if over:
            self.attendance.ended()
            self.attendance.leave()

    def has_read(self) -> None:
        """Nothing that is told would have to be told again."""

    def repeated(self, message: bytes) -> bytes:
        """The message; none for another process, if the answer is that there is no next match here."""
        try:
            said = read(message)
        except Unreadable:
            return message
        ends = isinstance(said, Start) and isinstance(said.id, str) and self._nothing_left(said.id)
        return b"" if ends else message

    # What the bot says

    def _understand(self, message: bytes, at: float, fresh: bool) -> str | None:
        """Do what a message says; returns why that cannot be done."""
        if len(message) > self._limits.json_line_bytes:
            return TOO_LONG.format(self._limits.json_line_bytes)
        try:
            said = read(message)
        except Unreadable:
            return UNREADABLE
        here = self.attendance
        if here.seat is not None:
            return self._play(here.seat, said, at, fresh)
        if here.state is not states.State.SILENT:
            return WAITING
        if isinstance(said, Start):
            return self._start(said, message)
        return AT_PLAY if isinstance(said, Hello) else ONLY_START

    def _play(self, seat: Seat, said: Said | None, at: float, fresh: bool) -> str | None:
        match said:
            case Move(move=move):
                if not fresh:
                    return NOT_YOUR_TURN  # it was not its turn when this was said
                try:
                    seat.play(move, at)
                except OutOfTurn:
                    return NOT_YOUR_TURN
                except Illegal:
                    return INVALID
                self._tarpit.row = 0
            case StateRequest():
                self._show(seat, at)
            case _:
                return UNKNOWN
        return None

    def _start(self, said: Start, message: bytes) -> str | None:
        name, against = said.id, said.against
        if not isinstance(name, str) or not name.strip():
            return NO_ID
        if name in OPPONENTS:
            return RESERVED.format(name)
        if not isinstance(against, str | None):
            return AGAINST
        if why := self._nothing_left(name):
            self._give_way(why)
            return None
        row, self._tarpit.row = self._tarpit.row, 0
        self.attendance.come(
            name,
            GAME.name,
            self._channel.authenticated,
            self._enter,
            partial(self._refuse, name, message, row),
            keeps=False,
            door=DOOR,
            shared=True,
            against=against or None,
        )
        return None

    def _nothing_left(self, name: str) -> str:
        """Why there is no next match for a bot that asks for one where it played; "" if there may be one."""
        before, record = self._before or ("", None)
        if record is None or name.strip() != before or self._host.expects(before, GAME.name):
            return ""
        ended = f"{record.name} is over" if record.state is Stage.FINISHED else ""
        return str(taken_out(record, before) or ended)

    def _refuse(self, name: str, message: bytes, row: int, why: Unwelcome) -> None:
        self._tarpit.row += row  # a start that is refused breaks no row
        if isinstance(why, PlaysElsewhere):  # over this connection it would say `start` in vain
            self._give_way(self._nothing_left(name) or str(why))  # the end may have been kept just now
        else:
            self._ignore(message, str(why), trio.current_time())

    def _enter(self, visit: Visit) -> None:
        name, place = visit.player.name, visit.player.place or ""
        at_open_table = place.startswith(OPEN)
        if at_open_table and (why := self._nothing_left(name)):
            self._give_way(why)  # the end was kept while it was being let in
            return
        held = self._host.tournaments.get(place)
        self._before = (name, held.record) if held is not None and not held.record.format.endless else None
        wanted = OPPONENTS.get(visit.player.against or "")
        if at_open_table and wanted is not None:
            self._host.guard.start_soon(self._challenge, visit, wanted)

    async def _challenge(self, visit: Visit, wanted: Opponent) -> None:
        opponent = await challenge(self._host, GAME.name, wanted, visit.player.name)
        if self.attendance.visit is visit and self.attendance.seat is None:
            self._opponent = opponent
        else:
            opponent.leave()

    def _send_opponent_away(self) -> None:
        if self._opponent is not None:
            self._opponent.leave()
            self._opponent = None

    # What the bot is told

    def _tell(self, event: AnyEvent) -> None:
        seat = self.attendance.seat
        if seat is None:
            return
        match event:
            case Moved() | Began():
                self._opponent = None
                self.attendance.asked += 1
                self._tarpit.say(_told(seat, event), seat.to_move)
            case Refused():
                pass  # the sender was told
            case Ended():
                self._end(seat, event)
            case Incident():
                pass  # the protocol is older than these
            case _:
                assert_never(event)

    def _end(self, seat: Seat, ended: Ended) -> None:
        """Say how the match ended; then the bot has left, and may start again."""
        match, index = seat.match, seat.index
        if ended.ending is Ending.PLAYED:
            self._tarpit.say(END)
        elif ended.winner == 1 - index:  # by its clock, or by too many moves that were refused
            self._tarpit.say(encode(_state(match, index, match.ply, winner=_number(ended.winner))))
            self._tarpit.say(END)
        else:
            self._tarpit.say(encode(_state(match, index, match.ply)))
            self._tarpit.say(DISCONNECTED)
        self.attendance.ended()
        self.attendance.leave()

    def _show(self, seat: Seat, at: float) -> None:
        """Tell the state to a bot that asks for it; one that keeps asking is told it later, and once."""
        if self._tarpit.ends_with_a_view:
            self.attendance.unheard += 1
            return
        in_time = self._may_ask or self.attendance.budget.unasked(at)
        self._may_ask = False
        state = encode(_state(seat.match, seat.index, seat.match.ply))
        self._tarpit.show(state, 0.0 if in_time else LONGEST)

    def _say(self, message: bytes, urgent: bool) -> None:
        self.attendance.tape.told(message)
        self._channel.say(message, urgent)

    def _ignore(self, message: bytes, reason: str, at: float) -> None:
        waiting = self._tarpit.waiting
        if reason in OUT_OF_STEP:
            if waiting >= self._limits.late_answers:
                self.attendance.unheard += 1
                return
        elif reason == INVALID:
            pass  # the referee counts those
        elif waiting >= self._limits.junk.credits or not self.attendance.budget.junk(at, in_all=False):
            self.give_up(TOO_MANY)
            return
        elif (seat := self.attendance.seat) is not None:
            seat.note_ignored(reason)
        self._may_ask = True
        self._tarpit.answer(encode(Ignored(repeated(message, self._limits.echo_bytes), reason)))


def wanted(message: bytes) -> Wanted | None:
    """Where a bot that says this wants to play."""
    try:
        said = read(message)
    except Unreadable:
        return None
    if not isinstance(said, Start) or not isinstance(said.id, str) or said.id in OPPONENTS:
        return None
    return Wanted(said.id, GAME.name, None, door=DOOR)


def _told(seat: Seat, event: Began | Moved) -> bytes:
    """The state that an event led to: the same for both players, but for the digit that says who is told."""
    first = encode_once(event, _after, seat.match, event)
    return first.replace(b'"you":1', b'"you":2', 1) if seat.index else first


def _after(match: Match, event: Began | Moved) -> bytes:
    if isinstance(event, Began):
        return encode(_state(match, 0, 0))
    if match.verdict is not None and (result := match.result) and result.ending is Ending.PLAYED:
        return encode(_state(match, 0, event.ply, event.move, _number(result.winner)))  # this move ended it
    return encode(_state(match, 0, event.ply, event.move))


def _state(
    match: Match, index: int, ply: int, last: int | UnsetType = UNSET, winner: int | UnsetType = UNSET
) -> State:
    position = match.positions[ply]
    turn = position.turn + 1 if winner is UNSET else 0
    state = match.game.show(position, match.names)
    return State(turn, index + 1, winner, match.moves[:ply], last, state)


def _number(winner: int | None) -> int:
    return 0 if winner is None else winner + 1
