"""Where bots are called: `tests/server/protocols/test_guest.py` has the rest."""

import trio
from trio.testing import MockClock

from server.host.calling import Calling
from tests.server.host.test_host import GAME, running
from tests.server.protocols.table import Slow
from tournament.desk import Desk
from tournament.facts import Called, Entered, Opened, Seated

ANN = Called("ann", "https://ann.example")


async def test_a_bot_that_an_organiser_releases_before_it_is_kept_where_it_is_called_is_not_called(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that took the order back, because what it had kept was not what it knew."""
    async with running(Slow(Called)) as (host, nursery):
        cup = await host.open("cup", Opened(GAME, "round-robin", 3))
        await cup.keep(Entered("ann"), Seated("ann", "arena", "192.0.2.1"))
        Calling().note(nursery, cup, ANN)
        await trio.sleep(1.0)
        nursery.start_soon(Desk(cup, "somebody").release, "ann")
        await trio.sleep(100.0)
        assert not cup.record.called
