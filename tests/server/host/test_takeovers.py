"""Bots that come again while they are on their way: the last request counts, and others leave nothing."""

from collections.abc import Callable, Sequence

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.host import Host
from server.host.opening import OPEN
from server.host.unwelcome import Unwelcome
from tests.server.host.test_host import GAME, come, running
from tests.server.protocols.table import Slow
from tournament.desk import Desk
from tournament.facts import AnyFact, Entered, Opened, State, Turned
from tournament.record import Record
from tournament.store import Memory

TOKEN = "a token of sixteen and more"


async def expect_to_play(host: Host) -> None:
    """Somebody of that name meets another at the open table."""
    await trio.sleep(60.0)
    assert host.tournaments[OPEN + GAME].record.matches


async def test_a_bot_whose_earlier_request_was_refused_is_dealt_matches_over_another_door(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that was dealt nothing for ever: only the door that was refused could have freed it."""
    async with running() as (host, nursery):
        await host.open("cup", Opened(GAME, "round-robin", 2))
        await host.tournaments["cup"].keep(Entered("bob"), Entered("cas"))
        await (await host.table(GAME)).keep(Entered("ann"))  # so its name is kept while it is away
        (await host.arrive("ann", GAME, token=TOKEN)).leave()
        with pytest.raises(Unwelcome, match="cup"):
            await host.arrive("ann", GAME, token=TOKEN, tournament="cup", ready=False)
        await come(host, nursery, "ann", token=TOKEN)
        await come(host, nursery, "dee")
        await expect_to_play(host)


async def test_a_bot_that_takes_over_while_it_is_on_its_way_is_dealt_matches(
    autojump_clock: MockClock,
) -> None:
    """Catches one that was dealt nothing for ever: its first request would have freed it when it was in."""
    async with running(Slow(Opened)) as (host, nursery):

        async def be_replaced() -> None:
            with pytest.raises(Unwelcome, match="taken over"):
                await host.arrive("ann", GAME, token=TOKEN, ready=False)

        nursery.start_soon(be_replaced)
        await trio.testing.wait_all_tasks_blocked()
        await come(host, nursery, "ann", token=TOKEN)
        await come(host, nursery, "bob")
        await expect_to_play(host)


async def test_a_bot_that_asks_for_another_tournament_while_it_is_on_its_way_plays_there(
    autojump_clock: MockClock,
) -> None:
    """Catches one that was dealt the matches of the first, and heard of the end of the second."""
    async with running(Slow(Entered)) as (host, nursery):
        for name in ("first", "second"):
            await host.open(name, Opened(GAME, "round-robin", 4))

        async def be_replaced() -> None:
            with pytest.raises(Unwelcome, match="taken over"):
                await host.arrive("ann", GAME, token=TOKEN, tournament="first")

        nursery.start_soon(come, host, nursery, "bob")
        await trio.sleep(1.0)  # he is being let in, and only then is she
        nursery.start_soon(be_replaced)
        await trio.sleep(1.0)
        ann = await host.arrive("ann", GAME, token=TOKEN, tournament="second")
        await trio.sleep(60.0)
        assert ann.current
        assert ann.player.place == "second"


class SlowTable(Memory):
    """A store that takes its time over open tables."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if tournament.startswith(OPEN) and any(isinstance(fact, Opened) for fact in facts):
            await trio.sleep(12.0)
        return await super().keep(tournament, when, facts)


async def test_a_bot_that_comes_elsewhere_while_it_is_led_out_of_what_was_deleted_stays_there(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that was taken out of the tournament that it had just entered."""
    async with running(SlowTable()) as (host, nursery):
        for name in ("old", "new"):
            await host.open(name, Opened(GAME, "round-robin", 4))
        await host.arrive("ann", GAME, token=TOKEN, tournament="old")
        nursery.start_soon(host.delete, host.tournaments["old"], "somebody")
        await trio.sleep(1.0)
        ann = await host.arrive("ann", GAME, token=TOKEN, tournament="new")
        await trio.sleep(60.0)
        assert ann.player.place == "new"


async def test_whoever_waits_in_a_new_tournament_with_the_name_of_one_that_was_deleted_stays(
    autojump_clock: MockClock,
) -> None:
    """Catches the second of two bots, which was led out of the new one: the first took its time."""
    async with running(SlowTable()) as (host, nursery):
        await host.open("cup", Opened(GAME, "round-robin", 4))
        for name in ("ann", "bob"):
            await host.arrive(name, GAME, token=TOKEN + name)
        nursery.start_soon(host.delete, host.tournaments["cup"], "somebody")
        await trio.sleep(1.0)
        await host.open("cup", Opened(GAME, "ladder"))
        bob = await host.arrive("bob", GAME, token=TOKEN + "bob", tournament="cup")
        await trio.sleep(60.0)
        assert bob.player.place == "cup"


@pytest.mark.parametrize("back", [True, False])
async def test_whoever_was_in_a_tournament_that_was_over_and_deleted_is_not_in_the_next_of_its_name(
    back: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot that counted as here where it had not come, and that was refused when it came back."""
    async with running() as (host, nursery):
        await (await host.table(GAME)).keep(Entered("ann"))
        await host.open("cup", Opened(GAME, "round-robin", 2))
        ann = await come(host, nursery, "ann", token=TOKEN)
        await come(host, nursery, "bob")
        await trio.sleep(60.0)
        await host.delete(host.tournaments["cup"], "somebody")
        cup = await host.open("cup", Opened(GAME, "round-robin", by_invitation=True))
        if back:
            ann.leave()
            assert (await host.arrive("ann", GAME, token=TOKEN)).player.place == OPEN + GAME
        else:
            await Desk(cup).enter("ann")
            await Desk(cup).enter("cas")
            assert [missing.name for missing in cup.missing()] == ["ann", "cas"]


class Handing(Memory):
    """A store that has something happen after a deletion is kept, and before that is heard."""

    def __init__(self) -> None:
        super().__init__()
        self.kept_deletion: Callable[[], object] = list

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        receipts = await super().keep(tournament, when, facts)
        if Turned(State.DELETED) in facts:
            self.kept_deletion()
        return receipts


async def test_a_tournament_is_held_that_comes_before_its_process_hears_that_the_last_of_its_name_is_deleted(
    autojump_clock: MockClock,
) -> None:
    """Catches one that vanished as it came: both messages were on their way to a worker that was busy."""
    store = Handing()
    async with running(store) as (host, nursery):
        old = await host.open("cup", Opened(GAME, "round-robin", 4))
        await old.keep(Entered("eve"))
        ladder = Record("cup", Opened(GAME, "ladder"), kept_as="cup~2")
        store.kept_deletion = lambda: host.hold(ladder)
        await host.delete(old, "somebody")
        assert host.tournaments["cup"].record is ladder
        assert not host.roll.knows("eve", GAME)
        await Desk(host.tournaments["cup"]).start()
        for name in ("ann", "bob"):
            assert (await come(host, nursery, name)).player.place == "cup"
        await trio.sleep(60.0)
        assert ladder.matches


async def test_nothing_begins_at_a_table_that_was_being_opened_when_the_host_was_told_to_stop(
    autojump_clock: MockClock,
) -> None:
    async with running(SlowTable()) as (host, nursery):
        for name in ("ann", "bob"):
            nursery.start_soon(come, host, nursery, name)
        await trio.sleep(1.0)
        nursery.start_soon(host.drain)
        await trio.sleep(60.0)
        assert not host.tournaments[OPEN + GAME].record.drawn
