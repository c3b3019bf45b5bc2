"""A worker's store: what it asks worker 0 to keep is kept once, in order, and safe when that is confirmed."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import trio
from msgspec import Struct
from trio.testing import MockClock

from server.show.conduit import PACKET
from server.store.ledger import RETRY, Ledger
from server.store.sqlite import Sqlite
from server.workers.clerk import Clerk
from server.workers.messages import FromWorker, Jots, Keep, Pairings, ToWorker
from server.workers.store import SOON, LinkedStore
from tests.crashes.world import at_once
from tests.server.store.counting import Read
from tests.server.store.faults import Faulty
from tests.server.store.jotting import Lists, gone_on_with, played
from tournament.asides import Aside, Thought, Trouble
from tournament.causes import Refused
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened
from tournament.format import Pairing
from tournament.record import PIECE
from tournament.store import Conflict, Jottings

OPENED = Opened("tic-tac-toe", "round-robin")
WON = Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "three in a row", (1.0, 0.0), ("NW",), (0.5,))


class Link:
    """Messages both ways, each after a while, in the order in which they were said; until it is cut."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self.cut = False
        self.longest = 0  # bytes of a message

    async def carry(
        self, channel: trio.MemoryReceiveChannel[bytes], kind: Any, take: Callable[[Any], None]
    ) -> None:
        async for content in channel:
            self.longest = max(self.longest, len(content))
            await trio.sleep(self._chance.choice((0.0, 0.001, 0.05)))
            if not self.cut:
                take(msgspec.msgpack.decode(content, type=kind))


class Both:
    """Worker 0's ledger, and a worker's store at the other end of a link."""

    def __init__(self, engine: Faulty, seed: int = 0) -> None:
        self.engine = engine
        self.link = Link(seed)
        self.told: list[AnyFact] = []
        self.ledger = Ledger(engine, at_once)
        there, self._there = trio.open_memory_channel[bytes](1000)
        back, self._back = trio.open_memory_channel[bytes](1000)
        self.store = LinkedStore(self._say(there), engine, at_once)
        self.clerk = Clerk(self.ledger, self._say(back), self._safe)

    def _say(self, channel: trio.MemorySendChannel[bytes]) -> Callable[[Struct], None]:
        return lambda message: channel.send_nowait(msgspec.msgpack.encode(message))

    async def _safe(self, tournament: str, facts: Any) -> None:
        self.told += facts

    def _asked(self, message: Pairings | Keep | Jots) -> None:
        if isinstance(message, Pairings):
            self.clerk.take_pairings(message)
        elif isinstance(message, Keep):
            self.clerk.keep(message)
        else:
            self.clerk.jot(message)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[trio.Nursery]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.ledger.run)
            nursery.start_soon(self.clerk.run)
            nursery.start_soon(self.link.carry, self._there, FromWorker, self._asked)
            nursery.start_soon(self.link.carry, self._back, ToWorker, self.store.confirm)
            yield nursery
            nursery.cancel_scope.cancel()


@pytest.fixture
def both(engine: Faulty) -> Both:
    return Both(engine)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Faulty]:
    with closing(Sqlite(tmp_path / "quintain.sqlite")) as engine:
        yield Faulty(engine)


@pytest.mark.parametrize("seed", range(5))
async def test_facts_are_kept_once_and_told_in_the_order_of_asking(
    engine: Faulty, autojump_clock: MockClock, seed: int
) -> None:
    both = Both(engine, seed)
    facts = [OPENED, *(Entered(f"bot-{number}") for number in range(30))]
    async with both.running(), trio.open_nursery() as nursery:
        for fact in facts:
            nursery.start_soon(both.store.keep, "cup", 1.0, [fact])
    kept = [each.fact for each in both.ledger.kept()]
    assert kept == both.told
    assert len(kept) == len(facts)
    assert all(fact in kept for fact in facts)


@pytest.mark.parametrize("more", [-1, 0, 1, 2 * PIECE])
async def test_however_long_a_draw_is_it_is_kept_whole_in_its_turn_and_sent_in_short_messages(
    both: Both, autojump_clock: MockClock, more: int
) -> None:
    """Catches a worker 0 in which nobody plays while it reads the pairings of a thousand entrants."""
    drew = Drew(tuple([Pairing(number, 1, "ann", f"bot-{number}") for number in range(1, PIECE + more + 1)]))
    some = Drew((Pairing(PIECE + more + 1, 2, "ann", "bob"),))
    async with both.running():
        await both.store.keep("cup", 1.0, [OPENED])
        async with trio.open_nursery() as nursery:
            for name, facts in (("cup", [Entered("ann"), drew]), ("cap", [OPENED]), ("cup", [some, WON])):
                nursery.start_soon(both.store.keep, name, 2.0, facts)
                await trio.lowlevel.checkpoint()
    asked = [OPENED, Entered("ann"), drew, OPENED, some, WON]
    assert both.told == [each.fact for each in both.ledger.kept()] == asked
    assert both.link.longest <= PACKET


async def test_a_receipt_is_the_one_that_the_journal_has(both: Both, autojump_clock: MockClock) -> None:
    async with both.running():
        await both.store.keep("cup", 1.0, [OPENED, Entered("ann"), Entered("bob")])
        receipts = await both.store.keep("cup", 2.0, [WON])
        assert [*receipts] == [await both.ledger.receipt("cup", "cup-1")]
        assert await both.store.receipt("cup", "cup-1") == receipts[0]
        assert (await both.store.concluded("cup", "cup-1")).moves == ("NW",)


async def test_nothing_is_confirmed_while_nothing_can_be_kept(both: Both, autojump_clock: MockClock) -> None:
    async with both.running() as nursery:
        both.engine.times = 3
        done = trio.Event()

        async def keep() -> None:
            await both.store.keep("cup", 1.0, [OPENED])
            done.set()

        nursery.start_soon(keep)
        await trio.sleep(2.5 * RETRY)
        assert not done.is_set()
        assert both.store.waiting == 1
        await done.wait()
        assert both.store.waiting == 0
    assert both.told == [OPENED]


async def test_a_contradiction_is_told_to_whoever_asked(both: Both, autojump_clock: MockClock) -> None:
    async with both.running():
        await both.store.keep("cup", 1.0, [OPENED])
        with pytest.raises(Conflict):
            await both.store.keep("cup", 1.0, [Opened("connect-4", "swiss")])
        await both.store.keep("cup", 1.0, [Entered("ann")])
    assert both.told == [OPENED, Entered("ann")]


@asynccontextmanager
async def in_play(both: Both) -> AsyncIterator[Lists]:
    """A match whose moves are written while it is played."""
    async with both.running() as nursery:
        nursery.start_soon(both.store.run)
        await both.store.keep("cup", 1.0, [OPENED, Dealt("cup-1", 1)])
        yield played(both.store, "cup-1")


async def test_moves_reach_the_journal_and_go_with_the_end_of_their_match(
    both: Both, autojump_clock: MockClock
) -> None:
    async with in_play(both) as match:
        for number, move in enumerate(("NW", "N", "C"), 1):
            match.play(move)
            await trio.sleep(SOON + 1.0)
            assert both.store.jotted() == {"cup-1": Jottings(*map(tuple, match))}, number
        await both.store.keep("cup", 2.0, [WON])
        await trio.sleep(1.0)
        assert both.store.jotted() == {}


async def test_moves_that_follow_each_other_faster_than_they_are_written_are_all_written(
    both: Both, autojump_clock: MockClock
) -> None:
    async with in_play(both) as match:
        for move in ("NW", "N", "C", "S", "E"):
            match.play(move)
            await trio.sleep(SOON)
        await trio.sleep(1.0)
        assert both.store.jotted() == {"cup-1": Jottings(*map(tuple, match))}


async def test_what_a_worker_asked_for_before_it_ended_is_kept_before_anybody_goes_on(
    both: Both, autojump_clock: MockClock
) -> None:
    both.engine.times = 3
    both.clerk.keep(Keep(1, "cup", 1.0, (OPENED,)))
    both.clerk.close()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(both.ledger.run)
        await both.clerk.run()
        assert [each.fact for each in both.ledger.kept()] == both.told == [OPENED]
        nursery.cancel_scope.cancel()


async def test_however_many_tournaments_ask_for_what_was_jotted_down_it_is_read_once(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Catches a worker that is started again and reads all moves once for each tournament in play."""
    engine = Read(tmp_path / "quintain.sqlite")
    store = LinkedStore(lambda message: None, engine)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(store.run)
        for times in (1, 2, 3):
            assert [store.jotted() for _ in range(100)] == [{}] * 100
            assert engine.times == times
            await trio.sleep(2 * SOON)
        nursery.cancel_scope.cancel()
    engine.close()


@pytest.mark.parametrize("seed", range(5))
async def test_nothing_is_left_of_the_moves_of_a_match_that_ends_soon_after_the_last_of_them(
    engine: Faulty, autojump_clock: MockClock, seed: int
) -> None:
    """Catches moves that were written down, and kept in memory, for ever: they came after the end did."""
    both, chance = Both(engine, seed), Random(seed)
    async with both.running() as nursery:
        nursery.start_soon(both.store.run)
        await both.store.keep("cup", 1.0, [OPENED, *(Dealt(f"cup-{number}", number) for number in range(30))])
        for number in range(30):
            match = played(both.store, f"cup-{number}")
            await trio.sleep(chance.random() * SOON)
            match.play("NW")
            await trio.sleep(chance.choice((0.0, SOON)))  # it may have been told by then
            over = msgspec.structs.replace(WON, match=f"cup-{number}", pairing=number)
            await both.store.keep("cup", 2.0, [over])
        await trio.sleep(1.0)
        assert both.store.jotted() == {}
        for playing in (both.clerk._playing, both.ledger._playing, both.store._playing):
            assert not playing


async def test_after_a_restart_moves_follow_those_that_are_written(
    both: Both, autojump_clock: MockClock
) -> None:
    async with both.running() as nursery:
        nursery.start_soon(both.store.run)
        played(both.store, "cup-1", ["NW", "N"])
        await trio.sleep(1.0)
    again = Both(both.engine)
    async with again.running() as nursery:
        nursery.start_soon(again.store.run)
        gone_on_with(again.store, "cup-1").play("C", 0.25)
        await trio.sleep(1.0)
        assert again.store.jotted() == {"cup-1": Jottings(("NW", "N", "C"), (0.5, 0.5, 0.25))}


async def test_what_there_is_beside_moves_reaches_the_journal_over_restarts(
    both: Both, autojump_clock: MockClock
) -> None:
    """Also where nothing else is new, and without what was said with a move that is not kept yet."""
    here, expected = both, list[Aside]()
    for life in range(4):
        async with here.running() as nursery:
            nursery.start_soon(here.store.run)
            match = gone_on_with(here.store, "cup-1")
            assert (len(match.moves), match.asides) == (life, expected)
            expected += [
                Trouble(Refused(1.5, 0, life, "nowhere", "there is no such field")),
                Thought(life + 1, 0.5),
            ]
            match.asides.extend(expected[-2:])
            await trio.sleep(1.0)
            assert here.store.jotted().get("cup-1", Jottings()).asides == (*expected[:-1],)
            match.play("NW")
            match.asides.append(Thought(life + 2, 0.25))
            await trio.sleep(1.0)
        here = Both(both.engine)


@pytest.mark.parametrize("fact", [Entered("ann"), Drew((Pairing(1, 1, "ann", "bob"),) * (PIECE + 1))])
async def test_whoever_is_cancelled_meanwhile_waits_until_its_facts_are_safe(
    both: Both, autojump_clock: MockClock, fact: AnyFact
) -> None:
    """Catches a tournament that lets go of what is kept a moment later."""
    async with both.running():
        await both.store.keep("cup", 1.0, [OPENED])
        with trio.CancelScope() as scope:
            scope.cancel()
            await both.store.keep("cup", 2.0, [fact])
        assert both.told == [OPENED, fact]
        assert not both.store.waiting


async def test_when_the_link_is_cut_nobody_waits_for_ever(both: Both, autojump_clock: MockClock) -> None:
    async with both.running() as nursery:
        nursery.start_soon(both.store.run)
        nursery.start_soon(both.store.keep, "cup", 1.0, [OPENED])
        both.link.cut = True
        await trio.sleep(1.0)
    assert both.told == []
    assert [each.fact for each in both.ledger.kept()] in ([], [OPENED])


async def test_whoever_asks_after_the_link_was_cut_may_give_up(both: Both, autojump_clock: MockClock) -> None:
    """Catches a worker that never ends, because one of its tournaments has a last fact to keep."""
    async with both.running() as nursery:
        nursery.start_soon(both.store.run)
        await trio.sleep(1.0)
    with trio.move_on_after(1.0) as scope:
        await both.store.keep("cup", 1.0, [OPENED])
    assert scope.cancelled_caught


async def test_trouble_is_told_once_and_its_end_too(both: Both) -> None:
    heard: list[str] = []
    both.store.listen(lambda: heard.append(both.store.trouble))
    for why in ("the disk is full", "the disk is full", ""):
        both.store.set_trouble(why)
    assert heard == ["the disk is full", ""]
