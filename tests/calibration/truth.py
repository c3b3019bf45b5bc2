"""Simulated events: what the bots are really worth, and how a match between them ends.

Strengths are normally distributed. Whoever moves first is so much stronger. From the difference
follows the expected score p, as everywhere in the project. Of all games between equals a share is drawn,
and of others a share of that in proportion to p (1 − p), but never more than p allows.
"""

from collections.abc import Callable, Sequence
from random import Random

from msgspec import Struct

from tournament.format import Entrant, Pairing, Result, Terms, formats

Event = Callable[["World"], list[Result]]


class World(Struct):
    """What is true in an event."""

    random: Random
    strengths: Sequence[float]  # Elo
    draws: float  # the share of games between equals
    advantage: float  # Elo, of moving first

    @property
    def entrants(self) -> list[Entrant]:
        return [Entrant(str(number)) for number in range(len(self.strengths))]

    @property
    def centred(self) -> list[float]:
        mean = sum(self.strengths) / len(self.strengths)
        return [strength - mean for strength in self.strengths]

    def play(self, pairing: Pairing) -> Result:
        """A match, or a bye."""
        if pairing.second is None:
            return Result(pairing, (1.0, 0.0), played=False)
        ahead = self.strengths[int(pairing.first)] - self.strengths[int(pairing.second)] + self.advantage
        expected = 1 / (1 + 10 ** (-ahead / 400))
        drawn = min(4 * self.draws * expected * (1 - expected), 2 * expected, 2 * (1 - expected))
        chance = self.random.random()
        score = 0.5 if chance < drawn else float(chance < expected + drawn / 2)
        return Result(pairing, (score, 1 - score))


def world(random: Random, bots: int, spread: float, draws: float, advantage: float) -> World:
    return World(random, [random.gauss(0, spread) for _ in range(bots)], draws, advantage)


def held(format: str, matches: int | None = None, rounds: int | None = None) -> Event:
    """An event of a format, which plays everything as it is drawn; a ladder, so many matches."""

    def event(world: World) -> list[Result]:
        draw, entrants = formats()[format].draw, world.entrants
        terms = Terms(rounds, seed=world.random.randrange(1 << 30))
        drawn: list[Pairing] = []
        results: list[Result] = []
        while (matches is None or len(results) < matches) and (new := draw(entrants, drawn, results, terms)):
            drawn += new
            results += map(world.play, new)
        return results

    return event
