"""A game of another package that fails while a command uses it: a line says so, and no traceback of ours."""

import sys
from importlib.metadata import entry_points
from traceback import extract_tb, walk_tb
from types import TracebackType

from server.log_writer import tell, tell_traceback


def told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A `sys.excepthook`: a line if such a game has failed, or else the traceback."""
    if (said := failing(error, trace)) is None:
        tell_traceback(kind, error, trace)
    else:
        tell(f"quintain: {said}\n", sys.stderr)


def failing(error: BaseException, trace: TracebackType | None) -> str | None:
    """Which code of such a game has raised an error, or has called what raised it; None if none has."""
    if (catalogue := sys.modules.get("games.catalogue")) is None:  # then no game was looked for
        return None
    packages = {entry.module.partition(".")[0] for entry in entry_points(group=catalogue.GROUP)}
    frames = [
        place
        for (frame, _), place in zip(walk_tb(trace), extract_tb(trace), strict=True)
        if str(frame.f_globals.get("__name__")).partition(".")[0] in packages
    ]
    unsound = getattr(sys.modules.get("games.soundness"), "Unsound", ())
    if not frames and not isinstance(error, unsound):
        return None
    from server.net.escaping import safe  # what it imports, no help page needs

    where = f", in {frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    return safe(f"a game of another package fails{where}: {catalogue.in_words(error)}", cut=None)
