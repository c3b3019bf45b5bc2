"""What the doors are measured by: the least that a server written the usual way does for a move.

No rules, no clocks, no limits, no guards. Two that come one after the other are
a pair; whatever either sends is answered to both with as many bytes as a state
has, and their match does not end. Each reference runs in a process of its own
and says where on standard output.
"""

import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any
from uuid import uuid4

import trio
from trio_websocket import WebSocketConnection, WebSocketRequest, serve_websocket

BOARD = str([[0] * 6] * 6).replace(" ", "")
MOVES = "3,2,4,4,1,3,2,0,6,5"  # half a match, as a state has on the average
PLIES = 10
SEATS = ("first", "second")


# What two are told who have said these lines: each of them once, and then both by turns.
Words = Callable[[Sequence[bytes]], tuple[Sequence[bytes], Sequence[bytes]]]


def memo(said: Sequence[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Of Santorini: names are said, and states are told."""
    first, second = (name.decode() for name in said)
    return (b"", b""), [
        f'["moveWorker","{name}",{BOARD},["{first}",[0,0,2,3]],["{second}",[5,5,4,1]]]\n'.encode()
        for name in (first, second)
    ]


def house(said: Sequence[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Of the house protocol: hellos are said, and turns of Connect-4 are told."""
    match, cells = f'"match":"open-connect-4-{PLIES}"', ",".join("0" * 42)
    begins = [f'{{"type":"begin",{match},"you":"{seat}"}}\n'.encode() for seat in SEATS]
    return begins, [
        f'{{"type":"turn",{match},"ply":{PLIES},"turn":"{seat}","last":5,"state":[{cells}],"clock":[60.0,60.0]}}\n'.encode()
        for seat in SEATS
    ]


async def tcp(words: Words) -> None:
    """Lines over trio's sockets."""
    listener = trio.socket.socket()
    await listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    ready("tcp", listener.getsockname()[1])
    async with trio.open_nursery() as nursery:
        while True:
            pair = [(await listener.accept())[0] for _ in range(2)]
            nursery.start_soon(relay_lines, pair, words)


async def relay_lines(pair: Sequence[trio.socket.SocketType], words: Words) -> None:
    for each in pair:
        each.setsockopt(trio.socket.IPPROTO_TCP, trio.socket.TCP_NODELAY, 1)
    begins, told = words([(await each.recv(4096)).strip() for each in pair])
    for each, begin in zip(pair, begins, strict=True):
        await each.send(begin)
    states = cycle(told)

    async def tell() -> None:
        state = next(states)
        for each in pair:
            await each.send(state)

    async def listen(mine: trio.socket.SocketType) -> None:
        rest = b""
        while received := await mine.recv(4096):
            *lines, rest = (rest + received).split(b"\n")
            for _ in lines:
                await tell()

    await tell()
    async with trio.open_nursery() as nursery:
        for each in pair:
            nursery.start_soon(listen, each)


async def websocket() -> None:
    """Messages over trio-websocket, as it comes."""
    waiting: list[WebSocketConnection] = []
    over = trio.Event()

    async def attend(request: WebSocketRequest) -> None:
        waiting.append(await request.accept())
        if len(waiting) == 2:
            pair = tuple(waiting)
            waiting.clear()
            await relay_messages(pair)
        else:
            await over.wait()  # a connection is closed when its handler returns

    async with trio.open_nursery() as nursery:
        server = await nursery.start(partial(serve_websocket, attend, "127.0.0.1", 0, ssl_context=None))
        ready("websocket", server.port)


async def relay_messages(pair: Sequence[WebSocketConnection]) -> None:
    for each in pair:
        await each.get_message()
    states = cycle(
        [
            f'{{"type":"state","turn":{turn},"you":{you},"moves":[{MOVES}],'
            f'"last-move":5,"state":[{",".join("0" * 42)}]}}'
            for you in (1, 2)
        ]
        for turn in (1, 2)
    )

    async def tell() -> None:
        for each, state in zip(pair, next(states), strict=True):
            await each.send_message(state)

    async def listen(mine: WebSocketConnection) -> None:
        while True:
            await mine.get_message()
            await tell()

    await tell()
    async with trio.open_nursery() as nursery:
        for each in pair:
            nursery.start_soon(listen, each)


def http() -> None:
    """One route of Starlette's on uvicorn, with all that its `standard` brings."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def play(request: Request) -> JSONResponse:
        await request.json()
        return JSONResponse({"message": "received your command", "moveId": str(uuid4()), "clock": 18000})

    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    ready("http", listener.getsockname()[1])
    app = Starlette(routes=[Route("/tic-tac-toe/play/{battle}", play, methods=["POST"])])
    # It would hang up on bots that wait for five seconds while the others come.
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=75)
    uvicorn.Server(config).run([listener])


def ready(door: str, port: int) -> None:
    print(f"ready {door}=127.0.0.1:{port}", flush=True)


REFERENCES: Mapping[str, Callable[[], Any]] = {
    "tcp": lambda: trio.run(tcp, memo),
    "house": lambda: trio.run(tcp, house),
    "websocket": lambda: trio.run(websocket),
    "http": http,
}

if __name__ == "__main__":
    REFERENCES[sys.argv[1]]()
