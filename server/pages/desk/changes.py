"""What a decision would change in the standings, line by line. Pure."""

from collections.abc import Iterable

from msgspec import Struct

from tournament.standings import Row


class Change(Struct, frozen=True):
    """A line of the table that would be, and what it was; None on a side that has none."""

    name: str
    before: Row | None
    after: Row | None

    @property
    def marked(self) -> bool:
        """Whether anything in it would be other than it is."""
        return self.before != self.after


def compared(before: Iterable[Row], after: Iterable[Row]) -> list[Change]:
    """In the order that would be; who would be in it no more comes last."""
    old, new = ({row.name: row for row in rows} for rows in (before, after))
    return [
        Change(name, old.get(name), new.get(name))
        for name in [*new, *(name for name in old if name not in new)]
    ]
