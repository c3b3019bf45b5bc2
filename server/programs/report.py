"""Standings for a terminal, or as JSON for a program."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from server.export.words import out_in_words
from server.net.escaping import json_line
from server.programs.table import table

if TYPE_CHECKING:
    from tournament.record import Record  # whose import takes longer than many a command

HEADINGS = ("rank", "name ", "points", "played", "won", "drawn", "lost", "strength")


def report(record: "Record", *, as_json: bool) -> str:
    """The standings of a record: one JSON object on one line, or a table."""
    from server.export.decision_views import report_shown

    return rendered(report_shown(record), as_json=as_json, frozen="frozen for everybody but its organiser")


def rendered(
    standings: dict[str, Any], *, as_json: bool, frozen: str = "as its standings were frozen"
) -> str:
    """The same, for standings as the API has them; `frozen` says of frozen ones what is shown."""
    title = "{tournament}: {game}, {format}, {state}".format_map(standings)
    title += ", ended early" if standings.get("ended_early") else ""
    title += f", {frozen}" if standings["frozen"] else ""
    if as_json:
        return json_line(standings)
    remarks = "".join(f"\n{each}" for each in standings.get("said", ()))
    return standings_table(standings["rows"], title) + remarks


def standings_table(rows: Sequence[dict[str, Any]], title: str) -> str:
    """A table with what else is known of any bot in it; one line if nobody is in it."""
    if not rows:
        return f"{title}: nobody is in the table"
    more = {"affiliation ": [row.get("affiliation", "") for row in rows], "out ": [*map(out_in_words, rows)]}
    known = {heading: column for heading, column in more.items() if any(column)}
    cells = zip(map(_cells, rows), *known.values(), strict=True)
    return table((*HEADINGS, *known), ((*row, *others) for row, *others in cells), title)


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    strength = "" if row["rating"] is None else str(round(row["rating"]))  # never -0
    if row["interval"] is not None:
        low, high = map(round, row["interval"])
        strength += f", {low} to {high}"
    counts = (row["played"], row["wins"], row["draws"], row["losses"])
    return str(row["rank"]), row["name"], row["points"], *counts, strength
