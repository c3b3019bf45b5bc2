"""Which worker holds which tournament, and where an arriving bot belongs.

Worker 0 decides this for all. It knows the record of every tournament: of those that it holds itself, and of
the others from the facts that it keeps for them.
"""

import hmac
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import trio
from msgspec import Struct

from games.catalogue import catalogue, game_kept
from games.game import Game
from server.host.abroad import Wanted
from server.host.current import ENDS, Current
from server.host.names import BadName, checked, key
from server.host.opening import OPEN
from server.host.roll import Roll
from server.host.secrets import token_digest
from server.host.visits import Key, Present
from tournament.entries import Entry
from tournament.facts import AnyFact, Concluded, Dealt, Entered, State, Turned
from tournament.presence import Missing
from tournament.record import Record
from tournament.refusals import room, takes_entrants
from tournament.settling import both
from tournament.store import Store

SOON = 5.0  # seconds within which a worker says whether it has let a bot in: none takes as long
OWN = 0  # the number of the worker that has the directory


class RemoteTournament:
    """A tournament that another worker holds, as seen from here."""

    def __init__(self, record: Record, worker: int, store: Store) -> None:
        self.record = record
        self.worker = worker
        self.game: Game[Any, Any] = game_kept(record.opened.game)
        self.seconds: float | None = None
        self.awaited: Sequence[Missing] = ()
        self._store = store
        self._over = trio.Event()

    @property
    def matches(self) -> Mapping[str, Any]:
        """The names of the matches in play; the matches themselves are at the worker."""
        return dict.fromkeys(self.record.dealt)

    def eta(self) -> float | None:
        return self.seconds

    def missing(self) -> Sequence[Missing]:
        return self.awaited

    async def concluded(self, match: str) -> Concluded:
        return await self._store.concluded(self.record.kept_as, match)

    async def receipt(self, match: str) -> str:
        return await self._store.receipt(self.record.kept_as, match)

    async def entries(self, after: int = 0) -> Sequence[Entry]:
        return await self._store.entries(self.record.kept_as, after)

    async def finished(self) -> None:
        """Wait until the tournament is over, or deleted."""
        while self.record.state not in ENDS:
            await self._over.wait()

    def heard(self) -> None:
        """Facts were added to its record."""
        if self.record.state in ENDS:
            over, self._over = self._over, trio.Event()
            over.set()


class SentBot(Struct, frozen=True):
    """A bot that was sent to a worker."""

    worker: int
    place: str
    digest: str  # of its token, in hexadecimal
    until: float  # when it is no longer expected, on trio's clock


class Entering(Struct, frozen=True):
    """A bot that was sent to enter a tournament."""

    tournament: str
    until: float  # when it is no longer expected, on trio's clock


class Served(Struct, frozen=True):
    """Which worker serves a bot."""

    worker: int
    leaves: int | None = None  # the worker with which its other connection has to give way


class Directory:
    """An `Abroad`, without the processes: `workers.py` has those."""

    def __init__(self, workers: int, store: Store, together: Iterable[frozenset[str]] = ()) -> None:
        """Games that are `together` are held by one worker."""
        self.held: dict[str, RemoteTournament] = {}
        self._workers = workers
        self._store = store
        self.roll = Roll()
        self._records: dict[str, tuple[Record, int]] = {}  # by name, in the order of opening
        self._kept_as: dict[str, RemoteTournament] = {}
        self._current = Current()
        self._load = Counter[int]()  # by worker: tournaments that are not over, and their entrants …
        self._weights: dict[str, int] = {}  # … and how much each tournament adds to that
        self._holding: dict[str, Counter[int]] = {}  # by game, then by worker: tournaments that are not over
        self._tables: dict[str, int] = {}  # by game: the worker that has to open it
        self._together = {game: group for group in together for game in group}
        self._of_group: dict[frozenset[str], int] = {}
        self._playing: dict[tuple[str, str], str] = {}  # by game and name: the tournament of its match
        self._here: dict[Key, dict[int, Present]] = {}  # by worker: who has a place there under a name
        self._coming: OrderedDict[Key, SentBot] = OrderedDict()  # bots of which no worker has said that yet
        self._entering: OrderedDict[Key, Entering] = OrderedDict()  # bots sent to enter a tournament …
        self._places = Counter[str]()  # … and by tournament how many of its places these take
        # Called with the record of each tournament whose state has changed, or that was over before.
        self.turned: Callable[[Record], None] = lambda record: None

    # Who holds what

    def place(self, record: Record) -> RemoteTournament | None:
        """Decide which worker holds a tournament; None: this process."""
        worker = self._choice(record)
        self.roll.add(record)
        self._records[record.name] = record, worker
        self._current.sort(record)
        self._weigh(record)
        for number in record.dealt.values():
            for name in both(record.drawn[number]):
                self._playing[record.opened.game, name] = record.name
        if record.state is State.FINISHED and not self.roll.is_past(record):
            self.turned(record)  # before this process was there, or held it
        if worker == OWN:
            return None
        away = self.held[record.name] = self._kept_as[record.kept_as] = RemoteTournament(
            record, worker, self._store
        )
        return away

    def opens(self, game: str) -> bool:
        return self.table(game) == OWN

    def table(self, game: str) -> int:
        """The worker that holds the open table of a game, or has to open it."""
        if OPEN + game in self._records:
            return self._records[OPEN + game][1]
        if game not in self._tables:
            self._tables[game] = self._new(game)
        return self._tables[game]

    def goes_on(self, tournament: str, game: str) -> bool:
        """Whether there is a tournament of that name and game that is not over, whoever holds it."""
        return tournament in self._current.of(game)

    def kept_as(self, name: str) -> RemoteTournament | None:
        """A tournament that is held elsewhere, by its name in the store."""
        return self._kept_as.get(name)

    def worker(self, tournament: str) -> int:
        """The worker that holds a tournament; this process if it does not exist."""
        return self._records[tournament][1] if tournament in self._records else OWN

    def of(self, worker: int) -> Iterator[Record]:
        """The records of the tournaments that a worker holds."""
        return (record for record, number in self._records.values() if number == worker)

    def alone(self, worker: int) -> frozenset[str]:
        """The games of which no other worker holds, or will hold, a tournament that is not over."""
        holders: dict[str, set[int]] = {}
        for game, holding in self._holding.items():
            if at := {number for number, count in holding.items() if count}:
                holders[game] = {self.table(game), *at}
        alone = {game for game, numbers in holders.items() if numbers == {worker}}
        return frozenset(alone.union(*(group for group, at in self._of_group.items() if at == worker)))

    def _choice(self, record: Record) -> int:
        game = record.opened.game
        if record.name == OPEN + game and game in self._tables:
            return self._tables.pop(game)
        return OWN if record.state is State.FINISHED and game not in self._together else self._new(game)

    def _new(self, game: str) -> int:
        """The worker for one more tournament of a game."""
        if (group := self._together.get(game)) is None:
            return self._least()
        if group not in self._of_group:
            self._of_group[group] = self._least()
        return self._of_group[group]

    def _least(self) -> int:
        """The worker with the least to do; of several, one without the ports and the journal."""
        load, planned = self._load, Counter(self._tables.values())
        return min(range(self._workers), key=lambda each: (load[each], planned[each], each == OWN, each))

    def _weigh(self, record: Record) -> None:
        """Note what a tournament adds to the load of its worker now, and whether it goes on there."""
        if record.name not in self._records:
            return
        before, worker = self._weights.pop(record.name, 0), self.worker(record.name)
        weight = 0 if record.state in ENDS else 1 + len(record.entrants)
        self._load[worker] += weight - before
        self._holding.setdefault(record.opened.game, Counter())[worker] += bool(weight) - bool(before)
        if weight:
            self._weights[record.name] = weight

    # What happens there

    async def hear(self, kept_as: str, facts: Sequence[AnyFact]) -> None:
        """Facts of a tournament that is held elsewhere are safe."""
        if (away := self._kept_as.get(kept_as)) is None:
            return
        for fact in facts:
            for _ in away.record.adding(fact):
                await trio.lowlevel.checkpoint()
            self.told(away, fact)
        away.heard()

    def told(self, held: Any, fact: AnyFact) -> None:
        """A fact is in the record of its tournament, which any worker may hold."""
        record: Record = held.record
        game = record.opened.game
        self.roll.hear(record, fact)
        match fact:
            case Dealt(pairing=pairing):
                for name in both(record.drawn[pairing]):
                    self._playing[game, name] = record.name
            case Concluded(players=players):
                for name in players:
                    if self._playing.get((game, name)) == record.name:
                        del self._playing[game, name]
            case Entered(name=name):
                self._weigh(record)
                self._enters_no_more((game, key(name)))
            case Turned():
                self._current.sort(record)
                self._weigh(record)
                self.turned(record)
                if record.state is State.DELETED:
                    self._remove(record)
            case _:
                pass

    def _remove(self, record: Record) -> None:
        """A tournament was deleted, and adds nothing to any load: see `_weigh`."""
        if self._records.pop(record.name, None) is None:
            return
        self.roll.remove(record)
        if (away := self.held.pop(record.name, None)) is not None:
            del self._kept_as[away.record.kept_as]

    def moved(self, worker: int, where: Key, present: Present | None) -> None:
        """Somebody has a place with that worker under a name, was refused, or has gone."""
        self._coming.pop(where, None)
        self._enters_no_more(where)
        here = self._here.setdefault(where, {})
        if present is not None:
            here[worker] = present
        else:
            here.pop(worker, None)
        if not here:
            del self._here[where]

    # Where a bot belongs

    def somebody_is_here(self, wanted: Wanted) -> bool:
        """Whether somebody has a place under a bot's name, or is about to."""
        where = wanted.game, key(wanted.name)
        return where in self._here or where in self._coming

    def served(self, wanted: Wanted, now: float) -> Served:
        """The worker that serves a bot, so that its name plays the game in one place at a time.

        Somebody may be with another worker under its name, or have entered a tournament there. That worker
        refuses the bot, as a single process would, if it comes with another token, or would leave a
        tournament with an end. Otherwise it takes over from itself. A bot that has the token of an entrant
        comes to its tournament whoever else has its name elsewhere, and so does one without a token that
        comes like an entrant without one. An entrant without a token may also play elsewhere, if it comes by
        the same door and from the same address. Whoever comes otherwise under such a name, or one that looks
        like it, is refused by the worker that has the entrant.
        """
        while self._entering and next(iter(self._entering.values())).until < now:
            self._enters_no_more(next(iter(self._entering)))
        there, place = self.where(wanted), self.place_of(wanted)
        if place is None:
            return Served(there)
        name, game = checked(wanted.name), wanted.game
        where, digest = (game, key(name)), _digest(wanted.token)
        target = self._current.of(game).get(place)
        entitled = target is not None and (
            name in target.seats if digest is None else _same(target.claims.get(name), digest)
        )
        for worker, present in self._here.get(where, {}).items():
            if worker == there:
                continue
            if _same(present.digest, digest):
                return self._one_place(there, worker, present.place, name, game)
            if not entitled and not (present.shared and digest is None):
                return Served(worker)
        coming = self._coming.get(where)
        if coming is not None and now < coming.until and _same(coming.digest, digest):
            return self._one_place(there, coming.worker, coming.place, name, game)
        for record in () if entitled else self.roll.awaiting(name, game):
            if name in record.claims and not _same(record.claims[name], digest):
                return Served(self.worker(record.name))
        for record, seated in () if entitled else self.roll.kept(name, game):
            its = (seated.name, seated.door, seated.address) == (name, wanted.door, wanted.address)
            if not its and (name, digest, wanted.tournament) != (seated.name, None, None):
                return Served(self.worker(record.name))
        if digest is not None:
            self._coming[where] = SentBot(there, place, digest, now + SOON)
            self._coming.move_to_end(where)
        while self._coming and next(iter(self._coming.values())).until < now:
            self._coming.popitem(last=False)
        if target is not None and name not in target.entrants and _may_fill(target):
            self._enters_no_more(where)
            self._entering[where] = Entering(target.name, now + SOON)
            self._places[target.name] += 1
        return Served(there)

    def _enters_no_more(self, where: Key) -> None:
        """A bot has entered, or has not."""
        if (entering := self._entering.pop(where, None)) is not None:
            self._places[entering.tournament] -= 1
            if not self._places[entering.tournament]:
                del self._places[entering.tournament]

    def _has_room(self, record: Record, where: Key) -> bool:
        """Whether a tournament would take one more bot if all others enter that were sent to it."""
        sent = self._places.get(record.name, 0)
        if sent and (own := self._entering.get(where)) is not None and own.tournament == record.name:
            sent -= 1
        return record.contestants + sent < room(record)

    def _one_place(self, there: int, worker: int, place: str, name: str, game: str) -> Served:
        """Who serves a bot that is with a worker already, in a place that it may or may not leave.

        It may not leave a tournament with an end over another connection: see `Placing.expect_same_place`.
        """
        record = self._current.of(game).get(place)
        stays = record is not None and not record.format.endless and name not in record.out
        return Served(worker) if stays or worker == there else Served(there, worker)

    def entered(self, name: str, game: str) -> Iterable[Record]:
        """The tournaments with an entrant of that name, over or not."""
        return self.roll.of(name, game)

    def where(self, wanted: Wanted) -> int:
        """The worker that serves a bot."""
        found = self.place_of(wanted)
        return OWN if found is None else self.table(wanted.game) if found == "" else self.worker(found)

    def expects(self, name: str, game: str) -> bool:
        """Whether a tournament with an end awaits a bot of that name, or would take it in."""
        return bool(self.place_of(Wanted(name, game, None)))

    def place_of(self, wanted: Wanted) -> str | None:
        """Where a bot plays, found as by `Placing.tournament_for`, among the tournaments of all workers.

        "" is the open table, and None is nowhere: that is for worker 0 to say.
        """
        game, named = wanted.game, wanted.tournament
        try:
            name = checked(wanted.name)
        except BadName:
            return None
        if game not in catalogue():
            return None
        if named is not None:
            return "" if named == OPEN + game else named if named in self._current.of(game) else None
        if (playing := self._playing.get((game, name))) is not None:
            return playing
        for record in self.roll.awaiting(name, game):
            if name not in record.out:
                return record.name
        taking, where = self._current.taking(game, name), (game, key(name))
        found = (each for each in taking if name in each.entrants or self._has_room(each, where))
        return next((record.name for record in found), "")


def _may_fill(record: Record) -> bool:
    """Whether a tournament takes entrants, and only so many."""
    return takes_entrants(record) and room(record) < inf


def _digest(token: str | None) -> str | None:
    return None if token is None else token_digest(token).hex()


def _same(kept: str | None, digest: str | None) -> bool:
    """Whether a bot has brought the token of which the digest was kept."""
    return kept is not None and digest is not None and hmac.compare_digest(kept, digest)
