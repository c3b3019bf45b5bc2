"""Standings and matches as JSON, for bots, pages, scripts and exports alike.

The shapes are promises to programs outside the project. This file computes only
what is shown.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tournament.events import Ending, Moved
from tournament.match import Match
from tournament.ratings import bradley_terry
from tournament.record import Concluded, Record
from tournament.standings import Row, rated

PRECISION = 1  # decimals of a rating: an interval is tens of points wide


def rows(record: Record) -> list[dict[str, Any]]:
    """The standings, with ratings, which are null for an entrant that has played nothing."""
    rows = rated(record.standings(), bradley_terry(record.adjusted()).ratings)
    return [row_shown(row, record.format.order) for row in rows]


def row_shown(row: Row, order: Sequence[str]) -> dict[str, Any]:
    criteria = (criterion for criterion in order if criterion != "points")
    return {
        "rank": row.rank,
        "name": row.name,
        "points": row.points,
        "played": row.played,
        "wins": row.wins,
        "draws": row.draws,
        "losses": row.losses,
        "tie_breaks": dict(zip(criteria, row.tie_breaks, strict=True)),
        "rating": None if row.rating is None else _rounded(row.rating),
        "interval": None if row.interval is None else [*map(_rounded, row.interval)],
    }


def row_on_board(row: Row, order: Sequence[str]) -> dict[str, Any]:
    """A row of a board, which also says how likely an entrant is the strongest."""
    return row_shown(row, order) | {"first": row.first}


def moment(when: float) -> str:
    """A time of the wall clock: `2026-03-01T12:00:00.000Z`."""
    shown = datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
    return shown.replace("+00:00", "Z")


def match_shown(record: Record, concluded: Concluded, full: bool) -> dict[str, Any]:
    """A match that is over; in `full` with its moves and the seconds spent on each."""
    voided = concluded.match in record.voided
    why = f"the organiser voided it; before that: {concluded.why}" if voided else concluded.why
    shown: dict[str, Any] = {
        "match": concluded.match,
        "game": record.opened.game,
        "tournament": record.name,
        "round": record.drawn[concluded.pairing].round,
        "players": concluded.players,
        "winner": None if voided else concluded.winner,
        "ending": Ending.VOID if voided else concluded.ending,
        "why": why,
        "score": None if voided else concluded.score,
        "plies": concluded.plies,
        "options": record.options(concluded),
    }
    if full:
        shown |= {"moves": concluded.moves, "times": concluded.times}
    return shown


def _rounded(figure: float) -> float:
    return round(figure, PRECISION) + 0.0  # never −0.0


def standings_shown(record: Record) -> dict[str, Any]:
    return tournament_shown(record) | {"rows": rows(record)}


def tournament_shown(record: Record) -> dict[str, Any]:
    """What every answer about a tournament begins with."""
    return {
        "tournament": record.name,
        "game": record.opened.game,
        "format": record.opened.format,
        "state": record.state,
        "frozen": record.frozen is not None,
    }


def match_in_play(record: Record, match: Match, full: bool) -> dict[str, Any]:
    """A match in play; what is not known yet is null."""
    number = record.dealt[match.name]
    shown: dict[str, Any] = {
        "match": match.name,
        "game": record.opened.game,
        "tournament": record.name,
        "round": record.drawn[number].round,
        "players": match.names,
        "winner": None,
        "ending": None,
        "why": None,
        "score": None,
        "plies": match.ply,
        "options": match.options,
    }
    if full:
        times = [event.spent for event in match.log.events if isinstance(event, Moved)]
        shown |= {"moves": match.moves, "times": times}
    return shown
