"""A battle: one player's side of one match, in the words of the Arena.

What happens is told as an event stream, one event a chunk, and kept, so that a
stream that is opened again begins at the beginning. Moves come in requests of
their own. Each side of a match has a battle of its own, whose name nobody else
knows, for that name is all that a request shows for itself.

Who plays, and where the requests come from, is `server/doors/arena.py`'s.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, assert_never
from uuid import uuid4

import trio
from msgspec import UNSET, Struct, UnsetType
from msgspec.json import encode

from games.game import SHOWN, Illegal, quoted
from server.guard import Spawner
from server.http import Chunks, Exchange, Headers, Refusal, json_response
from server.limits import Bucket, Limits
from tournament.events import AnyEvent, Began, Ended, Ending, Moved, Refused
from tournament.match import OutOfTurn
from tournament.player import Seat

FLIP = "(╯°□°)╯︵ ┻━┻"
RECEIVED = "received your command"
PRIVATE = (("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"))  # addresses here are secrets
STREAM: Headers = (("Content-Type", "text/event-stream"), *PRIVATE, ("X-Accel-Buffering", "no"))

OVER = Refusal(423, "Battle already ended")
NOT_STARTED = Refusal(409, "battle not started")
NOT_YOUR_TURN = Refusal(409, "not your turn")


class Command(Struct, frozen=True):
    """A move as a bot sends it; what else it sends is passed over."""

    action: str
    position: str | UnsetType = UNSET


class Battle:
    """One side of a match. `sides` holds the battles of the match by their seats, and is theirs together.

    `ended` is called as soon as the match is over, and `closed` when nothing
    more will be told of it.
    """

    def __init__(
        self,
        seat: Seat,
        sides: dict[int, "Battle"],
        spawner: Spawner,
        limits: Limits,
        *,
        name: str | None = None,
        ended: Callable[["Battle"], None],
        closed: Callable[["Battle"], None],
    ) -> None:
        self.name = name or str(uuid4())
        self.seat = seat
        self.started = False  # its stream has been opened
        self.over = trio.Event()  # nothing more will be told
        self.told: list[bytes] = []  # all events so far
        self._sides = sides
        self._spawner = spawner
        self._limits = limits
        self._ended = ended
        self._closed = closed
        self._stream: Chunks | None = None
        self._deciding: list[tuple[Exchange, Refusal | None]] = []  # to be answered when the result is told
        self._may_flip = False  # the opponent was at fault, and the table still stands
        self._flipped = False  # the last that was told was a flip
        self._junk = Bucket(limits.junk, trio.current_time())
        sides[seat.index] = self
        self._tell({"youAre": seat.name, "id": self.name})
        self._follower = seat.follow(self._hear)

    # What the bot asks

    def start(self, exchange: Exchange) -> None:
        """Tell all so far over this stream, and go on; whoever had the stream before has it no more."""
        before, stream = self._stream, exchange.stream(200, STREAM)
        self._stream = stream
        for event in self.told:
            stream.put(event)
        exchange.on_gone(partial(self._lose, stream))
        if before is not None:
            before.close()
        if not self.started:
            self.started = True
        self.seat.here()

    def play(self, exchange: Exchange, read: Callable[[], Command]) -> None:
        """Take a command, which `read` finds in the request. Raises `Refusal` where it has no effect."""
        match, at = self.seat.match, exchange.request.arrived
        try:
            if self.over.is_set():
                raise OVER
            if match.log.closed:
                self._flip(exchange, read())
                return
            command = read()
            if not self.started:
                raise NOT_STARTED
            self._play(exchange, command, at)
        except Refusal:
            if not self._junk.take(at):
                raise Refusal(429, "too many commands without effect: wait for your turn") from None
            raise

    def _play(self, exchange: Exchange, command: Command, at: float) -> None:
        match = self.seat.match
        refusal = None
        try:
            self.seat.play(_sent(command), at)
        except OutOfTurn:
            if match.verdict is None:
                raise NOT_YOUR_TURN from None
            refusal = OVER
        except Illegal:
            pass  # it has lost, and will see that
        if match.verdict is not None and not match.log.closed:
            self._deciding.append((exchange, refusal))
        elif refusal is not None:
            raise refusal
        else:
            self._accept(exchange)

    def _flip(self, exchange: Exchange, command: Command) -> None:
        """The match is over: all that is left to do is to flip the table, for whoever may."""
        if not self._may_flip or command.action != FLIP:
            raise OVER
        for battle in self._sides.values():
            battle.tell_flip(self.seat.name)
        self._accept(exchange)
        self._close_all()

    def _accept(self, exchange: Exchange) -> None:
        left = self.seat.match.left(trio.current_time())[self.seat.index]
        clock = None if left is None else int(left * 1000)
        answer = {"message": RECEIVED, "moveId": str(uuid4()), "clock": clock}
        exchange.respond(json_response(200, answer, *PRIVATE))

    # What the bot is told

    def _hear(self, event: AnyEvent) -> None:
        match event:
            case Began():
                pass
            case Moved(move=move):
                self._tell_move(event.seat, move)
            case Refused(sent=sent):
                self._tell_move(event.seat, _shown(sent))
            case Ended():
                self._end(event)
            case _:
                assert_never(event)

    def _end(self, ended: Ended) -> None:
        rival = self._sides.get(1 - self.seat.index)
        lost = ended.winner == 1 - self.seat.index
        waits = False
        match ended:
            case Ended(ending=Ending.ILLEGAL) if not lost:
                self._may_flip = waits = True
                self._spawner.start_soon(self._wait_for_flip, self._time_to_flip(ended.at))
            case Ended(ending=Ending.ILLEGAL) if rival is not None:
                waits = True  # for the rival
            case Ended(ending=Ending.ILLEGAL | Ending.TIME | Ending.LEFT) if lost and rival is None:
                self.tell_flip(self.seat.match.game.seats[1 - self.seat.index])
            case Ended(ending=Ending.VOID):
                pass
            case Ended(winner=winner) if not self._flipped:
                self._tell({"winner": "draw" if winner is None else self.seat.match.game.seats[winner]})
            case _:
                pass
        for exchange, refusal in self._deciding:
            ...
