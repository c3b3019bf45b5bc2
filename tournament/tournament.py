"""One tournament, alive: deals what may be played to whoever is free, and keeps what comes of it.

There is no plan in here. After every change it asks the format what may be
played and the lobby who can play it; what it decides are facts, which the store
has before anybody hears of them. So starting and going on after a crash are the
same: a record, which may be empty, and `run`. What organisers ask of a
tournament is in `tournament/desk.py`.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from math import inf
from typing import Any

import trio
from msgspec import structs

from games.game import Game
from tournament.events import NOBODY, Ended, Ending
from tournament.format import Entrant, Pairing, Score
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.pairing.drawing import last_round, numbered
from tournament.player import GRACE, Player, Seat
from tournament.record import AnyFact, Concluded, Dealt, Drew, Entered, Record, State, Turned
from tournament.store import Store
from tournament.timekeeper import Timekeeper

CUT_SHORT = "the host stopped while it was being played"
POINTS: Mapping[int | None, Score] = {0: (1.0, 0.0), 1: (0.0, 1.0), None: (0.0, 0.0)}
DRAW: Score = (0.5, 0.5)
RECENT = 200  # matches whose length says how long the next ones will take


class Refusal(Exception):
    """What somebody asked of a tournament cannot be done. The message says why."""


class Tournament:
    def __init__(
        self,
        record: Record,
        game: Game[Any, Any],
        lobby: Lobby,
        store: Store,
        timekeeper: Timekeeper,
        *,
        at_once: int | None = None,
        grace: float = GRACE,
        wall: Callable[[], float] = time.time,
        told: Callable[[AnyFact], None] = lambda fact: None,
        begun: Callable[[Match], None] = lambda match: None,
    ) -> None:
        """`at_once` bounds the matches in play; `told` hears every fact that is safe, `begun` every match."""
        self.record = record
        self.game = game
        self.matches: dict[str, Match] = {}  # in play
        self._players: dict[str, tuple[Player, Player]] = {}  # of those matches
        self._lobby = lobby
        self._store = store
        self._timekeeper = timekeeper
        self._at_once = inf if at_once is None else at_once
        self._grace = grace
        self._wall = wall
        self._told = told
        self._begun = begun
        self._news = trio.Event()
        self._waiting: trio.Event | None = None  # whoever wants to know of any change
        self._halted = False
        self.deciding = trio.Lock()  # held from looking at what is known until what is decided by it is kept
        self._tickets = count()
        self._keeping: dict[int, tuple[AnyFact, ...]] = {}  # asked of the store, not yet confirmed
        self._asked: object = None  # what there was when the format was last asked: entrants, matches
        self._challenges: deque[tuple[Player, Player, Mapping[str, Any] | None]] = deque()
        self._missing: dict[int, dict[str, float]] = {}  # pairings that wait, for whom since when
        self._lasted: deque[float] = deque(maxlen=RECENT)  # how long matches took: an estimate rests on it
        self._nursery: trio.Nursery | None = None

    async def run(self) -> None:
        """Until it is finished; for ever, if its format is endless."""
        stop_listening = self._lobby.listen(self._heard)
        try:
            await self._void_what_was_cut_short()
            async with trio.open_nursery() as self._nursery:
                while self.record.state is not State.FINISHED:
                    self._news = trio.Event()
                    async with self.deciding:
                        patience = await self._step()
                    with trio.move_on_at(patience):
                        await self._news.wait()
        finally:
            self._nursery = None
            stop_listening()
            while self._challenges:  # nothing comes of these any more
                for player in self._challenges.popleft()[:2]:
                    player.free()

    @property
    def takes_entrants(self) -> bool:
        """Whether somebody new may enter by coming."""
        record = self.record
        full = record.opened.entrants is not None and len(record.entrants) >= record.opened.entrants
        return record.format.endless or (record.state is State.REGISTERING and not full)

    async def enter(self, name: str, rating: float | None = None, *, late: bool = False) -> None:
        """Take somebody in. `late` is an organiser's leave to come after it has begun."""
        async with self.deciding:
            await self._enter(name, rating, late)

    async def _enter(self, name: str, rating: float | None, late: bool) -> None:
        record = self.record
        if name in record.entrants:
            return
        endless = record.format.endless
        full = record.opened.entrants is not None and len(record.entrants) >= record.opened.entrants
        if record.state is State.FINISHED:
            raise Refusal(f"{record.name} is over")
        if record.state is not State.REGISTERING and not endless and not (late and record.format.late):
            raise Refusal(f"{record.name} has begun, and a {record.format.name} takes no more entrants")
        if record.state is State.REGISTERING and full:
            raise Refusal(f"{record.name} is full: it takes {record.opened.entrants}")
        await self.keep(Entered(name, rating))

    def challenge(self, first: Player, second: Player, options: Mapping[str, Any] | None = None) -> None:
        """Have two entrants meet who are agreed on it, `first` in seat 0 and with those options of the game.

        For a tournament without an end, which has no plan that this could upset.
        """
        first.reserved = second.reserved = True
        self._challenges.append((first, second, options))
        self.wake()

    async def keep(self, *facts: AnyFact) -> None:
        """Have the store keep what is now so, then let it be so, then tell of it.

        All of it in the order of asking, which is that of the store, whichever task hears of it
        first; and to the end, even if whoever asked for it has gone away meanwhile.
        """
        if not facts:
            return
        ticket = next(self._tickets)
        self._keeping[ticket] = facts
        try:
            with trio.CancelScope(shield=True):
                await self._store.keep(self.record.name, self._wall(), facts)
        except BaseException:
            self._keeping.pop(ticket, None)
            raise
        for earlier in [each for each in self._keeping if each <= ticket]:
            for fact in self._keeping.pop(earlier):
                self.record.add(fact)
                self._told(fact)
        self.wake()

    def _heard(self, player: Player) -> None:
        """Somebody came, went or is free again."""
        if player.game == self.game.name:
            self.wake()

    def wake(self) -> None:
        """Something has changed: there may be something to do."""
        self._news.set()
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None

    def halt(self) -> None:
        """Deal nothing more, whatever its state: the host is about to stop."""
        self._halted = True

    async def finished(self) -> None:
        """Until it is over."""
        while self.record.state is not State.FINISHED:
            await self._news_of_any_kind()

    async def quiet(self) -> None:
        """Until nothing is being played."""
        while self.matches:
            await self._news_of_any_kind()

    async def _news_of_any_kind(self) -> None:
        if self._waiting is None:
            self._waiting = trio.Event()
        await self._waiting.wait()

    def eta(self) -> float | None:
        """Seconds until the end as far as it is drawn, at the pace so far; None while nothing is known."""
        if not self._lasted or self.record.format.endless or self.record.state is State.FINISHED:
            return None
        remaining = len(self.record.open) + len(self.record.dealt)
        here = sum(not entrant.gone for entrant in self.record.entrants.values())
        abreast = max(1, min(self._at_once, here // 2, remaining))
        return sum(self._lasted) / len(self._lasted) * remaining / abreast

    # The steps of it

    async def _step(self) -> float:
        """Do all that can be done now; answers until when there is nothing more to do without news."""
        record = self.record
        if record.state is State.REGISTERING and len(record.entrants) == record.opened.entrants:
            await self.keep(Turned(State.RUNNING))
        if record.state is not State.RUNNING or self._halted:
            self._missing.clear()
            return inf
        await self._take_up()
        await self._draw()
        if not record.open and not record.dealt and not record.format.endless:
            await self.keep(Turned(State.FINISHED))
            return inf
        await self._settle(pairing for pairing in record.open.values() if self._gone(pairing))
        await self._deal()
        await self._settle(self._missed())
        return min(map(self._patience, self._missing.values()), default=inf)

    async def _take_up(self) -> None:
        """Begin the matches that players agreed on, in the order of their asking."""
        while self._challenges and len(self.matches) < self._at_once:
            first, second, options = self._challenges.popleft()
            drawn, _ = self.record.past()
            (pairing,) = numbered(drawn, [[(first.name, second.name)]], last_round(drawn) + 1)
            dealt = Dealt(self.record.match_name(pairing.number), pairing.number, options)
            await self.keep(Drew((pairing,)), dealt)
            self._begin(dealt, (first, second))

    async def _draw(self) -> None:
        """Ask the format for more, when its answer can have changed."""
        record = self.record
        entrants = list(record.entrants.values())
        if record.format.endless:
            entrants = self._here()
            if sum(entrant.free for entrant in entrants) < 2:
                return
        elif (entrants, len(record.matches)) == self._asked and (record.open or record.dealt):
            return
        self._asked = entrants, len(record.matches)
        drawn = record.format.draw(entrants, *record.past(), record.opened.terms)
        if drawn:
            await self.keep(Drew(tuple(drawn)))

    async def _deal(self) -> None:
        """Begin every match that both players are free for, in the order of drawing."""
        idle = {name: player for name in self.record.entrants if (player := self._find(name)) and player.idle}
        dealt: dict[Dealt, tuple[Player, Player]] = {}
        stale: list[Pairing] = []
        for pairing in self.record.open.values():
            if len(self.matches) + len(dealt) >= self._at_once or (
                len(idle) < 2 and not self.record.format.endless
            ):
                break
            if pairing.first in idle and pairing.second in idle:
                players = (idle.pop(pairing.first), idle.pop(pairing.second))
                players[0].reserved = players[1].reserved = True
                dealt[Dealt(self.record.match_name(pairing.number), pairing.number)] = players
            elif self.record.format.endless:
                stale.append(pairing)  # drawn for somebody who has gone away since
        await self.keep(
            *dealt, *(self._without_match(pairing, None, Ending.VOID, NOBODY, None) for pairing in stale)
        )
        for fact, players in dealt.items():
            self._begin(fact, players)

    def _begin(self, dealt: Dealt, players: tuple[Player, Player]) -> None:
        match = Match(
            self.game,
            (players[0].name, players[1].name),
            trio.current_time(),
            name=dealt.match,
            pace=self.record.opened.pace,
            options=self.record.options(dealt),
            replayable=not self.record.missed(dealt.pairing),
            decided=self._decided,
        )
        self.matches[dealt.match] = match
        self._players[dealt.match] = players
        self._timekeeper.watch(match)
        self._begun(match)
        for index, player in enumerate(players):
            player.deal(seat := Seat(match, index, self._timekeeper))
            if self.record.entrants[player.name].gone:  # since the match was dealt
                seat.leave()

    def expel(self, name: str) -> None:
        """Whoever is out of the tournament leaves what it is playing here."""
        for player in [player for players in self._players.values() for player in players]:
            if player.name == name and player.seat is not None:
                player.seat.leave()

    def _decided(self, match: Match, verdict: Ended) -> None:
        """A match has its verdict. Called from within the referee, so what takes time is done elsewhere."""
        if self._nursery is not None:
            self._nursery.start_soon(self._conclude, match, verdict)

    async def _conclude(self, match: Match, verdict: Ended) -> None:
        moves, times = match.story()
        number = self.record.dealt[match.name]
        await self.keep(
            Concluded(
                match.name,
                number,
                match.names,
                verdict.winner,
                verdict.ending,
                verdict.why,
                score(verdict),
                moves,
                times,
                None if match.options == self.record.opened.options else match.options,
            )
        )
        self._lasted.append(verdict.at - match.log.events[0].at)
        match.announce()
        del self.matches[match.name]
        for player in self._players.pop(match.name):
            player.free()
        self.wake()

    # Who is not there

    def _missed(self) -> list[Pairing]:
        """The pairings that have waited for somebody absent for as long as they may.

        Only what could be played but for the absence is waited for, and one pairing of a player at a
        time: to be away for a while costs a match, and not all of them. If both are absent, each has
        the grace; and whenever a pairing is due again, it begins anew.
        """
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        waited, waiting = set[str](), dict[int, dict[str, float]]()
        absent = set[str]()
        if not self.record.format.endless and len(self.matches) < self._at_once:
            entrants = {name: self._find(name) for name in self.record.entrants}
            absent = {name for name, player in entrants.items() if player is None or not player.present}
        if absent:
            for number, pairing in self.record.open.items():
                names = set(pairing.names)
                if names & absent and names.isdisjoint(waited) and all(map(self._idle, names - absent)):
                    waited |= names
                    before = self._missing.get(number, {})
                    begun = now - self._timekeeper.stalled
                    waiting[number] = {name: before.get(name, begun) for name in names & absent}
        over = [number for number, since in waiting.items() if now >= self._patience(since)]
        self._missing = {number: since for number, since in waiting.items() if number not in over}
        return [self.record.open[number] for number in over]

    def _patience(self, since: Mapping[str, float]) -> float:
        """Until when a pairing waits; `since` is by a clock that stands still whenever the host does."""
        return max(since.values()) + self._grace + self._timekeeper.stalled

    async def _settle(self, pairings: Iterable[Pairing]) -> None:
        """Decide what cannot be played, because somebody is out of the tournament or did not come."""
        await self.keep(*map(self._settlement, pairings))

    def _settlement(self, pairing: Pairing) -> Concluded:
        out = [name for name in pairing.names if self.record.entrants[name].gone]
        absent = out or [
            name for name in pairing.names if not (player := self._find(name)) or not player.present
        ]
        if len(absent) == 1:
            winner = 1 - pairing.names.index(absent[0])
            why = f"{absent[0]} {'is out of the tournament' if out else 'did not come'}"
            return self._without_match(pairing, winner, Ending.LEFT, why, POINTS[winner])
        if out or self.record.missed(pairing.number):
            return self._without_match(pairing, None, Ending.LEFT, NOBODY, POINTS[None])
        return self._without_match(pairing, None, Ending.VOID, NOBODY, None)

    def _without_match(
        self, pairing: Pairing, winner: int | None, ending: Ending, why: str, points: Score | None
    ) -> Concluded:
        name = self.record.match_name(pairing.number)
        return Concluded(name, pairing.number, _both(pairing), winner, ending, why, points)

    async def _void_what_was_cut_short(self) -> None:
        drawn = self.record.drawn
        await self.keep(
            *(
                Concluded(match, number, _both(drawn[number]), None, Ending.VOID, CUT_SHORT, None)
                for match, number in self.record.dealt.items()
            )
        )

    def _gone(self, pairing: Pairing) -> bool:
        return any(self.record.entrants[name].gone for name in pairing.names)

    def _here(self) -> list[Entrant]:
        """The entrants who are here, in the order of coming."""
        names = dict.fromkeys(player.name for player in self._lobby.players(self.game.name))
        here = {name: player for name in names if (player := self._find(name)) and player.present}
        return [
            structs.replace(entrant, free=player.idle, against=player.against)
            for name, player in here.items()
            if (entrant := self.record.entrants.get(name))
        ]

    def _find(self, name: str) -> Player | None:
        return self._lobby.find(name, self.game.name, self.record.name)

    def _idle(self, name: str) -> bool:
        player = self._find(name)
        return player is not None and player.idle


def score(verdict: Ended) -> Score | None:
    """What an ending is worth to both; None where it is to be played again."""
    match verdict:
        case Ended(ending=Ending.VOID):
            return None
        case Ended(winner=None, ending=Ending.PLAYED):
            return DRAW
        case Ended(winner=winner):
            return POINTS[winner]


def _both(pairing: Pairing) -> tuple[str, str]:
    """Of a pairing that is to be played, and so has a second."""
    return pairing.first, pairing.second or ""
