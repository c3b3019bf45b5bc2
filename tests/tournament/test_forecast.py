"""What a forecast costs. How right it is, is measured over simulated events (`tests/simulation`)."""

from collections.abc import Iterator, Sequence
from math import inf

import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.steps import steps_taken
from tests.tournament.world import World, first, world
from tournament.facts import AnyFact, Dealt, Drew, Entered, Opened, State
from tournament.forecast import PIECE, Forecast
from tournament.format import Pairing, Terms
from tournament.match import Match
from tournament.record import Record
from tournament.store import Memory

GAME = catalogue()["tic-tac-toe"]


def pieces(
    entrants: int, playing: int, waiting: int = 0, rounds: int | None = None, absent: int = 0
) -> Iterator[int]:
    """The steps of each piece of a forecast for a round of which so many matches are left."""
    record = Record("cup", Opened("tic-tac-toe", "swiss", terms=Terms(rounds=rounds)))
    names = [f"bot-{number}" for number in range(entrants)]
    for name in names:
        record.add(Entered(name))
    pairs = enumerate(zip(names[::2], names[1::2], strict=True), 1)
    pairings = [Pairing(number, 1, first, second) for number, (first, second) in pairs][: playing + waiting]
    record.add(Drew(tuple(pairings)))
    forecast = Forecast(record)
    matches: list[Match] = []
    for pairing in pairings[:playing]:
        record.add(Dealt(name := record.match_name(pairing.number), pairing.number))
        matches.append(Match(GAME, (pairing.first, pairing.second or ""), 0.0, name=name))
        forecast.note(pairing.names, 60.0)
    making = forecast.left(matches, names[-absent:] if absent else (), wait, inf, 20.0)
    found: list[float | None] = []

    def look() -> None:
        try:
            next(making)
        except StopIteration as made:
            found.append(made.value)

    while not found:
        yield steps_taken(look)
    assert found[0] is not None


def wait(name: str, pairings: int) -> float:
    """Two matches of somebody who is absent are waited for."""
    return 10.0 * min(pairings, 2)


def foreseen(
    playing: Sequence[tuple[str, str]],
    open: Sequence[tuple[str, str]],
    lasted: Sequence[float],
    at_once: float = inf,
    absent: Sequence[str] = (),
    format: str = "round-robin",
) -> float | None:
    """How long a tournament still takes, of whose matches these have been played for 20 seconds."""
    record = Record("cup", Opened("tic-tac-toe", format))
    for name in sorted({name for pair in (*playing, *open) for name in pair}):
        record.add(Entered(name))
    record.add(Drew(tuple([Pairing(number, 1, *pair) for number, pair in enumerate((*playing, *open), 1)])))
    forecast, matches = Forecast(record), list[Match]()
    for seconds in lasted:
        forecast.note(("x", "y"), seconds)
    for number, pair in enumerate(playing, 1):
        record.add(Dealt(record.match_name(number), number))
        matches.append(Match(GAME, pair, 0.0))
    making = forecast.left(matches, absent, lambda name, pairings: 7.0 * pairings, at_once, 20.0)
    while True:
        try:
            next(making)
        except StopIteration as made:
            return made.value


AB, AC, BC, CD = ("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")


def test_what_is_left_follows_from_the_longest_chain_and_from_how_much_is_played_at_once() -> None:
    assert foreseen([], [AB], []) is None, "nothing is known"
    assert foreseen([AB], [], []) == 20, "as long again"
    assert foreseen([AB], [], [50.0, 70.0]) == 40
    assert foreseen([AB], [], [10.0]) == 5, "a quarter of the time so far"
    assert foreseen([AB], [AC], [60.0]) == 40 + 60, "one after another"
    assert foreseen([], [AB, AC, BC], [60.0]) == 3 * 60, "three of three, of whom two can play at once"
    assert foreseen([], [AB, CD], [60.0]) == 60, "at the same time"
    assert foreseen([], [AB, CD], [60.0], at_once=1) == 2 * 60
    assert foreseen([AB], [CD], [60.0], absent=["d"]) == 40, "whoever is absent is waited for meanwhile"
    assert foreseen([], [CD], [60.0], absent=["d"]) == 7
    assert foreseen([AB, CD], [], [60.0], format="swiss") == 40 + 2 * 60, "two more rounds"
    assert foreseen([AB, CD], [], [60.0], at_once=1, format="swiss") == 2 * 40 + 2 * 2 * 60
    assert foreseen([AB, CD], [], [60.0], format="knockout") == 40 + 60


def test_whoever_has_nothing_to_play_costs_a_forecast_nothing() -> None:
    assert sum(pieces(400, 2)) < 2 * sum(pieces(40, 2))


def test_a_forecast_for_thousands_is_made_in_pieces_of_which_none_takes_long() -> None:
    """Catches one that holds up all moves, twice a second while anybody looks."""
    steps = list(pieces(8 * PIECE, 2 * PIECE, 2 * PIECE))
    assert max(steps) < sum(steps) / 4


def test_a_forecast_of_thousands_of_rounds_is_made_in_pieces_of_which_none_takes_long() -> None:
    steps = list(pieces(4, 2, rounds=8 * PIECE))
    assert max(steps) < sum(steps) / 4


def test_each_of_thousands_of_rounds_costs_a_forecast_the_same_however_many_are_absent() -> None:
    def effort(absent: int) -> int:
        return sum(pieces(40, 2, rounds=200, absent=absent)) - sum(pieces(40, 2, rounds=100, absent=absent))

    assert effort(30) == effort(3)


class Slow(Memory):
    """A store that needs some time for each fact."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        await trio.sleep(0.01 * len(facts))
        return await super().keep(tournament, when, facts)


async def test_while_thousands_of_pairings_are_settled_it_is_foreseen_how_long_that_takes(
    autojump_clock: MockClock,
) -> None:
    """Catches 0 s to go, for a quarter of a minute, where nearly all of two hundred did not come."""
    here = World(Opened("tic-tac-toe", "round-robin", 60, absent="settle"), Slow())
    foreseen: list[tuple[float, float]] = []
    for name in (f"bot-{number}" for number in range(60)):
        await here.tournament.enter(name)

    async def look() -> None:
        while True:
            await trio.sleep(1.0)
            foreseen.append((trio.current_time(), here.tournament.eta() or 0.0))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        nursery.start_soon(look)
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    ended = trio.current_time()
    late = [(ended - at, left) for at, left in foreseen if 2.0 < ended - at < 15.0]
    assert len(late) > 10
    assert all(left / 2 < eta < 2 * left for left, eta in late)


async def test_whoever_waits_for_a_forecast_gets_the_same(autojump_clock: MockClock) -> None:
    async with world(dict.fromkeys("abcdef", first)) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        told: list[float | None] = []
        while here.tournament.record.state is not State.FINISHED:
            told.append(await here.tournament.foresee())
            assert here.tournament.eta() == told[-1]
            await trio.sleep(3.0)
        assert len({*told}) > 3
        assert await here.tournament.foresee() is None
