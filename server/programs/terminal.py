"""Printing by commands: results on standard output, everything else on standard error.

Everything that is printed has gone through `safe`, but for what `say_unchanged` writes into a file or a pipe.
Colours and progress are for a terminal only, and colours not where `NO_COLOR` is set.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext, suppress
from typing import BinaryIO

from server.exits import Failure
from server.log_writer import tell
from server.net.escaping import safe
from server.programs.printing import printing

Step = Callable[..., None]
More = Callable[[float], None]
HUNDREDTHS = 100
WIDE_ENOUGH = 60  # characters: below, there is no bar, or nothing would be left for words and figures
FIGURES = 24  # characters, for how many of how many and how long it takes


def say(text: str) -> None:
    """Print a result."""
    with printing():
        print(safe(text, cut=None), flush=True)  # noqa: T201


def say_unchanged(lines: Iterable[bytes]) -> None:
    """Print a result of which every character counts. On a terminal it is escaped like any other."""
    if sys.stdout.isatty():
        for line in lines:
            say(line.decode().removesuffix("\n"))
        return
    with printing():
        sys.stdout.buffer.writelines(lines)
        sys.stdout.buffer.flush()


def note(text: str) -> None:
    """Print something that is not a result, for the person at the keyboard, if somebody reads it."""
    tell(f"{safe(text, cut=None)}\n", sys.stderr)


def expect_consent(question: str) -> None:
    """Ask whoever sits at the terminal before what cannot be undone; raises `Failure` unless they say yes.

    Where nobody sits, as in a script, nobody is asked.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    tell(f"{safe(question, cut=None)} [y/N] ", sys.stderr)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure("nothing was changed")


@contextmanager
def progress(what: str, total: int, done: int = 0) -> "Generator[Step]":
    """A bar on standard error, if that is a terminal.

    It yields a function to call for each step, if need be with a text to show beside the bar from
    then on.
    """
    if not sys.stderr.isatty():
        yield _nothing
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    narrow = screen.width < WIDE_ENOUGH

    def described(words: str) -> str:
        if narrow and len(words) > (most := max(1, screen.width - FIGURES)):
            words = "…" + words[1 - most :] if most > 1 else "…"  # the end says how it stands
        return escape(safe(words))

    def step(now: str | None = None) -> None:
        bar.update(task, advance=1, description=None if now is None else described(now))

    shown = (column for column in columns if not (narrow and isinstance(column, BarColumn)))
    with Progress(*shown, console=screen, transient=True) as bar:
        task = bar.add_task(described(what), total=total, completed=done)
        yield step


@contextmanager
def share(what: str, whole: float) -> Generator[More]:
    """A bar in hundredths, for what has too many steps to be told of each; none if the `whole` is 0.

    It yields a function to call with how much more of the whole is done.
    """
    with progress(what, HUNDREDTHS) if whole else nullcontext(_nothing) as step:
        done, shown = 0.0, 0

        def more(amount: float) -> None:
            nonlocal done, shown
            done += amount
            while shown < HUNDREDTHS and done * HUNDREDTHS >= (shown + 1) * whole:
                step()
                shown += 1

        yield more


def size_of(file: BinaryIO) -> int:
    """How many bytes a file has; 0 for a pipe, of which nobody knows."""
    with suppress(OSError):
        return os.fstat(file.fileno()).st_size
    return 0


def _nothing(now: str | None = None) -> None:
    """A step of which nobody is told."""
