"""What language models have used in a tournament: tokens, seconds and tries, added up from their notes.

Any bot may note these figures with its moves, as `quintain bot llm` does; other figures are on the pages
of the matches. The matches that count are the latest, which the record remembers with their notes.
"""

from collections.abc import Iterable

from msgspec import Struct

from server.host.appearances import shows
from tournament.record import Record
from tournament.remembered import Remembered

FIGURES = ("tokens", "seconds", "tries", "by_lot")


class Used(Struct):
    """What one bot used; None where it never noted that."""

    name: str
    moves: int = 0  # moves with a note of these figures
    tokens: float | None = None
    seconds: float | None = None
    tries: float | None = None
    by_lot: float = 0  # moves that were not the model's
    known: bool = True  # whether it has a page


def latest(record: Record) -> list[Remembered]:
    """The matches that count, to be looked through in a thread: they may have hundreds of notes each."""
    return [record.matches[name] for name in record.recent]


def usage(record: Record, matches: Iterable[Remembered]) -> list[Used]:
    """What each bot that noted it used in these matches, in alphabetical order."""
    found: dict[str, Used] = {}
    for over in matches:
        for noted in over.notes:
            if isinstance(noted.note, dict) and not noted.note.keys().isdisjoint(FIGURES):
                bot = over.players[noted.seat]
                used = found.setdefault(bot, Used(bot, known=False))
                used.known = used.known or shows(record, bot, over.ending)
                used.moves += 1
                for figure in FIGURES:
                    if figure in noted.note:
                        setattr(used, figure, (getattr(used, figure) or 0) + noted.note[figure])
    return [found[name] for name in sorted(found)]
