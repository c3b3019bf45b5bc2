"""Whether an export follows from itself: every match by the rules, and all that is said to come of them.

A tournament is checked in three steps. Each of its facts has to be possible
after those before it (`server/export/verify_facts.py`, and `server/export/verify_match.py`
for a match). What all facts add up to is computed anew, by the same fold that
a host uses. And what the file says has to equal that (`server/export/verify_lines.py`). A
file without facts, as the HTTP API gives it, is read as the facts that it
amounts to.

A file need only be readable; whatever cannot be true is a finding. `docs/export.md`
lists what cannot be told from an export.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from msgspec import Struct

from games.catalogue import catalogue
from games.game import quoted
from server.export.read import LONGEST, Finding, MatchLine, Section, facts_of, journal, sections
from server.export.verify_facts import can_be_added, decided, is_over, objections
from server.export.verify_lines import differences
from server.export.verify_match import ending_objections, options_objection, replayed
from tournament.format import formats
from tournament.record import (
    AnyFact,
    Claimed,
    Concluded,
    Opened,
    Ordered,
    Record,
    Released,
    Seated,
    State,
)

ROUNDS = 10_000  # more than any tournament has: a format that is asked for more would never return


class Verdict(Struct):
    tournaments: int = 0
    matches: int = 0
    moves: int = 0
    findings: list[Finding] = []


def verify(source: Iterable[bytes]) -> Verdict:
    """What does not follow in a file of JSON Lines, in the order of its lines."""
    verdict = Verdict()
    seen = set[str]()
    for section in sections(source, verdict.findings):
        if not isinstance(section, Section):
            continue  # a fact of the host itself
        if section.name in seen:
            why = f"{quoted(section.name)} is in this file a second time"
            verdict.findings.append(Finding(section.opening.number, why))
        seen.add(section.name)
        played = [line.read for line in section.lines if isinstance(line.read, MatchLine)]
        verdict.tournaments += 1
        verdict.matches += len(played)
        verdict.moves += sum(len(match.moves) for match in played)
        verdict.findings += dict.fromkeys(_checked(section))
    if not verdict.tournaments and not verdict.findings:
        verdict.findings.append(Finding(1, "there is no tournament in this file"))
    verdict.findings.sort(key=lambda finding: finding.line)
    return verdict


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of a line that is far too long, only as much at a time as shows that."""
    return iter(lambda: file.readline(LONGEST + 1), b"")


def _checked(section: Section) -> Iterator[Finding]:
    findings: list[Finding] = []
    numbered: list[tuple[int, AnyFact]] = [
        (number, kept.fact)
        for number, kept in journal(section, findings)
        if not isinstance(
            kept.fact, Claimed | Seated | Released | Ordered
        )  # whose a name is, and who did something
    ]
    yield from findings
    in_order = bool(numbered)  # these are the facts as they came, and not only their outcome
    numbered = numbered or facts_of(section)
    facts = [fact for _, fact in numbered]
    opened, wrong = facts[0], list(_opening_objections(facts[0]))
    yield from (Finding(numbered[0][0], why) for why in wrong)
    if wrong or not isinstance(opened, Opened):
        return
    record, played = Record(section.name, opened), section.played
    try:
        for index, (number, fact) in enumerate(numbered[1:], 1):
            if isinstance(fact, Concluded) and fact.match in played:
                yield from _played(opened, fact, number, *played[fact.match], in_order)
            wrong = list(objections(record, fact, in_order))
            if in_order and not wrong and (why := decided(record, facts, index)):
                yield Finding(number, why)
            yield from (Finding(number, why) for why in wrong)
            if not wrong or can_be_added(record, fact):
                record.add(fact)
        if record.state is State.FINISHED and not is_over(record):
            yield Finding(section.opening.number, "it is finished, and there are pairings without a result")
        matches = [fact for fact in facts if isinstance(fact, Concluded) and fact.match in record.matches]
        yield from differences(section, record, matches)
    except Exception as error:  # formats and criteria may fail on what no host can have kept
        why = f"what this comes to cannot be worked out: {type(error).__name__}"
        yield Finding(section.opening.number, why)


def _played(
    opened: Opened, fact: Concluded, number: int, line: int, shown: MatchLine, in_order: bool
) -> Iterator[Finding]:
    """Faults in moves are findings for the line of the match; faults in an ending, wherever that stands."""
    match, wrong = replayed(opened, fact)
    yield from (Finding(line, why) for why in wrong)
    if match is not None:
        same = (shown.winner, shown.ending, shown.why) == (fact.winner, fact.ending, fact.why)
        for why in ending_objections(opened, match, fact, in_order):
            yield from (Finding(each, why) for each in ({number, line} if same else {number}))


def _opening_objections(opened: AnyFact) -> Iterator[str]:
    if not isinstance(opened, Opened):
        yield "the first fact of a tournament is that it was opened, and not this"
        return
    if opened.game not in catalogue():
        yield f"there is no game {quoted(opened.game)}; there are: {', '.join(catalogue())}"
    elif unwanted := options_objection(opened, opened.options):
        yield unwanted
    if opened.format not in formats():
        yield f"there is no format {quoted(opened.format)}; there are: {', '.join(formats())}"
    if opened.terms.rounds is not None and not 1 <= opened.terms.rounds <= ROUNDS:
        yield f"a tournament has 1 to {ROUNDS} rounds, not {opened.terms.rounds}"
