"""A fault of the host's own over a request of an HTTP dialect costs nobody a match."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.protocols.arena.battle import Battle
from server.protocols.hexagon_dots.bot import Bot
from tests.server.protocols.lists import lists
from tests.server.protocols.table import SIDES, said, table
from tournament.events import HOST_FAILED, Ending, Fault
from tournament.facts import Concluded

FAULT = b'{"error":"the fault is this host\'s, and it is logged"}'


def broken(*arguments: Any) -> None:
    raise RuntimeError("planted")


def plant(monkeypatch: pytest.MonkeyPatch, where: type, what: str, *, after: bool) -> None:
    """Have a method fail, at once or `after` it has done its work."""
    whole: Callable[..., Any] = getattr(where, what)

    def fail(*arguments: Any) -> None:
        if after:
            whole(*arguments)
        broken()

    monkeypatch.setattr(where, what, fail)


def expect_void(over: Concluded) -> None:
    assert (over.ending, over.why, over.fault, over.score) == (Ending.VOID, HOST_FAILED, Fault.HOST, None)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("what", ["_hold", "_move"])
async def test_a_fault_over_a_move_of_hexagon_dots_makes_the_game_void(
    what: str, after: bool, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Bot, what, after=after)
            await ann.move(SIDES[0])
            answer = await ann.told()
        assert (answer.status, answer.body) == (500, FAULT)
        if what == "_move" and after:  # by then it is Bob's turn
            await bob.turn()
            await bob.move(SIDES[1])
        other = await bob.told()
        assert (other.status, "x-turn-token" in other.headers) == (200, False)
        assert said(other)["state"] == "completed"
        (over,) = here.host.tournaments["open-hexagon-dots"].record.matches.values()
        expect_void(over)
        assert here.host.measures.voids["host"] == 1
        assert sum(here.server.guard.caught.values()) == 1
        here.server.guard.caught.clear()
        again, other = await here.pair()
        await again.move(SIDES[0])
        await other.turn()


@pytest.mark.parametrize("what", ["_hold", "join"])
async def test_a_fault_over_a_join_of_hexagon_dots_leaves_nobody_behind(
    what: str, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with table() as here:
        game, ann = await here.made(), here.bot("ann")
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Bot, what, after=True)
            await ann.join(game)
            assert (await ann.told()).status == 500
        assert not list(here.host.lobby.players())
        here.server.guard.caught.clear()
        await here.pair(game)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("what", ["_move", "play", "start"])
async def test_a_fault_over_a_request_of_a_battle_makes_the_match_void(
    what: str, after: bool, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Battle, what, after=after)
            if what == "start":
                client = here.send(f"/tic-tac-toe/start/{ann.battle}")
                cut = await client.now()
                assert after or FAULT in cut
            else:
                answer = await here.ask(
                    f"/tic-tac-toe/play/{ann.battle}", {"action": "putSymbol", "position": "C"}
                )
                assert after or (answer.status, answer.body) == (500, FAULT)
        await trio.sleep(1.0)
        await bob.told()
        assert bob.stream.over
        (over,) = here.host.tournaments["open-tic-tac-toe"].record.matches.values()
        expect_void(over)
        assert here.host.measures.voids["host"] == 1
        here.host.guard.caught.clear()


async def test_what_is_wrong_with_a_request_is_no_fault_of_the_host(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, _ = await here.pair()
        status, _ = await here.says(f"/tic-tac-toe/play/{ann.battle}", b"{")
        assert status == 400
        assert (await ann.put("C"))[0] == 200
