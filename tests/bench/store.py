"""What it costs that nothing is ever lost: matches through the store, beside one commit a match.

`through the store` is finished matches a second with sixty-four of them in play
at once, each with its moves jotted down; the reference writes the same results
one transaction each, on the same disk, in turns with it. The delay is from the
move that ends a match to its announcement, at an open table of bots that think
for a twentieth of a second.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import trio

from games.catalogue import catalogue
from server import interpreter
from server.host.host import Host
from server.logs import set_up
from server.store.journal import Engine
from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from tests.server.store.jotting import played
from tournament.entries import entry
from tournament.events import Ended, Ending
from tournament.facts import Concluded
from tournament.player import Player, Seat, Taker

AT_ONCE = 64  # matches in play
MATCHES = 4000  # through the store, in a round
ALONE = 400  # matches of the reference, in a round
ROUNDS = 5
PLIES = 20
BOTS, SECONDS = 2 * AT_ONCE, 15.0  # of the open table where the delay is measured …
THINK = 0.05  # … and seconds for a move


def bench() -> None:
    set_up("error")
    print(f"the store, with {AT_ONCE} matches in play")
    speeds: list[float] = []
    ratios: list[float] = []
    for _ in range(ROUNDS):
        with opened() as engine:
            speeds.append(MATCHES / seconds(lambda: trio.run(through, Ledger(engine))))
        with opened() as engine:
            ratios.append(speeds[-1] / (ALONE / seconds(lambda: one_by_one(engine))))
    spread = f"{median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})"
    print(f"{'through the store':26}{median(speeds):12,.0f} matches/s   one commit a match = 1: {spread}")
    with opened() as engine:
        played, delays, commits = trio.run(open_table, Counted(engine))
    hundredths = quantiles(delays, n=100)
    print(
        f"{'end to announcement':26}{hundredths[49] * 1000:9.1f} ms p50{hundredths[98] * 1000:9.1f} ms p99"
        f"   of {played:,} matches at {played / SECONDS:,.0f}/s, {commits / SECONDS:,.0f} commits/s",
        flush=True,
    )


class Counted:
    """An engine that knows how often it was written to."""

    def __init__(self, engine: Engine) -> None:
        self.commits = 0
        self._engine = engine

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def write(self, rows: object) -> object:
        self.commits += 1
        return self._engine.write(rows)  # type: ignore[arg-type]


@contextmanager
def opened() -> Iterator[Engine]:
    with TemporaryDirectory(dir=".") as folder:  # on a real disk, where the data would be
        engine = Sqlite(Path(folder) / "quintain.sqlite")
        try:
            yield engine
        finally:
            engine.close()


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def result(number: int) -> Concluded:
    moves = tuple((number * ply) % 7 for ply in range(PLIES))
    players, times = ("ann", "bob"), (0.125,) * PLIES
    name = f"cup-{number}"
    return Concluded(name, number, players, 0, Ending.PLAYED, "four in a row", (1.0, 0.0), moves, times)


def one_by_one(engine: Engine) -> None:
    for number in range(1, ALONE + 1):
        engine.write([entry(number, "cup", 0.0, result(number))])


async def through(ledger: Ledger) -> None:
    async def play(first: int) -> None:
        for number in range(first, MATCHES + 1, AT_ONCE):
            concluded = result(number)
            played(ledger, concluded.match, concluded.moves, concluded.times)
            await ledger.keep("cup", 0.0, [concluded])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.run)
        async with trio.open_nursery() as players:
            for first in range(1, AT_ONCE + 1):
                players.start_soon(play, first)
        nursery.cancel_scope.cancel()


async def open_table(engine: Counted) -> tuple[int, list[float], int]:
    """Matches that were played, how long each took from its end to its announcement, and commits."""
    delays: list[float] = []
    game = catalogue()["connect-4"]

    class Plays(Taker):
        def take_seat(self, seat: Seat) -> None:
            seat.follow(lambda event: tell(seat, event))

    def attend(player: Player) -> None:
        player.taker = Plays()
        player.set_ready(True)

    def tell(seat: Seat, event: object) -> None:
        if isinstance(event, Ended):
            if seat.index == 0:
                delays.append(trio.current_time() - event.at)
        elif seat.to_move:
            nursery.start_soon(answer, seat)

    async def answer(seat: Seat) -> None:
        await trio.sleep(THINK)
        if seat.to_move:
            moves = list(seat.match.position.moves())
            seat.play(game.write(moves[(7 * seat.match.ply + len(delays)) % len(moves)]))

    interpreter.let_threads_in()
    host = Host(store=Ledger(engine))
    async with trio.open_nursery() as nursery:
        await nursery.start(host.run)
        for number in range(BOTS):
            visit = await host.arrive(f"bot-{number}", game.name, keeps=False, ready=False)
            attend(visit.player)
        before, begun = engine.commits, len(delays)
        await trio.sleep(SECONDS)
        counted = len(delays) - begun, delays[begun:], engine.commits - before
        nursery.cancel_scope.cancel()
    return counted
