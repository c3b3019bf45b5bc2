"""Guards, so that what goes wrong with a connection or a match stays with it.

A nursery in which one task fails cancels all the others: one bad packet would
end the host. A `Guard` is handed out in the nursery's place wherever strangers
cause tasks: what its tasks raise is logged and counted, and goes no further.
The scheduler and the store do not run under it: the host cannot do without
them, so a failure of theirs ends it.
"""

from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVarTuple, Unpack, cast

import structlog
import trio

from server.exits import Unavailable, Unusable

Ts = TypeVarTuple("Ts")

IN_TURN = "begun in turn"  # the name of such tasks: trio would make a new string for each of them
PEER_GONE = (trio.BrokenResourceError, trio.ClosedResourceError)

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Severed(trio.BrokenResourceError):
    """A connection is lost by a fault of ours: the link to the host that it came to is gone."""

    def __init__(self, silent: float = 0.0) -> None:
        """The link had been `silent` for that many seconds: what the bot said meanwhile is lost."""
        super().__init__("the link over which the connection came is lost")
        self.silent = silent


class MovedAway(Exception):
    """What a task was about has moved to another process. A client that comes again is led there."""


Waiting = deque[Callable[[], Awaitable[object]]]


class Spawner(Protocol):
    """What starts tasks: a nursery, or a guard around one."""

    def start_soon(
        self,
        async_fn: Callable[[Unpack[Ts]], Awaitable[object]],
        *args: *Ts,
        name: object = None,
    ) -> object:
        """Start it; what this returns is `False` if that comes too late, and whatever else otherwise."""
        ...


class Guard(Spawner):
    """A nursery whose tasks cannot fail.

    `caught` counts the exceptions that nobody expected, by type and place, and
    `gone` those that say no more than that a peer has left, or has to come again.
    Cancellation and `KeyboardInterrupt` pass.
    """

    def __init__(self, nursery: Spawner) -> None:
        self._nursery = nursery
        self._ending = False
        self.caught: Counter[str] = Counter()
        self.gone = 0
        self.away = 0  # how often the store was
        self.damage = ""  # what is wrong with what it has kept, as far as anybody has met it

    def start_soon(
        self,
        async_fn: Callable[[Unpack[Ts]], Awaitable[object]],
        *args: *Ts,
        name: object = None,
    ) -> bool:
        try:
            self._nursery.start_soon(self._run, async_fn, args, name=name or async_fn)
        except RuntimeError:
            if not self._ending:
                raise
            return False
        return True

    def end(self) -> None:
        """The process ends: tasks that come after its nursery is gone come too late, which is no fault."""
        self._ending = True

    def report(self, error: Exception) -> None:
        """Count and log what a plain callback raised: in a group, each of its exceptions.

        A store that is away or damaged is not a bug, so that is logged and not counted.
        """
        if isinstance(error, ExceptionGroup):
            for part in cast("ExceptionGroup[Exception]", error).exceptions:
                self.report(part)
        elif not is_ours(error):
            self.gone += 1
        elif isinstance(error, Unavailable):
            self.away += 1
            if _is_round(self.away):
                log.warning("not answered", why=str(error), times=self.away)
        elif isinstance(error, Unusable):
            if not self.damage:
                self.damage = str(error)
                log.error(error.remedy, why=self.damage)
        else:
            self._count(error)

    async def _run(self, async_fn: Callable[..., Awaitable[object]], args: tuple[Any, ...]) -> None:
        try:
            await async_fn(*args)
        except* Exception as errors:
            self.report(errors)

    def _count(self, error: Exception) -> None:
        place = _place(error)
        self.caught[place] += 1
        times = self.caught[place]
        if times == 1:
            log.error("unexpected", place=place, exc_info=error)
        elif _is_round(times):
            log.error("unexpected again", place=place, times=times)


def _is_round(times: int) -> bool:
    """1, 10, 100, …: only these are logged, because a stranger who can cause it must not fill the disk."""
    return str(times).strip("0") == "1"


@asynccontextmanager
async def open_guard() -> AsyncGenerator[Guard]:
    """A guard with a nursery of its own. A task that comes after that comes too late, which is no fault."""
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        try:
            yield guard
        finally:
            guard.end()


def is_ours(error: Exception) -> bool:
    """Whether an exception is a fault of the host's, and not only a peer that left or has to come again."""
    if isinstance(error, ExceptionGroup):
        return any(map(is_ours, cast("ExceptionGroup[Exception]", error).exceptions))
    return not isinstance(error, (*PEER_GONE, MovedAway))


def _place(error: Exception) -> str:
    """The type, and the line that raised it: one name for one bug."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} {trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"


def start_in_turn(guard: Guard, waiting: Waiting, begin: Callable[[], Awaitable[object]]) -> None:
    """Start a task that begins after those started before it: left alone, trio runs any of them first."""
    waiting.append(begin)
    guard.start_soon(_first_of, waiting, name=IN_TURN)


def _first_of(waiting: Waiting) -> Awaitable[object]:
    """Begin what is first, when the guard's task calls this, and leave no frame around it."""
    return waiting.popleft()()
