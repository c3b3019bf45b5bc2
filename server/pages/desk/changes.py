"""What a decision would change in the standings, line by line. Pure."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from tournament.standings import Row

TOP = 100  # lines of the table that are shown, and as many of those further down whose results change


class Change(Struct, frozen=True):
    """A line of the table before and after; None where the table has no such line."""

    name: str
    before: Row | None
    after: Row | None

    @property
    def marked(self) -> bool:
        """Whether the line would change."""
        return self.before != self.after

    @property
    def in_results(self) -> bool:
        """Whether more than its place would change: what its matches have come to."""
        return _results(self.before) != _results(self.after)


class Comparison(Struct, frozen=True):
    """What an organiser is shown of two tables: the top, and who it is about."""

    lines: Sequence[Change]
    total: int  # lines that there are
    changed: int  # of these, how many would change
    unseen: int  # and how many of these are not shown


def compared(before: Iterable[Row], after: Iterable[Row]) -> Comparison:
    """The changes in the order of the table afterwards; entrants that are no longer in it come last."""
    old, new = ({row.name: row for row in rows} for rows in (before, after))
    names = [*new, *(name for name in old if name not in new)]
    every = [Change(name, old.get(name), new.get(name)) for name in names]
    lines = every[:TOP] + [each for each in every[TOP:] if each.in_results][:TOP]
    changed = sum(each.marked for each in every)
    return Comparison(lines, len(every), changed, changed - sum(each.marked for each in lines))


def _results(row: Row | None) -> object:
    return row and (row.points, row.wins, row.draws, row.losses)
