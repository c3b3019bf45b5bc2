"""Hosts tell each other of no more secrets than lead to something, however many strangers come and go."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
from msgspec import structs
from trio.testing import MockClock

from server.net.limits import Limits
from server.peers.messages import Forgets, Knows, Message, News
from tests.hang import HANG
from tests.server.ends import Connect, ask
from tests.server.peers.several import One, Shared
from tests.server.protocols.lists import USUAL, Telephone, dead
from tests.server.protocols.test_mcp import Client

OTHER = 2  # its number
FEW = 4  # sessions, games or battles that a host keeps
MANY = 5 * FEW  # strangers
HEARD = 1.0  # seconds
CALLED_TWICE = 20.0  # seconds in which an evaluation whose bot cannot be called is over


class OtherHost:
    """What another host knows of this one's secrets; it is a link to that host, too."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.told = 0
        self.says: Callable[[News], None] = lambda news: None

    def say(self, message: Message) -> None:
        match message:
            case Knows(key=key):
                self.known.add(key)
                self.told += 1
            case Forgets(key=key):
                self.known.remove(key)
            case _:
                pass


@asynccontextmanager
async def told() -> AsyncIterator[tuple[OtherHost, Connect]]:
    """Another host, and the way to this one's door for requests."""
    async with trio.open_nursery() as nursery:
        one, other = One(Shared(trio.current_time)), OtherHost()
        few: Limits = structs.replace(
            one.host.limits, sessions=FEW, games=FEW, battles_kept=FEW, evaluations_kept=FEW
        )
        one.host.limits = few
        await one.run(nursery)
        telephone = Telephone()
        telephone.connect(USUAL, dead)
        doors = one.doors(telephone)
        one.links.links[OTHER] = other  # type: ignore[assignment]
        other.says = partial(one.links.hear, OTHER)
        yield other, doors["http"]
        nursery.cancel_scope.cancel()


def hello(number: int, **more: object) -> str:
    said = {"type": "hello", "name": f"bot-{number}", "game": "connect-4", **more}
    return "POST /play " + json.dumps(said, separators=(",", ":"))


async def play_and_leave(connect: Connect, number: int) -> None:
    answer = await ask(connect, hello(number))
    session = json.loads(answer[answer.index("{") :])["session"]
    await ask(connect, f'POST /play/{session} {{"type":"bye"}}')


async def initialize(connect: Connect, number: int) -> None:
    client = Client(await connect())
    await client.begin()
    await client.close()


async def begin_and_end(connect: Connect, number: int) -> None:
    client = Client(await connect())
    await client.begin()
    await client.send("", f"Mcp-Session-Id: {client.session}", method="DELETE")
    await client.close()


async def model_joins(connect: Connect, number: int) -> None:
    client = Client(await connect())
    await client.begin()
    arguments = {"name": f"model-{number}", "game": "connect-4"}
    await client.old("tools/call", {"name": "join", "arguments": arguments})
    await client.old("tools/call", {"name": "leave", "arguments": {}})
    await client.close()


async def make_a_game(connect: Connect, number: int) -> None:
    await ask(connect, 'POST / {"rows":5,"cols":5}')


async def evaluate_and_do_not_come(connect: Connect, number: int) -> None:
    asked = {"teamUrl": f"http://{USUAL}", "runId": f"run-{number}"}
    await ask(connect, "POST /tic-tac-toe/evaluate " + json.dumps(asked, separators=(",", ":")))
    await trio.sleep(CALLED_TWICE)
    assert '"done":true' in await ask(connect, f"GET /evaluations/run-{number}")


@pytest.mark.parametrize(
    "comes",
    [play_and_leave, initialize, begin_and_end, model_joins, make_a_game, evaluate_and_do_not_come],
)
async def test_other_hosts_forget_what_leads_nowhere(
    autojump_clock: MockClock, comes: Callable[[Connect, int], Awaitable[None]]
) -> None:
    """Catches strangers whose secrets push out those of bots that think, which then lose their sessions."""
    with trio.fail_after(MANY * HANG):
        async with told() as (other, connect):
            for number in range(MANY):
                await comes(connect, number)
            await trio.sleep(HEARD)
            assert other.told >= MANY
            assert len(other.known) <= 2 * FEW


async def test_a_session_that_was_refused_is_told_to_nobody(autojump_clock: MockClock) -> None:
    async with told() as (other, connect):
        assert (await ask(connect, hello(1, game="no-such-game")))[:3] == "403"
        assert not other.told


async def test_a_model_that_plays_at_another_host_keeps_its_session_whoever_comes(
    autojump_clock: MockClock,
) -> None:
    """Catches a model that has to begin again, in the middle of its match, because strangers have come."""
    async with told() as (other, connect):
        model = Client(await connect())
        await model.begin()
        other.says(Knows(model.session, OTHER))
        for number in range(MANY):
            await initialize(connect, number)
        answer = await model.old("tools/call", {"name": "games", "arguments": {}})
        assert answer.status == 200, answer.body
        await model.close()
