"""What a dialect is: a value that says what carries it and how it is spoken.

As a game is one file that declares `GAME`, a dialect is one file or one folder
that declares `DIALECT`. It may be carried in three ways: as lines over TCP, as
frames over a websocket, as requests over HTTP. The transport brings bytes and
knows nothing of what they mean; the dialect does no I/O.

`server/protocols/catalogue.py` finds the dialects, and
`server/protocols/common/attendance.py` knows which bot is in which state.
`docs/add-a-dialect.md` shows a whole dialect.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from server.config import Settings
from server.host.abroad import Holder, Wanted
from server.host.host import Host
from server.http.routes import HttpDoor
from server.http.wire import Request
from server.net.budgets import address_of
from server.net.limits import Limits
from server.net.outbox import Outbox, Say
from server.net.turns import Turn
from server.net.wire import Piece
from server.protocols.common.attendance import Attendance
from server.protocols.common.states import State

Wants = Callable[[bytes], Wanted | None]


class KnownPeer(Protocol):
    """What a door knows of the peer."""

    def authenticated(self) -> None:
        """The peer has shown who it is."""
        ...


class Leaves(Exception):
    """Another process has to serve a connection, from these bytes on.

    Connections are handed over as their bots came: whoever catches this enters the `turn`.
    """

    def __init__(self, holder: Holder, unread: bytes, at: float, turn: Turn) -> None:
        super().__init__("its bot plays elsewhere")
        self.holder = holder
        self.pieces: tuple[Piece, ...] = ((unread, at),)
        self.turn = turn


def leads_away(host: Host, wants: Wants, peer: str, talk: "Talk | None", message: bytes) -> Holder | None:
    """The process that serves a bot that comes, or comes again, with this message; None: this one."""
    if host.abroad is None or (talk is not None and talk.attendance.state not in (State.SILENT, State.IN)):
        return None
    if (remembers := remembering(talk)) is not None:
        remembers.has_read()  # or it would be told here once more what it has just read
    wanted = wants(message if remembers is None else remembers.repeated(message))
    if wanted is None:
        return None
    wanted = replace(wanted, address=address_of(peer))
    return host.abroad.holder(wanted, None if talk is None else talk.attendance.visit)


async def may_go(
    leaves: Leaves, gone: Callable[[], None], outbox: Outbox, limits: Limits, *, over: bool = False
) -> bool:
    """Wait until a connection can be handed over; False if its peer does not read, and it has ended.

    Before that `gone` is called, which lets go of the bot here. The caller hands the connection over at
    once. One whose peer has yet to read something holds up nobody, nor does one of which `gone` fails. It
    goes nowhere if it is `over`: hung up on after its bot had asked for that, and before this is called.
    """
    with leaves.turn as turn:
        if over:
            return False
        gone()
        if outbox.empty:
            await turn.come()
            return outbox.cut_reason is None
    return await outbox.drained(limits.outbox_seconds)


def told_anew(talk: "Talk | None", message: bytes) -> bytes:
    """A message as it is handed over to the process that serves the bot from then on."""
    remembers = remembering(talk)
    return message if remembers is None else remembers.repeated(message)


class Channel(Struct, frozen=True):
    """What a dialect is given of the connection that carries it."""

    host: Host
    say: Say  # sends one message: a line with its end, or the text of a frame
    hang_up: Callable[[str], None]  # with a reason, when everything has been sent
    peer: str  # the address of the other end
    authenticated: Callable[[], None] = lambda: None  # called by `Attendance.come`
    cut: Callable[[str], None] | None = None  # as `hang_up`, on a peer that broke a rule; None: no different


class Talk(Protocol):
    """One bot's side of a dialect: messages in, messages out through the channel that it was made with."""

    @property
    def attendance(self) -> Attendance: ...

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one message, which arrived at `at` and has been noted on the bot's tape. Never waits.

        It is not `fresh` if it had already been read when the bot was last asked something.
        """
        ...

    def give_up(self, reason: str) -> None:
        """Hang up, telling the bot why if the dialect has words for that."""
        ...

    def gone(self) -> None:
        """The connection is lost, or was closed."""
        ...


@runtime_checkable
class Movable(Talk, Protocol):
    """A talk whose bot may be served by another process for one match, by a talk that `goes_on` there."""

    def remembered(self) -> str | None:
        """What the other talk has to know, in this dialect's own words; None: the bot must stay for now."""
        ...

    def acknowledged(self) -> None:
        """The bot has said something there, for the first time since it was told its token."""
        ...

    def came_back(self, *, over: bool) -> None:
        """The bot is here again; if its match is `over`, it was told so."""
        ...


@runtime_checkable
class Remembers(Talk, Protocol):
    """A talk in which a message may depend on what the bot said before."""

    def has_read(self) -> None:
        """The bot has read all that it was told."""
        ...

    def repeated(self, message: bytes) -> bytes:
        """A message with which a bot comes again, complete for a process that has heard nothing before."""
        ...


_remember: dict[type, bool] = {}  # by the type of a talk: to ask for a protocol takes long


def remembering(talk: Talk | None) -> Remembers | None:
    """The talk, if what its bot says may depend on what it said before."""
    kind = type(talk)
    if kind not in _remember:
        _remember[kind] = isinstance(talk, Remembers)
    return cast("Remembers", talk) if _remember[kind] else None


Speak = Callable[[Channel], Talk]
GoesOn = Callable[[Channel, str], Movable]  # with a bot that was let in elsewhere, from what is remembered


def nowhere(message: bytes) -> Wanted | None:
    """None: the dialect's messages do not say where bots want to play, so they play where they came in."""
    return None


class OverTcp(Struct, frozen=True, kw_only=True):
    """Carried by the TCP port, a message a line."""

    speak: Speak
    recognises: Callable[[bytes], bool] | None  # by its first line; None: all that no other recognises
    longest: Callable[[Limits], int] = lambda limits: limits.json_line_bytes  # the longest line, in bytes
    wanted: Wants = nowhere  # where a bot that comes with a line wants to play; None: no bot comes with it
    goes_on: GoesOn | None = None  # None: its bots stay where they came in
    comes_again: bool = True  # whether a bot may come again over its connection after a match


class OverWebsocket(Struct, frozen=True, kw_only=True):
    """Carried by the websocket port, a message a frame."""

    speak: Speak
    path: str
    code: int  # the code that closes the connection when the dialect hangs up
    at_once: bool = False  # whether a bot has to be in within `limits.hello_seconds`, as over TCP
    wanted: Wants = nowhere  # where a bot that comes with this message wants to play, as over TCP
    goes_on: GoesOn | None = None  # as over TCP


class OverHttp(Struct, frozen=True, kw_only=True):
    """Carried by the HTTP port. Its door says which paths it serves."""

    serve: Callable[[Host, Settings], HttpDoor]


class Hint(Struct, frozen=True):
    """A secret that leads once to the host that told of it; nobody waits to hear of it."""

    key: str


@runtime_checkable
class Leads(Protocol):
    """A door whose requests say in their own ways to which of several hosts they belong."""

    @property
    def paths(self) -> frozenset[str]: ...

    def leads(self, request: Request) -> Iterable[Wanted | Hint | str]:
        """What leads to the host that answers, the surest first: a secret of that host, or a bot that comes.

        If it is empty, this host answers.
        """
        ...


class Dialect(Struct, frozen=True, kw_only=True):
    name: str  # of its page in `docs/protocols/`: "connect-4"
    title: str  # as people call it: "the c4-arena"
    carried_by: tuple[OverTcp | OverWebsocket | OverHttp, ...]
    games: tuple[str, ...] | None = None  # those that its wire can express; None: any
    page: Path | None = None  # for authors of bots, in Markdown; None: `docs/protocols/NAME.md`
    prepare: Callable[[], object] | None = None  # slow work, done in a thread when the host has started
