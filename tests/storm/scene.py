"""What organisers, bots and spectators of a storm know together."""

from collections import Counter
from random import Random
from typing import Any

from msgspec import Struct, field

from tests.chaos.told import Told
from tests.storm.effects import Effects

GAMES = ("tic-tac-toe", "connect-4", "hexagon-dots")


class Held(Struct):
    """A tournament that somebody has asked for."""

    name: str
    game: str
    format: str


class Scene(Struct):
    chance: Random
    names: tuple[str, ...]  # of the bots of the house protocol
    effects: Effects = field(default_factory=Effects)
    told: Told = field(default_factory=Told)
    held: dict[str, Held] = {}
    opened: int = 0
    matches: list[str] = []  # that have begun, the latest last
    statuses: Counter[str] = field(default_factory=Counter[str])  # of answers to orders
    refusals: Counter[str] = field(default_factory=Counter[str])  # of bots
    orders: int = 0  # that were answered
    calm: bool = False  # everybody does only what lets tournaments come to their end
    awaited: dict[str, list[str]] = {}  # then: the tournaments in which a bot still has to play
    seated: set[str] = set()  # bots that were ever dealt a match
    wrong: list[str] = []

    def begun(self, match: str) -> None:
        if match not in self.matches[-50:]:
            self.matches.append(match)

    def answer(self, what: str, status: int, body: Any = "") -> None:
        """No answer says that the host has failed."""
        if status >= 500 and status != 503:
            self.wrong.append(f"{what} was answered with {status}: {body!r}"[:500])
