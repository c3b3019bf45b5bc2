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
from msgspec import UNSET, MsgspecError, Raw, Struct, UnsetType, ValidationError
from msgspec.json import Decoder, Encoder

from games.game import Illegal
from server.doors.once import Once
from server.house_players import GAME, HousePlayer, challenge
from server.host import OPEN, Host
from server.limits import Bucket
from server.names import HOUSE
from server.reception import Unwelcome, Visit
from tournament.events import AnyEvent, Began, Ended, Ending, Moved, Refused
from tournament.log import Follower
from tournament.match import OutOfTurn
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
    state: Raw = Raw()


class Ignored(Struct, frozen=True, tag="ignored"):
    msg: object
    reason: str


read = Decoder(Start | Move | StateRequest).decode
encode = Encoder().encode
once = Once()  # both players are told of a move one right after the other

END, DISCONNECTED = b'{"type":"end"}', b'{"type":"disconnected"}'
