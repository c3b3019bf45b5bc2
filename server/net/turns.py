"""Turns: tasks that go on in the order in which something happened, whichever of them trio runs first.

The order is known at one instant, as when a sweep over the sockets finds two names complete. The tasks that
go on with these wake up later, and trio runs those that wake up together in any order. So each takes its
turn at that instant, and waits for it when it runs.

Nobody who may still be waiting for a peer takes a turn: a peer that says nothing would hold up all after it.
A task that has only to begin in order needs no turn: see `start_in_turn` in `server/net/guard.py`.
"""

from collections import OrderedDict, deque
from itertools import islice
from typing import Self

import trio

# Turns whose tasks wake up together. Half the time trio runs them in the order of waking, and all go on in
# one round of the event loop; else only the first does. One by one, each in a flood would take a round.
TOGETHER = 64
ROUNDS = 3  # of the event loop, in which a hang-up is read and taken in


async def after_hang_ups() -> None:
    """Let hang-ups on other connections, which may have come before what was just read, be taken in."""
    for _ in range(ROUNDS):
        await trio.lowlevel.checkpoint()


class Turns:
    def __init__(self) -> None:
        self._turns: dict[Turn, None] = {}  # those that are not over, in the order of taking

    def take(self) -> "Turn":
        """The next turn. Whoever takes it enters it as a context, or those after it wait for ever."""
        turn = Turn(self._turns)
        self._turns[turn] = None
        return turn


class Turn:
    """A place in the order. As a context: it is over at the end, whatever happens."""

    __slots__ = ("_turns", "_waiting")

    def __init__(self, turns: "dict[Turn, None]") -> None:
        self._turns = turns
        self._waiting: trio.Event | None = None  # set to have its task look whether it is next

    async def come(self) -> None:
        """Wait until all earlier turns are over; if they are, this returns at once, without a checkpoint."""
        while not self._is_next():
            self._waiting = trio.Event()
            await self._waiting.wait()

    def over(self) -> None:
        """Let the next one go on: its task does so after the caller's next checkpoint. Twice does no harm."""
        was_next = self._is_next()
        self._turns.pop(self, None)
        if was_next and self._turns and next(iter(self._turns))._waiting is not None:
            for turn in islice(self._turns, TOGETHER):
                turn._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.set()

    def _is_next(self) -> bool:
        return next(iter(self._turns), None) is self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.over()


class OneARound:
    """For tasks that do long work next: they go on one by one, in a round of the event loop each.

    Addresses take turns, and those of one address go on in the order in which they came: whoever comes with
    very many keeps nobody else waiting for more than one of them.
    """

    def __init__(self) -> None:
        self._taken = False  # whether somebody has the turn, or is given it
        self._waiting: OrderedDict[str, deque[trio.Event]] = OrderedDict()  # by address, the next one first

    async def come(self, whose: str = "") -> None:
        """Wait for a turn, for that address."""
        if not self._taken:
            self._taken = True
            try:
                await trio.lowlevel.checkpoint()
            finally:
                self._pass_on()
            return
        given = trio.Event()
        self._waiting.setdefault(whose, deque()).append(given)
        try:
            await given.wait()
        finally:
            if given.is_set():
                self._pass_on()
            else:
                self._give_up(whose, given)

    def _pass_on(self) -> None:
        """Let the next one go on: it wakes up in the next round."""
        self._taken = bool(self._waiting)
        if self._waiting:
            whose, theirs = self._waiting.popitem(last=False)
            theirs.popleft().set()
            if theirs:
                self._waiting[whose] = theirs

    def _give_up(self, whose: str, given: trio.Event) -> None:
        self._waiting[whose].remove(given)
        if not self._waiting[whose]:
            del self._waiting[whose]


class InTurn(trio.abc.Stream):
    """A stream whose reader waits for one of the `turns` after each piece, while pieces lead to long work."""

    def __init__(self, beneath: trio.abc.Stream) -> None:
        self.turns: OneARound | None = None
        self.whose = ""  # the address whose turns they are
        self._beneath = beneath

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._beneath.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._beneath.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        received = await self._beneath.receive_some(max_bytes)
        if self.turns is not None:
            await self.turns.come(self.whose)
        return received

    async def aclose(self) -> None:
        await self._beneath.aclose()
