"""A series of matches in a file of JSON Lines: first its terms, then each match as soon as it is over.

Where it goes on to another end, its new terms stand before the matches from then on. A file that is
continued may end in the middle of a line, because its writer was killed: that line is cut off, and its
match played again. Any other damage is refused, with the number of the line.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct, structs

from games.game import Pace
from server.exits import Failure, Misuse
from server.net.escaping import json_line, safe
from server.programs.tally import Played

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None

FIXED = ("game", "players", "pace", "plies", "openings", "seed", "think")  # as long as a series goes on


class Terms(Struct, frozen=True, kw_only=True, tag="series", omit_defaults=True, forbid_unknown_fields=True):
    """What is played, and until when; None stands for what was not asked for."""

    game: str
    players: tuple[str, str]
    plies: int | None = None
    openings: str | None = None  # the name of the file
    digest: str | None = None  # of the openings in it
    pace: Pace | None = None
    think: float | None = None
    seed: int | None = None
    sprt: str | None = None
    games: int | None = None  # at most


class Saved(Struct, frozen=True):
    terms: Terms
    matches: list[Played]
    whole: int  # bytes of all complete lines


def saved(path: str) -> Saved:
    """The contents of a file; raises `Misuse`."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise Misuse(f"{path}: cannot be read: {error.strerror}") from None
    whole = content.rfind(b"\n") + 1
    lines = content[:whole].splitlines()
    if not lines:
        raise Misuse(f"{path}: expected matches that were kept with --save, and there is not one whole line")
    terms: Terms = _read(lines[0], Terms, f"{path}, line 1")
    matches: dict[int, Played] = {}
    for number, line in enumerate(lines[1:], 2):
        where = f"{path}, line {number}"
        each: Terms | Played = _read(line, Terms | Played, where)
        if isinstance(each, Terms):
            terms = continued(terms, each, where)
        elif matches.setdefault(each.match, each) is not each:
            raise Misuse(f"{where}: match {each.match} is in an earlier line already")
    return Saved(terms, [*matches.values()], whole)


def continued(terms: Terms, asked: Terms, path: str) -> Terms:
    """The terms of a file, with a new end if one is asked for; raises `Misuse` for other conditions."""
    for name in FIXED:
        before, now = getattr(terms, name), getattr(asked, name)
        if now is not None and now != before:
            was = "none" if before is None else _told(before)
            raise Misuse(f"{path}: expected the {name} that it was saved with, {was}, and got {_told(now)}")
    return structs.replace(terms, sprt=asked.sprt or terms.sprt, games=asked.games or terms.games)


@contextmanager
def keeping(
    path: str | None, before: Saved, *, onto: bool, terms: Terms | None = None
) -> "Generator[Callable[[Played], None]]":
    """A function that keeps each match that it is given, in a new file or, if `onto`, in the existing one.

    `terms` are those from now on; unless given, those before.
    """
    if path is None:
        yield lambda played: None
        return
    try:
        file = (_onto if onto else _afresh)(path, before, terms or before.terms)
    except OSError as error:
        raise _cannot_be_written(path, error) from None
    with file:
        yield lambda played: _keep(file, path, played)


def _onto(path: str, before: Saved, terms: Terms) -> IO[bytes]:
    with ExitStack() as failing:
        file = failing.enter_context(open(path, "r+b", buffering=0))
        _lock(file, path)
        file.seek(before.whole)
        if b"\n" in file.read():  # somebody has kept matches since it was read
            raise _in_use(path)
        file.truncate(before.whole)
        file.seek(before.whole)
        if terms != before.terms:
            _write(file, _line(terms))
        failing.pop_all()
    return file


def _afresh(path: str, before: Saved, terms: Terms) -> IO[bytes]:
    with ExitStack() as failing:
        file = failing.enter_context(open(path, "ab", buffering=0))
        _lock(file, path)
        if Path(path).is_file() and Path(path).stat().st_size:
            raise Misuse(f"{path}: there is something in it already; --resume {path} would go on with it")
        for each in (terms, *before.matches):
            _write(file, _line(each))
        failing.pop_all()
    return file


def _lock(file: IO[bytes], path: str) -> None:
    """Raise `Failure` if another command keeps matches in that file: each would overwrite the other's."""
    if fcntl is None or not Path(path).is_file():
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _in_use(path) from None
    except OSError:
        pass  # some network disks know no locks


def _in_use(path: str) -> Failure:
    return Failure(f"{path}: another command keeps matches there, perhaps one that is stopped")


def _keep(file: IO[bytes], path: str, played: Played) -> None:
    """Keep a match. Once this has returned, killing the process loses nothing of it."""
    try:
        _write(file, _line(played))
    except OSError as error:
        raise _cannot_be_written(path, error) from None


def _write(file: IO[bytes], line: bytes) -> None:
    """Write a whole line: a disk that is nearly full takes a part of it, and says nothing before the next."""
    while line:
        line = line[file.write(line) :]


def _cannot_be_written(path: str, error: OSError) -> Failure:
    return Failure(f"{path}: cannot be written: {error.strerror}")


def _line(value: Terms | Played) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _read(line: bytes, kind: Any, where: str) -> Any:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Misuse(f"{where}: {error}") from None


def _told(term: object) -> str:
    return safe(json_line(term))
