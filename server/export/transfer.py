"""Moving tournaments out of a store into a file of JSON Lines, and from there into another store.

An export of a host has everything that is kept, including claims on names and who
ordered what. An import takes only what could have happened: it checks all facts of a
tournament, one after the other, before it writes any of them, and writes them all or
none: a host would go on from half of them. Importing the same file again changes
nothing, and an interrupted import can be repeated.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from games.game import quoted
from server.exits import Failure
from server.export import read, read_facts
from server.export.passing import More, counted, nobody_looks, watched
from server.export.read import Finding, Section, sections
from server.export.read_facts import Link, links
from server.export.signing import Signer
from server.export.verify_chain import followed
from server.export.verify_facts import can_be_added, objections, opening_objections
from server.export.write import export
from server.export.write_facts import fact_line
from server.store import journal
from server.store.journal import DELETED, Engine, Reader, is_deleted
from tournament import entries
from tournament.entries import Entry
from tournament.facts import HOST, Concluded, Kept, Opened
from tournament.folding import ANEW, NAME, OPEN, called, latest_called
from tournament.format import OPEN as OPEN_TABLE
from tournament.record import Record

BATCH = 200  # entries in memory at a time
READINGS = 3  # of each entry that is exported: for the record, for its matches, and for its facts
STAGES = 3  # of an import: its lines are read, its facts are checked, and they are kept
OPENED, CONCLUDED = entries.kind(Opened), entries.kind(Concluded)
WHENCE = "an import takes what `quintain export` has written, and not what the API gives"


def leaving(
    reader: Reader, names: Collection[str], signer: Signer | None = None, more: More = nobody_looks
) -> Iterator[bytes]:
    """Lines of these tournaments, or of all without names; no more of any is in memory than its record.

    `more` is called for each entry that has been read; that happens `READINGS` times.
    """
    there = reader.latest()
    wanted = {kept_under(name, reader, there) for name in names}
    kept = (
        [name for name in there if name in wanted] if names else sorted(there, key=lambda name: name != HOST)
    )
    yield from leaving_as_kept(reader, kept, signer, more)


def leaving_as_kept(
    reader: Reader, kept: Iterable[str], signer: Signer | None, more: More = nobody_looks
) -> Iterator[bytes]:
    """The same for tournaments by what the store calls them."""
    for name in kept:
        found: list[int] = []
        own = partial(_up_to, reader.last(), reader, name, more, found)
        yield from map(_line, map(_of_the_host, own()) if name == HOST else _exported(name, own, signer))
        if len({*found}) > 1:
            raise _taken_out(name)


def _up_to(last: int, reader: Reader, name: str, more: More, found: list[int]) -> Iterator[Entry]:
    """The entries of a tournament up to that number: a host may keep more between two readings.

    How many they are is added to what was `found`: fewer than before if the tournament was archived.
    """
    entries = 0
    for row in takewhile(lambda row: row.number <= last, reader.kept(0, name)):
        entries += 1
        yield row
        more(1)
    found.append(entries)


def _taken_out(name: str) -> Failure:
    return Failure(
        f"{called(name)} was archived while it was being exported: what was written of it is not all"
    )


def kept_under(name: str, reader: Reader, there: Mapping[str, float]) -> str:
    """What a store calls the tournament that has that name, or an earlier one: `friday~1` is the first.

    What is `there` is given as `latest_called` takes it.
    """
    if (latest := latest_called(name, there, partial(is_deleted, reader))) is not None:
        return latest
    for kept in there:
        if kept != HOST and name in (kept, f"{kept}{ANEW}1"):
            return kept
    known = ", ".join(name for name in there if name != HOST) or "none"
    raise Failure(f"there is no tournament {name!r}; there are: {known}")


def _of_the_host(row: Entry) -> dict[str, Any]:
    return fact_line(row, journal.fact(row))


def _exported(
    name: str, own: Callable[[], Iterable[Entry]], signer: Signer | None
) -> Iterator[dict[str, Any]]:
    record = _record(name, map(journal.kept, own()))
    facts = (journal.fact(row) for row in own() if row.kind == CONCLUDED)
    matches = (fact for fact in facts if isinstance(fact, Concluded))
    return export(record, matches, own(), everything=True, signer=signer)


def _record(kept_as: str, facts: Iterator[Kept]) -> Record:
    """A tournament with all that is known of it, even if it is deleted."""
    if (first := next(facts, None)) is None:
        raise _taken_out(kept_as)
    if not isinstance(first.fact, Opened):
        raise Failure(f"{first.tournament} has facts from before it was opened")
    record = Record(called(first.tournament), first.fact, kept_as=first.tournament)
    for kept in facts:
        record.add(kept.fact)
    return record


def _line(line: dict[str, Any]) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def bring_in(
    source: Iterable[bytes], engine: Engine, folder: Path, more: More = nobody_looks
) -> dict[str, int | None]:
    """Keep what a file has; returns how many facts of each tournament were new. Raises `Failure`.

    `more` is called with the bytes that have passed a stage; there are `STAGES` of them.

    None stands for a tournament that is there already and is another, or has gone on differently. It is left
    as it is. The largest tournament need not fit in memory: there has to be room for it in the folder.
    """
    new: dict[str, int | None] = {}
    live = _live(engine)
    orders: dict[tuple[float, str], Entry] = {}
    findings: list[Finding] = []
    with read.on_disk(folder) as lines, read_facts.on_disk(folder) as facts:
        for found in sections(counted(source, more), findings, lines.emptied):
            if isinstance(found, Kept):
                row = entries.entry(0, HOST, found.when, found.fact)
                orders[row.when, row.body] = row
                continue
            facts.emptied()
            for link in links(found, findings):
                facts.append(link)
            followed(found, facts, findings)
            findings += _impossible(found, facts, lines.size, more)
            _refuse(findings)
            deleted = any(link.row.body == DELETED for link in facts)
            if live.get(found.name, found.kept_as) != found.kept_as and not deleted:
                new[found.kept_as] = None  # a host shows one tournament of a name
                continue
            count = _keep(engine, found.kept_as, facts)
            more(lines.size)
            if count is None:
                new[found.kept_as] = None
                continue
            new[found.kept_as] = count + (new.get(found.kept_as) or 0)  # it may be in this file twice
            if not deleted:
                live[found.name] = found.kept_as
            elif live.get(found.name) == found.kept_as:
                del live[found.name]  # the next one of that name may be in this file, too
    _refuse(findings)
    if not new and not orders:  # an export that failed leaves an empty file
        raise Failure("there is no tournament in this file")
    if orders:
        there = {(row.when, entries.body(journal.fact(row))) for row in engine.kept(0, HOST)}
        new[HOST] = _write(engine, (row for key, row in orders.items() if key not in there))
    return new


def _live(engine: Engine) -> dict[str, str]:
    """What a store calls each tournament that is not deleted, by its name."""
    opened: list[str] = []
    deleted: set[str] = set()
    for row in engine.kept():
        if row.kind == OPENED:
            opened.append(row.tournament)
        elif row.body == DELETED:
            deleted.add(row.tournament)
    return {called(kept): kept for kept in opened if kept not in deleted}


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        first = min(findings, key=lambda finding: finding.line)
        raise Failure(f"line {first.line}: {first.why}; nothing of this tournament or of later ones was kept")


def _impossible(section: Section, links: Sequence[Link], size: int, more: More) -> Iterator[Finding]:
    """Why a host could not go on from these facts."""
    if not links:
        yield Finding(section.opening.number, f"{section.name} has no facts; {WHENCE}")
        return
    for link in links:
        if link.fact is None or link.seal:
            yield Finding(link.line, f"not all of this fact is there; {WHENCE}")
            return
    number, opened = links[0].line, links[0].fact
    wrong = list(opening_objections(opened))
    if not _is_name(section.name, section.kept_as):
        wrong.append(f"no tournament is called {quoted(section.name)} and kept as {quoted(section.kept_as)}")
    if isinstance(opened, Opened) and not _may_be_called(section.name, opened):
        found = f"this is a {opened.format} of {opened.game}"
        wrong.append(f"names that begin with {OPEN} are those of open tables, and {found}")
    yield from (Finding(number, why) for why in wrong)
    if wrong or not isinstance(opened, Opened):
        return
    record = Record(section.name, opened, kept_as=section.kept_as)
    for link in islice(watched(links, size, more), 1, None):
        if (fact := link.fact) is None:
            continue
        try:
            wrong = list(objections(record, fact, True))
            yield from (Finding(link.line, why) for why in wrong)
            if not wrong or can_be_added(record, fact):
                record.add(fact)
        except Exception as error:  # no host can have kept such a fact
            yield Finding(link.line, f"what this comes to cannot be worked out: {type(error).__name__}")
            return


def _is_name(name: str, kept_as: str) -> bool:
    """Whether a host can have a tournament of that name, and its store keep it as that."""
    return NAME.fullmatch(name) is not None and bool(
        re.fullmatch(f"{re.escape(name)}({ANEW}[0-9]+)?", kept_as)
    )


def _may_be_called(name: str, opened: Opened) -> bool:
    """Whether the name is not an open table's, to which bots are sent by its name, or this is that table."""
    return not name.startswith(OPEN) or (opened.format, name) == (OPEN_TABLE, OPEN + opened.game)


def _keep(engine: Engine, name: str, links: Sequence[Link]) -> int | None:
    already = 0
    for row in engine.kept(0, name):
        if already == len(links) or not _says_the_same(row, links[already]):
            return None
        already += 1
    return _write(engine, (links[index].row for index in range(already, len(links))))


def _says_the_same(row: Entry, link: Link) -> bool:
    """Whether an entry has a fact, in whatever characters."""
    same = row.body == link.row.body or journal.fact(row) == link.fact
    return same and row.when == link.row.when


def _write(engine: Engine, rows: Iterable[Entry]) -> int:
    """Write entries, all or none; those that have a salt keep it, and so the chain keeps its heads."""
    first = engine.last() + 1
    numbered = (
        structs.replace(row if row.salt else entries.salted(row), number=number)
        for number, row in enumerate(rows, first)
    )
    engine.write_together(iter(lambda: list(islice(numbered, BATCH)), []))
    return engine.last() + 1 - first
