"""A match that was read from its text: its check by the rules, and the match as the API shows it."""

from typing import Any

from server.export.match_text import ReadMatch
from server.export.verify_match import ending_objections, replayed
from tournament.facts import Drew, Entered
from tournament.format import Pairing, formats
from tournament.record import Record


def checked(match: ReadMatch) -> tuple[dict[str, Any], list[str]]:
    """The match as the API has it, and what in it does not follow."""
    from server.export.json_views import match_shown

    fact, opened = match.concluded, match.opened
    if opened.format not in formats():
        return {}, [f"there is no format {opened.format}"]
    played, findings = replayed(opened, fact)
    if played is not None:
        findings += ending_objections(opened, played, fact, in_order=False)
    findings += match.clocks
    record = Record(match.tournament, opened)
    for each in (*map(Entered, dict.fromkeys(fact.players)), Drew((Pairing(1, match.round, *fact.players),))):
        record.add(each)
    return match_shown(record, fact, full=True), findings
