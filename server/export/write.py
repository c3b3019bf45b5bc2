"""Tournaments as JSON Lines: everything that their standings follow from, and the standings last.

Each line is an object with a `type`: `tournament`, `entrant`, `pairing`,
`match`, `fact` or `standings`, in this order. `docs/export.md` describes them.
The facts are what a store keeps; they are included only for moving a host. The moves
of a match are in its line and not a second time in the fact. `server/export/read.py`
reads such files.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import structs

from server.export.json_views import match_shown, standings_shown, tournament_shown
from tournament.record import Concluded, Kept, Record


def export(
    record: Record, matches: Iterable[Concluded], facts: Iterable[Kept] = ()
) -> Iterator[dict[str, Any]]:
    """One tournament, of whose matches the record may have forgotten the moves; with facts, if given."""
    yield from before_matches(record)
    yield from (match_line(record, concluded) for concluded in matches)
    yield from map(fact_line, facts)
    yield after_matches(record)


def before_matches(record: Record) -> Iterator[dict[str, Any]]:
    """What comes before the matches."""
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


def match_line(record: Record, concluded: Concluded) -> dict[str, Any]:
    """The line of a match, which needs its moves: a record does not have them for all its matches."""
    return {"type": "match", "pairing": concluded.pairing} | match_shown(record, concluded, True)


def after_matches(record: Record) -> dict[str, Any]:
    return {"type": "standings"} | standings_shown(record)


def fact_line(kept: Kept) -> dict[str, Any]:
    fact = kept.fact
    if isinstance(fact, Concluded):
        fact = structs.replace(fact, moves=(), times=())
    return {"type": "fact", "tournament": kept.tournament, "when": kept.when, "fact": fact}
