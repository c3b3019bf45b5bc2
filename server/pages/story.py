"""A match as pages tell it, live or over: its positions, its moves as people write them, its boards.

A finished match is played again from its record. A live one is only read and does
not notify anybody, so a spectator adds nothing to anybody's move. Games draw their
positions with their own names for the seats: nothing that a bot has said is in a
drawing.

A game of another package may fail at any of that. It costs the match its boards, and
no page.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from games.catalogue import catalogue
from games.game import Game
from server.export.json_views import causes_shown
from server.host.appearances import shows
from server.pages.formatting import plural
from tournament.causes import moved_by
from tournament.events import Ended, Moved
from tournament.facts import Concluded, State
from tournament.match import Match
from tournament.notes import Note
from tournament.record import Record

NO_BOARD = Markup("<span>{} fails to draw this board</span>")
NO_REPLAY = Markup("<span>{} fails to replay this match from here on</span>")
LARGE = 800  # elements: a drawing with more is shown as a picture, which is one element of the page


class Ply(Struct, frozen=True):
    """A move that was played."""

    number: int  # 1 for the first
    seat: int
    text: str  # as people write it
    spent: float  # seconds
    used: tuple[float, float]  # by both seats so far


class Story:
    """One match from its first position on, as far as it was asked for."""

    def __init__(
        self, record: Record, source: Match | Concluded, report: Callable[[Exception], None]
    ) -> None:
        """`report` is called with what the game raises that it may not raise."""
        self.source = source
        self.tournament = record.name
        self._record = record
        self._report = report
        live = isinstance(source, Match)
        self.name: str = source.name if live else source.match
        self.players: tuple[str, str] = source.names if live else source.players
        self.game: Game[Any, Any] = catalogue()[record.opened.game]
        start = source.positions[0] if live else self.game.opening(record.options(source))
        self.positions = [start]
        self.plies: list[Ply] = []
        self.ends_early = False  # whether the game has failed to replay the match any further
        self._moves: list[Any] = []  # as the game has them
        self._read = 0  # events of a live match that were looked at …
        self.taken_back = 0  # … and how often moves had been taken back in it by then

    def __len__(self) -> int:
        """The number of plies in the match, replayed or not."""
        return self.source.ply if isinstance(self.source, Match) else len(self.source.moves)

    @property
    def deleted(self) -> bool:
        """Whether its tournament was deleted, and its page is no more."""
        return self._record.state is State.DELETED

    @property
    def voided(self) -> bool:
        """Whether an organiser has voided it after its end."""
        return self.name in self._record.voided

    def knows(self, name: str) -> bool:
        """Whether one of its players has a page."""
        return shows(self._record, name, None if self.ended is None else self.ended.ending)

    @property
    def causes(self) -> list[dict[str, Any]]:
        """What has happened besides the moves, oldest first."""
        source = self.source
        if isinstance(source, Match):
            return causes_shown(moved_by(source.cause, source.epoch))
        return causes_shown(source.cause)

    @cached_property
    def notes(self) -> Mapping[int, Note]:
        """What bots noted with their moves, by ply; empty for a match in play."""
        source = self.source
        return {} if isinstance(source, Match) else {each.ply: each.note for each in source.notes}

    @property
    def times(self) -> tuple[float | None, float | None]:
        """When it began and ended, by the wall clock."""
        source = self.source
        if not isinstance(source, Match):
            return source.began, source.ended
        return source.began, None if source.result is None else source.result.at + source.epoch

    @property
    def ended(self) -> Ended | Concluded | None:
        return self.source.result if isinstance(self.source, Match) else self.source

    def tell(self) -> Iterator[Ply]:
        """Go on with the replay, and yield each ply: the caller may pause in between."""
        for written, spent in () if self.ends_early else self._untold():
            try:
                self._tell(written, spent)
            except Exception as error:
                self._report(error)
                self.ends_early = True
                return
            yield self.plies[-1]

    def _tell(self, written: Any, spent: float) -> None:
        before, number = self.positions[-1], len(self.plies) + 1
        move = self.game.read(written, before)
        seat: int = before.turn
        used = self.plies[-1].used if self.plies else (0.0, 0.0)
        used = (used[0] + spent, used[1]) if seat == 0 else (used[0], used[1] + spent)
        ply = Ply(number, seat, self.game.spelled(move, before), spent, used)
        source = self.source
        after = source.positions[number] if isinstance(source, Match) else before.play(move)
        self.positions.append(after)
        self._moves.append(move)
        self.plies.append(ply)

    def _untold(self) -> Iterator[tuple[Any, float]]:
        source = self.source
        if isinstance(source, Match):
            while source.taken_back != self.taken_back or self._read < len(source.log.events):
                if source.taken_back != self.taken_back:  # even since the ply before
                    self.taken_back, self._read = source.taken_back, 0
                    del self.positions[1:]
                    self.plies, self._moves = [], []
                event = source.log.events[self._read]
                self._read += 1
                if isinstance(event, Moved):
                    yield event.move, event.spent
        else:
            while (told := len(self.plies)) < len(source.moves):  # other tasks may tell it meanwhile
                yield source.moves[told], source.times[told]

    def complete(self) -> None:
        for _ in self.tell():
            pass

    def drawing(self, ply: int) -> str:
        """The board after this many plies, as SVG; the replay must have come that far."""
        return self.game.draw(self.positions[ply], self._moves[ply - 1] if ply else None)

    def board(self, ply: int) -> Markup:
        """The board as a page shows it: the drawing itself, or a link to it as a picture if it is large.

        Words are in its place if the game fails.
        """
        return self.board_and_size(ply)[0]

    def board_and_size(self, ply: int) -> tuple[Markup, int]:
        """The same, and how many characters had to be drawn for it."""
        if self.ends_early and ply == len(self.plies):
            return NO_REPLAY.format(self.game.title), 0
        try:
            drawn = self.drawing(ply)
        except Exception as error:
            self._report(error)
            return NO_BOARD.format(self.game.title), 0
        if drawn.count("<") < LARGE * 1.2:  # few elements of a drawing have an end tag
            return Markup(drawn), len(drawn)  # noqa: S704 - by a game, and with nothing that anybody said
        title = f"{self.game.title}, after {plural(ply, 'move')}"
        picture = Markup('<img src="/matches/{}/board.svg?ply={}" alt="{}">').format(self.name, ply, title)
        return picture, len(drawn)
