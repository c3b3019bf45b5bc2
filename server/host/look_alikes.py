"""What looks like what: the skeleton of a text, which is the same for names that people would confuse.

Skeletons are those of Unicode Technical Standard #39, with the data in
`look-alikes.txt` beside this file, and three additions: case does not matter,
accents do not, and small capitals are the letters that they show. A skeleton is
never shown to anybody.
"""

import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import ascii_lowercase

from msgspec import Struct

DATA = Path(__file__).with_name("look-alikes.txt")
BLANK = frozenset("\u2800\U0001d159\U00016fe4")  # a Braille cell, a note and a filler that show nothing
APART = {"ĸ": "k", "ꞓ": "e", "ʍ": "m"}  # for к, ε and м in the data; people take them for Latin letters
ONE_STROKE = {"i": "l"}  # a capital i looks like an l, and case does not matter
ROUNDS = 8  # of taking letters for others; two or three are enough


class Alike(Struct, frozen=True):
    version: str  # of Unicode
    ignorable: frozenset[int]  # code points that cannot be seen
    shapes: Mapping[int, str]  # by code point: what it is taken for


@cache
def alike() -> Alike:
    """The data, read once."""
    lines = [line for line in DATA.read_text("utf-8").splitlines() if not line.startswith("#")]
    version, ignorable, *groups = lines
    shapes: dict[int, str] = {}
    for group in groups:
        stands, _, others = group.partition(": ")
        shown = "".join(chr(int(code, 16)) for code in stands.split())
        shapes |= dict.fromkeys((int(code, 16) for code in others.split()), shown)
    shapes |= {ord(letter): shown for letter, shown in APART.items()}
    shapes |= {ord(small): letter for letter in ascii_lowercase if (small := _small_capital(letter))}
    return Alike(version.partition(" ")[2], frozenset(_code_points(ignorable)), shapes)


def is_unseen(character: str) -> bool:
    """Whether a character is never shown, or may not be shown on some systems."""
    return character in BLANK or ord(character) in alike().ignorable


def skeleton(text: str) -> str:
    """Equal for texts that look alike."""
    return text.translate(_of_ascii()) if text.isascii() else shape(text)


@cache
def _of_ascii() -> Mapping[int, str]:
    """The skeletons of single characters: most names have no others, and a start looks at all names."""
    return {code: shape(chr(code)) for code in range(128)}


def shape(text: str) -> str:
    """The skeleton of any text, worked out step by step."""
    looks = _looks(text)  # first as written: a capital may look like what its small letter does not
    for _ in range(ROUNDS):
        again = _looks(looks.casefold())
        if again == looks:
            break
        looks = again
    return looks.translate({ord(one): other for one, other in ONE_STROKE.items()})


def _looks(text: str) -> str:
    shapes = alike().shapes
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFD", text).translate(shapes))
    return "".join(c for c in plain.translate(shapes) if unicodedata.category(c) != "Mn")


def _small_capital(letter: str) -> str:
    """The small capital of a letter; there is none of x."""
    try:
        return unicodedata.lookup(f"LATIN LETTER SMALL CAPITAL {letter}")
    except KeyError:
        return ""


def _code_points(line: str) -> list[int]:
    ranges = (each.partition("-") for each in line.split()[1:])
    return [code for first, _, last in ranges for code in range(int(first, 16), int(last, 16) + 1)]
