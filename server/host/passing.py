"""Connections that another process may serve for one match: what passes one on needs of its door.

Nothing here knows of the other process. The code that deals a match finds the door's end of a
player's connection in `Player.connection`; a door that cannot pass anything on leaves that
empty.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol, cast

from msgspec import Struct

from server.host.wire_log import TapeSnapshot
from server.net.limits import BudgetLeft
from server.net.turns import after_hang_ups
from server.net.wire import Piece
from tournament.player import Player, Seat


class Passed(Struct, frozen=True, eq=False):
    """A connection that is passed on. Nobody here reads from it or writes to it until it is back."""

    door: Literal["tcp", "websocket"]
    dialect: str  # over TCP, by its name
    path: str  # of a websocket
    peer: str
    secure: bool
    words: str  # what its dialect remembers of the bot, in that dialect's words
    budget: BudgetLeft | None  # of what the bot may say
    descriptor: socket.socket


class Passing(Protocol):
    """A connection, in the process where it came in."""

    def pass_on(self, recall: Callable[[], None]) -> Passed | None:
        """Let go of the connection; None: not now. `recall` asks for it back before the match is over."""
        ...

    def stay(self) -> None:
        """The connection is not passed on after all."""
        ...

    def acknowledged(self) -> None:
        """The bot has said something in the other process, for the first time since it was told its token."""
        ...

    def back(
        self,
        pieces: Sequence[Piece],
        tape: TapeSnapshot,
        home: tuple[Seat, int] | None,
        budget: BudgetLeft | None,
    ) -> None:
        """It is served here again, from these bytes on. Its match is over, or is `home` and goes on in that
        seat, where the bot has been told of that many events. That much `budget` is left of what it may
        say."""
        ...

    def left(self, tape: TapeSnapshot, *, for_good: bool, cut: bool) -> None:
        """The bot hung up in the other process, or was `cut` off and is being told goodbye."""
        ...

    def close(self) -> None:
        """The connection has ended."""
        ...

    async def hung_up(self) -> bool:
        """Whether the bot has hung up; if another process serves it, once that has said so."""
        ...

    async def vanished(self) -> bool:
        """Whether the bot's machine answers no more: then the bot is hung up on, which is as if it had."""
        ...


async def after_hang_ups_of(players: Iterable[Player]) -> None:
    """Let hang-ups of these be taken in that may have come before what was just read, wherever they play."""
    await after_hang_ups()
    for connection in [cast("Passing | None", player.connection) for player in players]:
        if connection is not None and await connection.hung_up():
            await after_hang_ups()  # it may have come back just now, and its end is read here
