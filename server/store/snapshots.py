"""What the journal adds up to, in a file beside it, so that a start takes no longer for a long past.

The file is a cache (`caches.py`): if it is of no use, everything is read from the start.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from server.store import caches
from server.store.journal import Reader, kept
from tournament.archived_record import can_be_archived, put_in_archive
from tournament.entries import Entry
from tournament.facts import Kept, Ordered, State
from tournament.folding import DeletedRecord, fold
from tournament.record import Record
from tournament.snapshot import VERSION, Snapshot, restored, taken

FILE = "snapshot"
OF_WHOLE = "snapshot-whole"  # of whole records, for the process for pages
MAGIC = b"quintain snapshot\n"
MANY = 20_000  # entries read again at a start, after which a new snapshot is taken …
MUCH = 100_000  # entries, after which a start that reads them says how far it is: some five seconds
MANY_WHOLE = 500_000  # … and a new one of whole records, between starts: that takes seconds and memory
USELESS = (OSError, ValueError, LookupError, TypeError)  # what reading a useless snapshot raises

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


Reading = Callable[[int], None]  # is told the number of the entry that has just been read


def nobody_asks(number: int) -> None:
    """Nobody wants to know how far a start is."""


class Folded(Struct):
    """All tournaments as the journal has them, up to the entry `number`."""

    records: dict[str, Record]
    audit: list[Kept]  # what organisers ordered, newest last
    number: int = 0
    since: int = 0  # entries that are not in the snapshot …
    snapshot: int = 0  # … which goes up to the entry of this number
    latest: Entry | None = None  # the entry of that number, if it is known


class SnapshotContent(Struct, frozen=True, array_like=True):
    version: int
    number: int
    hash: bytes  # of the entry of that number
    audit: list[Kept]
    names: list[str]  # the names under which tournaments are kept, in the order of opening …
    deleted: list[str]  # … and those of deleted ones, of which nothing else is known
    records: list[Snapshot]  # of those that are not read faster from the journal


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SnapshotContent)


def folded(reader: Reader, path: Path | None, *, whole: bool = False, told: Reading = nobody_asks) -> Folded:
    """All tournaments: from the snapshot and the rest of the journal, or without one from all the journal."""
    known = Folded({}, []) if path is None else _loaded(reader, path, whole=whole) or Folded({}, [])
    known.records = fold(_noted(reader, known, told), known.records, whole=whole)
    return known


def started(
    reader: Reader, folder: Path | None, *, whole: bool = False, told: Reading = nobody_asks
) -> Folded:
    """All tournaments, for a process that starts. After much reading, a snapshot is saved in the folder."""
    path = None if folder is None else folder / (OF_WHOLE if whole else FILE)
    known = folded(reader, path, whole=whole, told=told)
    if path is not None and known.since >= MANY:
        save(path, known)
        known.snapshot = known.number
    return known


def load(
    reader: Reader, folder: Path, *, whole: bool = False, told: Reading = nobody_asks
) -> tuple[dict[str, Record], list[Kept]]:
    """All tournaments, and what organisers ordered; `told` hears now and then how far the journal is read."""
    known = started(reader, folder, whole=whole, told=told)
    return known.records, known.audit


def refresh(reader: Reader, path: Path, *, whole: bool = False) -> int:
    """Take a new snapshot if much was written since the last; returns the number of the latest entry in it.

    It is made of what the journal says, and not of what a host believes.
    """
    known = folded(reader, path, whole=whole)
    if known.since >= (MANY_WHOLE if whole else MANY):
        save(path, known)
        return known.number
    return known.snapshot


def save(path: Path, known: Folded) -> None:
    """Replace the last snapshot, all or nothing."""
    if known.latest is None:
        return
    there = {name: each for name, each in known.records.items() if each.state is not State.DELETED}
    for record in there.values():
        if can_be_archived(record):
            put_in_archive(record)
    snapshots = [taken(record) for record in there.values() if _has_snapshot(record)]
    deleted = [name for name in known.records if name not in there]
    latest = caches.hash_of(known.latest)
    content = _encoder.encode(
        SnapshotContent(VERSION, known.number, latest, known.audit, [*there], deleted, snapshots)
    )
    try:
        caches.write(path, MAGIC, content)
    except OSError as error:
        log.warning("no snapshot could be written: the next start reads more", why=str(error))


def _has_snapshot(record: Record) -> bool:
    return record.format.endless or not record.whole or record.archived is not None


def record_of(reader: Reader, folder: Path, name: str) -> Record:
    """The whole record of the tournament that is kept under that name; reads nothing of any other."""
    known, after = dict[str, Record](), 0
    with suppress(*USELESS):
        found, _ = _content(reader, folder / OF_WHOLE)
        known |= {each: DeletedRecord(each, whole=True) for each in found.deleted if each == name}
        known |= {each.name: restored(each) for each in found.records if each.name == name and each.whole}
        after = found.number if known else 0
    return fold(map(kept, reader.kept(after, name)), known)[name]


def _loaded(reader: Reader, path: Path, *, whole: bool) -> Folded | None:
    try:
        found, latest = _content(reader, path)
        taken_of = {each.name: each for each in found.records}
        records = {
            name: restored(taken_of[name]) if name in taken_of else _read(reader, name, found.number)
            for name in found.names
        }
        records |= {name: DeletedRecord(name, whole=whole) for name in found.deleted}
        if any(record.whole != whole for record in records.values()):
            raise ValueError("it is of a host that was started in another way")
    except FileNotFoundError:
        return None
    except USELESS as error:
        log.warning("the snapshot is of no use: the whole journal is read", path=str(path), why=str(error))
        return None
    return Folded(records, found.audit, found.number, 0, found.number, latest)


def _content(reader: Reader, path: Path) -> tuple[SnapshotContent, Entry]:
    """What a snapshot says, and the entry up to which it goes; raises one of `USELESS`."""
    found = _decoder.decode(caches.read(path, MAGIC))
    latest = caches.entry_of(reader, found.number, found.hash)
    if found.version != VERSION:
        raise ValueError("it is of another Quintain")
    caches.expect_all(reader, found.number, (*found.names, *found.deleted))
    return found, latest


def _read(reader: Reader, name: str, number: int) -> Record:
    """The whole record of one tournament, up to the entry `number`."""
    rows = takewhile(lambda row: row.number <= number, reader.kept(tournament=name))
    return fold(map(kept, rows))[name]


def _noted(reader: Reader, known: Folded, told: Reading) -> Iterable[Kept]:
    """The facts that `known` does not have yet; notes in it how far they go and what was ordered."""
    for row in reader.kept(known.number):
        entry = kept(row)
        if isinstance(entry.fact, Ordered):
            known.audit.append(entry)
        yield entry
        known.number, known.latest = row.number, row
        known.since += 1
        if known.since % MUCH == 0:
            told(known.number)
