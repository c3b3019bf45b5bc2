"""Ctrl-C, SIGTERM and SIGHUP between two steps of a command, and not in the middle of one."""

import signal
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from math import inf
from types import FrameType, TracebackType
from typing import Self

AT_ONCE = 1.0  # seconds after a signal in which another one is the same wish, by an impatient hand
SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else ()))


class Interrupts:
    """A context in which each of them raises `KeyboardInterrupt`. A signal that is ignored stays ignored.

    One that follows at once raises nothing: it would stop what the first has begun to clear away.

    Python may lose it: whatever is raised in a finalizer is dropped, for example. So it is raised again after
    the next step that runs to its end, or at the end of the context.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._raised = -inf  # when
        self._restored = ExitStack()
        self.wait = False  # whether a signal is to wait
        self.asked = False  # whether one has come

    def __enter__(self) -> Self:
        _entered.append(self)
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                self._restored.callback(signal.signal, number, signal.signal(number, self._come))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restored.close()
        _entered.remove(self)
        if self.asked and error is None:
            raise KeyboardInterrupt

    def _come(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.wait and (now := self._now()) - self._raised > AT_ONCE:
            self._raised = now
            raise KeyboardInterrupt


_entered: list[Interrupts] = []  # signals are the whole process's


@contextmanager
def later() -> Generator[None]:
    """A context that runs to its end; an interrupt that comes meanwhile is raised after it."""
    for interrupts in _entered:
        interrupts.wait = True
    try:
        yield
    finally:
        for interrupts in _entered:
            interrupts.wait = False
    if any(interrupts.asked for interrupts in _entered):
        raise KeyboardInterrupt
