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
from math import nan
from statistics import median
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.bench import load_http, load_tcp, load_websocket
from tests.bench.crowd import Address, Crowd
from tests.bench.server import Server, quintain

MATCHES = 50
ROUNDS = 7
WARM, TURN = 1.0, 1.5  # seconds; while the other has its turn no clock of a match may run out

Gather = Callable[[Address, int], Crowd]
Side = tuple[Server, Crowd]


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
    "Quoridor over HTTP": Row("http", "uvicorn + Starlette", load_http.walls, load_http.posters),
    "Tic-Tac-Toe, with joining": Row("http", "uvicorn + Starlette", load_http.noughts, load_http.posters),
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
        sides: list[Side] = [
            (ours, row.ours(ours.address(row.door), matches)),
            (theirs, row.theirs(theirs.address(row.door), matches)),
        ]
        for _, crowd in sides:
            stack.callback(crowd.leave)
        return in_turns(*sides)


def in_turns(one: Side, other: Side) -> str:
    """A line of a table: the speeds of both, the ratio of one to the other and its spread, and both p99."""
    for _, crowd in (one, other):
        crowd.play(WARM)
    speeds = list[list[float]]()
    took: tuple[list[float], list[float]] = [], []  # of all turns together: one alone may have few
    for _ in range(ROUNDS):
        speeds.append([speed(*side) for side in (one, other)])
        for (_, crowd), so_far in zip((one, other), took, strict=True):
            so_far += crowd.took
    ratios = [this / that for this, that in speeds]
    this, that = (median(column) for column in zip(*speeds, strict=True))
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    late = " / ".join(f"{p99(each) * 1000:.1f}" for each in took)
    return f"{this:9,.0f}{that:11,.0f}{median(ratios):7.2f}x{spread:>15}{late:>16}"


def speed(server: Server, crowd: Crowd) -> float:
    """Of one turn: moves per second of the server's time."""
    before = server.seconds()
    moves = crowd.play(TURN)
    return moves / (server.seconds() - before)


def p99(took: list[float]) -> float:
    """How long all but a hundredth of the moves took; nan where there was none."""
    return sorted(took)[len(took) * 99 // 100] if took else nan
