"""Opponents to practise against, in every game: who they are, and how they behave when it is their turn.

Each has a brain for its moves and a manner of playing them. A manner is called for
each turn, in a task of its own. It may wait, and does things that some bot does
sooner or later.

`house_players.py` has them come and go.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import cycle, islice
from math import inf
from random import Random
from types import MappingProxyType
from typing import Any

import trio

from games.game import Game, Illegal, Opponent
from tournament.match import REFUSALS
from tournament.player import Player, Seat

LAST = 0.5  # seconds before the end of its time at which a slow player moves
ONE_IN = 4  # one in so many turns, a careless player tries an illegal move first
MIDDLE = 2  # the turn, of its own, at which an unreliable player hangs up or flips
ABSENCE = 2.0  # seconds for which a player that comes back is gone
JUNK: Sequence[object] = ("*flips the table*", {"board": "upside down"}, [], None, -1)  # moves of no game

QUICK = 0.05  # seconds for a brain that needs next to none
STRONG = 0.5


class Turn:
    """One turn of a house player, as its manner sees it."""

    def __init__(
        self, seat: Seat, player: Player, number: int, lots: Random, choose: Callable[[], Awaitable[Any]]
    ) -> None:
        self.seat = seat
        self.player = player
        self.number = number  # of this player's turns, counted from 1
        self.lots = lots
        self._choose = choose
        self._ply = seat.match.ply

    @property
    def lasts(self) -> bool:
        """Whether the player still has to move in this turn."""
        return self.seat.to_move and self.seat.match.ply == self._ply

    @property
    def left(self) -> float:
        """Seconds on its clock; infinite where it has none."""
        left = self.seat.match.left(trio.current_time())[self.seat.index]
        return inf if left is None else left

    async def chosen(self) -> Any:
        """What the brain would play, as the game writes it."""
        return await self._choose()

    def play(self, move: Any) -> None:
        """Play, if the match has not ended meanwhile."""
        if self.lasts:
            self.seat.play(move)

    async def move(self) -> None:
        """Play what the brain chooses."""
        self.play(await self.chosen())

    def say(self, sent: object) -> None:
        """Send something that need not be a move."""
        if self.lasts:
            with suppress(Illegal):  # the referee notes it, and ends the match where that is the rule
                self.seat.play(sent)


Manner = Callable[[Turn], Awaitable[None]]


async def plainly(turn: Turn) -> None:
    """Play what the brain chooses."""
    await turn.move()


async def slowly(turn: Turn) -> None:
    """Play in the last second of the clock; at once where there is none."""
    move = await turn.chosen()
    if (left := turn.left) < inf:
        await trio.sleep(max(0.0, left - LAST))
    turn.play(move)


async def carelessly(turn: Turn) -> None:
    """Try an illegal move now and then."""
    if turn.lots.randrange(ONE_IN) == 0:
        turn.say(_illegal(turn.seat))
    if turn.lasts:
        await turn.move()


async def until_it_leaves(turn: Turn) -> None:
    """Hang up in the middle, and stay away."""
    if turn.number < MIDDLE:
        await turn.move()
    else:
        turn.player.away()


async def with_an_absence(turn: Turn) -> None:
    """Hang up in the middle, and come back."""
    if turn.number == MIDDLE:
        turn.player.away()
        await trio.sleep(ABSENCE)
        turn.player.back()
    await turn.move()


async def until_it_flips(turn: Turn) -> None:
    """Say nothing but junk from the middle on, until the referee has had enough."""
    if turn.number < MIDDLE:
        await turn.move()
        return
    for junk in islice(cycle(JUNK), REFUSALS):
        turn.say(junk)
        await trio.lowlevel.checkpoint()


class Sparring(Opponent, frozen=True):
    """A house player that there is in every game."""

    manner: Manner = plainly


SPARRING = (
    Sparring("random", "random", QUICK),
    Sparring("first", "first", QUICK),
    Sparring("greedy", "greedy", QUICK),
    Sparring("alphabeta", "alphabeta", STRONG),
    Sparring("practice-slow", "random", QUICK, slowly),
    Sparring("practice-illegal", "random", QUICK, carelessly),
    Sparring("practice-leaves", "random", QUICK, until_it_leaves),
    Sparring("practice-returns", "random", QUICK, with_an_absence),
    Sparring("practice-flips", "random", QUICK, until_it_flips),
)


def opponents(game: Game[Any, Any]) -> Mapping[str, Opponent]:
    """The opponents for which a bot may ask in a game: those of every game, unless the game has its own."""
    everywhere = {opponent.name: opponent for opponent in SPARRING}
    return MappingProxyType(everywhere | {opponent.name: opponent for opponent in game.opponents})


def _illegal(seat: Seat) -> object:
    """A move that cannot be played now: the last one again, if that is illegal; else no move at all."""
    match = seat.match
    if match.moves:
        try:
            match.position.play(match.game.read(match.moves[-1], match.position))
        except Illegal:
            return match.moves[-1]
    return JUNK[0]
