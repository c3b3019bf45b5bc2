"""Connections that another process may serve for one match: what TCP and websockets share in this.

At home the connection is let go of and taken back; what is said here meanwhile is kept, and sent then.
In the other process a similar connection serves the bot from its seat on, and is called back when the
match is over.
"""

from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Literal, cast

import structlog
import trio

from server.host.passing import Passed
from server.host.wire_log import Tape, TapeSnapshot
from server.net.limits import BudgetLeft, Limits
from server.net.outbox import Outbox
from server.net.sockets import SocketWire
from server.net.still_there import VANISHED
from server.net.time_limits import within
from server.net.wire import Piece, Wire
from server.protocols.dialect import Leaves, Movable, Talk
from tournament.player import Seat

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Passable:
    """A `Passing`; the connection's own class knows how it reads."""

    __slots__ = ("_ahead", "_called_back", "_outbox", "_parted", "_recall", "_talk", "_tape", "_wire")

    door: Literal["tcp", "websocket"]

    def __init__(self, wire: Wire, outbox: Outbox, ahead: Sequence[Piece]) -> None:
        self._wire = wire
        self._outbox = outbox
        self._ahead = ahead  # bytes that were read and are still to be taken
        self._talk: Talk | None = None
        self._recall: Callable[[], None] | None = None  # calls it back, while another process serves it
        self._called_back = False  # whether it has been called back to where it came in
        self._parted: trio.Event | None = None  # set when the other process has said what became of it
        self._tape: Tape | None = None  # of a bot that was let go of here while it was away, or replaced

    @property
    def _unread(self) -> bytes:
        """What has come of the next message."""
        raise NotImplementedError

    @property
    def _dialect(self) -> tuple[str, str] | None:
        """The dialect's name and the path, if its bots may be passed on."""
        raise NotImplementedError

    def _take(self, received: bytes) -> None:
        """Take what has come."""
        raise NotImplementedError

    def _take_ahead(self) -> None:
        ahead, self._ahead = iter(self._ahead), ()
        for received, self._wire.arrived in ahead:
            try:
                self._take(received)
            except Leaves as leaves:
                leaves.pieces += tuple(ahead)
                raise

    def _pump(self, until: float) -> Awaitable[bool]:
        """Take what comes until then; False if the peer has not finished: time is up, or it was interrupted.

        A bot that is in has no such time, and no scope for it: that would be the largest thing it holds.
        """
        pumping = self._wire.pump(self._take)
        return pumping if until == inf else _until(until, pumping)

    def _parked(self, until: float) -> bool:
        """Whether what comes is taken without a task until there is something else to do."""
        return until == inf and self._wire.park(self._take)

    @property
    def _movable(self) -> Movable | None:
        """The talk over it, which can be passed on if its dialect's bots may be."""
        return cast("Movable | None", self._talk)  # whatever `goes_on` is: to ask the type takes long

    # Where it came in

    def pass_on(self, recall: Callable[[], None]) -> Passed | None:
        where, talk = self._dialect, self._movable
        if self._recall is not None or where is None or talk is None:
            return None
        if not isinstance(self._wire, SocketWire) or not self._outbox.empty or self._unread or self._ahead:
            return None
        if (words := talk.remembered()) is None or (passed := self._wire.let_go(counted=False)) is None:
            return None
        self._recall = recall
        self._outbox.hold()
        name, path = where
        return Passed(
            self.door,
            name,
            path,
            self._wire.peer,
            self._wire.secure,
            words,
            talk.attendance.budget.left,
            passed,
        )

    def stay(self) -> None:
        self._is_not_away()
        self._wire.take_back()
        self._outbox.release()

    def acknowledged(self) -> None:
        if (talk := self._movable) is not None:
            talk.acknowledged()

    def back(
        self,
        pieces: Sequence[Piece],
        tape: TapeSnapshot,
        home: tuple[Seat, int] | None,
        budget: BudgetLeft | None,
    ) -> None:
        if self._recall is None:
            return
        self.stay()
        if (talk := self._movable) is not None:
            talk.attendance.tape.repeat(tape)
            talk.attendance.budget.go_on(budget)
            talk.came_back(over=home is None)
            if home is not None and talk.attendance.current:
                talk.attendance.go_on(*home)
            if pieces:
                self._ahead = pieces
                self._wire.interrupt()  # to take these first
        elif self._tape is not None:
            self._tape.repeat(tape)

    def left(self, tape: TapeSnapshot, *, for_good: bool, cut: bool) -> None:
        self._is_not_away()
        if (talk := self._talk) is not None:
            talk.attendance.tape.repeat(tape)
            if for_good:
                talk.attendance.leave(for_good=True)
            if cut:
                talk.attendance.hang_up()
            talk.attendance.lost()
        elif self._tape is not None:
            self._tape.repeat(tape)

    def close(self) -> None:
        self._is_not_away()
        self._wire.close()

    async def hung_up(self) -> bool:
        if not self._wire.ended:
            return False
        if self._recall is not None:
            if self._parted is None:
                self._parted = trio.Event()
            await self._parted.wait()
        return True

    async def vanished(self) -> bool:
        if await self._wire.still_there():
            return False
        log.info("cut", peer=self._wire.peer, why=VANISHED)
        self._outbox.cut(VANISHED)
        await self.hung_up()
        self._gone()
        return True

    def _is_not_away(self) -> None:
        self._recall = None
        if self._parted is not None:
            self._parted.set()
            self._parted = None

    def _gone(self) -> None:
        """Serve nobody here any more. What is left to say is sent when the connection is back."""
        talk, self._talk = self._talk, None  # it talks through this, and they would keep each other alive
        if talk is not None:
            if self._recall is not None:
                self._tape = talk.attendance.tape
            if self._outbox.too_slow:
                talk.attendance.note_cut(self._outbox.too_slow)
            talk.attendance.unread |= not self._outbox.empty or self._outbox.cut_reason is not None
            try:
                talk.gone()
            except Exception:
                talk.attendance.lost()  # all the same, or matches are dealt to a bot that is not here
                raise
        if self._recall is not None:
            self._recall()

    # In the other process

    def call_back(self) -> None:
        """Call the connection back: the bot was told how its match ended, or goes on with it at home."""
        self._called_back = True
        self._wire.interrupt()

    async def _is_called_back(self, limits: Limits) -> bool:
        """Whether it goes back to where it came in, once it has been sent all that was said to it here."""
        return self._called_back and await self._outbox.drained(limits.outbox_seconds)


async def linger(wire: Wire, limits: Limits) -> None:
    """Wait for the peer to hang up: closed with something unread, the connection would be reset."""
    with within(limits.linger_seconds):
        while True:
            try:
                if await wire.pump(_drop):
                    return
            except Leaves as leaves:  # it was hung up on before it could go
                leaves.turn.over()


def _drop(received: bytes) -> None:
    """Ignore what a peer says after the end."""


async def _until(time: float, pumping: Awaitable[bool]) -> bool:
    with trio.CancelScope(deadline=time):
        return await pumping
    return False
