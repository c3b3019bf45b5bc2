"""Connect-4 as the c4-arena speaks it: JSON messages over a websocket, at the path `/`.

A `Connect4` is one bot's side of it, without I/O: messages in, messages out. A
bot says `start`, plays one match, and may `start` again. Everybody is told the
state after every move; whatever cannot be done is answered with `ignored`, and
that more and more slowly, because a client in use answers each `ignored` with a
message that is ignored as well.

Framing, paths and limits of frames are `server/doors/websocket.py`'s.
"""

from collections import deque
from collections.abc import Callable
from typing import assert_never

import structlog
import trio
from msgspec import UNSET, MsgspecError, Struct, UnsetType, ValidationError
from msgspec.json import Decoder, Encoder, decode

from games.game import Illegal
from server.doors.once import Once
from server.host import OPEN, Host
from server.house_players import GAME, HousePlayer, challenge
from server.limits import Bucket
from server.names import HOUSE
from server.reception import Unwelcome, Visit
from tournament.events import AnyEvent, Began, Ended, Ending, Moved, Refused
from tournament.log import Follower
from tournament.match import Match, OutOfTurn
from tournament.player import Seat

# Why a message was ignored: clients in use know these by heart.
ONLY_START = "Only start messages allowed in current state"
NO_ID = "You need to include an id"
RESERVED = '"{}" is a reserved id used for a reference player'
WAITING = "Waiting for match"
UNKNOWN = "Unknown message type"
NOT_YOUR_TURN = "Not your turn"
INVALID = "Invalid move"
# The same, in cases that the seed's clients never came to.
AGAINST = '"against" is the id of an opponent, or null'
UNREADABLE = "Not a JSON message"
TOO_LONG = "A message may have {} bytes"

AT_ONCE = 2  # so many running that are ignored are answered at once, and the next:
FIRST_DELAY, LONGEST_DELAY = 0.1, 1.0  # seconds; each is twice the one before

TOO_MANY = "too many messages"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Start(Struct, frozen=True, tag="start"):
    """Come in and wait for a match; `against` is whom the bot wants to meet."""

    id: object = None
    against: object = None


class Move(Struct, frozen=True, tag="move"):
    move: object = None


class StateRequest(Struct, frozen=True, tag="state_request"):
    pass


class State(Struct, frozen=True, tag="state", rename={"last_move": "last-move"}):
    turn: int  # 1 or 2; 0 when the match is over
    you: int
    winner: int | UnsetType = UNSET  # 0 for a draw; there only when the match is over
    moves: list[int] = []
    last_move: int | UnsetType = UNSET  # there where this state is the first to show it
    state: object = None


class Ignored(Struct, frozen=True, tag="ignored"):
    msg: object
    reason: str


read = Decoder(Start | Move | StateRequest).decode
encode = Encoder().encode
once = Once()  # both players are told of a move one right after the other

END, DISCONNECTED = b'{"type":"end"}', b'{"type":"disconnected"}'


class Connect4:
    """One bot's side of the c4-arena's protocol.

    `say` is given one JSON message at a time, without framing; `hang_up` the
    reason for which the connection is to be closed; `authenticated` is called
    when the bot has come in.
    """

    def __init__(
        self,
        host: Host,
        say: Callable[[bytes], None],
        hang_up: Callable[[str], None],
        peer: str,
        authenticated: Callable[[], None] = lambda: None,
    ) -> None:
        self.asked = 0  # how often this bot has been told a new position
        self._host = host
        self._out = say
        self._hang_up = hang_up
        self._peer = peer
        self._authenticated = authenticated
        self._over = False
        self._arriving = False
        self._visit: Visit | None = None
        self._opponent: HousePlayer | None = None  # that came for this bot, and has not been dealt a seat
        self._seat: Seat | None = None
        self._follower: Follower | None = None
        now = trio.current_time()
        self._junk = Bucket(host.limits.junk, now)
        self._requests = Bucket(host.limits.messages, now)
        self._ignored = 0  # messages in a row
        self._late: deque[tuple[float, bytes]] = deque()  # answers to them, and when they are due
        self._waiting = False  # a task waits for the first of these

    # What a transport calls

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one message, which arrived at `at`. Never waits; whatever comes, the bot is told.

        It is not `fresh` if it had been read already when the last position was told.
        """
        if not self._over and (reason := self._understand(message, at, fresh)) is not None:
            self._ignore(message, reason, at)

    def gone(self) -> None:
        """The connection is lost, and with it the match."""
        self._over = True
        self._late.clear()
        self._leave()

    # What the bot says

    def _understand(self, message: bytes, at: float, fresh: bool) -> str | None:
        """Do what a message says; answers why that cannot be done."""
        most = self._host.limits.json_line_bytes
        if len(message) > most:
            return TOO_LONG.format(most)
        try:
            said = read(message)
        except ValidationError:
            said = None  # JSON, but none of these messages
        except (MsgspecError, UnicodeDecodeError, RecursionError):
            return UNREADABLE
        if self._seat is not None:
            return self._play(self._seat, said, at, fresh)
        if self._arriving or self._visit is not None:
            return WAITING
        return self._start(said, message) if isinstance(said, Start) else ONLY_START

    def _play(
        self, seat: Seat, said: Start | Move | StateRequest | None, at: float, fresh: bool
    ) -> str | None:
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
            case StateRequest():
                if not self._ignored and not self._requests.take(at):  # after an `ignored` it is expected
                    self._give_up(TOO_MANY)
                self._say(encode(_state(seat.match, seat.index, seat.match.ply)))
            case _:
                return UNKNOWN
        self._ignored = 0
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
        self._ignored = 0
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
        if visit is not None:
            visit.leave()

    # What the bot is told

    def _dealt(self, seat: Seat) -> None:
        self._opponent = None
        self._seat = seat
        self._follower = seat.follow(self._tell)

    def _tell(self, event: AnyEvent) -> None:
        seat = self._seat
        if seat is None:
            return
        match event:
            case Moved() | Began():
                self.asked += 1
                self._say(_told(seat, event))
            case Refused():
                pass  # whoever sent it was told
            case Ended():
                self._end(seat, event)
            case _:
                assert_never(event)

    def _end(self, seat: Seat, ended: Ended) -> None:
        match, index = seat.match, seat.index
        if ended.ending is Ending.PLAYED:
            self._say(END)
        elif ended.winner == 1 - index:  # by its clock, or by too many moves that were refused
            self._say(encode(_state(match, index, match.ply, winner=_number(ended.winner))))
            self._say(END)
        else:
            self._say(encode(_state(match, index, match.ply)))
            self._say(DISCONNECTED)
        self._leave()

    def _say(self, message: bytes) -> None:
        """Say something now, after all that was to be said before it."""
        while self._late:
            self._out(self._late.popleft()[1])
        self._out(message)

    # What is ignored

    def _ignore(self, message: bytes, reason: str, at: float) -> None:
        """Answer with the reason; the more of it in a row, the later."""
        limits = self._host.limits
        if reason != INVALID and not self._junk.take(at):  # the referee counts those that are invalid
            self._give_up(TOO_MANY)
            return
        self._ignored += 1
        answer = encode(Ignored(_copy(message, limits.echo_bytes), reason))
        delay = _delay(self._ignored)
        if not delay and not self._late:
            self._out(answer)
        elif len(self._late) >= limits.junk.credits:
            self._give_up(TOO_MANY)
        else:
            before = self._late[-1][0] if self._late else at
            self._late.append((max(before, trio.current_time()) + delay, answer))
            if not self._waiting:
                self._waiting = True
                self._host.guard.start_soon(self._answer_late)

    async def _answer_late(self) -> None:
        while self._late:
            due, answer = self._late[0]
            await trio.sleep_until(due)
            if self._late and self._late[0] == (due, answer):  # nothing else was said meanwhile
                self._late.popleft()
                self._out(answer)
        self._waiting = False

    def _give_up(self, reason: str) -> None:
        log.info("cut", peer=self._peer, player=self._visit and self._visit.player.name, why=reason)
        self._hang_up(reason)


def _told(seat: Seat, event: Began | Moved) -> bytes:
    """The state that an event led to: the same for both players, but for the digit that says who is told."""
    first = once(event, lambda: encode(_after(seat.match, event)))
    return first.replace(b'"you":1', b'"you":2', 1) if seat.index else first


def _after(match: Match, event: Began | Moved) -> State:
    if isinstance(event, Began):
        return _state(match, 0, 0)
    result = match.result
    if result is not None and result.ending is Ending.PLAYED:  # this move did it
        return _state(match, 0, event.ply, event.move, _number(result.winner))
    return _state(match, 0, event.ply, event.move)


def _state(
    match: Match, index: int, ply: int, last: int | UnsetType = UNSET, winner: int | UnsetType = UNSET
) -> State:
    position = match.positions[ply]
    turn = position.turn + 1 if winner is UNSET else 0
    state = match.game.show(position, match.names)
    return State(turn, index + 1, winner, match.moves[:ply], last, state)


def _number(winner: int | None) -> int:
    return 0 if winner is None else winner + 1


def _copy(message: bytes, most: int) -> object:
    """What an `ignored` repeats: the message, or how its text begins, if it is long or cannot be read."""
    if len(message) <= most:
        try:
            return decode(message)
        except (MsgspecError, UnicodeDecodeError, RecursionError):
            pass
    return message[:most].decode(errors="ignore")


def _delay(ignored: int) -> float:
    """Seconds that the answer to so many in a row takes."""
    if ignored <= AT_ONCE:
        return 0.0
    return min(FIRST_DELAY * 2 ** min(ignored - AT_ONCE - 1, 10), LONGEST_DELAY)
