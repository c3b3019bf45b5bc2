"""Attendance: whether one bot is here, whatever dialect it speaks.

The states it can be in, and what may happen in each, are the table in
`states.py`. Nothing here reads, writes or formats a byte: a dialect is called
back when its bot has been admitted, refused, dealt a seat or replaced, and says
so in its own words.

A dialect keeps no flag of its own for any of this: it asks `state`, `visit` and
`seat`.
"""

from collections.abc import Callable
from typing import TypedDict, Unpack

import structlog
import trio

from server.host.host import Host
from server.host.passing import Passing
from server.host.unwelcome import ComeAgain, Unwelcome
from server.host.view import HeldTournament, Told
from server.host.visits import Visit
from server.host.wire_log import NO_TAPE
from server.net.guard import Severed, is_ours, start_in_turn
from server.net.lines import Lines
from server.net.wire import Wire
from server.protocols.common.states import OVER, TABLE, Happening, Impossible, State
from server.protocols.common.talk_budget import TalkBudget
from server.protocols.common.tournament_end import stop_waiting, when_over
from tournament import verdicts
from tournament.events import HOST_FAILED, Fault
from tournament.facts import AnyFact
from tournament.facts import State as Stage
from tournament.lent import Lent
from tournament.log import Follower, Tell
from tournament.player import NOBODY, Seat, Taker
from tournament.refusals import Refusal, taken_out

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Wishes(TypedDict, total=False):
    """How a bot wants to come in: what `Host.arrive` takes."""

    tournament: str | None
    token: str | None
    keeps: bool
    shared: bool
    against: str | None
    ready: bool
    resumes: bool
    door: str
    matches: int | None
    version: str | None
    practises: bool
    person: bool
    unheard: Visit | None


class Attendance(Taker):
    """The attendance of one bot. A dialect makes one for each connection or session that it serves."""

    __slots__ = (
        "_awaits",
        "_away_since",
        "_dealt",
        "_early",
        "_follower",
        "_grace",
        "_host",
        "_moved",
        "_replaced",
        "_resumed",
        "_successor",
        "_taken_out",
        "_tell",
        "_tournament_over",
        "asked",
        "budget",
        "connection",
        "cut",
        "hangs_up",
        "lines",
        "over",
        "peer",
        "seat",
        "state",
        "tape",
        "unheard",
        "unread",
        "visit",
        "wire",
    )

    def __init__(
        self,
        host: Host,
        peer: str,
        *,
        tell: Tell | None,
        dealt: Callable[[Seat], None] | None = None,
        resumed: Callable[[Seat], None] | None = None,
        replaced: Callable[[str], None] | None = None,
        tournament_over: Told | None = None,
        taken_out: Callable[[str], None] | None = None,
        moved: Callable[[], None] | None = None,
    ) -> None:
        """`tell` hears every event of the bot's match. None: the dialect follows it itself.

        `dealt` is called with a seat before `tell` hears of its match, `resumed` with one whose match has
        begun before it came, perhaps before the host was started: after that, `tell` hears what is new.
        Without it, `tell` hears everything again.
        `replaced` is called with the reason, before everything is let go of; `tournament_over` from within
        the scheduler. `taken_out` is called with the reason why its tournament deals
        nothing more to a bot, as soon as it plays no match there: the dialect then ends the attendance.
        Without it, `replaced` is called. `moved` is called whenever the bot has a place in a tournament.
        """
        self.state = State.SILENT
        self.over = False  # whether that state is the last one
        self.peer = peer
        self.asked = 0  # how many questions this bot has been asked
        self.unheard = 0  # how many of its messages were ignored in silence
        self.unread = False  # whether it cannot have read all that it was told, as far as its transport knows
        self.budget = TalkBudget(host.limits, trio.current_time())
        self.visit: Visit | None = None
        self.seat: Seat | None = None
        self.tape = NO_TAPE  # of its match
        self.connection: Passing | None = None  # the connection over which its bot may be passed on
        self.wire: Wire | None = None  # to the bot, if it has a connection of its own
        self.lines: Lines | None = None  # of its connection, where it speaks in lines
        self.hangs_up = False  # whether it is noted that the bot hangs up before it moves in another match
        self.cut = False  # whether the host has hung up, so that the log does not say that the bot has left
        self._host = host
        self._tell = tell
        self._dealt = dealt or _nobody
        self._resumed = resumed
        self._replaced = replaced or _silence
        self._tournament_over = tournament_over or _no_news
        self._taken_out = taken_out or self._replaced
        self._moved = moved or _nowhere
        self._follower: Follower | None = None
        self._early: list[tuple[bytes, float]] | None = None  # messages that came while it was arriving
        self._awaits: str | None = None  # the tournament for whose end it waits
        self._successor: Attendance | None = None  # the same bot's next attendance, which is arriving
        self._grace = host.limits.away_seconds  # for which the bot may still be away in its match
        self._away_since = 0.0

    @property
    def current(self) -> bool:
        """Whether the bot is here: it has not hung up, and nobody else has come in its place."""
        return self.visit is not None and self.visit.current

    @property
    def succeeded(self) -> bool:
        """Whether the same bot is arriving anew, to replace this attendance."""
        return self._successor is not None

    @property
    def name(self) -> str | None:
        """What the bot is called, if it is in."""
        return None if self.visit is None else self.visit.player.name

    def happens(self, what: Happening) -> None:
        """Go on to the next state; raises `Impossible`."""
        if (following := TABLE[self.state].get(what)) is None:
            raise Impossible(f"{what.value} cannot happen to a bot that is {self.state.value}")
        self.state = following
        self.over = following is OVER

    # Coming

    def come(
        self,
        name: str,
        game: str,
        authenticated: Callable[[], None],
        admitted: Callable[[Visit], None],
        refused: Callable[[Unwelcome], None],
        early: Callable[[bytes, float], None] = lambda message, at: None,
        **wishes: Unpack[Wishes],
    ) -> None:
        """Have the host decide, which takes a moment; then call one of the callbacks, unless it is over.

        `admitted` comes right after `authenticated`, which tells the channel that it no longer carries a
        stranger. Messages that were put off meanwhile are given to `early`, one by one.
        """
        self.happens(Happening.CAME)

        async def decide() -> None:
            try:
                visit = await self._decided(name, game, wishes)
            except Unwelcome as reason:
                if not self.over:
                    refused(reason)
            except Exception as error:  # ours, and the bot must not wait for ever
                self._host.guard.report(error)
                if not self.over:
                    self.happens(Happening.REFUSED)
                    refused(ComeAgain(HOST_FAILED))
            else:
                if visit is not None:
                    self._log_coming(visit, wishes)
                    authenticated()
                    self._welcome(visit, admitted)
            self._hear_early(early)

        start_in_turn(self._host.guard, self._host.coming, decide)

    def _welcome(self, visit: Visit, admitted: Callable[[Visit], None]) -> None:
        try:
            admitted(visit)
        except Exception as error:  # ours: it comes anew, and a match to which it came back is void
            self._host.guard.report(error)
            if visit.player.seat is not None:
                visit.player.seat.match.fail(trio.current_time())
            self._untold()
        else:
            self.take_place()

    def _hear_early(self, early: Callable[[bytes, float], None]) -> None:
        """Give `early` what came while the bot was arriving."""
        while self._early and self.state not in (State.ARRIVING, State.OVER):
            try:
                early(*self._early.pop(0))
            except Exception as error:
                self.failed(error)
                raise

    async def arrive(
        self, name: str, game: str, *, succeeds: "Attendance | None" = None, **wishes: Unpack[Wishes]
    ) -> Visit | None:
        """Like `come`, for a caller that waits; raises `Unwelcome`. None: it was over before the decision.

        When the bot has been told, call `take_place`. A bot without a connection comes anew with each
        request: this one `succeeds` the one before, which attends until the bot has been admitted.
        """
        self.happens(Happening.CAME)
        if succeeds is None:
            visit = await self._decided(name, game, wishes)
            if visit is not None:
                self._log_coming(visit, wishes)
            return visit
        succeeds._successor = self
        try:
            visit = await self._decided(name, game, wishes, goes_on=True)
        finally:
            if succeeds._successor is self:
                succeeds._successor = None
        if visit is not None and succeeds.visit is not None:
            succeeds.happens(Happening.REPLACED)
            succeeds._let_go(for_good=False)
        return visit

    async def _decided(self, name: str, game: str, wishes: Wishes, *, goes_on: bool = False) -> Visit | None:
        try:
            visit = await self._host.arrive(name, game, peer=self.peer, goes_on=goes_on, **wishes)
        except Unwelcome as why:
            if not isinstance(why, ComeAgain):  # an old client may tell its author nothing of this
                log.info("turned away", peer=self.peer, player=name, game=game, why=str(why))
            if not self.over:
                self.happens(Happening.REFUSED)
            raise
        if self.state is State.OVER:
            visit.leave()
            return None
        self._admit(visit)
        return visit

    def _admit(self, visit: Visit) -> None:
        self.happens(Happening.ADMITTED)
        self.visit = visit
        visit.replaced = self._give_way
        visit.player.taker = self
        visit.player.connection = self.connection
        self.moved()
        self.taken_out()  # it may have been taken out while it was on its way

    def moved(self) -> None:
        """Wait for the end of the tournament that the bot is in now."""
        self._stop_waiting()
        self._awaits = "" if self.visit is None else self.visit.player.place or ""
        when_over(self._host, self._awaits, self)
        self._moved()

    def _stop_waiting(self) -> None:
        if self._awaits is not None:
            stop_waiting(self._host, self._awaits, self)
            self._awaits = None

    def sit_in(self, visit: Visit) -> None:
        """Take in a bot that another process has let in, and that plays one match here."""
        self.happens(Happening.CAME)
        self._admit(visit)

    def recall(self, visit: Visit) -> None:
        """Take in a bot that was here when the host stopped, and is called to its matches."""
        self.happens(Happening.CAME)
        self._admit(visit)
        self.take_place()

    def await_return(self, visit: Visit) -> None:
        """Await a bot that was playing when the host stopped: its seat is held for it."""
        self.happens(Happening.CAME)
        self._admit(visit)
        self.take_place()
        self.happens(Happening.HUNG_UP)

    def take_place(self) -> None:
        """Go on with the match that the bot came back to, if there is one.

        A match whose end was told does not count, though its other bot may not be back from another process.
        """
        seat = None if self.visit is None else self.visit.player.seat
        if seat is not None and self.seat is None and not seat.match.log.closed:
            self.take_seat(seat, back=True)

    def put_off(self, message: bytes, at: float) -> bool:
        """Keep what the bot says while it is arriving; False if it is too much."""
        if self._early is None:
            self._early = []
        if len(self._early) >= self._host.limits.early_messages:
            return False
        self._early.append((message, at))
        return True

    # Playing

    def take_seat(self, seat: Seat, *, back: bool = False) -> None:
        if self.state is State.OVER:
            return  # the player leaves with the connection, and its seat with the player
        self.happens(Happening.DEALT)
        self._grace = self._host.limits.away_seconds
        self.seat, self.tape = seat, self._host.wires.tape(seat, self.visit)
        if seat.match.elsewhere:
            if back and isinstance(seat.match, Lent):
                seat.match.when_home(lambda match: self._go_back())
                seat.match.when_told(lambda: self._stays_away(seat))
            return
        self._watch_connection(seat)
        start = 0
        if not back and not seat.match.interrupted:
            self._let_know(self._dealt, seat)
        elif self._resumed is not None:
            self._let_know(self._resumed, seat)
            start = len(seat.match.log.events)
        if self._tell is not None:
            self._follower = seat.follow(self._tell, start, self._untold)

    def go_on(self, seat: Seat, start: int) -> None:
        """Go on here with a match that another process played: `tell` hears new events from `start` on."""
        self.seat = seat
        self._watch_connection(seat)
        if seat.to_move and start:
            self.ask()
        if self._tell is not None:
            self._follower = seat.follow(self._tell, start, self._untold)

    def _watch_connection(self, seat: Seat) -> None:
        """Have the match know, when the clock runs out, what became of the line and of the bot's machine."""
        wire, requests = self.wire, self._host.requests_on_their_way
        on_its_way = requests if wire is None or wire.relayed else wire.on_its_way
        seat.match.on_its_way[seat.index] = on_its_way
        seat.match.begun[seat.index] = None if self.lines is None else self.lines.begun
        seat.match.unanswered[seat.index] = None if wire is None else wire.unanswered

    def _let_know(self, tell: Callable[[Seat], None], seat: Seat) -> None:
        """Have the dialect tell its bot of a match that begins for it, or to which it comes back."""
        try:
            tell(seat)
        except Exception:
            seat.fail(self._untold)
            raise

    def _untold(self) -> None:
        """The bot could not be told of something, such as a match, which is void: it comes anew."""
        if not self.over:
            self._give_way(HOST_FAILED)

    def _go_back(self) -> None:
        """Go back to the match to which the bot came, which is here now."""
        seat = None if self.visit is None else self.visit.player.seat
        if seat is None or self.state is not State.PLAYING:
            return
        start = 0
        if self._resumed is not None:
            self.seat, start = seat, len(seat.match.log.events)
            self._let_know(self._resumed, seat)
        self.go_on(seat, start)

    def _stays_away(self, seat: Seat) -> None:
        """The match to which the bot came does not come home: it has ended, or is lost and begins anew."""
        if self.seat is seat:
            self.ended()

    def ask(self) -> None:
        """The bot has been asked something: its next message is the answer, which costs nothing."""
        self.asked += 1
        self.budget.asked()

    def ask_again(self) -> None:
        """The bot's answer was refused, so its question is still open, also for what it has sent already."""
        self.budget.asked()

    def away(self) -> None:
        """The bot is away. In the middle of a match the clock waits, for the rest of the grace.

        Without a match, none is dealt to the bot until it comes anew, except one that is on its way.
        """
        self.happens(Happening.HUNG_UP)
        self._log("crashed" if self._on_its_turn else "away")
        if self.seat is not None:
            self.seat.hold(min(self._grace, self.seat.early_grace), lost=True)
            self._away_since = self.seat.now
        elif self.visit is not None:
            self.visit.leave()

    def back(self) -> None:
        """The bot is there again. The grace is for the whole match: hanging up must not gain time."""
        if (seat := self.seat) is None:
            raise Impossible("a bot without a seat has nothing to come back to: it comes anew")
        self.happens(Happening.CAME_BACK)
        self._log("returned")
        host_was_away = seat.match.awaits_return(seat.index)
        if host_was_away and self.visit is not None:
            self.visit.player.back()
        seat.here()
        if not host_was_away:
            self._grace = max(0.0, self._grace - (seat.now - self._away_since))

    def silent(self) -> None:
        """The bot has been silent and may be gone: nothing is dealt to it until it is heard."""
        if self.visit is not None and (self.seat is None or self.seat.match.verdict is not None):
            self.visit.player.away()

    def heard(self) -> None:
        """The bot is heard again."""
        if self.visit is not None and self.visit.current:
            self.visit.player.back()

    def ended(self) -> None:
        """The match has ended, and the bot has been told."""
        if self.state in (State.PLAYING, State.AWAY):
            self.happens(Happening.ENDED)
        self._let_go_of_match()
        self.taken_out()

    def failed(self, error: Exception) -> None:
        """Serving the bot has raised `error`. If the fault is ours, nobody loses the match that it plays.

        A bot that can come back does so when a link between hosts is lost, and goes on. Its clock gets back
        the time in which it may have said something that was lost.
        """
        self.unread = True
        if self.seat is None or self.visit is None:
            return
        match, now = self.seat.match, trio.current_time()
        if is_ours(error):
            match.fail(now)
        elif isinstance(error, Severed) and self.visit.token is None:
            match.void(verdicts.link_lost(self.visit.player.name), now, Fault.HOST)
        elif isinstance(error, Severed) and self.seat.to_move:
            match.credit(error.silent, now)

    # Going

    def leave(self, *, for_good: bool = False) -> None:
        """Let go of the place: the bot may come again, and its player may wait for it."""
        if self.visit is not None:
            self.happens(Happening.LEFT)
            self._log("left")
            self._let_go(for_good)

    def note_cut(self, why: str) -> None:
        """Note in the match that the host hangs up because of what the bot has done.

        A host that stops hangs up on everybody, so then this notes nothing.
        """
        if self.seat is not None and not self.over and not self._host.draining:
            self.seat.cut_off(why)

    def hang_up(self, why: Happening = Happening.CUT) -> None:
        """Hear and say nothing more. The bot's place is let go of when its connection is lost."""
        self.happens(why)
        self.cut = True
        if self._follower is not None:
            self._follower.stop()

    def lost(self, *, for_good: bool = False) -> None:
        """The connection is lost."""
        if self.visit is not None and not self.over:
            self._log("crashed" if self._on_its_turn else "left")
            if self.hangs_up:
                self._note_hang_up(self.visit)
        self.happens(Happening.LOST)
        self._let_go(for_good)

    def _note_hang_up(self, visit: Visit) -> None:
        """Note it of a bot that has moved in no match since the last one ended."""
        seat = visit.player.seat
        if visit.player.place and (seat is None or not seat.match.has_moved(seat.index)):
            self._host.one_match_each.note(visit.key)

    def hand_back(self) -> None:
        """Hand the bot back to the process that let it in."""
        self.happens(Happening.LOST)
        self._let_go(for_good=False)

    def _let_go(self, for_good: bool) -> None:
        visit, self.visit = self.visit, None
        self._stop_waiting()
        self._let_go_of_match()
        if visit is not None:
            if visit.player.taker is self:  # otherwise another connection has come in its place
                visit.player.taker = NOBODY
                visit.player.connection = None
            visit.leave(for_good=for_good)
        if self.over:  # nothing is told any more, and dialect and attendance would keep each other alive
            self._tell, self._dealt, self._resumed = None, _nobody, None
            self._replaced, self._tournament_over, self._taken_out = _silence, _no_news, _silence
            self._moved = _nowhere

    def _let_go_of_match(self) -> None:
        if self._follower is not None:
            self._follower.stop()  # or it, the log and all positions of the match would stay alive
        self.seat = self._follower = None
        self.tape = NO_TAPE

    def _give_way(self, why: str) -> None:
        """Another connection with the same token has taken over."""
        seat = self.seat
        try:
            self._replaced(why)
        except Exception as error:  # ours, and it must keep nobody from coming in its place
            self._host.guard.report(error)
            if self.wire is not None:
                self.wire.close()  # or the bot would wait for ever
        if self._successor is None:
            if self._follower is not None:
                self._follower.stop()
            if seat is not None:
                seat.here()  # by that connection, though it may have been missed over this one
            if not self.over:
                self.happens(Happening.REPLACED)
            tape = self.tape
            self._let_go(for_good=False)
            if seat is not None and seat.match.elsewhere:
                self.tape = tape  # for what was said there, which comes back with the connection

    @property
    def _on_its_turn(self) -> bool:
        seat = self.seat
        return seat is not None and seat.match.verdict is None and seat.to_move

    def _log_coming(self, visit: Visit, wishes: Wishes) -> None:
        self._log(
            "returned" if visit.returned else "came", door=wishes.get("door", ""), game=visit.player.game
        )

    def _log(self, event: str, **more: str) -> None:
        if self.visit is not None and self.visit.player.place:  # otherwise the process that let it in says so
            player = self.visit.player
            match = {} if self.seat is None else {"match": self.seat.match.name}
            seconds = None if self.wire is None else self.wire.round_trip()
            way = {} if seconds is None else {"round_trip": round(seconds, 4)}
            # By `bind`: structlog looks in vain for `info` itself, which costs more than a hidden line.
            log.bind().info(
                event, peer=self.peer, player=player.name, tournament=player.place, **match, **way, **more
            )

    def hear_the_end(self, tournament: HeldTournament, fact: AnyFact) -> None:
        if not self.over:
            self.happens(Happening.TOURNAMENT_OVER)
            try:
                self._tournament_over(tournament, fact)
            except Exception as error:  # ours, and all others are to hear the end
                self._host.guard.report(error)
                self._untold()

    def taken_out(self) -> None:
        """Have the bot told if it waits in vain, because an organiser has taken it out."""
        if self._why_out() is not None:
            self._host.guard.start_soon(self._hear_why_out)

    async def _hear_why_out(self) -> None:
        """Tell the bot why it is out, after the dialect has done all that it does when a match ends."""
        if self.state in (State.IN, State.AWAY) and (why := self._why_out()) is not None:
            if self.state is State.IN and self.visit is not None:
                held = self._host.tournaments[self.visit.player.place or ""]
                self._host.untold.has_heard(held.record, self.visit.player.name)
            self.happens(Happening.TAKEN_OUT)
            try:
                self._taken_out(str(why))
            except Exception:
                self._untold()
                raise

    def _why_out(self) -> Refusal | None:
        """Why nothing more is dealt to the bot, if it plays nothing; None if it may be, or all is over."""
        player = None if self.visit is None else self.visit.player
        held = None if player is None else self._host.tournaments.get(player.place or "")
        if player is None or held is None or self.seat is not None or held.record.state is Stage.FINISHED:
            return None
        return taken_out(held.record, player.name)


def _nowhere() -> None:
    """Where nobody asks where a bot is."""


def _silence(why: str) -> None:
    """There is nobody to be told why."""


def _no_news(tournament: HeldTournament, fact: AnyFact) -> None:
    """There is nobody to be told of a tournament."""


def _nobody(seat: Seat) -> None:
    """Takes seats of a player that no connection holds: the next connection looks for the seat."""
