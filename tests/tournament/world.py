"""What the tests of a live tournament share: a lobby, a store, a clock, and scripted players."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from math import inf
from typing import Any

import trio

from games.catalogue import catalogue
from games.game import Game, Illegal
from tournament.desk import Desk
from tournament.events import Ended
from tournament.facts import AnyFact, Concluded, Opened, State, Turned
from tournament.folding import fold
from tournament.format import Terms
from tournament.lobby import Lobby
from tournament.player import Player, Seat
from tournament.record import Record
from tournament.store import Memory
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

Behaviour = Callable[[Seat], Awaitable[None]]


class World:
    """One tournament of Tic-Tac-Toe, unless told otherwise, and everything that it needs."""

    def __init__(
        self,
        opened: Opened,
        store: Memory | None = None,
        wall: Callable[[], float] = trio.current_time,
        rules: Game[Any, Any] | None = None,
        beat: float = inf,
        **options: Any,
    ) -> None:
        """`rules` are those of a game that takes the place of the one of its name.

        With a `beat` it is noticed when the host stands still.
        """
        self.lobby = Lobby()
        self.store = store or Memory()
        self.timekeeper = Timekeeper(beat)
        self.told: list[AnyFact] = []
        game = rules or catalogue()[opened.game]
        record = fold(self.store.kept()).get("cup") or Record("cup", opened)
        self.tournament = Tournament(
            record,
            game,
            self.lobby,
            self.store,
            self.timekeeper,
            told=self.told.append,
            wall=wall,
            **options,
        )
        self.desk = Desk(self.tournament)

    def concluded(self) -> list[Concluded]:
        return [fact for fact in self.told if isinstance(fact, Concluded)]

    def come(self, name: str) -> Player:
        return self.lobby.enter(name, self.tournament.game.name)


async def kept_matches(tournament: Tournament) -> list[Concluded]:
    """Those that are over and remembered, with their moves, as the store has them."""
    return [await tournament.concluded(match) for match in tournament.record.matches]


async def play(player: Player, behave: Behaviour) -> None:
    """Behave like that in every match."""
    async for seat in player:
        await behave(seat)


@asynccontextmanager
async def world(
    players: Mapping[str, Behaviour],
    *,
    format: str = "round-robin",
    terms: Terms | None = None,
    **options: Any,
) -> AsyncIterator[World]:
    """A tournament that starts when all the `players` are entered; what is absent plays nothing."""
    opened = Opened("tic-tac-toe", format, len(players), terms or Terms())
    here = World(opened, **options)
    if not here.tournament.record.entrants:
        await here.store.keep("cup", 0.0, [opened])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name, behave in players.items():
            nursery.start_soon(play, here.come(name), behave)
            await here.tournament.enter(name)
        yield here
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def table(
    game: str, format: str = "open", store: Memory | None = None, **options: Any
) -> AsyncIterator[tuple[World, trio.Nursery]]:
    """Without an end, and nobody is there yet; with a `store`, what is kept there goes on."""
    opened = Opened(game, format)
    here = World(opened, store, **options)
    if store is None:
        await here.store.keep("cup", 0.0, [opened])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        await here.tournament.keep(Turned(State.RUNNING))
        yield here, nursery
        nursery.cancel_scope.cancel()


async def first(seat: Seat) -> None:
    """Always play the first legal move, after a second."""
    await _answer(seat, 1.0)


async def silent(seat: Seat) -> None:
    """Never play; wait for the end."""
    async for _ in seat.match.log.read():
        pass


def leaves(after: float) -> Behaviour:
    """Be gone for good some seconds after the match began."""

    async def behave(seat: Seat) -> None:
        await trio.sleep(after)
        seat.leave()

    return behave


async def _answer(seat: Seat, think: float) -> None:
    match = seat.match
    async for event in match.log.read():
        if isinstance(event, Ended):
            return
        if seat.to_move:
            await trio.sleep(think)
            move = next(iter(match.position.moves()), None)
            if seat.to_move and move is not None:
                try:
                    seat.play(match.game.write(move))
                except Illegal:  # the time ran out meanwhile
                    return
