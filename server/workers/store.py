"""The store of a worker without a journal of its own: worker 0 keeps for it, and it reads by itself.

Facts are sent over a link and are safe when that is confirmed. Nothing is queued without bound: a caller
that keeps something waits for it, and no more moves are sent before the earlier ones were taken. A round
robin of a thousand is half a million pairings, which are sent piece by piece: in both processes matches go
on meanwhile.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import replace

from server.store import journal
from server.store.journal import Reader
from server.store.ledger import READERS, InThread
from server.workers.messages import Jots, Jotted, Keep, Kept, Pairings
from tournament.asides import before
from tournament.entries import Entry
from tournament.facts import AnyFact, Concluded, Drew
from tournament.facts import Kept as KeptFact
from tournament.format import Pairing
from tournament.record import PIECE
from tournament.store import Conflict, Jottings

SOON = 0.1  # seconds between two looks at moves played: worker 0 writes them a little later

Say = Callable[[Struct], None]


class RemoteKeep:
    """Facts that a task waits to be safe."""

    __slots__ = ("answer", "done", "scope")

    def __init__(self, *, patient: bool) -> None:
        self.done = trio.Event()
        self.scope = trio.CancelScope(shield=patient)
        self.answer: Kept | None = None


class Playing:
    """A match in play, and how much of it was said."""

    __slots__ = ("asides", "jottings", "moves")

    def __init__(self, jottings: Jottings) -> None:
        self.jottings = jottings
        self.moves = len(jottings.moves)  # that were said
        self.asides = len(jottings.asides)  # that were said

    def more(self, match: str) -> Jotted | None:
        """What was not said yet, if there is anything."""
        moves, times, asides = self.jottings
        said, played = self.moves, len(moves)
        asides_said, happened = self.asides, before(asides, played, self.asides)
        if (said, asides_said) == (played, happened):
            return None
        self.moves, self.asides = played, happened
        news, spent = tuple(moves[said:played]), tuple(times[said:played])
        return Jotted(match, said + 1, news, spent, asides_said + 1, tuple(asides[asides_said:happened]))


class LinkedStore:
    """A `Store`."""

    def __init__(self, say: Say, reader: Reader, in_thread: InThread = trio.to_thread.run_sync) -> None:
        self.trouble = ""
        self._say = say
        self._reader = reader
        self._in_thread = in_thread
        self._reading = trio.CapacityLimiter(READERS)
        self._numbers = count()
        self._calls: dict[int, RemoteKeep] = {}
        self._playing: dict[str, Playing] = {}
        self._listeners: list[Callable[[], None]] = []
        # What is jotted down, until the next look at moves: every tournament asks for it at the start.
        self._jotted: Mapping[str, Jottings] | None = None
        self._closed = False
        self._drawing = trio.Lock()  # held while a long draw is sent: what is kept meanwhile comes after it

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    @property
    def waiting(self) -> int:
        """Calls of `keep` whose facts are not safe yet."""
        return len(self._calls)

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if not facts:
            return ()
        number, call = next(self._numbers), RemoteKeep(patient=not self._closed)
        self._calls[number] = call
        long = next((fact for fact in facts if isinstance(fact, Drew) and len(fact.pairings) > PIECE), None)
        if long is not None or self._drawing.locked():
            with trio.CancelScope(shield=True):  # facts are kept in the order of asking
                async with self._drawing:
                    if long is not None:
                        await self._say_pairings(number, long.pairings)
                        facts = [replace(fact, pairings=()) if fact is long else fact for fact in facts]
                    self._ask(number, tournament, when, facts)
        else:
            self._ask(number, tournament, when, facts)
        try:
            with call.scope:
                await call.done.wait()
        finally:
            self._calls.pop(number, None)
        if (answer := call.answer) is None or answer.conflict:
            raise Conflict("" if answer is None else answer.conflict)
        return answer.receipts

    def _ask(self, number: int, tournament: str, when: float, facts: Sequence[AnyFact]) -> None:
        for fact in facts:
            if isinstance(fact, Concluded):  # it has all moves, and none may come to worker 0 after it
                self._playing.pop(fact.match, None)
        self._say(Keep(number, tournament, when, tuple(facts)))

    async def _say_pairings(self, number: int, pairings: Sequence[Pairing]) -> None:
        for start in range(0, len(pairings), PIECE):
            self._say(Pairings(number, tuple(pairings[start : start + PIECE])))
            await trio.lowlevel.checkpoint()

    def confirm(self, kept: Kept) -> None:
        """Take in what worker 0 says about a call."""
        if (call := self._calls.get(kept.call)) is not None:
            call.answer = kept
            call.done.set()

    def set_trouble(self, why: str) -> None:
        if why != self.trouble:
            self.trouble = why
            for listener in self._listeners:
                listener()

    def kept(self) -> Iterable[KeptFact]:
        return map(journal.kept, self._reader.kept())

    async def concluded(self, tournament: str, match: str) -> Concluded:
        return await self._read(partial(journal.concluded, self._reader, tournament, match))

    async def receipt(self, tournament: str, match: str) -> str:
        return await self._read(partial(journal.receipt, self._reader, tournament, match))

    async def entries(self, tournament: str, after: int = 0) -> Sequence[Entry]:
        return await self._read(partial(journal.entries, self._reader, tournament, after))

    async def _read(self, read: Callable[[], Any]) -> Any:
        return await self._in_thread(read, limiter=self._reading)

    def jot(self, match: str, jottings: Jottings) -> None:
        self._playing[match] = Playing(jottings)

    def jotted(self) -> Mapping[str, Jottings]:
        if self._jotted is None:
            self._jotted = journal.jotted(self._reader.jotted())
        return self._jotted

    async def run(self) -> None:
        try:
            while True:
                await trio.sleep(SOON)
                self._jotted = None
                self.say_moves()
        finally:
            self._closed = True
            for call in self._calls.values():  # nobody will confirm it: its caller may be cancelled now
                call.scope.shield = False

    def say_moves(self) -> None:
        """Send the moves played since the last call."""
        found = (each.more(match) for match, each in self._playing.items())
        if news := [each for each in found if each is not None]:
            self._say(Jots(tuple(news)))
