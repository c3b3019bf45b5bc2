"""The words of the c4-arena: what bots may say and are told, as types, and the reasons to ignore something.

Not here: what is said when (`server/protocols/c4arena/talk.py`).
"""

from math import ceil

from msgspec import UNSET, MsgspecError, Raw, Struct, UnsetType, ValidationError, convert
from msgspec.json import Decoder, Encoder, decode

# Why a message was ignored: clients in use compare these texts.
ONLY_START = "Only start messages allowed in current state"
NO_ID = "You need to include an id"
RESERVED = '"{}" is a reserved id used for a reference player'
WAITING = "Waiting for match"
UNKNOWN = "Unknown message type"
NOT_YOUR_TURN = "Not your turn"
INVALID = "Invalid move"
# The same, in cases that the seed's clients never met.
AGAINST = '"against" is the id of an opponent, or null'
UNREADABLE = "Not a JSON message"
TOO_LONG = "A message may have {} bytes"
AT_PLAY = "The house protocol, which begins with a hello, is spoken at the path /play"

# Clients in use get these again and again once an opponent has hung up, and are not cut off for it.
OUT_OF_STEP = frozenset((ONLY_START, WAITING, NOT_YOUR_TURN))


class Start(Struct, frozen=True, tag="start"):
    """Come in and wait for a match; `against` is whom the bot wants to meet."""

    id: object = None
    against: object = None


class Move(Struct, frozen=True, tag="move"):
    move: object = None


class StateRequest(Struct, frozen=True, tag="state_request"):
    pass


class Hello(Struct, frozen=True, tag="hello"):
    """How the house protocol begins: whoever says it has come to the wrong path."""

    game: str


class State(Struct, frozen=True, tag="state", rename={"last_move": "last-move"}):
    turn: int  # 1 or 2; 0 when the match is over
    you: int
    winner: int | UnsetType = UNSET  # 0 for a draw; present only when the match is over
    moves: list[int] = []
    last_move: int | UnsetType = UNSET  # present only if this state is the first to show it
    state: object = None


class Ignored(Struct, frozen=True, tag="ignored"):
    msg: Raw
    reason: str


Said = Start | Move | StateRequest | Hello

encode = Encoder().encode
_read = Decoder(Said).decode

END, DISCONNECTED = b'{"type":"end"}', b'{"type":"disconnected"}'
NO_JSON = (MsgspecError, UnicodeDecodeError, RecursionError)  # what the decoder raises


class Unreadable(ValueError):
    """A bot's message is not JSON."""


def read(message: bytes) -> Said | None:
    """What a bot said; None if it is JSON, but none of these."""
    try:
        return _read(message)
    except ValidationError:
        pass
    except NO_JSON:
        raise Unreadable from None
    try:
        plain = decode(message)
    except NO_JSON:  # further on than where it did not fit
        raise Unreadable from None
    try:
        return convert(plain, Said)  # of two types, as of any other two keys, the last one counts
    except ValidationError:
        return None


def repeated(message: bytes, most: int) -> Raw:
    """What an `ignored` repeats: the message, or the beginning of one that is long or cannot be read.

    It is written anew, which makes more of some: a control character takes six bytes, and `1e15` eighteen.
    A message that would become half as long again or more is cut as well, so that the host is no amplifier.
    """
    room = most * 3 // 2
    if len(message) <= most:
        try:
            written = encode(decode(message))
        except NO_JSON:
            pass
        else:
            if len(written) <= room:
                return Raw(written)
    text = message[:most].decode(errors="ignore")
    while (excess := len(written := encode(text)) - len('""') - room) > 0:
        text = text[: -ceil(excess / 6)]
    return Raw(written)
