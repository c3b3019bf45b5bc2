"""What a tournament that ends when it is decided has found out: as JSON, and as sentences.

How it is found out is in `tournament/deciding.py`.
"""

import time
from collections.abc import Iterator
from typing import Any

from server.export.json_views import moment, row_whole, tournament_shown
from tournament.deciding import Decision
from tournament.pairing.decide import aim_of, most
from tournament.record import Record
from tournament.score_sheet import Board, board_of

NAMED = 3  # claims that a sentence names


def board_summed(board: Board) -> dict[str, Any]:
    """What there is to say of the whole table."""
    shown: dict[str, Any] = {"circles": board.circles}
    return shown if board.decision is None else {"decided": board.decision.decided} | shown


def report_shown(record: Record) -> dict[str, Any]:
    """The standings of a record that nobody else changes, with all that there is to say of them."""
    board = board_of(record, time.time())
    return tournament_shown(record) | {
        "as_of": moment(board.as_of),
        **board_summed(board),
        "said": [*said(record, board)],
        "rows": [row_whole(row, record) for row in board.rows],
    }


def decision_shown(record: Record, board: Board, decision: Decision) -> dict[str, Any]:
    """What is settled, and between whom it is open who is better."""
    aim = aim_of(record.opened.terms)
    return {
        "decided": decision.decided,
        "confidence": aim.confidence,
        "within": aim.within,
        "places": decision.places if record.entrants else aim.places,
        "settled": decision.order[: decision.settled],
        "undecided": [
            {"better": claim.better, "worse": claim.worse, "certainty": round(certainty, 3)}
            for claim in decision.open
            for certainty in (min(1.0, max(0.0, claim.evidence / claim.needed)),)
        ],
        "most": most(list(record.entrants.values()), aim),
        "more": more(record, decision),
        "said": [*said(record, board)],
    }


def more(record: Record, decision: Decision) -> int | None:
    """About how many more matches it takes, if they go on as they went; None while nobody can say."""
    left = most(list(record.entrants.values()), aim_of(record.opened.terms)) - record.decided
    if decision.decided or not record.decided:
        return 0 if decision.decided else None
    return max(
        0, min(left, round(record.decided * (max((claim.times for claim in decision.open), default=1.0) - 1)))
    )


def eta_of_all(record: Record, decision: Decision, eta: float) -> float:
    """Seconds until it is decided, where all that is drawn takes `eta`, if matches go on as they went."""
    drawn, whole = record.pairings - record.decided, more(record, decision)
    return eta if whole is None or not drawn else eta * max(1.0, whole / drawn)


def said(record: Record, board: Board) -> Iterator[str]:
    """The same in sentences, and who beats whom in a circle."""
    if (decision := board.decision) is not None:
        aim, settled = aim_of(record.opened.terms), ", ".join(decision.order[: decision.settled])
        certain = f"with {100 * aim.confidence:.4g} % confidence, to within {aim.within:g} Elo"
        if settled:
            yield f"{'Decided' if decision.decided else 'Settled'} {certain}: {settled}."
        if decision.open and record.decided:
            named = "; ".join(f"{claim.better} or {claim.worse}" for claim in decision.open[:NAMED])
            others = len(decision.open) - NAMED
            yield f"It is open who is better: {named}{f'; and {others} more pairs' if others > 0 else ''}."
    for one, other, third in board.circles:
        yield (
            f"{one} beats {other}, {other} beats {third} and {third} beats {one}, more often than by chance:"
            " one number for each does not tell who of them wins."
        )
