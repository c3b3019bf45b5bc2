"""Tournaments by invitation of several hosts: whichever a bot comes to, it is told and led as by one."""

import pytest
import trio
from trio.testing import MockClock

from tests.server.peers.several import several
from tests.server.protocols.room import Guest
from tournament.desk import Desk
from tournament.facts import Opened, State

GAME = "tic-tac-toe"
TOKEN = "ann-keeps-this-secret"
HEARD = 1.0  # seconds in which another host has heard what this one has just done


@pytest.mark.slow
async def test_whoever_is_not_let_in_is_told_so_or_led_past_it_by_every_host(
    autojump_clock: MockClock,
) -> None:
    async with several(3) as (hosts, doors), trio.open_nursery() as nursery:
        await hosts[2].table(GAME)
        await hosts[0].found("cup", Opened(GAME, "round-robin", 2, by_invitation=True))
        cup = hosts[0].tournaments["cup"]
        for name in ("ann", "bob"):
            await Desk(cup).enter(name)
        await trio.sleep(HEARD)

        async def hello(name: str, tournament: str | None = None) -> dict[str, str]:
            guest = Guest(await doors["tcp"]())
            nursery.start_soon(guest.listen)
            await guest.tell(type="hello", name=name, game=GAME, tournament=tournament)
            await trio.sleep(HEARD)
            return (await guest.messages("welcome", "refused"))[0]

        for number in range(3):
            assert "cup is by invitation" in (await hello(f"eve-{number}", "cup"))["reason"]
            assert (await hello(f"fay-{number}"))["tournament"] is None
        for name in ("ann", "bob"):
            assert (await hello(name))["tournament"] == "cup"
        await trio.sleep(HEARD)
        assert cup.record.state is State.RUNNING
        nursery.cancel_scope.cancel()


async def test_a_token_that_an_organiser_replaces_at_one_host_is_of_no_use_at_another(
    autojump_clock: MockClock,
) -> None:
    """Catches one that was stolen, and lets the thief play in the tournaments of the other hosts."""
    async with several(2) as (hosts, doors), trio.open_nursery() as nursery:

        async def hello(tournament: str, token: str) -> str:
            guest = Guest(await doors["tcp"]())
            nursery.start_soon(guest.listen)
            await guest.tell(type="hello", name="ann", game=GAME, tournament=tournament, token=token)
            await trio.sleep(HEARD)
            (answer,) = await guest.messages("welcome", "refused")
            await guest.close()
            await trio.sleep(HEARD)
            return answer["type"]

        for host, name in zip(hosts, ("cup", "cap"), strict=True):
            await host.found(name, Opened(GAME, "round-robin", 2))
            await trio.sleep(HEARD)
            assert await hello(name, TOKEN) == "welcome"
        token = await hosts[0].claims.bind(hosts[0].tournaments["cup"], "ann", "somebody")
        await trio.sleep(HEARD)
        for name in ("cup", "cap"):
            assert await hello(name, TOKEN) == "refused"
            assert await hello(name, token) == "welcome"
        nursery.cancel_scope.cancel()
