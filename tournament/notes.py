"""What bots note with their moves: a sentence, or figures such as tokens, depth and score.

The notes of a match are kept with it, and shown to nobody before it is over: a note may say what its bot
is up to. What they take up is bounded, so a match keeps notes while there is room for them.
"""

from typing import Annotated

from msgspec import Meta, Struct

LARGEST = 2**63 - 1  # of whole numbers: messages between processes hold no more bits

Text = Annotated[str, Meta(max_length=500)]
Name = Annotated[str, Meta(max_length=32)]
Whole = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Note = Text | Annotated[dict[Name, int | float], Meta(max_length=16)]  # as it is kept …
Taken = Text | Annotated[dict[Name, Whole | float], Meta(max_length=16)]  # … and as bots may note it

MOST = 20_000  # characters of all notes of a match
FIGURE = 8  # characters that a figure counts as, besides its name


class Noted(Struct, frozen=True):
    ply: int  # the number of the move, 1 for the first …
    seat: int  # … and whose it was
    note: Note


Notes = tuple[Noted, ...]


def room(notes: Notes) -> int:
    """How many characters a match with these notes has left for more."""
    return MOST - sum(size(each.note) for each in notes)


def figures(notes: Notes) -> Notes:
    """The notes without the sentences."""
    return tuple([each for each in notes if not isinstance(each.note, str)])


def size(note: Note) -> int:
    return len(note) if isinstance(note, str) else sum(len(name) + FIGURE for name in note)
