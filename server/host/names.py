"""What a bot may be called.

A name is shown to people, told to other bots and compared by old protocols, so
it must be one that nobody can mistake for another: no controls, nothing
invisible, no letters of two alphabets that look alike, nothing reserved.
`look_alikes.py` knows what looks like what.
"""

import unicodedata
from functools import cache, lru_cache

from games.catalogue import catalogue
from server.host.look_alikes import is_unseen, skeleton
from server.host.practice import SPARRING
from tournament.sizes import NAME

LONGEST = NAME  # characters
KNOWN = 4096  # names whose check is remembered: a bot may come anew for each match
RESERVED = (
    "Draw",  # on the Santorini wire, this may stand in place of a name
    *("organiser", "host", "the host", "Arena", "the Arena"),  # those who speak for the event
    *("random", "aima"),  # house players that every client of the c4-arena knows
)
LATELY = ("first", "greedy", "alphabeta")  # house players that were added after bots had these names

# Categories of characters that no name has: controls, formats (bidi, zero width), surrogates, private,
# unassigned, separators of lines and paragraphs.
_NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Joiners and selectors that nobody sees: keyboards write them into hearts, families and other emoji.
_IN_EMOJI = frozenset("\u200d\ufe0f")
# Alphabets that share shapes
_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})


class BadName(ValueError):
    """A name that nobody may have. The message is for whoever chose it."""


class LatelyReserved(BadName):
    """The name of a house player that bots could have before that player was added."""


def checked(name: str) -> str:
    """The name without spaces around it; raises `BadName` if nobody may have it."""
    return _checked(bare(name))


@lru_cache(KNOWN)
def _checked(name: str) -> str:
    if not name:
        raise BadName("a name has at least one character, and this one has none")
    if len(name) > LONGEST:
        raise BadName(f"a name has at most {LONGEST} characters, and this one has {len(name)}")
    for place, character in enumerate(name, 1):
        if unicodedata.category(character) in _NEVER or is_unseen(character):
            code = f"U+{ord(character):04X}, character {place} of this one"
            if character in _IN_EMOJI:
                raise BadName(f"a name has nothing invisible, and {code}, is part of some emoji: use another")
            raise BadName(f"a name has no control, invisible or bidirectional characters, such as {code}")
    if any(character.isspace() and character != " " for character in name):
        raise BadName("the only space that a name may have is the ordinary one")
    alphabets = {unicodedata.name(letter, "").split(" ")[0] for letter in name if letter.isalpha()} & _ALIKE
    if len(alphabets) > 1:
        raise BadName(f"letters of {' and '.join(sorted(alphabets))} in one name look alike")
    if not key(name):
        raise BadName("a name has at least one character that is not an accent")
    if key(name) in _reserved():
        lately = key(name) in map(key, LATELY)
        raise (LatelyReserved if lately else BadName)(f"{name} is a reserved word")
    return name


def bare(name: str) -> str:
    """A name as everybody is told it: without the spaces that a bot has put around it."""
    return name.strip(" \t\r")


@cache
def _reserved() -> frozenset[str]:
    """The keys of names that no bot may have, including all opponents that bots ask for by name."""
    opponents = (opponent.name for game in catalogue().values() for opponent in game.opponents)
    return frozenset(map(key, (*RESERVED, *opponents, *(opponent.name for opponent in SPARRING))))


def key(name: str) -> str:
    """Equal for names that people would take for the same. What is too long for a name is like nothing else.

    Bots say anything, and doors look for somebody of that name before they refuse it.
    """
    name = bare(name)
    return name if len(name) > LONGEST else _key(name)


@lru_cache(KNOWN)
def _key(name: str) -> str:
    return " ".join(skeleton(name).split())
