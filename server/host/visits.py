"""What a door holds while its bot is here: the visit of one connection, and when its place is decided.

`reception.py` lets visitors in, and knows which of them hold a player.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

import trio
from msgspec import Struct

from server.host.unwelcome import Unwelcome
from tournament.player import Player

Key = tuple[str, str]  # the game, and the name as `key` has it

REPLACED = "somebody with the same token has taken over"


class Holder(Protocol):
    """Whoever knows which visit holds a player: the reception."""

    def holds(self, visit: "Visit") -> bool: ...
    def acknowledge(self, visit: "Visit") -> None: ...
    def leave(self, visit: "Visit", for_good: bool) -> None: ...


class Visit:
    """One connection's hold on a player. The player may outlive it, and then belong to another visit."""

    __slots__ = (
        "_decided",
        "_deciding",
        "_reception",
        "digest",
        "key",
        "peer",
        "player",
        "replaced",
        "resumes",
        "returned",
        "shared",
        "token",
        "vanished",
    )

    def __init__(
        self,
        reception: Holder,
        key: Key,
        player: Player,
        token: str | None,
        digest: bytes | None,
        peer: str,
        shared: bool,
    ) -> None:
        self.player = player
        self.token = token  # to come back with; None for bots that cannot
        self.digest = digest  # by which the token can be recognised
        self.peer = peer
        self.key = key
        self.shared = shared  # other bots that come `shared` may have the name as well
        self.returned = False  # the player was known already: it may have a seat somewhere
        self.resumes = False  # its protocol lets it come back, by its token, to a match from before a restart
        # Called when another connection has taken over
        self.replaced: Callable[[str], None] = lambda why: None
        # Called when somebody comes who may be the same bot: as in `Passing`, for one without a connection
        self.vanished: Callable[[], Awaitable[bool]] = never
        self._reception = reception
        self._deciding = False  # its place is being decided
        self._decided: trio.Event | None = None  # set when it is, if somebody waits for that

    @property
    def current(self) -> bool:
        return self._reception.holds(self)

    def expect_current(self) -> None:
        """Raise `Unwelcome` if somebody with the same token has come since."""
        if not self.current:
            raise Unwelcome(REPLACED)

    def acknowledge(self) -> None:
        """The bot has said something since it was told its token, so it must have the token."""
        self._reception.acknowledge(self)

    def leave(self, *, for_good: bool = False) -> None:
        """The connection is gone. A player that can come back keeps its seat for a while."""
        self.decide()
        self._reception.leave(self, for_good)

    def await_decision(self) -> None:
        """Its place is being decided from now on, until `decide`."""
        self._deciding = True

    def decide(self) -> None:
        """It has a place, or none. Whoever hung up meanwhile leaves before other tasks run."""
        self._deciding = False
        if self._decided is not None:
            self._decided.set()
            self._decided = None

    async def decided(self) -> None:
        """Wait until its place is decided."""
        if self._deciding:
            if self._decided is None:
                self._decided = trio.Event()
            await self._decided.wait()


class Present(Struct, frozen=True, array_like=True):
    """Who is here under a name, as another process has to know it."""

    place: str  # its tournament or table
    digest: str  # of the token to which the name belongs, in hexadecimal; "": it came without one
    shared: bool  # others that come `shared` may have the name as well


async def never() -> bool:
    """Whether a bot that holds no connection has vanished: it has none that could be gone."""
    return False
