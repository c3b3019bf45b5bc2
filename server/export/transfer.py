"""Out of one store into a file of JSON Lines, and from there into another.

An export of a host has everything that is kept, including claims on names and who
ordered what. An import takes only what could have happened: it checks all facts, one
after the other, before it writes any of them. Importing the same file again changes
nothing, and an interrupted import can be repeated.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from server.exits import Failure
from server.export.read import Finding, Section, sections
from server.export.read import journal as facts_of
from server.export.verify_facts import can_be_added, objections
from server.export.verify_match import options_objection
from server.export.write import export, fact_line
from server.store import journal
from server.store.journal import Engine, Reader
from tournament.format import formats
from tournament.record import HOST, Concluded, Kept, Opened, Record, fold

BATCH = 5_000  # entries of a transaction


def leaving(reader: Reader, names: Collection[str]) -> Iterator[bytes]:
    """Lines of these tournaments, or of all if there are no names; one tournament is in memory at a time."""
    there = list(dict.fromkeys(row.tournament for row in reader.kept()))
    if unknown := [name for name in names if name not in there]:
        known = ", ".join(name for name in there if name != HOST) or "none"
        raise Failure(f"there is no tournament {unknown[0]!r}; there are: {known}")
    for name in sorted(there, key=lambda name: name != HOST):
        if name in names or not names:
            own = [journal.kept(row) for row in reader.kept() if row.tournament == name]
            yield from map(_line, map(fact_line, own) if name == HOST else _exported(own))


def _exported(own: Sequence[Kept]) -> Iterator[dict[str, Any]]:
    (record,) = fold(own).values()
    return export(record, [kept.fact for kept in own if isinstance(kept.fact, Concluded)], own)


def _line(line: dict[str, Any]) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def bring_in(source: Iterable[bytes], engine: Engine) -> dict[str, int]:
    """Keep what a file has; returns how many facts of each tournament were new. Raises `Failure`."""
    new: dict[str, int] = {}
    orders: list[Kept] = []
    findings: list[Finding] = []
    for found in sections(source, findings):
        if isinstance(found, Kept):
            orders.append(found)
            continue
        facts = facts_of(found, findings)
        findings += _impossible(found, facts)
        _refuse(findings)
        new[found.name] = _keep(engine, found.name, [kept for _, kept in facts])
    _refuse(findings)
    if orders:
        there = [journal.kept(row) for row in engine.kept() if row.tournament == HOST]
        new[HOST] = _write(engine, [kept for kept in orders if kept not in there])
    return new


def _refuse(findings: Sequence[Finding]) -> None:
    if findings:
        first = min(findings, key=lambda finding: finding.line)
        raise Failure(f"line {first.line}: {first.why}; nothing of this tournament or of later ones was kept")


def _impossible(section: Section, facts: Sequence[tuple[int, Kept]]) -> Iterator[Finding]:
    """Why a host could not go on from these."""
    if not facts:
        why = f"{section.name} has no lines of type fact: those of `quintain export` have, of the API not"
        yield Finding(section.opening.number, why)
        return
    number, first = facts[0]
    opened = first.fact
    if not isinstance(opened, Opened) or opened.format not in formats():
        yield Finding(number, "the first fact is that a tournament was opened, in a format that there is")
        return
    if unwanted := options_objection(opened, opened.options):
        yield Finding(number, unwanted)
        return
    record = Record(section.name, opened)
    for number, kept in facts[1:]:
        wrong = list(objections(record, kept.fact, True))
        yield from (Finding(number, why) for why in wrong)
        if not wrong or can_be_added(record, kept.fact):
            record.add(kept.fact)


def _keep(engine: Engine, name: str, facts: Sequence[Kept]) -> int:
    there = [journal.kept(row) for row in engine.kept() if row.tournament == name]
    if there != facts[: len(there)]:
        raise Failure(f"{name} is there already, and it went on in another way: it is left as it is")
    return _write(engine, facts[len(there) :])


def _write(engine: Engine, facts: Sequence[Kept]) -> int:
    first = engine.last() + 1
    rows = [journal.entry(n, kept.tournament, kept.when, kept.fact) for n, kept in enumerate(facts, first)]
    for start in range(0, len(rows), BATCH):
        engine.write(rows[start : start + BATCH])
    return len(rows)
