"""Which live matches a page shows side by side, and where.

A page has a fixed number of places. A match keeps its place until a moment after its end, so that
people can see how it ended, or until its tournament is deleted. Then the place goes to the match that
has been played longest without one. Very short matches are skipped: nobody could follow them.
"""

from collections.abc import Iterable

from server.host.view import Held
from server.pages.story import Story
from tournament.match import Match

LINGERS = 4.0  # seconds that a match is shown after its end while another waits for its place


class Wall:
    def __init__(self, places: int) -> None:
        self.places: list[Story | None] = [None] * places

    def arrange(self, tournaments: Iterable[Held], now: float) -> None:
        """Give free places to matches that are being played."""
        for place, story in enumerate(self.places):
            if story is not None and story.deleted:
                self.places[place] = None
        shown = {story.name for story in self.places if story is not None}
        waiting = (
            (tournament, match)
            for tournament in tournaments
            for match in tournament.matches.values()
            if match.name not in shown and match.result is None
        )
        for place, story in enumerate(self.places):
            if story is None or _done(story, now):
                found = next(waiting, None)
                if found is None:
                    return
                tournament, match = found
                self.places[place] = Story(tournament.record, match)


def _done(story: Story, now: float) -> bool:
    source = story.source
    if not isinstance(source, Match):
        return True
    return source.result is not None and now >= source.result.at + LINGERS
