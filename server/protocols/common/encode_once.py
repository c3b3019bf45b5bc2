"""Encoding once what several bots are told in the same words.

Only the last message is remembered. That is enough, because all who are told of an
event are told one right after the other.
"""

from collections.abc import Callable
from typing import TypeVarTuple, Unpack

Ts = TypeVarTuple("Ts")


class OnceEncoder:
    def __init__(self) -> None:
        self._subject: object = None
        self._words = b""

    def __call__(self, subject: object, words: Callable[[Unpack[Ts]], bytes], *of: *Ts) -> bytes:
        """`words(*of)`, or its last result if the subject is the same."""
        if subject is not self._subject:
            self._words = words(*of)
            self._subject = subject
        return self._words
