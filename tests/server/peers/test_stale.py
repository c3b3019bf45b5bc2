"""A bot is led right by a host that has not heard yet what another one has just done."""

from collections.abc import Sequence

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.host import Host
from tests.server.peers.several import several
from tests.server.protocols.room import Guest
from tournament.facts import Opened

HEARD = 1.0  # seconds in which another host has heard what this one has just done


def hello(name: str, game: str) -> str:
    said = {"type": "hello", "name": name, "game": game, "token": f"{name}-keeps-this-secret"}
    return msgspec.json.encode(said).decode()


async def cup_and_table(hosts: Sequence[Host], game: str) -> None:
    """A tournament for two at one host, and the open table at another; both have heard of both."""
    await hosts[1].table(game)
    await hosts[0].found("cup", Opened(game, "round-robin", 2))
    await trio.sleep(HEARD)


@pytest.mark.slow
@pytest.mark.parametrize("door", ["tcp", "websocket"])
async def test_whoever_comes_at_once_after_the_end_of_its_tournament_is_let_in(
    door: str, autojump_clock: MockClock
) -> None:
    game = "tic-tac-toe"
    async with several(2) as (hosts, doors), trio.open_nursery() as nursery:
        await cup_and_table(hosts, game)

        async def come(name: str) -> Guest:
            guest = Guest(await doors[door]())
            nursery.start_soon(guest.listen)
            await guest.end.say(hello(name, game))
            return guest

        ann, bob = await come("ann"), await come("bob")
        await trio.sleep(HEARD)
        await bob.end.say('{"type":"resign"}')
        await hosts[0].tournaments["cup"].finished()
        await trio.testing.wait_all_tasks_blocked()
        assert [each["type"] for each in await ann.messages()][-1] == "standings"
        for name, before in (("ann", ann), ("bob", bob)):
            await before.end.close()
            await trio.testing.wait_all_tasks_blocked()
            guest = await come(name)
            await trio.sleep(HEARD)
            assert [each["tournament"] for each in await guest.messages("welcome")] == [None]
        nursery.cancel_scope.cancel()


@pytest.mark.slow
@pytest.mark.parametrize("door", ["tcp", "websocket"])
async def test_whoever_comes_at_once_after_a_tournament_was_full_is_let_in(
    door: str, autojump_clock: MockClock
) -> None:
    """At the first host that it comes to, which may know that, and at the other, which does not."""
    game = "tic-tac-toe"
    async with several(2) as (hosts, doors), trio.open_nursery() as nursery:
        await cup_and_table(hosts, game)
        guests: list[Guest] = []
        for name in ("ann", "bob", "cid", "dan"):
            guest = Guest(await doors[door]())
            nursery.start_soon(guest.listen)
            await guest.end.say(hello(name, game))
            await trio.testing.wait_all_tasks_blocked()
            guests.append(guest)
        await trio.sleep(HEARD)
        welcomes = [each["tournament"] for guest in guests for each in await guest.messages("welcome")]
        assert welcomes == ["cup", "cup", None, None]
        nursery.cancel_scope.cancel()


@pytest.mark.slow
async def test_a_bot_of_hexagon_dots_that_joins_at_once_is_not_told_that_a_host_was_lost(
    autojump_clock: MockClock,
) -> None:
    game = "hexagon-dots"
    async with several(2) as (hosts, doors), trio.open_nursery() as nursery:
        await cup_and_table(hosts, game)
        heard: list[str | None] = []

        async def join(name: str) -> None:
            end = await doors["http"]()
            await end.say("GET /match")
            found = await end.hear()
            assert found is not None
            (path,) = (each for each in found.split() if each.startswith("/g/"))
            await end.say(f'POST {path}/players {{"name":"{name}"}}')
            heard.append(await end.hear())

        for name in ("ann", "bob", "cid", "dan"):
            nursery.start_soon(join, name)
            await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(HEARD)
        assert not [each for each in heard if each is not None and each.startswith("503")]
        assert len(hosts[1].tournaments["open-hexagon-dots"].matches) == 1
        nursery.cancel_scope.cancel()
