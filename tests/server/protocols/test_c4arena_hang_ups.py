"""The c4-arena's client in use, whose opponents hang up on it again and again, over simulated connections."""

from collections import Counter
from functools import partial
from random import Random

import msgspec
import pytest
import trio
from trio.testing import MockClock

from server.protocols import websocket
from tests.blackbox.old_fours import ALL, Leaver, Message, OldClient
from tests.effort import tries
from tests.server.ends import Connect, FrameEnd, in_memory
from tests.server.transcripts import hosting
from tests.server.windowed import Weather

pytestmark = pytest.mark.slow

HANG_UPS = tries(60, 200)  # on each: whoever was out of step more than fifty times was cut once
CLIENTS = tries(1, 3)
WEATHER = Weather(latency=0.002, jitter=0.001)


def said(message: Message) -> str:
    return msgspec.json.encode(message).decode()


async def attend(client: OldClient, connect: Connect, thinks: float) -> None:
    """Play on and on. While it thinks it reads nothing, so that all it is told waits for it."""
    end, random = await connect(), Random(client.name)
    assert isinstance(end, FrameEnd)
    await end.shake_hands()
    await end.say(said(client.start()))
    while (text := await end.hear()) is not None:
        if (answer := client.answer(msgspec.json.decode(text))) is not None:
            if answer["type"] == "move":
                await trio.sleep(thinks * random.random())
            await end.say(said(answer))
    raise AssertionError(f"{client.name} was cut, after {client.told}")


async def meet(name: str, connect: Connect, moves: int) -> None:
    """One match against somebody, in which we hang up after so many moves of ours."""
    end, leaver = await connect(), Leaver(f"{name}'s", name, moves)
    assert isinstance(end, FrameEnd)
    await end.shake_hands()
    await end.say(said(leaver.start()))
    while not (leaver.leaves or leaver.over):
        text = await end.hear()
        assert text is not None, "the host hangs up on nobody"
        if (answer := leaver.answer(msgspec.json.decode(text))) is not None:
            await end.say(said(answer))
    await end.close()


async def hang_up(client: OldClient, connect: Connect, pause: float) -> None:
    """On this client, so many times; and at last play a match with it to the end."""
    random = Random(client.name)
    while client.told["disconnected"] < HANG_UPS:
        await meet(client.name, connect, random.randrange(4))
        await trio.sleep(pause * random.random())
    played = client.told["end"]
    while client.told["end"] == played:
        await meet(client.name, connect, ALL)
        await trio.sleep(1.0)  # until it knows


@pytest.mark.parametrize(
    ("thinks", "pause"),
    [
        pytest.param(0.0, 0.0, id="fast"),
        pytest.param(0.3, 0.0, id="thinking", marks=pytest.mark.slow),
        pytest.param(0.0, 2.0, id="waiting", marks=pytest.mark.slow),
    ],
)
async def test_a_client_in_use_is_not_cut_by_hang_ups_however_many_and_plays_on(
    thinks: float, pause: float, autojump_clock: MockClock
) -> None:
    clients = [OldClient(f"old{number}", f"old{number}'s") for number in range(CLIENTS)]
    async with hosting({}) as (host, playing):
        connect = in_memory(host, websocket.attend, partial(FrameEnd, path="/"), weather=WEATHER)
        async with trio.open_nursery() as opponents:
            for client in clients:
                playing.start_soon(attend, client, connect, thinks)
                opponents.start_soon(hang_up, client, connect, pause)
    told = sum((client.told for client in clients), Counter[str]())
    assert told["Only start messages allowed in current state"] > CLIENTS * HANG_UPS, "they were out of step"
    # One that thinks hears of the hang-up while it does, and hardly ever has a move on its way by then.
    assert told["Not your turn"] > 0 or thinks
