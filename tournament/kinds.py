"""What sort of player holds a seat: whoever reads a result should know.

It decides one thing: a match with a player of the host's own counts for nothing.
"""

from collections.abc import Iterable
from enum import StrEnum


class Kind(StrEnum):
    BOT = "bot"  # a program, for all that the host knows
    PERSON = "person"  # who plays by hand, and said so
    HOUSE = "house"  # the host's own, whom somebody asked for


Kinds = tuple[Kind, Kind]  # of both seats
BOTS: Kinds = (Kind.BOT, Kind.BOT)


def with_the_house(kinds: Iterable[Kind]) -> bool:
    """Whether a match with such players is one with the host's own, and so in nobody's rating."""
    return Kind.HOUSE in kinds
