"""What a bot's side of a wire is, whichever wire that may be.

A `Talk` hides which wire it is: it comes, hears what matters to whoever plays,
and says moves. Every question that it hears is checked against the position
that the host has: a bot must be told no other.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
from msgspec import Struct
from wsproto.utilities import LocalProtocolError

from tests.server.ends import End
from tests.server.windowed import End as Wire
from tournament.match import Match

WON, LOST, DRAWN, NOTHING = "won", "lost", "drawn", "nothing"  # what a bot was told of a match


class Gone(Exception):
    """The connection is lost; if it was torn in the middle of a message, it says of which."""


class Shut(Exception):
    """The host does not let the bot in, and says why."""


class Misled(Exception):
    """The host has said what it should not."""


class Asked(Struct, frozen=True):
    """It is this bot's turn."""


class Over(Struct, frozen=True):
    """A match is over."""

    result: str
    match: str | None = None  # where the wire says it, …
    ending: tuple[str, str] | None = None  # … why it stopped, and that in words


class Done(Struct, frozen=True):
    """The tournament is over."""


Heard = Asked | Over | Done


class Town:
    """What a bot may use of the place that it plays at."""

    name: str  # of the tournament

    @property
    def over(self) -> bool:
        """The tournament is."""
        raise NotImplementedError

    def dial(self, door: str, bot: str) -> Wire:
        """A new connection to a door."""
        raise NotImplementedError

    def battle(self, name: str) -> tuple[Match, int] | None:
        """The match of a battle at the Arena, and the seat whose it is."""
        raise NotImplementedError

    def playing(self, name: str) -> tuple[Match, int] | None:
        """The match that somebody is in, and its seat."""
        raise NotImplementedError

    def number(self, name: str, called: Callable[[str, dict[str, Any]], Any]) -> str:
        """An address at which somebody can be called."""
        raise NotImplementedError


class Talk:
    """One bot's side of its wire, over all connections that it makes."""

    resigns = False  # there is a word for that

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        self.name = name
        self.game = game
        self.town = town
        self.chance = chance
        self.prompt = prompt  # it reads what it is told before anything more can happen
        self.complaints: list[str] = []  # what no honest bot should be told

    @property
    def wires(self) -> list[Wire]:
        """Its connections."""
        raise NotImplementedError

    def survives(self, what: str) -> bool:
        """Whether it can go on if that befalls a connection now."""
        return what == "stall"

    async def come(self) -> None:
        """Connect, and say who it is."""
        raise NotImplementedError

    async def hear(self) -> Heard:
        """The next that matters. Raises `Gone`, `Shut` and `Misled`."""
        raise NotImplementedError

    async def move(self, match: Match, sent: Any) -> None:
        """Say a move, or what is to pass for one, as the game writes it."""
        raise NotImplementedError

    async def babble(self, junk: str) -> None:
        """Say what nobody asked for."""
        raise NotImplementedError

    async def resign(self) -> None:
        raise NotImplementedError

    async def leave(self) -> None:
        """Say goodbye, and hang up."""
        for wire in self.wires:
            wire.close()

    def expect(self, told: object, shown: object) -> None:
        if told != shown:
            raise Misled(f"was told {told}, while it is {shown}")

    def is_so(self, told: object, shown: object) -> bool:
        """Whether what was told is so still. An honest bot is so quick that it must be."""
        if self.prompt:
            self.expect(told, shown)
        return told == shown

    def result(self, winner: object, own: object) -> str:
        return NOTHING if winner is None else DRAWN if winner == "draw" else WON if winner == own else LOST


class Connected(Talk):
    """A wire that is one connection."""

    end: End | None = None
    wire: Wire

    @property
    def wires(self) -> list[Wire]:
        return [] if self.end is None else [self.wire]

    async def say(self, text: str) -> None:
        assert self.end is not None
        try:
            await self.end.say(text)
        except LocalProtocolError:
            raise Gone from None  # the host has said goodbye

    async def next(self) -> str:
        assert self.end is not None
        try:
            text = await self.end.hear()
        except AssertionError as torn:
            raise Gone(torn) from None
        if text is None:
            raise Gone
        return text


def encoded(message: object) -> str:
    return msgspec.json.encode(message).decode()


def shown(match: Match, ply: int) -> object:
    """The position as JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(match.game.show(match.positions[ply], match.names)))
