"""What an organiser waits for: a fit of the ratings, the draw of a round, the command's help.

Ours, in a process of its own where what has been imported already would tell.
Seconds are of the processor, the least of several.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from random import Random
from time import process_time

from tests.tournament.holding import Held, field, toss
from tournament.format import Pairing, Result, Terms, digest, formats
from tournament.latest import MEMORY
from tournament.ratings import bradley_terry

BOTS, GAMES = 100, 20_000  # in the fit
SWISS, ROUNDS = 128, 9
LADDER = 20  # bots
TIMES = 5
SCORES = (1.0, 0.5, 0.0)


def bench() -> None:
    rows: dict[str, tuple[Callable[[], float], str]] = {
        f"fit of {BOTS} bots, {GAMES:,} games": (fit, "50 ms"),
        f"Swiss, dearest round of {SWISS}": (swiss, "3 s"),
        f"ladder, {LADDER} bots, {MEMORY:,} matches": (ladder, "50 ms"),
        "quintain --help": (shown_help, "500 ms"),
        "python alone": (python, "-"),
    }
    print(f"{'what an organiser waits for':34}{'least':>12}{'goal':>10}")
    for name, (seconds, goal) in rows.items():
        print(f"{name:34}{seconds() * 1000:9.1f} ms{goal:>10}", flush=True)


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
        results.append(Result(pairing, (score, 1 - score), True, digest(moves)))
    return least(lambda: bradley_terry(results))


def swiss() -> float:
    random, held, took = Random(SWISS), Held(formats()["swiss"], field(SWISS)), 0.0
    for _ in range(ROUNDS):
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
