"""What two hosts say to each other over their link, and how it is framed: no I/O.

A link carries many channels, one for each relayed bot or request. The host where that came in
opens the channel. Each side may send as many bytes on a channel as the other has given it credit
for: a bot that does not read costs nobody else anything.
"""

import struct
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from msgspec import Struct

from server.host.claims import Replaced
from server.host.happened import Happened
from server.http.wire import Headers
from server.peers.stamps import ArrivalTime

WINDOW = 1 << 18  # bytes that may be under way on a channel: more than any outbox keeps
LONGEST = 1 << 21  # bytes of one message; the longest that is ever said is a long answer with its head
LENGTH = struct.Struct("!I")  # comes before each message
REQUESTS = 0  # in place of a channel: all requests, each of which opens a channel of its own


class Open(Struct, tag="open", frozen=True, array_like=True):
    """A bot has come in here that plays at your host: serve it, beginning with these bytes."""

    channel: int
    door: str
    path: str  # of a websocket
    peer: str  # the bot's address
    pieces: tuple[tuple[bytes, ArrivalTime], ...]
    tournament: str = ""  # in which the bot plays there; "": not known
    again: bool = False  # another host had sent it to me in vain: do not send it on


class Said(Struct, tag="said", frozen=True, array_like=True):
    """Bytes that the bot said."""

    channel: int
    content: bytes
    heard: ArrivalTime


class Say(Struct, tag="say", frozen=True, array_like=True):
    """Bytes to say to the bot."""

    channel: int
    content: bytes


class Credit(Struct, tag="credit", frozen=True, array_like=True):
    """So many bytes were taken; as many more may come."""

    channel: int
    size: int


class Known(Struct, tag="known", frozen=True, array_like=True):
    """The bot has shown who it is."""

    channel: int


class Listen(Struct, tag="listen", frozen=True, array_like=True):
    """Has the bot said anything more? Send that, and then `Listened`."""

    channel: int  # `REQUESTS`: has any client asked anything more?


class Listened(Struct, tag="listened", frozen=True, array_like=True):
    """What the bot had said when you asked has been sent."""

    channel: int


class Finished(Struct, tag="finished", frozen=True, array_like=True):
    """Nothing more comes on this channel from this side."""

    channel: int


class Closed(Struct, tag="closed", frozen=True, array_like=True):
    """The connection has ended, or has to end; the channel is no more."""

    channel: int


class Ask(Struct, tag="ask", frozen=True, array_like=True):
    """A request about something that your host has came in here: answer it."""

    channel: int
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    peer: str  # the client's address
    age: float  # seconds since it had arrived
    secure: bool
    written: str  # the query as it was written
    old: bool  # HTTP/1.0
    organiser: bool  # it had the organiser's token of the host where it came in
    again: bool = False  # another host had asked me in vain: do not ask any other


class Answer(Struct, tag="answer", frozen=True, array_like=True):
    """A whole answer to a request."""

    channel: int
    status: int
    headers: Headers
    body: bytes
    own: Headers
    shared: bool  # pages of any site may read it


class Begun(Struct, tag="begun", frozen=True, array_like=True):
    """The beginning of an answer that comes bit by bit, each bit by a `Say`."""

    channel: int
    status: int
    headers: Headers
    shared: bool


class Knows(Struct, tag="knows", frozen=True, array_like=True):
    """Requests with this secret are for the host of that number."""

    key: str
    host: int


class Forgets(Struct, tag="forgets", frozen=True, array_like=True):
    """Nothing is found at my host by this secret any more."""

    key: str


class Sitting(Struct, tag="sitting", frozen=True, array_like=True):
    """An organiser's session at the desk was opened, or closed, at my door."""

    digest: bytes
    left: float | None  # seconds that it still lasts; None: it was closed
    form_token: str


class ToldEnd(Struct, tag="told-end", frozen=True, array_like=True):
    """A bot has heard at my door that its tournament is over: it need not hear that again."""

    tournament: str  # by its name in the store
    name: str


class TokenReplaced(Struct, tag="token-replaced", frozen=True, array_like=True):
    """An organiser has given a name another token at my host: it counts wherever the earlier one did."""

    replaced: Replaced


class Arranged(Struct, tag="arranged", frozen=True, array_like=True):
    """A tournament was opened or changed at my host by order: its bots may come to yours at once."""


class StoodStill(Struct, tag="stood-still", frozen=True, array_like=True):
    """My host stood still for so long, and has heard nobody meanwhile."""

    seconds: float


class Watch(Struct, tag="watch", frozen=True, array_like=True):
    """Only these matches of yours are now looked at here: tell what happens in them."""

    matches: tuple[str, ...]


class Board(Struct, tag="board", frozen=True, array_like=True):
    """What has happened in one of these matches, and what my clock said then."""

    news: Happened
    now: float


class Beat(Struct, tag="beat", frozen=True, array_like=True):
    """I am here."""

    lenient: bool = False  # I ignore messages that I do not know; older hosts end the link, and say nothing


# For the host as a whole
News = Knows | Forgets | Sitting | ToldEnd | TokenReplaced | Arranged | StoodStill | Watch | Board
Relayed = Open | Said | Say | Credit | Known | Listen | Listened | Finished | Closed  # of a bot or a request
Message = Relayed | Ask | Answer | Begun | News | Beat
# Older hosts do not know these: only a lenient host is told.
ADDED = (ToldEnd, Forgets, Listen, Listened, Arranged, StoodStill, TokenReplaced)
KINDS = frozenset(each.__struct_config__.tag for each in get_args(Message))

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder[Message](Message)


class BadLink(Exception):
    """The other host says something that no host says; the message says what. The link has to be closed."""


def framed(message: Message) -> bytes:
    content = _encoder.encode(message)
    return LENGTH.pack(len(content)) + content


class Unframed:
    """Bytes in, messages out. What only a newer host says is left out: hosts are upgraded one by one."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def receive(self, received: bytes) -> Iterator[Message]:
        """Raises `BadLink`."""
        self._buffer += received
        start = 0
        try:
            while len(self._buffer) - start >= LENGTH.size:
                size = LENGTH.unpack_from(self._buffer, start)[0]
                if size > LONGEST:
                    raise BadLink(f"expected a message of {LONGEST} bytes at most, not {size}")
                if len(self._buffer) - start < LENGTH.size + size:
                    return
                content = bytes(self._buffer[start + LENGTH.size : start + LENGTH.size + size])
                start += LENGTH.size + size
                if (message := _read(content)) is not None:
                    yield message
        finally:
            del self._buffer[:start]


def _read(content: bytes) -> Message | None:
    """A message; None: it is of a kind that is not known here."""
    try:
        return _decoder.decode(content)
    except msgspec.MsgspecError as error:
        if _is_of_another_kind(content):
            return None
        raise BadLink(f"a message cannot be read: {error}") from None


def _is_of_another_kind(content: bytes) -> bool:
    try:
        kind, *_ = msgspec.msgpack.decode(content, type=list[Any])
    except (msgspec.MsgspecError, ValueError):
        return False
    return isinstance(kind, str) and kind not in KINDS
