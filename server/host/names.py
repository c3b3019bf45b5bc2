"""What somebody may be called.

A name is shown to people, told to other bots and compared by old protocols, so
it must be one that nobody can mistake for another: no controls, nothing
invisible, no letters of two alphabets that look alike, nothing reserved.
"""

import unicodedata
from functools import lru_cache

from games.catalogue import catalogue

LONGEST = 32  # characters
KNOWN = 4096  # names that were looked at before: a bot may come for each match anew
RESERVED = frozenset({"draw"})  # on the Santorini wire a name stands where "Draw" may stand

# Categories of characters that no name has: controls, formats (bidi, zero width), surrogates, private,
# unassigned, separators of lines and paragraphs.
_NEVER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ALIKE = frozenset(
    {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"}
)  # alphabets that share shapes
_SHAPES = str.maketrans("аеорсухіјѕһԁԛԝӏвкмнтαορνικχυε", "aeopcyxijshdqwlbkmhtaopvikxue")


class BadName(ValueError):
    """A name that cannot be had. The message is for whoever chose it."""


@lru_cache(KNOWN)
def checked(name: str, game: str | None = None) -> str:
    """The name without blanks around it, if it may be one, and in that game."""
    name = name.strip(" \t\r")
    if not name:
        raise BadName("a name has at least one character")
    if len(name) > LONGEST:
        raise BadName(f"a name has at most {LONGEST} characters, and this one has {len(name)}")
    if any(unicodedata.category(character) in _NEVER for character in name):
        raise BadName("a name has no control, invisible or bidirectional characters")
    if any(character.isspace() and character != " " for character in name):
        raise BadName("the only blank that a name may have is the ordinary one")
    alphabets = {unicodedata.name(letter, "").split(" ")[0] for letter in name if letter.isalpha()} & _ALIKE
    if len(alphabets) > 1:
        raise BadName(f"letters of {' and '.join(sorted(alphabets))} in one name look alike")
    if key(name) in RESERVED | _opponents(game):
        raise BadName(f"{name} is a reserved word")
    return name


def _opponents(game: str | None) -> frozenset[str]:
    """The names of a game's house players, whom bots ask for by name."""
    rules = None if game is None else catalogue().get(game)
    return frozenset() if rules is None else frozenset(opponent.name for opponent in rules.opponents)


@lru_cache(KNOWN)
def key(name: str) -> str:
    """Equal for names that people would take for the same."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    plain = "".join(c for c in unicodedata.normalize("NFD", folded) if unicodedata.category(c) != "Mn")
    return " ".join(plain.translate(_SHAPES).split())
