"""Matches by name, as stories: the latest asked for, of those that are over, are kept."""

from server.host.view import View
from server.pages.story import Story
from tournament.record import Record

STORIES = 32  # matches that are over and whose replay is kept


class Stories:
    def __init__(self, host: View) -> None:
        self._host = host
        # By tournament as it is kept, and match; the latest last
        self._kept: dict[tuple[str, str], Story] = {}

    async def find(self, name: str) -> tuple[Record, Story] | None:
        """A match and its tournament's record; a match's name begins with its tournament's."""
        tournament = self._host.tournaments.get(name.rpartition("-")[0])
        if tournament is None:
            return None
        record, report = tournament.record, self._host.guard.report
        if name not in record.matches:  # its end is kept before its players are told of it
            live = tournament.matches.get(name)
            return None if live is None else (record, Story(record, live, report))
        which = record.kept_as, name
        story = self._kept.pop(which, None) or Story(record, await tournament.concluded(name), report)
        if story.deleted:  # while that was read
            return None
        self._kept[which] = story
        while len(self._kept) > STORIES:
            del self._kept[next(iter(self._kept))]
        return record, story
