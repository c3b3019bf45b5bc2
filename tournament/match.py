"""One match: the referee.

A `Match` does no I/O and waits for nothing. Whoever holds a seat calls `play`,
which either moves the game on and writes to the log, or raises `Illegal` and
changes nothing but, where the game says so, the result. The time is always an
argument.

A match ends in two steps, because a result may be announced only when it is
safe. The call that decides the match sets `verdict` and passes the match to
`decided`; its provider calls `announce` when the store has the result, and only
then do the last move and the ending get into the log. Until then nobody who
looks at the match can see that it is over.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import inf
from typing import Any

from msgspec import structs

from games.game import Game, Illegal, Pace
from games.soundness import expect_sound
from tournament import causes, verdicts
from tournament.asides import Aside, Incident, Remark, Thought, away, before, happened, noted, trouble
from tournament.causes import Cause, bounded
from tournament.clock import Clock
from tournament.events import (
    HOST_FAILED,
    AnyEvent,
    Began,
    Credited,
    Disconnected,
    Ended,
    Ending,
    Fault,
    Moved,
    Refused,
    Returned,
)
from tournament.log import Log
from tournament.notes import MOST, Note, Noted, Notes, room, size
from tournament.thinking import UNTOLD, Seconds, thinking
from tournament.verdicts import Gone

PRESENT = [None, None]  # nobody is gone
NONE_UNTOLD: dict[int, Disconnected] = {}  # shared by nearly all matches, and never changed
NOTED = 0.1  # seconds: a shorter stall of the host is not told, because it decides nothing
LOSSES = 20  # lost connections of a seat that are told in a match: more of them say nothing new
GRACE = 30.0  # seconds that a player may be gone in the middle of a match and still go on with it
REFUSALS = 20  # in one match: enough for an honest author to notice a fault, and a bound on the host's work


class OutOfTurn(Illegal):
    """It is the other seat's turn, or nobody's. Costs nothing, whatever the game says about faults."""


class Match:
    # Where there are more than thirty attributes, each match would have a dictionary of its own, of 1.3 KB.
    __slots__ = (
        "__weakref__",
        "_counts",
        "_credited",
        "_decided",
        "_early_grace",
        "_eventful",
        "_excused",
        "_gone",
        "_last",
        "_losses",
        "_paused",
        "_played_before",
        "_ply_limit",
        "_refusals",
        "_replayable",
        "_room",
        "_untold",
        "asides",
        "begun",
        "clock",
        "dealt_at",
        "epoch",
        "game",
        "grace",
        "ignored",
        "interrupted",
        "log",
        "meant",
        "moves",
        "name",
        "names",
        "on_its_way",
        "options",
        "positions",
        "receipt",
        "times",
        "to_move",
        "unanswered",
        "verdict",
    )

    elsewhere = False  # whether another process plays the match, and this stands in for it
    taken_back = 0  # how often moves were, that the process which played them had not kept

    def __init__(
        self,
        game: Game[Any, Any],
        names: tuple[str, str],
        at: float,
        *,
        name: str = "",
        pace: Pace | None = None,
        options: Mapping[str, object] | None = None,
        refusals: int = REFUSALS,
        grace: float = GRACE,
        replayable: bool = True,
        excused: tuple[bool, bool] = (False, False),
        early_grace: float = inf,
        kept: tuple[Sequence[Any], Sequence[float]] | None = None,
        asides: Sequence[Aside] = (),
        epoch: float = 0.0,
        dealt_at: float | None = None,
        decided: Callable[["Match", Ended], None] | None = None,
    ) -> None:
        """Constructing a match begins it. Without `decided`, its end is announced at once.

        If neither player is there, it is void and may be played again; if not `replayable`, both lose. If a
        player that is `excused` is gone before both have moved, it is void as well. A player that has been
        here and goes is waited for no longer than `grace`, and before its first move than `early_grace`.

        A match that the host's stop has interrupted goes on from the moves that were `kept` and the seconds
        spent on them, with the `asides` to these; raises `Illegal` if no match can go on from them. The
        caller then holds both seats: a player that does not come back loses nothing by that, because the
        match is void.

        `epoch` is the wall clock's time, in seconds, when the event loop's was 0, and `dealt_at` that when it
        was dealt; None: nobody knows.
        """
        self.game = game
        self.names = names
        self.name = name
        self.options = options or {}
        self.epoch = epoch
        self.positions = [game.opening(self.options)]
        expect_sound(None, self.position)
        self.moves: list[Any] = []  # as the game writes them: `positions[n]` is after n of them …
        self.times: list[float] = []  # … and the seconds spent on each
        self.clock = Clock(pace or game.pace)
        self.log = Log()
        self.verdict: Ended | None = None
        self.receipt = ""  # of the store, for the result: there when the end is announced
        self.to_move: int | None = self.position.turn  # the seat whose move is awaited
        self._ply_limit = game.longest(self.options)
        self.grace = grace
        self._refusals = refusals
        self._replayable = replayable
        self._excused = excused
        self._early_grace = early_grace
        self._counts = [0, 0]
        self._decided = decided or announce_at_once
        self._gone: list[Gone | None] = [None, None]
        self._losses = [0, 0]  # lost connections
        self._untold = NONE_UNTOLD  # by seat: how it is gone now, if it was too often for that to be told
        self._credited = 0.0  # seconds given back that were not told yet
        self._eventful = False  # whether anything but moves has been told
        self.asides: list[Aside] = []  # what was said and happened beside the moves, in the order of plies
        self._room = MOST  # characters of notes that are still kept
        self._paused: float | None = None
        # For each seat, how many bytes of a line without its end have come; None: nobody can know.
        self.begun: list[Callable[[], int] | None] = [None, None]
        # For each seat, for how many seconds its machine has answered nothing; None: nobody can know.
        self.unanswered: list[Callable[[], float] | None] = [None, None]
        # For each seat, whether what its bot had said by some time may not be here yet; None: all of it is.
        self.on_its_way: list[Callable[[float], bool] | None] = [None, None]
        # For each seat, the latest ply at which a move came that was sent for another, and which that was.
        self.meant: list[tuple[int, int] | None] = [None, None]
        # The same of a message that was no move, and why it had no effect.
        self.ignored: list[tuple[int, str] | None] = [None, None]
        self._last: tuple[AnyEvent, Any] | None = None  # the deciding move, held back with the verdict
        self.interrupted = kept is not None
        self.dealt_at = dealt_at
        self._played_before = 0.0 if kept is None else sum(kept[1])  # seconds
        self.log.append(Began(at, names))
        if kept is not None:
            self.asides += asides[: before(asides, len(kept[0]))]
            lost = away(self.asides)
            self._gone = [Gone(seat, at, inf, seat in lost, returns=True) for seat in (0, 1)]
            incidents = deque(happened(self.asides, epoch))
            self._restore_incidents(incidents)
            for move, spent in zip(*kept, strict=True):
                self._restore(move, spent, at)
                self._restore_incidents(incidents)
            self._room = room(noted(self.asides))
        self.clock.start(self.position.turn, at)

    # What can be seen

    @property
    def position(self) -> Any:
        return self.positions[-1]

    @property
    def ply(self) -> int:
        return len(self.moves)

    def looked_at(self) -> "Match":
        """The match, about to be looked at: a replica in another process takes in what it was told."""
        return self

    @property
    def result(self) -> Ended | None:
        """How it ended, once that has been announced."""
        last = self.log.events[-1]
        return last if isinstance(last, Ended) else None

    @property
    def both_have_moved(self) -> bool:
        """Whether each seat has made a move, including the deciding one."""
        return self.has_moved(0) and self.has_moved(1)

    def has_moved(self, seat: int) -> bool:
        """Whether a seat has made a move, including the deciding one."""
        decided = self._last is not None and isinstance(self._last[0], Moved) and not self.log.closed
        before = islice(self.positions, len(self.moves) + decided)
        return any(position.turn == seat for position in before)

    def early_grace(self, seat: int) -> float:
        """Seconds that a seat may be gone because it has not moved yet; infinite where it has."""
        return inf if self.has_moved(seat) else self._early_grace

    def awaits_return(self, seat: int) -> bool:
        """Whether a seat has not been here since the host was started again."""
        gone = self._gone[seat]
        return gone is not None and gone.returns

    @property
    def deadline(self) -> float:
        """The next instant after which `flag` may have something to decide."""
        if self.verdict is not None:
            return inf
        return self.clock.deadline if self._gone == PRESENT else min(self.clock.deadline, self._gone_until)

    @property
    def given_up_at(self) -> float:
        """When it ends if the player that is gone now does not come back; -inf while nobody is waited for."""
        if self.verdict is not None or self._gone == PRESENT:
            return -inf
        mover_is_gone = self._gone[self.position.turn] is not None
        until = min(self._gone_until, self.clock.deadline if mover_is_gone else inf)
        return until if until < inf else -inf

    def left(self, at: float) -> tuple[float | None, float | None]:
        """Seconds on both clocks."""
        return self.clock.left(0, at), self.clock.left(1, at)

    @property
    def cause(self) -> tuple[Cause, ...]:
        """What has led to the end, or may lead to one, oldest first; by the event loop's time."""
        ended = self.result
        return bounded(verdicts.gathered(self.log.events)) if ended is None else ended.cause

    def wall(self, at: float) -> float:
        """A time of the event loop as the wall clock has it: seconds since the epoch."""
        return self.epoch + at

    @property
    def began(self) -> float | None:
        """When it was dealt, by the wall clock; None if nobody knows.

        A wall clock may have been put back since: it never says that less time has passed than was played.
        """
        latest = round(self.wall(self.log.events[0].at) - self._played_before, 3)
        if self.dealt_at is None:
            return None if self.interrupted else latest
        return min(self.dealt_at, latest)

    def thinking(self) -> tuple[Seconds, Seconds]:
        """Seconds that each bot says it has spent, and by how many more its moves took longer."""
        return thinking(self.asides, self.positions, self.moves_and_times()[1]) if self.asides else UNTOLD

    @property
    def notes(self) -> Notes:
        """What bots have noted with their moves; nobody may see it before the match is over."""
        return noted(self.asides)

    def moves_and_times(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """Every move and the seconds spent on each, even if the last move has not been announced yet."""
        moves, times = tuple(self.moves), tuple(self.times)
        if self._last is not None and isinstance(last := self._last[0], Moved) and not self.log.closed:
            return (*moves, last.move), (*times, last.spent)
        return moves, times

    # What a seat does

    def play(
        self,
        seat: int,
        sent: object,
        at: float,
        now: float | None = None,
        thought: float | None = None,
        note: Note | None = None,
    ) -> None:
        """Play what was sent, which arrived at `at`; the next clock starts `now`.

        `thought` is how many seconds the bot says it has spent, and `note` is kept with the move.
        """
        clock = self.clock
        if at > clock.deadline or self._gone != PRESENT:  # rare: nearly always nothing has run out
            self.flag(at, heard=self.to_move == seat)
        positions = self.positions
        position = positions[-1]
        if self.to_move != seat:
            raise OutOfTurn(
                "the match is over" if self.verdict is not None else "it is the other player's turn"
            )
        try:
            move = self.game.read(sent, position)
            after = position.play(move)
        except Illegal as refusal:
            self._refuse(seat, sent, str(refusal), at)
            raise
        written = self.game.write(move)
        expect_sound(written, after)
        if self._credited:
            self._tell_credit(at)
        spent = clock.stop(at)  # no await from here …
        moved = Moved(at, seat, len(positions), written, spent, clock.left(seat, at))
        if thought is not None:  # before the match may end: whoever learns of its end learns of all of it
            self.asides.append(Thought(moved.ply, thought))
        if note is not None:
            self._annotate(moved.ply, seat, note)
        if after.outcome is not None:
            self._last = moved, after
            self._end(self._played(at, after.outcome.winner, after.outcome.why))
        elif moved.ply == self._ply_limit:
            self._last = moved, after
            self._end(self._played(at, None, f"{moved.ply} plies were played, which makes it a draw"))
        else:
            self.moves.append(moved.move)  # not by `_add`, because this runs for every move
            self.times.append(spent)
            positions.append(after)
            turn: int = after.turn
            self.to_move = turn
            if (gone := self._gone[turn]) is None or not gone.held:
                clock.start(turn, at if now is None or now < at else now)
            self.log.append(moved)  # … to here

    def resign(self, seat: int, at: float) -> None:
        self.flag(at)
        if self.verdict is None:
            why = f"{self.names[seat]} resigned"
            self._end(Ended(at, 1 - seat, Ending.RESIGNED, why, None, bounded(self._led(at))))

    def forfeit(self, seat: int, sent: object, why: str, at: float) -> None:
        """Lose by what was sent, in turn or not: it breaks a rule of which the position knows nothing."""
        self.flag(at)
        if self.verdict is not None:
            raise OutOfTurn("the match is over")
        self._counts[seat] += 1
        self._lose(Refused(at, seat, self.ply, sent, why, self._counts[seat]), budget=False)

    # Who is there

    def hold(self, seat: int, until: float, at: float, *, lost: bool = False) -> None:
        """Hold a seat that has not come yet: its clock stands still. It loses if it has not come by `until`.

        The same goes for a seat whose connection was `lost`, where the protocol lets its clock
        wait.
        """
        self._be_gone(seat, until, at, lost=lost, held=True)
        if self.clock.running == seat:
            self.clock.halt(self.clock.since)

    def away(self, seat: int, until: float, at: float, *, lost: bool = True) -> None:
        """A seat lost its connection: its clock runs on, and it loses if it is not back by `until`.

        The same goes for a seat that seems to be gone, although no connection was `lost`.
        """
        if self._gone[seat] is None:
            self._be_gone(seat, until, at, lost=lost)

    def _be_gone(self, seat: int, until: float, at: float, *, lost: bool, held: bool = False) -> None:
        self.flag(at)  # what ran out before that is not for want of this seat
        if (before := self._gone[seat]) is not None and before.for_good:
            return
        came, returns = lost or not held, self.awaits_return(seat)
        was_lost = returns and before is not None and before.lost  # which was told before the restart
        self._gone[seat] = Gone(seat, at, until, lost or was_lost, held, came, returns)
        if lost and self.verdict is None and not self._was_cut_off(seat):
            self._lose_connection(seat, at)

    def cut_off(self, seat: int, why: str, at: float) -> None:
        """The host hangs up on a seat, because of what its bot did. Call this before `away` or `leave`."""
        self.flag(at)
        if self.verdict is None:
            self._lose_connection(seat, at, why)

    def leave(self, seat: int, at: float, *, out: bool = False) -> None:
        """A seat is gone for good, or taken `out` by an organiser. Its opponent wins, now or later.

        Where it is later, because the opponent is not there, one that is out can neither move nor win, so it
        loses by that and by no clock.
        """
        self.flag(at)
        if out:
            self.clock.halt(at)
        gone = self._gone[seat] or Gone(seat, at)
        self._gone[seat] = structs.replace(gone, until=-inf, out=out, returns=gone.returns and not out)
        self.flag(at)

    def here(self, seat: int, at: float) -> None:
        """A seat has come, or come back."""
        self.flag(at)
        if (gone := self._gone[seat]) is not None:
            if gone.for_good:
                return
            if gone.lost and self.verdict is None and self._losses[seat] <= LOSSES:
                self._note(Returned(at, self.ply, seat=seat))
            self._gone[seat] = None
            if seat in self._untold:
                self._untold = {other: each for other, each in self._untold.items() if other != seat}
            if gone.held and self.to_move == seat:
                self.clock.start(seat, at)
        self.flag(at)  # if the opponent has been gone for too long, this seat wins now

    # What the host does

    def flag(self, at: float, *, heard: bool = False) -> None:
        """End the match if somebody's time has run out.

        What ran out first decides; of two at once, the clock of the seat to move.
        The result does not depend on how late or how often this is called.
        While a move in time may be on its way here, this decides nothing, unless the mover is `heard` late.
        """
        if self.verdict is not None or at <= self.deadline:
            return
        names, clock = self.names, self.clock
        gone = [each for each in self._gone if each is not None]
        if clock.deadline <= self._gone_until:
            mover: int = self.position.turn
            if not heard and (on_its_way := self.on_its_way[mover]) and on_its_way(clock.deadline):
                return
            begun = 0 if (count := self.begun[mover]) is None else count()
            silent = None if (seconds := self.unanswered[mover]) is None else seconds() or None
            ply, meant = self.meant[mover] or (None, None)
            meant = meant if ply == self.ply else None
            ply, ignored = self.ignored[mover] or (None, "")
            ignored = ignored[: causes.SENT] if ply == self.ply else ""
            spent = clock.spent(at)
            late = causes.Late(at, mover, self.ply, clock.allowed, spent, begun, meant, silent, ignored)
            lost_at = next((each.since for each in gone if each.seat == mover and each.lost), None)
            self._end(verdicts.out_of_time(names, late, self._led(at), lost_at, clock.deadline))
        elif missing := [names[each.seat] for each in gone if each.returns]:
            self._end(verdicts.not_resumed(missing, at, self._led(at)))
        elif len(gone) == 1:
            void = self._excused[gone[0].seat] and not self.both_have_moved
            self._end(verdicts.left(names, gone[0], at, self._led(at), void=void))
        else:
            self._end(verdicts.both_gone(gone, at, self._led(at), void=self._replayable))

    def credit(self, seconds: float, at: float) -> None:
        """The host stalled: give that time back to the clocks and to whoever is away."""
        if self.verdict is None and self._paused is None:
            given = self.clock.credit(seconds, at)
            self._credited += given if given >= NOTED else 0.0
            self._wait_longer(seconds, at)

    def pause(self, at: float) -> None:
        """Stop all time: nothing runs out until `resume`. Moves may still be played."""
        if self._paused is None:
            self._paused = at
            self.clock.pause(at)

    def resume(self, at: float) -> None:
        if self._paused is not None:
            waited, self._paused = at - self._paused, None
            self._wait_longer(waited, at)
            self.clock.resume(at)
            self.flag(at)  # somebody may have left for good meanwhile

    def void(self, why: str, at: float, fault: Fault | None = None) -> None:
        """Stop a match that is to count for nothing, because of that `fault`, if there is one."""
        if self.verdict is None:
            self._last = None
            self._end(Ended(at, None, Ending.VOID, why, fault, bounded(self._led(at))))

    def fail(self, at: float) -> None:
        """Something of ours has failed, so nobody can lose this match."""
        self.void(HOST_FAILED, at, Fault.HOST)

    def differ(self, seat: int, at: float) -> None:
        """Void the match: a seat was told of moves that were not kept when the host stopped."""
        self.void(verdicts.not_kept(self.names[seat]), at, Fault.HOST)

    def announce(self) -> None:
        """The verdict is safe: let everybody know it, with the deciding move."""
        if self.verdict is None or self.log.closed:
            return
        events: list[AnyEvent] = [self.verdict]
        if self._last is not None:
            last, after = self._last
            if isinstance(last, Moved):
                self._add(last, after)
            events.insert(0, last)
        self.log.append(*events)

    def when_told(self, call: Callable[[], None]) -> None:
        """Have `call` called when everybody has been told how the match ended: here, at once."""
        call()

    # Within

    @property
    def _gone_until(self) -> float:
        """Until when the match waits for a player that is gone; for the later of the two, if both are."""
        if self._paused is not None:
            return inf
        return max((gone.until for gone in self._gone if gone is not None), default=inf)

    def _wait_longer(self, seconds: float, at: float) -> None:
        """Give whoever is gone that time back: never more than it has been gone."""
        for gone in self._gone:
            if gone is not None:
                given = min(seconds, max(0.0, at - gone.since))
                self._gone[gone.seat] = structs.replace(gone, until=gone.until + given)

    def _was_cut_off(self, seat: int) -> bool:
        """Whether the host hung up on a seat that is gone; the log is read only if it can say so."""
        if seat in self._untold:
            return bool(self._untold[seat].why)
        told = 0 < self._losses[seat] <= LOSSES
        return told and bool(verdicts.cut_off(verdicts.gathered(self.log.events), seat))

    def _lose_connection(self, seat: int, at: float, why: str = "") -> None:
        self._losses[seat] += 1
        lost = Disconnected(at, self.ply, seat=seat, why=why)
        if self._losses[seat] <= LOSSES:
            self._note(lost)
        else:
            self._untold = {**self._untold, seat: lost}

    def _refuse(self, seat: int, sent: object, why: str, at: float) -> None:
        self._counts[seat] += 1
        self.ignored[seat] = None  # that was not its last message
        refused = Refused(at, seat, self.ply, sent, why, self._counts[seat])
        forfeit = self.game.faults == "forfeit"
        if forfeit or self._counts[seat] >= self._refusals:
            self._lose(refused, budget=not forfeit)
        else:
            self._note(refused)

    def _lose(self, refused: Refused, *, budget: bool) -> None:
        """Lose by a refusal, which is announced together with the result."""
        self._last = refused, None
        self._end(verdicts.illegal(self.names, refused, self._led(refused.at), budget=budget))

    def _played(self, at: float, winner: int | None, why: str) -> Ended:
        return Ended(at, winner, Ending.PLAYED, why, None, bounded(self._led(at)))

    def _led(self, at: float) -> list[Cause]:
        """The causes of an end that is decided `at` that time."""
        if self._credited:
            self._tell_credit(at)
        return verdicts.gathered([*self.log.events, *self._untold.values()]) if self._eventful else []

    def _annotate(self, ply: int, seat: int, note: Note) -> None:
        """Keep a note, if there is room for it."""
        if (needed := size(note)) <= self._room:
            self._room -= needed
            self.asides.append(Remark(Noted(ply, seat, note)))

    def _note(self, event: Incident) -> None:
        """Tell an event other than a move."""
        self._eventful = True
        self.asides.append(trouble(event, self.epoch))
        self.log.append(event)

    def _tell_credit(self, at: float) -> None:
        """Tell all that was given back since the last move, at once: a stall concerns a thousand matches."""
        seconds, self._credited = self._credited, 0.0
        self._note(Credited(at, self.ply, seconds=seconds))

    def _restore(self, written: Any, spent: float, at: float) -> None:
        """Play again a move that was played before the host stopped."""
        seat: int = self.position.turn
        move = self.game.read(written, self.position)
        after = self.position.play(move)
        if after.outcome is not None or len(self.positions) == self._ply_limit:
            raise Illegal("this match was over")
        rewritten = self.game.write(move)
        expect_sound(rewritten, after)
        self.clock.charge(seat, spent)
        moved = Moved(at, seat, len(self.positions), rewritten, spent, self.clock.left(seat, at))
        self._add(moved, after)
        self.to_move = after.turn
        self.log.append(moved)

    def _restore_incidents(self, incidents: deque[Incident]) -> None:
        """Tell again what went wrong between the last move and the next."""
        while incidents and incidents[0].ply <= self.ply:
            match event := incidents.popleft():
                case Refused(seat=seat):
                    self._counts[seat] = event.count
                case Disconnected(seat=seat):
                    self._losses[seat] += 1
                case _:
                    pass
            self._eventful = True
            self.log.append(event)

    def _add(self, moved: Moved, after: Any) -> None:
        self.moves.append(moved.move)
        self.times.append(moved.spent)
        self.positions.append(after)

    def _end(self, verdict: Ended) -> None:
        if verdict.cause and verdict.cause[-1].at > verdict.at:  # a relayed move may become known late
            verdict = structs.replace(verdict, at=verdict.cause[-1].at)
        self.clock.halt(verdict.at)
        self.verdict = verdict
        self.to_move = None
        self.begun = [None, None]
        self._decided(self, verdict)


def announce_at_once(match: Match, verdict: Ended) -> None:
    """The `decided` of matches whose results need not be stored first."""
    match.announce()
