"""What bots of one address may play where there is no end: nobody fills the disk, and nobody else waits."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from math import inf
from typing import Any

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.host.host import Host
from server.host.pacing import BESIDE
from server.host.visits import Visit
from server.net.limits import Limits, Rate
from tests.tournament.world import play
from tournament.desk import Desk
from tournament.events import Ended, Ending
from tournament.facts import AnyFact, Concluded, Opened
from tournament.player import Seat
from tournament.store import Memory
from tournament.timekeeper import Timekeeper

GAME = "tic-tac-toe"
TABLE = f"open-{GAME}"
HERE, THERE = "192.0.2.1", "198.51.100.7"
CREDITS, SECONDS = 16_000, 40.0  # bytes of some ten matches, and then of one in three seconds
LONG = 10 * SECONDS
DISK = 0.02  # seconds until something is kept
OFTEN = 0.1  # seconds between two looks at bots that rest for longer: each look costs a jump of the clock


async def at_once(seat: Seat) -> None:
    """Play the first legal move, a hundredth of a second after one may."""
    match = seat.match
    async for event in match.log.read():
        if isinstance(event, Ended):
            return
        if seat.to_move:
            await trio.sleep(0.01)
            seat.play(match.game.write(next(iter(match.position.moves()))))


class Slow(Memory):
    """Has what it keeps on the disk after a while, as every disk."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> list[str]:
        await trio.sleep(DISK)
        return await super().keep(tournament, when, facts)


class Hall:
    def __init__(self, host: Host, store: Memory, nursery: trio.Nursery) -> None:
        self.host = host
        self.store = store
        self._nursery = nursery

    async def come(self, name: str, peer: str, **how: Any) -> Visit:
        visit = await self.host.arrive(name, GAME, peer=peer, **how)
        visit.acknowledge()
        self._nursery.start_soon(play, visit.player, at_once)
        return visit

    def kept(self, *names: str, tournament: str = TABLE) -> int:
        """The bytes that all matches take that these have played with each other."""
        facts = (each.fact for each in self.store.kept() if each.tournament == tournament)
        matches = (each for each in facts if isinstance(each, Concluded) and {*each.players} == {*names})
        return sum(BESIDE + len(msgspec.json.encode(each)) for each in matches)


@asynccontextmanager
async def hall(store: Memory | None = None, **limits: Rate | bool) -> AsyncIterator[Hall]:
    store, chosen = store or Memory(), {"table_bytes": Rate(CREDITS, SECONDS)} | limits
    host = Host(Limits(**chosen), store, timekeeper=Timekeeper(inf))  # pyright: ignore[reportArgumentType]
    async with trio.open_nursery() as nursery:
        await nursery.start(host.run)
        yield Hall(host, store, nursery)
        assert not host.guard.caught
        nursery.cancel_scope.cancel()


async def test_two_bots_of_one_address_keep_no_more_than_their_share_and_as_much_as_that(
    autojump_clock: MockClock,
) -> None:
    """Catches fifty gigabytes a day, of which the host stands still for everybody."""
    async with hall() as here:
        for name in ("ann", "bob"):
            await here.come(name, HERE)
        await trio.sleep(LONG)
        kept = here.kept("ann", "bob")
    share = CREDITS * (1 + LONG / SECONDS)
    assert 0.9 * share < kept < 1.1 * share


@pytest.mark.parametrize("format", ["open", "ladder"])
async def test_nobody_else_waits_for_them(format: str, autojump_clock: MockClock) -> None:
    """Catches two on a ladder who do not meet again, because there are others, who rest."""
    async with hall(table_bytes=Rate(CREDITS, SECONDS * 100)) as here:
        where = TABLE if format == "open" else "up"
        if format != "open":
            await here.host.open(where, Opened(GAME, format))
        for name in ("ann", "bob"):
            await here.come(name, HERE, tournament=where)
        if format != "open":
            await Desk(here.host.tournaments[where]).start()
        await trio.sleep(LONG)
        before = here.kept("ann", "bob", tournament=where)
        for name in ("cas", "dee"):
            await here.come(name, THERE, tournament=where)
        await trio.sleep(1.0)
        assert here.kept("cas", "dee", tournament=where) > CREDITS / 2, "others play, and with each other"
        assert here.kept("ann", "bob", tournament=where) == before


async def test_a_bot_that_comes_again_under_whatever_name_rests_as_the_others_do(
    autojump_clock: MockClock,
) -> None:
    """Catches two that hang up after each match, and are dealt the next one at once."""
    async with hall() as here:
        begun = trio.current_time()
        for number in range(60):
            visits = [await here.come(f"{name}-{number}", HERE, matches=1) for name in ("ann", "bob")]
            while any(visit.player.matches_left or visit.player.seat for visit in visits):  # noqa: ASYNC110
                await trio.sleep(OFTEN)
            for visit in visits:
                visit.leave(for_good=True)
        took = trio.current_time() - begun
        kept = sum(here.kept(f"ann-{number}", f"bob-{number}") for number in range(60))
    share = CREDITS * (1 + took / SECONDS)
    assert 0.9 * share < kept < 1.1 * share


async def test_two_that_hang_up_as_soon_as_they_are_dealt_to_pay_for_that(autojump_clock: MockClock) -> None:
    """Catches void matches by the thousand, for which nobody pays because nobody is there any more."""
    async with hall() as here:
        begun = trio.current_time()
        for number in range(60):
            visits = [await here.host.arrive(f"{name}-{number}", GAME, peer=HERE) for name in ("ann", "bob")]
            for visit in visits:
                visit.acknowledge()
            while not all(visit.player.seat for visit in visits):  # noqa: ASYNC110
                await trio.sleep(OFTEN)
            for visit in visits:
                visit.leave(for_good=True)
        await trio.sleep(1.0)
        took = trio.current_time() - begun
        kept = sum(here.kept(f"ann-{number}", f"bob-{number}") for number in range(60))
    assert kept < 1.1 * CREDITS * (1 + took / SECONDS)


async def test_two_that_hang_up_while_their_match_is_being_kept_pay_for_it(autojump_clock: MockClock) -> None:
    """Catches void matches by the thousand, for which nobody pays because both were gone by then."""
    async with hall(Slow()) as here:
        begun = trio.current_time()
        for number in range(60):
            visits = [await here.host.arrive(f"{name}-{number}", GAME, peer=HERE) for name in ("ann", "bob")]
            while not all(visit.player.engaged for visit in visits):  # noqa: ASYNC110
                await trio.sleep(0.5 * DISK)
            assert not any(visit.player.seat for visit in visits)
            for visit in visits:
                visit.leave(for_good=True)
            await trio.sleep(0.1)
        took = trio.current_time() - begun
        kept = sum(here.kept(f"ann-{number}", f"bob-{number}") for number in range(60))
    assert kept < 1.1 * CREDITS * (1 + took / SECONDS)


async def spend(here: Hall) -> list[Visit]:
    """Have two bots rest for minutes, and all that come from their address."""
    visits = [await here.come(name, HERE, tournament=TABLE) for name in ("cas", "dee")]
    while any(visit.player.rested for visit in visits):  # noqa: ASYNC110
        await trio.sleep(0.01)
    return visits


async def test_a_bot_that_goes_from_a_match_at_a_table_to_a_cup_does_not_rest_there(
    autojump_clock: MockClock,
) -> None:
    """Catches a cup that waits for minutes, because the match at the table ends when its bot has gone on."""
    async with hall(table_bytes=Rate(CREDITS, SECONDS * 100)) as here:
        cup = await here.host.open("cup", Opened(GAME, "round-robin", entrants=2))
        ann = await here.host.arrive("ann", GAME, peer=HERE, tournament=TABLE, against="bob")
        bob = await here.host.arrive("bob", GAME, peer=THERE, tournament=TABLE, against="ann")
        while ann.player.seat is None:  # noqa: ASYNC110
            await trio.sleep(0.01)
        await spend(here)
        again = await here.host.arrive("ann", GAME, peer=HERE, tournament="cup", token=ann.token)
        assert again.player.seat is not None, "it still plays at the table"
        bob.leave(for_good=True)
        ann.player.seat.resign()
        await here.come("eve", THERE, tournament="cup")
        begun = trio.current_time()
        while not cup.record.dealt:  # noqa: ASYNC110
            await trio.sleep(0.01)
        assert trio.current_time() - begun < 1.0


async def test_a_bot_whose_opponent_hangs_up_while_it_rests_is_free_after_that(
    autojump_clock: MockClock,
) -> None:
    """Catches one that waits for ever, because nobody looks when a bot that is gone has rested."""
    async with hall(table_bytes=Rate(CREDITS, SECONDS * 10)) as here:
        for visit in await spend(here):
            visit.leave(for_good=True)
        ann = await here.host.arrive("ann", GAME, peer=HERE, tournament=TABLE, ready=False)
        bob = await here.host.arrive("bob", GAME, peer=THERE, tournament=TABLE, ready=False)
        here.host.tournaments[TABLE].challenge(ann.player, bob.player)
        await trio.sleep(0.01)
        assert bob.player.reserved
        ann.leave(for_good=True)
        await trio.sleep(LONG)
        assert not bob.player.engaged
        assert here.kept("ann", "bob")


async def test_those_that_come_and_go_leave_nothing_behind(autojump_clock: MockClock) -> None:
    """Catches a task and a player for each of thousands, for as long as their address owes."""
    async with hall(table_bytes=Rate(CREDITS, SECONDS * 100)) as here:
        await spend(here)
        before = trio.lowlevel.current_statistics().tasks_living
        for _ in range(100):
            visit = await here.host.arrive("ann", GAME, peer=HERE, tournament=TABLE)
            assert not visit.player.rested
            visit.leave(for_good=True)
        assert trio.lowlevel.current_statistics().tasks_living == before
        assert {player.name for resting in here.host.pacing._resting.values() for player in resting} == {
            "cas",
            "dee",
        }


async def test_a_bot_that_comes_again_from_another_address_rests_by_that_one(
    autojump_clock: MockClock,
) -> None:
    async with hall(table_bytes=Rate(CREDITS, SECONDS * 100)) as here:
        for visit in await spend(here):
            visit.leave(for_good=True)
        ann = await here.host.arrive("ann", GAME, peer=HERE, tournament=TABLE)
        for peer, rests in ((HERE, True), (THERE, False), (HERE, True)):
            await here.host.arrive("ann", GAME, peer=peer, tournament=TABLE, token=ann.token)
            assert ann.player.rested is not rests
        await trio.sleep(10 * LONG)
        assert ann.player.rested
        assert not here.host.pacing._resting


async def test_a_bot_whose_ladder_is_deleted_rests_at_the_table_to_which_it_is_led(
    autojump_clock: MockClock,
) -> None:
    async with hall(table_bytes=Rate(CREDITS, SECONDS * 100)) as here:
        ladder = await here.host.open("up", Opened(GAME, "ladder"))
        await spend(here)
        ann = await here.host.arrive("ann", GAME, peer=HERE, tournament="up")
        assert not ann.player.rested
        await here.host.delete(ladder, "an organiser")
        assert (ann.player.place, ann.player.rested) == (TABLE, False)


async def test_on_the_own_machine_bots_play_as_fast_as_they_can(autojump_clock: MockClock) -> None:
    async with hall() as here:
        for name in ("ann", "bob"):
            await here.come(name, "127.0.0.1")
        await trio.sleep(SECONDS / 2)
        assert here.kept("ann", "bob") > 10 * CREDITS


async def test_a_tournament_with_an_end_is_played_without_rests(autojump_clock: MockClock) -> None:
    """Catches a bot that rests in its cup because of what it, or another, has played at a table."""
    async with hall() as here:
        for name in ("ann", "bob"):
            await here.come(name, HERE, tournament=TABLE)
        await trio.sleep(LONG)
        cup = await here.host.open("cup", Opened(GAME, "round-robin", entrants=2))
        begun = trio.current_time()
        for name in ("cas", "dee"):
            await here.come(name, HERE)
        await cup.finished()
        assert trio.current_time() - begun < 1.0
        assert here.kept("cas", "dee", tournament="cup")


async def missed(here: Hall, seconds: float, stays: bool) -> int:
    """How many matches others have in vain if one address comes under a new name five times a second."""

    async def miss(name: str) -> None:
        visit = await here.host.arrive(name, GAME, peer=HERE)
        visit.acknowledge()
        async for _ in visit.player:
            if not stays:
                visit.leave()

    async with trio.open_nursery() as nursery:
        for number in range(round(5 * seconds)):
            nursery.start_soon(miss, f"new-{number}")
            await trio.sleep(0.2)
        nursery.cancel_scope.cancel()
    facts = [each.fact for each in here.store.kept() if isinstance(each.fact, Concluded)]
    others = [fact for fact in facts if any(not name.startswith("new") for name in fact.players)]
    return sum(fact.ending in (Ending.VOID, Ending.TIME) for fact in others)


@pytest.mark.parametrize("stays", [False, True], ids=["gone", "silent"])
async def test_new_names_that_miss_their_matches_bind_few_bots_of_others(
    stays: bool, autojump_clock: MockClock
) -> None:
    """Catches a stranger who has everybody at a table play against bots that do not come, and nobody else."""
    limit, seconds = Rate(4, 80.0), LONG / 4
    async with hall(missed_matches=limit) as here:
        for number in range(6):
            await here.come(f"bot-{number}", f"198.51.100.{number}")
        share = limit.credits * (1 + seconds / limit.seconds)
        assert 0 < await missed(here, seconds, stays) <= share + 6, "as many more as were dealt at once"


async def test_whoever_shares_an_address_with_these_plays_all_the_same(autojump_clock: MockClock) -> None:
    async with hall(missed_matches=Rate(1, 40.0)) as here:
        await here.come("cas", THERE)
        await missed(here, 10.0, stays=False)
        await here.come("dee", HERE)
        await trio.sleep(LONG)
        assert here.kept("cas", "dee") > 0


async def test_house_players_may_be_left_as_often_as_one_likes(autojump_clock: MockClock) -> None:
    """Catches a class that practises, one router, and bots of all that rest because some have crashed."""
    async with hall(missed_matches=Rate(1, LONG)) as here:
        for number in range(4):
            visit = await here.host.arrive(f"new-{number}", GAME, peer=HERE, against="random", practises=True)
            visit.acknowledge()
            await anext(aiter(visit.player))
            visit.leave()
            await trio.sleep(10.0)
        await here.come("cas", THERE)
        await here.come("dee", HERE)
        await trio.sleep(1.0)
        assert here.kept("cas", "dee") > 0


async def test_the_log_says_once_why_bots_of_an_address_rest(autojump_clock: MockClock) -> None:
    with capture_logs() as logs:
        async with hall() as here:
            for name in ("ann", "bob"):
                await here.come(name, HERE)
            await trio.sleep(LONG / 2)
    (said,) = [each for each in logs if each["event"] == "bots rest between matches"]
    assert said["address"] == HERE
    assert said["why"].endswith("more bytes than `limits.table_bytes`, 16,000 in 40 s")
