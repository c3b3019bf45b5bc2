"""What a seed stands for: who plays what, how they behave, and what befalls the host.

Everything that can be is drawn before anything happens, so a plan can be read.
"""

from collections.abc import Mapping, Sequence
from math import inf
from random import Random

from msgspec import Struct

from games.game import Pace
from tests.simulation.bots import HARMLESS, THINKING, VICES, Nature
from tournament.facts import Absent
from tournament.format import Terms

GAMES: Mapping[str, int] = {
    "tic-tac-toe": 50,
    "hexagon-dots": 22,
    "connect-4": 18,
    "santorini": 8,
    "quoridor": 2,
}
FORMATS = ("round-robin", "double-round-robin", "swiss", "knockout", "gauntlet", "ladder", "open")
ENDLESS = ("ladder", "open")
NEVER = 10_000  # matches: not before all is over
PACES = (
    None,
    Pace(turn=1.0),
    Pace(turn=5.0),
    Pace(bank=3.0),
    Pace(bank=2.0, gain=0.5),
    Pace(bank=20.0, gain=0.1, turn=4.0),
    Pace(bank=60.0, turn=10.0),
)
# Seconds that a store takes; without an end not none, or bots that take none either would go on for ever at
# one instant.
LATENCIES = (None, None, (0.0, 0.0), (0.001, 0.02), (0.001, 0.02), (0.05, 3.0))
OPEN_ACTS = ("pause", "withdraw", "disqualify", "void", "enter", "challenge", "challenge")
ACTS = ("pause", "withdraw", "disqualify", "void", "void", "enter")  # of an organiser
TROUBLES = ("crash", "crash mid-commit", "stall", "stall", "freeze")  # of the host
STEADY = ("crash", "crash mid-commit")  # troubles that leave clocks alone
STYLES = (("quick",), ("quick",), ("quick", "slow"), ("slow",), THINKING)  # a clock is for whoever thinks
LADDER = 4  # matches an entrant after which a ladder is ended


class Act(Struct, frozen=True):
    after: int  # matches concluded
    delay: float  # seconds after that
    what: str


class Contest(Struct, frozen=True):
    """One tournament."""

    name: str
    format: str
    terms: Terms
    at_once: int | None
    alone: bool  # starts by itself when it is full
    entrants: tuple[str, ...]
    ratings: tuple[float | None, ...]
    late: tuple[str, ...]  # who may come later
    length: int | None  # matches after which it is ended, if nothing else ends it
    acts: tuple[Act, ...]
    absent: Absent


class Plan(Struct, frozen=True):
    seed: int
    game: str
    options: Mapping[str, object]
    pace: Pace | None  # None: the game's own
    contests: tuple[Contest, ...]
    natures: Mapping[str, Nature]
    latency: tuple[float, float] | None
    beat: float
    troubles: tuple[Act, ...]
    calm: bool  # nothing happens to the clocks, so they can be reckoned exactly
    breadth: int | None  # of the legal moves, how many bots look at: some are dear to find
    inspected: bool  # somebody looks whether all is done that can be done
    resume: frozenset[str]  # who can come back to a match after a crash


def draw(seed: int) -> Plan:
    chance = Random(seed)
    game = chance.choices(list(GAMES), list(GAMES.values()))[0]
    names = [f"bot-{n}" for n in range(1, min(chance.randint(2, 12), chance.randint(3, 12)) + 1)]
    late = [f"late-{n}" for n in range(1, 3)] if chance.random() < 0.2 else []
    troubles = _acts(chance, TROUBLES, chance.choice((0, 0, 1, 2)), NEVER)
    calm = all(trouble.what in STEADY for trouble in troubles)
    rogues = chance.choice((0.0, 0.3, 0.6, 1.0))
    absent = Random(f"{seed} absent")
    contests = [_contest(chance, absent, "one", names, late)]
    if chance.random() < 0.1:
        contests.append(
            _contest(chance, absent, "two", sorted(chance.sample(names, chance.randint(2, len(names)))), [])
        )
    return Plan(
        seed=seed,
        game=game,
        options=options(chance, game),
        pace=chance.choice(PACES),
        contests=tuple(contests),
        natures={name: _nature(chance, chance.random() < rogues, calm) for name in (*names, *late)},
        latency=chance.choice(
            LATENCIES if all(contest.length is None for contest in contests) else LATENCIES[3:]
        ),
        beat=inf if calm else chance.choice((0.5, 2.0)),
        troubles=troubles,
        calm=calm,
        breadth=4 if game in ("quoridor", "santorini") else None,
        inspected=chance.random() < 0.25,
        resume=_resume(Random(f"{seed} resume"), (*names, *late)),
    )


def _resume(chance: Random, names: Sequence[str]) -> frozenset[str]:
    """Often everybody, sometimes nobody."""
    likelihood = chance.choice((0.0, 0.7, 1.0, 1.0))
    return frozenset(name for name in names if chance.random() < likelihood)


def options(chance: Random, game: str) -> Mapping[str, object]:
    match game:
        case "hexagon-dots":
            return {"rows": 3, "cols": chance.choice((3, 3, 4))}
        case "santorini":
            return {"stuck": chance.choice(("loses", "draws"))}
        case _:
            return {}


def _contest(
    chance: Random, absent: Random, name: str, entrants: Sequence[str], late: Sequence[str]
) -> Contest:
    form = chance.choice(FORMATS)
    length = LADDER * len(entrants) if form in ENDLESS else None
    kinds = OPEN_ACTS if form == "open" else ACTS
    rated = chance.random() < 0.5
    rounds = chance.choice((None, None, 1, 2, 3)) if form in ("swiss", "gauntlet") else None
    return Contest(
        name=name,
        format=form,
        terms=Terms(rounds=rounds, seed=chance.randrange(1000), lots=chance.random() < 0.3),
        at_once=chance.choice((None, None, None, 1, 2, 3)),
        alone=chance.random() < 0.5,
        entrants=tuple(entrants),
        ratings=tuple(chance.choice((None, chance.uniform(1000, 2000))) if rated else None for _ in entrants),
        late=tuple(late),
        length=length,
        acts=_acts(chance, kinds, chance.choice((0, 0, 0, 1, 2, 4)), length or NEVER),
        absent=absent.choice(("wait", "settle")),
    )


def _acts(chance: Random, kinds: Sequence[str], count: int, last: int) -> tuple[Act, ...]:
    """In the order of their coming; a few when all is over."""
    acts = [
        Act(
            after=chance.choice((0, chance.randint(0, 6), chance.randint(0, 30) % last, last)),
            delay=chance.choice((0.0, chance.uniform(0, 1), chance.uniform(0, 30))),
            what=chance.choice(kinds),
        )
        for _ in range(count)
    ]
    return tuple(sorted(acts, key=lambda act: act.after))


def _nature(chance: Random, rogue: bool, calm: bool) -> Nature:
    thinking = chance.choice(STYLES if calm else STYLES[2:])
    vices: dict[str, float] = {}
    if rogue:
        for vice in chance.sample(VICES, chance.randint(1, 4)):
            vices[vice] = chance.choice((0.02, 0.1, 0.4))
    elif chance.random() < 0.4:
        vices = dict.fromkeys(chance.sample(HARMLESS, chance.randint(1, 2)), 0.3)
    late = chance.choice((0.0, 0.0, chance.uniform(0, 25)))
    return Nature(
        thinking=thinking,
        vices=vices,
        comes=chance.choice((late, late, chance.uniform(0, 200), inf)) if rogue else late,
        returns=chance.choice((0.0, chance.uniform(0, 200))) if rogue else chance.uniform(0, 25),
    )
