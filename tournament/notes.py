"""What bots note with their moves: a sentence, or figures such as tokens, depth and score.

The notes of a match are kept with it, and shown to nobody before it is over: a note may say what its bot
is up to. What they take up is bounded, so a match keeps notes while there is room for them.
"""

from typing import Annotated

from msgspec import Meta, Struct

Text = Annotated[str, Meta(max_length=500)]
Figures = Annotated[dict[Annotated[str, Meta(max_length=32)], int | float], Meta(max_length=16)]
Note = Text | Figures

MOST = 20_000  # characters of all notes of a match
FIGURE = 8  # characters that a figure counts as, besides its name


class Noted(Struct, frozen=True):
    ply: int  # the number of the move, 1 for the first …
    seat: int  # … and whose it was
    note: Note


Notes = tuple[Noted, ...]


class Notebook:
    """The notes of one match."""

    __slots__ = ("_left", "notes")

    def __init__(self) -> None:
        self.notes: Notes = ()
        self._left = MOST

    def add(self, noted: Noted) -> bool:
        """Keep a note, if there is room for it; returns whether there is."""
        if (needed := size(noted.note)) > self._left:
            return False
        self._left -= needed
        self.notes += (noted,)
        return True


def notebook(notes: Notes) -> Notebook | None:
    """A notebook in which these notes are; None for none."""
    if not notes:
        return None
    found = Notebook()
    for each in notes:
        found.add(each)
    return found


def figures(notes: Notes) -> Notes:
    """The notes without the sentences."""
    return tuple([each for each in notes if not isinstance(each.note, str)])


def size(note: Note) -> int:
    return len(note) if isinstance(note, str) else sum(len(name) + FIGURE for name in note)
