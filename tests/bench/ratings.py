"""Ratings of a large field: 20,000 names and a million games, as an open table has them after months.

The games are between names at random, so that hardly any two meet twice: that is what costs
most. Seconds are of the processor; whoever shares it makes them longer.
"""

import resource
from collections.abc import Callable, Iterator
from random import Random
from statistics import quantiles
from time import process_time

import numpy as np

from tournament.equations import System
from tournament.fit_sparse import Sparse
from tournament.format import Pairing, Result
from tournament.meetings import Meetings
from tournament.priors import DrawnGames
from tournament.ratings import PRIOR

NAMES, GAMES = 20_000, 1_000_000
MORE = 3_000  # games, one by one


def bench() -> None:
    games = played()
    began, meetings = memory(), Meetings()
    print(f"{f'{NAMES:,} names, {GAMES:,} games':44}{'took':>12}{'goal':>10}")
    say("taking the games in", seconds(lambda: take(meetings, games, GAMES)), "-")
    grown = memory() - began
    system = System(meetings)
    nothing = np.zeros(system.size + 1)
    point = system.likeliest(nothing, DrawnGames(PRIOR))
    say("fit of all, cold", seconds(lambda: system.likeliest(nothing, DrawnGames(PRIOR))), "0.5 s")
    other = DrawnGames(0.9 * PRIOR)
    say("fit of all, from the last one", seconds(lambda: system.likeliest(point, other)), "0.2 s")
    sparse = Sparse(meetings)
    say("the same with all intervals", seconds(sparse.refit), "-")
    took = [seconds(lambda: one_more(sparse, meetings, next(games))) for _ in range(MORE)]
    *_, p95 = quantiles(took, n=20)
    say("one more result, median", sorted(took)[MORE // 2], "1 ms")
    say("one more result, p95", p95, "5 ms")
    print(f"{'memory of all games':44}{grown:8.0f} MiB{'-':>10}")


def played() -> Iterator[Result]:
    random = Random(1)
    strengths = [random.gauss(0, 200) for _ in range(NAMES)]
    number = 0
    while True:
        one, other = random.randrange(NAMES), random.randrange(NAMES)
        if one != other:
            number += 1
            score = 1 / (1 + 10 ** ((strengths[other] - strengths[one]) / 400))
            made = 0.5 if random.random() < 0.3 else float(random.random() < score)
            pairing = Pairing(number, 1, f"bot {one}", f"bot {other}")
            yield Result(pairing, (made, 1 - made), True, number.to_bytes(16))


def take(meetings: Meetings, games: Iterator[Result], many: int) -> None:
    for _ in range(many):
        meetings.add(next(games))


def one_more(sparse: Sparse, meetings: Meetings, result: Result) -> None:
    game = meetings.add(result)
    if game is not None:
        sparse.settle(game)


def seconds(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(what: str, took: float, goal: str) -> None:
    shown = f"{took:.2f} s" if took >= 0.1 else f"{took * 1000:.2f} ms"
    print(f"{what:44}{shown:>12}{goal:>10}", flush=True)
