"""A list that can be followed: the one channel out of a match.

A follower holds an index, not a queue, so a slow reader costs an integer, and
resuming after an interruption means following from where it stopped. Followers
are called there and then, inside `append`; they may append in turn.
"""

from collections.abc import AsyncIterator, Callable
from sys import maxsize

import structlog
import trio

from tournament.events import AnyEvent, Ended

Tell = Callable[[AnyEvent], None]
log = structlog.get_logger()


def _report(error: Exception) -> None:
    log.error("somebody could not be told of a match", exc_info=error)


class Log:
    __slots__ = ("_followers", "_waiting", "closed", "events", "report")

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.closed = False  # whether the match has ended: nothing comes after that
        self.report = _report  # called with what went wrong in telling somebody, by a fault of ours
        self._followers: tuple[Follower, ...] = ()
        self._waiting: trio.Event | None = None

    @property
    def followed(self) -> bool:
        """Whether anybody follows the log or waits for more."""
        return bool(self._followers) or self._waiting is not None

    def append(self, *events: AnyEvent) -> None:
        self.events.extend(events)
        self.closed = type(events[-1]) is Ended
        for follower in self._followers:
            follower.catch_up()
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None
        if self.closed:
            self._followers = ()  # most of them hold the match, which would keep itself alive

    def follow(self, tell: Tell, start: int = 0, failed: Callable[[], None] | None = None) -> "Follower":
        """Have `tell` called with every event from `start` on, beginning with those already there.

        `failed` is called if `tell` raises something, or if followers are let go; then nothing more is told.
        """
        follower = Follower(self, tell, start, failed)
        if not self.closed:
            self._followers += (follower,)
        follower.catch_up()
        return follower

    def unfollow(self, follower: "Follower") -> None:
        self._followers = tuple([each for each in self._followers if each is not follower])

    def let_go(self) -> None:
        """End all followers, because some of what they were told has not happened after all."""
        for follower in self._followers:
            follower.end()

    def read(self, start: int = 0) -> "Reader":
        """Iterate over every event from `start` on, waiting for those to come, until the match ends."""
        return Reader(self, start)

    async def wait(self) -> None:
        """Wait until something is appended."""
        if self._waiting is None:
            self._waiting = trio.Event()
        await self._waiting.wait()


class Reader(AsyncIterator[AnyEvent]):
    """An iterator and not a generator, so that it can be dropped half read."""

    def __init__(self, log: Log, start: int) -> None:
        self._log = log
        self._next = start

    async def __anext__(self) -> AnyEvent:
        while self._next >= len(self._log.events):
            if self._log.closed:
                raise StopAsyncIteration
            await self._log.wait()
        self._next += 1
        return self._log.events[self._next - 1]


class Follower:
    """Calls `tell` with each event. `tell` may append in turn: no event is told twice or out of order."""

    __slots__ = ("_busy", "_failed", "_log", "_next", "_tell")

    def __init__(self, followed: Log, tell: Tell, start: int, failed: Callable[[], None] | None) -> None:
        self._log = followed
        self._tell = tell
        self._next = start
        self._failed = failed
        self._busy = False

    def catch_up(self) -> None:
        if self._busy:
            return  # the call under way will come to the new events
        self._busy, happened, tell = True, self._log.events, self._tell
        try:
            while (index := self._next) < len(happened):
                self._next = index + 1
                tell(happened[index])
        except Exception as error:
            # Nobody else may suffer from the failure, least of all the player whose move is being told.
            self._log.report(error)
            self.end()
        finally:
            self._busy = False

    def end(self) -> None:
        """Stop, and say that something has failed."""
        self.stop()
        if self._failed is not None:
            self._failed()

    def stop(self) -> None:
        """Tell nothing more, not even the rest of what has just been appended."""
        self._next = maxsize
        self._log.unfollow(self)
