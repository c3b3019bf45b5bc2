"""Restarting a program in the middle of a match when it has ended, or does not answer.

That costs nothing but time: a question holds the whole match, with all its moves, and is put to the
program once more.
"""

import time
from collections.abc import Callable
from typing import Any

from server.programs.program import Gone, Program

MOST = 5  # restarts in one match: a program that ends each time it is asked will not stop doing so
FIRST_PAUSE = 0.1  # seconds before the first restart; twice as long before each further one


class Restarting:
    def __init__(
        self, start: Callable[[], Program], told: Callable[[str], None], slack: float, most: int = MOST
    ) -> None:
        """`start` starts the program; `told` is called with a sentence when it is started again.

        A program that is started when its time is almost over still has `slack` seconds to answer:
        if the match is lost by then, the answer does no harm.
        """
        self._start, self._told, self._slack, self._most = start, told, slack, most
        self._program = start()
        self._match = ""
        self._restarts = 0  # in this match
        self._unasked: list[str] = []  # unasked lines of the programs before this one

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        """The move, from the program that answers; raises `TimeoutError` or `Gone` after `most` restarts."""
        if question["match"] != self._match:
            self._match, self._restarts = question["match"], 0
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            try:
                return self._program.ask(question, seconds)
            except (TimeoutError, Gone) as why:
                if self._restarts == self._most:
                    raise
                self._restarts += 1
                self._told(
                    f"{why}: it is started again, restart {self._restarts} of {self._most} in this match"
                )
                self._again()
                if until is not None:
                    seconds = max(self._slack, until - time.monotonic())

    @property
    def unasked(self) -> list[str]:
        return [*self._unasked, *self._program.unasked]

    def end(self) -> bool:
        return self._program.end()

    def _again(self) -> None:
        self._unasked += self._program.unasked
        self._program.kill()
        self._program.end()
        time.sleep(FIRST_PAUSE * 2 ** (self._restarts - 1))
        self._program = self._start()
