"""The results of a tournament, for its page: the table with ratings, who met whom, what is still to play.

All of it costs what it shows: the table is on a board that was made elsewhere
(`server/host/boards.py`), and the rest is looked up in the record.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any

from markupsafe import Markup
from msgspec import Struct, structs

from server.export import decision_views
from server.export.json_views import PRECISION, out_shown
from server.export.words import out_in_words
from server.host.appearances import shows
from server.pages import drawings, formatting
from server.pages.paging import page_of
from tournament.check_in import opens_at
from tournament.facts import State
from tournament.format import Pairing
from tournament.record import Record
from tournament.rounds import coming, rounds_of
from tournament.score_sheet import ALL_CROSSED, Board
from tournament.settling import came_to
from tournament.standings import CRITERIA, UNPLAYED, Row

ROWS = 40  # rows of the table on a page that is kept up to date; the table's own pages have all
CELL = 3  # matches of one pair to which a cell of the crosstable links
WINDOW = 20  # pairings on the page of the tournament: what is played now and around it
BEFORE = 6  # of these, how many are decided already
PAGE = 100  # pairings, or entrants, on a page of the whole schedule or table


class Column(Struct, frozen=True):
    """A column of the table for a criterion of the order."""

    title: str
    explanation: str
    put: Callable[[float], str] = formatting.tie_break


LADDER = "rating"  # the criterion by which ladders rank: a skill, which pages show as Elo
AT_LEAST = Column(
    "At least", "Elo above a newcomer that it almost certainly has or exceeds", formatting.ladder
)
ESTIMATE = "strength"  # the criterion that is in Elo itself


class Line(Row, frozen=True, kw_only=True):
    """A line of the table: a row, and what else is shown in it."""

    affiliation: str
    out: str  # why it plays no more, or ""
    bar: Markup | None


class Score(Struct, frozen=True):
    """A score in one match, in a cell of the crosstable."""

    score: float
    match: str | None


class Meeting(Struct, frozen=True):
    """A pairing, and what came of it."""

    number: int
    round: int
    first: str
    second: str | None
    known: Sequence[bool]  # whether they have pages
    match: str | None  # to link to
    score: tuple[float, float] | None
    void: bool  # whether it is over without a result, where nothing is played again
    state: str  # "over", "live" or "open"
    ended: float | None  # wall time


def standings(record: Record, board: Board, page: int | None = None) -> dict[str, Any]:
    """The first rows of a board, or one page of it, counted from 1."""
    total = len(board.rows)
    number, pages = page_of(total, PAGE, page or 1)
    rows = board.rows[:ROWS] if page is None else board.rows[(number - 1) * PAGE : number * PAGE]
    on = drawings.scale([end for row in rows if row.interval is not None for end in row.interval])
    return {
        "record": record,
        "frozen": record.frozen is not None,
        "lines": [_line(record, row, on) for row in rows],
        "more": total - len(rows),
        "address": f"/tournaments/{record.name}/standings",  # of all of it
        "page": number,
        "pages": pages,
        "criteria": [_column(name) for name in record.format.order if name != "points"],
        "ladder": record.format.order[0] == LADDER,
        "latest": record.latest_end,
        "said": [*decision_views.said(record, board)],
    }


def _column(name: str) -> Column:
    criterion = CRITERIA[name]
    if name == LADDER:
        return AT_LEAST
    put = _estimate if name == ESTIMATE else formatting.tie_break
    return Column(criterion.title, criterion.explanation, put)


def _estimate(figure: float) -> str:
    """Empty where nothing has been played: what stands for that in data is no strength."""
    return formatting.signed(figure) if figure > UNPLAYED / 2 else ""


def _line(record: Record, row: Row, on: drawings.Scale) -> Line:
    bar = None
    if row.rating is not None and row.interval is not None:
        low, high = map(formatting.signed, row.interval)
        said = f"{formatting.signed(row.rating)}, {low} to {high}"
        bar = drawings.bar(row.interval, row.rating, on, said)
    rating = None if row.rating is None else round(row.rating, PRECISION)
    return Line(
        **structs.asdict(structs.replace(row, rating=rating)),
        affiliation=record.affiliations.get(row.name, ""),
        out=out_in_words(out_shown(record, row.name)),
        bar=bar,
    )


def crossed(record: Record, board: Board) -> dict[str, Any]:
    """The scores of the top of the table against each other; with many entrants, against the nearest."""
    names, total = list(board.crossed), len(board.rows)
    cells = {
        row: {
            column: [Score(entry.score, record.match_of(entry.number)) for entry in entries[-CELL:]]
            for column, entries in columns.items()
        }
        for row, columns in board.crossed.items()
    }
    nearest = total > ALL_CROSSED
    most = max(
        (len(entries) for columns in board.crossed.values() for entries in columns.values()), default=0
    )
    return {
        "names": names,
        "cells": cells,
        "met": record.decided > 0,  # even if far from one another
        "left_out": total - len(names),
        "nearest": nearest,
        "latest": CELL if most > CELL else None,
    }


def around_now(record: Record) -> dict[str, Any]:
    """The part of the schedule that is being played, and how much there is beside it."""
    last = record.last_drawn
    if record.format.endless:
        numbers: Iterable[int] = range(last, max(0, last - WINDOW), -1)
    else:
        first = min((*record.dealt.values(), next(iter(record.open), last + 1)), default=last + 1)
        start = max(1, min(first - BEFORE, last - WINDOW + 1))
        numbers = range(start, start + WINDOW)
    shown = meetings(record, _drawn(record, numbers))
    return {"record": record, "meetings": shown, "more": record.last_drawn - len(shown)}


def schedule(record: Record, page: int) -> dict[str, Any]:
    """A page of the whole schedule, counted from 1."""
    page, pages = page_of(record.last_drawn, PAGE, page)
    chosen = _drawn(record, range((page - 1) * PAGE + 1, page * PAGE + 1))
    return {"record": record, "meetings": meetings(record, chosen), "page": page, "pages": pages}


def _drawn(record: Record, numbers: Iterable[int]) -> list[Pairing]:
    return [pairing for number in numbers if (pairing := record.drawn.get(number)) is not None]


def meetings(record: Record, pairings: Sequence[Pairing]) -> list[Meeting]:
    live = {number: match for match, number in record.dealt.items()}
    return [_meeting(record, each, live.get(each.number)) for each in pairings]


def _meeting(record: Record, pairing: Pairing, live: str | None) -> Meeting:
    public, name = record.public, record.match_of(pairing.number)
    result = public.results.came_to.get(pairing.number)
    score = None if result is None else result.score
    state = "live" if live else "open" if pairing.number in record.open else "over"
    over = record.matches[name] if name is not None and state == "over" else None
    ending = None if over is None else over.ending
    void = False
    if over is not None and result is not None and pairing.number not in public.results.counted:
        # Where nothing is played again, the result of a match that does not count is as if both had lost.
        score = None if name in public.voided else came_to(over.winner, over.ending)
        void = score is None
    return Meeting(
        pairing.number,
        pairing.round,
        pairing.first,
        pairing.second,
        [shows(record, each, ending) for each in pairing.names],
        live or name,
        score,
        void,
        state,
        None if over is None else over.ended,
    )


def progress(record: Record, board: Board, playing: int, eta: float | None) -> dict[str, Any]:
    """How far the tournament has come."""
    return {
        "record": record,
        "decided": record.decided,
        "drawn": record.pairings,
        "rounds": rounds_drawn(record),
        "next_round": coming(record),
        "checks_in": opens_at(record.opened),
        "wanting": wanting(record),
        "playing": playing,
        "eta": eta if board.decision is None else decision_views.eta_of_all(record, board.decision, eta),
        "more": None if board.decision is None else decision_views.more(record, board.decision),
        "winners": winners(record, board),
    }


def rounds_drawn(record: Record) -> str:
    """How many rounds are drawn so far: matches are counted of those alone. "" once all of them are."""
    last, planned = record.drawn.get(record.last_drawn), rounds_of(record)
    if last is None or record.format.endless:
        return ""
    drawn = formatting.plural(last.round, "round")
    if record.format.decides:  # nobody knows how many there will be
        return f"{drawn} drawn"
    return f"{drawn} of {planned:,} drawn" if last.round < planned else ""


def wanting(record: Record) -> str:
    """What is still missing for a start by the clock, whose time may have passed; "" if nothing is."""
    checks, enough = opens_at(record.opened) is not None, record.format.entrants
    ready = len(record.checked_in - record.out) if checks else record.contestants
    return "" if ready >= enough else f"or later, once {enough} have {'checked in' if checks else 'entered'}"


def winners(record: Record, board: Board | None) -> list[str]:
    """Who has won, once that is sure.

    A board from before the end may have somebody else first. Nobody has won without a point, nor where
    the first place was to be settled and is open, as in a knockout without its last round.
    """
    over = record.state is State.FINISHED and record.frozen is None
    if not over or record.lacks_its_final or board is None or board.version < record.version:
        return []
    first = [row.name for row in takewhile(lambda row: row.rank == 1, board.rows)]
    if (decision := board.decision) is not None:  # of those still in: the first row may be somebody else's
        best = decision.order[: min(1, decision.settled)]
        ranks = {row.rank for row in board.rows if row.name in best}
        first = [row.name for row in board.rows if row.rank in ranks and row.name in decision.order]
    return [row.name for row in board.rows if row.name in first and row.points > 0]
