"""Opponents of the house: there at once for whoever asks for one of them by name.

Each is a `Player` at the open table that wants to meet one challenger, plays
one match and is gone. `random` plays any move, within the call that tells it
that it is to move; `aima` searches for half a second, in a child process.

The names are those that the c4-arena's bots ask for; nobody else may have them
(`server/host/names.py`).
"""

from random import Random

import structlog
import trio

from games.brains import greedy, random
from server.host.host import OPEN, Host
from server.host.thinker import Busy, Failed
from tournament.events import AnyEvent, Ended, Refused
from tournament.player import Seat

GAME = "connect-4"
THINKING = 0.5  # seconds that `aima` takes for a move

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def challenge(host: Host, name: str, challenger: str) -> "HousePlayer":
    """Have the house player of that name come to the open table, for one match against `challenger`."""
    table = await host.table(GAME)
    await table.enter(name)
    return HousePlayer(host, name, challenger)


class HousePlayer:
    def __init__(self, host: Host, name: str, challenger: str) -> None:
        self._host = host
        self._player = host.lobby.enter(name, GAME)
        self._player.place = OPEN + GAME
        self._player.against = challenger
        self._player.dealt = self._dealt

    def leave(self) -> None:
        """The challenger has gone before there was a match."""
        self._player.retire()

    def _dealt(self, seat: Seat) -> None:
        lots = Random(
            seat.match.name
        )  # other lots in each match, and the same whenever it is looked at again
        seat.follow(lambda event: self._tell(seat, lots, event))

    def _tell(self, seat: Seat, lots: Random, event: AnyEvent) -> None:
        if isinstance(event, Ended):
            self._player.retire()
        elif isinstance(event, Refused) or not seat.to_move:
            pass
        elif self._player.name == "aima":
            self._host.guard.start_soon(self._search, seat, lots.getrandbits(32))
        else:
            game, position = seat.match.game, seat.match.position
            seat.play(game.write(random(game, lots.getrandbits(32))(position, _never)))

    async def _search(self, seat: Seat, seed: int) -> None:
        match, ply = seat.match, seat.match.ply
        try:
            move = await self._host.thinker.think(
                match.game.name, {}, match.moves, "alphabeta", THINKING, seed=seed
            )
        except Busy:
            move = match.game.write(greedy(match.game, seed)(match.position, _never))
        except Failed as failure:
            log.error("a house player cannot think", match=match.name, why=str(failure))
            match.void("a fault of the host", trio.current_time())
            return
        if seat.to_move and match.ply == ply:
            seat.play(move)


def _never() -> bool:
    """What a brain is told that asks whether its time is up, where it needs next to none."""
    return False
