"""What an organiser waits for: a fit of the ratings, the draw of a round, the command's help, a large event.

Ours, in a process of its own where what has been imported already would tell.
Seconds are of the processor, the least of several. The large event is a round robin
kept in SQLite whose bots answer at once. Whoever else plays meanwhile waits for as long as
the loop is late, at the most for its longest step.
"""

import os
import resource
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time, thread_time

import trio

from games.catalogue import catalogue
from server import interpreter
from server.show.draws import in_a_thread
from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from tests.tournament.holding import Held, field, toss
from tournament.events import AnyEvent
from tournament.facts import AnyFact, Concluded, Dealt, Entered, Opened, State, Turned
from tournament.format import Pairing, Result, Terms, formats, moves_digest
from tournament.latest import MEMORY
from tournament.lobby import Lobby
from tournament.player import Seat, Taker
from tournament.ratings import bradley_terry
from tournament.record import Record
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

BOTS, GAMES = 100, 20_000  # in the fit
SWISS = ((128, 9), (1_000, 12), (999, 12))  # bots and rounds
LADDER = 20  # bots
TIMES = 5
SCORES = (1.0, 0.5, 0.0)
ENTRANTS, MATCHES = 1_000, 5_000  # of the large event, and how many are played of it
AT_ONCE = (None, 200)  # matches that may be in play
ABSENT = 30  # entrants that never come
TURNS = 20  # moves between two looks at what else there is to do
GAME = "tic-tac-toe"
LOOK = 0.002  # seconds between two looks at how late the loop is


def bench() -> None:
    interpreter.calm(interpreter.LARGE_SURPLUS)  # as a host has it
    rows: dict[str, tuple[Callable[[], float], str]] = {
        f"fit of {BOTS} bots, {GAMES:,} games": (fit, "50 ms"),
        **{
            f"Swiss, {count:,} bots, dearest of {rounds}": (partial(swiss, count, rounds), "2 s")
            for count, rounds in SWISS
        },
        f"ladder, {LADDER} bots, {MEMORY:,} matches": (ladder, "50 ms"),
        "quintain --help": (shown_help, "500 ms"),
        "python alone": (python, "-"),
    }
    print(f"{'what an organiser waits for':34}{'least':>12}{'goal':>10}")
    for name, (seconds, goal) in rows.items():
        print(f"{name:34}{seconds() * 1000:9.1f} ms{goal:>10}", flush=True)
    title = f"round robin of {ENTRANTS:,}"
    print(f"\n{title:34}{'matches':>14}{'goal':>8}{'late, p99':>14}{'longest step':>14}")
    for at_once in AT_ONCE:
        for absent in (0, ABSENT):
            event = Event(at_once, absent)
            name = f"{at_once or 'all'} at once, {absent or 'nobody'} absent"
            print(f"{name:34}{event.hold():8,.0f}/CPU s{'500':>8}{event.delays}")
            print(f"{'  until the first is dealt':34}{event.start:12.1f} s{'-':>8}{event.before}", flush=True)


def least(work: Callable[[], object]) -> float:
    took: list[float] = []
    for _ in range(TIMES):
        began = process_time()
        work()
        took.append(process_time() - began)
    return min(took)


def fit() -> float:
    """Duplicates are sought, too: games have forty moves."""
    random = Random(7)
    results: list[Result] = []
    for number in range(GAMES):
        first, second = random.sample(range(BOTS), 2)
        score = random.choice(SCORES)
        moves = [random.randrange(7) for _ in range(40)]
        pairing = Pairing(number + 1, 1, str(first), str(second))
        results.append(Result(pairing, (score, 1 - score), True, moves_digest(moves)))
    return least(lambda: bradley_terry(results))


def swiss(count: int, rounds: int) -> float:
    random, held, took = Random(count), Held(formats()["swiss"], field(count), Terms(rounds=rounds)), 0.0
    for _ in range(rounds):
        began = process_time()
        held.advance()
        took = max(took, process_time() - began)
        for pairing in held.open[:]:
            held.conclude(pairing, toss(random)(pairing))
    return took


def ladder() -> float:
    random, names = Random(5), [entrant.name for entrant in field(LADDER)]
    drawn = [Pairing(number, number, *random.sample(names, 2)) for number in range(1, MEMORY + 1)]
    results = [Result(pairing, (score, 1 - score)) for pairing in drawn for score in [random.choice(SCORES)]]
    return least(lambda: formats()["ladder"].draw(field(LADDER), drawn, results, Terms()))


class Event(Taker):
    """A round robin that everybody but some has come to."""

    def __init__(self, at_once: int | None, absent: int) -> None:
        self._at_once = at_once
        self._absent = absent
        self._turns: deque[Seat] = deque()
        self._over = 0
        self._late: list[float] = []
        self._steps = Steps()
        self._enough = trio.Event()
        self._began = self._matches_began = 0.0
        self.start = 0.0  # seconds until the first was dealt …
        self.before = ""  # … and what others waited for until then

    def hold(self) -> float:
        """Matches per second of the processor."""
        with TemporaryDirectory() as folder:
            engine = Sqlite(Path(folder) / "quintain.sqlite")
            trio.run(self._hold, Ledger(engine), instruments=[self._steps])
            engine.close()
        return self._over / (process_time() - self._matches_began)

    @property
    def delays(self) -> str:
        """By how much the loop was late, and the longest that it was busy with one thing."""
        late = sorted(self._late)
        return f"{late[len(late) * 99 // 100] * 1000:11.1f} ms{self._steps.longest * 1000:11.1f} ms"

    async def _hold(self, ledger: Ledger) -> None:
        opened = Opened(GAME, "round-robin", None)
        record, lobby, timekeeper = Record("cup", opened), Lobby(), Timekeeper()
        for number in range(ENTRANTS):
            record.add(Entered(f"bot-{number}"))
            if number >= self._absent:
                lobby.enter(f"bot-{number}", GAME).taker = self
        record.add(Turned(State.RUNNING))
        tournament = Tournament(
            record,
            catalogue()[GAME],
            lobby,
            ledger,
            timekeeper,
            at_once=self._at_once,
            told=self._told,
            elsewhere=in_a_thread,
        )
        async with trio.open_nursery() as nursery:
            for task in (ledger.run, timekeeper.run, self._look, self._play, tournament.run):
                nursery.start_soon(task)
            self._began = trio.current_time()
            await self._enough.wait()
            nursery.cancel_scope.cancel()

    async def _look(self) -> None:
        due = trio.current_time()
        while True:
            due += LOOK
            await trio.sleep_until(due)
            self._late.append(trio.current_time() - due)
            due = trio.current_time()

    async def _play(self) -> None:
        while True:
            for _ in range(min(TURNS, len(self._turns))):
                seat = self._turns.popleft()
                if seat.to_move:
                    seat.play(seat.match.game.write(next(iter(seat.match.position.moves()))))
            await trio.lowlevel.checkpoint()

    def take_seat(self, seat: Seat) -> None:
        def hear(event: AnyEvent) -> None:
            if seat.to_move:
                self._turns.append(seat)

        seat.follow(hear)

    def _told(self, fact: AnyFact) -> None:
        match fact:
            case Concluded():
                self._over += 1
                if self._over == MATCHES:
                    self._enough.set()
            case Dealt() if not self._matches_began:
                self._matches_began = process_time()
                self.start = trio.current_time() - self._began
                self.before = self.delays
                self._late.clear()
                self._steps.longest = 0.0
            case _:
                pass


class Steps(trio.abc.Instrument):
    """How long the loop is busy without a break. Time that others had the processor does not count."""

    def __init__(self) -> None:
        self.longest = self._began = 0.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.longest = max(self.longest, thread_time() - self._began)


def shown_help() -> float:
    return min(command("-m", "server", "--help") for _ in range(TIMES))


def python() -> float:
    return min(command("-c", "") for _ in range(TIMES))


def command(*words: str) -> float:
    """Processor time of a Python with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], env=os.environ, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
