"""Event streams of the API: of one match, and of everything that begins and ends.

Every event has an id; a client that comes back with `Last-Event-ID` goes on
after it. In a match the id says how far that had come, so it means the same in
every process, and when the match is over. A comment now and then keeps proxies
from closing a stream in which nothing happens.
"""

import time
from collections import deque
from collections.abc import Awaitable, Iterator, Sequence
from itertools import islice
from secrets import randbits
from typing import Any

import msgspec
import trio
from msgspec import structs

from games.catalogue import catalogue
from games.game import quoted
from server.export.json_views import causes_shown, moment
from server.host.view import HeldTournament, View
from server.http.exchange import Chunks, Exchange
from server.http.wire import NO_STORE, NOSNIFF, Response, event_stream
from server.net.guard import Guard
from server.protocols.api.changes import Changes
from server.protocols.common.encode_once import OnceEncoder
from tournament.causes import moved_by
from tournament.events import AnyEvent, Began, Ended, Moved, Refused
from tournament.facts import AnyFact, Concluded, Disqualified, Froze, State, Voided, Withdrew
from tournament.match import Match
from tournament.record import Record

HEADERS = event_stream(NO_STORE, NOSNIFF)
REMEMBERED = 1024  # the latest events of the stream of everything, for clients that were away
RECENT = 600.0  # seconds before this began: of matches that ended then, somebody may have heard nothing
FEW = 10  # events that are told at once
UNKNOWN = -1  # an id that no event has
CHANGES = Concluded | Voided | Withdrew | Disqualified | Froze  # what changes standings

# Thousands may watch one match, and all are told of an event one right after the other; of the last move and
# the end, which come together, one is told both before the next.
encode_once, encode_end_once = OnceEncoder(), OnceEncoder()


class Heartbeats:
    """Comments in streams, every so many seconds."""

    def __init__(self, guard: Guard, seconds: float) -> None:
        self._guard = guard
        self._seconds = seconds
        self._streams: dict[Chunks, None] = {}
        self._beating = False

    def begin(self, chunks: Chunks) -> None:
        self._streams[chunks] = None
        if not self._beating:
            self._beating = True
            self._guard.start_soon(self._beat)

    def end(self, chunks: Chunks) -> None:
        self._streams.pop(chunks, None)

    async def _beat(self) -> None:
        """Send heartbeats while anybody listens."""
        try:
            while self._streams:
                await trio.sleep(self._seconds)
                for chunks in tuple(self._streams):
                    chunks.put(b": still here\n\n")
        finally:
            self._beating = False


def stream_match(
    exchange: Exchange, tournament: HeldTournament, name: str, heartbeats: Heartbeats
) -> Awaitable[None] | None:
    """The events of one match, from the beginning or from where the client was."""
    if name not in tournament.matches:
        return _retell(exchange, tournament, name)
    return _stream_live(exchange, tournament.matches[name], heartbeats)


async def _retell(exchange: Exchange, tournament: HeldTournament, name: str) -> None:
    """Stream the events of a match that is over, which may have to be fetched.

    Others have their turn after each, and the client has taken it before the next: on the largest board there
    are 1,800 with 80 kB each. Whoever has the end gets 204: a browser asks again after each end of a stream,
    every few seconds, until it is told so.
    """
    exchange.authenticated()
    concluded, after = await tournament.concluded(name), _last_id(exchange)
    end = len(concluded.moves) + 1
    if after == end:
        exchange.respond(Response(204, (NO_STORE,)))
        return
    chunks = exchange.stream(200, HEADERS)
    for number, event in enumerate(_retold(tournament.record, concluded)):
        if number > after or after > end:  # it knows of more than there is
            chunks.put(_event(number, event))
        await trio.lowlevel.checkpoint()
        if not await chunks.drained():
            return
    chunks.close()


def _stream_live(exchange: Exchange, live: Match, heartbeats: Heartbeats) -> Awaitable[None] | None:
    """Stream a match in play. The id of an event is how many moves had been played, and of the end one more.

    So an id means the same after a restart and in the record, which have no refusals and absences: these have
    the id of the move before them. A client that knows of more moves than there are begins anew. Whoever has
    missed much is told it as fast as it takes that, and then follows.
    """
    exchange.authenticated()  # a spectator is nobody in particular, but may hold a connection
    chunks = exchange.stream(200, HEADERS)
    start = _after(live, _last_id(exchange))
    number = max(_last_id(exchange), 0) if start else 0

    def tell(event: AnyEvent) -> None:
        nonlocal number
        if isinstance(event, Moved | Ended):
            number += 1
        if isinstance(event, Ended):
            chunks.put(encode_end_once(event, _told, number, live, event))
            close()
        else:
            chunks.put(encode_once(event, _told, number, live, event))

    def close() -> None:
        heartbeats.end(chunks)
        chunks.close()

    def follow(start: int) -> None:
        heartbeats.begin(chunks)
        exchange.on_gone(lambda: heartbeats.end(chunks))
        follower = live.log.follow(tell, start, close)
        exchange.on_gone(follower.stop)

    async def catch_up(place: int) -> None:
        known = live.taken_back
        while place < len(live.log.events):  # more may happen meanwhile
            tell(live.log.events[place])
            place += 1
            await trio.lowlevel.checkpoint()
            if not await chunks.drained():
                return
            if live.taken_back != known:  # what it was told has not happened after all
                chunks.close()
                return
        follow(place)

    if len(live.log.events) - start > FEW:
        return catch_up(start)
    follow(start)
    return None


def _after(live: Match, number: int) -> int:
    """Where in its log a match goes on for whoever has the event of that number; 0 if there is none."""
    for place, event in enumerate(live.log.events, 1):
        if (isinstance(event, Began) and number == 0) or (isinstance(event, Moved) and event.ply == number):
            return place
    return 0


class Feed:
    """The stream of what begins and ends, in every tournament."""

    def __init__(self, view: View, heartbeat_seconds: float) -> None:
        self.heartbeats = Heartbeats(view.guard, heartbeat_seconds)
        self._events: deque[tuple[int, str, bytes]] = deque(maxlen=REMEMBERED)  # with the tournament
        # Ids begin anywhere: one of another host, or of before a restart, is not taken for one of these.
        self._count = self._first = randbits(48)
        self._streams: dict[Chunks, None] = {}
        self._behind: dict[Chunks, None] = {}  # those that are told what they have missed
        self._changes = Changes(view, self._say)
        for record, match in _recent(view, time.time() - RECENT):
            self._say_end(record, match)
        view.on_begun.append(self._begun)
        view.on_fact.append(self._told)

    def stream(self, exchange: Exchange) -> Awaitable[None] | None:
        """Whoever was away is told what it has missed as fast as it takes that, and then follows."""
        exchange.authenticated()
        chunks = exchange.stream(200, HEADERS)
        after = _last_id(exchange, none=self._count)
        if not self._first <= after <= self._count:
            after = self._first  # the client may have heard nothing of what is remembered
        self._changes.begin()
        behind = self._count - after > FEW
        if behind:
            self._behind[chunks] = None
        else:
            self._follow(chunks, after)
        exchange.on_gone(lambda: self._leave(chunks))  # at once, if it has gone already
        return self._catch_up(chunks, after) if behind else None

    async def _catch_up(self, chunks: Chunks, after: int) -> None:
        while self._count - after > FEW:  # more may happen meanwhile
            for number, event in self._since(after)[:FEW]:
                chunks.put(event)
                after = number
            await trio.lowlevel.checkpoint()
            if not await chunks.drained() or chunks not in self._behind:
                return  # it has left
        self._follow(chunks, after)

    def _follow(self, chunks: Chunks, after: int) -> None:
        for _, event in self._since(after):
            chunks.put(event)
        self._behind.pop(chunks, None)
        self._streams[chunks] = None
        self.heartbeats.begin(chunks)

    def _since(self, after: int) -> list[tuple[int, bytes]]:
        """The events after a number, as far as they are remembered."""
        missed = min(self._count - after, len(self._events))
        found = islice(self._events, len(self._events) - missed, None)
        return [(number, event) for number, _, event in found]

    def _leave(self, chunks: Chunks) -> None:
        self._streams.pop(chunks, None)
        self._behind.pop(chunks, None)
        self.heartbeats.end(chunks)
        if not (self._streams or self._behind):
            self._changes.end()

    def _begun(self, tournament: HeldTournament, match: Match) -> None:
        self._say(
            {
                "type": "begin",
                "tournament": tournament.record.name,
                "match": match.name,
                "players": match.names,
            }
        )

    def _told(self, tournament: HeldTournament, fact: AnyFact) -> None:
        if isinstance(fact, Concluded):
            self._say_end(tournament.record, fact)
        if isinstance(fact, CHANGES):
            self._changes.mark(tournament)
        if tournament.record.state is State.DELETED:
            self._forget(tournament.record.name)

    def _say_end(self, record: Record, match: Concluded) -> None:
        ended = {"match": match.match, "players": match.players, "winner": match.winner}
        self._say({"type": "end", "tournament": record.name} | ended | _how(match))

    def _forget(self, tournament: str) -> None:
        """Tell nobody any more what happened in a tournament. The other events keep their places."""
        kept = [(number, of, b"" if of == tournament else event) for number, of, event in self._events]
        self._events = deque(kept, REMEMBERED)

    def _say(self, shown: dict[str, Any]) -> None:
        self._count += 1
        event = _event(self._count, shown)
        self._events.append((self._count, shown["tournament"], event))
        for chunks in tuple(self._streams):
            chunks.put(event)


def _recent(view: View, since: float) -> Sequence[tuple[Record, Concluded]]:
    """The latest matches that have ended since a wall time, in that order, each with its tournament."""
    found = list[tuple[float, Record, Concluded]]()
    for held in view.tournaments.values():
        record = held.record
        if record.archived is None:  # as what is long over is
            for name in islice(reversed(record.endings), REMEMBERED):
                match = record.matches[name]
                if match.ended is None or match.ended < since:
                    break
                found.append((match.ended, record, match))
    latest = sorted(found, key=lambda each: each[0])[-REMEMBERED:]
    return [(record, match) for _, record, match in latest]


def _last_id(exchange: Exchange, none: int = UNKNOWN) -> int:
    """The id of the last event that the client has, from a header, or the query if it cannot send headers.

    `none` if it says that it has none. What cannot be read is the id of another host.
    """
    given = exchange.request.headers.get("last-event-id") or exchange.request.query.get("after", "")
    if not given:
        return none
    return int(given) if given.isascii() and given.isdigit() and len(given) < 16 else UNKNOWN


def _event(number: int, shown: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, shown["type"].encode(), msgspec.json.encode(shown))


def _told(number: int, match: Match, event: AnyEvent) -> bytes:
    return _event(number, _shown(match, event))


def _shown(match: Match, event: AnyEvent) -> dict[str, Any]:
    """An event, with the state that it led to. A refused move may be something that JSON cannot express."""
    if isinstance(event, Refused):
        event = structs.replace(event, sent=str(quoted(event.sent)))
    shown = msgspec.to_builtins(event)
    if (when := _when(match, event)) is None:
        del shown["at"]
    else:
        shown["at"] = moment(when)
    if isinstance(event, Ended):
        del shown["brief"]
        shown["cause"] = causes_shown(moved_by(event.cause, match.epoch))
    if isinstance(event, Began | Moved):
        position = match.positions[event.ply if isinstance(event, Moved) else 0]
        shown["state"] = match.game.show(position, match.names)
    return shown


def _when(match: Match, event: AnyEvent) -> float | None:
    """The time of an event; None if nobody knows.

    A match that goes on after a restart plays its earlier moves once more as it begins, and only how long
    they took was kept. No other move takes time and is played at the moment at which its match begins.
    """
    match event:
        case Began():
            return match.began
        case Moved(at=at, spent=spent) if spent and at == match.log.events[0].at:
            return None
        case _:
            return round(match.wall(event.at), 3)


def _retold(record: Record, concluded: Concluded) -> Iterator[dict[str, Any]]:
    """The events of a match that is over, as far as its record has them."""
    game = catalogue()[record.opened.game]
    position = game.opening(record.options(concluded))
    state = game.show(position, concluded.players)
    yield {"type": "began"} | _at(concluded.began) | {"names": concluded.players, "state": state}
    for ply, (move, spent) in enumerate(zip(concluded.moves, concluded.times, strict=True), 1):
        moved = {"type": "moved", "seat": position.turn, "ply": ply, "move": move, "spent": spent}
        position = position.play(game.read(move, position))
        yield moved | {"state": game.show(position, concluded.players)}
    ended = {"type": "ended"} | _at(concluded.ended) | {"winner": concluded.winner} | _how(concluded)
    yield ended | {"cause": causes_shown(concluded.cause)}


def _at(when: float | None) -> dict[str, str]:
    return {} if when is None else {"at": moment(when)}


def _how(fact: Concluded) -> dict[str, Any]:
    return {"ending": fact.ending, "why": fact.why, "fault": fact.fault}
