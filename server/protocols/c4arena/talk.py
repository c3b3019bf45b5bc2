"""Connect-4 as the c4-arena speaks it: JSON messages over a websocket, at the path `/`.

A `Connect4` is one bot's side of it, without I/O: messages in, messages out. A
bot says `start`, plays one match, and may `start` again. Everybody is told the
state after every move; whatever cannot be done is answered with `ignored`, and
that more and more slowly, because a client in use answers each `ignored` with a
message that is ignored as well. Only junk cuts a bot off. What is merely out of
step gets no answer where too many wait already, and a state that is asked for
too often is told later, and once.

Framing, paths and limits of frames are `server/protocols/websocket.py`'s.
"""

from collections.abc import Callable
from typing import assert_never

import structlog
import trio
from msgspec import UNSET, UnsetType

from games.game import Illegal
from server.host.host import OPEN, Host
from server.host.house_players import GAME, HousePlayer, challenge
from server.host.names import HOUSE
from server.host.reception import Unwelcome, Visit
from server.host.wire_log import NO_TAPE
from server.net.limits import Bucket
from server.net.outbox import Say
from server.protocols.c4arena.messages import (
    AGAINST,
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
from server.protocols.c4arena.tarpit import LONGEST, Hesitation
from server.protocols.common.encode_once import Once
from tournament.events import AnyEvent, Began, Ended, Ending, Moved, Refused
from tournament.log import Follower
from tournament.match import Match, OutOfTurn
from tournament.player import Seat

TOO_MANY = "too many messages"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()
once = Once()  # both players are told of a move one right after the other


class Connect4:
    """One bot's side of the c4-arena's protocol.

    `say` is given one JSON message at a time, without framing; `hang_up` the
    reason for which the connection is to be closed; `authenticated` is called
    when the bot has come in.
    """

    def __init__(
        self,
        host: Host,
        say: Say,
        hang_up: Callable[[str], None],
        peer: str,
        authenticated: Callable[[], None] = lambda: None,
    ) -> None:
        self.asked = 0  # how often this bot has been told a new position
        self.unheard = 0  # how many of its messages were passed over in silence
        self._host = host
        self._out = say
        self._voice = Hesitation(self._say, host.guard)
        self._hang_up = hang_up
        self._peer = peer
        self._authenticated = authenticated
        self._over = False
        self._arriving = False
        self._visit: Visit | None = None
        self._opponent: HousePlayer | None = None  # that came for this bot, and has not been dealt a seat
        self._seat: Seat | None = None
        self._tape = NO_TAPE
        self._follower: Follower | None = None
        now = trio.current_time()
        self._junk = Bucket(host.limits.junk, now)
        self._requests = Bucket(host.limits.messages, now)
        self._may_ask = False  # for the state: it was ignored, and a client in use asks after that

    # What a transport calls

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one message, which arrived at `at`. Never waits; whatever comes, the bot is told.

        It is not `fresh` if it had been read already when the last position was told.
        """
        if self._over:
            return
        self._tape.heard(message, at)
        if (reason := self._understand(message, at, fresh)) is not None:
            self._ignore(message, reason, at)

    def gone(self) -> None:
        """The connection is lost, and with it the match."""
        self._over = True
        self._voice.stop()
        self._leave()

    # What the bot says

    def _understand(self, message: bytes, at: float, fresh: bool) -> str | None:
        """Do what a message says; answers why that cannot be done."""
        most = self._host.limits.json_line_bytes
        if len(message) > most:
            return TOO_LONG.format(most)
        try:
            said = read(message)
        except Unreadable:
            return UNREADABLE
        if self._seat is not None:
            return self._play(self._seat, said, at, fresh)
        if self._arriving or self._visit is not None:
            return WAITING
        return self._start(said, message) if isinstance(said, Start) else ONLY_START

    def _play(self, seat: Seat, said: Said | None, at: float, fresh: bool) -> str | None:
        match said:
            case Move(move=move):
                if not fresh:
                    return NOT_YOUR_TURN  # it was not when this was said
                try:
                    seat.play(move, at)
                except OutOfTurn:
                    return NOT_YOUR_TURN
                except Illegal:
                    return INVALID
                self._voice.row = 0
            case StateRequest():
                self._show(seat, at)
            case _:
                return UNKNOWN
        return None

    def _start(self, said: Start, message: bytes) -> str | None:
        name, against = said.id, said.against
        if not isinstance(name, str) or not name.strip():
            return NO_ID
        if name in HOUSE[GAME]:
            return RESERVED.format(name)
        if not isinstance(against, str | None):
            return AGAINST
        self._arriving = True
        self._host.guard.start_soon(self._arrive, message, name, against or None)
        return None

    async def _arrive(self, message: bytes, name: str, against: str | None) -> None:
        try:
            visit = await self._host.arrive(
                name, GAME, keeps=False, shared=True, against=against, peer=self._peer
            )
        except Unwelcome as refusal:
            self._arriving = False
            self._ignore(message, str(refusal), trio.current_time())
            return
        self._arriving = False
        if self._over:
            visit.leave()
            return
        self._voice.row = 0
        self._visit, player = visit, visit.player
        self._authenticated()
        player.dealt = self._dealt
        if player.seat is not None:
            self._dealt(player.seat)
        if against in HOUSE[GAME] and (player.place or "").startswith(OPEN):
            opponent = await challenge(self._host, against, player.name)
            if self._visit is visit and self._seat is None:
                self._opponent = opponent
            else:
                opponent.leave()

    def _leave(self) -> None:
        """Let go of all that this bot holds; it may start again."""
        visit, self._visit = self._visit, None
        if self._follower is not None:
            self._follower.stop()
        if self._opponent is not None:
            self._opponent.leave()
        self._seat = self._follower = self._opponent = None
        self._tape = NO_TAPE
        if visit is not None:
            visit.leave()

    # What the bot is told

    def _dealt(self, seat: Seat) -> None:
        self._opponent = None
        self._seat, self._tape = seat, self._host.wires.tape(seat, self._visit)
        self._follower = seat.follow(self._tell)

    def _tell(self, event: AnyEvent) -> None:
        seat = self._seat
        if seat is None:
            return
        match event:
            case Moved() | Began():
                self.asked += 1
                self._voice.say(_told(seat, event), seat.to_move)
            case Refused():
                pass  # whoever sent it was told
            case Ended():
                self._end(seat, event)
            case _:
                assert_never(event)

    def _end(self, seat: Seat, ended: Ended) -> None:
        match, index = seat.match, seat.index
        if ended.ending is Ending.PLAYED:
            self._voice.say(END)
        elif ended.winner == 1 - index:  # by its clock, or by too many moves that were refused
            self._voice.say(encode(_state(match, index, match.ply, winner=_number(ended.winner))))
            self._voice.say(END)
        else:
            self._voice.say(encode(_state(match, index, match.ply)))
            self._voice.say(DISCONNECTED)
        self._leave()

    def _show(self, seat: Seat, at: float) -> None:
        """Tell the state to a bot that asks for it; one that asks all the time is told it later, and once."""
        if self._voice.ends_with_a_view:
            self.unheard += 1
            return
        in_time = self._may_ask or self._requests.take(at)
        self._may_ask = False
        state = encode(_state(seat.match, seat.index, seat.match.ply))
        self._voice.show(state, 0.0 if in_time else LONGEST)

    def _say(self, message: bytes, urgent: bool) -> None:
        self._tape.told(message)
        self._out(message, urgent)

    def _ignore(self, message: bytes, reason: str, at: float) -> None:
        limits, waiting = self._host.limits, self._voice.waiting
        if reason in OUT_OF_STEP:
            if waiting >= limits.late_answers:
                self.unheard += 1
                return
        elif reason == INVALID:
            pass  # the referee counts those
        elif waiting >= limits.junk.credits or not self._junk.take(at):
            self._give_up(TOO_MANY)
            return
        self._may_ask = True
        self._voice.answer(encode(Ignored(repeated(message, limits.echo_bytes), reason)))

    def _give_up(self, reason: str) -> None:
        log.info("cut", peer=self._peer, player=self._visit and self._visit.player.name, why=reason)
        self._hang_up(reason)


def _told(seat: Seat, event: Began | Moved) -> bytes:
    """The state that an event led to: the same for both players, but for the digit that says who is told."""
    first = once(event, _after, seat.match, event)
    return first.replace(b'"you":1', b'"you":2', 1) if seat.index else first


def _after(match: Match, event: Began | Moved) -> bytes:
    if isinstance(event, Began):
        return encode(_state(match, 0, 0))
    if match.verdict is not None and (result := match.result) and result.ending is Ending.PLAYED:
        return encode(_state(match, 0, event.ply, event.move, _number(result.winner)))  # this move did it
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
