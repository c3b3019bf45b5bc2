"""Taking tournaments out of a store, once a file has all of them.

A journal grows for as long as its host plays, and this is the only thing that makes it smaller. The file is
on the disk, and has been read as an import reads it and compared with the store, before anything is deleted.
"""

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from server.exits import Failure, Unavailable
from server.export.passing import More, nobody_looks
from server.export.signing import Signer
from server.export.transfer import CONCLUDED, READINGS, STAGES, bring_in, kept_under, leaving_as_kept
from server.export.verify import bounded_lines
from server.store import private
from server.store.caches import BOARDS
from server.store.copies import whole_or_none
from server.store.journal import Engine
from server.store.snapshots import FILE, OF_WHOLE, folded
from tournament import entries
from tournament.chain import START, leaf, linked
from tournament.facts import HOST, Ordered, State
from tournament.folding import called
from tournament.record import Record

OVER = (State.FINISHED, State.DELETED)
BY = "quintain archive"  # who has ordered it
Shown = Callable[[str, float], AbstractContextManager[More]]  # what is done, and how much there is of it


def to_nobody(what: str, whole: float) -> AbstractContextManager[More]:
    """Nobody looks at how far it is."""
    return nullcontext(nobody_looks)


def named(engine: Engine, folder: Path, names: Collection[str]) -> list[str]:
    """What the store calls these tournaments; raises `Failure` if one is not there, or is still played."""
    records, latest = folded(engine, folder / FILE).records, engine.latest()
    kept = list(dict.fromkeys(kept_under(name, engine, latest) for name in names))
    for each in kept:
        if why := _goes_on(records[each]):
            raise Failure(f"{called(each)} {why}")
    return kept


def long_over(engine: Engine, folder: Path, before: float) -> list[str]:
    """What the store calls the tournaments that are over or deleted, and of which nothing was kept since."""
    records, latest = folded(engine, folder / FILE).records, engine.latest()
    return [name for name, record in records.items() if record.state in OVER and latest[name] < before]


def size(engine: Engine, kept: str) -> int:
    """How many facts of a tournament there are.

    Raises `Failure` if somebody has changed one in the database: no head in the file would show that.
    """
    head, match, receipt, facts = START, None, START, 0
    for row in engine.kept(0, kept):
        head = linked(head, leaf(row))
        facts += 1
        if row.kind == CONCLUDED and row.key is not None:
            match, receipt = row.key.partition(" ")[2], head
    if match is not None and engine.receipt(kept, match) != receipt.hex():
        raise Failure(f"{called(kept)} was changed in the store: the receipt for {match} no longer fits")
    return facts


def _goes_on(record: Record) -> str:
    """Why a tournament cannot be taken out."""
    if record.state in OVER:
        return ""
    if not record.format.endless:
        return f"is not over, but {record.state}: end or delete it first, on the running host"
    if record.dealt:
        return f"has matches in play, such as {min(record.dealt)}: start the host again to end them"
    return ""


def take_out(
    engine: Engine,
    folder: Path,
    kept: Sequence[str],
    file: Path,
    signer: Signer | None = None,
    shown: Shown = to_nobody,
) -> None:
    """Write tournaments to a new file, and delete them from the store; raises `Failure`, and does neither.

    How far it is, is `shown`: for each of two stages there is a whole.
    """
    try:
        if file.exists():
            raise _is_there(file)
        facts = sum([size(engine, each) for each in kept])
        private.make_folder(file.parent)
        with whole_or_none(file) as part:
            with part.open("wb") as written, shown("write", READINGS * facts) as more:
                written.writelines(leaving_as_kept(engine, kept, signer, more))
            with shown("check", STAGES * part.stat().st_size) as more:
                _expect_all(engine, folder, kept, part, more)
            private.synced(part)
            file.touch(private.FILE, exist_ok=False)  # or two hosts' archives might have one name
    except FileExistsError:
        raise _is_there(file) from None
    except OSError as error:
        raise Failure(f"{file}: cannot be written: {error.strerror}") from None
    order = Ordered(BY, "archive", f"{', '.join(kept)}, to {_printable(file.name)}")
    try:
        engine.take_out(kept, entries.entry(engine.last() + 1, HOST, time.time(), order))
    except Unavailable as error:  # perhaps after it was done, as where a server went away
        raise Unavailable(f"{file} is whole, but perhaps nothing was taken out: {error}") from error
    for cache in (FILE, OF_WHOLE, BOARDS):  # or each start would say that they are of no use
        with suppress(OSError):
            (folder / cache).unlink()


def _is_there(file: Path) -> Failure:
    return Failure(f"{file}: there is a file of that name already, and an archive replaces no file")


def _printable(name: str) -> str:
    """The name of a file, which may have bytes that stand for no letter."""
    return name.encode(errors="backslashreplace").decode()


def _expect_all(engine: Engine, folder: Path, kept: Sequence[str], written: Path, more: More) -> None:
    """Raise `Failure` unless an import takes this file, and finds nothing in it that the store has not."""
    try:
        with written.open("rb") as source:
            new = bring_in(bounded_lines(source), engine, folder, more)
    except Failure as failure:
        raise Failure(f"nothing was taken out, because no import would take it back: {failure}") from None
    if new != dict.fromkeys(kept, 0):
        raise Failure(f"nothing was taken out, because what was written is not what is kept: {new}")
