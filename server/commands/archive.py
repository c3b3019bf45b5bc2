"""`quintain archive`: moving tournaments that are over out of a store, which otherwise only grows."""

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from server.commands.flags import Flag, Whole
from server.commands.keeping import KEPT, StoreOptions, in_words
from server.exits import DONE, FAILED, Failure, Misuse

DAY = 86_400.0  # seconds


def archive(
    *names: str,
    to: str | None = None,
    days: Annotated[int | None, Whole, Parameter(validator=Number(gte=0))] = None,
    preview: Flag = False,
    where: StoreOptions = KEPT,
) -> int:
    """Move tournaments that are over out of a store, into a file.

    No host may be using the store. The file is what `quintain export` writes:
    `quintain verify` checks it, and `quintain import` puts its tournaments
    back. Nothing is deleted from the store until the file is on the disk and
    has been compared with it. After that, pages, the API and the records of
    bots are without these tournaments. An open table, named as open-GAME,
    begins anew: its ratings start again, and the names of its bots are free.
    A ladder that is named goes as well, even if it was running.

    Examples: one tournament, and all that have been over for a year:

        quintain archive friday --to friday.jsonl

        quintain archive --days 365 --to /mnt/archive/2029.jsonl

    Parameters
    ----------
    names
        The tournaments.
    to
        A new file, for nobody else to read.
    days
        All tournaments that have been over, or deleted, for at least this many
        days. One that somebody has changed in the store stays, a line says
        so, and the exit code is 1.
    preview
        Change nothing, and print which tournaments would be archived.
    """
    from server.export.signing import known_signer
    from server.export.taking_out import long_over, named, size, take_out
    from server.export.transfer import kept_under
    from server.programs.interrupts import Interrupts
    from server.programs.terminal import note, say, share
    from server.store.choice import beside, opened
    from server.store.data_folder import locked, prepared
    from tournament.folding import called

    if bool(names) == (days is not None):
        raise Misuse("name the tournaments to archive, or use --days")
    if to is None and not preview:
        raise Misuse("say where they go: --to FILE")
    found = where.alone()
    beside(found).close()  # or a mistyped folder would be made, and found to be empty
    folder = prepared(found.data)
    with Interrupts(), locked(folder), closing(opened(found, folder)) as engine:
        if days is None:
            kept = named(engine, folder, names)
        else:
            kept = long_over(engine, folder, time.time() - days * DAY)
        changed = list[str]()
        for each in kept:
            try:
                say(f"{in_words(each)}: {size(engine, each):,} facts")
            except Failure as failure:
                if days is None:
                    raise
                changed.append(each)
                note(f"quintain: {failure}, so it stays in the store")
        kept = [each for each in kept if each not in changed]
        if not kept and not changed:
            note("quintain: no tournament has been over for that long")
        elif kept and to is not None and not preview:
            path, there = Path(to), engine.latest()
            opened_anew = [
                each.name
                for each in found.tournament
                if each.name in map(called, kept) and kept_under(each.name, engine, there) in kept
            ]
            take_out(engine, folder, kept, path, known_signer(folder), share)
            say(f"{path}: {path.stat().st_size:,} bytes")
            for name in opened_anew:
                note(f"quintain: the configuration has {name}: the next start opens it anew")
    return FAILED if changed else DONE
