"""What sort of player holds a seat: whoever reads a result should know it.

It decides one thing: a match with a house player counts for nothing.
"""

from collections.abc import Iterable
from enum import StrEnum


class Kind(StrEnum):
    BOT = "bot"  # a program, as far as the host knows
    PERSON = "person"  # somebody who plays by hand, and said so
    HOUSE = "house"  # a house player, for which somebody asked


Kinds = tuple[Kind, Kind]  # of both seats
BOTS: Kinds = (Kind.BOT, Kind.BOT)


def with_the_house(kinds: Iterable[Kind]) -> bool:
    """Whether a match with such players is one with a house player, and so in nobody's rating."""
    return Kind.HOUSE in kinds
