"""Standings for a terminal, or as JSON for a program."""

import io

import msgspec
from rich.console import Console
from rich.table import Table

from server.logs import safe
from server.shown import standings_shown
from tournament.record import Record


def report(record: Record, *, as_json: bool) -> str:
    """One JSON object on one line, or a table."""
    shown = standings_shown(record)
    if as_json:
        return msgspec.json.encode(shown).decode()
    table = Table(title=f"{record.name}: {record.opened.game}, {record.format.title}, {record.state}")
    for heading in ("rank", "name", "points", "played", "won", "drawn", "lost", "rating"):
        table.add_column(heading, justify="left" if heading == "name" else "right")
    for row in shown["rows"]:
        interval = row["interval"]
        rating = "" if row["rating"] is None else f"{row['rating']:.0f}"
        if interval is not None:
            rating += f" ± {(interval[1] - interval[0]) / 2:.0f}"
        counts = (row["played"], row["wins"], row["draws"], row["losses"])
        table.add_row(str(row["rank"]), safe(row["name"]), f"{row['points']:g}", *map(str, counts), rating)
    out = Console(file=io.StringIO(), width=100)
    out.print(table)
    return out.file.getvalue().rstrip()  # type: ignore[attr-defined]
