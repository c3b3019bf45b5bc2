"""What several are told in the same words is put into words once.

Not a cache of everything ever said: those who hear of an event hear of it one
right after the other, so remembering the last one is enough.
"""

from collections.abc import Callable


class Once:
    def __init__(self) -> None:
        self._subject: object = None
        self._words = b""

    def __call__(self, subject: object, words: Callable[[], bytes]) -> bytes:
        """`words()`, or what it was when the same subject was asked for last."""
        if subject is not self._subject:
            self._words = words()
            self._subject = subject
        return self._words
