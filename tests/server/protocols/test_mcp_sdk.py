"""A seat for a language model, taken by the protocol's own client: `mcp`, the Python SDK, on trio.

Five clients play a Swiss to its end in every game, some in the stateless revision and some with a
session. They know what tools return, and nothing of the host.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import trio

from games.catalogue import catalogue
from games.game import Pace
from server.config import Settings
from server.host.host import Host
from server.http.routes import routed
from server.http.service import Http
from server.net.admission import Admission
from server.net.listening import listeners, serve
from server.protocols.catalogue import carried
from server.protocols.dialect import OverHttp
from tests.hang import HANG
from tests.server.transcripts import hosting
from tournament.facts import Opened, State
from tournament.format import Terms

if TYPE_CHECKING:
    from mcp import Client

NAMES = ("ann", "bob", "cid", "dot", "eve")
ROUNDS = 2
QUICK = ("tic-tac-toe", "hexagon-dots")  # which are played soonest
LONG = 8  # plies after which a model has seen enough of a game, and resigns

pytestmark = pytest.mark.slow


async def over_http(host: Host, nursery: trio.Nursery) -> str:
    """Where the host's doors are open to real connections."""
    doors = [way.serve(host, Settings()) for dialect, way in carried(OverHttp) if dialect.name == "mcp"]
    http = Http(routed(doors), host.guard, host.limits)
    (listener,) = await listeners("127.0.0.1", 0, host.limits)
    nursery.start_soon(
        partial(
            serve,
            listener,
            http.attend,
            guard=host.guard,
            admission=Admission(host.limits),
            limits=host.limits,
        )
    )
    return f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


class Model:
    """Calls tools as a language model does, and does what they return."""

    def __init__(self, client: "Client", name: str, token: str | None) -> None:
        self._client = client
        self._name = name
        self._token = {} if token is None else {"token": token}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found: Any = await self._client.call_tool(tool, {**arguments, **self._token})
        assert found.content
        assert not found.is_error, found.content
        told: dict[str, Any] = found.structured_content
        return told

    async def play(self, game: str, tournament: str) -> dict[str, Any]:
        """Until the standings are told."""
        welcome = await self.call("join", name=self._name, game=game, tournament=tournament)
        if self._client.protocol_version == "2026-07-28":
            self._token = {"token": welcome["token"]}
        told: dict[str, Any] = welcome
        while told["type"] != "standings":
            told = await self.call("wait")
            if told["type"] == "turn":
                told = await self._answer(told)
        await self.call("leave")
        return told

    async def _answer(self, turn: dict[str, Any]) -> dict[str, Any]:
        if turn["ply"] >= LONG:
            return await self.call("resign")
        found = await self.call("legal_moves")
        return await self.call("move", move=found["legal_moves"][turn["ply"] % len(found["legal_moves"])])


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, marks=() if game in QUICK else pytest.mark.campaign)  # which are all alike to it
        for game in catalogue()
    ],
)
async def test_the_protocols_own_client_plays_a_swiss_to_its_end(game: str) -> None:
    from mcp import Client  # which takes longer to import than all the rest, for these tests alone

    finals: list[dict[str, Any]] = []
    with trio.fail_after(HANG):
        async with hosting({}) as (host, nursery):
            where = await over_http(host, nursery)
            opened = Opened(game, "swiss", len(NAMES), Terms(rounds=ROUNDS), {}, Pace(turn=HANG))
            await host.open("cup", opened)

            async def play(name: str, mode: str) -> None:
                async with Client(where, mode=mode) as client:
                    finals.append(await Model(client, name, None).play(game, "cup"))

            async with trio.open_nursery() as models:
                for name, mode in zip(NAMES, ("auto", "legacy", "auto", "legacy", "auto"), strict=True):
                    models.start_soon(play, name, mode)
            record = host.tournaments["cup"].record
            assert record.state is State.FINISHED
            assert {concluded.ending for concluded in record.matches.values()} <= {"played", "resigned"}
    assert len(finals) == len(NAMES)
    assert all({row["name"] for row in final["rows"]} == {*NAMES} for final in finals)
