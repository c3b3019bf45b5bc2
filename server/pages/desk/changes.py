"""What a decision would change in the standings, line by line. Pure."""

from collections.abc import Iterable

from msgspec import Struct

from tournament.standings import Row


class Change(Struct, frozen=True):
    """A line of the table before and after; None where the table has no such line."""

    name: str
    before: Row | None
    after: Row | None

    @property
    def marked(self) -> bool:
        """Whether the line would change."""
        return self.before != self.after


def compared(before: Iterable[Row], after: Iterable[Row]) -> list[Change]:
    """The changes in the order of the table afterwards; entrants that are no longer in it come last."""
    old, new = ({row.name: row for row in rows} for rows in (before, after))
    return [
        Change(name, old.get(name), new.get(name))
        for name in [*new, *(name for name in old if name not in new)]
    ]
