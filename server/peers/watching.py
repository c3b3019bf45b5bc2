"""Matches that are played at one host and watched on another: asked for, and told while somebody watches.

A host asks for the matches that its visitors watch and other hosts hold, and is told some ten times a
second what happens in them. Nothing is queued: the host that tells holds an index for each match, and
waits while the link is behind. What is lost with a link is asked for again over the next one. A host
that stood still, and from which others have taken over, may go on to tell: nobody heeds that.
"""

from collections.abc import Callable, Iterable, Sequence

import trio

from server.host.happened import Happened, happened, moved
from server.host.host import Host
from server.peers.link import Link
from server.peers.messages import Board, Watch

TICK = 0.1  # seconds between two looks at what has happened
MOST = 200  # matches of which one host tells another at once
EVENTS = 200  # of a match in one message
BEHIND = 1 << 18  # bytes that may wait on a link before it is told of boards: bots come first


class Watching:
    """Both sides: what this host has asked for, and what it was asked for."""

    def __init__(self, links: Callable[[], Iterable[Link]], link: Callable[[str], Link | None]) -> None:
        """`links` are those to all other hosts, and `link` returns the one to a tournament's holder."""
        self.take: Callable[[Happened], None] = lambda news: None  # called with what others tell
        self._links = links
        self._link = link
        self._wanted: Sequence[str] = ()  # matches, the ones looked at last first
        self._asked: dict[Link, tuple[str, ...]] = {}
        self._told: dict[Link, dict[str, int]] = {}  # by match of ours that is asked for: events told

    def want(self, matches: Sequence[str]) -> None:
        """Ask for these matches, which are looked at here, from the hosts that hold them."""
        self._wanted = matches

    def hear(self, link: Link, news: Watch | Board) -> None:
        match news:
            case Watch(matches=names):
                told = self._told.get(link, {})
                self._told[link] = {name: told.get(name, 0) for name in names[:MOST]}
            case Board(news=happened, now=then):
                if link is self._to_holder(happened.match):
                    self.take(moved(happened, trio.current_time() - then))

    async def run(self, host: Host) -> None:
        """Ask and tell, until cancelled."""
        while True:
            links = set(self._links())
            self._asked = {link: names for link, names in self._asked.items() if link in links}
            self._told = {link: told for link, told in self._told.items() if link in links and told}
            self._ask()
            for link, told in self._told.items():
                self._tell(host, link, told)
            await trio.sleep(TICK)

    # Within

    def _to_holder(self, match: str) -> Link | None:
        return self._link(match.rpartition("-")[0])

    def _ask(self) -> None:
        wanted: dict[Link, list[str]] = {link: [] for link in self._asked}
        for name in self._wanted:
            link = self._to_holder(name)
            if link is not None:
                wanted.setdefault(link, []).append(name)
        for link, names in wanted.items():
            asked = tuple(sorted(names[:MOST]))
            if asked != self._asked.get(link, ()):
                self._asked[link] = asked
                link.say(Watch(asked))

    def _tell(self, host: Host, link: Link, told: dict[str, int]) -> None:
        for name, number in told.items():
            if link.waiting > BEHIND:
                return
            tournament = host.tournaments.get(name.rpartition("-")[0])
            match = None if tournament is None else tournament.matches.get(name)
            if match is not None and len(match.log.events) > number:
                news = happened(name, number, match, EVENTS)
                told[name] = number + len(news.events)
                link.say(Board(news, trio.current_time()))
