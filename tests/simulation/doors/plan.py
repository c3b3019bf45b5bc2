"""What a seed stands for here: who plays what over which wire, how they behave, and what the network is like.

A bot is honest if it answers every question legally and in time, and comes back
soon when its connection is cut. What honest bots and the network take of a
clock is bounded by a budget, and so nothing but the rules may cost them a point.
"""

from collections.abc import Mapping, Sequence
from random import Random

from msgspec import Struct

from games.catalogue import catalogue
from games.game import Pace
from tests.server.windowed import Weather
from tests.simulation.plan import Contest, options
from tournament.format import Terms

GAMES: Mapping[str, int] = {
    "tic-tac-toe": 40,
    "connect-4": 20,
    "hexagon-dots": 20,
    "santorini": 12,
    "quoridor": 8,
}
FORMATS = ("round-robin", "round-robin", "double-round-robin", "swiss", "knockout", "gauntlet")
HOUSE = (
    "house over TCP",
    "house over websocket",
    "house by polls",
    "house by stream",
    "house over any",  # another each time that it comes
)
SEEDS: Mapping[str, tuple[str, ...]] = {
    "tic-tac-toe": ("arena", "arena, called"),
    "connect-4": ("c4-arena",),
    "hexagon-dots": ("dots",),
    "santorini": ("memo",),
    "quoridor": ("arena", "arena, called"),
}
WITHOUT_TOKEN = ("memo", "c4-arena")  # whoever is cut there cannot come back
UNNOTICED = ("dots",)  # nor there, if the host has not noticed
PACES = (
    None,
    None,
    Pace(turn=5.0),
    Pace(turn=20.0),
    Pace(bank=30.0, gain=3.0),
    Pace(bank=20.0, gain=5.0, turn=8.0),
)
STYLES = ("at once", "quick", "slow", "dithers")  # all of them in time
NARROW = 1000  # bytes; one that does not read while it dithers cannot have so small a window: it would be cut
VICES = (
    "late",
    "silent",
    "illegal",
    "babbles",
    "resigns",
    "hangs up",
    "resets",
    "half-closes",
    "quits",
    "deaf",
)
LATENCIES = (None, None, (0.0, 0.0), (0.001, 0.02), (0.01, 1.0))  # seconds that the store takes
SPECTATORS = ("listens", "deaf", "hangs up")
CUTS = ("reset", "pull", "hang up", "stall")  # what befalls a connection; after all but the last it is gone

# Shares of a budget: what is left over is for what lies on top of each other.
THINKING, AWAY, STALLED, FLYING = 0.3, 0.2, 0.1, 0.03
QUICK = 0.1  # seconds that a quick bot thinks, at most
LONGEST = 2.0  # seconds that a slow bot thinks, where it might take more
FEWEST = 8  # things heard between two cuts


class Cut(Struct, frozen=True):
    """Something befalls a bot's connections."""

    after: int  # things heard
    delay: float
    what: str
    away: float  # seconds until it comes back


class Character(Struct, frozen=True):
    wire: str
    style: str
    comes: float
    vices: Mapping[str, float]  # of each, how likely it is at a question
    cuts: tuple[Cut, ...]

    @property
    def honest(self) -> bool:
        hurt = [cut for cut in self.cuts if cut.what != "stall"]
        unnoticed = any(cut.what == "pull" for cut in hurt) and self.wire in UNNOTICED
        return not self.vices and not unnoticed and not (hurt and self.wire in WITHOUT_TOKEN)


class Plan(Struct, frozen=True):
    seed: int
    game: str
    options: Mapping[str, object]
    pace: Pace | None  # None: the game's own
    budget: float  # seconds that a question leaves for everything
    contest: Contest
    weather: Weather
    characters: Mapping[str, Character]
    spectators: tuple[str, ...]
    latency: tuple[float, float] | None


def draw(seed: int) -> Plan:
    chance = Random(f"doors {seed}")
    game = chance.choices(list(GAMES), list(GAMES.values()))[0]
    pace = chance.choice(PACES)
    budget = _budget(pace or catalogue()[game].pace)
    names = [f"bot-{n}" for n in range(1, chance.randint(2, chance.randint(2, 6)) + 1)]
    rogues = chance.choice((0.0, 0.0, 0.3, 0.6, 1.0))
    rough = chance.random() < 0.6
    weather = _weather(chance, budget)
    only = chance.choice((*HOUSE, *SEEDS[game])) if chance.random() < 0.2 else None
    return Plan(
        seed=seed,
        game=game,
        options=options(chance, game),
        pace=pace,
        budget=budget,
        contest=_contest(chance, tuple(names)),
        weather=weather,
        characters={
            name: _character(
                chance,
                only or chance.choice((*HOUSE, *SEEDS[game] * 3)),
                budget,
                chance.random() < rogues,
                rough,
                STYLES[:-1] if weather.window < NARROW else STYLES,
            )
            for name in names
        },
        spectators=tuple(chance.choices(SPECTATORS, k=chance.choice((0, 0, 1, 3)))),
        latency=chance.choice(LATENCIES),
    )


def _budget(pace: Pace) -> float:
    bounds = (pace.turn, pace.gain if pace.bank is not None else None)
    return min(bound for bound in bounds if bound is not None)


def _contest(chance: Random, names: tuple[str, ...]) -> Contest:
    form = chance.choice(FORMATS)
    return Contest(
        name="one",
        format=form,
        terms=Terms(
            rounds=chance.choice((None, 1, 2)) if form in ("swiss", "gauntlet") else None,
            seed=chance.randrange(1000),
            lots=chance.random() < 0.3,
        ),
        at_once=chance.choice((None, None, None, 1, 2)),
        alone=True,
        entrants=names,
        ratings=(None,) * len(names),
        late=(),
        absent="wait",
        length=None,
        acts=(),
    )


def _weather(chance: Random, budget: float) -> Weather:
    latency, jitter = chance.uniform(0, FLYING) * budget, chance.uniform(0, FLYING) * budget
    return chance.choice(
        (
            Weather(),
            Weather(piece=20),
            Weather(window=400),
            Weather(window=300, piece=40),
            Weather(latency=latency),
            Weather(latency=latency, jitter=jitter, piece=40),
            Weather(latency=latency, jitter=jitter, window=6000),
        )
    )


def _character(
    chance: Random, wire: str, budget: float, rogue: bool, rough: bool, styles: Sequence[str]
) -> Character:
    vices = chance.sample(VICES, chance.randint(1, 4)) if rogue else ()
    style = chance.choice(styles)
    cut = rough and style != "dithers" and chance.random() < 0.9
    return Character(
        wire=wire,
        style=style,
        comes=chance.choice((0.0, chance.uniform(0, 60 if rogue else 10))),
        vices={vice: chance.choice((0.02, 0.1, 0.3)) for vice in vices},
        cuts=_cuts(chance, wire, budget, rogue) if cut else (),
    )


def _cuts(chance: Random, wire: str, budget: float, rogue: bool) -> tuple[Cut, ...]:
    """For an honest bot, where the wire cannot bear it, only seldom something that costs its honesty."""
    kinds: tuple[str, ...] = CUTS
    if not rogue and chance.random() < 0.9:
        kinds = ("stall",) if wire in WITHOUT_TOKEN else ("reset", "stall") if wire in UNNOTICED else CUTS
    after, cuts = 0, list[Cut]()
    for _ in range(chance.randint(1, 3)):
        after += FEWEST + chance.randint(0, 20) if cuts else chance.randint(0, 20)
        what = chance.choice(kinds)
        share = STALLED if what == "stall" else AWAY
        away = chance.uniform(0, 60) if rogue else chance.uniform(0, share * budget)
        cuts.append(Cut(after, chance.choice((0.0, chance.uniform(0, THINKING * budget))), what, away))
    return tuple(cuts)
