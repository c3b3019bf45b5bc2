"""Texts that many matches share, by number: names, versions, options, and what led to ends.

Texts about ends would differ from bot to bot. So the names of the players are taken out of them, and
put in again when they are read.
"""

from collections.abc import Iterable, Iterator
from sys import intern

MARKS = "\0", "\1"  # in place of the names of both players
AS_IT_IS = "\2"  # before a text in which nothing was replaced

Players = tuple[str, str]


class Texts:
    """The texts; equal ones are held once."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._numbers = {text: number for number, text in enumerate(self._texts)}

    def __getitem__(self, number: int) -> str:
        return self._texts[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __copy__(self) -> "Texts":
        return Texts(self._texts)

    def number(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            text = intern(text)
            number = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return number


def nameless(text: str, players: Players) -> str:
    """The text without the players' names, from which `with_names` makes the same text again."""
    short = text
    for name, mark in zip(players, MARKS, strict=True):
        short = short.replace(name, mark) if name else short
    # An organiser's words may contain anything, even marks.
    return short if with_names(short, players) == text else AS_IT_IS + text


def with_names(text: str, players: Players) -> str:
    if text.startswith(AS_IT_IS):
        return text.removeprefix(AS_IT_IS)
    first, second = players
    return text.replace(MARKS[1], second).replace(MARKS[0], first)
