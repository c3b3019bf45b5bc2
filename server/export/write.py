"""Tournaments as JSON Lines: everything that their standings follow from, and the standings last.

Each line is an object with a `type`: `tournament`, `entrant`, `pairing`, `match`,
`fact` or `withheld`, `head`, `standings`, in this order. `docs/export.md` describes
them. The facts are what a store keeps; `write_facts.py` makes their lines.
`server/export/read.py` reads such files.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from server.export.json_views import (
    choices_shown,
    described,
    match_shown,
    standings_shown,
    times_shown,
    tournament_shown,
)
from server.export.signing import Signer
from server.export.write_facts import FactLines
from tournament.entries import Entry
from tournament.facts import Concluded
from tournament.record import Record
from tournament.standings import RULES


def export(
    record: Record,
    matches: Iterable[Concluded],
    facts: Iterable[Entry] | None = None,
    *,
    everything: bool = False,
    signer: Signer | None = None,
) -> Iterator[dict[str, Any]]:
    """One tournament, from a record that need not have the moves of its matches; with facts, if given.

    With `everything`, it includes what only the organiser should know.
    """
    yield from before_matches(record, everything=everything)
    yield from (match_line(record, concluded) for concluded in matches)
    chain = FactLines(record.kept_as, everything=everything)
    yield from chain.lines(facts or ())
    if facts is not None:
        yield chain.last(signer)
    yield after_matches(record)


def before_matches(record: Record, *, everything: bool) -> Iterator[dict[str, Any]]:
    """The lines before the matches; with `everything`, as only the organiser should see them."""
    opened = record.opened
    yield (
        {"type": "tournament"}
        | tournament_shown(record)
        | {
            "entrants": opened.entrants,
            "terms": record.terms,
            "options": opened.options,
            "pace": opened.pace,
        }
        | choices_shown(record)
        | {key: value for key, value in times_shown(record).items() if value is not None}
        | ({"by_invitation": True} if opened.by_invitation else {})
        | ({} if record.kept_as == record.name else {"kept_as": record.kept_as})
    )
    for entrant in record.entrants.values():
        no_show = {"no_show": True} if entrant.name in record.no_shows else {}
        yield (
            {
                "type": "entrant",
                "name": entrant.name,
                "rating": entrant.rating,
                "gone": entrant.gone,
                "annulled": entrant.name in record.annulled,
                "disqualified": entrant.name in record.disqualified,
            }
            | no_show
            | described(record, entrant.name, everything=everything)
        )
    for pairing in record.drawn.values():
        yield {
            "type": "pairing",
            "number": pairing.number,
            "round": pairing.round,
            "first": pairing.first,
            "second": pairing.second,
        }


def match_line(record: Record, concluded: Concluded) -> dict[str, Any]:
    """The line of a match, which needs its moves: a record does not have them for all its matches."""
    return {"type": "match", "pairing": concluded.pairing} | match_shown(record, concluded, True)


def after_matches(record: Record) -> dict[str, Any]:
    return {"type": "standings"} | standings_shown(record) | {"rules": RULES}
