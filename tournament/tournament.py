"""One running tournament: it deals matches to whoever is free, and keeps their results.

There is no plan here. After every change it asks the format what may be played and
the lobby who can play it. Its decisions are facts, which the store has before
anybody hears of them. So starting and continuing after a crash are the same: a
record, which may be empty, and `run`. `tournament/presence.py` knows who is here;
`tournament/desk.py` has what organisers can order of a tournament.
"""

import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from math import inf
from typing import Any
from weakref import proxy, ref

import trio

from games.game import Game
from tournament.check_in import no_shows
from tournament.concluding import Concluding
from tournament.dealing import AT_A_TIME, Dealing
from tournament.draws import Draws, Elsewhere, RandomBits, as_drawn, draw_here, reveals
from tournament.entering import Entering
from tournament.entries import Entry
from tournament.eta import Eta
from tournament.events import Ended
from tournament.facts import (
    AnyFact,
    Concluded,
    Entered,
    RoundBegan,
    Seated,
    State,
    Turned,
)
from tournament.forecast import Forecast
from tournament.format import Entrant, Pairing
from tournament.in_play import Both, InPlay, Lend, Together, play_here
from tournament.keeping import Keeper
from tournament.lent import Beginning, Course, Decided, Lent
from tournament.lobby import Lobby
from tournament.match import GRACE, REFUSALS, Match
from tournament.player import Player, Seat
from tournament.presence import Missing, Presence
from tournament.record import Record
from tournament.refusals import expect_room
from tournament.reputation import faults
from tournament.resuming import Awaited, Resuming
from tournament.rounds import begins_at
from tournament.settling import cut_short, settled
from tournament.starting import Starting
from tournament.store import Jottings, Store
from tournament.timekeeper import Timekeeper

LOOK = 60.0  # seconds after which the wall clock is looked at again: somebody may have set it


def _fail(error: Exception) -> None:
    raise error


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
        refusals: int = REFUSALS,
        elsewhere: Elsewhere = draw_here,
        wall: Callable[[], float] = time.time,
        told: Callable[[AnyFact], None] = lambda fact: None,
        begun: Callable[[Match], None] = lambda match: None,
        awaited: Awaited = lambda seat, player, way_back: None,
        lend: Lend = play_here,
        together: Together = nullcontext,
        random_bits: RandomBits = secrets.randbits,
        failed: Callable[[Exception], None] = _fail,
    ) -> None:
        """`at_once` bounds the matches in play; `told` hears every fact that is safe, `begun` every match.

        `awaited` hears of each seat to which a dialect has to find the way back after a restart: its player,
        and the way. Draws that take long are made `elsewhere`, where they hold up nobody. `lend` may have
        another process play a match that is about to begin. What both players are told when a match begins
        or ends is sent `together`. Lots of which nobody is told the seed come from `random_bits`. `failed`
        hears what a game has raised as a match was about to begin, which is void then.

        A player may be gone for `grace` seconds, from a match or when one is due, and in a format without an
        end for `early_grace` before its first move; the last of this many `refusals` in a match loses it. A
        match that was in play when the host stopped waits `resume_seconds` for its players: those that the
        lobby has at the start.
        """
        self.record = record
        self.game = game
        self._lobby = lobby
        self._newcomers: dict[str, Entrant] = {}  # entrants of whom nothing is kept yet
        # Its parts must not keep it alive when it is deleted: its record may have half a million pairings,
        # and the collector hardly ever looks at old objects.
        this = proxy(self)

        def keep(*facts: AnyFact) -> Awaitable[Sequence[str]]:
            return this.keep(*facts)

        self._keeper = Keeper(record, store, wall, lambda fact: this._added(fact))
        self._play = InPlay(
            record,
            game,
            store,
            timekeeper,
            wall,
            resume_seconds=resume_seconds,
            early_grace=early_grace,
            grace=grace,
            refusals=refusals,
            begun=begun,
            lend=lambda beginning, players, decided: this._lend(beginning, players, decided),
            together=together,
        )
        self.matches = self._play.matches
        self._concluding = concluding = Concluding(
            record, self._play, self._newcomers, keep, lambda match, verdict: this._over(match, verdict)
        )
        self._play.decided = _decided(ref(concluding))
        self._play.failed = lambda: this._dealing.back_off()
        self._resuming = Resuming(record, game.name, lobby, self._play, awaited)
        self._at_once = inf if at_once is None else at_once
        self._grace = grace
        self._resume_seconds = resume_seconds
        self._timekeeper = timekeeper
        self._keep = keep
        self._lend_to = lend
        self._elsewhere = elsewhere
        self._random_bits = random_bits
        self._store = store
        self.wall = wall
        self._told = told
        self._failed = failed
        self._know_nothing()
        self._stop_listening: Callable[[], None] = _nothing
        self.gone_on = trio.Event()  # set when all matches that can go on after a restart do so
        if record.state is State.FINISHED:  # none was in play, and it does not run before it goes on again
            self.gone_on.set()
        self._news = trio.Event()
        self._waiting: trio.Event | None = None  # set at the next change, for the task that waits for one
        self._halted = False
        self.deciding = trio.Lock()  # held from reading the record until the facts decided from it are kept
        self._entering = Entering(record, self.deciding, keep)
        self.voiding = set[str]()  # matches of which somebody has ordered that, and waits until it is done
        self._known_missing: list[Missing] | None = None  # as of the latest change

    async def run(self) -> None:
        """Run until the tournament is finished; forever, if its format has no end.

        A match may be voided after the end. Then it has to be run again, and starts as after a restart.
        """
        name, in_rounds = self.record.name, not self.record.format.endless
        self._stop_listening = self._lobby.listen(self._heard, name, in_rounds=in_rounds)
        try:
            async with trio.open_nursery() as self._concluding.nursery:
                try:
                    async with self.deciding:
                        await self._go_on()
                    self._presence.heard_of_all()
                    self.wake()
                    await self._step_until_finished()
                finally:
                    self._concluding.nursery = None  # matches that are decided from now on count as cut short
                    self._play.let_go()
        finally:
            self.stop_listening()
            self._dealing.drop_challenges()
        self._know_nothing()

    def stop_listening(self) -> None:
        """Hear no more of players, as when it is deleted: another tournament may have its name next."""
        stop, self._stop_listening = self._stop_listening, _nothing
        stop()

    def _know_nothing(self) -> None:
        """Know no more than the record: not who is here, nor how long matches last."""
        record = self.record
        self._presence = Presence(
            record,
            self.game.name,
            self._lobby,
            self._timekeeper,
            self._grace,
            self._newcomers,
            self.wall,
        )
        self._draws = Draws(record, self._presence, self._elsewhere, self._random_bits)
        self._dealing = Dealing(
            record, self._presence, self._play, self._keep, self._at_once, self._keeper.now, self._failed
        )
        self._forecast = Forecast(record)
        self._eta = Eta(record, self._presence, self._forecast, self.matches, self._at_once, self.wall)
        self._starting = Starting(record, self._presence, self._timekeeper, self.wall, self._resume_seconds)

    @property
    def awaits_the_invited(self) -> bool:
        """Whether somebody was invited who is not here: it does not begin by itself without them."""
        return self._starting.awaits_the_invited

    async def enter(self, name: str, rating: float | None = None, *, seated: Seated | None = None) -> None:
        """Take in somebody who comes by itself.

        A tournament that has an end also keeps to whom the name belongs, if the entrant is `seated`. In a
        running tournament without an end that takes any number, the record does not have an entrant before
        it has finished a match: strangers cannot fill the record with names.
        """
        if name in self.record.entrants:
            await self._seat(seated)
            return  # and stays one: an entrant that comes again need not wait for what is being decided
        takes_any = self.record.format.endless and self.record.opened.entrants is None
        if takes_any and self.record.state is not State.REGISTERING:
            expect_room(self.record, let_in=False)
            self._newcomers[name] = Entrant(name, rating)
            return
        seats = () if seated is None or self.record.format.endless else (seated,)
        await self._entering.take_in(Entered(name, rating), *seats)

    def receive(self, name: str) -> None:
        """Let a house player take part for as long as it is here. Nothing is kept of it."""
        if name not in self.record.entrants:
            self._newcomers.setdefault(name, Entrant(name))

    async def _seat(self, seated: Seated | None) -> None:
        if seated is None or self.record.format.endless:
            return
        if seated.name not in self.record.claims and self.record.seats.get(seated.name) != seated:
            await self.keep(seated)

    def is_newcomer(self, name: str) -> bool:
        """Whether a bot takes part that is not an entrant of the record yet."""
        return name in self._newcomers and name not in self.record.entrants

    def players(self, match: str) -> Sequence[Player]:
        """Who plays a match, until its end is announced; nobody if it is not in play here."""
        played = self.matches.get(match)
        return () if played is None else self._play.players(played)

    def at_fault(self, match: str) -> Collection[str]:
        """Who has wasted the opponent's time in a match, until its end is announced."""
        played = self.matches.get(match)
        return () if played is None or played.verdict is None else faults(played, played.verdict).keys()

    def challenge(self, first: Player, second: Player, options: Mapping[str, Any] | None = None) -> None:
        """Have two entrants who have agreed to it meet, `first` in seat 0, with those options of the game.

        For a tournament without an end, which has no plan that this could upset.
        """
        self._dealing.challenge(first, second, options)
        self.wake()

    async def keep(self, *facts: AnyFact) -> Sequence[str]:
        """Have the store keep these facts, then add them to the record and tell of them; returns receipts."""
        if not facts:
            return ()
        receipts = await self._keeper.keep(*facts)
        self.wake()
        return receipts

    async def copied_record(self) -> Record:
        """A copy of the record; of a large one it is made bit by bit."""
        return await self._keeper.copied()

    def _added(self, fact: AnyFact) -> None:
        self._presence.told(fact)
        self._told(fact)

    def _lend(self, beginning: Beginning, players: Both, decided: Decided) -> Lent | None:
        return self._lend_to(self, beginning, players, decided)

    def _heard(self, player: Player) -> None:
        """A player came, went or is free again."""
        if player.game == self.game.name:
            if player.retired and not self._presence.knows(player.name):
                self._newcomers.pop(player.name, None)
            self._presence.changed(player)
            self.wake()

    def wake(self) -> None:
        """Something has changed: there may be something to do."""
        self._known_missing = None
        self._news.set()
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None

    def halt(self) -> None:
        """Deal nothing more, whatever the tournament's state: the host is about to stop."""
        self._halted = True

    def come_home(self, lent: Lent, course: Course) -> tuple[Seat, Seat] | None:
        """Go on here with a match that another process has played; returns its seats, if it is not over."""
        seats = self._play.come_home(lent, course)
        self.wake()
        return seats

    async def lose(self, lent: Lent) -> None:
        """Go on with a match whose process is gone, from what was heard of it, as after a restart."""
        async with self.deciding:
            if not self._play.is_lent(lent):
                return
            players, jottings = self._play.lose(lent)
            jotted = {lent.name: jottings}
            await self.keep(*cut_short(self.record, await self._resuming.go_on(jotted), jotted))
            for player in players:
                if player.seat is None:
                    player.free()
        self.wake()

    @property
    def busy(self) -> bool:
        """Whether something is played here, or is being decided."""
        return bool(self.matches or self._keeper.waits or self.deciding.locked())

    async def finished(self) -> None:
        """Wait until it is over, or deleted."""
        while self.record.state not in (State.FINISHED, State.DELETED):
            await self.changed()

    async def quiet(self) -> None:
        """Wait until no match is about to end, all can go on after a restart, and none is lent."""
        record, play = self.record, self._play
        while (
            self._keeper.waits or play.ending or play.lends or not record.keys.keys() >= record.dealt.keys()
        ):
            await self.changed()

    async def changed(self) -> None:
        """Wait for the next change of any kind."""
        if self._waiting is None:
            self._waiting = trio.Event()
        await self._waiting.wait()

    async def concluded(self, match: str) -> Concluded:
        """A match that is over, with all its moves."""
        return await self._keeper.concluded(match)

    async def receipt(self, match: str) -> str:
        """The receipt for a match that is over: the head of the tournament's chain that ends with it."""
        return await self._keeper.receipt(match)

    async def entries(self, after: int = 0) -> Sequence[Entry]:
        """A page of its facts as they are kept: those with numbers greater than `after`."""
        return await self._keeper.entries(after)

    def eta(self) -> float | None:
        """Seconds until the end, with the rounds that are still to be drawn; None while nothing is known.

        For a tournament that stops by itself, until what is drawn is over: how much more it takes is
        known by its results.
        """
        return self._eta.now()

    async def foresee(self) -> float | None:
        """Like `eta`; others get their turns meanwhile, which a forecast for thousands would keep waiting.

        So would a look at all of them, which `missing` needs after a start.
        """
        await self._presence.catch_up()
        return await self._eta.in_turns()

    def missing(self) -> Sequence[Missing]:
        """The entrants that are awaited and not here, longest first; none in formats without an end.

        They are worked out once after each change: this is asked for again and again, of all tournaments.
        """
        if self.record.state is State.FINISHED:
            return []
        if self._known_missing is None:
            lags = self._presence.lags
            missing = self._presence.missing(match.names for match in self.matches.values())
            if lags:
                return [*missing.values()]
            self._known_missing = [*missing.values()]
        return self._known_missing

    # The steps

    async def _step_until_finished(self) -> None:
        """Do what can be done after every change, and when there is something to look at again."""
        while self.record.state is not State.FINISHED:
            self._news = trio.Event()
            async with self.deciding:
                await self._presence.catch_up()
                until = min(await self._step(), self._dealing.goes_on)
            with trio.move_on_at(until):
                await self._news.wait()

    async def _step(self) -> float:
        """Do all that can be done now; returns when to look again, if nothing changes before."""
        record = self.record
        if record.state is State.FINISHED:
            return inf  # an organiser has ended it while this waited for its turn
        look = await self._check_in()
        starts = inf if self._halted else self._starting.seconds
        if starts <= 0:
            await self.keep(*no_shows(record), Turned(State.RUNNING))
        if record.ended_early and not (record.dealt or self._halted):
            await self.keep(*reveals(record), Turned(State.FINISHED))
            return inf
        if record.state is not State.RUNNING or record.ended_early or self._halted:
            self._presence.pause()
            return _looking_again(min(starts, look))
        await self._dealing.take_up()
        if lost := record.open.of(record.out, AT_A_TIME):
            await self._settle(lost)
            return -inf  # there may be more, and what is drawn has to be kept in the same step
        decided = not (record.open or record.dealt)  # otherwise there may be more to draw when that is over
        drawn = await self._draws.drawn(self._dealing.room)
        if decided and not (drawn or record.open or record.dealt or record.format.endless):
            await self.keep(*reveals(record), Turned(State.FINISHED))
            return inf
        begins = inf
        if record.round is not None:
            drawn, begins = await self._begin_round(drawn, record.round + 1)
        if record.format.endless:
            await self._dealing.deal_at_once(drawn)
            self._presence.wait_for_nobody()
            return inf
        if drawn:
            await self.keep(*reveals(record), as_drawn(record, drawn))
            await self._presence.catch_up()
        await self._dealing.deal()
        if self._dealing.room <= 0:
            self._presence.wait_for_nobody()
            return inf
        if self._presence.more_can_meet:
            return -inf
        if over := self._presence.settled(self._forecast.length, playing=bool(record.dealt)):
            await self._settle(over, self._presence.absent)
        until = self._presence.waits_until
        self._forecast.note_settled(len(over), trio.current_time(), more=until == -inf)
        return min(until, _looking_again(begins))

    async def _check_in(self) -> float:
        """Check in the entrants who are here, when that is possible; returns the seconds until it is."""
        if self._halted:
            return inf
        checked_in, wait = self._starting.check_in()
        await self.keep(*checked_in)
        return wait

    async def _begin_round(self, drawn: Sequence[Pairing], number: int) -> tuple[Sequence[Pairing], float]:
        """Where rounds begin by the clock: have the one of that number begin, if it can.

        Returns the pairings to keep, of those drawn, and the seconds until the round begins.
        """
        record = self.record
        again = any(pairing.round < number for pairing in drawn)  # they have to be played before this round
        if again or not (drawn or len(record.open) > record.open.due):
            return drawn, inf
        wait = begins_at(record, number) - self.wall()
        if wait <= 0 and not (record.open.due or record.dealt):
            self._draws.put_off(())
            began = RoundBegan(number, self._keeper.now())
            await self.keep(began, *reveals(record), *([as_drawn(record, drawn)] if drawn else ()))
            return (), inf
        if drawn and record.format.plan is not None:
            self._draws.put_off(drawn)  # entrants may come or go before it begins
            self._presence.foresee(drawn)
            self._known_missing = None
            drawn = ()
        return drawn, max(wait, 0.0) or inf

    def _over(self, match: Match, verdict: Ended) -> None:
        """The result of a match is safe."""
        self._forecast.note(match.names, verdict.at - match.log.events[0].at)
        if self.record.format.endless:
            self._lobby.reputation.note(match, verdict)
        self.wake()

    def expel(self, name: str) -> None:
        """Have an entrant that is out of the tournament leave the match that it plays here, and be told."""
        self._play.expel(name)
        for player in self._presence.named(name):
            if player.taker is not None:
                player.taker.taken_out()

    async def _settle(self, pairings: Collection[Pairing], absent: Collection[str] = ()) -> None:
        """Decide pairings that cannot be played: an entrant is out of the tournament or did not come."""
        late = {name for pairing in pairings for name in pairing.names if name in absent}
        waited = {name: self._presence.waited(name) for name in late}
        when = self._keeper.now()
        been = {name for name in late if name in self._presence.been or self.record.came(name)}
        sated = {name for name in late if self._presence.wants_no_more(name)}
        await self.keep(*(settled(self.record, pairing, waited, been, when, sated) for pairing in pairings))

    async def _go_on(self) -> None:
        """Go on with the matches that were played when the host stopped; those that cannot go on are void."""
        jotted: Mapping[str, Jottings] = self._store.jotted() if self.record.dealt else {}
        void = await self._resuming.go_on(jotted)
        self.gone_on.set()
        await self.keep(*cut_short(self.record, void, jotted))


def _nothing() -> None:
    """There is nothing to stop."""


def _looking_again(seconds: float) -> float:
    """When to look at the wall clock again, for something that will happen in this many seconds."""
    return trio.current_time() + min(seconds, LOOK) if seconds < inf else inf


def _decided(held: ref[Concluding]) -> Callable[[Match, Ended], None]:
    """What a match calls that is decided; one that was lent may come home to a tournament that is dropped."""

    def decided(match: Match, verdict: Ended) -> None:
        if (concluding := held()) is not None:
            concluding.decided(match, verdict)

    return decided
