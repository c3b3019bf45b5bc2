"""Which live matches a page shows side by side, and where.

A page has a fixed number of places. A match keeps its place until a moment after its end, so that
people can see how it ended, or until its tournament is deleted. Then the place goes to the match that
has been played longest without one. Very short matches are skipped: nobody could follow them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from markupsafe import Markup

from server.host.view import HeldTournament
from server.net.guard import Guard
from server.pages import match
from server.pages.rendering import part
from server.pages.story import Story
from tournament.match import Match

LINGERS = 4.0  # seconds that a match is shown after its end while another waits for its place


class BoardGrid:
    def __init__(self, places: int, guard: Guard) -> None:
        self._guard = guard
        self._places: list[Story | None] = [None] * places
        self.begin_anew()

    def begin_anew(self) -> None:
        """The next look is the first of whoever takes it."""
        self._shown: list[object] = [()] * len(self._places)  # what was at each place at the last look

    def changed(self, tournaments: Iterable[HeldTournament], now: float) -> Iterator[tuple[str, Markup]]:
        """The boards that have changed since the last look."""
        self._arrange(tournaments, now)
        for place, story in enumerate(self._places):
            looked = None if story is None else match.state(story)
            if looked != self._shown[place]:
                yield f"place-{place}", Markup("") if story is None else self._card(story)
                self._shown[place] = looked

    def _arrange(self, tournaments: Iterable[HeldTournament], now: float) -> None:
        """Give free places to matches that are being played."""
        for place, story in enumerate(self._places):
            if story is not None and story.deleted:
                self._places[place] = None
        shown = {story.name for story in self._places if story is not None}
        waiting = (
            Story(tournament.record, played, self._guard.report)
            for tournament in tournaments
            for played in tournament.matches.values()
            if played.name not in shown and played.result is None
        )
        for place, story in enumerate(self._places):
            if story is None or _done(story, now):
                found = next(waiting, None)
                if found is None:
                    return
                self._places[place] = found

    def _card(self, story: Story) -> Markup:
        """A live board with its names and clocks."""
        story.complete()
        seen: dict[str, Any] = {"story": story, "seats": match.seats(story), "ended": story.ended}
        return part("card", seen | {"board": story.board(len(story.plies))})


def _done(story: Story, now: float) -> bool:
    source = story.source
    if not isinstance(source, Match):
        return True
    return source.result is not None and now >= source.result.at + LINGERS
