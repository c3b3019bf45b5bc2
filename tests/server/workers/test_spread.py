"""Matches of a large tournament are played by another worker, and nobody who plays or looks can tell.

Two hosts in one process, with a conduit between them as workers have it; bots come to the first.
"""

import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from math import ceil, inf
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from games import connect4
from games.catalogue import catalogue
from server.host.host import Host
from server.host.names import key
from server.host.wire_log import TapeSnapshot
from server.net.guard import PEER_GONE, Guard
from server.net.limits import Limits, Rate
from server.net.outbox import Outbox
from server.net.readiness import readiness
from server.net.sockets import SocketWire
from server.net.wire import Wire
from server.protocols import tcp
from server.protocols.dialect import Movable
from server.protocols.house.talk import HouseTalk
from server.protocols.passable import Passable
from server.show.conduit import PACKET, Conduit
from server.show.feed import Teller
from server.workers.guests import Guest, Guests
from server.workers.match_messages import (
    Between,
    Closed,
    Decided,
    Fetch,
    FromHolder,
    Left,
    Play,
    Returned,
    Sit,
    Together,
)
from server.workers.spread import HOME, Pair, Spread
from server.workers.starting import conduit_pair
from tests.hang import HANG
from tournament.desk import Desk
from tournament.events import HOST_FAILED, Ending, Fault
from tournament.facts import Concluded, Opened, State
from tournament.lent import Lent
from tournament.match import Match
from tournament.refusals import Refusal
from tournament.timekeeper import LATE, Timekeeper
from tournament.tournament import Tournament

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on")

GAME = "connect-4"
LIMITS = Limits()
JUNK = 6  # messages, and more come back only in days
ONCE = Limits(junk=Rate(JUNK, 1e6))
AGAIN = 5.0  # seconds, and more than pass before a match that has failed is dealt again
WINS = (0, 1) * 3 + (0,)  # whoever begins gets four in the first column


class Bot:
    """One end of a connection over which somebody speaks the house protocol, a line at a time."""

    def __init__(self, name: str, connected: socket.socket) -> None:
        self.name = name
        self.begun: list[dict[str, Any]] = []
        self.ends: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.you = ""
        self.token = ""
        self._connected = connected
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(connected))
        self._unread = b""

    async def say(self, **message: Any) -> None:
        await self.send(json.dumps(message).encode() + b"\n")

    async def send(self, sent: bytes) -> None:
        await self._stream.send_all(sent)

    def say_at_once(self, **message: Any) -> None:
        """Say something before any other task runs."""
        self._connected.send(json.dumps(message).encode() + b"\n")

    async def line(self) -> bytes:
        while b"\n" not in self._unread:
            received = await self._stream.receive_some(65536)
            if not received:
                raise trio.EndOfChannel
            self._unread += received
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    async def hear_state(self) -> str:
        """The status in the next line, of a bot that speaks Santorini's own protocol."""
        return json.loads(await self.line())[0]

    async def hear(self) -> dict[str, Any]:
        message = json.loads(await self.line())
        match message["type"]:
            case "welcome":
                self.token = message["token"]
            case "begin":
                self.begun.append(message)
                self.you = message["you"]
            case "end":
                self.ends.append(message)
            case "refused":
                self.refused.append(message["reason"])
            case _:
                pass
        return message

    async def until(self, *kinds: str) -> dict[str, Any]:
        while (message := await self.hear())["type"] not in kinds:
            pass
        return message

    async def asked(self, ply: int) -> dict[str, Any]:
        """Until that ply is reached."""
        while (message := await self.until("turn"))["ply"] != ply:
            pass
        return message

    async def move(self, ply: int) -> None:
        await self.say(type="move", ply=ply, move=WINS[ply], spent=0.25, note=f"ply {ply}")

    async def play(self, from_ply: int = 0) -> dict[str, Any]:
        """To the end of a match, of which that ply has been told."""
        ply = from_ply
        while True:
            if ply < len(WINS) and self.you == ("first", "second")[ply % 2]:
                await self.move(ply)
            message = await self.until("turn", "end")
            if message["type"] == "end":
                return message
            ply = message["ply"]

    async def close(self) -> None:
        await self._stream.aclose()


class Unplugged(SocketWire):
    """A connection of which the other end's machine answers no more, if anybody asks."""

    async def still_there(self) -> bool:
        return False


class Both:
    """The worker that holds a tournament, and another one."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        # Nothing is given back to a clock, and told, however busy the machine is.
        self.holder, self.other = (Host(limits, timekeeper=Timekeeper(inf)) for _ in range(2))
        self._spread = Spread(self.holder, Teller(self.holder, lambda: 0), 1)
        self._place = Spread(self.other, Teller(self.other, lambda: 0), 1)
        self._conduits: list[socket.socket] = []
        self._meeting = trio.CancelScope()  # of the other worker with the first …
        self._lending = trio.CancelScope()  # … and of the first with the other
        self.bots: list[Bot] = []
        self.connections = 0  # that the first worker has, wherever they are served

    async def run(self, nursery: trio.Nursery) -> None:
        for host in (self.holder, self.other):
            await nursery.start(host.run)
        ours, theirs = conduit_pair()
        self._conduits = [ours, theirs]
        nursery.start_soon(self._lend, ours)
        nursery.start_soon(self._meet, theirs)
        nursery.start_soon(self._place.run)
        while not (self._spread._pairs and self._place._pairs):
            await trio.lowlevel.checkpoint()

    async def _lend(self, ours: socket.socket) -> None:
        with self._lending:
            await self._spread.meet(1, ours)

    async def _meet(self, theirs: socket.socket) -> None:
        with self._meeting:
            await self._place.meet(0, theirs)

    @property
    def guests(self) -> Guests:
        """What the other worker plays for the first."""
        return self._place._pairs[0].guests

    def lose_descriptors(self, *which: int) -> None:
        """The other worker has no room for these of the descriptors that it is sent."""
        guests, number = self.guests, count()
        take = guests.take

        def receive(message: FromHolder, descriptor: int | None) -> None:
            if isinstance(message, Sit) and descriptor is not None and next(number) in which:
                os.close(descriptor)
                descriptor = None
            take(message, descriptor)

        guests.take = receive

    def note_beginnings(self, begins: Callable[[bool], None]) -> None:
        """Call `begins` whenever the other worker begins a match, and when it has begun it."""
        guests = self.guests
        take = guests.take

        def receive(message: FromHolder, descriptor: int | None) -> None:
            begins(isinstance(message, Play))
            take(message, descriptor)
            begins(False)

        guests.take = receive

    def fetched(self) -> list[str]:
        """The matches that the first worker has the other one send home from now on."""
        fetched: list[str] = []
        guests = self.guests
        take = guests.take

        def receive(message: FromHolder, descriptor: int | None) -> None:
            if isinstance(message, Fetch):
                fetched.append(message.match)
            take(message, descriptor)

        guests.take = receive
        return fetched

    def delay_fetching(self) -> Callable[[], None]:
        """Have what the first worker wants back be heard by the other one only when this is called."""
        guests, late = self.guests, list[FromHolder]()
        take = guests.take

        def receive(message: FromHolder, descriptor: int | None) -> None:
            if isinstance(message, Fetch):
                late.append(message)
            else:
                take(message, descriptor)

        def go_on() -> None:
            guests.take = take
            for message in late:
                take(message, None)

        guests.take = receive
        return go_on

    def hang(self) -> Guests:
        """The other worker neither hears nor says anything any more; returns what it plays."""
        guests = self.guests
        self._conduits[1] = self._conduits[1].dup()
        self._meeting.cancel()
        return guests

    def say(self, message: Between) -> None:
        """What the other worker had said before it hung is heard only now."""
        Conduit[Together](self._conduits[1], Together, inf).say(Together([message]))

    def cut(self) -> None:
        """The other worker is gone."""
        self._conduits[1].shutdown(socket.SHUT_RDWR)

    def end_the_holder(self) -> None:
        """The worker that holds the tournament is gone."""
        self._lending.cancel()

    def drain(self) -> None:
        """The worker that holds the tournament is about to stop."""
        self._spread.drain()

    def stop(self) -> None:
        """The other worker is about to end."""
        self._place.stop()

    async def come(self, name: str, more: bytes = b"", *, token: bool = True) -> Bot:
        """A bot comes, and sends more together with its hello; without a token it is given one."""
        bot = self.connect(name)
        await bot.send(hello(name, f"{name}-keeps-this-secret" if token else None) + more)
        await bot.until("welcome")
        return bot

    def connect(self, name: str) -> Bot:
        """A connection of somebody who has yet to say so."""
        ours, theirs = socket.socketpair()
        wire = Unplugged(ours, "192.0.2.1", readiness())
        self.holder.guard.start_soon(self._attend, wire)
        self.bots.append(bot := Bot(name, theirs))
        return bot

    async def _attend(self, wire: SocketWire) -> None:
        self.connections += 1
        try:
            await tcp.attend(self.holder, wire, Visitor())  # pyright: ignore
        except PEER_GONE:
            pass
        finally:
            wire.close()
            self.connections -= 1

    @property
    def elsewhere(self) -> int:
        """Moves that the other worker has played."""
        return self.other.timekeeper.moves

    @property
    def is_clear(self) -> bool:
        """Whether nothing is left of what the other worker has played, in either of them."""
        guests, lent = self.guests, self._spread._pairs[1].lent
        left = guests._playing or guests._guests or guests._attendances
        return not (left or lent)


def hello(name: str, token: str | None = None) -> bytes:
    said = {"type": "hello", "name": name, "game": GAME} | ({} if token is None else {"token": token})
    return json.dumps(said).encode() + b"\n"


class Visitor:
    """Whoever comes."""

    def authenticated(self) -> None:
        pass


@asynccontextmanager
async def two_workers(limits: Limits = LIMITS) -> AsyncIterator[Both]:
    """Two that lend each other matches; all bots that came to them hang up at the end."""
    both = Both(limits)
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            await both.run(nursery)
            yield both
            for bot in both.bots:
                await bot.close()
            nursery.cancel_scope.cancel()
    for conduit in both._conduits:
        conduit.close()


@asynccontextmanager
async def playing(
    format: str = "double-round-robin", limits: Limits = LIMITS, *, token: bool = True
) -> AsyncIterator[tuple[Both, Tournament, Bot, Bot]]:
    """Two bots in the middle of a match that another worker plays: both know of ply 2."""
    async with two_workers(limits) as both:
        cup = await both.holder.open("cup", Opened(GAME, format, entrants=2))
        bots = [await both.come(name, token=token) for name in ("ann", "bob")]
        for bot in bots:
            await bot.until("begin")
            await bot.until("turn")
        assert all(isinstance(match, Lent) for match in cup.matches.values())
        first, second = sorted(bots, key=lambda bot: bot.you)
        await first.move(0)
        await second.asked(1)
        await second.move(1)
        await first.asked(2)
        await second.asked(2)
        yield both, cup, first, second
    for host in (both.holder, both.other):
        assert not host.guard.caught


async def over(cup: Tournament, matches: int) -> list[Concluded]:
    while len(cup.record.matches) < matches:  # noqa: ASYNC110 - nobody tells
        await trio.sleep(0.001)
    return [await cup.concluded(name) for name in cup.record.matches]


async def test_matches_are_played_elsewhere_and_kept_where_they_are_dealt() -> None:
    async with playing() as (both, cup, first, second):
        ends: list[dict[str, Any]] = []

        async def play_on(bot: Bot) -> None:
            ends.append(await bot.play(2))
            await bot.until("turn")  # of the next match
            ends.append(await bot.play())
            assert (await bot.until("standings"))["final"]

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play_on, first)
            nursery.start_soon(play_on, second)
        facts = await over(cup, 2)
        assert cup.record.state is State.FINISHED
        assert both.is_clear
        receipts = {end["receipt"] for end in ends}
        assert receipts == {await cup.receipt(name) for name in cup.record.matches}
    assert both.elsewhere == 2 * len(WINS)
    assert both.holder.timekeeper.moves == 0
    assert [fact.moves for fact in facts] == [WINS, WINS]
    assert [fact.winner for fact in facts] == [0, 0]
    assert [[each.note for each in fact.notes] for fact in facts] == [[f"ply {ply}" for ply in range(7)]] * 2
    assert [fact.thought for fact in facts] == [(1.0, 0.75)] * 2
    told = {(end["match"], end["winner"], end["ending"], end["receipt"]) for end in ends}
    assert len(told) == 2


async def test_a_worker_plays_one_match_for_each_two_that_it_lends_in_however_many_tournaments() -> None:
    """Catches a worker that plays nearly all matches of its second large tournament."""
    async with two_workers() as both:
        for cup in ("one", "two"):
            await both.holder.open(cup, Opened(GAME, "round-robin", entrants=8))
            bots = [await both.come(f"{cup}-{number}") for number in range(8)]
            for bot in bots:
                await bot.until("begin")
        played = [match for cup in both.holder.tournaments.values() for match in cup.matches.values()]
        home = sum(not isinstance(match, Lent) for match in played)
        assert len(played) == 8
        assert home == ceil(8 / (1 + HOME))


async def both_play_on(first: Bot, second: Bot, ply: int = 2) -> list[dict[str, Any]]:
    ends: list[dict[str, Any]] = []

    async def play_on(bot: Bot) -> None:
        ends.append(await bot.play(ply))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(play_on, first)
        nursery.start_soon(play_on, second)
    return ends


async def play_where_it_was_dealt(both: Both, bots: Sequence[Bot]) -> None:
    """Have two play a whole match, which is not to be played elsewhere."""
    for bot in bots:
        await bot.until("begin")
    first, second = sorted(bots, key=lambda bot: bot.you)
    ends = await both_play_on(first, second, 0)
    assert [end["ending"] for end in ends] == ["played", "played"]
    assert both.elsewhere == 0
    assert not both.guests._attendances


async def test_a_bot_that_loses_its_connection_comes_back_to_its_match_as_it_stood() -> None:
    async with playing() as (both, cup, first, second):
        await first.close()
        back = await both.come(first.name)
        begun = await back.until("begin")
        assert (begun["moves"], "restarted" in begun) == ([0, 1], False)
        assert (await back.until("turn"))["ply"] == 2
        assert both.is_clear
        assert both.other.timekeeper.idle, "nobody loses it by a clock there"
        ends = await both_play_on(back, second)
        (fact, *_) = await over(cup, 1)
        assert (fact.moves, fact.winner, fact.ending) == (WINS, 0, Ending.PLAYED)
        assert ends[0] == ends[1]
        assert [each["kind"] for each in ends[0]["cause"]] == ["disconnected", "returned"]
        assert not second.refused
        assert len(second.begun) == 1, "whoever stayed is told nothing"
        assert both.elsewhere == 2


async def test_a_bot_without_a_token_that_has_hung_up_elsewhere_may_come_again_at_once() -> None:
    """Catches one whose name is taken by itself, until the other worker has said that it is gone."""
    async with two_workers() as both:
        cup = await both.holder.open("cup", Opened("santorini", "round-robin", entrants=2))
        ann, bob = both.connect("ann"), both.connect("bob")
        for bot in (ann, bob):
            await bot.send(f"{bot.name}\n".encode())
        for bot in (ann, bob):
            assert await bot.hear_state() == "placeWorker"
        assert all(isinstance(match, Lent) for match in cup.matches.values())
        guests = both.hang()
        await trio.testing.wait_all_tasks_blocked()
        await ann.close()
        again = both.connect("ann")
        await again.send(b"ann\n")
        await both.come("eve")  # by then that name was read
        both.cut()  # so the connections of both are known to have ended
        guests.end()
        other = both.connect("bob")
        await other.send(b"bob\n")
        assert await again.hear_state() == "placeWorker"
    for host in (both.holder, both.other):
        assert not host.guard.caught


async def test_what_a_bot_said_elsewhere_is_known_after_its_network_was_gone() -> None:
    """Catches an empty log of the match, for the author of the one bot that wants to know what happened."""
    async with two_workers() as both:
        cup = await both.holder.open("cup", Opened("santorini", "round-robin", entrants=2))
        bots = [both.connect(name) for name in ("ann", "bob")]
        for bot in bots:
            await bot.send(f"{bot.name}\n".encode())
        (turn,) = {json.loads(await bot.line())[1] for bot in bots}
        first = next(bot for bot in bots if bot.name == turn)
        assert all(isinstance(match, Lent) for match in cup.matches.values())
        await first.send(b"0 0\n")
        for bot in bots:
            assert await bot.hear_state() == "placeWorker"
        (match,) = cup.matches
        again = both.connect(turn)
        await again.send(f"{turn}\n".encode())
        assert await again.hear_state() == "placeWorker"
        tapes = both.holder.wires.of(match).values()
        assert [each.text for tape in tapes for each in tape.messages if each.by_bot][-1] == b"0 0"


async def test_a_bot_that_hangs_up_after_a_match_is_known_for_that_wherever_it_was_played() -> None:
    async with two_workers() as both:
        cup = await both.holder.open("cup", Opened("santorini", "double-round-robin", entrants=2))
        ann, bob = bots = both.connect("ann"), both.connect("bob")
        for bot in bots:
            await bot.send(f"{bot.name}\n".encode())
        (turn,) = {json.loads(await bot.line())[1] for bot in bots}
        assert all(isinstance(match, Lent) for match in cup.matches.values())
        await (ann if turn == "ann" else bob).send(b"9 9\n" * LIMITS.refusals)  # so it has lost
        for bot in bots:
            while await bot.hear_state() != "gameOver":
                pass
            assert await bot.hear_state() == "placeWorker"
        await ann.close()
        while not both.holder.one_match_each.is_known(("santorini", key("ann"))):  # noqa: ASYNC110
            await trio.sleep(0.001)
        assert not both.holder.one_match_each.is_known(("santorini", key("bob")))
    for host in (both.holder, both.other):
        assert not host.guard.caught


async def test_a_connection_that_has_ended_elsewhere_is_not_here_any_more() -> None:
    """Catches one that counts, for its address too, until the host is full."""
    async with playing() as (both, _, first, second):
        await first.close()
        while both.connections == 2:
            await trio.lowlevel.checkpoint()
        await second.say(type="bye")
        with pytest.raises(trio.EndOfChannel):
            await second.until("nothing more")
        while both.connections:
            await trio.lowlevel.checkpoint()


async def test_a_token_of_which_a_bot_shows_elsewhere_that_it_has_it_is_its_own_from_then_on() -> None:
    """Catches a name that anybody may claim while its bot is away, or after a restart, because it may never
    have got the token.
    """
    async with playing(token=False) as (both, cup, first, second):
        while cup.record.claims.keys() != {"ann", "bob"}:  # noqa: ASYNC110 - nobody tells
            await trio.sleep(0.001)
        assert not cup.record.matches, "the first match goes on elsewhere"
        await first.close()
        stranger = both.connect(first.name)
        await stranger.send(hello(first.name))
        assert "this is not its token" in (await stranger.until("welcome", "refused"))["reason"]
        back = both.connect(first.name)
        await back.send(hello(first.name, first.token))
        assert (await back.until("begin"))["moves"] == [0, 1]
        await back.until("turn")
        await both_play_on(back, second)


async def test_a_bot_on_which_a_worker_hangs_up_has_the_reason_in_its_match() -> None:
    async with playing(limits=ONCE) as (both, _, first, second):
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            for _ in range(JUNK + 1):
                await first.say(type="nonsense")
        with pytest.raises(trio.EndOfChannel):
            await first.until("nothing more")
        back = await both.come(first.name)
        assert (await back.until("begin"))["moves"] == [0, 1]
        await back.until("turn")
        ends = await both_play_on(back, second)
        lost, returned = ends[0]["cause"]
        assert (lost["kind"], returned["kind"]) == ("disconnected", "returned")
        assert lost["why"] == first.refused[-1]
        assert both.elsewhere == 2


async def test_a_bot_on_which_a_worker_hangs_up_is_cut_by_name_in_the_log_and_has_not_crashed() -> None:
    async with playing(limits=ONCE) as (both, _, first, _):
        with capture_logs() as logs:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                for _ in range(JUNK + 1):
                    await first.say(type="nonsense")
            with pytest.raises(trio.EndOfChannel):
                await first.until("nothing more")
            await first.close()
            while both.connections == 2:
                await trio.lowlevel.checkpoint()
        told = [(each["event"], each["player"]) for each in logs if each.get("player")]
        assert told == [("cut", first.name)]
        assert both.elsewhere == 2


async def test_a_bot_that_goes_from_worker_to_worker_may_say_as_much_as_one_that_stays() -> None:
    """Catches budgets that were as new in each match that was lent."""
    async with playing(limits=ONCE) as (both, _, first, second):
        for _ in range(JUNK - 1):
            await first.say(type="nonsense")
            await first.until("refused")
        ends = await both_play_on(first, second)
        for bot in (first, second):
            await bot.until("turn")  # of the next match, which is lent, too
        assert both.elsewhere == len(WINS)
        assert [end["ending"] for end in ends] == ["played", "played"]
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await first.say(type="nonsense")
            await first.say(type="nonsense")
        with pytest.raises(trio.EndOfChannel):
            await first.until("nothing more")
        assert len(first.refused) == JUNK + 1, "the last says why"


async def test_a_bot_may_take_its_seat_over_from_itself() -> None:
    async with playing() as (both, _, first, second):
        back = await both.come(first.name)
        with pytest.raises(trio.EndOfChannel):
            await first.until("nothing more")
        assert first.refused == ["somebody with the same token has taken over"]
        assert (await back.until("begin"))["moves"] == [0, 1]
        await back.until("turn")
        ends = await both_play_on(back, second)
        assert [end["ending"] for end in ends] == ["played", "played"]


async def test_what_a_bot_said_elsewhere_is_known_after_it_has_taken_over_from_itself() -> None:
    """Catches a log of the match that begins with the second connection."""
    async with playing() as (both, cup, first, second):
        (match,) = cup.matches
        back = await both.come(first.name)
        await back.until("turn")
        await both_play_on(back, second)
        (tape,) = (each for each in both.holder.wires.of(match).values() if each.name == first.name)
        said = [json.loads(each.text) for each in tape.messages if each.by_bot]
        assert [each["ply"] for each in said if each["type"] == "move"] == [0, 2, 4, 6]
        times = [each.at for each in tape.messages]
        assert times == sorted(times)


async def test_what_a_bot_says_just_as_its_opponent_leaves_is_answered() -> None:
    """Both messages are read before either is taken, and the first has the match and its bots go home."""
    async with playing() as (_, _, first, second):
        second.say_at_once(type="bye")
        first.say_at_once(type="state")
        heard: set[str] = set()  # the answer comes first if that message is taken first
        while not ("end" in heard and heard & {"turn", "refused"}):
            heard.add((await first.hear())["type"])


async def test_a_match_that_is_decided_is_not_fetched_whoever_leaves_it() -> None:
    """Catches two messages a match of bots that leave when it is over, and come again for the next."""
    async with playing() as (both, cup, first, second):
        (lent,) = cup.matches.values()
        fetched = both.fetched()
        await both_play_on(first, second)
        assert lent.verdict is not None
        for seat in range(2):
            lent.leave(seat, trio.current_time())
        for bot in (first, second):
            await bot.until("turn")  # of the next match, which was lent after that
        assert fetched == []
        (lent,) = cup.matches.values()
        lent.leave(0, trio.current_time())
        await over(cup, 2)
        assert fetched == [lent.name]


@pytest.mark.parametrize("says", ["bye", "resign"])
async def test_a_bot_that_gives_up_loses_there_as_here(says: str) -> None:
    async with playing() as (_, cup, first, second):
        await first.say(type=says)
        end = await second.until("end")
        assert (end["winner"], end["ending"]) == ("second", "left" if says == "bye" else "resigned")
        (fact, *_) = await over(cup, 1)
        assert (fact.moves, fact.winner) == (WINS[:2], 1)


async def test_whoever_lets_its_time_run_out_loses_wherever_the_match_is_played(
    mock_clock: trio.testing.MockClock,
) -> None:
    async with playing() as (both, cup, first, second):
        (match,) = cup.matches
        mock_clock.jump(both.guests._playing[match].match.deadline + LATE - trio.current_time())
        for bot in (first, second):
            end = await bot.until("end")
            assert (end["ending"], end["winner"]) == ("time", second.you)
        assert both.elsewhere == 2


async def test_an_organiser_s_orders_reach_a_match_wherever_it_is_played() -> None:
    async with playing() as (_, cup, first, second):
        (match,) = cup.matches
        await Desk(cup).withdraw(second.name)
        for bot in (first, second):
            end = await bot.until("end")
            assert (end["match"], end["winner"], end["ending"]) == (match, "first", "left")
        assert (await cup.concluded(match)).moves == WINS[:2]


async def test_a_match_is_void_when_that_was_ordered_wherever_it_is_played() -> None:
    """Catches an order that is carried out and never answered."""
    async with playing() as (_, cup, first, second):
        (match,) = cup.matches
        await Desk(cup).void(match, "a cable")
        for bot in (first, second):
            end = await bot.until("end")
            assert (end["match"], end["ending"], end["why"]) == (match, "void", "a cable")


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The game writes moves that it does not take back."""
    odd = msgspec.structs.replace(connect4.GAME, write=lambda move: f"into column {move}")
    monkeypatch.setattr(connect4, "GAME", odd)
    catalogue.cache_clear()
    yield
    catalogue.cache_clear()


@pytest.mark.usefixtures("forgetful")
async def test_a_match_whose_game_forgets_how_it_went_is_void_when_it_comes_home() -> None:
    """Catches a worker that ends, with all that it plays, when one of its bots leaves such a match."""
    async with playing() as (both, cup, first, second):
        (match,) = cup.matches
        await second.close()
        end = await first.until("end")
        assert (end["match"], end["ending"], end["why"]) == (match, "void", HOST_FAILED)
        (fact,) = await over(cup, 1)
        assert (fact.fault, len(fact.moves)) == (Fault.HOST, 2)
        ((place, times),) = both.holder.guard.caught.items()
        assert place.startswith("Illegal")
        assert times == 1
        both.holder.guard.caught.clear()


async def test_one_of_two_orders_to_void_a_match_is_carried_out_wherever_it_is_played() -> None:
    async with playing() as (_, cup, *_):
        (match,) = cup.matches
        refused: list[str] = []

        async def order() -> None:
            try:
                await Desk(cup, "organiser").void(match, "a cable")
            except Refusal as why:
                refused.append(str(why))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(order)
            nursery.start_soon(order)
        assert refused == [f"{match} is void already"]
        assert (await cup.concluded(match)).ending is Ending.VOID


async def test_a_match_that_ends_while_it_is_ordered_to_be_void_is_void() -> None:
    """Catches a result that stands although the organiser was told that it was voided."""
    async with playing() as (both, cup, first, second):
        (match,) = cup.matches
        for ply in range(2, len(WINS)):
            bot = (first, second)[ply % 2]
            if ply > 2:
                await bot.asked(ply)
            await bot.move(ply)
        while both.elsewhere < len(WINS):
            await trio.lowlevel.checkpoint()
        assert cup.matches[match].verdict is None, "the other worker has not told it yet"
        await Desk(cup).void(match, "a cable")
        assert match in cup.record.voided
        for bot in (first, second):
            assert (await bot.until("end"))["ending"] == "played"


async def test_a_match_is_void_when_that_was_ordered_though_whoever_played_it_is_gone() -> None:
    async with playing() as (both, cup, *_):
        (match,) = cup.matches
        both.cut()
        await Desk(cup).void(match, "a cable")
        assert (await cup.concluded(match)).ending is Ending.VOID


async def test_when_the_other_worker_is_gone_a_match_goes_on_from_what_was_heard_of_it() -> None:
    async with playing() as (both, cup, first, second):
        (lent,) = cup.matches.values()
        while lent.ply < 2:  # noqa: ASYNC110 - it is told ten times a second
            await trio.sleep(0.01)
        both.cut()
        again: list[Bot] = []
        for bot in (first, second):
            with pytest.raises(trio.EndOfChannel):
                await bot.until("end")
            again.append(await both.come(bot.name))
        for bot in again:
            begun = await bot.until("begin")
            assert (begun["moves"], begun["restarted"]) == ([0, 1], True)
            await bot.until("turn")
        ends = await both_play_on(again[0], again[1])
        assert [end["ending"] for end in ends] == ["played", "played"]
        assert both.elsewhere == 2
        kept = (await over(cup, 1))[0]
        assert [noted.note for noted in kept.notes] == [f"ply {ply}" for ply in range(len(WINS))]
        assert kept.thought == (0.25 * sum(ply % 2 == 0 for ply in range(len(WINS))), 0.25 * (len(WINS) // 2))


async def test_a_match_that_has_come_home_is_not_touched_by_the_end_of_whoever_had_it() -> None:
    """And its bots are dealt the next one when it is over."""
    async with playing() as (both, cup, first, second):
        await first.close()
        back = await both.come(first.name)
        await back.until("begin")
        await back.until("turn")
        both.cut()
        ends = await both_play_on(back, second)
        assert [end["ending"] for end in ends] == ["played", "played"]
        assert len(second.begun) == 1, "it went on where it was"
        for bot in (back, second):
            await bot.until("begin")
        assert len(cup.record.matches) == 1


async def test_moves_that_were_played_until_a_worker_ended_are_not_lost() -> None:
    async with playing() as (both, _, first, second):
        await first.move(2)
        await second.asked(3)
        both.stop()
        both.cut()
        for bot in (first, second):
            with pytest.raises(trio.EndOfChannel):
                await bot.until("end")
            back = await both.come(bot.name)
            assert (await back.until("begin"))["moves"] == [0, 1, 0]


async def test_an_order_comes_after_all_that_was_played_before_it_was_heard() -> None:
    """Catches records that are void before their last moves, which nobody could verify."""
    async with playing() as (both, cup, first, second):
        (name,) = cup.matches
        let_go_on, come_home = both.delay_fetching(), list[Match]()
        both.holder.on_begun.append(lambda _, match: come_home.append(match))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Desk(cup, "alice").void, name, "the board had fallen")
            await trio.testing.wait_all_tasks_blocked()
            await first.move(2)
            await second.asked(3)
            let_go_on()
        times = [event.at for event in come_home[0].log.events]
        assert times == sorted(times)
        assert (await cup.concluded(name)).moves == (0, 1, 0)


async def test_when_the_holder_is_gone_nobody_goes_on_with_its_matches() -> None:
    """Catches bots that play on where nobody keeps what they play."""
    async with playing() as (both, _, first, _):
        guests = both.guests
        both.end_the_holder()
        await trio.testing.wait_all_tasks_blocked()
        await first.move(2)
        await trio.testing.wait_all_tasks_blocked()
        assert not guests._playing
        assert not guests._guests
        assert both.other.timekeeper.idle
        assert both.elsewhere == 2


async def test_before_a_stop_a_match_comes_home_if_it_can_go_on_after_it() -> None:
    async with playing() as (both, cup, first, second):
        (match,) = cup.matches
        both.drain()
        while isinstance(cup.matches[match], Lent):
            await trio.lowlevel.checkpoint()
        deadline = cup.matches[match].deadline
        assert deadline <= both.holder.timekeeper.due <= deadline + LATE, "nobody may think for ever"
        ends = await both_play_on(first, second)
        assert both.elsewhere == 2
        assert [end["ending"] for end in ends] == ["played", "played"]
        assert len(first.begun) == len(second.begun) == 1, "they are told nothing"


async def test_a_worker_is_not_drained_before_such_a_match_is_home() -> None:
    """Catches moves that bots had been told, and that were not kept when the host stopped."""
    async with playing() as (both, cup, *_):
        (match,) = cup.matches
        go_on, drained = both.delay_fetching(), list[bool]()

        async def drain() -> None:
            await both.holder.drain()
            drained.append(isinstance(cup.matches[match], Lent))

        both.drain()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(drain)
            await trio.testing.wait_all_tasks_blocked()
            assert not drained
            go_on()
        assert drained == [False]


async def test_a_match_whose_bots_have_gone_before_its_result_is_known_here_is_over() -> None:
    """Catches a tournament that waits for its end, and deals nothing to them any more."""
    async with playing() as (both, cup, *_):
        (match,) = cup.matches
        guests = both.hang()
        played = guests._playing[match]
        for guest in played.guests:
            both.say(Closed(guest.number))
        played.match.resign(0, trio.current_time())
        both.say(Decided(match, played.match.outcome))
        (fact,) = await over(cup, 1)
        assert (fact.ending, fact.winner) == (Ending.RESIGNED, 1)
        for name in ("ann", "bob"):
            await both.come(name)
        while cup.matches.keys() <= {match}:  # noqa: ASYNC110 - until the next one is dealt
            await trio.sleep(0.001)
        both.cut()
        guests.end()


@pytest.mark.parametrize("hesitates", [0, 1])
async def test_a_match_of_a_bot_that_is_just_saying_something_is_played_at_home(hesitates: int) -> None:
    """Its connection cannot be passed on. Catches an opponent that nobody hears any more."""
    begun, rest = b'{"type":', b'"state"}\n'
    async with two_workers() as both:
        await both.holder.open("cup", Opened(GAME, "double-round-robin", entrants=2))
        bots = [await both.come(name, begun * (hesitates == at)) for at, name in enumerate(("ann", "bob"))]
        for bot in bots:
            await bot.until("turn")
        await bots[hesitates].send(rest)
        first, second = sorted(bots, key=lambda bot: bot.you)
        ends = await both_play_on(first, second, 0)
        assert [end["ending"] for end in ends] == ["played", "played"]
        assert both.elsewhere == 0


async def test_a_bot_that_came_back_while_the_other_worker_hung_goes_on_when_that_is_gone() -> None:
    """Catches a match that is void by the host's fault, and a bot that is thrown out."""
    async with playing() as (both, cup, first, second):
        (lent,) = cup.matches.values()
        while lent.ply < 2:  # noqa: ASYNC110 - it is told ten times a second
            await trio.sleep(0.01)
        guests = both.hang()
        back = await both.come(first.name)
        both.cut()
        guests.end()
        with pytest.raises(trio.EndOfChannel):
            await second.until("end")
        again = await both.come(second.name)
        for bot in (back, again):
            assert (await bot.until("begin"))["moves"] == [0, 1]
            await bot.until("turn")
        ends = await both_play_on(back, again)
        assert [end["ending"] for end in ends] == ["played", "played"]


async def test_a_bot_that_comes_back_as_its_match_ends_elsewhere_is_dealt_the_next_one() -> None:
    """Whether it comes before the end is known here, or before its opponent is back.

    Catches a bot that still has its seat in that match when it is dealt another: a fault of the host.
    """
    for known in (True, False):
        async with playing() as (both, cup, first, _):
            (match,) = cup.matches
            guests = both.hang()
            played = guests._playing[match]
            of_first, of_second = (guest.number for guest in played.guests)
            played.match.resign(0, trio.current_time())
            if not known:
                await both.come(first.name)
            both.say(Decided(match, played.match.outcome))
            await over(cup, 1)
            if known:
                await both.come(first.name)
            both.say(Closed(of_first))
            both.say(Returned(of_second, (), TapeSnapshot(), None))
            while cup.matches.keys() <= {match}:  # noqa: ASYNC110 - until the next one is dealt
                await trio.sleep(0.001)
            (following,) = cup.matches.values()
            assert not any(player.retired for player in cup._play.players(following))
            both.cut()
            guests.end()


@pytest.mark.parametrize("missing", [(0,), (1,), (0, 1)])
async def test_a_match_for_whose_connections_the_other_worker_has_no_room_is_played_at_home(
    missing: tuple[int, ...],
) -> None:
    """Catches bots that are told nothing of their match, and lose it by their clocks."""
    async with two_workers() as both:
        both.lose_descriptors(*missing)
        await both.holder.open("cup", Opened(GAME, "double-round-robin", entrants=2))
        bots = [await both.come(name) for name in ("ann", "bob")]
        await play_where_it_was_dealt(both, bots)


async def test_a_bot_whose_dialect_fails_as_it_comes_back_is_hung_up_on_and_nobody_else_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches the worker that holds a tournament and ends, because of a dialect that may be anybody's."""
    came_back, number = HouseTalk.came_back, count()

    def fails_once(talk: HouseTalk, *, over: bool) -> None:
        if next(number) == 0:
            raise ZeroDivisionError
        came_back(talk, over=over)

    monkeypatch.setattr(HouseTalk, "came_back", fails_once)
    async with two_workers() as both:
        await both.holder.open("cup", Opened(GAME, "double-round-robin", entrants=2))
        bots = [await both.come(name) for name in ("ann", "bob")]
        for bot in bots:
            await bot.until("begin")
        await both_play_on(*sorted(bots, key=lambda bot: bot.you), 0)
        while both.connections == 2:
            await trio.lowlevel.checkpoint()
        assert both.connections == 1
        assert [*both.holder.guard.caught.values()] == [1]
        for again in [await both.come(bot.name) for bot in bots]:
            await again.until("begin")


async def test_a_dialect_that_fails_to_hear_that_a_bot_has_its_token_ends_no_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches the worker that holds a tournament and ends, because of a dialect that may be anybody's."""
    acknowledged = HouseTalk.acknowledged

    def fails_at_home(talk: HouseTalk) -> None:
        if not isinstance(talk.attendance.visit, Guest):
            raise ZeroDivisionError
        acknowledged(talk)

    monkeypatch.setattr(HouseTalk, "acknowledged", fails_at_home)
    async with two_workers() as both:
        await both.holder.open("cup", Opened(GAME, "round-robin", entrants=2))
        bots = [await both.come(name, token=False) for name in ("ann", "bob")]
        for bot in bots:
            await bot.until("begin")
        ends = await both_play_on(*sorted(bots, key=lambda bot: bot.you), 0)
        assert [end["ending"] for end in ends] == ["played", "played"]
        assert [*both.holder.guard.caught.values()] == [2]


async def test_a_bot_whose_opponent_s_dialect_fails_as_both_are_passed_on_is_heard_in_the_next_match(
    mock_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches one that was let go of, and that nobody read from any more."""
    remembered, number = HouseTalk.remembered, count()

    def fails_once(talk: HouseTalk) -> str | None:
        if next(number) == 1:
            raise ZeroDivisionError
        return remembered(talk)

    monkeypatch.setattr(HouseTalk, "remembered", fails_once)
    async with two_workers() as both:
        cup = await both.holder.open("cup", Opened(GAME, "round-robin", entrants=2))
        bots = [await both.come(name) for name in ("ann", "bob")]
        while not cup.record.matches:
            await trio.lowlevel.checkpoint()
        mock_clock.jump(AGAIN)
        for bot in bots:
            await bot.until("begin")
        ends = await both_play_on(*sorted(bots, key=lambda bot: bot.you), 0)
        assert [end["ending"] for end in ends] == ["played", "played"]


@pytest.mark.parametrize("failing", [(0,), (1,), (0, 1)])
async def test_a_match_whose_dialect_fails_at_the_other_worker_is_played_at_home(
    failing: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a worker that ends, with all that it plays, because of a dialect that may be anybody's."""
    number, seat = count(), tcp.Connection.seat

    def seated(connection: tcp.Connection, dialect: str, words: str) -> Movable:
        if next(number) in failing:
            raise ZeroDivisionError
        return seat(connection, dialect, words)

    monkeypatch.setattr(tcp.Connection, "seat", seated)
    async with two_workers() as both:
        await both.holder.open("cup", Opened(GAME, "round-robin", entrants=2))
        bots = [await both.come(name) for name in ("ann", "bob")]
        await play_where_it_was_dealt(both, bots)
        assert sum(both.other.guard.caught.values()) == len(failing)


async def test_a_match_whose_game_fails_at_the_other_worker_is_void_and_dealt_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches a worker that ends, with all that it plays, because of a match that it was lent."""
    fails = False
    failures = 0

    def begins(elsewhere: bool) -> None:
        nonlocal fails
        fails = elsewhere and not failures

    def start() -> connect4.Connect4:
        nonlocal failures
        if fails:
            failures += 1
            raise OSError("too many open files")
        return connect4.start()

    monkeypatch.setattr(connect4, "GAME", msgspec.structs.replace(connect4.GAME, start=start))
    catalogue.cache_clear()
    async with two_workers() as both:
        both.note_beginnings(begins)
        cup = await both.holder.open("cup", Opened(GAME, "round-robin", entrants=2))
        bots = [await both.come(name) for name in ("ann", "bob")]
        for bot in bots:
            await bot.until("begin")
        first, second = sorted(bots, key=lambda bot: bot.you)
        ends = await both_play_on(first, second, 0)
        assert [end["ending"] for end in ends] == ["played", "played"]
        facts = [await cup.concluded(match) for match in cup.record.matches]
        assert [(fact.ending, fact.fault) for fact in facts] == [
            (Ending.VOID, Fault.HOST),
            (Ending.PLAYED, None),
        ]
        assert both.elsewhere == len(WINS), "the other worker has played it after all"
        assert [*both.other.guard.caught.values()] == [failures]
    catalogue.cache_clear()


async def test_what_is_said_in_one_go_is_one_packet_and_a_bot_that_leaves_is_told_of_at_once() -> None:
    ours, theirs = conduit_pair()
    theirs.setblocking(False)
    heard = msgspec.msgpack.Decoder(Together)
    host = Host()
    pair = Pair(host, Teller(host, lambda: 0), ours)
    with theirs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pair.run)
            for match in "abc":
                pair.say(Fetch(match))
            await trio.testing.wait_all_tasks_blocked()
            packet = theirs.recv(PACKET)
            assert heard.decode(packet[1:]).messages == (Fetch("a"), Fetch("b"), Fetch("c"))
            pair.say(Fetch("d"))
            pair.say(Left(1, TapeSnapshot(), for_good=False))
            packet = theirs.recv(PACKET)
            assert heard.decode(packet[1:]).messages == (Fetch("d"), Left(1, TapeSnapshot(), for_good=False))
            with pytest.raises(BlockingIOError):
                theirs.recv(PACKET)
            nursery.cancel_scope.cancel()


async def test_what_was_said_is_on_one_tape_whoever_played_the_match() -> None:
    async with playing() as (both, cup, first, second):
        (match,) = cup.matches
        await both_play_on(first, second)
        await over(cup, 1)
        while cup.matches.keys() == {match}:  # noqa: ASYNC110 - until both are back
            await trio.sleep(0.001)
        while not all(tape.messages for tape in both.holder.wires.of(match).values()):  # noqa: ASYNC110
            await trio.sleep(0.001)
        for tape in both.holder.wires.of(match).values():
            said = [json.loads(each.text)["type"] for each in tape.messages]
            assert (said[0], said[-1]) == ("begin", "end")
            assert said.count("turn") == 1 + len(WINS)


async def test_any_number_may_wait_for_what_another_process_says_of_a_bot_that_has_hung_up(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Catches the second of those who come under its name, who was told that the host had failed."""

    class Ended(Wire):
        ended = True

    through = list[bool]()

    async def wait(connection: Passable) -> None:
        through.append(await connection.hung_up())

    async with trio.open_nursery() as nursery:
        connection = Passable(Ended(), Outbox(Ended(), Guard(nursery), Limits()), ())
        connection._recall = lambda: None
        for _ in range(3):
            nursery.start_soon(wait, connection)
        await trio.testing.wait_all_tasks_blocked()
        assert through == []
        connection._is_not_away()
    assert through == [True] * 3
