"""House players: opponents that come at once when somebody asks for one by name.

Each is a `Player` at the open table that wants to meet one challenger, plays
one match and is gone. One that needs no time for a move plays it within the
call that tells it of its turn; the others think in a child process.

A game's own file lists its house players; nobody else may have their names
(`server/host/names.py`).
"""

from random import Random

import structlog
import trio

from games.brains import BRAINS, greedy
from games.game import Opponent
from server.host.host import OPEN, Host
from server.host.thinker import Busy, Failed
from tournament.events import AnyEvent, Ended, Refused
from tournament.player import Seat

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def challenge(host: Host, game: str, opponent: Opponent, challenger: str) -> "HousePlayer":
    """Have a house player come to the open table of a game, for one match against `challenger`."""
    table = await host.table(game)
    await table.enter(opponent.name)
    return HousePlayer(host, game, opponent, challenger)


class HousePlayer:
    def __init__(self, host: Host, game: str, opponent: Opponent, challenger: str) -> None:
        self._host = host
        self._opponent = opponent
        self._player = host.lobby.enter(opponent.name, game)
        self._player.place = OPEN + game
        self._player.against = challenger
        self._player.dealt = self._dealt

    def leave(self) -> None:
        """The challenger has gone before there was a match."""
        self._player.retire()

    def _dealt(self, seat: Seat) -> None:
        lots = Random(seat.match.name)  # different in each match, and reproducible
        seat.follow(lambda event: self._tell(seat, lots, event))

    def _tell(self, seat: Seat, lots: Random, event: AnyEvent) -> None:
        if isinstance(event, Ended):
            self._player.retire()
        elif isinstance(event, Refused) or not seat.to_move:
            pass
        elif self._opponent.seconds:
            self._host.guard.start_soon(self._search, seat, lots.getrandbits(32))
        else:
            game, position = seat.match.game, seat.match.position
            brain = BRAINS[self._opponent.brain](game, lots.getrandbits(32))
            seat.play(game.write(brain(position, _time_is_up)))

    async def _search(self, seat: Seat, seed: int) -> None:
        match, ply = seat.match, seat.match.ply
        try:
            move = await self._host.thinker.think(
                match.game.name, {}, match.moves, self._opponent.brain, self._opponent.seconds, seed=seed
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
    """For a brain that needs next to no time: its time is never up."""
    return False


def _time_is_up() -> bool:
    """For a brain that is to move at once, however long it would like to think."""
    return True
