"""What several are told in the same words is put into words once.

Not a cache of everything ever said: those who hear of an event hear of it one
right after the other, so remembering the last one is enough.
"""

from collections.abc import Callable
from typing import TypeVarTuple, Unpack

Ts = TypeVarTuple("Ts")


class Once:
    def __init__(self) -> None:
        self._subject: object = None
        self._words = b""

    def __call__(self, subject: object, words: Callable[[Unpack[Ts]], bytes], *of: *Ts) -> bytes:
        """`words(*of)`, or what it was when the same subject was asked for last."""
        if subject is not self._subject:
            self._words = words(*of)
            self._subject = subject
        return self._words
