"""Whether the lines of an export are those that its record would be exported as, field by field."""

from collections.abc import Iterable, Iterator
from itertools import chain
from math import isclose
from typing import Any

import msgspec

from games.game import quoted
from server.export.json_views import plain_rows
from server.export.read import Finding, Line, Section, StandingsLine, kind_of
from server.export.verify_facts import other_rules
from server.export.write import after_matches, before_matches, match_line
from tournament.facts import Concluded
from tournament.record import Record

ELO = 0.1 + 1e-9  # ratings are rounded to a tenth, and machines differ in the last digit
FINE = 1e-9  # other figures, relatively and absolutely
RATINGS = (".rating", ".interval[0]", ".interval[1]")
KEYS = {"tournament": "tournament", "entrant": "name", "pairing": "number", "match": "match"}
MISSING = object()
# Fields that older files do not have, which means the same as their defaults.
YOUNGER = ("began", "ended", "fault", "cause", "thought", "network", "versions", "kinds", "notes")
# Fields that a line has only if there is something to be said: what says nothing of itself is missing.
SOMETIMES = (
    "kept_as",
    "rounds_at",
    "round_every",
    "check_in",
    "by_invitation",
    "no_show",
    "affiliation",
    "contact",
)
# Choices that a tournament's line does not have in files from before there were chains …
CHOICES = ("absent", "start_at", "group")
UNCHOSEN = (None, "wait")  # … because there were none: this is how all tournaments were held.
NOTHING: tuple[object, ...] = (None, [], [None, None], ["bot", "bot"])


def differences(section: Section, record: Record, matches: Iterable[Concluded]) -> Iterator[Finding]:
    """Where a line differs from what follows, and lines that are missing, surplus or out of order."""
    standings: dict[str, Any] = _plain(after_matches(record))
    known = standings.pop("rules")
    wanted = ExpectedLines(record, matches)
    for line in chain((section.opening,), section.lines):
        match line.read:
            case StandingsLine(rules=rules):
                wrong = list(_between(line, standings))
                if wrong and list(_between(line, standings | {"rows": plain_rows(record)})):
                    if rules != known:  # and it does not have the ratings of earlier versions either
                        yield Finding(
                            line.number, other_rules(f"ranked by version {rules} of the criteria", known)
                        )
                    yield from wrong
            case _ if (kind := kind_of(line.read)) in KEYS:
                if (expected := wanted.pop((kind, line.found[KEYS[kind]]))) is None:
                    yield Finding(
                        line.number, f"nothing says that there is this {kind}, or it is there twice"
                    )
                else:
                    yield from _between(line, expected if section.ends else _before_chains(line, expected))
            case _:
                pass
    for kind, key in wanted.rest():
        yield Finding(section.last, f"before this, the line of the {kind} {quoted(key)} is missing")
    if not wanted.in_order:
        yield Finding(section.last, "the lines before this are not in the order of what happened")


Key = tuple[str, Any]


class ExpectedLines:
    """The lines up to the standings as they should be: those that a file has in its place are not kept."""

    def __init__(self, record: Record, matches: Iterable[Concluded]) -> None:
        self.in_order = True  # whether all lines so far were
        first = before_matches(record, everything=True)  # from public facts, that is only what they say
        self._lines = enumerate(chain(first, (match_line(record, match) for match in matches)))
        self._passed: dict[Key, tuple[int, bytes]] = {}  # by others in the file; as JSON: less memory
        self._latest = -1  # the place of the latest line that was there

    def pop(self, key: Key) -> dict[str, Any] | None:
        """The line with this key; None if there is none, or it was there already."""
        if key in self._passed:
            place, text = self._passed.pop(key)
            return self._there(place, msgspec.json.decode(text))
        for place, line in self._lines:
            if (own := _key(line)) == key:
                return self._there(place, _plain(line))
            self._passed[own] = place, msgspec.json.encode(line)
        return None

    def rest(self) -> Iterator[Key]:
        """The keys of all lines that were not there."""
        yield from self._passed
        yield from (_key(line) for _, line in self._lines)

    def _there(self, place: int, line: dict[str, Any]) -> dict[str, Any]:
        self.in_order = self.in_order and place > self._latest
        self._latest = place
        return line


def _key(line: dict[str, Any]) -> Key:
    return line["type"], line[KEYS[line["type"]]]


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """A line as whoever reads its JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(line))


def _before_chains(line: Line, expected: dict[str, Any]) -> dict[str, Any]:
    """What follows for a line of a file that may be older than some choices."""
    there = line.found
    return {
        key: value
        for key, value in expected.items()
        if key in there or key not in CHOICES or value not in UNCHOSEN
    }


def _between(line: Line, expected: Any) -> Iterator[Finding]:
    known = {key: value for key, value in line.found.items() if key in expected or key in SOMETIMES}
    for path, found, follows in _unequal("", known, expected):  # a line may have unknown fields
        there, wanted = ("missing" if each is MISSING else quoted(each) for each in (found, follows))
        yield Finding(line.number, f"{path} is {there}; {wanted} follows from the rest")


def _unequal(path: str, found: Any, expected: Any) -> Iterator[tuple[str, Any, Any]]:
    match expected, found:
        case {**fields}, {**others}:
            for key in {**fields, **others}:
                if not path and key in YOUNGER and key not in others and fields[key] in NOTHING:
                    continue
                deeper = f"{path}.{key}" if path else str(key)
                yield from _unequal(deeper, others.get(key, MISSING), fields.get(key, MISSING))
        case [*items], [*others] if len(items) == len(others):
            for index, (one, other) in enumerate(zip(others, items, strict=True)):
                yield from _unequal(f"{path}[{index}]", one, other)
        case float(), int() | float() if not isinstance(found, bool):
            slack = ELO if path.endswith(RATINGS) else FINE
            if not isclose(found, expected, rel_tol=FINE, abs_tol=slack):
                yield path, found, expected
        case _:
            if type(found) is not type(expected) or found != expected:
                yield path, found, expected
