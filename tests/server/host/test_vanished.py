"""Whose connection is looked at when somebody comes under its name, and shows no token."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from server.host.host import Host
from server.host.unwelcome import Unwelcome
from server.host.visits import Visit
from server.net.limits import Limits, Rate
from server.net.still_there import LONGEST
from tests.server.transcripts import hosting

HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"
CUP = {"tournament": "cup", "game": "santorini", "format": "round-robin", "entrants": "4"}
TABLE: dict[str, str] = {}


class Vanished:
    """The connection of a bot whose machine answers no more."""

    def __init__(self, visit: Visit) -> None:
        self.asked = False
        self.vanishes = True
        self._visit = visit

    async def hung_up(self) -> bool:
        return False

    async def vanished(self) -> bool:
        self.asked = True
        if self.vanishes:
            await trio.sleep(LONGEST)
            self._visit.leave()
        return self.vanishes


@pytest.mark.parametrize(
    ("where", "first", "second", "gives_way"),
    [
        (TABLE, {"keeps": False}, {"keeps": False}, True),
        (CUP, {"keeps": False}, {"keeps": False}, True),
        (CUP, {"keeps": False}, {"keeps": False, "peer": ELSEWHERE}, False),
        (CUP, {"keeps": False, "shared": True}, {"keeps": False, "shared": True}, True),
        (TABLE, {}, {}, True),  # the token may never have arrived
        (TABLE, {}, {"peer": ELSEWHERE}, False),
        (TABLE, {"token": "t" * 22}, {}, False),
        (TABLE, {"token": "t" * 22}, {"token": "u" * 22}, False),
    ],
)
async def test_a_bot_gives_way_if_it_has_vanished_and_whoever_comes_may_be_the_same(
    where: dict[str, str],
    first: dict[str, Any],
    second: dict[str, Any],
    gives_way: bool,
    autojump_clock: MockClock,
) -> None:
    async with hosting(where) as (host, _):
        connection = await come(host, **first)
        if gives_way:
            await come(host, **second)
        else:
            with pytest.raises(Unwelcome, match="taken"):
                await come(host, **second)
        assert connection.asked == gives_way


async def test_those_who_may_share_a_name_wait_for_nobody(autojump_clock: MockClock) -> None:
    """Catches a bot of c4-arena that waits for its match until it is known who else of its name is there."""
    async with hosting({}) as (host, _):
        connection = await come(host, keeps=False, shared=True)
        await come(host, keeps=False, shared=True)
        assert not connection.asked


async def test_it_takes_as_long_however_many_connections_a_bot_has_lost(autojump_clock: MockClock) -> None:
    """Catches a bot in several games that asks for another one, and gives up waiting."""
    waited: list[float] = []
    for lost in (1, 4):
        async with hosting({}) as (host, _):
            for _ in range(lost):
                await come(host, keeps=False, shared=True)
            began = trio.current_time()
            await come(host, keeps=False)
            waited.append(trio.current_time() - began)
    assert waited[0] == pytest.approx(waited[1])


async def come(host: Host, **wishes: Any) -> Vanished:
    visit = await host.arrive("Ann", "santorini", **{"door": "santorini", "peer": HERE, **wishes})
    if visit.token is not None and "token" in wishes:
        visit.acknowledge()
    connection = visit.player.connection = Vanished(visit)
    return connection


@pytest.mark.parametrize("vanishes", [True, False])
async def test_only_whoever_takes_over_from_somebody_who_is_there_may_not_do_so_often(
    vanishes: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot that has to wait for a minute of its match, as its network is gone again and again."""
    limits = Limits(takeovers=Rate(2, 60.0))
    async with hosting({}, limits) as (host, _):
        for number in range(6):
            wish = come(host, token="t" * 22)
            if vanishes or number <= limits.takeovers.credits:
                connection = await wish
                connection.vanishes = vanishes
            else:
                with pytest.raises(Unwelcome, match="too often"):
                    await wish
