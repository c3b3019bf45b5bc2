"""One running tournament: it deals matches to whoever is free, and keeps their results.

There is no plan here. After every change it asks the format what may be played
and the lobby who can play it. What it decides are facts, which the store has before
anybody hears of them. So starting and continuing after a crash are the same: a
record, which may be empty, and `run`. `tournament/presence.py` knows who is here;
`tournament/desk.py` has what organisers can order of a tournament.
"""

import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, count, islice
from math import inf
from typing import Any

import structlog
import trio
from msgspec import UNSET

from games.game import Game, Illegal
from tournament.causes import moved_by
from tournament.check_in import no_shows, opens_at
from tournament.entries import Entry
from tournament.events import NOBODY, Ended, Ending
from tournament.forecast import Forecast
from tournament.format import Entrant, Pairing
from tournament.kinds import with_the_house
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.pairing.drawing import last_round, numbered
from tournament.player import GRACE, Player, Seat
from tournament.presence import Missing, Presence, whoever_came_for
from tournament.record import (
    UNSAID,
    Abridged,
    AnyFact,
    CheckedIn,
    Concluded,
    Dealt,
    Drew,
    Entered,
    Record,
    RoundBegan,
    Seated,
    State,
    Turned,
)
from tournament.rounds import begins_at
from tournament.sealing import revealed
from tournament.settling import both, cut_short, score, settled, unplayed, whole_micros
from tournament.store import Store, Story
from tournament.timekeeper import Timekeeper

Elsewhere = Callable[[Record, Callable[[], Sequence[Pairing]]], Awaitable[Sequence[Pairing]]]

FEW = 30  # entrants: a draw of so many is over at once
AT_A_TIME = 50  # matches that begin, or pairings that are settled, before others get their turn
FRESH = 1.0  # seconds for which a forecast is good, if nothing ends meanwhile
LOOK = 60.0  # seconds after which the wall clock is looked at again: somebody may have set it

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def draw_here(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
    """Draw here and now."""
    return draw()


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
        resume_seconds: float = GRACE,
        early_grace: float = GRACE,
        elsewhere: Elsewhere = draw_here,
        wall: Callable[[], float] = time.time,
        told: Callable[[AnyFact], None] = lambda fact: None,
        begun: Callable[[Match], None] = lambda match: None,
        awaited: Callable[[Seat, Player, str], None] = lambda seat, player, way_back: None,
    ) -> None:
        """`at_once` bounds the matches in play; `told` hears every fact that is safe, `begun` every match.

        `awaited` hears of each seat to which a dialect has to find the way back after a restart: whose it
        is, and how. What takes a format long is drawn `elsewhere`, where it holds up nobody.

        A match that was in play when the host stopped waits `resume_seconds` for its players: those that
        the lobby has at the start. In a format without an end, nobody may be gone for longer than
        `early_grace` before its first move.
        """
        self.record = record
        self.game = game
        self.matches: dict[str, Match] = {}  # in play
        self._players: dict[str, tuple[Player, Player]] = {}  # of those matches
        self._lobby = lobby
        self._newcomers: dict[str, Entrant] = {}  # of whom nothing is kept yet
        self._entering: set[str] = set()  # whose first match is being kept
        self._presence = Presence(record, game.name, lobby, timekeeper, grace, self._newcomers)
        self._store = store
        self._timekeeper = timekeeper
        self._elsewhere = elsewhere
        self._at_once = inf if at_once is None else at_once
        self._resume_seconds = resume_seconds
        self._early_grace = early_grace
        self._wall = wall
        self._told = told
        self._begun = begun
        self._awaited = awaited
        self.gone_on = trio.Event()  # set when all that can go on after a restart does so
        self._news = trio.Event()
        self._waiting: trio.Event | None = None  # set at the next change, for whoever waits for one
        self._halted = False
        self.deciding = trio.Lock()  # held from reading the record until what is decided by it is kept
        self._tickets = count()
        self._keeping: dict[int, tuple[AnyFact, ...]] = {}  # asked of the store, not yet confirmed
        self._kept: deque[AnyFact] = deque()  # confirmed, not yet added to the record
        self._adding = trio.Lock()
        self._asked: object = None  # what there was when the format was last asked: arrivals, matches
        self._put_off: Sequence[Pairing] = ()  # what it then said, of a round that is not to begin yet
        self._checking_in = False  # whether entrants check in
        self._challenges: deque[tuple[Player, Player, Mapping[str, Any] | None]] = deque()
        self._forecast = Forecast(record)
        self._foreseen: tuple[object, float, float | None] = (None, 0.0, None)  # as of what, when, seconds
        self._nursery: trio.Nursery | None = None
        self._verdicts: dict[Match, Ended] = {}  # that are about to be kept

    async def run(self) -> None:
        """Run until it is finished; forever, if its format has no end."""
        stop_listening = self._lobby.listen(self._heard)
        try:
            async with trio.open_nursery() as self._nursery:
                try:
                    async with self.deciding:
                        await self._go_on()
                    self._presence.heard_of_all()
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
        return takes_entrants(self.record)

    @property
    def awaits_the_invited(self) -> bool:
        """Whether somebody was invited who is not here: it does not begin by itself without them."""
        return not self._presence.absent.isdisjoint(self.record.invited - self.record.out)

    async def enter(
        self, name: str, rating: float | None = None, *, late: bool = False, seated: Seated | None = None
    ) -> None:
        """Take somebody in. `late` is an organiser's leave to come after it has begun.

        A tournament that has an end keeps, together with that, to whom the name belongs, if it is `seated`.
        In a running tournament without an end the record has no such entrant before the first match that is
        finished: strangers cannot fill it with names.
        """
        if name in self.record.entrants:
            await self._seat(seated)
            return  # and stays one: whoever comes again need not wait for what is being decided
        if self.record.format.endless and self.record.state is not State.REGISTERING:
            self.expect_room(late=late)
            self._newcomers[name] = Entrant(name, rating)
            return
        async with self.deciding:
            if name not in self.record.entrants:
                self.expect_room(late=late)
                seats = () if seated is None or self.record.format.endless else (seated,)
                await self.keep(Entered(name, rating), *seats)

    def receive(self, name: str) -> None:
        """Let a player of the host's own take part for as long as it is here. Nothing is kept of it."""
        if name not in self.record.entrants:
            self._newcomers.setdefault(name, Entrant(name))

    async def _seat(self, seated: Seated | None) -> None:
        if seated is None or self.record.format.endless:
            return
        if seated.name not in self.record.claims and self.record.seats.get(seated.name) != seated:
            await self.keep(seated)

    def is_newcomer(self, name: str) -> bool:
        """Whether somebody takes part who is no entrant of the record yet."""
        return name in self._newcomers and name not in self.record.entrants

    def expect_room(self, *, late: bool) -> None:
        """Raise `Refusal` where nobody new is taken in."""
        record = self.record
        endless = record.format.endless
        full = record.opened.entrants is not None and len(record.entrants) >= record.opened.entrants
        if record.state is State.FINISHED:
            raise Refusal(f"{record.name} is over")
        if record.state is not State.REGISTERING and not endless and not record.format.late:
            raise Refusal(f"{record.name} has begun, and a {record.format.name} takes no more entrants")
        if record.state is not State.REGISTERING and not endless and not late:
            raise Refusal(
                f"{record.name} has begun: its organiser can still let you in,"
                f" with quintain tournament enter {record.name} NAME"
            )
        if record.state is State.REGISTERING and full:
            raise Refusal(f"{record.name} is full: it takes {record.opened.entrants}")

    def challenge(self, first: Player, second: Player, options: Mapping[str, Any] | None = None) -> None:
        """Have two entrants meet who have agreed to, `first` in seat 0 and with those options of the game.

        For a tournament without an end, which has no plan that this could upset.
        """
        first.reserved = second.reserved = True
        self._challenges.append((first, second, options))
        self.wake()

    async def keep(self, *facts: AnyFact) -> Sequence[str]:
        """Have the store keep these facts, then add them to the record and tell of them; returns receipts.

        Facts are added in the order in which this was called, which is the store's, whichever task
        resumes first. A call whose caller has gone away meanwhile is still completed.
        """
        if not facts:
            return ()
        ticket = next(self._tickets)
        self._keeping[ticket] = facts
        try:
            receipts = await self._store.keep(self.record.kept_as, self._wall(), facts)
        except BaseException:
            self._keeping.pop(ticket, None)
            raise
        for earlier in [each for each in self._keeping if each <= ticket]:
            self._kept += self._keeping.pop(earlier)
        await self._add_what_is_kept()
        self.wake()
        return receipts

    async def _add_what_is_kept(self) -> None:
        """At once, but others get their turn during a large draw; what they keep is added after it."""
        with trio.CancelScope(shield=True):
            try:
                self._adding.acquire_nowait()
            except trio.WouldBlock:
                await self._adding.acquire()
            try:
                while self._kept:
                    fact = self._kept.popleft()
                    for _ in self.record.adding(fact):
                        await trio.lowlevel.checkpoint()
                    self._presence.told(fact)
                    self._told(fact)
            finally:
                self._adding.release()

    def _heard(self, player: Player) -> None:
        """Somebody came, went or is free again."""
        if player.game == self.game.name:
            if player.retired and self._lobby.find(player.name, player.game, self.record.name) is None:
                self._newcomers.pop(player.name, None)
            self._presence.changed(player)
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
        """Wait until it is over."""
        while self.record.state is not State.FINISHED:
            await self._news_of_any_kind()

    async def taken_up(self) -> None:
        """Wait until it is no longer over: a match may be voided after the end."""
        while self.record.state is State.FINISHED:
            await self._news_of_any_kind()

    async def quiet(self) -> None:
        """Wait until nothing is about to end, and all that is played can be gone on with after a restart."""
        while self._keeping or self._ending or not self.record.keys.keys() >= self.record.dealt.keys():
            await self._news_of_any_kind()

    @property
    def _ending(self) -> bool:
        return any(match.verdict is not None for match in self.matches.values())

    async def _news_of_any_kind(self) -> None:
        if self._waiting is None:
            self._waiting = trio.Event()
        await self._waiting.wait()

    async def concluded(self, match: str) -> Concluded:
        """A match that is over, with all its moves."""
        fact = self.record.matches.get(match)
        if fact is not None and not isinstance(fact, Abridged):
            return fact
        return await self._store.concluded(self.record.kept_as, match)

    async def receipt(self, match: str) -> str:
        """The receipt for a match that is over: the head of the tournament's chain that ends with it."""
        return await self._store.receipt(self.record.kept_as, match)

    async def entries(self, after: int = 0) -> Sequence[Entry]:
        """A page of its facts as they are kept: those with a greater number."""
        return await self._store.entries(self.record.kept_as, after)

    def eta(self) -> float | None:
        """Seconds until the end, with the rounds that are still to be drawn; None while nothing is known."""
        record = self.record
        if record.format.endless or record.state in (State.REGISTERING, State.FINISHED):
            return None
        missing = self._presence.missing()
        known, now = (record.ended, len(record.dealt), record.arrivals, len(missing)), trio.current_time()
        before, when, left = self._foreseen
        if known != before or now >= when + FRESH:
            waits, matches = self._presence.wait_left, self.matches.values()
            left = self._forecast.left(matches, missing, waits, self._at_once, now, self._round_begins_in)
            when = now
            self._foreseen = known, when, left
        return None if left is None else max(0.0, left - (now - when))

    def missing(self) -> list[Missing]:
        """Who is awaited and not here, longest first; in formats without an end, nobody."""
        if self.record.state is State.FINISHED:
            return []
        ahead = self._wall() - trio.current_time()
        found = sorted(self._presence.missing().items(), key=lambda each: (each[1], each[0]))
        return [Missing(name, round(since + ahead, 3)) for name, since in found]

    # The steps

    async def _step(self) -> float:
        """Do all that can be done now; returns when to look again, if there is no news before."""
        record = self.record
        look = await self._check_in()
        starts = self._starts_in()
        if starts <= 0:
            await self.keep(*no_shows(record), Turned(State.RUNNING))
        if record.state is not State.RUNNING or self._halted:
            self._presence.pause()
            return _looking_again(min(starts, look))
        if record.chose is not None and record.revealed is None:
            await self.keep(revealed(record.chose))
        await self._take_up()
        drawn = await self._drawn()
        if not (drawn or record.open or record.dealt or record.format.endless):
            await self.keep(Turned(State.FINISHED))
            return inf
        begins = inf
        if record.round is not None:
            drawn, begins = await self._begin_round(drawn, record.round + 1)
        if lost := record.open.of(*record.out):
            await self._settle(lost[:AT_A_TIME])
        if len(lost) > AT_A_TIME:
            return -inf
        if record.format.endless:
            await self._deal_at_once(drawn)
            self._presence.wait_for_nobody()
            return inf
        if drawn:
            await self.keep(Drew(tuple(drawn), self.record.format.rules))
        await self._deal()
        if len(self.matches) >= self._at_once:
            self._presence.wait_for_nobody()
            return inf
        if self._presence.more_can_meet:
            return -inf
        if over := self._presence.settled(self._forecast.length, playing=bool(record.dealt)):
            await self._settle(over, self._presence.absent)
        return min(self._presence.waits_until, _looking_again(begins))

    async def _check_in(self) -> float:
        """Check in whoever is here, when that is possible; returns the seconds until it is."""
        record, opens = self.record, opens_at(self.record.opened)
        if opens is None or record.state is not State.REGISTERING or self._halted:
            return inf
        if (wait := opens - self._wall()) > 0:
            return wait
        came = self._presence.arrived()
        if not self._checking_in:
            came = record.entrants.keys() - self._presence.absent
            self._checking_in = True
        new = sorted(came - record.checked_in - record.out)
        await self.keep(*map(CheckedIn, new))
        return inf

    async def _begin_round(self, drawn: Sequence[Pairing], number: int) -> tuple[Sequence[Pairing], float]:
        """Where rounds begin by the clock: have the one of that number begin, if it can.

        Returns what is to be kept of what was drawn, and the seconds until the round begins.
        """
        record = self.record
        again = any(pairing.round < number for pairing in drawn)  # to be played before this round
        if not record.open.later and (again or not drawn):
            return drawn, inf
        wait = self._round_begins_in(number)
        if wait <= 0 and not (again or record.open.due or record.dealt):
            self._put_off = ()
            began = RoundBegan(number, round(self._wall(), 3))
            await self.keep(began, *([Drew(tuple(drawn), self.record.format.rules)] if drawn else ()))
            return (), inf
        if drawn and record.format.plan is not None and not again:
            self._put_off, drawn = drawn, ()  # not kept before it begins: somebody may come or go
        return drawn, max(wait, 0.0) or inf

    def _round_begins_in(self, number: int) -> float:
        return begins_at(self.record, number) - self._wall()

    def _starts_in(self) -> float:
        """Seconds until it starts by itself; inf: not before somebody else has come or starts it."""
        record = self.record
        if record.state is not State.REGISTERING or self._halted:
            return inf
        if (start := record.opened.start) is not None:
            ready = record.entrants if record.opened.check_in is UNSET else record.checked_in - record.out
            return start - self._wall() if len(ready) >= record.format.entrants else inf
        full = len(record.entrants) == record.opened.entrants
        return 0.0 if full and not self.awaits_the_invited else inf

    async def _take_up(self) -> None:
        """Begin the matches that players agreed on, in that order."""
        taken = [
            self._challenges.popleft()
            for _ in range(int(min(len(self._challenges), self._at_once - len(self.matches))))
        ]
        if taken:
            known, _ = self.record.past()
            rounds = ([(first.name, second.name)] for first, second, _ in taken)
            drawn = numbered(known, rounds, last_round(known) + 1)
            dealt = [
                _dealt(self.record.match_name(pairing.number), pairing.number, options, (first, second))
                for pairing, (first, second, options) in zip(drawn, taken, strict=True)
            ]
            await self.keep(Drew(tuple(drawn), self.record.format.rules), *dealt)
            for fact, (first, second, _) in zip(dealt, taken, strict=True):
                self._begin(fact, (first, second))

    async def _drawn(self) -> Sequence[Pairing]:
        """What the format adds; it is asked only when that can have changed."""
        record = self.record
        if record.format.endless:
            if len(self._presence.idle()) < 2:
                return ()
            return record.format.draw(self._presence.here(), *record.past(), record.terms)
        now = record.arrivals, record.ended if record.format.midway else 0
        if now == self._asked and (record.open or record.dealt):
            self._put_off = ()
            return ()
        if now == self._asked and self._put_off:
            return self._put_off
        self._asked = now
        entrants = list(record.entrants.values())
        draw = partial(record.format.draw, entrants, *record.past(), record.terms)
        here = len(entrants) <= FEW and not record.format.decides
        return draw() if here else await self._elsewhere(record, draw)

    async def _deal(self) -> None:
        """Begin the matches that both players are free for, in the order of drawing: the first of them."""
        room = int(min(max(self._at_once - len(self.matches), 0), AT_A_TIME))
        await self._begin_all([], islice(self._presence.meetings(), room))

    async def _deal_at_once(self, drawn: Sequence[Pairing]) -> None:
        """Begin what a format without an end has drawn: of that nothing is put off.

        New pairings are kept together with the matches dealt from them, which halves the store's work.
        """
        idle: dict[str, list[Player]] = {}
        for player in self._presence.idle():
            idle.setdefault(player.name, []).append(player)
        meetings: list[tuple[Pairing, tuple[Player, Player]]] = []
        stale: list[Pairing] = []
        for pairing in chain(self.record.open.values(), drawn):
            if len(self.matches) + len(meetings) >= self._at_once:
                break
            first, second = both(pairing)
            if first in idle and second in idle:
                players = (
                    whoever_came_for(second, idle.pop(first)),
                    whoever_came_for(first, idle.pop(second)),
                )
                meetings.append((pairing, players))
            else:
                stale.append(pairing)  # drawn for somebody who has gone away since
        nobody = Ended(round(self._wall(), 3), None, Ending.VOID, NOBODY)
        void = [unplayed(self.record, pairing, nobody, None) for pairing in stale]
        await self._begin_all([Drew(tuple(drawn), self.record.format.rules)] if drawn else [], meetings, void)

    async def _begin_all(
        self,
        drew: Sequence[Drew],
        meetings: Iterable[tuple[Pairing, tuple[Player, Player]]],
        void: Sequence[Concluded] = (),
    ) -> None:
        dealt: list[tuple[Dealt, tuple[Player, Player]]] = []
        for pairing, players in meetings:
            players[0].reserved = players[1].reserved = True
            options = players[0].options or players[1].options
            name = self.record.match_name(pairing.number)
            dealt.append((_dealt(name, pairing.number, options, players), players))
        await self.keep(*drew, *(fact for fact, _ in dealt), *void)
        for fact, players in dealt:
            self._begin(fact, players)

    def _begin(self, dealt: Dealt, players: tuple[Player, Player], kept: Story | None = None) -> None:
        """Begin a match, or go on with it from what was kept of it; raises `Illegal` if it cannot be."""
        missed, endless = self.record.missed(dealt.pairing), self.record.format.endless
        match = Match(
            self.game,
            (players[0].name, players[1].name),
            trio.current_time(),
            name=dealt.match,
            pace=self.record.opened.pace,
            options=self.record.options(dealt),
            replayable=not all(player.name in missed for player in players),
            excused=(players[0].name not in missed, players[1].name not in missed),
            early_grace=self._early_grace if endless else inf,
            kept=kept,
            epoch=self._epoch(),
            decided=self._decided,
        )
        self.matches[dealt.match] = match
        self._players[dealt.match] = players
        seats = [Seat(match, index, self._timekeeper) for index in range(len(players))]
        if match.interrupted:
            for seat in seats:
                seat.hold(self._resume_seconds)
        self._timekeeper.watch(match)
        self._store.jot(match.name, match.moves, match.times, match.ply)
        self._begun(match)
        for player, seat in zip(players, seats, strict=True):
            player.deal(seat)
            if match.interrupted and player.present:
                seat.here()
            if player.name in self.record.out:  # since the match was dealt
                seat.leave()

    def expel(self, name: str) -> None:
        """Have whoever is out of the tournament leave the match that it plays here."""
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
        """Conclude all that has been decided by now: verdicts that came together are kept together."""
        verdicts, self._verdicts = self._verdicts, {}
        entering = self._first_finished(verdicts)
        self._entering |= entering.keys()
        receipts = await self.keep(
            *entering.values(), *(self._concluded(match, verdict) for match, verdict in verdicts.items())
        )
        for match, receipt in zip(verdicts, receipts[len(entering) :], strict=True):
            match.receipt = receipt
        for name in entering:
            self._entering.discard(name)
            self._newcomers.pop(name, None)
        for match, verdict in verdicts.items():
            self._forecast.note(match.names, verdict.at - match.log.events[0].at)
            if self.record.format.endless:
                self._lobby.reputation.note(match, verdict)
            match.announce()
            del self.matches[match.name]
            for player in self._players.pop(match.name):
                player.free()
        self.wake()

    def _first_finished(self, verdicts: Mapping[Match, Ended]) -> dict[str, Entered]:
        """Those for whom one of these is the first match that counts and in which both have moved."""
        return {
            name: Entered(name, self._newcomers[name].rating if name in self._newcomers else None)
            for match, verdict in verdicts.items()
            if score(verdict) is not None and match.both_have_moved and not self._with_the_house(match)
            for name in match.names
            if not self._takes_part(name)
        }

    def _takes_part(self, name: str) -> bool:
        return name in self.record.entrants or name in self._entering

    def _concluded(self, match: Match, verdict: Ended) -> Concluded:
        moves, times = match.moves_and_times()
        thought, network = match.thinking()
        first, second = self._players[match.name]
        counts = all(map(self._takes_part, match.names)) and not self._with_the_house(match)
        match.epoch = self._epoch()  # once: whoever is told of the end is told the times that are kept
        return Concluded(
            match.name,
            self.record.dealt[match.name],
            match.names,
            verdict.winner,
            verdict.ending,
            verdict.why,
            score(verdict) if counts else None,
            moves,
            tuple(map(whole_micros, times)),
            None if match.options == self.record.opened.options else match.options,
            match.began,
            round(match.wall(verdict.at), 3),
            verdict.fault,
            moved_by(verdict.cause, match.epoch),
            thought,
            network,
            UNSAID if first.version is second.version is None else (first.version, second.version),
            (first.kind, second.kind),
            match.notes,
        )

    def _with_the_house(self, match: Match) -> bool:
        return with_the_house(player.kind for player in self._players[match.name])

    def _epoch(self) -> float:
        """The wall clock's time when the event loop's was 0."""
        return self._wall() - trio.current_time()

    async def _settle(self, pairings: Iterable[Pairing], absent: Collection[str] = ()) -> None:
        """Decide what cannot be played, because somebody is out of the tournament or did not come."""
        since, now = self._presence.missing(), trio.current_time()
        waited = {name: now - since.get(name, now) for name in absent}
        when = round(self._wall(), 3)
        await self.keep(*(settled(self.record, pairing, waited, when) for pairing in pairings))

    async def _go_on(self) -> None:
        """Go on with all that was being played when the host stopped; what cannot be gone on with is void."""
        stories: Mapping[str, Story] = self._store.jotted() if self.record.dealt else {}
        void: list[str] = []
        for match in [each for each in self.record.dealt if each not in self.matches]:
            if not self._resume(match, stories.get(match, ((), ()))):
                void.append(match)
            await trio.lowlevel.checkpoint()
        self.gone_on.set()
        await self.keep(*cut_short(self.record, void, stories))

    def _resume(self, match: str, story: Story) -> bool:
        """Go on with a match for which both players are awaited."""
        record, number = self.record, self.record.dealt[match]
        if match not in record.keys:
            return False
        ways_back = record.ways_back.get(match, ("", ""))
        first, second = map(self._returning, both(record.drawn[number]), record.keys[match], ways_back)
        begun = first is not None and second is not None and self._goes_on(match, (first, second), story)
        for player, way_back in zip((first, second), ways_back, strict=True):
            if player is None:
                pass
            elif begun and way_back and player.seat is not None:
                self._awaited(player.seat, player, way_back)
            elif not begun and player.for_one_match:
                player.retire()
        return begun

    def _returning(self, name: str, key: str, way_back: str) -> Player | None:
        """Whoever is to go on with a match: by its key the lobby has it, else it comes for that match."""
        if key or name in self.record.claims or not way_back:
            found = self._lobby.find(name, self.game.name, self.record.name)
            return None if found is None or found.seat is not None else found
        player = self._lobby.enter(name, self.game.name)
        player.place, player.for_one_match = self.record.name, True
        player.away()
        return player

    def _goes_on(self, match: str, players: tuple[Player, Player], story: Story) -> bool:
        number, options = self.record.dealt[match], self.record.own_options.get(match)
        try:
            self._begin(Dealt(match, number, options), players, story)
        except Illegal as illegal:
            log.error("what was kept of a match is no match", match=match, why=str(illegal))
            return False
        return True


def _looking_again(seconds: float) -> float:
    """When to look at the wall clock again for something that is to happen in so many seconds."""
    return trio.current_time() + min(seconds, LOOK) if seconds < inf else inf


def _dealt(
    match: str, pairing: int, options: Mapping[str, Any] | None, players: tuple[Player, Player]
) -> Dealt:
    """With what both come back by after a restart, if both can."""
    if not all(player.key or player.way_back for player in players):
        return Dealt(match, pairing, options)
    first, second = players
    ways_back = first.way_back, second.way_back
    keys = first.key or "", second.key or ""
    return Dealt(match, pairing, options, keys, ways_back if any(ways_back) else UNSET)


def takes_entrants(record: Record) -> bool:
    full = record.opened.entrants is not None and len(record.entrants) >= record.opened.entrants
    return record.format.endless or (record.state is State.REGISTERING and not full)
