"""Names that nobody plays under cost little: how fast they can be made up, and what is left of them."""

from collections.abc import Mapping, Sized
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from server.export.verify import verify
from server.host.host import Host
from server.host.unwelcome import TooManyNames, Unwelcome
from server.net.limits import Limits, Rate
from tests.effort import tries
from tests.server.exports import exported, text
from tests.server.host.test_host import GAME, come, running
from tests.steps import steps_taken
from tournament.facts import Concluded, Dealt, Entered, Opened, State
from tournament.store import Memory

pytestmark = pytest.mark.slow

TABLE = f"open-{GAME}"
AT_ONCE, A_SECOND = 2000, 20
MANY = tries(600, 1000)  # names


def entries(host: Host) -> dict[str, int]:
    """How much is in whatever has to do with names, by where it is, and one level deeper."""
    table = host.tournaments[TABLE]
    places = (host.reception, host.lobby, host.roll, table, table._presence)
    return {
        f"{type(place).__name__}.{field}": _size(value)
        for place in places
        for field, value in vars(place).items()
    }


def _size(value: Any) -> int:
    if isinstance(value, Mapping):
        return len(value) + sum(len(each) for each in value.values() if isinstance(each, Sized))
    return len(value) if isinstance(value, list | set | tuple) else 0


async def try_to_come(host: Host, number: int, peer: str = "192.0.2.1") -> None:
    """By turns as a bot with a token, one that was never heard of again, and one of an old protocol."""
    visit = await host.arrive(f"nobody {number}", GAME, keeps=number % 3 != 0, peer=peer)
    if number % 3 == 1:
        visit.acknowledge()
    visit.leave()


@pytest.mark.parametrize("many", [tries(2 * AT_ONCE, 100_000)])
async def test_names_that_finished_nothing_leave_nothing_behind(many: int, autojump_clock: MockClock) -> None:
    store = Memory()
    async with running(store) as (host, nursery):
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await trio.sleep(10.0)
        before, number = dict[str, int](), 0
        while number < many:
            for _ in range(AT_ONCE):
                await try_to_come(host, number)
                number += 1
            await trio.sleep(AT_ONCE / A_SECOND)
            before = before or entries(host)
        after = entries(host)
        assert not {place for place, size in after.items() if size > before[place] + 10}
        assert {*host.tournaments[TABLE].record.entrants} == {"ann", "bob"}
        assert [kept.fact.name for kept in store.kept() if isinstance(kept.fact, Entered)] == ["ann", "bob"]


@pytest.mark.parametrize("for_good", [False, True], ids=["lost its connection", "said goodbye"])
async def test_a_bot_that_is_gone_and_has_finished_nothing_leaves_its_name_to_others(
    for_good: bool, autojump_clock: MockClock
) -> None:
    async with running() as (host, _):
        visit = await host.arrive("ann", GAME, against="zoe")
        visit.acknowledge()
        await trio.testing.wait_all_tasks_blocked()  # the table has begun
        before = entries(host)
        for number in range(10):
            other = await host.arrive(f"nobody {number}", GAME, against="zoe")
            other.acknowledge()
            other.leave(for_good=for_good)
        assert entries(host) == before
        visit.leave(for_good=for_good)
        assert (await host.arrive("ann", GAME)).token != visit.token


@pytest.mark.parametrize("peer", ["192.0.2.1", "127.0.0.1", "2001:db8:1:2::1"])
async def test_an_address_has_two_thousand_new_names_at_once_and_then_twenty_a_second(
    peer: str, autojump_clock: MockClock
) -> None:
    async with running() as (host, _):
        await host.table(GAME)
        for number in range(AT_ONCE):
            await try_to_come(host, number, peer)
        with pytest.raises(TooManyNames, match=r"`limits\.new_names` allows 2000 at once, and 20 a second"):
            await try_to_come(host, AT_ONCE, peer)
        await try_to_come(host, AT_ONCE, "192.0.2.99")
        await trio.sleep(1.0)
        for number in range(A_SECOND):
            await try_to_come(host, number, peer)
        with pytest.raises(TooManyNames):
            await try_to_come(host, AT_ONCE, peer)
        assert not [*host.lobby.players()], "whoever is refused is not here"


async def test_the_sixty_four_bits_of_an_ipv6_network_are_one_address(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        host.reception = type(host.reception)(host.lobby, Limits(new_names=Rate(1, 100.0)), host.roll)
        await try_to_come(host, 1, "2001:db8:1:2::1")
        with pytest.raises(TooManyNames):
            await try_to_come(host, 2, "2001:db8:1:2:3::1")
        await try_to_come(host, 3, "2001:db8:1:3::1")


async def test_a_name_that_is_known_or_comes_with_its_token_is_not_new(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        cup = await host.open("cup", Opened("connect-4", "round-robin", 3))
        visits = [await come(host, nursery, name) for name in ("ann", "bob")]
        await host.arrive("dee", "connect-4", keeps=False)
        waiting = await host.arrive("eve", GAME, tournament=TABLE)
        await trio.sleep(20.0)
        host.reception._new_names = type(host.reception._new_names)(Rate(0, 100.0))
        token = waiting.token
        for visit in visits:
            visit.leave(for_good=True)
        for name in ("ann", "bob"):
            assert (await host.arrive(name, GAME, token=f"another one of {name}")).player.name == name
        assert (await host.arrive("eve", GAME, token=token)).player is waiting.player
        for other in tuple(host.lobby.named("dee", "connect-4")):
            other.retire()
        host.reception._visits.clear()
        assert (await host.arrive("dee", "connect-4", keeps=False)).player.place == cup.record.name
        with pytest.raises(TooManyNames):
            await host.arrive("fay", GAME)


async def test_a_name_enters_with_the_first_match_that_is_finished(autojump_clock: MockClock) -> None:
    """What is announced is kept, in the same transaction."""
    store = Memory()
    async with running(store) as (host, nursery):
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await trio.sleep(1.5)
        assert not host.tournaments[TABLE].record.entrants
        await trio.sleep(10.0)
    facts = [kept.fact for kept in store.kept() if isinstance(kept.fact, Entered | Dealt | Concluded)]
    assert [type(fact) for fact in facts[:4]] == [Dealt, Entered, Entered, Concluded]
    assert [fact.name for fact in facts if isinstance(fact, Entered)] == ["ann", "bob"]


async def test_a_match_in_which_not_both_have_moved_makes_nobody_known_and_counts_for_nobody(
    autojump_clock: MockClock,
) -> None:
    async with running() as (host, nursery):
        visits = [await come(host, nursery, name) for name in ("ann", "bob")]
        await trio.sleep(20.0)
        table = host.tournaments[TABLE]
        for visit in visits:
            visit.leave(for_good=True)
        await trio.sleep(1.0)
        rows = table.record.standings()
        ann, nobody = [await host.arrive(name, GAME, token=visits[0].token) for name in ("ann", "nobody")]
        await trio.sleep(1.0)
        (match,) = table.matches.values()
        assert {*match.names} == {"ann", "nobody"}
        assert nobody.player.seat is not None
        nobody.player.seat.resign()
        await trio.sleep(1.0)
        nobody.leave()
        ann.leave()
        await trio.sleep(100.0)  # until the match that they were dealt meanwhile is over as well
        assert table.record.matches[match.name].score is None
        assert {*table.record.entrants} == {"ann", "bob"}
        played = {row.name: row.played for row in rows}
        assert {row.name: row.played for row in table.record.standings()} == played
        assert not host.lobby.named("nobody", GAME)
        assert host.lobby.named("ann", GAME), "it has finished matches: its token keeps its name for a while"


@pytest.mark.parametrize("facts", [True, False], ids=["with facts", "without"])
async def test_an_export_shows_that_such_a_match_counts_for_nothing_and_no_other_may(
    facts: bool, autojump_clock: MockClock
) -> None:
    store = Memory()
    async with running(store) as (host, nursery):
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        nobody = await host.arrive("nobody", GAME, against="cas")
        await trio.sleep(20.0)
        await host.arrive("cas", GAME, against="nobody")
        await trio.sleep(0.1)
        assert nobody.player.seat is not None
        nobody.player.seat.resign()
        await trio.sleep(0.1)
    kept = [each for each in store.kept() if each.tournament == TABLE]
    lines = exported(kept, facts)
    (unfinished,) = (
        n for n, line in enumerate(lines) if line["type"] == "match" and "cas" in line["players"]
    )
    assert lines[unfinished]["score"] is None
    assert verify(text(lines)).findings == []
    finished = next(n for n, line in enumerate(lines) if line["type"] == "match" and "ann" in line["players"])
    forged = [*lines[:finished], lines[finished] | {"score": None}, *lines[finished + 1 :]]
    assert verify(text(forged)).findings


async def test_a_bot_that_is_gone_in_the_middle_of_its_first_match_may_come_back_to_it(
    autojump_clock: MockClock,
) -> None:
    async with running() as (host, _):
        ann, _ = [await host.arrive(name, GAME) for name in ("ann", "bob")]
        await trio.sleep(0.1)
        seat = ann.player.seat
        assert seat is not None
        ann.leave()
        await trio.sleep(5.0)
        again = await host.arrive("ann", GAME, token=ann.token)
        assert (again.player, again.player.seat) == (ann.player, seat)
        again.leave()
        await trio.sleep(100.0)
        assert not host.lobby.named("ann", GAME), "it has lost a match that was not finished"


async def test_an_old_journal_in_which_names_entered_at_once_still_counts(autojump_clock: MockClock) -> None:
    store = Memory()
    async with running(store) as (host, nursery):
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await trio.sleep(20.0)
        rows = host.tournaments[TABLE].record.standings()
    kept = [*store.kept()]
    entered = [each for each in kept if isinstance(each.fact, Entered)]
    rest = [each for each in kept if each not in entered]
    old = Memory()
    for each in [*rest[:2], *entered, *rest[2:]]:
        await old.keep(each.tournament, each.when, [each.fact])
    async with running(old) as (host, _):
        assert host.tournaments[TABLE].record.standings() == rows


def arrival_steps(host: Host, name: str, shared: bool = False) -> int:
    """Of one arrival, which waits for nothing."""

    def arrive() -> None:
        coroutine = host.arrive(name, GAME, keeps=False, shared=shared)
        with pytest.raises(StopIteration):
            coroutine.send(None)

    return steps_taken(arrive)


@pytest.mark.parametrize("format", ["open", "round-robin"])
async def test_an_arrival_costs_the_same_however_many_names_there_are(
    format: str, autojump_clock: MockClock
) -> None:
    """Catches loops over all who are here, over all entrants, and over all tournaments that there were."""
    took: list[int] = []
    for many in (10, MANY):
        async with running() as (host, _):
            table = await host.table(GAME)
            for number in range(many // 5):
                old = await host.open(f"old-{number}", Opened(GAME, "round-robin", 2))
                old.record.state = State.FINISHED
                host._holding.current.sort(old.record)
            cup = await host.open("cup", Opened(GAME, "round-robin", many + 1))
            (await host.arrive("zoe", GAME, keeps=False)).leave()
            for number in range(many):
                await host.arrive(f"bot-{number}", GAME, peer=f"192.0.2.{number % 250}")
                await table.keep(Entered(f"known-{number}"))
            assert len(cup.record.entrants) == many + 1
            arrival_steps(host, "warm")
            took.append(arrival_steps(host, "ann") if format == "open" else arrival_steps(host, "zoe", True))
    assert took[1] <= took[0] * 1.2 + 50, took


async def test_whoever_looks_like_somebody_at_the_table_cannot_come_after_it_has_gone(
    autojump_clock: MockClock,
) -> None:
    async with running() as (host, nursery):
        visits = [await come(host, nursery, name, keeps=False) for name in ("Bob1", "ann")]
        await trio.sleep(20.0)
        for visit in visits:
            visit.leave()
        for name in ("b0bl", "BOBI"):
            with pytest.raises(Unwelcome) as refused:
                await host.arrive(name, GAME)
            told = f"the name {name} is taken: in {TABLE} another looks like it"
            assert str(refused.value) == told, "not who, and no organiser can do anything about it"
        assert (await host.arrive("Bob1", GAME)).player.place == TABLE
        assert (await host.arrive("b0bl", "connect-4")).player.name == "b0bl", "another table"
