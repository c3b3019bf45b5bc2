"""Bots that are away and have yet to hear that nothing is left for them to play, and why.

Each hears it once, when it joins again. While a tournament is held here, its bots say what they have not
heard on their way out. Of one that was over when the host was started, its record says whose a name was;
nobody knows any more who has heard, so what is said of it is bounded by time, and by what was played since.
"""

import hmac
from collections import OrderedDict
from itertools import takewhile
from typing import Any

from msgspec import Struct

from server.host.host import Host
from server.host.names import checked
from server.host.reception import Key
from server.host.secrets import token_digest
from tournament.facts import AnyFact, State, Turned
from tournament.record import Record

UNTOLD = 1000  # bots of whom that is remembered, and as many that have heard
LATE = 3600.0  # seconds after the end of a tournament: whoever comes later has come for something else


class News(Struct, frozen=True):
    digest: str  # of the token of whoever is to hear it
    why: str


class Untold:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._news: OrderedDict[Key, News] = OrderedDict()
        self._told: OrderedDict[Key, None] = OrderedDict()
        self._ended_here: set[str] = set()  # tournaments, as they are kept, whose bots are told or in `_news`
        host.on_fact.append(self._hear)

    def tell_later(self, where: Key, token: str, why: str) -> None:
        """Somebody is away and has not heard that, and why, nothing is left for it to play."""
        self._news[where] = News(token_digest(token).hex(), why)
        _bound(self._news)
        self._host.on_key(token)

    def why(self, where: Key, name: str, token: str | None, tournament: str | None) -> str:
        """Why nothing is left for whoever joins like that, if it has not heard; "" if something may be."""
        if token is None:
            return ""
        digest = token_digest(token).hex()
        news = self._news.get(where)
        if news is not None and hmac.compare_digest(news.digest, digest):
            return news.why
        if where in self._told or tournament is not None:
            return ""
        return self._from_before(name, where[0], digest)

    def has_been_told(self, where: Key) -> None:
        self._news.pop(where, None)
        self._told[where] = None
        _bound(self._told)

    def _from_before(self, name: str, game: str, digest: str) -> str:
        """The same of the tournament that ended last of those that were over when the host was started."""
        name = checked(name)
        records = self._host.roll.of(name, game)
        recent = [record for record in records if self._was_over_lately(record)]
        its = [each for each in recent if hmac.compare_digest(each.claims.get(name, ""), digest)]
        if not its or self._plays(name, game):
            return ""
        last = max(its, key=_ended)
        since = any(_played_since(each, name, _ended(last)) for each in records)
        return "" if since else f"{last.name} is over"

    def _was_over_lately(self, record: Record) -> bool:
        """Whether a tournament is over, not for long, and nobody here saw its end."""
        if record.state is not State.FINISHED or record.kept_as in self._ended_here:
            return False
        return 0 <= self._host.wall() - _ended(record) <= LATE

    def _plays(self, name: str, game: str) -> bool:
        """Whether somebody plays under that name: it has joined again, and so it has heard."""
        return any(player.seat is not None for player in self._host.lobby.named(name, game))

    def _hear(self, tournament: Any, fact: AnyFact) -> None:
        if isinstance(fact, Turned) and fact.state is State.FINISHED:
            self._ended_here.add(tournament.record.kept_as)


def _ended(record: Record) -> float:
    """When its last match ended, by the wall clock; 0 if that is not known."""
    return next((at for match in reversed(record.recent) if (at := record.matches[match].ended)), 0.0)


def _played_since(record: Record, name: str, when: float) -> bool:
    """Whether somebody has ended a match there since then; the latest come first, and few are that late."""
    latest = (record.matches[match] for match in reversed(record.recent))
    since = takewhile(lambda match: (match.ended or 0.0) > when, latest)
    return any(name in match.players for match in since)


def _bound(known: OrderedDict[Key, Any]) -> None:
    while len(known) > UNTOLD:
        known.popitem(last=False)
