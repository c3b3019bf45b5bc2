"""The house protocol: any game, over whatever carries JSON messages.

A `HouseTalk` is one bot's side of it, without I/O: messages in, messages out. The
transports (`tcp.py`, `websocket.py`, `sessions.py`) bring the bytes and know
nothing of what they mean. What the messages look like is in `messages.py`.
"""

from functools import partial
from typing import assert_never

import structlog
import trio
from msgspec import UNSET
from msgspec.structs import replace

from games.catalogue import catalogue
from games.game import Illegal, quoted, typed
from server.export.json_views import out_shown, row_shown
from server.host.abroad import Wanted
from server.host.names import checked
from server.host.opening import OPEN
from server.host.unwelcome import Guessing, TooOften, Unwelcome
from server.host.view import HeldTournament
from server.host.visits import Visit
from server.protocols.common.attendance import Attendance
from server.protocols.common.encode_once import OnceEncoder
from server.protocols.common.states import ARRIVING, OVER
from server.protocols.dialect import Channel
from server.protocols.house import messages
from server.protocols.house.messages import (
    PROTOCOL,
    Refused,
    Standings,
    ToBot,
    Welcome,
    begin,
    encode,
    ended,
    turn,
    turned,
)
from tournament import events
from tournament.events import AnyEvent
from tournament.facts import AnyFact
from tournament.match import OutOfTurn
from tournament.player import Seat
from tournament.record import Record
from tournament.refusals import taken_out
from tournament.score_sheet import Board

DOOR = "house"
HELLO = 'say hello first: {"type":"hello","name":"ann","game":"tic-tac-toe"}'
EARLY = "this came before the question was asked: wait for it, or say the ply that the move is for"

UNACKNOWLEDGED = "unacknowledged"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()
encode_once = OnceEncoder()  # both players are told of an event one right after the other


class HouseTalk:
    """One bot's side of the house protocol, whatever carries it: messages in, messages out.

    What it says are JSON messages without framing. `numbered` messages carry
    `seq`, counted from 1, for transports that resume by it. If it is not `noted`, the creator of this
    tells its bot in other words, and notes those in the wire log; `door` is the host's name for that
    creator.
    """

    def __init__(
        self, channel: Channel, *, numbered: bool = False, noted: bool = True, door: str = DOOR
    ) -> None:
        self.attendance = Attendance(
            channel.host,
            channel.peer,
            tell=self._tell,
            resumed=self._resume,
            replaced=self._give_way,
            tournament_over=self._tournament_over,
        )
        self.too_often: TooOften | None = None  # why its last hello was refused, if that was why
        self._channel = channel
        self._host = channel.host
        self._out = channel.say
        self._seq = 0 if numbered else None
        self._noted = noted
        self._door = door
        self._token: str | None = None  # of the last visit, for a hello on this same connection …
        self._under: tuple[str, str] | None = None  # … under the same name, to the same game
        self._unacknowledged = False
        self._end: Record | None = None  # the tournament of whose end it was told, until it has read that

    # What a transport calls

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one message, which arrived at `at`. Never waits; the bot is told if anything is wrong with it.

        It is not `fresh` if it had already been read when the last question was asked.
        """
        here = self.attendance
        if here.state is OVER:
            return
        if self._unacknowledged:
            self.acknowledged()
        if not here.unread:
            self.has_read()
        if not here.budget.message(at, empty=not message.strip()):
            self.give_up("too many messages, and no answers to questions")
        elif here.state is not ARRIVING:
            self._understand(message, at, fresh)
        elif not here.put_off(message, at):
            self.give_up("too many messages before the welcome")

    def give_up(self, reason: str) -> None:
        """Tell the bot why this cannot go on, and hang up."""
        if not self.attendance.over:
            name = self.attendance.name or (self._under and self._under[0])
            log.info("cut", peer=self._channel.peer, player=name, why=reason)
            self._refuse(reason)
            self.attendance.note_cut(reason)
            self._hang_up(reason)

    def has_read(self) -> None:
        """The bot has read all that it was told: it says something, or its transport knows."""
        record, self._end = self._end, None
        if record is not None and self._under is not None:
            self._host.untold.has_heard(record, checked(self._under[0]))

    def gone(self) -> None:
        """The connection is lost. If that was in order, the bot has read everything before."""
        if not self.attendance.unread:
            self.has_read()
        self.attendance.lost()

    # While another process serves the bot

    @classmethod
    def going_on(cls, channel: Channel, words: str) -> "HouseTalk":
        """Go on with a bot that another process has welcomed."""
        talk = cls(channel)
        talk._unacknowledged = words == UNACKNOWLEDGED
        return talk

    def remembered(self) -> str:
        """Whether the bot has said something since it was told its token: nothing else is needed there."""
        return UNACKNOWLEDGED if self._unacknowledged else ""

    def acknowledged(self) -> None:
        if (visit := self.attendance.visit) is not None:
            self._unacknowledged = False
            visit.acknowledge()

    def came_back(self, *, over: bool) -> None:
        if over:
            self.attendance.ended()

    # What the bot says

    def _understand(self, message: bytes, at: float, fresh: bool) -> None:
        if not message.strip():
            return  # somebody at a keyboard, or the second end of a line
        try:
            said = messages.read(message, self._host.limits.json_line_bytes)
        except messages.Unreadable as error:
            self._junk(str(error), at, error.answers)
            return
        seat = self.attendance.seat
        match said:
            case messages.Hello():
                self._hello(said)
            case _ if self.attendance.visit is None and not self._takes_leave(said):
                self._junk(HELLO, at)
            case messages.Move():
                self._move(said, at, fresh)
            case messages.AskState():
                if seat is None:
                    self._refuse(self._not_playing(None))
                elif seat.match.verdict is not None:  # a turn would ask for a move that can only be refused
                    self._refuse("the match is over")
                else:
                    self._say(turn(seat.match, seat.match.ply, trio.current_time()))
            case messages.Resign(match=name):
                if seat is None or name not in (None, seat.match.name):
                    self._refuse(self._not_playing(name), name)
                else:
                    seat.resign()
            case messages.Bye():
                self.attendance.leave(for_good=True)
                self._hang_up("the bot said bye")
            case _:
                assert_never(said)

    def _takes_leave(self, said: messages.Said) -> bool:
        """Whether a bot that was welcomed over this connection leaves, after an end that it had missed."""
        return self._under is not None and isinstance(said, messages.Bye)

    def _move(self, said: messages.Move, at: float, fresh: bool) -> None:
        reason, seat = self._objection(said, fresh), self.attendance.seat
        if reason is None and seat is not None:
            try:
                seat.play(_as_typed(said.move), at, said.spent, said.note)
            except OutOfTurn as error:
                reason = str(error)
            except Illegal:
                pass  # the log tells us, at once or with its consequences
        if reason is None:
            return
        if said.match is None and said.ply is None:
            self._junk(reason, at)
        else:  # it names its question, so it is late at worst
            self._refuse(reason, said.match, said.ply)

    def _objection(self, said: messages.Move, fresh: bool) -> str | None:
        """Why a move answers no question that is being asked."""
        seat = self.attendance.seat
        if seat is None or said.match not in (None, seat.match.name):
            reason = self._not_playing(said.match)
            if seat is not None:
                seat.note_ignored(reason)
            return reason
        ply = seat.match.ply
        if said.ply is not None and said.ply != ply:
            if seat.to_move:
                seat.match.meant[seat.index] = ply, said.ply
            return f"ply {said.ply} is not what is asked: the match is at ply {ply}"
        return EARLY if said.ply is None and not fresh else None

    def _not_playing(self, name: str | None) -> str:
        """The sentence that a match of that name, or any match, is not being played."""
        if name is None:
            return "no match is being played just now"
        seat = self.attendance.seat
        now = "no match is" if seat is None else f"{seat.match.name} is"
        return f"match {quoted(name)} is not being played; {now}"

    # Coming and going

    def repeated(self, message: bytes) -> bytes:
        """The message; a second hello under the same name gets the token, which it need not bring."""
        try:
            hello = messages.read(message, len(message))
        except messages.Unreadable:
            return message
        if not isinstance(hello, messages.Hello) or hello.token or self._under != (hello.name, hello.game):
            return message
        return messages.encode(replace(hello, token=self._token))

    def _hello(self, hello: messages.Hello) -> None:
        here = self.attendance
        if here.seat is not None:
            name = here.seat.match.name
            self._refuse(f"you are playing match {name}: end it, resign it or say bye before another hello")
        elif hello.protocol != PROTOCOL:
            self._refuse(f"this host speaks protocol {PROTOCOL}, not {quoted(hello.protocol)}")
        elif hello.game not in catalogue():
            self._refuse(f"there is no game {quoted(hello.game)}; there are: {', '.join(catalogue())}")
        elif hello.against is not None and hello.tournament not in (None, OPEN + hello.game):
            self._refuse(
                f"against is for the open table: in {quoted(hello.tournament)}"
                " the format decides who meets whom"
            )
        else:
            here.leave()
            token = hello.token or (self._token if self._under == (hello.name, hello.game) else None)
            wanted = Wanted(hello.name, hello.game, _place(hello), token)
            if not self._host.draining and (record := self._host.untold.end(wanted)) is not None:
                self._meet_the_end(hello, token or "", record)
                return
            here.come(
                hello.name,
                hello.game,
                self._channel.authenticated,
                partial(self._enter, hello),
                self._stay_out,
                partial(self._understand, fresh=False),
                tournament=wanted.tournament,
                token=token,
                resumes=True,
                door=self._door,
                matches=hello.matches,
                version=hello.version,
                against=hello.against,
                practises=True,
                person=hello.person,
            )

    def _stay_out(self, why: Unwelcome) -> None:
        # Without its traceback, which has a frame in which this talk is known: nothing would free the two.
        self.too_often = why.with_traceback(None) if isinstance(why, TooOften) else None
        if isinstance(why, Guessing):
            self.give_up(str(why))
        else:
            self._refuse(str(why))

    def _enter(self, hello: messages.Hello, visit: Visit) -> None:
        player, place = visit.player, visit.player.place or ""
        self._token, self._unacknowledged = visit.token, visit.token != hello.token
        if not self._unacknowledged:  # the bot brought its own, and need not be told
            visit.acknowledge()
        self._under = hello.name, hello.game
        tournament = None if place.startswith(OPEN) else place
        self._say(Welcome(player.name, visit.token or "", player.game, tournament))

    def _meet_the_end(self, hello: messages.Hello, token: str, record: Record) -> None:
        """Tell a bot that was away that its tournament is over. After that, it may say hello again.

        One that was taken out is told why, as if it had been there.
        """
        name = checked(hello.name)
        if (why := taken_out(record, name)) is not None:
            self._host.untold.has_heard(record, name)
            self._give_way(str(why))
            return
        self._token, self._under, self._unacknowledged = token, (hello.name, hello.game), False
        self._channel.authenticated()
        log.info("returned after the end", peer=self._channel.peer, player=name, tournament=record.name)
        self._say(Welcome(name, token, hello.game, record.name))
        self._host.guard.start_soon(self._tell_end, record)

    async def _tell_end(self, record: Record) -> None:
        standings = await self._host.boards.in_words(record.public, _standings)
        if not self.attendance.over:
            self._put_end(record, standings)

    def _give_way(self, why: str) -> None:
        self._refuse(why)
        self._hang_up(why)

    def _hang_up(self, reason: str) -> None:
        self.attendance.hang_up()
        self._channel.hang_up(reason)

    def _tournament_over(self, tournament: HeldTournament, fact: AnyFact) -> None:
        self._end = None  # an earlier one is out of date: an organiser has voided a match since
        self._host.guard.start_soon(self._tell_standings, tournament)

    async def _tell_standings(self, tournament: HeldTournament) -> None:
        if self.attendance.visit is not None and not self.attendance.over:
            standings = await self._host.boards.in_words(tournament.record.public, _standings)
            if not self.attendance.over:
                self._put_end(tournament.record, standings)

    def _put_end(self, record: Record, standings: bytes) -> None:
        """Tell the standings, unless that was done over this connection, and the bot may still read them."""
        if self._end is not record:
            self._end = record
            self._put(standings)

    # What the bot is told

    def _resume(self, seat: Seat) -> None:
        """Tell everything that is needed to go on with a match that has begun.

        One that is over, with its end being kept, asks for nothing: a move could only be refused.
        """
        self._say(begin(seat, seat.match.ply))
        if seat.match.verdict is None:
            self._say(turn(seat.match, seat.match.ply, trio.current_time()))
            self._ask(seat, seat.match.ply)

    def _tell(self, event: AnyEvent) -> None:
        seat = self.attendance.seat
        if seat is None:
            return
        match = seat.match
        match event:
            case events.Moved(ply=ply, at=at):
                noted = at if match.verdict is None else None  # a deciding move is told after a commit
                to_move = seat.to_move
                self._put(encode_once(event, turned, match, ply, at), to_move, noted)
                if to_move:
                    self._ask(seat, ply)
            case events.Began(at=at):
                self._say(begin(seat, 0))  # a house player may have moved already
                self._put(encode_once(event, turned, match, 0, at))
                self._ask(seat, 0)
            case events.Refused(ply=ply, why=why):
                if event.seat == seat.index:
                    self._refuse(why, match.name, ply)
                    if seat.to_move:
                        self.attendance.ask_again()
            case events.Incident():
                pass  # the opponent's absence does not concern this bot, and the clocks say the rest
            case events.Ended():
                self._put(encode_once(event, ended, match, event))
                self.attendance.ended()
            case _:
                assert_never(event)

    def _ask(self, seat: Seat, ply: int) -> None:
        """Note that the bot is asked, if this position is a question for it."""
        if seat.to_move and ply == seat.match.ply:
            self.attendance.ask()

    def _junk(self, reason: str, at: float, answers: messages.Question = messages.NO_QUESTION) -> None:
        """Refuse a message that no bot should send, or not now; too many end the connection.

        If it `answers` a question, its bot has to hear which, or it would wait while its clock runs.
        """
        if (seat := self.attendance.seat) is not None:
            seat.note_ignored(reason)
        if self.attendance.budget.junk(at):
            self._refuse(reason, answers.match, answers.ply)
        else:
            self.give_up(f"too many messages without a meaning, the last because: {reason}")

    def _refuse(self, reason: str, match: str | None = None, ply: int | None = None) -> None:
        named = UNSET if match is None else match
        self._say(Refused(reason=reason, match=named, ply=UNSET if ply is None else ply))

    def _say(self, message: ToBot) -> None:
        self._put(encode(message))

    def _put(self, message: bytes, urgent: bool = True, at: float | None = None) -> None:
        if self._seq is not None:
            self._seq += 1
            message = b'%b,"seq":%d}' % (message[:-1], self._seq)
        if self._noted:
            self.attendance.tape.told(message, at)
        self._out(message, urgent)


def wanted(message: bytes) -> Wanted | None:
    """Where a bot that says this wants to play; None if it is not an acceptable hello."""
    try:
        said = messages.read(message, len(message))
    except messages.Unreadable:
        return None
    if not isinstance(said, messages.Hello) or said.protocol != PROTOCOL or said.game not in catalogue():
        return None
    return Wanted(said.name, said.game, _place(said), said.token, DOOR)


def _place(hello: messages.Hello) -> str | None:
    return hello.tournament if hello.against is None else OPEN + hello.game


def _as_typed(move: object) -> object:
    """The move for which a short string stands: in every game it is a move, even "3"."""
    return typed(move) if isinstance(move, str) and move.isprintable() else move


def _standings(record: Record, board: Board) -> bytes:
    rows = [row_shown(row, record.format.order) | out_shown(record, row.name) for row in board.rows]
    return encode(Standings(record.name, final=True, rows=rows, frozen=record.frozen is not None or UNSET))
