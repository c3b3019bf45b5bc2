"""`quintain export`, `import`, `backup` and `restore`: taking facts out of a store, or into one."""

import os
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter
from msgspec import structs

from server.commands.flags import File, Flag
from server.config import Settings, settings
from server.exits import DONE, FAILED, Failure, Misuse


@Parameter(name="*")
@dataclass(frozen=True)
class StoreOptions:
    """Where a host keeps what it keeps.

    Parameters
    ----------
    data
        The host's data folder: quintain-data unless set.
    store
        Its database, if it is not the file in that folder: postgresql://USER@HOST/NAME.
    config
        Its configuration file: quintain.toml, if there is one, unless set.
    """

    data: str | None = None
    store: str | None = None
    config: str | None = None

    def settings(self) -> Settings:
        """What is in force. Whatever opens a store by it may log what it finds, beside the results."""
        from server.logs import keep_off_results

        keep_off_results()
        given = {"data": self.data, "store": self.store}
        flags = {key: value for key, value in given.items() if value is not None}
        return settings(self.config, os.environ, flags)

    def alone(self) -> Settings:
        """For a command that writes: it has the store to itself, and shares it with no host."""
        return structs.replace(self.settings(), peers="")


KEPT = StoreOptions()


def export(*names: str, all: Flag = False, where: StoreOptions = KEPT) -> int:
    """Write tournaments to standard output, as JSON Lines.

    The host may be running. The output is complete: `quintain verify` checks
    it, and `quintain import` puts it into another store. It includes what only
    the host should know: digests of the tokens that names belong to, and who
    ordered what.

    Examples: one tournament, and a whole host:

        quintain export friday > friday.jsonl

        quintain export --all --data quintain-data > host.jsonl

    Parameters
    ----------
    names
        The tournaments.
    all
        All tournaments, and the orders to the host itself.
    """
    from server.export.signing import known_signer
    from server.export.transfer import READINGS, leaving
    from server.programs.printing import printing
    from server.programs.terminal import say, share
    from server.store.choice import beside

    if bool(names) == all:
        raise Misuse("name the tournaments to export, or use --all")
    found = where.settings()
    on_terminal = sys.stdout.isatty()
    with closing(beside(found)) as reader:
        shown = all and not on_terminal  # of a few tournaments, nobody knows how much there is
        with share("export", READINGS * reader.last() if shown else 0) as more:
            for line in leaving(reader, names, known_signer(Path(found.data)), more):
                if on_terminal:
                    say(line.decode().removesuffix("\n"))
                    continue
                with printing():
                    sys.stdout.buffer.write(line)
    with printing():
        sys.stdout.buffer.flush()
    return DONE


def import_(file: File = "-", /, *, where: StoreOptions = KEPT) -> int:
    """Put the tournaments of an export into a store.

    No host may be using the store. Each tournament is checked before it is
    kept. Tournaments that are there already stay as they are: importing the
    same file again changes nothing. If one of them has gone on differently,
    all others are still kept, and the exit code is 1.

    Example: from a file to a database:

        quintain import host.jsonl --store postgresql://quintain@localhost/quintain

    Parameters
    ----------
    file
        JSON Lines from `quintain export`; - is standard input.
    """
    from server.export.transfer import STAGES, bring_in
    from server.export.verify import bounded_lines
    from server.programs.terminal import note, say, share, size_of
    from server.store.choice import opened
    from server.store.data_folder import locked, prepared
    from tournament.folding import called

    found = where.alone()
    folder = prepared(found.data)
    try:
        with (
            sys.stdin.buffer if file == "-" else Path(file).open("rb") as source,
            locked(folder),
            closing(opened(found, folder)) as engine,
            share("import", STAGES * size_of(source)) as more,
        ):
            new = bring_in(bounded_lines(source), engine, folder, more)
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from None
    for kept_as, count in new.items():
        if count is None:
            note(
                f"quintain: {called(kept_as)} is there already, and not as in this file: it is left as it is"
            )
            continue
        say(f"{in_words(kept_as) or 'the host itself'}: {count:,} new facts")
    return FAILED if None in new.values() else DONE


def backup(file: str | None = None, /, *, where: StoreOptions = KEPT) -> int:
    """Copy everything that is kept to a file.

    The copy is of one instant; the host may be running.

    Example: to a file on another disk:

        quintain backup /mnt/backups/friday.sqlite

    Parameters
    ----------
    file
        A new file, in SQLite's format; unless set, one in `backups` in the data folder, named by the time.
    """
    from server.programs.interrupts import Interrupts
    from server.programs.terminal import say
    from server.store import private
    from server.store.choice import beside
    from server.store.copies import backups, expect_room, whole_or_none
    from server.store.data_folder import JOURNAL

    found = where.settings()
    folder = backups(Path(found.data) / JOURNAL)
    path = folder / f"{_now()}.sqlite" if file is None else Path(file)
    taken = Failure(f"{path}: there is a file of that name already, and a backup replaces no file")
    with Interrupts(), closing(beside(found)) as reader:  # or a SIGTERM would leave half a copy
        try:
            if path.exists():
                raise taken
            private.make_folder(path.parent)
            with whole_or_none(path) as part:
                expect_room(reader.size(), path.parent)  # when what was left there is gone
                reader.backup(part)
                path.touch(private.FILE, exist_ok=False)  # or it would replace what another has just made
        except OSError as error:
            if isinstance(error, FileExistsError) and path.exists():
                raise taken from None
            raise Failure(f"{path}: cannot be written: {error.strerror}") from None
        except sqlite3.Error as error:
            raise Failure(f"{path}: no copy could be made: {error}") from None
    say(f"{path}: {path.stat().st_size:,} bytes")
    return DONE


def restore(file: str, /, *, force: Flag = False, where: StoreOptions = KEPT) -> int:
    """Go back to a backup.

    No host may be using the store. If something is kept there already, --force
    is needed, and the old data stay in the folder `backups` of the data folder.
    A PostgreSQL database has to be empty: create a new one, and start the host
    with it.

    Example: replace what is there:

        quintain restore friday.sqlite --data quintain-data --force

    Parameters
    ----------
    file
        A file that `quintain backup` has written.
    force
        Replace what is kept there.
    """
    from server.programs.terminal import say
    from server.store.data_folder import locked, prepared
    from server.store.restore import restored

    found = where.alone()
    folder = prepared(found.data)
    with locked(folder):
        aside = restored(Path(file), found, folder, _now(), force=force)
    if aside is not None:
        say(f"{aside}: what was there before")
    say(f"{file}: restored")
    return DONE


def in_words(kept_as: str) -> str:
    """What people call a tournament that a store keeps under that name."""
    from tournament.folding import ANEW

    name, anew, number = kept_as.partition(ANEW)
    return f"{name}, number {number} of that name" if anew else name


def _now() -> str:
    return time.strftime("%Y%m%d-%H%M%S")
