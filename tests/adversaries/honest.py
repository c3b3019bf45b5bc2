"""Honest bots: each plays in its dialect, thinks a moment about each move, and comes back when hung up on.

What they note is how long moves take. What they won, the record says.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import trio
from msgspec import Struct, field

from tests.adversaries.scripts import OPTIONS, Script, script
from tests.adversaries.wires import Gone
from tests.attacks.attacks import Ports

THINKS = 0.03  # seconds a move
AGAIN = 0.05  # seconds until a bot that was hung up on comes back


class Noted(Struct):
    """What honest bots noted, all together; seconds with the time at which they were over."""

    took: list[tuple[float, float]] = []  # from sending a move until it was told
    waited: list[tuple[float, float]] = []  # at open tables, for others to move
    over: Counter[str] = field(default_factory=Counter[str])  # matches, by tournament; both note them
    cut: Counter[str] = field(default_factory=Counter[str])  # who was hung up on or refused, and why


class Watch:
    """How long moves take. Two bots share one if only the opponent is told at once."""

    def __init__(self, noted: Noted) -> None:
        self._noted = noted
        self._sent: float | None = None

    def sent(self) -> None:
        self._sent = trio.current_time()

    def told(self) -> None:
        """If a move has been sent, this is what came of it."""
        if self._sent is not None:
            now = trio.current_time()
            self._noted.took.append((now, now - self._sent))
            self._sent = None

    def forget(self) -> None:
        """Nothing will come of what was sent: the match is over, or the connection."""
        self._sent = None


class Bot:
    """One honest bot, for as long as there is a host."""

    def __init__(self, name: str, pair: "Pair", ports: Ports, noted: Noted, watch: Watch) -> None:
        self.name = name
        self.pair = pair
        self.script: Script = script(pair.game)
        self.game = self.script.game
        self.ports = ports
        self.noted = noted
        self.watch = watch
        self.token = token(name, pair.game)
        self.here = trio.Event()  # it has been dealt a match

    async def run(self) -> None:
        while True:
            try:
                await self.pair.visit(self)
            except (Gone, OSError) as error:
                self.noted.cut[f"{self.name} of {self.pair.tournament}: {error}"[:200]] += 1
                self.watch.forget()
            await trio.sleep(AGAIN)

    async def think(self) -> None:
        await trio.sleep(THINKS)
        self.watch.sent()

    def over(self) -> None:
        self.noted.over[self.pair.tournament] += 1

    def waited(self, since: float | None) -> None:
        """Somebody else has moved, or need not any more."""
        if since is not None:
            now = trio.current_time()
            self.noted.waited.append((now, now - since))

    async def connected(self, port: int) -> trio.SocketStream:
        return await trio.open_tcp_stream("127.0.0.1", port)


class Pair(Struct, frozen=True):
    """Two who play each other."""

    names: tuple[str, str]
    tournament: str
    game: str
    visit: Callable[[Bot], Awaitable[None]]  # in a dialect, until hung up on
    share_a_watch: bool = False

    @property
    def options(self) -> Mapping[str, Any]:
        return OPTIONS.get(self.game, {})

    def bots(self, ports: Ports, noted: Noted) -> list[Bot]:
        both = Watch(noted) if self.share_a_watch else None
        return [Bot(name, self, ports, noted, both or Watch(noted)) for name in self.names]


def token(name: str, game: str) -> str:
    """What an honest bot keeps secret."""
    return f"{name}-of-{game}-keeps-this-secret"
