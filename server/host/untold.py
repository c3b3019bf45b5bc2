"""What bots that were away have yet to hear: that their tournament is over, or why it deals them nothing.

Each hears it once, when it comes again with its token and names no other tournament; one that another
tournament awaits, or would take, plays there at once instead. Whoever names the tournament hears of its end
again: it may have been told over a connection that lost it. That a tournament is over, who was taken out of
it, and whose the names in it are, its record says, also after a restart and whichever process holds it.
Only which bots have heard it is kept here. After a restart nobody knows that any more, unless other processes
do, so what is said of an end is bounded by time, and by what was played since: at worst a bot hears of an
end twice.

A bot without a token is known by its door and its address: its name belonged to these until the end. Whoever
comes like that may be another bot by now, so it is told for a short time only, and only by a door that has
words for it.
"""

import hmac
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import takewhile
from math import inf

from msgspec import Struct, field

from server.host.abroad import Wanted
from server.host.names import BadName, checked, key
from server.host.reception import Reception
from server.host.secrets import token_digest
from server.host.view import HeldTournament
from server.host.visits import Key
from tournament.facts import AnyFact, State, Turned
from tournament.lobby import Lobby
from tournament.record import Record
from tournament.refusals import taken_out

LATE = 3600.0  # seconds after the end of a tournament: whoever comes later has come for something else
SOON = 60.0  # the same for bots without a token
UNTOLD = 1000  # bots whose reason for being taken out by an organiser is remembered


class News(Struct, frozen=True):
    digest: str  # of the token of whoever is to hear it
    why: str


class End(Struct):
    """What is known of the end of a tournament, for as long as anybody may still have to hear of it."""

    since: float  # the wall time since which something is known of it
    at: float | None = None  # when it was; None: before this process held it
    told: set[str] = field(default_factory=set[str])  # names of those that have heard: they have claims there
    over: bool = False  # whether this process has heard that the tournament was over, and not that it goes on


class Untold:
    def __init__(
        self,
        records: Callable[[str, str], Iterable[Record]],
        expects: Callable[[str, str], bool],
        lobby: Lobby,
        reception: Reception,
        wall: Callable[[], float],
    ) -> None:
        """`records` are the tournaments, over or not, of a name in a game, whichever process holds them.

        `expects` says whether a tournament that is not over, and has an end, awaits or takes such a name.
        """
        self._records = records
        self._expects = expects
        self._lobby = lobby
        self._reception = reception
        self._wall = wall
        self._news: OrderedDict[Key, News] = OrderedDict()
        self._ends: OrderedDict[str, End] = OrderedDict()  # by the tournament's name in the store
        # Called with a tournament, by its name in the store, and the name of a bot that has heard of its end.
        self.on_told: Callable[[str, str], None] = lambda tournament, name: None

    def hear(self, tournament: HeldTournament, fact: AnyFact) -> None:
        """Called with every fact of a tournament that is held here, before anybody is told of it."""
        if isinstance(fact, Turned) and fact.state is State.FINISHED:
            record = tournament.record
            before = self._ends.pop(record.kept_as, None)
            end = self._end(record.kept_as)
            end.at = self._wall()
            if before is not None:  # it was over before, for some at least: only these hear nothing new
                end.told = before.told & record.out

    def turned(self, record: Record) -> None:
        """Called where several processes hold tournaments, with each that has changed its state, or was over.

        If one goes on that was over, its next end is another. Of that, only those have heard already for
        whom nothing changes: they were taken out.
        """
        if record.state is State.FINISHED:
            self._end(record.kept_as).over = True
        elif (end := self._ends.get(record.kept_as)) is not None and end.over:
            end.over, end.told = False, end.told & record.out

    def tell_later(self, where: Key, token: str, why: str) -> None:
        """Somebody is away and has not heard why nothing is left for it to play."""
        self._news[where] = News(token_digest(token).hex(), why)
        while len(self._news) > UNTOLD:
            self._news.popitem(last=False)

    def why(self, wanted: Wanted) -> str:
        """Why nothing is left for whoever comes like that, if it has not heard; "" if something may be."""
        if (news := self._news_for(wanted)) is not None:
            return news.why
        record = self._any_end(wanted)
        if record is None:
            return ""
        return str(taken_out(record, checked(wanted.name)) or f"{record.name} is over")

    def end(self, wanted: Wanted) -> Record | None:
        """The tournament of which a bot that comes like that has yet to hear that it is over for it.

        That is because it has ended, or because an organiser has taken the bot out; of several, the first.
        Whoever was taken out and names it is refused by the tournament itself.
        """
        if wanted.token is None:
            return None
        return self._any_end(wanted)

    def _any_end(self, wanted: Wanted) -> Record | None:
        """The same for doors that tell bots without a token, too."""
        try:
            name = checked(wanted.name)
        except BadName:
            return None
        records = [*self._records(name, wanted.game)]
        over = [each for each in records if self._is_untold(each, name, asked=each.name == wanted.tournament)]
        if not over:
            return None  # as nearly always
        its = [
            record
            for record in over
            if (wanted.tournament is None or (wanted.tournament == record.name and name not in record.out))
            and self._is_its(record, name, wanted)
            and not self._is_elsewhere(name, record)
        ]
        its = self._not_left_behind(name, its, records)
        if its and wanted.tournament is None and self._expects(name, wanted.game):
            return None
        return min(its, key=self._ended, default=None)

    def has_been_told(self, wanted: Wanted) -> None:
        """Whoever comes like that has heard why nothing is left for it."""
        if self._news_for(wanted) is not None:
            del self._news[_where(wanted)]
        if (record := self._any_end(wanted)) is not None:
            self.has_heard(record, checked(wanted.name))

    def has_heard(self, record: Record, name: str) -> None:
        """The bot of that name has heard that a tournament is over, or over for it."""
        self.note(record.kept_as, name)
        self.on_told(record.kept_as, name)

    def heard(self) -> Iterator[tuple[str, str]]:
        """The tournaments, by their names in the store, and the bots that have heard of their ends."""
        return ((tournament, name) for tournament, end in self._ends.items() for name in end.told)

    def note(self, tournament: str, name: str) -> None:
        """The same, as another process says; it may know of the end before this one does."""
        self._end(tournament).told.add(name)

    def is_past(self, record: Record) -> bool:
        """Whether a tournament has been over for so long that nobody is told of it any more."""
        return record.state is State.FINISHED and self._wall() - self._ended(record) > LATE

    def _news_for(self, wanted: Wanted) -> News | None:
        if (news := self._news.get(_where(wanted))) is None:
            return None
        brought = token_digest(wanted.token or "").hex()
        return news if hmac.compare_digest(news.digest, brought) else None

    def _end(self, tournament: str) -> End:
        now = self._wall()
        while self._ends and next(iter(self._ends.values())).since < now - LATE:
            self._ends.popitem(last=False)
        return self._ends.setdefault(tournament, End(now))

    def _is_untold(self, record: Record, name: str, *, asked: bool) -> bool:
        """Whether a tournament is over, not for long, or for that bot alone, which may not have heard.

        If it is asked for by its name, what the bot was told may have been lost on the way.
        """
        end = self._ends.get(record.kept_as)
        if not asked and end is not None and name in end.told:
            return False
        if record.state is State.FINISHED:
            return 0 <= self._wall() - self._ended(record) <= LATE
        return taken_out(record, name) is not None

    def _is_its(self, record: Record, name: str, wanted: Wanted) -> bool:
        """Whether the name belonged, in a tournament that is over, to whoever comes like that."""
        if wanted.token is not None:
            digest = token_digest(wanted.token).hex()
            return hmac.compare_digest(record.claims.get(name, ""), digest)
        seat = record.seats.get(name)
        if seat is None or (seat.door, seat.address) != (wanted.door, wanted.address):
            return False
        return record.state is State.FINISHED and self._wall() - self._ended(record) <= SOON

    def _is_elsewhere(self, name: str, record: Record) -> bool:
        """Whether somebody of that name plays now, or is here for something other than that tournament."""
        return any(
            player.seat is not None or (player.place != record.name and self._reception.is_held(player))
            for player in self._lobby.named(name, record.opened.game)
        )

    def _not_left_behind(
        self, name: str, over: Sequence[Record], records: Iterable[Record]
    ) -> Sequence[Record]:
        """Those of the tournaments after whose end a bot of that name has played in none of the others.

        There may be hundreds that were over within the hour: each is looked at once.
        """
        first = min(map(self._ended, over), default=inf)
        # Times are kept in whole milliseconds, so its own last match may seem to have ended after it.
        played = [(_last_played(record, name, first), record) for record in records] if over else []
        latest = nlargest(2, played, key=lambda each: each[0])
        return [
            record
            for record in over
            if all(when <= self._ended(record) for when, other in latest if other is not record)
        ]

    def _ended(self, record: Record) -> float:
        """When a tournament was over, by the wall clock; if nobody here saw that, when its last match was."""
        if (end := self._ends.get(record.kept_as)) is not None and end.at is not None:
            return end.at
        return -inf if (latest := record.latest_end) is None else latest


def _where(wanted: Wanted) -> Key:
    return wanted.game, key(wanted.name)


def _last_played(record: Record, name: str, since: float) -> float:
    """When the latest match of somebody was over there, if that was later than `since`."""
    latest = (record.matches[match] for match in reversed(record.recent))
    recent = takewhile(lambda match: (match.ended or 0.0) > since, latest)
    return next((match.ended or 0.0 for match in recent if name in match.players), -inf)
