"""What streams of matches cost, and how they reach spectators. What they tell is in `test_api.py`."""

import json
import time
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio
from msgspec import structs
from trio.testing import MockClock

from games.catalogue import catalogue
from server.net.guard import Guard
from server.pages import live
from server.protocols.api import streams
from server.protocols.arena import messages
from server.protocols.house import sessions
from tests.fuzz.spectator import SILENT
from tests.server.web import get, serving
from tournament.events import Ending
from tournament.facts import Concluded, Drew, Entered, Opened, State, Turned
from tournament.format import Pairing
from tournament.match import Match
from tournament.record import Record


class Pieces(SimpleNamespace):
    """Where a stream puts its pieces; one is the same as itself alone."""

    __hash__ = object.__hash__


class Spectator:
    """A client's request for the events of a match, and what it is sent."""

    request = SimpleNamespace(headers={}, query={})

    def __init__(self) -> None:
        self.told: list[bytes] = []

    def authenticated(self) -> None: ...

    def on_gone(self, gone: object) -> None: ...

    def stream(self, *answer: object) -> Any:
        return Pieces(put=self.told.append, close=lambda: None)


@pytest.mark.parametrize("headers", [streams.HEADERS, live.HEADERS, messages.STREAM, sessions.STREAM])
def test_no_event_stream_is_held_back_by_nginx(headers: tuple[tuple[str, str], ...]) -> None:
    """Catches one that a proxy may gather until a bot's time is up, where its organiser has set nothing."""
    assert ("X-Accel-Buffering", "no") in headers


def test_what_all_who_watch_a_match_are_told_of_an_event_is_made_once() -> None:
    """Catches drawing up a move for each of thousands: that took as long as all other moves may wait."""
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)
    spectators: list[Any] = [Spectator() for _ in range(3)]
    for each in spectators:
        streams.stream_match(each, SimpleNamespace(matches={"": match}), "", SILENT)  # pyright: ignore
    while match.verdict is None:
        match.play(match.position.turn, match.game.write(next(iter(match.position.moves()))), 1.0)
    told = [each.told[1:] for each in spectators]  # what came after they had begun to watch
    assert [len(each) for each in told] == [match.ply + 1] * 3
    assert all(other is first for first, *others in zip(*told, strict=True) for other in others)


def told_of(match: Match) -> list[dict[str, Any]]:
    """What whoever begins to watch a match is told of it."""
    spectator: Any = Spectator()
    streams.stream_match(spectator, SimpleNamespace(matches={"": match}), "", SILENT)  # pyright: ignore
    return [msgspec.json.decode(each.split(b"data: ")[1]) for each in spectator.told]


def test_after_a_restart_a_match_is_not_said_to_have_begun_and_been_moved_in_just_then() -> None:
    """The moves before it are told without a time, as those of a match that is over; what follows has one."""
    game = catalogue()["connect-4"]
    first = Match(game, ("ann", "bob"), 10.0, epoch=1_000_000.0, dealt_at=1_000_009.5)
    for seat, at in ((0, 12.0), (1, 15.0)):
        first.play(seat, 3, at)
    began, *moves = told_of(first)
    assert [each["at"][14:] for each in (began, *moves)] == ["46:49.500Z", "46:52.000Z", "46:55.000Z"]
    kept = first.moves_and_times()
    again = Match(game, ("ann", "bob"), 5.0, epoch=1_000_100.0, dealt_at=first.dealt_at, kept=kept)
    for seat in (0, 1):
        again.here(seat, 6.0)
    again.play(0, 3, 8.0)
    told = told_of(again)
    assert told[0] == began
    before = [each for each in told if each["type"] == "moved"]
    assert [each.get("at", "")[14:] for each in before] == ["", "", "48:28.000Z"]


class Slow(Spectator):
    """It takes one piece after another, and then goes away."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.waiting: list[int] = []  # how many pieces were there each time when it took them

    def stream(self, *answer: object) -> Any:
        chunks = super().stream()
        chunks.drained = self.drained
        return chunks

    async def drained(self) -> bool:
        self.waiting.append(len(self.told) - sum(self.waiting))
        return len(self.told) < self.most


def played_cup() -> Any:
    """A tournament whose match `cup-1` is over, after eight moves."""
    moves = (0, 0, 0, 1, 1, 1, 2, 2)
    over = Concluded("cup-1", 1, ("ann", "bob"), None, Ending.LEFT, "so", None, moves, (1.0,) * 8)

    async def concluded(match: str) -> Concluded:
        return over

    record = Record("cup", Opened("connect-4", "round-robin"))
    return SimpleNamespace(matches={}, record=record, concluded=concluded)


async def test_a_match_that_is_over_is_told_no_faster_than_it_is_taken() -> None:
    """Catches making all events of a long match at once: 150 MB, while nobody else was told anything."""
    slow: Any = Slow(4)
    telling = streams.stream_match(slow, played_cup(), "cup-1", SILENT)
    assert telling is not None
    await telling
    assert slow.waiting == [1, 1, 1, 1]


async def test_whoever_has_the_end_of_a_match_is_told_not_to_ask_again() -> None:
    """Catches an empty stream, after which every browser asks again in a few seconds, for ever."""
    cup = played_cup()
    async with serving(lambda exchange: streams.stream_match(exchange, cup, "cup-1", SILENT)) as server:
        client = server.connect()
        told = [await client.ask(get("/", f"Last-Event-ID: {number}")) for number in (0, 8, 9, 10)]
        assert [answer.status for answer in told] == [200, 200, 204, 200]
        assert [answer.body.count(b"event: ") for answer in told] == [9, 1, 0, 10]


async def test_a_match_in_play_is_told_no_faster_than_it_is_taken_and_then_followed() -> None:
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)

    def play(plies: int) -> None:
        for _ in range(plies):
            match.play(match.position.turn, match.game.write(next(iter(match.position.moves()))), 1.0)

    play(streams.FEW)
    slow: Any = Slow(100)
    telling = streams.stream_match(slow, SimpleNamespace(matches={"": match}), "", SILENT)  # pyright: ignore
    assert telling is not None
    await telling
    assert slow.waiting == [1] * (streams.FEW + 1)
    play(2)
    assert len(slow.told) == streams.FEW + 3


async def test_whoever_was_away_is_told_what_it_missed_no_faster_than_it_is_taken_and_then_follows() -> None:
    """Catches a client that was cut off each time it came back, because so much was waiting for it."""
    view: Any = SimpleNamespace(on_begun=[], on_fact=[], tournaments={}, guard=SimpleNamespace())
    cup: Any = SimpleNamespace(record=Record("cup", Opened("connect-4", "round-robin")))
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)
    async with trio.open_nursery() as nursery:
        view.guard = Guard(nursery)
        feed = streams.Feed(view, 15.0)
        for _ in range(streams.REMEMBERED + 5):
            view.on_begun[0](cup, match)
        first = feed._first
        slow: Any = Slow(5 * streams.FEW)
        slow.request = SimpleNamespace(headers={"last-event-id": f"{first + 1}"}, query={})
        behind = feed.stream(slow)
        assert behind is not None
        await behind
        assert slow.waiting == [streams.FEW] * 5
        told = [_id(event) - first for event in slow.told]
        assert told == list(range(6, 6 + 5 * streams.FEW))  # the first are forgotten
        patient: Any = Slow(10 * streams.REMEMBERED)
        patient.request = slow.request
        behind = feed.stream(patient)
        assert behind is not None
        await behind
        view.on_begun[0](cup, match)
        told = [_id(event) - first for event in patient.told]
        assert told == list(range(6, streams.REMEMBERED + 7))
        nursery.cancel_scope.cancel()


async def test_nobody_is_told_any_more_what_happened_in_a_tournament_that_was_deleted() -> None:
    """Catches a stream that goes on telling of what pages and the API no longer show."""
    view: Any = SimpleNamespace(on_begun=[], on_fact=[], tournaments={}, guard=SimpleNamespace())
    cup, gone = (Record(name, Opened("connect-4", "round-robin")) for name in ("cup", "gone"))
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)
    async with trio.open_nursery() as nursery:
        view.guard = Guard(nursery)
        feed = streams.Feed(view, 15.0)
        for record in (cup, gone, cup, gone):
            view.on_begun[0](SimpleNamespace(record=record), match)
        deleted = Turned(State.DELETED)
        gone.add(deleted)
        view.on_fact[0](SimpleNamespace(record=gone), deleted)
        spectator: Any = Slow(10)
        spectator.request = SimpleNamespace(headers={"last-event-id": f"{feed._first + 1}"}, query={})
        feed.stream(spectator)
        assert [_id(event) - feed._first for event in spectator.told if event] == [3]
        nursery.cancel_scope.cancel()


async def test_nothing_is_left_of_a_spectator_that_hangs_up(autojump_clock: MockClock) -> None:
    """Catches a host that tells those who have gone what happens, and beats for them for ever."""
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0, name="cup-1")
    cup: Any = SimpleNamespace(matches={"cup-1": match})
    beats = list[streams.Heartbeats]()
    async with serving(lambda exchange: streams.stream_match(exchange, cup, "cup-1", beats[0])) as server:
        beats.append(streams.Heartbeats(server.guard, 15.0))
        for _ in range(2):
            client = server.connect()
            await client.end.send_all(get("/"))
            assert await client.now()
            assert (len(beats[0]._streams), len(match.log._followers)) == (1, 1)
            await trio.sleep(20.0)
            assert b": still here" in await client.now()
            client.end.close()
            await trio.sleep(100.0)
            assert (len(beats[0]._streams), len(match.log._followers)) == (0, 0)


async def test_nothing_is_left_of_a_client_that_ends_its_side_while_it_is_told_what_it_missed(
    autojump_clock: MockClock,
) -> None:
    """Catches a stream that began when its client had gone: it was told of everything, for ever."""
    view: Any = SimpleNamespace(on_begun=[], on_fact=[], tournaments={}, guard=SimpleNamespace())
    cup: Any = SimpleNamespace(record=Record("cup", Opened("connect-4", "round-robin")))
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)
    feeds = list[streams.Feed]()
    async with serving(lambda exchange: feeds[0].stream(exchange)) as server:
        view.guard = server.guard
        feeds.append(streams.Feed(view, 15.0))
        for _ in range(streams.REMEMBERED):
            view.on_begun[0](cup, match)
        client = server.connect()
        client.end.send_now(get("/", "Last-Event-ID: 1"))
        client.end.finish()
        assert await client.now()
        await trio.sleep(100.0)
        assert (feeds[0]._streams, feeds[0].heartbeats._streams) == ({}, {})


async def test_whoever_comes_back_to_another_host_misses_nothing_that_it_knows_of() -> None:
    """Catches ids of one host that were taken for those of another, which has counted fewer events."""
    view: Any = SimpleNamespace(on_begun=[], on_fact=[], tournaments={}, guard=SimpleNamespace())
    cup: Any = SimpleNamespace(record=Record("cup", Opened("connect-4", "round-robin")))

    def begin(numbers: range) -> None:
        for number in numbers:
            match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0, name=f"cup-{number}")
            for begun in view.on_begun:
                begun(cup, match)

    async with trio.open_nursery() as nursery:
        view.guard = Guard(nursery)
        one = streams.Feed(view, 15.0)
        begin(range(5))
        other = streams.Feed(view, 15.0)  # of a host that was started later
        here: Any = Slow(streams.REMEMBERED)
        here.request = SimpleNamespace(headers={}, query={})
        one.stream(here)
        begin(range(5, 7))
        begin(range(7, 20))  # the client is away
        there: Any = Slow(streams.REMEMBERED)
        there.request = SimpleNamespace(headers={"last-event-id": f"{_id(here.told[1])}"}, query={})
        if (behind := other.stream(there)) is not None:
            await behind
        assert {b'"cup-%d"' % number in b"".join(there.told) for number in range(7, 20)} == {True}
        nursery.cancel_scope.cancel()


def ended(name: str, *ages: float) -> Record:
    """A tournament of that name, whose matches have ended so many seconds ago."""
    record, names, now = Record(name, Opened("connect-4", "round-robin")), ("ann", "bob"), time.time()
    for fact in map(Entered, names):
        record.add(fact)
    for number, ago in enumerate(ages, 1):
        record.add(Drew((Pairing(number, number, *names),)))
        over = Concluded(f"{name}-{number}", number, names, None, Ending.PLAYED, "", (0.5, 0.5), (), ())
        record.add(structs.replace(over, ended=now - ago))
    return record


async def test_whoever_comes_back_is_told_of_the_matches_that_ended_while_nobody_could_be_told() -> None:
    """Catches results that a stream left out for good when the process that tells it was started again."""
    records = ended("cup", 2 * streams.RECENT, 30.0, 10.0), ended("league", 20.0, 5.0)
    tournaments = {record.name: SimpleNamespace(record=record) for record in records}
    view: Any = SimpleNamespace(on_begun=[], on_fact=[], tournaments=tournaments, guard=SimpleNamespace())
    feed = streams.Feed(view, 15.0)
    view.tournaments.clear()  # or the first who listens would have their tables made
    async with trio.open_nursery() as nursery:
        feed.heartbeats = streams.Heartbeats(Guard(nursery), 15.0)
        back, new = Slow(10), Slow(10)
        back.request = SimpleNamespace(headers={"last-event-id": "7"}, query={})
        for each in (back, new):
            one: Any = each
            feed.stream(one)
        ends = [json.loads(event.split(b"data: ")[1]) for event in back.told]
        assert [end["match"] for end in ends] == ["cup-2", "league-1", "cup-3", "league-2"]
        assert [_id(event) - feed._first for event in back.told] == [1, 2, 3, 4]
        assert new.told == []
        nursery.cancel_scope.cancel()


def _id(event: bytes) -> int:
    return int(event.split(b"\n")[0][4:])
