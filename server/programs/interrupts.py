"""Ctrl-C and SIGTERM between two steps of a command, and not in the middle of one."""

import signal
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """A context in which either signal raises `KeyboardInterrupt`. A signal that is ignored stays ignored.

    Python may lose it: whatever is raised in a finalizer is dropped, for example. So it is raised again after
    the next step that runs to its end, or at the end of the context.
    """

    def __init__(self) -> None:
        self._restored = ExitStack()
        self._waits = False  # whether a signal has come and waits
        self._asked = False

    @contextmanager
    def later(self) -> Generator[None]:
        """A context that runs to its end; an interrupt that comes meanwhile is raised after it."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False
        if self._asked:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                self._restored.callback(signal.signal, number, signal.signal(number, self._come))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restored.close()
        if self._asked and error is None:
            raise KeyboardInterrupt

    def _come(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if not self._waits:
            raise KeyboardInterrupt
