"""`--format decide` in simulated events: how often is it wrong, and how many matches does it take?

Twelve bots, three in ten games between equals drawn, moving first worth 60 Elo. The best two are as far
apart as a setting says. What is decided is wrong if the winner is weaker than the best by more than what
counts as equal. The same rule is asked about double round robins, which are repeated until it is
satisfied; there, too, after as many matches as a round of `decide` has. Many end undecided at the most
matches that there may be. How many more they would have needed is worked out as the host does it for its
forecast: with the differences found so far, and more games in the same proportions.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import count, cycle, islice, product, repeat
from random import Random
from statistics import median

from msgspec import Struct

from tests.calibration.truth import World, world
from tournament.deciding import EACH, Outlook, decision, needed_by_each
from tournament.format import Aim, Entrant, Pairing, Terms, formats
from tournament.meetings import Meetings
from tournament.pairing.decide import both_ways, chosen, opening
from tournament.pairing.drawing import Meeting
from tournament.posterior import games_of

BOTS, DRAWS, ADVANTAGE = 12, 0.3, 60.0
SPREADS, APART = (50.0, 150.0, 300.0), (0.0, 5.0, 25.0)  # Elo
EVENTS, COMPARED = 500, 5  # in a setting; of these every fifth is compared with round robins
NAMES = tuple(str(number) for number in range(BOTS))
DOUBLE = formats()["double-round-robin"].draw

Next = Callable[[Outlook | None], list[Meeting]]  # who meets, by what is known; None: nothing is


class Came(Struct):
    """What came of the events of one setting."""

    matches: list[int] = []
    needed: list[float] = []  # the same, or how many it would take if those to come went as those before
    decided: int = 0
    wrong: int = 0

    def __str__(self) -> str:
        events = len(self.matches)
        return f"{median(self.matches):,.0f} | {self.decided / events:.0%} | {self.wrong / events:.1%}"


def tell(share: float, seed: int, jobs: int) -> int:
    """Print the table; 1 if somewhere it was wrong more often than is stated."""
    aim, events = Aim(), max(2, round(EVENTS * share))
    print(f"\n{events} events in each setting, {1 - aim.confidence:.0%} may be wrong\n")
    print(
        "| spread | best two apart | matches | decided | wrong | round robins | decided | wrong "
        "| needed | round robins | ratio |"
    )
    print("|" + "---|" * 11)
    bad = False
    settings = list(product(SPREADS, APART))
    with ProcessPoolExecutor(jobs) as pool:
        came = pool.map(setting, *zip(*settings, strict=True), repeat(events), repeat(seed))
        for (spread, apart), (by_format, by_rounds) in zip(settings, came, strict=True):
            needed, by_all = median(by_format.needed[::COMPARED]), median(by_rounds.needed)
            compared = f"{needed:,.0f} | {by_all:,.0f} | {needed / by_all:.2f}"
            print(f"| {spread:.0f} | {apart:.0f} | {by_format} | {by_rounds} | {compared} |", flush=True)
            bad |= by_format.wrong / events > 1 - aim.confidence
    return int(bad)


def setting(spread: float, apart: float, events: int, seed: int) -> tuple[Came, Came]:
    """So many events of one setting, and the same fields in round robins."""
    random, aim = Random(f"{seed} {spread} {apart}"), Aim()
    by_format, by_rounds = Came(), Came()
    for number in range(events):
        truth = field(random, spread, apart)
        held(truth, as_decided(random, aim, (seed, number)), aim, by_format)
        if number % COMPARED == 0:
            held(truth, round_robins(random.randrange(1000)), aim, by_rounds)
    return by_format, by_rounds


def field(random: Random, spread: float, apart: float) -> World:
    """Bots of which the second is so much weaker than the best."""
    found = world(random, BOTS, spread, DRAWS, ADVANTAGE)
    best, second, *_ = sorted(range(BOTS), key=lambda bot: -found.strengths[bot])
    found.strengths = [*found.strengths]
    found.strengths[best] = found.strengths[second] + apart
    return found


def as_decided(random: Random, aim: Aim, seed: object) -> Next:
    """What `decide` draws."""
    names, rounds_drawn = random.sample(NAMES, BOTS), count(1)

    def after(outlook: Outlook | None) -> list[Meeting]:
        if outlook is None:
            rounds = opening(names)
        else:
            order = outlook.order(NAMES)
            rounds = both_ways(
                chosen(outlook, order, aim, (seed, next(rounds_drawn)), needed_by_each(BOTS, aim))
            )
        return [pair for round in rounds for pair in round]

    return after


def round_robins(seed: int) -> Next:
    """Double round robins, one after another."""
    entrants = [Entrant(name) for name in NAMES]
    table = [(each.first, each.second) for each in DOUBLE(entrants, [], [], Terms(seed=seed))]
    unending = cycle(table)
    return lambda outlook: list(islice(unending, BOTS))


def held(truth: World, after: Next, aim: Aim, came: Came) -> None:
    """Play until it is decided, or as many matches were played as there may be."""
    meetings, outlook, matches = Meetings(), None, 0
    while True:
        for first, second in after(outlook):
            matches += 1
            meetings.add(truth.play(Pairing(matches, 1, first, second)))
        outlook = Outlook(games_of(meetings, NAMES))
        found = decision(outlook, NAMES, aim)
        if found.decided or matches >= EACH * BOTS:
            break
    came.matches.append(matches)
    came.needed.append(matches * found.times)
    came.decided += found.decided
    weaker = max(truth.strengths) - truth.strengths[int(found.order[0])]
    came.wrong += found.decided and weaker > aim.within
