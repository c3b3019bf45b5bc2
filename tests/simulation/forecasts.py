"""`python -m tests.simulation.forecasts`: how wrong forecasts are, over many events of many kinds.

An event counts with the median of its errors from its first third on. What is printed is a table in
Markdown, which `docs/speed.md` has.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from random import Random
from statistics import median, quantiles

from tests.simulation.events import Event, Habit, held
from tournament.format import Terms

FORMATS = ("round-robin", "double-round-robin", "swiss", "knockout", "gauntlet")
COMPANIES = ("all there", "some absent")
TOLERATED = 0.3  # of the whole
EVENTS = 40  # of each kind


def drawn(format: str, absences: bool, seed: int) -> Event:
    """An event of 4 to 32 bots that think for unequal times; of the absent some die, and some come late.

    Lots decide who is absent: whoever enters first is the best seed, or the challenger of a gauntlet.
    """
    chance = Random(f"{format} {absences} {seed}")
    count = chance.choice((4, 6, 8, 11, 12, 16, 24, 32))
    thinks = chance.choice((2.0, 5.0, 10.0, 20.0))
    unequal = chance.choice((0.0, 0.3, 0.8))
    absent = chance.sample(range(count), chance.randint(1, max(1, count // 3))) if absences else ()
    habits: dict[str, Habit] = {}
    for number in range(count):
        mine = thinks * chance.uniform(1 - unequal, 1 + unequal)
        if number not in absent:
            habits[f"bot-{number}"] = Habit(mine)
        elif chance.random() < 0.7:
            habits[f"bot-{number}"] = Habit(mine, dies=chance.randint(1, 3))
        else:
            habits[f"bot-{number}"] = Habit(mine, comes=chance.uniform(20, 120))
    at_once = chance.choice((None, None, None, 4))
    return Event(format, habits, at_once=at_once, terms=Terms(seed=seed), seed=seed)


def error(event: Event) -> float | None:
    """The median over an event; None where it was too short to look."""
    errors = held(event).errors()
    return median(errors) if errors else None


def errors(format: str, absences: bool, events: int) -> list[float]:
    found = (error(drawn(format, absences, seed)) for seed in range(events))
    return [each for each in found if each is not None]


def table(events: int, formats: Iterable[str] = FORMATS) -> Iterator[str]:
    yield "| format | bots | median error | 90th percentile | within 30 % |"
    yield "|---|---|---|---|---|"
    for format in formats:
        for absences, company in enumerate(COMPANIES):
            found = errors(format, bool(absences), events)
            within = sum(each <= TOLERATED for each in found) / len(found)
            worst = quantiles(found, n=10)[-1]
            yield f"| {format} | {company} | {median(found):.1%} | {worst:.0%} | {within:.0%} |"


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.simulation.forecasts", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, metavar="N", help="of each kind")
    for line in table(parser.parse_args().events):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
