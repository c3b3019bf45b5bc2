"""Keeping for another worker, in worker 0: facts, in the order in which it asks, and moves.

All workers share one journal, with one thread that writes, one numbering, and commits that gather what
all of them ask for.
"""

from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import replace

from server.store.ledger import KeepCall, Ledger
from server.workers.messages import Jots, Keep, Kept, Pairings
from tournament.facts import AnyFact, Concluded, Drew
from tournament.format import Pairing
from tournament.record import sharing_names
from tournament.store import Jottings

Safe = Callable[[str, Sequence[AnyFact]], Awaitable[None]]  # a tournament's name in the store, and facts


class Clerk:
    def __init__(self, ledger: Ledger, say: Callable[[Struct], None], safe: Safe) -> None:
        """`safe` is called with facts that are kept, in the order of keeping."""
        self._ledger = ledger
        self._say = say
        self._safe = safe
        self._send, self._receive = trio.open_memory_channel[tuple[Keep, KeepCall]](inf)  # all are waited for
        self._playing: dict[str, tuple[list[Any], list[float], list[Any]]] = {}  # as in `Jottings`
        self._drawn: dict[int, list[Pairing]] = {}  # by call: what has come of a long draw

    def take_pairings(self, some: Pairings) -> None:
        self._drawn.setdefault(some.call, []).extend(map(sharing_names, some.pairings))

    def keep(self, asked: Keep) -> None:
        if (drawn := self._drawn.pop(asked.call, None)) is not None:
            whole = tuple(drawn)
            facts = [
                replace(fact, pairings=whole) if isinstance(fact, Drew) and not fact.pairings else fact
                for fact in asked.facts
            ]
            asked = replace(asked, facts=tuple(facts))
        call = self._ledger.ask(asked.tournament, asked.when, asked.facts)
        for fact in asked.facts:
            if isinstance(fact, Concluded):
                self._playing.pop(fact.match, None)
        self._send.send_nowait((asked, call))

    def jot(self, jots: Jots) -> None:
        for each in jots.matches:
            if (playing := self._playing.get(each.match)) is None:
                known, asides_known = each.ply - 1, each.number - 1  # written before a restart
                playing = list[Any]([None] * known), [0.0] * known, list[Any]([None] * asides_known)
                self._playing[each.match] = playing
                self._ledger.jot(each.match, Jottings(*playing))
            moves, times, asides = playing
            moves += each.moves
            times += each.times
            asides += each.asides

    async def run(self) -> None:
        """Confirm facts as they become safe, in their order, until `close` was called and all are."""
        async with self._receive:
            async for asked, call in self._receive:
                await call.safe.wait()
                if call.error is not None:
                    self._say(Kept(asked.call, (), str(call.error)))
                else:
                    self._say(Kept(asked.call, tuple(call.receipts)))
                    await self._safe(asked.tournament, asked.facts)

    def close(self) -> None:
        """Nothing more is asked for."""
        self._send.close()
