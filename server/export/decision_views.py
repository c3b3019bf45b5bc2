"""What a tournament that ends when it is decided has found out: as JSON, and as sentences.

`tournament/deciding.py` finds it out.
"""

import time
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice, pairwise
from typing import Any

from server.export.json_views import moment, row_whole, tournament_shown
from tournament.deciding import Decision
from tournament.facts import State
from tournament.pairing.decide import aim_of, most
from tournament.record import Record
from tournament.score_sheet import Board, board_of

NAMED = 3  # claims that a sentence names
UNDECIDED = 100  # pairs that are listed: of the whole order of 100 entrants 4,950 are open for long
LATEST = 200  # matches whose ends say how soon the next ones will end


def board_summed(record: Record, board: Board) -> dict[str, Any]:
    """What there is to say about the whole table."""
    shown: dict[str, Any] = {"circles": board.circles, "said": [*said(record, board)]}
    return shown if board.decision is None else {"decided": board.decision.decided} | shown


def report_shown(record: Record) -> dict[str, Any]:
    """The standings of a record that nobody else changes, with all that there is to say about them."""
    board = board_of(record, time.time())
    return tournament_shown(record) | {
        "as_of": moment(board.as_of),
        **board_summed(record, board),
        "rows": [row_whole(row, record) for row in board.rows],
    }


def decision_shown(record: Record, board: Board, decision: Decision) -> dict[str, Any]:
    """What is settled, and between which entrants it is open who is better."""
    aim = aim_of(record.opened.terms)
    return {
        "decided": decision.decided,
        "confidence": aim.confidence,
        "within": aim.within,
        "places": decision.places if record.entrants else aim.places,
        "settled": decision.order[: decision.settled],
        "undecided": [
            {"better": claim.better, "worse": claim.worse, "certainty": round(certainty, 3)}
            for claim in decision.open[:UNDECIDED]
            for certainty in (min(1.0, max(0.0, claim.evidence / claim.needed)),)
        ],
        "undecided_pairs": len(decision.open),
        "most": most(list(record.entrants.values()), aim),
        "more": more(record, decision),
        "said": [*said(record, board)],
    }


def more(record: Record, decision: Decision) -> int | None:
    """About how many more matches it takes, if they go on as they went; None while that is unknown."""
    left = most(list(record.entrants.values()), aim_of(record.opened.terms)) - record.decided
    if decision.decided or not record.decided:
        return 0 if decision.decided else None
    return max(0, min(left, round(record.decided * (decision.times - 1))))


def eta_of_all(record: Record, decision: Decision, drawn: float | None) -> float | None:
    """Seconds until it is over, if matches go on as they went; None while that is unknown.

    What is drawn is played to its end, even if it is decided before that; `drawn` is how long that takes,
    where it is known.
    """
    whole, each = more(record, decision), seconds_for_each(record)
    if record.state in (State.REGISTERING, State.FINISHED) or whole is None or each is None:
        return None
    matches = record.pairings - record.decided
    return (matches * each if drawn is None else drawn) + max(0, whole - matches) * each


def seconds_for_each(record: Record) -> float | None:
    """The average seconds from one end to the next, of the latest matches; None while that is unknown."""
    latest = (record.matches[name] for name in islice(reversed(record.recent), LATEST))
    times = [(each.began, each.ended) for each in latest]
    lasted = [ended - began for began, ended in times if began is not None and ended is not None]
    ends = sorted(ended for _, ended in times if ended is not None)
    if len(ends) < 2 or not lasted:
        return None
    longest = max(lasted)  # where nothing ended for longer than that, the tournament was paused
    return sum(min(later - earlier, longest) for earlier, later in pairwise(ends)) / (len(ends) - 1)


def said(record: Record, board: Board) -> Iterator[str]:
    """In sentences: the decision, who beats whom in a circle, and how many matches were played before."""
    if (decision := board.decision) is not None:
        aim, settled = aim_of(record.opened.terms), ", ".join(decision.order[: decision.settled])
        confidence = Decimal(str(aim.confidence)) * 100  # not rounded: 99.999 % is not 100 %
        certain = f"with {confidence.normalize():f} % confidence, to within {aim.within:g} Elo"
        if settled and len(decision.order) == 1:
            yield f"Decided without a contest: {settled}. Nobody else has come and stayed."
        elif settled:
            yield f"{'Decided' if decision.decided else 'Settled'} {certain}: {settled}."
        if decision.open and record.decided:
            named = "; ".join(f"{claim.better} or {claim.worse}" for claim in decision.open[:NAMED])
            others = len(decision.open) - NAMED
            more_pairs = f"; and {others} more pair{'s' if others > 1 else ''}" if others > 0 else ""
            yield f"It is still open which is better: {named}{more_pairs}."
    for one, other, third in board.circles:
        yield (
            f"{one} beats {other}, {other} beats {third} and {third} beats {one}, more often than by chance:"
            " one number for each does not tell who of them wins."
        )
    if board.duplicates:
        repeat = "match repeats" if board.duplicates == 1 else "matches repeat"
        yield (
            f"{board.duplicates:,} {repeat} an earlier one move by move: repeated matches count once in the"
            " interval."
        )
