"""What the c4-arena's client in use costs once opponents hang up on it, and what a flood costs.

Ten bots do the same for a while, and the server's processor time is divided by
them: the part of a core that each of them takes up. Off every row goes the
first, in which nobody is there. Opponents that come and go are in the figure;
what they cost by themselves is in the row of a client that is never out of
step, so what there is besides is what being out of step costs.
"""

from collections.abc import Callable, Coroutine, Mapping
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import trio
from msgspec import Struct
from msgspec.json import decode, encode
from trio_websocket import WebSocketConnection, open_websocket_url

from tests.bench.crowd import READ, Address
from tests.bench.load_websocket import REQUEST, masked
from tests.bench.server import Server, quintain
from tests.blackbox.old_fours import Leaver, Message, OldClient

BOTS = 10
SETTLE, SECONDS = 3.0, 30.0  # until all goes on as it has begun, and how long it is measured
PAUSE = 4.0  # seconds at most until the next opponent is there
THINKS = 600.0  # seconds: longer than anybody looks
FLOOD = masked(encode({"type": "move", "move": 3})) + masked(encode({"type": "state_request"}))


class Place(Struct, frozen=True):
    """Where one of them plays, and where it may leave tasks behind."""

    address: Address
    nursery: trio.Nursery

    def connected(self) -> Any:
        host, port = self.address
        return open_websocket_url(f"ws://{host}:{port}")


class InStep(OldClient):
    """A client as it should be: it moves once in each position, and again only if that move was no good."""

    def __init__(self, name: str, against: str | None = None) -> None:
        super().__init__(name, against)
        self._moved: object = None  # in which position

    def answer(self, told: Message) -> Message | None:
        said = super().answer(told)
        match told:
            case {"type": "state", "moves": moves} if said is not None:
                if moves == self._moved:
                    return None
                self._moved = moves
            case {"type": "ignored", "reason": "Invalid move", "msg": {"move": int(column)}}:
                return {"type": "move", "move": (column + 1) % 7}
            case {"type": "ignored"}:
                return None
            case _:
                self._moved = None
        return said


Part = Callable[[Place, OldClient], Coroutine[Any, Any, None]]  # what one of them does


async def nobody(place: Place, client: OldClient) -> None:
    """The server alone."""


async def waits(place: Place, client: OldClient) -> None:
    """Somebody has hung up on it, and nobody comes any more: it asks for the state, on and on."""
    await plays(place, client, {"type": "state_request"})


async def left(place: Place, client: OldClient) -> None:
    """Hung up on by one opponent after the other, each after some moves."""
    random = Random(client.name)
    place.nursery.start_soon(plays, place, client)
    while True:
        await meets(place, client, random.randrange(8))
        await trio.sleep(PAUSE * random.random())


async def floods(place: Place, client: OldClient) -> None:
    """In a match whose opponent thinks and thinks: moves and questions, as fast as they are taken."""
    place.nursery.start_soon(sits, place, client)
    stream = await trio.open_tcp_stream(*place.address)
    await stream.send_all(REQUEST + masked(encode(client.start())))
    place.nursery.start_soon(reads, stream, client)
    while True:
        await stream.send_all(FLOOD * 1000)


async def plays(place: Place, client: OldClient, *more: Message) -> None:
    async with place.connected() as wire:
        for message in (client.start(), *more):
            await say(wire, message)
        while True:
            if (answer := client.answer(decode(await wire.get_message()))) is not None:
                await say(wire, answer)


async def meets(place: Place, client: OldClient, moves: int) -> None:
    leaver = Leaver(f"{client.name}'s", client.name, moves)
    async with place.connected() as wire:
        await say(wire, leaver.start())
        while not (leaver.leaves or leaver.over):
            if (answer := leaver.answer(decode(await wire.get_message()))) is not None:
                await say(wire, answer)


async def sits(place: Place, client: OldClient) -> None:
    async with place.connected() as wire:
        await say(wire, Leaver(f"{client.name}'s", client.name, 0).start())
        await trio.sleep(THINKS)


async def reads(stream: trio.SocketStream, client: OldClient) -> None:
    while received := await stream.receive_some(READ):
        client.told["ignored"] += received.count(b'"ignored"')
    raise RuntimeError("who floods was cut")


async def say(wire: WebSocketConnection, message: Message) -> None:
    await wire.send_message(encode(message).decode())


PARTS: Mapping[str, tuple[Part, type[OldClient]]] = {
    "nobody is there": (nobody, OldClient),
    "it was hung up on, and waits": (waits, OldClient),
    "all hang up, and it is in step": (left, InStep),
    "all hang up, as it is": (left, OldClient),
    "it floods, out of turn": (floods, OldClient),
}


def bench() -> None:
    print(f"{BOTS} clients of the c4-arena that are out of step, for {SECONDS:g} s")
    print(f"{'each, per second':32}{'ignored':>9}{'hang-ups':>10}{'% of a core':>13}")
    idle = 0.0
    for name, (part, kind) in PARTS.items():
        clients = [kind(f"old{number}", f"old{number}'s") for number in range(BOTS)]
        with TemporaryDirectory() as folder, quintain(folder) as server:
            ignored, hang_ups, share = trio.run(measured, server, part, clients)
        if part is nobody:
            idle = share
        print(f"{name:32}{ignored:9.2f}{hang_ups:10.2f}{100 * (share - idle):13.3f}", flush=True)


async def measured(server: Server, part: Part, clients: list[OldClient]) -> tuple[float, float, float]:
    """Of each and in a second: what was ignored, how often somebody hung up, and the server's time."""
    async with trio.open_nursery() as nursery:
        place = Place(server.address("websocket"), nursery)
        for client in clients:
            nursery.start_soon(part, place, client)
        await trio.sleep(SETTLE)
        before, worked, began = told(clients), server.seconds(), perf_counter()
        await trio.sleep(SECONDS)
        worked, took = server.seconds() - worked, perf_counter() - began
        ignored, hang_ups = (after - so_far for after, so_far in zip(told(clients), before, strict=True))
        nursery.cancel_scope.cancel()
    return ignored / BOTS / took, hang_ups / BOTS / took, worked / BOTS / took


def told(clients: list[OldClient]) -> tuple[int, int]:
    """How often they have been told that they were ignored, and that somebody has hung up."""
    ignored, hang_ups = ([client.told[kind] for client in clients] for kind in ("ignored", "disconnected"))
    return sum(ignored), sum(hang_ups)
