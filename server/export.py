"""A whole tournament as JSON Lines: everything that its standings follow from, and they themselves last.

Each line is an object with a `type`: `tournament`, `entrant`, `pairing`,
`match` or `standings`, in this order. `docs/api.md` describes them.
"""

from collections.abc import Iterator
from typing import Any

from server.shown import match_shown, standings_shown, tournament_shown
from tournament.record import Record


def export(record: Record) -> Iterator[dict[str, Any]]:
    opened = record.opened
    yield (
        {"type": "tournament"}
        | tournament_shown(record)
        | {
            "entrants": opened.entrants,
            "terms": opened.terms,
            "options": opened.options,
            "pace": opened.pace,
        }
    )
    for entrant in record.entrants.values():
        yield {
            "type": "entrant",
            "name": entrant.name,
            "rating": entrant.rating,
            "gone": entrant.gone,
            "annulled": entrant.name in record.annulled,
            "disqualified": entrant.name in record.disqualified,
        }
    for pairing in record.drawn.values():
        yield {
            "type": "pairing",
            "number": pairing.number,
            "round": pairing.round,
            "first": pairing.first,
            "second": pairing.second,
        }
    for concluded in record.matches.values():
        yield {"type": "match", "pairing": concluded.pairing} | match_shown(record, concluded, True)
    yield {"type": "standings"} | standings_shown(record)
