"""One tournament, alive: deals what may be played to whoever is free, and keeps what comes of it.

There is no plan here. After every change it asks the format what may be played
and the lobby who can play it. What it decides are facts, which the store has before
anybody hears of them. So starting and continuing after a crash are the same: a
record, which may be empty, and `run`. Who is here is in
`tournament/presence.py`, what organisers ask of a tournament in
`tournament/desk.py`.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, count
from math import inf
from typing import Any

import trio

from games.game import Game
from tournament.events import NOBODY, Ended, Ending
from tournament.format import Pairing
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.pairing.drawing import last_round, numbered
from tournament.player import GRACE, Player, Seat
from tournament.presence import Presence, whoever_came_for
from tournament.record import Abridged, AnyFact, Concluded, Dealt, Drew, Entered, Record, State, Turned
from tournament.settling import both, cut_short, score, settled, unplayed
from tournament.store import Store, Story
from tournament.timekeeper import Timekeeper

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
        self._presence = Presence(record, game.name, lobby, timekeeper, grace)
        self._store = store
        self._timekeeper = timekeeper
        self._at_once = inf if at_once is None else at_once
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
        self._lasted: deque[float] = deque(maxlen=RECENT)  # how long matches took: an estimate rests on it
        self._nursery: trio.Nursery | None = None
        self._verdicts: dict[Match, Ended] = {}  # that are about to be kept

    async def run(self) -> None:
        """Until it is finished; without end, if its format has none."""
        stop_listening = self._lobby.listen(self._heard)
        try:
            await self._void_what_was_cut_short()
            async with trio.open_nursery() as self._nursery:
                try:
                    while self.record.state is not State.FINISHED:
                        self._news = trio.Event()
                        async with self.deciding:
                            until = await self._step()
                        with trio.move_on_at(until):
                            await self._news.wait()
                finally:
                    self._nursery = None  # what is decided from now on was cut short
        finally:
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

    @property
    def awaits_the_invited(self) -> bool:
        """Whether somebody was invited who is not here: it does not begin by itself without them."""
        gone = {name for name, entrant in self.record.entrants.items() if entrant.gone}
        return not self._presence.absent().isdisjoint(set(self.record.invited) - gone)

    async def enter(self, name: str, rating: float | None = None, *, late: bool = False) -> None:
        """Take somebody in. `late` is an organiser's leave to come after it has begun."""
        if name in self.record.entrants:
            return  # and stays one: whoever comes again need not wait for what is being decided
        async with self.deciding:
            if name not in self.record.entrants:
                self.expect_room(late=late)
                await self.keep(Entered(name, rating))

    def expect_room(self, *, late: bool) -> None:
        """Raise `Refusal` where nobody new is taken in."""
        record = self.record
        endless = record.format.endless
        full = record.opened.entrants is not None and len(record.entrants) >= record.opened.entrants
        if record.state is State.FINISHED:
            raise Refusal(f"{record.name} is over")
        if record.state is not State.REGISTERING and not endless and not (late and record.format.late):
            raise Refusal(f"{record.name} has begun, and a {record.format.name} takes no more entrants")
        if record.state is State.REGISTERING and full:
            raise Refusal(f"{record.name} is full: it takes {record.opened.entrants}")

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

    async def taken_up(self) -> None:
        """Until it goes on, where it was over: a match may be voided after the end."""
        while self.record.state is State.FINISHED:
            await self._news_of_any_kind()

    async def quiet(self) -> None:
        """Until nothing is being played, or about to begin."""
        while self.matches or self.record.dealt or self._keeping:
            await self._news_of_any_kind()

    async def _news_of_any_kind(self) -> None:
        if self._waiting is None:
            self._waiting = trio.Event()
        await self._waiting.wait()

    async def concluded(self, match: str) -> Concluded:
        """A match that is over, with all its moves."""
        fact = self.record.matches[match]
        return await self._store.concluded(self.record.name, match) if isinstance(fact, Abridged) else fact

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
        """Do all that can be done now; returns until when there is nothing more to do without news."""
        record = self.record
        full = len(record.entrants) == record.opened.entrants
        if record.state is State.REGISTERING and full and not self.awaits_the_invited:
            await self.keep(Turned(State.RUNNING))
        if record.state is not State.RUNNING or self._halted:
            self._presence.wait_for_nobody()
            return inf
        await self._take_up()
        drawn = self._drawn()
        if not (drawn or record.open or record.dealt or record.format.endless):
            await self.keep(Turned(State.FINISHED))
            return inf
        await self._settle(each for each in record.open.values() if self._is_out(each))
        await self._deal(drawn)
        if record.format.endless or len(self.matches) >= self._at_once:
            self._presence.wait_for_nobody()
        elif overdue := self._presence.overdue():
            await self._settle(overdue, self._presence.absent())
        return self._presence.waits_until

    async def _take_up(self) -> None:
        """Begin the matches that players agreed on, in the order of their asking."""
        taken = [
            self._challenges.popleft()
            for _ in range(int(min(len(self._challenges), self._at_once - len(self.matches))))
        ]
        if taken:
            known, _ = self.record.past()
            rounds = ([(first.name, second.name)] for first, second, _ in taken)
            drawn = numbered(known, rounds, last_round(known) + 1)
            dealt = [
                Dealt(self.record.match_name(pairing.number), pairing.number, options)
                for pairing, (_, _, options) in zip(drawn, taken, strict=True)
            ]
            await self.keep(Drew(tuple(drawn)), *dealt)
            for fact, (first, second, _) in zip(dealt, taken, strict=True):
                self._begin(fact, (first, second))

    def _drawn(self) -> Sequence[Pairing]:
        """What the format adds, asked when its answer can have changed."""
        record = self.record
        if record.format.endless:
            if len(self._presence.idle()) < 2:
                return ()
            entrants = self._presence.here()
        else:
            entrants = list(record.entrants.values())
            now = entrants, len(record.matches)
            if now == self._asked and (record.open or record.dealt):
                return ()
            self._asked = now
        return record.format.draw(entrants, *record.past(), record.opened.terms)

    async def _deal(self, drawn: Sequence[Pairing]) -> None:
        """Begin every match that both players are free for, in the order of drawing.

        What has just been drawn is kept together with what is dealt of it: it costs the store half as much.
        """
        idle: dict[str, list[Player]] = {}
        for player in self._presence.idle():
            idle.setdefault(player.name, []).append(player)
        dealt: list[tuple[Dealt, tuple[Player, Player]]] = []
        stale: list[Pairing] = []
        for pairing in chain(self.record.open.values(), drawn):
            if len(self.matches) + len(dealt) >= self._at_once or (
                len(idle) < 2 and not self.record.format.endless
            ):
                break
            first, second = both(pairing)
            if first in idle and second in idle:
                players = (
                    whoever_came_for(second, idle.pop(first)),
                    whoever_came_for(first, idle.pop(second)),
                )
                players[0].reserved = players[1].reserved = True
                options = players[0].options or players[1].options
                name = self.record.match_name(pairing.number)
                dealt.append((Dealt(name, pairing.number, options), players))
            elif self.record.format.endless:
                stale.append(pairing)  # drawn for somebody who has gone away since
        void = [unplayed(self.record, pairing, None, Ending.VOID, NOBODY, None) for pairing in stale]
        drew = [Drew(tuple(drawn))] if drawn else []
        await self.keep(*drew, *(fact for fact, _ in dealt), *void)
        for fact, players in dealt:
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
        self._store.jot(match.name, match.moves, match.times)
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
            if not self._verdicts:
                self._nursery.start_soon(self._conclude)
            self._verdicts[match] = verdict

    async def _conclude(self) -> None:
        """Conclude all that has been decided by now: what came at once is kept at once."""
        verdicts, self._verdicts = self._verdicts, {}
        await self.keep(*(self._concluded(match, verdict) for match, verdict in verdicts.items()))
        for match, verdict in verdicts.items():
            self._lasted.append(verdict.at - match.log.events[0].at)
            match.announce()
            del self.matches[match.name]
            for player in self._players.pop(match.name):
                player.free()
        self.wake()

    def _concluded(self, match: Match, verdict: Ended) -> Concluded:
        moves, times = match.moves_and_times()
        return Concluded(
            match.name,
            self.record.dealt[match.name],
            match.names,
            verdict.winner,
            verdict.ending,
            verdict.why,
            score(verdict),
            moves,
            times,
            None if match.options == self.record.opened.options else match.options,
        )

    def _is_out(self, pairing: Pairing) -> bool:
        """Whether one of the two is out of the tournament. At an open table few are drawn and many known."""
        return any(self.record.entrants[name].gone for name in pairing.names)

    async def _settle(self, pairings: Iterable[Pairing], absent: Collection[str] = ()) -> None:
        """Decide what cannot be played, because somebody is out of the tournament or did not come."""
        await self.keep(*(settled(self.record, pairing, absent) for pairing in pairings))

    async def _void_what_was_cut_short(self) -> None:
        stories: Mapping[str, Story] = self._store.jotted() if self.record.dealt else {}
        await self.keep(*cut_short(self.record, stories))
