"""Events of which everything is known beforehand: how long each bot thinks, who dies and who comes late.

A match lasts as long as its two bots think, more or less, and then one of them resigns: what is
looked at here is how long an event takes, and nothing that happens on a board. The tournament is the
real one, on a virtual clock.
"""

from collections.abc import Mapping, Sequence
from math import inf
from random import Random

import trio
from msgspec import Struct
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Pace
from tests.deterministic import take_turns_by
from tournament.facts import Absent, Concluded, Opened, State, Turned
from tournament.format import Terms
from tournament.lobby import Lobby
from tournament.player import Player, Seat
from tournament.record import Record
from tournament.store import Memory
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

LOOKS = 60  # at the forecast, in an event of the usual length
LIMIT = Pace(turn=1e6)  # nobody runs out of time


class Habit(Struct, frozen=True):
    """What a bot is like."""

    thinks: float  # seconds in a match
    comes: float = 0.0  # seconds after the beginning
    dies: int | None = None  # after so many of its matches; None: it stays
    returns: float = inf  # seconds after it has died


class Event(Struct, frozen=True):
    format: str
    habits: Mapping[str, Habit]
    absent: Absent = "settle"
    at_once: int | None = None
    terms: Terms = Terms()
    seed: int = 0
    spread: float = 0.3  # by how much a match may take longer or shorter than its bots usually think


class Account(Struct, frozen=True):
    """How an event went."""

    seconds: float
    matches: Sequence[Concluded]
    foreseen: Sequence[tuple[float, float | None]]  # when, and how many seconds were thought to be left

    def played(self, name: str) -> int:
        """How many matches of somebody were played and not only settled."""
        return sum(name in match.players and match.why.endswith("resigned") for match in self.matches)

    def errors(self) -> list[float]:
        """By what share of the whole a forecast was wrong, from one third of the event on."""
        return [
            abs(at + left - self.seconds) / self.seconds if left is not None else inf
            for at, left in self.foreseen
            if self.seconds / 3 <= at < self.seconds
        ]


def held(event: Event) -> Account:
    """From beginning to end; the same event goes the same way in every process."""
    take_turns_by(event.seed)
    return trio.run(_hold, event, clock=MockClock(autojump_threshold=0))


async def _hold(event: Event) -> Account:
    opened = Opened("tic-tac-toe", event.format, None, event.terms, {}, LIMIT, event.absent)
    lobby, timekeeper, store = Lobby(), Timekeeper(inf), Memory()
    record = Record("cup", opened)
    matches: list[Concluded] = []
    foreseen: list[tuple[float, float | None]] = []
    tournament = Tournament(
        record,
        catalogue()[opened.game],
        lobby,
        store,
        timekeeper,
        at_once=event.at_once,
        wall=trio.current_time,
        told=lambda fact: matches.append(fact) if isinstance(fact, Concluded) else None,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timekeeper.run)
        for name, habit in event.habits.items():
            player = lobby.enter(name, opened.game)
            await tournament.enter(name)
            nursery.start_soon(_attend, player, habit, event)
        await tournament.keep(Turned(State.RUNNING))
        began = trio.current_time()
        nursery.start_soon(_look, tournament, foreseen, _pause(event))
        await tournament.run()
        nursery.cancel_scope.cancel()
    return Account(trio.current_time() - began, matches, foreseen)


def _pause(event: Event) -> float:
    """Between two looks at the forecast."""
    thinks = sum(habit.thinks for habit in event.habits.values()) / len(event.habits)
    rounds = len(event.habits) if "robin" in event.format else 4
    return 2 * thinks * rounds / LOOKS


async def _look(tournament: Tournament, foreseen: list[tuple[float, float | None]], pause: float) -> None:
    began = trio.current_time()
    while True:
        await trio.sleep(pause)
        foreseen.append((trio.current_time() - began, tournament.eta()))


async def _attend(player: Player, habit: Habit, event: Event) -> None:
    if habit.comes:
        player.away()
        await trio.sleep(habit.comes)
        player.back()
    played = 0
    async for seat in player:
        await _play(seat, event)
        played += 1
        if played == habit.dies:
            player.away()
            await trio.sleep(habit.returns)
            player.back()


async def _play(seat: Seat, event: Event) -> None:
    """Think for as long as both do, and give up if it is this one's turn to lose."""
    match, habits = seat.match, event.habits
    chance = Random(f"{event.seed} {match.name}")
    seconds = sum(habits[name].thinks for name in match.names) * chance.uniform(
        1 - event.spread, 1 + event.spread
    )
    if chance.randrange(2) == seat.index:
        await trio.sleep(seconds)
        seat.resign()
    async for _ in match.log.read():
        pass
