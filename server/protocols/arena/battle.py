"""A battle: one player's side of one match, in the words of the Arena (`messages.py`).

What happens is told as an event stream, one event a chunk, and kept, so that a
stream that is opened again begins at the beginning. Moves come in requests of
their own. Each side of a match has its own battle, whose name nobody else
knows: that name is a request's only credential.

`server/protocols/arena/door.py` decides which requests come here, and
`server/protocols/arena/guest.py` who plays.
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any, Protocol, TypedDict, Unpack, assert_never

import trio
from msgspec import to_builtins
from msgspec.json import encode

from games.game import Illegal
from server.host.secrets import uuid
from server.host.wire_log import NO_TAPE, Tape
from server.http.exchange import Chunks, Exchange
from server.http.head import HttpError
from server.http.wire import Response, refused
from server.net.guard import Spawner
from server.net.limits import Bucket, Limits
from server.protocols.arena.messages import ANSWER, FLIP, STREAM, Command, ended, refused_move, written
from server.protocols.common.encode_once import OnceEncoder
from server.protocols.common.http_tape import requested, responded
from tournament.events import AnyEvent, Began, Ended, Ending, Incident, Moved, Refused
from tournament.log import Follower
from tournament.match import OutOfTurn
from tournament.player import Seat

encode_once = OnceEncoder()  # both sides are told of a move in the same words
WRONG_FLIP = "flipped the table although nothing was wrong"


class Battle:
    """One side of a match. `sides`, the battles of that match by seat, is shared by all of them."""

    def __init__(
        self,
        seat: Seat,
        sides: dict[int, "Battle"],
        spawner: Spawner,
        limits: Limits,
        closed: Callable[["Battle"], None],
        *,
        name: str | None = None,
        tape: Tape = NO_TAPE,
        opened: Callable[[], None] = lambda: None,
        ended: Callable[[], None] = lambda: None,
        wronged: Callable[[], bool] = lambda: False,
        elsewhere: Callable[[], bool] = lambda: False,
    ) -> None:
        """`opened` is called when the stream was opened, `ended` when the player was told the match's end.

        `closed` is called when nothing more will be told, which is later if a table may yet be flipped.

        `wronged` says whether the opponent has cheated and goes on as if nothing had happened, which is
        impossible where the referee checks both sides. `elsewhere` says whether the player has come back
        over another protocol, which nobody else tells a battle that was awaited after a restart of the host.
        """
        self.name = name or uuid()
        self.seat = seat
        self.match = seat.match
        self.started = False  # whether the stream was opened: then a bot is there
        self.expected: float | None = None  # until when the clock waits for that, by the seat's time
        self.over = trio.Event()  # set when nothing more will be told
        self.told: list[bytes] = []  # every event so far
        self._sides = sides
        self._spawner = spawner
        self._limits = limits
        self._tape = tape
        self._opened = opened
        self._ended = ended
        self._closed = closed
        self._wronged = wronged
        self._elsewhere = elsewhere
        self._stream: Chunks | None = None
        self._undecided: list[tuple[Exchange, HttpError | None]] = []  # answered when the result is told
        self._flipping = False  # the match ended by the opponent's fault, and this side may flip the table
        self._flipped = False  # whether the last event told was a flip
        self._was_called = False  # and can have heard it
        self._junk = Bucket(limits.junk, trio.current_time())
        sides[seat.index] = self
        self._tell({"youAre": seat.name, "id": self.name})
        self._follower: Follower | None = seat.follow(self._hear, untold=self._fall_silent)

    def belong(self, **extras: Unpack["Extras"]) -> None:
        """Go on, after a restart of the host, as the battle of a bot that has joined again.

        Having come back by that, it need not have its stream open yet.
        """
        if not self.started:
            self.expect(self._limits.away_seconds)
        self._tape = extras.get("tape", NO_TAPE)
        self._opened, self._ended = extras.get("opened", _nothing), extras.get("ended", _nothing)
        self._elsewhere = extras.get("elsewhere", _never)

    def expect(self, seconds: float) -> None:
        """Have the clock wait for the stream to be opened, but no longer than that."""
        self.seat.hold(seconds)
        self.expected = self.seat.now + seconds

    def await_call(self) -> None:
        """Have the clock wait until the bot has been called, however many the host calls before it."""
        if self._is_to_be_called:
            self.expect(inf)

    def called(self, heard: bool) -> None:
        """The bot has been called, and has its time to come; or it cannot have `heard` of that."""
        if self._is_to_be_called:
            if heard:
                self._was_called = True
                self.expect(self._limits.start_seconds)
            else:
                self.seat.leave()

    @property
    def _is_to_be_called(self) -> bool:
        """Whether a call is waited for: the first, to a bot that has not come by itself after a restart."""
        knows = self.started or self._was_called or self.match.interrupted
        return self.expected is not None and not knows and not self.over.is_set()

    def expect_as_before(self) -> None:
        """Have the clock wait again, no longer than it would have waited."""
        if self.expected is not None and not self.started:
            self.expect(self.expected - self.seat.now)

    @property
    def _rival(self) -> "Battle | None":
        """The other side, if its player is at the Arena too."""
        rival = self._sides.get(1 - self.seat.index)
        return None if rival is None or rival._elsewhere() else rival

    @property
    def streaming(self) -> bool:
        """Whether a stream is open."""
        return self._stream is not None

    # What the bot does

    def start(self, exchange: Exchange) -> None:
        """Tell everything so far and go on, over this stream. An earlier stream is closed."""
        before, stream = self._stream, exchange.stream(200, STREAM)
        self._stream = stream
        self._tape.heard(requested(exchange.request, self.name), exchange.request.arrived)
        for event in self.told:
            self._tape.told(event)
            stream.put(event)
        exchange.on_gone(partial(self._lose, stream))
        if before is not None:
            before.close()
        self.started = True
        self._opened()
        self.seat.here()

    def play(self, exchange: Exchange, read: Callable[[], Command]) -> None:
        """Obey what `read` finds in the request. Raises `HttpError` if that has no effect."""
        request = exchange.request
        self._tape.heard(requested(request, self.name), request.arrived)
        try:
            if self.over.is_set():
                raise ended()
            command = read()
            if not self.started:
                raise HttpError(409, "battle not started")
            if self.match.log.closed:
                self._flip_last(exchange, command)
            else:
                self._move(exchange, command)
        except HttpError as error:
            refusal = error
            self.seat.note_ignored(str(error))
            if not self._junk.take(request.arrived):
                refusal = HttpError(429, "too many commands without effect: wait until it is your turn")
            self._tape.told(responded(refused(refusal.status, str(refusal))))
            try:
                raise refusal from None
            finally:
                del refusal  # it refers to this frame: a reference cycle

    def _move(self, exchange: Exchange, command: Command) -> None:
        match, refusal, at, sent = self.match, None, exchange.request.arrived, to_builtins(command)
        try:
            if command.action == FLIP and not self._wronged():
                self.seat.forfeit(sent, WRONG_FLIP, at)
            else:
                self.seat.play(sent, at)
        except OutOfTurn:
            refusal = HttpError(409, "not your turn") if match.verdict is None else ended()
        except Illegal:
            pass  # answered like any other move, although it loses the match
        if match.verdict is not None and not match.log.closed:
            self._undecided.append((exchange, refusal))
        elif refusal is not None:
            try:
                raise refusal
            finally:
                del refusal  # it refers to this frame: a reference cycle
        else:
            self._answer(exchange)

    def _flip_last(self, exchange: Exchange, command: Command) -> None:
        if not self._flipping or command.action != FLIP:
            raise ended()
        for battle in self._sides.values():
            battle.tell_flip(self.seat.name)
        self._answer(exchange)
        self._close_all()

    def _answer(self, exchange: Exchange) -> None:
        left = self.match.clock.left(self.seat.index, exchange.request.arrived)  # its clock does not run now
        clock = None if left is None else int(left * 1000)
        answer = {"message": "received your command", "moveId": uuid(), "clock": clock}
        self._respond(exchange, Response(200, ANSWER, encode(answer)))

    def _respond(self, exchange: Exchange, response: Response) -> None:
        self._tape.told(responded(response))
        exchange.respond(response)

    def failed(self, error: Exception) -> None:
        """Serving a request of the bot has raised `error`. Nobody loses by a fault of ours."""
        if not isinstance(error, HttpError):
            self.match.fail(trio.current_time())

    # What the bot is told

    def catch_up(self) -> None:
        """Tell what has happened, without waiting for this side's turn to be told."""
        if self._follower is not None:
            self._follower.catch_up()

    def tell_flip(self, who: str) -> None:
        self._tell_move(who, {"action": FLIP})

    def _tell_move(self, who: str, move: Mapping[str, Any]) -> None:
        self._flipped = move.get("action") == FLIP
        self._tell({"player": who, **move})

    def _tell(self, message: Mapping[str, Any]) -> None:
        self._send(written(message))

    def _send(self, event: bytes) -> None:
        self.told.append(event)
        if self._stream is not None:
            self._tape.told(event)
            self._stream.put(event)

    def _hear(self, event: AnyEvent) -> None:
        seats = self.match.game.seats
        if self._elsewhere():
            self._give_way()
            return
        match event:
            case Moved():
                self._flipped = event.move.get("action") == FLIP
                self._send(encode_once(event, _moved, event, seats))
            case Began():
                pass
            case Refused(seat=seat, sent=sent):
                self._tell_move(seats[seat], refused_move(sent, self.match.game, self.match.position))
            case Ended():
                # Else this and the code that it calls would keep each other alive
                then, self._ended = self._ended, _nothing
                self._end(event)
                then()
            case Incident():
                pass  # the protocol is older than these events
            case _:
                assert_never(event)

    def _end(self, verdict: Ended) -> None:
        """Tell how the match ended. After a fault, the other side may flip the table, or the host does so."""
        seats, index = self.match.game.seats, self.seat.index
        rival, lost = self._rival, verdict.winner == 1 - index
        waits = False
        match verdict:
            case Ended(ending=Ending.ILLEGAL) if not lost:
                waits = self._flipping = True
                self._spawner.start_soon(self._wait_for_flip, verdict.at)
            case Ended(ending=Ending.ILLEGAL) if rival is not None:
                waits = True
            case Ended(ending=Ending.ILLEGAL | Ending.TIME | Ending.LEFT) if lost and rival is None:
                self.tell_flip(seats[1 - index])
            case Ended(winner=int(winner)) if not self._flipped:
                self._tell({"winner": seats[winner]})
            case Ended(ending=Ending.PLAYED) if not self._flipped:
                self._tell({"winner": "draw"})
            case _:
                pass  # the flip said so, or nobody has won and it is no draw
        self._answer_undecided()
        if not waits:
            self.close()

    def _answer_undecided(self) -> None:
        """Answer the requests that waited for the result, once both sides have been told of it."""
        undecided, self._undecided = self._undecided, []
        if undecided and (rival := self._rival) is not None:
            rival.catch_up()
        for exchange, refusal in undecided:
            if refusal is None:
                self._answer(exchange)
            else:
                self._respond(exchange, refused(refusal.status, str(refusal)))

    async def _wait_for_flip(self, since: float) -> None:
        left = self.match.left(since)[self.seat.index]
        with trio.move_on_after(min(self._limits.flip_seconds, inf if left is None else left)):
            await self.over.wait()
        self._close_all()

    # How it ends

    def close(self) -> None:
        """Nothing more will be told."""
        if not self.over.is_set():
            self.over.set()
            if self._follower is not None:
                self._follower.stop()
                self._follower = None  # or they would keep each other alive
            if self._stream is not None:
                self._stream.close()
            self._closed(self)
            self._opened = self._ended = _nothing

    def retire(self) -> None:
        """From now on the seat is played over another connection."""
        if self.over.is_set():
            return
        self.seat.here()
        self._give_way()

    def _fall_silent(self) -> None:
        """The player could not be told of the match, by a fault of ours. Nobody waits for it to flip."""
        then, self._ended = self._ended, _nothing
        self._answer_undecided()
        if (rival := self._rival) is not None:
            rival.catch_up()
        self._close_all()
        then()

    def _give_way(self) -> None:
        self._answer_undecided()
        self._sides.pop(self.seat.index, None)
        self.close()

    def _close_all(self) -> None:
        for battle in tuple(self._sides.values()):
            battle.close()

    def _lose(self, stream: Chunks) -> None:
        """The client has hung up. It may come back."""
        if self._stream is stream:
            self._stream = None
            if not (self.match.log.closed or self._elsewhere()):
                self.seat.away()


def _nothing() -> None:
    """A callback that does nothing."""


def _never() -> bool:
    """A condition that is never met."""
    return False


class Extras(TypedDict, total=False):
    """What a battle may be given by name: see `Battle`."""

    name: str | None
    tape: Tape
    opened: Callable[[], None]
    ended: Callable[[], None]
    wronged: Callable[[], bool]
    elsewhere: Callable[[], bool]


class Enrol(Protocol):
    """Opens the battle of a seat, which can then be found by its name."""

    def __call__(self, seat: Seat, **extras: Unpack[Extras]) -> Battle: ...


def _moved(event: Moved, seats: tuple[str, str]) -> bytes:
    return written({"player": seats[event.seat], **event.move})
