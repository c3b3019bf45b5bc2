"""What the doors are measured by: the least that a server written the usual way does for a move.

No rules, no clocks, no limits, no guards: whatever comes is answered to both
with as many bytes as a state has. Each runs in a process of its own and says
where on standard output.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle

import trio

NAMES = ("bot0000", "bot0001")
BOARD = str([[0] * 6] * 6).replace(" ", "")


async def tcp() -> None:
    """A relay of lines over trio's sockets. Two that come one after the other are a pair."""
    listener = trio.socket.socket()
    await listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    _ready(*listener.getsockname())
    async with trio.open_nursery() as nursery:
        while True:
            nursery.start_soon(_pair, *[(await listener.accept())[0] for _ in range(2)])


async def _pair(*pair: trio.socket.SocketType) -> None:
    names: list[str] = []
    for each in pair:
        each.setsockopt(trio.socket.IPPROTO_TCP, trio.socket.TCP_NODELAY, 1)
        names.append((await each.recv(4096)).decode().strip())
    states = cycle(
        f'["moveWorker","{name}",{BOARD},["{names[0]}",[0,0,2,3]],["{names[1]}",[5,5,4,1]]]\n'.encode()
        for name in names
    )
    async with trio.open_nursery() as nursery:
        await _tell(pair, next(states))
        for each in pair:
            nursery.start_soon(_relay, each, pair, states)


async def _relay(
    mine: trio.socket.SocketType, pair: tuple[trio.socket.SocketType, ...], states: Iterator[bytes]
) -> None:
    rest = b""
    while received := await mine.recv(4096):
        *lines, rest = (rest + received).split(b"\n")
        for _ in lines:
            await _tell(pair, next(states))


async def _tell(pair: tuple[trio.socket.SocketType, ...], state: bytes) -> None:
    for each in pair:
        await each.send(state)


def _ready(host: str, port: int) -> None:
    print(f"ready {host}:{port}", flush=True)


REFERENCES: Mapping[str, Callable[[], object]] = {"tcp": lambda: trio.run(tcp)}

if __name__ == "__main__":
    REFERENCES[sys.argv[1]]()
