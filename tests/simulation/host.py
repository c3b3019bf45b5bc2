"""One process of the host, as far as it matters here, from its start to its end or its crash."""

from typing import TYPE_CHECKING

import trio

from tests.simulation.disk import Session
from tournament.facts import State
from tournament.folding import fold
from tournament.lobby import Lobby
from tournament.player import Player
from tournament.record import Record
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

if TYPE_CHECKING:
    from tests.simulation.world import World

FAREWELL = 100.0  # virtual seconds in which every task has to have noticed that all is over


class Host:
    """A crash takes all that is in here, and leaves the disk."""

    def __init__(self, world: "World") -> None:
        self.game = world.game
        self.disk = Session(world.disk)
        self.lobby = Lobby()
        self.timekeeper = Timekeeper(world.plan.beat)
        self.tournaments: dict[str, Tournament] = {}
        self.begun: set[str] = set()  # matches
        self.requests: set[trio.CancelScope] = set()  # of organisers, under way
        self.awaited: dict[str, Player] = {}  # in matches that were in play when the last host crashed
        self._world = world

    async def live(self) -> None:
        world = self._world
        async with trio.open_nursery() as self.nursery:
            self.nursery.start_soon(self.timekeeper.run)
            for bot in world.bots.values():
                self.nursery.start_soon(bot.attend, self)
            records = fold(world.disk.kept(), whole=False).values()
            for record in records:
                self._await_players(record)
            for record in records:
                self.take(record)
            world.host = self
            world.changed()
            await world.until(lambda: self.disk.crashed or world.over)
            if not self.disk.crashed:
                await self._close()
            self.nursery.cancel_scope.cancel()

    def _await_players(self, record: Record) -> None:
        for match in record.keys:
            for name in record.drawn[record.dealt[match]].names:
                if name not in self.awaited:
                    player = self.awaited[name] = self.lobby.enter(name, self.game.name)
                    player.away()

    def take(self, record: Record) -> None:
        world, name = self._world, record.name
        tournament = Tournament(
            record,
            self.game,
            self.lobby,
            self.disk,
            self.timekeeper,
            at_once=world.contests[name].at_once,
            wall=trio.current_time,
            told=lambda fact: world.witness.told(name, fact),
            begun=lambda match: world.witness.begun(name, match),
            random_bits=lambda bits: record.opened.terms.seed or 0,
        )
        self.tournaments[name] = tournament
        self.nursery.start_soon(self._hold, tournament)

    def crash(self) -> None:
        self.disk.crashed = True
        for scope in (self.nursery.cancel_scope, *self.requests):
            scope.cancel()

    async def _hold(self, tournament: Tournament) -> None:
        """Run it, and again when what was over is taken up again."""
        world = self._world
        while not world.over:
            await tournament.run()
            await world.until(lambda: world.over or tournament.record.state is not State.FINISHED)

    async def _close(self) -> None:
        """Everybody goes home, and nothing is left behind."""
        world = self._world
        for bot in world.bots.values():
            bot.dismiss()
        for player in self.awaited.values():
            player.retire()
        await trio.sleep(FAREWELL)
        left = [
            *(f"the task {task.name}" for task in self.nursery.child_tasks if "Timekeeper" not in task.name),
            *(f"{player.name} in the lobby" for player in self.lobby.players()),
            *(f"the match {match}" for t in self.tournaments.values() for match in t.matches),
        ]
        if left:
            world.complain(f"left behind: {sorted(left)}")
