"""Printing by commands: results on standard output, everything else on standard error.

Everything that is printed has gone through `safe`. Colours and progress
are for a terminal only, and colours not where `NO_COLOR` is set.
"""

import io
import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import BinaryIO

from server.exits import Failure
from server.log_writer import tell
from server.net.escaping import safe
from server.programs.printing import printing

Step = Callable[..., None]
More = Callable[[float], None]
HUNDREDTHS = 100
WIDTH = 100  # characters of a table, unless the words in it need more
ENDLESS = 10**6  # characters, wider than any table
WIDE_ENOUGH = 60  # characters: below, there is no bar, or nothing would be left for words and figures
FIGURES = 24  # characters, for how many of how many and how long it takes


def say(text: str) -> None:
    """Print a result."""
    with printing():
        print(safe(text, cut=None), flush=True)  # noqa: T201


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


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None) -> str:
    """Rows under headings. A heading that ends in a space is for words, flush left; others are for figures.

    Where there are no rows, there are no headings either. Sentences may go on on the next line. Names are
    whole, however long they are: they are copied from here, and searched for.
    """
    lines = [["" if cell is None else safe(str(cell), cut=None) for cell in row] for row in rows]
    if not lines:
        return safe(title or "", cut=None)
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD)
    for heading, cells in zip(headings, zip(*lines, strict=True), strict=True):
        words = "left" if heading.endswith(" ") else "right"
        sentences = any(" " in cell for cell in cells)
        drawn.add_column(heading.rstrip(), justify=words, no_wrap=not sentences, overflow="fold")
    for line in lines:
        drawn.add_row(*map(Text, line))
    out = io.StringIO()
    console = Console(file=out, width=WIDTH, color_system=None)
    least = console.measure(drawn, options=console.options.update(width=ENDLESS)).minimum
    console.width = max(WIDTH, least)
    console.print(drawn)
    shown = "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))
    if not _has("─"):
        shown = shown.replace("─", "-")
    return f"{safe(title, cut=None)}\n{shown}" if title else shown


def _has(letter: str) -> bool:
    """Whether the encoding of standard output has this letter; a file on Windows has but 256 of them."""
    try:
        letter.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


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
