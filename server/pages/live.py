"""The streams that keep pages up to date: one for each page that is open.

A page is made of parts, and so is its stream: when a part has changed, its new
HTML is sent. A page begins with the same parts that its stream sends later, made
once for all who look. Each part is a whole state and not a change: a client that
fell behind or slept is sent the parts that differ now, and has missed nothing. Only
moves are a list, of which every client is sent what it does not have.

Spectators must cost the players nothing, so no move does any work for them. A task
of its own checks what they watch some twenty times a second, gives way after every
millisecond and rests nine times as long as it has worked. So many spectators mean
fewer frames, and the same moves.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import trio
from markupsafe import Markup

from server.host.view import View
from server.http.exchange import Chunks, Exchange
from server.pages import packing
from server.pages.parts import LivePage, Look
from server.protocols.api.streams import HEADERS
from tournament.folding import called

FRAME = 0.05  # seconds between two looks, at the least: nobody sees faster changes
SLICE = 0.001  # seconds of work after which all other tasks have a turn
REST = 9.0  # seconds of rest for each second of work: spectators have a tenth of the processor at most
LINGERS = 60.0  # seconds for which the parts of a page that nobody has open are kept …
MOST = 200  # … if there are no more such pages: each takes 30 to 200 KB, and there may be a million addresses

STANDS_STILL = Markup("Nothing can be kept just now: clocks stand still, and no match begins.")
PACKED = ("Content-Encoding", "gzip")
HERE = b": here\n\n"  # otherwise the browser would not know that it is connected
ANEW = b"event: anew\ndata:\n\n"  # what else is on the page belongs to an earlier tournament of that name


class Spectator:
    """One open page."""

    __slots__ = ("address", "chunks", "hidden", "packs", "said", "seen", "shown")

    def __init__(
        self,
        address: str,
        chunks: Chunks,
        packs: bool,
        shown: LivePage,
        seen: int,
        hidden: frozenset[str],
        now: float,
    ) -> None:
        self.address = address
        self.chunks = chunks
        self.packs = packs  # whether it takes compressed events
        self.shown = shown
        self.seen = seen  # the tick up to which it has been sent everything
        self.hidden = hidden  # places that are scrolled out of view
        self.said = now

    def say(self, words: bytes) -> None:
        self.chunks.put(packing.stored(words) if self.packs else words)


class Live:
    """All pages that are open, and who has them open."""

    def __init__(self, host: View, timer: Callable[[], float], heartbeat_seconds: float) -> None:
        """`timer` says how long this thread has worked; waiting for a processor does not count."""
        self._host = host
        self._timer = timer
        self._heartbeat = heartbeat_seconds
        self._run = secrets.token_hex(4)  # ticks belong to this run: after a restart they mean nothing
        self._tick = 0
        self._shown: dict[str, LivePage] = {}  # by the address of the page
        self._left: OrderedDict[LivePage, str] = OrderedDict()  # that nobody has open, the last left last
        self._spectators: dict[Spectator, None] = {}
        self._running = False
        self._forgetting = False

    def __len__(self) -> int:
        return len(self._spectators)

    async def ready(self, address: str, look: Look) -> LivePage:
        """Prepare a page, shown by `look`, unless somebody looks at it already and so keeps it up to date."""
        known = self._shown.get(address)
        if known is not None and known.look.tournament != look.tournament:
            self._end(address)
            known = None
        if known is not None:
            self._leave_for_now(address, known)
            look = known.look
        if known is None or not known.spectators:
            await look.prepare()
        shown = self._shown.setdefault(address, LivePage(look, trio.current_time(), self._everywhere))
        self._leave_for_now(address, shown)
        return shown

    def show(self, address: str, shown: LivePage) -> dict[str, Any]:
        """What the template of a ready page is given: its parts, and where its stream goes on.

        The page may have been dropped since it was ready, if many others were asked for.
        """
        now = trio.current_time()
        for _ in shown.update(self._next, now):
            pass
        self._tick = max(self._tick, shown.latest)
        if self._shown.get(address) is shown:
            self._leave_for_now(address, shown)
        parts = {place: part.html for place, part in shown.parts.items()}
        after = f"{self._run}-{self._tick}"
        about = shown.look.tournament
        return {
            "page": address,
            "tournament": about,
            "after": after,
            "parts": parts,
            "now": now,
            "heartbeat": self._heartbeat,
        }

    def stream(self, exchange: Exchange, address: str) -> None:
        """Keep a page that is ready up to date, for as long as it is open."""
        exchange.authenticated()  # nobody in particular, but allowed to hold a connection
        query, now = exchange.request.query, trio.current_time()
        shown = self._shown[address]
        hidden = shown.parts.keys() & query.get("hidden", "").split(",")
        after = self._after(exchange.request.headers.get("last-event-id") or query.get("after", ""))
        packs = packing.accepted(exchange.request.headers.get("accept-encoding", ""))
        chunks = exchange.stream(200, (*HEADERS, PACKED) if packs else HEADERS)
        if packs:
            chunks.put(packing.HEAD)
        spectator = Spectator(address, chunks, packs, shown, after, frozenset(hidden), now)
        if query.get("tournament", shown.look.tournament) != shown.look.tournament:
            spectator.say(ANEW)
            chunks.close()
            return
        is_current = after > 0 and not shown.batch(after, spectator.hidden, packs)
        spectator.say(_alive(now) if is_current else HERE)
        missed = dict.fromkeys(query.get("missed", "").split(","))  # scrolled into view again
        for part in (part for place in missed if (part := shown.parts.get(place))):
            chunks.put(part.event.packed if packs else part.event.plain)
        self._spectators[spectator] = None
        shown.spectators += 1
        self._left.pop(shown, None)
        exchange.on_gone(lambda: self._leave(spectator))
        if not self._running:
            self._running = True
            self._host.guard.start_soon(self._serve)

    def _after(self, said: str) -> int:
        """The tick that a client says it has; 0 if it is not one of this run."""
        run, _, tick = said.partition("-")
        known = run == self._run and tick.isascii() and tick.isdigit() and len(tick) < 12
        return min(int(tick), self._tick) if known else 0

    def _everywhere(self) -> Iterable[tuple[str, Markup]]:
        """What every page says: that nothing can be kept, if so. Otherwise clocks would just stand still."""
        yield "trouble", STANDS_STILL if self._host.trouble else Markup()

    def _next(self) -> int:
        """The tick of the present changes, which nobody has been sent yet."""
        return self._tick + 1

    def _leave(self, spectator: Spectator) -> None:
        if self._spectators.pop(spectator, self) is None:
            spectator.shown.spectators -= 1
            if self._shown.get(spectator.address) is spectator.shown:
                self._leave_for_now(spectator.address, spectator.shown)

    def _leave_for_now(self, address: str, shown: LivePage) -> None:
        """Keep a page for a while, unless somebody has it open, in place of one that was left before it."""
        if shown.spectators:
            return
        shown.left = trio.current_time()
        self._left[shown] = address
        self._left.move_to_end(shown)
        if len(self._left) > MOST:
            self._drop_the_first()
        if not self._forgetting:
            self._forgetting = True
            self._host.guard.start_soon(self._forget)

    def _drop_the_first(self) -> None:
        """Drop the page that was left longest ago."""
        _, address = self._left.popitem(last=False)
        del self._shown[address]

    def _is_outdated(self, shown: LivePage) -> bool:
        """Whether another tournament has the name of the one that a page is about."""
        held = self._host.shown.get(called(shown.look.tournament))
        return held is not None and held.record.kept_as != shown.look.tournament

    def _end(self, address: str) -> None:
        """Drop a page that is outdated, or cannot be made; whoever has it open asks again."""
        shown = self._shown.pop(address)
        self._left.pop(shown, None)
        for spectator in tuple(self._spectators):
            if spectator.shown is shown:
                self._leave(spectator)
                spectator.chunks.close()

    async def _forget(self) -> None:
        """Drop pages that nobody looks at, after a while: a client that only reconnects still finds them."""
        try:
            while self._left:
                await trio.sleep_until(next(iter(self._left)).left + LINGERS)
                now = trio.current_time()
                while self._left and now >= next(iter(self._left)).left + LINGERS:
                    self._drop_the_first()
        finally:
            self._forgetting = False

    async def _serve(self) -> None:
        """Look, send, rest; while anybody is there."""
        try:
            while self._spectators:
                work = Work(self._timer)
                await self._look(work)
                await self._send(work)
                await trio.sleep(max(FRAME, REST * work.done()))
        finally:
            self._running = False

    async def _look(self, work: "Work") -> None:
        now = trio.current_time()
        for address, shown in tuple(self._shown.items()):
            if self._shown.get(address) is shown and self._is_outdated(shown):
                self._end(address)
            elif shown.spectators:
                try:
                    for _ in shown.update(self._next, now):
                        if work.enough():
                            await work.pause()
                except Exception as error:  # as of a game that cannot be shown: the other pages go on
                    self._host.guard.report(error)
                    if self._shown.get(address) is shown:
                        self._end(address)
                self._tick = max(self._tick, shown.latest)

    async def _send(self, work: "Work") -> None:
        for spectator in tuple(self._spectators):
            shown, now = spectator.shown, trio.current_time()
            if spectator.seen < shown.latest and spectator.chunks.taken:  # one that is behind gets the latest
                seen, spectator.seen, spectator.said = spectator.seen, shown.latest, now
                if batch := shown.batch(seen, spectator.hidden, spectator.packs):
                    mark = self._mark(shown.latest, now)
                    spectator.chunks.put(batch + (packing.stored(mark) if spectator.packs else mark))
            elif now >= spectator.said + self._heartbeat:
                spectator.said = now
                spectator.say(_alive(now))
            if work.enough():
                await work.pause()

    def _mark(self, tick: int, now: float) -> bytes:
        """The end of a batch: the client can resume from its id, and sets its clocks by its time."""
        return b"id: %b-%d\nevent: now\ndata: %.3f\n\n" % (self._run.encode(), tick, now)


def _alive(now: float) -> bytes:
    """A sign of life: whoever has been sent everything sets its clocks by its time."""
    return b"event: alive\ndata: %.3f\n\n" % now


class Work:
    """How long this task has worked, without what others did in its pauses."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._since = timer()
        self._done = 0.0

    def enough(self) -> bool:
        return self._timer() - self._since > SLICE

    async def pause(self) -> None:
        self._done += self._timer() - self._since
        await trio.lowlevel.checkpoint()
        self._since = self._timer()

    def done(self) -> float:
        return self._done + self._timer() - self._since
