"""A bot that plays the Arena's games by itself, and flips the table when somebody breaks the rules.

It knows only what is on the wire, and the rules. What it does wrong, a test tells it.
"""

from collections.abc import Callable
from typing import Any

import trio

from games.brains import alphabeta
from games.catalogue import catalogue
from games.game import Illegal
from games.quoridor import distance
from server.protocols.arena.messages import FLIP
from tests.server.protocols.lists import Lists, Stream

Choose = Callable[[Any], Any]  # of a position


class Knight:
    def __init__(
        self,
        lists: Lists,
        game: str,
        choose: Choose | None = None,
        *,
        watchful: bool = True,
        seconds: float = 0.0,
    ) -> None:
        """One that is not `watchful` flips no table. It thinks for so many seconds before each move."""
        self.lists = lists
        self.game = catalogue()[game]
        self.choose = choose or (lambda position: alphabeta(self.game, depth=9)(position, lambda: False))
        self.watchful = watchful
        self.seconds = seconds
        self.battles: list[list[dict[str, Any]]] = []  # what it was told in each
        self.playing = 0
        self.most = 0  # battles it was in at once

    async def called(self, where: str, message: dict[str, Any]) -> bool:
        """Its number was called."""
        assert where == f"/{self.game.name}"
        self.lists.nursery.start_soon(self.fight, message["battleId"])
        return True

    async def enlist(self, name: str, **more: Any) -> tuple[int, Any]:
        """Join without an address, again and again, until there is nothing to fight any more."""
        while True:
            status, said = await self.lists.says(f"/{self.game.name}/join", {"name": name, **more})
            if status != 200:
                return status, said
            more["token"] = said["token"]
            await self.fight(said["battleId"])

    async def fight(self, battle: str) -> None:
        self.playing += 1
        self.most = max(self.most, self.playing)
        stream = Stream(self.lists.send(f"/{self.game.name}/start/{battle}"))
        position, told = self.game.opening({}), []
        self.battles.append(told)
        side: str | None = None
        over = False
        while not stream.over:
            for event in await stream.wait():
                told.append(event)
                side = side or event["youAre"]
                match event:
                    case {"player": player, **move} if not over:
                        try:
                            assert move["action"] != FLIP
                            assert player == self.game.seats[position.turn]
                            position = position.play(self.game.read(move, position))
                        except (Illegal, AssertionError):
                            over = True
                            if self.watchful:
                                await self.send(battle, {"action": FLIP})
            if not over and position.outcome is None and side == self.game.seats[position.turn]:
                await trio.sleep(self.seconds)
                await self.send(battle, self.game.write(self.choose(position)))
        self.playing -= 1

    async def send(self, battle: str, move: Any) -> None:
        await self.lists.says(f"/{self.game.name}/play/{battle}", move)


def runner(position: Any) -> Any:
    """In Quoridor: the step that brings the pawn nearest to its goal."""
    seat = position.turn
    steps = [move for move in position.moves() if len(move) == 2]
    return min(steps, key=lambda step: distance(position.play(step), seat))
