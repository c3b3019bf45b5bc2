"""What a host that shares its database may keep, on a virtual clock."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from server.exits import Unavailable
from server.host.opening import NameTaken
from server.http.head import told_of
from server.net.guard import Guard, is_ours
from server.peers.keeping import LeaseKeeper
from server.peers.ledger import MOVED, UNSURE, SharedLedger
from server.store.journal import Jot
from server.store.shared import SharedPostgres
from tests.server.peers.test_keeping import CARD, Registry, here
from tournament.entries import Entry
from tournament.facts import Entered, Opened
from tournament.refusals import NotNow
from tournament.store import Stale

OPENED = Opened("tic-tac-toe", "swiss")


class Rows:
    """A database that takes everything, or nothing."""

    def __init__(self) -> None:
        self.away = False
        self.stale = False
        self.epochs: list[int] = []
        self.whens: list[float] = []
        self.jots_read = 0

    def last(self) -> int:
        return 0

    def latest(self) -> dict[str, float]:
        return {}

    def jotted(self) -> Iterator[Jot]:
        self.jots_read += 1
        return iter(())

    def write(self, rows: Sequence[Entry | Jot]) -> list[bytes]:
        if self.away:
            raise Unavailable("it is away")
        if self.stale:
            raise Stale("another host holds it")
        self.epochs += [row.epoch for row in rows]
        self.whens += [row.when for row in rows if isinstance(row, Entry)]
        return [b"" for _ in rows]


async def shared(nursery: trio.Nursery) -> tuple[SharedLedger, Rows]:
    return await shared_in(Registry(), nursery)


async def shared_in(registry: Registry, nursery: trio.Nursery) -> tuple[SharedLedger, Rows]:
    rows, keeping = Rows(), LeaseKeeper(registry, here, now=trio.current_time, sleep=trio.sleep)
    await keeping.register(CARD)
    ledger = SharedLedger(cast("SharedPostgres", rows), keeping, cast("Callable[..., Any]", here))
    nursery.start_soon(ledger.run)
    return ledger, rows


async def test_a_tournament_is_held_before_it_is_opened_and_one_that_is_there_is_refused(
    autojump_clock: MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        ledger, rows = await shared(nursery)
        await ledger.keep("league", 1.0, [OPENED])
        await ledger.keep("league~2", 1.0, [Entered("ann")])
        assert rows.epochs == [5, 5]
        with pytest.raises(NameTaken, match="there is a tournament cup already"):
            await ledger.keep("cup", 1.0, [OPENED])
        with pytest.raises(NameTaken, match="there is a tournament cup already"):
            await ledger.keep("cup", 1.0, [OPENED, Entered("ann")])
        assert len(rows.epochs) == 2
        nursery.cancel_scope.cancel()


async def test_what_this_host_has_claimed_it_may_claim_again_and_open(autojump_clock: MockClock) -> None:
    """Catches a table that a bot can never come to, because this host held it before it could be kept."""
    async with trio.open_nursery() as nursery:
        ledger, rows = await shared(nursery)
        assert [await ledger.claim("league") for _ in range(2)] == [True, True]
        assert not await ledger.claim("cup")
        await ledger.keep("league", 1.0, [OPENED])
        assert rows.epochs == [5]
        nursery.cancel_scope.cancel()


async def test_the_database_is_asked_once_for_all_who_claim_a_table_at_once(
    autojump_clock: MockClock,
) -> None:
    """Catches leases that lapse while the database, some way off, is asked for each of many strangers."""

    class Counting(Registry):
        asked_to_open = 0

        def open(self, host: int, tournament: str) -> int | None:
            self.asked_to_open += 1
            return super().open(host, tournament)

    async def claim(tournament: str) -> None:
        try:
            answers.append(await ledger.claim(tournament))
        except Unavailable as error:
            answers.append(str(error))

    async def claim_at_once(tournament: str) -> list[bool | str]:
        answers.clear()
        async with trio.open_nursery() as claiming:
            for _ in range(100):
                claiming.start_soon(claim, tournament)
        return answers

    answers: list[bool | str] = []
    async with trio.open_nursery() as nursery:
        registry = Counting()
        ledger, _ = await shared_in(registry, nursery)
        registry.away = True
        assert await claim_at_once("league") == ["it does not answer"] * 100
        registry.away = False
        assert await claim_at_once("league") == [True] * 100
        assert await claim_at_once("cup") == [False] * 100
        assert registry.asked_to_open == 3
        nursery.cancel_scope.cancel()


async def test_if_whoever_claims_a_table_gives_up_the_next_one_asks(autojump_clock: MockClock) -> None:
    """Catches a bot that is told that a table is held, because a stranger who came first has hung up."""
    async with trio.open_nursery() as nursery:
        ledger, _ = await shared(nursery)
        with trio.CancelScope() as stranger:
            stranger.cancel()
            await ledger.claim("league")
        async with trio.open_nursery() as claiming:
            hangs_up = trio.CancelScope()

            async def hang_up() -> None:
                with hangs_up:
                    await ledger.claim("league")

            claiming.start_soon(hang_up)
            await trio.lowlevel.checkpoint()
            hangs_up.cancel()
            assert await ledger.claim("league")
        nursery.cancel_scope.cancel()


async def test_what_was_in_play_is_read_once_for_all_that_are_taken_over_and_then_forgotten(
    autojump_clock: MockClock,
) -> None:
    """Catches the moves of all matches that are read again, on the event loop, for each tournament."""
    async with trio.open_nursery() as nursery:
        ledger, rows = await shared(nursery)
        await ledger.look_at_moves()
        assert ledger.jotted() is ledger.jotted()
        assert rows.jots_read == 1
        ledger.forget_moves()
        assert ledger.jotted() == {}
        assert rows.jots_read == 2
        nursery.cancel_scope.cancel()


async def test_a_database_that_does_not_answer_is_no_fault_of_whoever_opens_a_tournament(
    autojump_clock: MockClock,
) -> None:
    """Catches 400, after which a client does not try again."""
    async with trio.open_nursery() as nursery:
        registry = Registry()
        ledger, rows = await shared_in(registry, nursery)
        registry.away = True
        with pytest.raises(NotNow, match="the database does not answer: it does not answer"):
            await ledger.keep("league", 1.0, [OPENED])
        registry.away = False
        await ledger.keep("league", 1.0, [OPENED])
        assert rows.epochs == [5]
        nursery.cancel_scope.cancel()


async def test_a_host_is_in_trouble_while_it_is_unsure_and_while_its_store_is(
    autojump_clock: MockClock,
) -> None:
    """Catches trouble that ends because the other trouble does."""
    async with trio.open_nursery() as nursery:
        ledger, rows = await shared(nursery)
        told: list[str] = []
        ledger.listen(lambda: told.append(ledger.trouble))
        ledger.waver(False)
        assert ledger.trouble == UNSURE
        rows.away = True
        nursery.start_soon(ledger.keep, "cup", 1.0, [Entered("ann")])
        await trio.sleep(1.0)
        assert ledger.trouble == "it is away"
        ledger.waver(True)
        assert ledger.trouble == "it is away"
        ledger.waver(False)
        rows.away = False
        ledger.try_again()
        await trio.sleep(1.0)
        assert ledger.trouble == UNSURE
        ledger.waver(True)
        assert ledger.trouble == ""
        assert told == [UNSURE, "it is away", UNSURE, ""]
        nursery.cancel_scope.cancel()


async def test_a_bot_whose_tournament_another_host_has_just_taken_over_is_told_to_come_again(
    autojump_clock: MockClock,
) -> None:
    """Catches a request that fails as if it were a bug, and a bot that gives its match up for it."""
    async with trio.open_nursery() as nursery:
        ledger, rows = await shared(nursery)
        guard = Guard(nursery)
        rows.stale = True
        with pytest.raises(Stale) as stale:  # which ends the host, if its scheduler hears it
            await ledger.keep("cup", 1.0, [Entered("ann")])
        assert not is_ours(stale.value)
        guard.start_soon(ledger.keep, "cup", 1.0, [Entered("bob")])
        await trio.sleep(1.0)
        assert (guard.caught, guard.gone) == ({}, 1)
        told = told_of(stale.value)
        assert (told.status, str(told), told.headers) == (503, MOVED, (("Retry-After", "1"),))
        nursery.cancel_scope.cancel()


async def test_what_this_host_holds_by_taking_over_is_not_opened_again(autojump_clock: MockClock) -> None:
    """Catches a table that begins anew, with numbers that its record has already."""
    async with trio.open_nursery() as nursery:
        rows, keeping = Rows(), LeaseKeeper(Registry(), here, now=trio.current_time, sleep=trio.sleep)
        await keeping.register(CARD)
        ledger = SharedLedger(cast("SharedPostgres", rows), keeping, cast("Callable[..., Any]", here))
        nursery.start_soon(ledger.run)
        await keeping.renew()
        assert "cup" in keeping.leases.held
        with pytest.raises(NameTaken, match="there is a tournament cup already"):
            await ledger.keep("cup", 1.0, [OPENED])
        assert rows.epochs == []
        await ledger.keep("league", 1.0, [OPENED])
        assert [ledger.has_opened(name) for name in ("cup", "league")] == [False, True]
        nursery.cancel_scope.cancel()
