"""What a dialect is: a value that says what carries it and how it is spoken.

As a game is one file that declares `GAME`, a dialect is one file or one folder
that declares `DIALECT`. It may be carried in three ways: as lines over TCP, as
frames over a websocket, as requests over HTTP. Whatever carries it brings bytes
and knows nothing of what they mean; the dialect does no I/O.

`server/protocols/catalogue.py` finds the dialects, and
`server/protocols/common/attendance.py` knows which bot is in which state.
`docs/add-a-dialect.md` shows a whole dialect.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from server.config import Settings
from server.host.host import Host
from server.http.routes import HttpDoor
from server.net.limits import Limits
from server.net.outbox import Say
from server.protocols.common.attendance import Attendance


class Channel(Struct, frozen=True):
    """What a dialect is given of the connection that carries it."""

    host: Host
    say: Say  # sends one message: a line with its end, or the text of a frame
    hang_up: Callable[[str], None]  # for this reason, when all that was said has been sent
    peer: str  # the address of the other end
    authenticated: Callable[[], None] = lambda: None  # is for `Attendance.come`, which calls it


class Talk(Protocol):
    """One bot's side of a dialect: messages in, messages out through the channel that it was made with."""

    @property
    def attendance(self) -> Attendance: ...

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one message, which arrived at `at` and has been noted on the bot's tape. Never waits.

        It is not `fresh` if it had been read already when the bot was last asked something.
        """
        ...

    def give_up(self, reason: str) -> None:
        """Hang up, telling the bot why if the dialect has words for that."""
        ...

    def gone(self) -> None:
        """The connection is lost, or was closed."""
        ...


Speak = Callable[[Channel], Talk]


class OverTcp(Struct, frozen=True, kw_only=True):
    """Carried by the TCP port, a message a line."""

    speak: Speak
    recognises: Callable[[bytes], bool] | None  # by its first line; None: whatever no other recognises
    longest: Callable[[Limits], int] = lambda limits: limits.json_line_bytes  # line, in bytes


class OverWebsocket(Struct, frozen=True, kw_only=True):
    """Carried by the websocket port, a message a frame."""

    speak: Speak
    path: str
    code: int  # with which the connection is closed when the dialect hangs up


class OverHttp(Struct, frozen=True, kw_only=True):
    """Carried by the HTTP port. Its door says which paths it serves."""

    serve: Callable[[Host, Settings], HttpDoor]


class Dialect(Struct, frozen=True, kw_only=True):
    name: str  # of its page in `docs/protocols/`: "connect-4"
    title: str  # as people call it: "the c4-arena"
    carried_by: tuple[OverTcp | OverWebsocket | OverHttp, ...]
    games: tuple[str, ...] | None = None  # that its wire can express; None: any
    page: Path | None = None  # for authors of bots, in Markdown; None: `docs/protocols/NAME.md`
    prepare: Callable[[], object] | None = None  # slow work, done in a thread when the host has started
