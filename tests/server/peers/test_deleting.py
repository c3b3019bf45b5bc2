"""A tournament is deleted where bots wait, whose next place another host holds."""

import json

import trio
from trio.testing import MockClock

from server.host.host import OPEN
from tests.hang import HANG
from tests.server.ends import End
from tests.server.peers.several import several
from tournament.facts import Opened

GAME = "santorini"


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
