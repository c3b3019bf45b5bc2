"""A language model at several hosts: its session leads to where it plays, whatever else it tries."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.hang import HANG
from tests.server.peers.several import several
from tests.server.protocols.test_mcp import Client
from tournament.facts import Opened

GAME = "connect-4"
REFUSED = {
    "a game that is misspelt": {"game": "connect4"},
    "a tournament of another host that has begun": {"game": GAME, "tournament": "elsewhere"},
}


@pytest.mark.parametrize("asks", REFUSED.values(), ids=REFUSED.keys())
async def test_a_model_whose_further_join_is_refused_plays_on_where_it_was(
    autojump_clock: MockClock, asks: dict[str, Any]
) -> None:
    """Catches a model that is told to join first, in the middle of its match."""
    for holder in (0, 1):
        async with several(2) as (hosts, doors):
            await hosts[holder].found("cup", Opened(GAME, "round-robin", 4))
            await hosts[1 - holder].found("elsewhere", Opened(GAME, "round-robin", 2, by_invitation=True))
            await trio.sleep(1.0)
            model = Client(await doors["http"]())
            await model.begin()
            await trio.sleep(1.0)

            async def call(tool: str, model: Client = model, **arguments: Any) -> dict[str, Any]:
                answer = await model.old("tools/call", {"name": tool, "arguments": arguments})
                return answer.told if "result" in answer.body else answer.body

            with trio.fail_after(HANG):
                joined = await call("join", name="ann", game=GAME, tournament="cup")
                assert joined.get("tournament") == "cup", joined
                assert (await call("join", name="bob", **asks))["type"] == "refused"
                await trio.sleep(1.0)
                found = await call("wait", seconds=0)
                assert found["type"] == "waiting", found
                await model.close()


@pytest.mark.parametrize("count", [2, 3])
async def test_a_session_is_known_at_once_to_whichever_host_is_asked(
    autojump_clock: MockClock, count: int
) -> None:
    """Catches a model that is told that its session is over, when it has only just begun."""
    for holder in range(count):
        async with several(count) as (hosts, doors):
            await hosts[holder].found("cup", Opened(GAME, "round-robin", 4))
            await trio.sleep(1.0)
            with trio.fail_after(HANG):
                for number in range(count):
                    for tool, arguments in (
                        ("join", {"name": f"ann-{number}", "game": GAME, "tournament": "cup"}),
                        ("games", {}),
                    ):
                        model = Client(await doors["http"]())
                        await model.begin()
                        answer = await model.old("tools/call", {"name": tool, "arguments": arguments})
                        assert "error" not in answer.body, answer.body
                        assert not answer.body["result"]["isError"], answer.body
                        await model.close()
