"""How many moves a second of the server's own time the doors are good for, beside what one would write.

Ours is the command as it is installed, with rules, clocks, limits and guards on
and bots at its open tables; so beginning and ending matches is in every figure.
Ours and the reference take turns under the same load, and the ratio is the
median of the rounds' ratios. Seconds are those that a process was on a
processor, as the kernel counts them, so that who else uses the machine matters
little.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from statistics import median
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.bench import load_http, load_tcp, load_websocket
from tests.bench.crowd import Address, Crowd
from tests.bench.server import Server, quintain

MATCHES = 50
ROUNDS, WARM, TURN = 7, 1.0, 1.5  # seconds; no clock of a match may run out meanwhile

Gather = Callable[[Address, int], Crowd]


class Row(Struct, frozen=True):
    door: str
    reference: str
    ours: Gather
    theirs: Gather


ROWS: Mapping[str, Row] = {
    "Santorini over TCP": Row("tcp", "relay on trio sockets", load_tcp.crowd, load_tcp.crowd),
    "Connect-4 over websocket": Row(
        "websocket", "relay on trio-websocket", load_websocket.crowd, load_websocket.crowd
    ),
    "Tic-Tac-Toe over HTTP": Row("http", "uvicorn + Starlette", load_http.arena, load_http.posters),
    "Hexagon Dots over HTTP": Row("http", "uvicorn + Starlette", load_http.hexagons, load_http.posters),
}


def bench(door: str, matches: int) -> None:
    print(f"{door}, {matches} matches at once: moves per second of the server's processor time")
    print(f"{'':26}{'ours':>9}{'reference':>11}{'ratio':>8}{'spread':>15}{'p99 ms':>16}   reference")
    for name, row in ROWS.items():
        if row.door == door:
            print(f"{name:26}{compared(row, matches)}   {row.reference}", flush=True)


def compared(row: Row, matches: int) -> str:
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        ours = stack.enter_context(quintain(folder))
        theirs = stack.enter_context(Server("tests.bench.references", row.door))
        sides = [
            (ours, row.ours(ours.address(row.door), matches)),
            (theirs, row.theirs(theirs.address(row.door), matches)),
        ]
        for _, crowd in sides:
            stack.callback(crowd.leave)
            crowd.play(WARM)
        speeds, lates = list[list[float]](), list[list[float]]()
        for _ in range(ROUNDS):
            turns = [speed_and_p99(server, crowd) for server, crowd in sides]
            speeds.append([speed for speed, _ in turns])
            lates.append([late for _, late in turns])
    ratios = [our / their for our, their in speeds]
    our, their = (median(column) for column in zip(*speeds, strict=True))
    our_late, their_late = (median(column) * 1000 for column in zip(*lates, strict=True))
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    late = f"{our_late:.1f} / {their_late:.1f}"
    return f"{our:9,.0f}{their:11,.0f}{median(ratios):7.2f}x{spread:>15}{late:>16}"


def speed_and_p99(server: Server, crowd: Crowd) -> tuple[float, float]:
    """Of one turn: moves per second of the server's time, and how long all but a hundredth of them took."""
    before = server.seconds()
    moves = crowd.play(TURN)
    spent = server.seconds() - before
    took = sorted(crowd.took)
    return moves / spent, took[len(took) * 99 // 100]
