"""The results of a tournament, for its page: the table with ratings, who met whom, what is still to play.

Pure functions of a record that nobody else changes, so that they may run in a
thread: a hundred entrants and ten thousand matches take their time.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from games.catalogue import catalogue
from server.export.json_views import PRECISION
from server.pages import drawings, formatting
from tournament.format import Pairing
from tournament.ratings import bradley_terry, probability_first
from tournament.record import Record, State
from tournament.standings import CRITERIA, crosstable

ROWS = 40  # of the table on a page that is kept as things are; a page of its own has all
CROSSED = 14  # entrants in the crosstable, the first of the table: its size grows with their square
CELL = 6  # matches of one pair that a cell of it links to
WINDOW = 20  # pairings on the page of the tournament: what is played now and around it
BEFORE = 6  # of those, that are decided already
PAGE = 100  # pairings on a page of the whole schedule


class Line(Struct, frozen=True):
    """A line of the table."""

    rank: int
    name: str
    out: str  # why it plays no more, or ""
    points: float
    played: int
    wins: int
    draws: int
    losses: int
    tie_breaks: tuple[float, ...]
    rating: float | None
    reach: float | None  # half the width of the interval
    bar: Markup | None
    first: float | None  # how likely it is the strongest


class Score(Struct, frozen=True):
    """What somebody made in one match, in a cell of the crosstable."""

    score: float
    match: str | None


class Meeting(Struct, frozen=True):
    """A pairing, and what came of it."""

    number: int
    round: int
    first: str
    second: str | None
    match: str | None  # to link to
    score: tuple[float, float] | None
    state: str  # "over", "live" or "open"


def standings(record: Record, most: int | None = None) -> dict[str, Any]:
    """The table, with ratings, intervals and P(first)."""
    fit = bradley_terry(record.adjusted())
    ratings = {rating.name: rating for rating in fit.ratings}
    likely = probability_first(fit)
    on = drawings.scale([end for rating in fit.ratings for end in rating.interval])
    lines: list[Line] = []
    rows = record.standings()
    for row in rows[:most]:
        rating = ratings.get(row.name)
        bar = reach = None
        if rating is not None:
            low, high = rating.interval
            reach = (high - low) / 2
            said = (
                f"{formatting.signed(rating.rating)}, {formatting.signed(low)} to {formatting.signed(high)}"
            )
            bar = drawings.bar(rating.interval, rating.rating, on, said)
        lines.append(
            Line(
                row.rank,
                row.name,
                _out(record, row.name),
                row.points,
                row.played,
                row.wins,
                row.draws,
                row.losses,
                row.tie_breaks,
                round(rating.rating, PRECISION) if rating else None,
                reach,
                bar,
                likely.get(row.name),
            )
        )
    return {
        "record": record,
        "frozen": record.frozen is not None,
        "lines": lines,
        "more": len(rows) - len(lines),
        "criteria": [CRITERIA[name] for name in record.format.order if name != "points"],
        "duplicates": sum(rating.duplicates for rating in fit.ratings) // 2,
    }


def _out(record: Record, name: str) -> str:
    if name in record.disqualified:
        return "disqualified"
    return "withdrawn" if record.entrants[name].gone else ""


def crossed(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """What each of those made against each other."""
    counted = matches(record)
    table = crosstable(list(record.entrants.values()), record.adjusted())
    cells = {
        row: {
            column: [Score(entry.score, counted.get(entry.number)) for entry in table[row][column]]
            for column in names
            if column != row
        }
        for row in names
    }
    return {
        "record": record,
        "names": names,
        "cells": cells,
        "most": CELL,
        "left_out": len(table) - len(names),
    }


def matches(record: Record) -> Mapping[int, str]:
    """Of each pairing the match that counts for it, or the latest that did not."""
    found: dict[int, str] = {}
    for concluded in record.matches.values():
        counts = concluded.score is not None and concluded.match not in record.voided
        if counts or concluded.pairing not in found:
            found[concluded.pairing] = concluded.match
    return found


def around_now(record: Record) -> dict[str, Any]:
    """The part of the schedule that is being played, and how much there is besides."""
    drawn = list(record.drawn.values())
    if record.format.endless:
        chosen = drawn[: -WINDOW - 1 : -1]
    else:
        undecided = {*record.open, *record.dealt.values()}
        at = next((n for n, each in enumerate(drawn) if each.number in undecided), len(drawn))
        start = max(0, min(at - BEFORE, len(drawn) - WINDOW))
        chosen = drawn[start : start + WINDOW]
    return {"record": record, "meetings": meetings(record, chosen), "more": len(drawn) - len(chosen)}


def schedule(record: Record, page: int) -> dict[str, Any]:
    """A page of the whole schedule, counted from 1."""
    pages = max(1, -(-len(record.drawn) // PAGE))
    page = min(max(page, 1), pages)
    chosen = islice(record.drawn.values(), (page - 1) * PAGE, page * PAGE)
    return {"record": record, "meetings": meetings(record, list(chosen)), "page": page, "pages": pages}


def meetings(record: Record, pairings: Sequence[Pairing]) -> list[Meeting]:
    counted = matches(record)
    live = {number: match for match, number in record.dealt.items()}
    scores = {result.pairing.number: result.score for result in record.public.results()}
    return [
        Meeting(
            each.number,
            each.round,
            each.first,
            each.second,
            live.get(each.number) or counted.get(each.number),
            scores.get(each.number),
            "live" if each.number in live else "open" if each.number in record.open else "over",
        )
        for each in pairings
    ]


def progress(record: Record, playing: int, eta: float | None) -> dict[str, Any]:
    """How far it has come."""
    over = len(record.drawn) - len(record.open) - len(record.dealt)
    return {
        "record": record,
        "title": catalogue()[record.opened.game].title,
        "decided": over,
        "drawn": len(record.drawn),
        "rounds": max((each.round for each in record.drawn.values()), default=0),
        "playing": playing,
        "eta": eta,
        "winners": [row.name for row in record.standings() if row.rank == 1]
        if record.state is State.FINISHED and record.frozen is None
        else [],
    }
