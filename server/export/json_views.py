"""Standings and matches as JSON, for bots, pages, scripts and exports alike.

The shapes are promises to programs outside the project. This file computes only
what is shown.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import msgspec

from games.catalogue import game_kept
from games.estimate import Estimate
from games.perfect import Grades
from tournament.causes import Cause, moved_by
from tournament.check_in import opens_at, unchecked
from tournament.events import Ending, Moved
from tournament.facts import UNKNOWN, UNSAID, Concluded, State
from tournament.format import Entrant
from tournament.match import Match
from tournament.presence import Missing
from tournament.ratings import Ratings, bradley_terry
from tournament.record import Record
from tournament.remembered import Abridged
from tournament.rounds import coming
from tournament.standings import Row, rated
from tournament.strength import strengths

BY_THE_ORGANISER = "the organiser voided it; before that: "  # and then how the match had ended
PRECISION = 1  # decimals of a rating: an interval is tens of points wide


def rows(record: Record) -> list[dict[str, Any]]:
    """The standings, with ratings, which are null for an entrant that has played nothing."""
    rows = rated(record.standings(), strengths(Ratings(record.adjusted())).of)
    return [row_shown(row, record.format.order) for row in rows]


def plain_rows(record: Record) -> list[dict[str, Any]]:
    """The standings with the ratings of earlier versions, which come from a plain fit."""
    plain = {each.name: each for each in bradley_terry(record.adjusted()).ratings}
    return [
        row
        if (known := plain.get(row["name"])) is None
        else row | {"rating": rounded(known.rating), "interval": [*map(rounded, known.interval)]}
        for row in rows(record)
    ]


def row_shown(row: Row, order: Sequence[str]) -> dict[str, Any]:
    return unrated(row, order) | {
        "rating": None if row.rating is None else rounded(row.rating),
        "interval": None if row.interval is None else [*map(rounded, row.interval)],
    }


def unrated(row: Row, order: Sequence[str]) -> dict[str, Any]:
    """A row with only what decides the order."""
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
    }


def row_on_board(row: Row, order: Sequence[str]) -> dict[str, Any]:
    """A row of a board, which also says how likely an entrant is the strongest.

    Its strength is its rating, under the name that says what it is.
    """
    shown = row_shown(row, order)
    return shown | {
        "strength": shown["rating"],
        "strength_interval": shown["interval"],
        "first": row.first,
    }


def row_whole(row: Row, record: Record) -> dict[str, Any]:
    """A row with all that is known of its place: the probabilities of being the strongest, the second …"""
    shown = row_on_board(row, record.format.order) | {"ranks": row.ranks}
    return shown | described(record, row.name) | out_shown(record, row.name)


def moment(when: float) -> str:
    """A time of the wall clock: `2026-03-01T12:00:00.000Z`."""
    shown = datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
    return shown.replace("+00:00", "Z")


def why_shown(record: Record, concluded: Concluded) -> str:
    """Why a match ended, and whether it was voided after that."""
    return f"{BY_THE_ORGANISER}{concluded.why}" if concluded.match in record.voided else concluded.why


def match_shown(record: Record, concluded: Concluded, full: bool) -> dict[str, Any]:
    """A match that is over; if `full`, with its moves and the seconds spent on each.

    Where the record remembers less of a match, what led to the end is left out as well.
    """
    voided = concluded.match in record.voided
    shown: dict[str, Any] = {
        "match": concluded.match,
        "game": record.opened.game,
        "tournament": record.name,
        "round": record.drawn[concluded.pairing].round,
        "players": concluded.players,
        "winner": None if voided else concluded.winner,
        "ending": Ending.VOID if voided else concluded.ending,
        "why": why_shown(record, concluded),
        "score": None if voided else concluded.score,
        "plies": concluded.plies,
        "options": record.options(concluded),
        "began": moment_or_none(concluded.began),
        "ended": moment_or_none(concluded.ended),
        "fault": None if voided else concluded.fault,
    }
    if not isinstance(concluded, Abridged):
        shown |= {
            "cause": causes_shown(concluded.cause),
            "thought": concluded.thought,
            "network": concluded.network,
            "versions": concluded.versions,
            "kinds": concluded.kinds,
        }
    if full:
        shown |= {"moves": concluded.moves, "times": concluded.times, "notes": concluded.notes}
    return shown


def grades_shown(grades: Grades | Estimate | None) -> dict[str, Any]:
    """How well a match was played; all null where that is not known, or not yet."""
    shown: dict[str, Any] = {"mistakes": None, "accuracy": None, "ungraded": None, "estimate": None}
    match grades:
        case Grades():
            shown |= {"mistakes": grades.mistakes, "accuracy": grades.accuracy, "ungraded": grades.ungraded}
        case Estimate():
            shown["estimate"] = {
                "depth": grades.depth,
                "share": grades.accuracy,
                "slips": grades.slips,
                "ungraded": grades.ungraded,
            }
        case None:
            pass
    return shown


def causes_shown(causes: Iterable[Cause]) -> list[dict[str, Any]]:
    """What led to an end, oldest first; `at` by the wall clock."""
    return [{"at": moment(cause.at), **_without_at(cause)} for cause in causes]


def _without_at(cause: Cause) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(cause).items() if name != "at"}


def moment_or_none(when: float | None) -> str | None:
    return None if when is None else moment(when)


def rounded(figure: float) -> float:
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
    } | ({"ended_early": True} if record.ended_early else {})


def lots_shown(record: Record) -> dict[str, Any]:
    """What the drawing of lots rests on: a seed that was given openly, or one that the host has chosen.

    The latter is null until the draw. Then anybody who noted the commitment, the SHA-256 of "SEED SALT",
    can see that the seed was not chosen later. At an open table it stays null, with no commitment.
    """
    if record.format.endless and record.terms.lots:
        return {"by": "host", "seed": None}
    if record.sealed is None:
        return {"by": "organiser", "seed": record.terms.seed}
    seed, salt = (None, None) if record.revealed is None else (record.revealed.seed, record.revealed.salt)
    return {"by": "host", "commitment": record.sealed, "seed": seed, "salt": salt}


def choices_shown(record: Record) -> dict[str, Any]:
    """What the organiser chose beside the game and the format."""
    opened = record.opened
    return {
        "absent": None if record.format.endless else "settle" if opened.settles else "wait",
        "start_at": None if opened.start is None else moment(opened.start),
        "group": opened.belongs,
    }


def times_shown(record: Record) -> dict[str, Any]:
    """What the organiser chose about rounds by the clock, and about checking in."""
    opened = record.opened
    return {
        "rounds_at": [*map(moment, opened.rounds_at)] if opened.rounds_at else None,
        "round_every": opened.round_every or None,
        "check_in": opened.check_in or None,
    }


def tournament_summed(
    record: Record,
    playing: Sequence[str],
    eta: float | None,
    missing: Sequence[Missing] | None,
    most: int | None = None,
) -> dict[str, Any]:
    """A tournament without its entrants, with what only a host that holds it knows; None: not known.

    `most` is how many are listed of those who are awaited; None: all.
    """
    opened = record.opened
    return (
        tournament_shown(record)
        | {
            "entrants": record.counted,
            "wanted": opened.entrants,
            "rounds": opened.terms.rounds,
            "lots": lots_shown(record),
            "options": opened.options,
            "pace": opened.pace or game_kept(opened.game).pace,
            **choices_shown(record),
            "by_invitation": bool(opened.by_invitation),
            **times_shown(record),
            **clock_shown(record, most),
            "played": record.decided,
            "playing": playing,
            "open": len(record.open),
            "eta": None if record.format.decides else eta,  # of all: that takes a look at the results
            "missing": None if missing is None else [*map(missing_shown, missing[:most])],
            "missing_count": None if missing is None else len(missing),
        }
    )


def missing_shown(missing: Missing) -> dict[str, Any]:
    return {"name": missing.name, "since": moment(missing.since)}


def clock_shown(record: Record, most: int | None) -> dict[str, Any]:
    """How far a tournament by the clock is, and who is still to check in; null for any other."""
    next_round = coming(record)
    opens = opens_at(record.opened)
    checking_in = None
    if record.state is State.REGISTERING and opens is not None:
        checking_in = {"from": moment(opens), "missing": [*islice(unchecked(record), most)]}
    return {
        "round": record.round,
        "next_round": None if next_round is None else {"round": next_round[0], "at": moment(next_round[1])},
        "checking_in": checking_in,
    }


def entrants_shown(
    record: Record, entrants: Iterable[Entrant], *, everything: bool = False
) -> list[dict[str, Any]]:
    """Some entrants; with `everything`, as only an organiser should see them."""
    return [
        {"name": each.name, "rating": each.rating, "gone": each.gone}
        | ({"no_show": True} if each.name in record.no_shows else {})
        | described(record, each.name, everything=everything)
        for each in entrants
    ]


def described(record: Record, name: str, *, everything: bool = False) -> dict[str, str]:
    """What an organiser has said about an entrant; empty if that is nothing."""
    said = {"affiliation": record.affiliations.get(name), "contact": record.contacts.get(name)}
    return {key: text for key, text in said.items() if text and (everything or key == "affiliation")}


def out_shown(record: Record, name: str) -> dict[str, Any]:
    """Why an entrant is out, and whether its results count for nobody; empty if it is in the tournament."""
    if name not in record.out:
        return {}
    if name in record.disqualified:
        return {"out": "disqualified"}
    if name in record.no_shows:
        return {"out": "did not check in"}
    return {"out": "withdrawn"} | ({"annulled": True} if name in record.annulled else {})


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
        "began": moment_or_none(match.began),
        "ended": None,
        "fault": None,
        "cause": causes_shown(moved_by(match.cause, match.epoch)),
        "thought": UNKNOWN,
        "network": UNKNOWN,
        "versions": UNSAID,
        "kinds": None,
    }
    if full:
        times = [event.spent for event in match.log.events if isinstance(event, Moved)]
        shown |= {"moves": match.moves, "times": times, "notes": ()}
    return shown
