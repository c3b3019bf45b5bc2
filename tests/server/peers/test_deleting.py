"""Tournaments are deleted where bots wait whose next place another host holds, and names are used again."""

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from server.exits import Unavailable
from server.host.host import OPEN, Host
from server.host.opening import NameTaken
from server.peers.leases import EVERY
from server.store.ledger import Ledger
from tests.hang import HANG
from tests.server.ends import End
from tests.server.peers.several import One, Shared, several
from tournament.facts import Entered, Opened

GAME = "santorini"
FORMATS = ("round-robin", "swiss")


async def come(end: End, name: str) -> str | None:
    """Its welcome."""
    await end.say(json.dumps({"type": "hello", "name": name, "game": GAME}))
    return await end.hear()


async def test_whoever_waits_there_is_hung_up_on_unless_its_next_place_is_here(
    autojump_clock: MockClock,
) -> None:
    """Catches bots that wait for ever for what cannot come."""
    for holder_of_table in (0, 1):
        async with several(2) as (hosts, doors):
            await hosts[holder_of_table].table(GAME)
            await hosts[0].found("cup", Opened(GAME, "round-robin", 4))
            await trio.sleep(1.0)
            ann, bob = [await doors["tcp"]() for _ in range(2)]
            for end, name in ((ann, "ann"), (bob, "bob")):
                assert '"tournament":"cup"' in str(await come(end, name))
            await hosts[0].delete(hosts[0].tournaments["cup"], "somebody")
            for end in (ann, bob):
                with trio.fail_after(HANG):
                    told = str(await end.hear())
                if holder_of_table == 0:
                    assert f'"match":"{OPEN}{GAME}-1"' in told
                else:
                    assert "cup was deleted: come again" in told
                    assert await end.hear() is None


async def test_what_is_deleted_before_the_journal_is_read_again_keeps_no_bot_waiting(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that reads of what it had opened when that is gone, and sends bots there."""
    async with several(2) as (hosts, doors):
        await hosts[0].found("cup", Opened(GAME, "round-robin", 4))
        await hosts[0].delete(hosts[0].tournaments["cup"], "somebody")
        await trio.sleep(1.0)
        for name in ("ann", "bob"):
            with trio.fail_after(HANG):
                assert '"welcome"' in str(await come(await doors["tcp"](), name))


def opened(hosts: Sequence[Host]) -> list[tuple[str, str]]:
    """All tournaments that were ever opened, by the names in the journal, with their formats."""
    return [
        (kept.tournament, kept.fact.format) for kept in hosts[0].store.kept() if isinstance(kept.fact, Opened)
    ]


@pytest.mark.parametrize("pause", [0.0, 1.0])
@pytest.mark.parametrize("holders", [(0, 1, 2, 0), (0, 0, 1, 1)])
async def test_a_name_that_is_free_again_can_be_used_at_any_host_by_whoever_used_it_last(
    autojump_clock: MockClock, holders: Sequence[int], pause: float
) -> None:
    """The same with another format as with the same one, and at once as well as later.

    Catches a tournament that is taken for the one that another host has deleted.
    """
    told = list[tuple[str, str]]()
    async with several(3) as (hosts, _):
        for number, holder in enumerate(holders, 1):
            form = FORMATS[number // 3]
            cup = await hosts[holder].found("cup", Opened(GAME, form, 4))
            told.append(("cup" if number == 1 else f"cup~{number}", form))
            await trio.sleep(pause)
            assert opened(hosts) == told
            assert hosts[holder].tournaments["cup"].record is cup.record
            await hosts[holder].tournaments["cup"].keep(Entered("ann"))
            await trio.sleep(1.0)
            for host in hosts:
                known = host.known["cup"].record
                assert (known.kept_as, known.opened.format, [*known.entrants]) == (*told[-1], ["ann"])
            await hosts[holder].delete(hosts[holder].tournaments["cup"], "somebody")
            await trio.sleep(pause)


async def test_one_of_two_hosts_that_use_a_name_again_in_one_moment_has_it(
    autojump_clock: MockClock,
) -> None:
    async def found(host: Host, form: str) -> None:
        try:
            await host.found("cup", Opened(GAME, form, 4))
        except NameTaken:
            refused.append(form)

    for pause in (0.0, 1.0):
        refused = list[str]()
        async with several(3) as (hosts, _):
            await hosts[0].found("cup", Opened(GAME, FORMATS[0], 4))
            await hosts[0].delete(hosts[0].tournaments["cup"], "somebody")
            await trio.sleep(pause)
            async with trio.open_nursery() as nursery:
                for host, form in zip(hosts[1:], FORMATS, strict=True):
                    nursery.start_soon(found, host, form)
            [lost] = refused
            [won] = {*FORMATS} - {lost}
            assert opened(hosts) == [("cup", FORMATS[0]), ("cup~2", won)]
            await trio.sleep(1.0)
            assert [host.known["cup"].record.opened.format for host in hosts] == 3 * [won]
            assert sum("cup" in host.tournaments for host in hosts) == 1


@pytest.mark.parametrize("when", [0, 5, 10, 15])
async def test_a_host_whose_tournament_is_deleted_as_its_entrants_come_goes_on(
    when: int, autojump_clock: MockClock
) -> None:
    """Catches one that ended: the name was free before it was kept whose names the entrants' were."""
    async with several(2) as (hosts, _):
        holder = hosts[0]
        cup = await holder.found("cup", Opened(GAME, FORMATS[0], 60))
        names = [f"bot{number}" for number in range(30)]
        await cup.keep(*map(Entered, names))
        cast("Ledger", holder.store)._in_thread = slowly

        async def arrive(name: str, after: int) -> None:
            await trio.sleep(after / 1000)
            visit = await holder.arrive(name, GAME, token=f"{name}-keeps-this-secret")
            visit.acknowledge()

        async with trio.open_nursery() as nursery:
            for after, name in enumerate(names):
                nursery.start_soon(arrive, name, after)
            await trio.sleep(when / 1000)
            await holder.delete(cup, "somebody")
            again = await holder.found("cup", Opened(GAME, FORMATS[1], 60))
        await trio.sleep(1.0)
        await again.keep(Entered("ann"))
        assert holder.tournaments["cup"] is again


async def slowly(call: Callable[[], Any], *, limiter: trio.CapacityLimiter) -> Any:
    """In place of the thread that writes: what comes meanwhile goes into the next commit."""
    await trio.sleep(0.01)
    return call()


class Stumbling(Shared):
    """It is away when a name is to be given up for the first time. Leases have changed when it is back."""

    stumbles = True

    def remove(self, host: int, tournament: str) -> None:
        self.hosts[host].changes += 1
        if self.stumbles:
            self.stumbles = False
            raise Unavailable("it is away")
        self.leases.pop(tournament, None)


@pytest.mark.parametrize("trip", [0.03, 0.07, 0.11])
async def test_a_tournament_is_held_whose_name_could_not_be_given_up_at_once(
    trip: float, autojump_clock: MockClock
) -> None:
    """Catches a tournament that nobody holds, because its host has given up the new one's name as well."""

    async def there(call: Callable[[], Any], *, limiter: trio.CapacityLimiter) -> Any:
        await trio.sleep(trip)
        return call()

    for pause in range(20):
        database = Stumbling(trio.current_time)
        one = One(database, there)
        async with trio.open_nursery() as nursery:
            await one.run(nursery)
            cup = await one.host.open("cup", Opened(GAME, "round-robin", 4))
            await trio.sleep(pause * EVERY / 20)
            await one.host.delete(cup, "somebody")
            await one.host.open("cup", Opened(GAME, "round-robin", 4))
            await trio.sleep(4 * EVERY)
            assert database.leases.keys() == one.keeping.leases.held.keys() == {"cup"}
            nursery.cancel_scope.cancel()
