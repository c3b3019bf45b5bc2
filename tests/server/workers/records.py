"""Records of tournaments, as some facts make them."""

from tournament.facts import AnyFact, Opened
from tournament.record import Record


def record(name: str, *facts: AnyFact, game: str = "connect-4", format: str = "round-robin") -> Record:
    found = Record(name, Opened(game, format))
    for fact in facts:
        found.add(fact)
    return found
