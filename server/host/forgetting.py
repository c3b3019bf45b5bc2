"""When the name of a bot that is gone is free again: at once if it is an entrant nowhere, else in minutes.

A name that a tournament awaits is kept.
"""

import trio

from server.host.reception import Reception
from server.host.roll import Roll
from tournament.player import Player

NAME_KEPT = 600.0  # seconds that a name is kept for a bot that is gone and awaited nowhere
EVERY = 60.0  # seconds between two looks


class Forgetting:
    def __init__(self, reception: Reception, roll: Roll) -> None:
        self._reception = reception
        self._roll = roll

    def hear(self, player: Player) -> None:
        """Called whenever a player has changed."""
        if player.present or player.engaged:
            return
        if not self._roll.knows(player.name, player.game):
            self._reception.drop(player)

    async def run(self) -> None:
        while True:
            await trio.sleep(EVERY)
            while self._reception.forget(self._awaited, NAME_KEPT):
                await trio.lowlevel.checkpoint()

    def _awaited(self, player: Player) -> bool:
        return self._roll.awaits(player.name, player.game)
