"""The audit of several hosts: what organisers ordered at any of them is in that of each, and there once."""

import trio
from trio.testing import MockClock

from server.host.host import Host
from tests.server.peers.several import One, Shared
from tournament.desk import Desk
from tournament.facts import HOST, Opened

SOON = 1.0  # seconds in which other hosts have read what was kept


def _orders(host: Host) -> list[tuple[str, str, str]]:
    return sorted((each.tournament, each.fact.by, each.fact.action) for each in host.audit)  # pyright: ignore


async def test_what_was_ordered_at_any_host_is_in_the_audit_of_all_and_there_once(
    autojump_clock: MockClock,
) -> None:
    """Catches an audit that has only what was ordered before the host began, and at that host."""
    database = Shared(trio.current_time)
    async with trio.open_nursery() as nursery:
        hosts: list[Host] = []
        for _ in range(2):
            one = One(database)
            await one.run(nursery)
            hosts.append(one.host)
        for host, name in zip(hosts, ("cup", "cap"), strict=True):
            held = await host.open(name, Opened("connect-4", "round-robin"), f"whoever has {name}")
            await trio.sleep(SOON)
            await host.claims.invite(held, "ann", f"whoever has {name}")
            await host.note(f"whoever has {name}", "login")
        await trio.sleep(SOON)
        expected = [
            (tournament, f"whoever has {name}", action)
            for name in ("cup", "cap")
            for tournament, action in ((name, "open"), (name, "invite"), (HOST, "login"))
        ]
        assert [_orders(host) for host in hosts] == [sorted(expected)] * 2
        nursery.cancel_scope.cancel()


async def test_orders_of_a_host_that_was_lost_are_in_the_audit_of_the_one_that_goes_on(
    autojump_clock: MockClock,
) -> None:
    """Catches orders that are told twice by a host that takes a tournament over, or not at all."""
    database, lost = Shared(trio.current_time), trio.CancelScope()
    one, other = One(database), One(database)

    async def run_until_lost(task_status: trio.TaskStatus[None]) -> None:
        with lost:
            async with trio.open_nursery() as nursery:
                await one.run(nursery)
                task_status.started()

    async with trio.open_nursery() as nursery:
        await nursery.start(run_until_lost)
        await other.run(nursery)
        held = await one.host.open("cup", Opened("connect-4", "round-robin"), "ann")
        await Desk(held, "ann").freeze()
        lost.cancel()
        while "cup" not in other.host.tournaments:  # noqa: ASYNC110 - nobody tells
            await trio.sleep(SOON)
        await Desk(other.host.tournaments["cup"], "bob").unfreeze()
        await trio.sleep(SOON)
        assert _orders(other.host) == [
            ("cup", "ann", "freeze"),
            ("cup", "ann", "open"),
            ("cup", "bob", "unfreeze"),
        ]
        nursery.cancel_scope.cancel()
