"""Bots that come to one host right after a tournament was opened at another, and nobody has told theirs."""

from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.abroad import Handed, OutOfReach, Wanted
from server.host.opening import OPEN
from server.net.stream_wire import StreamWire
from server.peers.leases import Peer
from tests.server.peers.several import several
from tests.server.peers.test_abroad import Leases, sharing
from tests.server.protocols.room import Guest
from tournament.desk import Desk
from tournament.facts import Opened, State

GAME = "connect-4"
SETTLED = 2.0  # seconds after which everybody knows everything


def hello(name: str, tournament: str | None = None) -> str:
    said: dict[str, Any] = {"type": "hello", "name": name, "game": GAME}
    return msgspec.json.encode(said if tournament is None else said | {"tournament": tournament}).decode()


@pytest.mark.parametrize("door", ["tcp", "websocket", "http"])
async def test_a_bot_that_names_it_is_let_in(door: str, autojump_clock: MockClock) -> None:
    """Catches a bot that is refused, and stops, because its organiser has started it at once."""
    async with several(2) as (hosts, doors), trio.open_nursery() as nursery:
        ends = [await doors[door]() for _ in range(2)]
        await trio.sleep(SETTLED)
        cup = await hosts[0].found("cup", Opened(GAME, "round-robin", 2))
        for name, end in zip(("ann", "bob"), ends, strict=True):
            nursery.start_soon(Guest(end).listen)
            await end.say(f"POST /play {hello(name, 'cup')}" if door == "http" else hello(name, "cup"))
        await trio.sleep(SETTLED)
        assert cup.record.entrants.keys() == {"ann", "bob"}
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("by_invitation", [False, True])
async def test_a_bot_that_can_name_none_plays_there_and_not_at_an_open_table(
    autojump_clock: MockClock, by_invitation: bool
) -> None:
    """Those of three old protocols cannot. Catches a tournament that waits for bots which play elsewhere."""
    async with several(2) as (hosts, doors):
        await trio.sleep(SETTLED)
        opened = Opened("santorini", "round-robin", 2, by_invitation=by_invitation)
        cup = await hosts[0].found("cup", opened)
        if by_invitation:
            await trio.sleep(SETTLED)
            for name in ("ann", "bob"):
                await Desk(hosts[0].tournaments["cup"], by="an organiser").enter(name)
        await trio.testing.wait_all_tasks_blocked()
        for name in ("ann", "bob"):
            await (await doors["tcp"]()).say(name)
        await trio.sleep(SETTLED)
        assert cup.record.state is State.RUNNING
        assert not any(host.has(OPEN + "santorini") for host in hosts)


@pytest.mark.parametrize("door", ["tcp", "websocket"])
async def test_a_bot_that_names_one_that_is_nowhere_is_told_so_and_may_name_another(
    door: str, autojump_clock: MockClock
) -> None:
    """Catches a bot that is looked for again and again, and hears nothing for as long as it waits."""
    async with several(2) as (hosts, doors), trio.open_nursery() as nursery:
        await hosts[0].found("cup", Opened(GAME, "round-robin", 2))
        await trio.sleep(SETTLED)
        guest = Guest(await doors[door]())
        nursery.start_soon(guest.listen)
        for named in ("cop", "cup"):
            await guest.end.say(hello("ann", named))
            await trio.sleep(SETTLED)
        refused, welcome = await guest.messages()
        assert refused == {
            "type": "refused",
            "reason": f"there is no tournament 'cop' of {GAME} that is not over",
        }
        assert (welcome["type"], welcome["tournament"]) == ("welcome", "cup")
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("alone", [True, False])
async def test_while_the_database_is_away_a_bot_is_told_to_come_again_unless_there_is_no_other_host(
    alone: bool, autojump_clock: MockClock
) -> None:
    registry = Leases()
    registry.peers = () if alone else (Peer(8, "127.0.0.1:1", "aa", "", "0"),)
    async with sharing(registry) as (host, peers, _, _):
        await trio.sleep(SETTLED)
        found = peers.holder(Wanted("ann", GAME, "new"))
        assert (found is None) == alone
        if found is not None:
            registry.away = True
            _, ours = trio.testing.memory_stream_pair()
            handed = Handed("tcp", StreamWire(ours, host.guard), "", [(b"{}\n", 0.0)], lambda: None)
            with pytest.raises(OutOfReach, match="come again later"):
                await found.take(handed)
            registry.away = False
            await trio.sleep(SETTLED)
