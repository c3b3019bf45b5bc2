"""How far a long piece of work has come, for whoever looks: told in bytes, or in entries of a journal.

What is done at a time is told to a function, which may show it to somebody. This file shows nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

More = Callable[[float], None]  # is called with how much more has been done
T = TypeVar("T")


def nobody_looks(amount: float) -> None:
    """Work of which nobody is told."""


def counted(lines: Iterable[bytes], more: More) -> Iterator[bytes]:
    """Lines, whose bytes are told as they are read."""
    for line in lines:
        more(len(line))
        yield line


def watched(values: Sequence[T], whole: float, more: More) -> Iterator[T]:
    """Values that together are so much work, of which each is told its share."""
    for value in values:
        yield value
        more(whole / len(values))
