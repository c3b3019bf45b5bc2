"""House players: opponents that come at once when somebody asks for one by name.

Each is a `Player` at the open table that wants to meet one challenger. One that a
game's own file lists and that needs no time for a move plays it within the call that
tells it of its turn; the others think in a child process. `practice.py` says who there
is in every game, and how they behave.

`HousePlayers` holds those that play a challenger match after match, with the limits on
how many there may be. Nobody else may have the names of a game's own house players, or
of those for practice (`server/host/names.py`).
"""

from collections.abc import Iterable
from random import Random
from typing import TYPE_CHECKING, Any

import structlog
import trio
from msgspec import Struct

from games.brains import BRAINS, greedy
from games.catalogue import catalogue
from games.game import Opponent
from server.host.names import BadName, checked, key
from server.host.opening import OPEN
from server.host.practice import Sparring, Turn, opponents, plainly
from server.host.thinker import Busy, Failed
from server.host.unwelcome import Unwelcome
from server.net.admission import network_of
from tournament.events import AnyEvent, Began, Moved
from tournament.kinds import Kind
from tournament.player import NOWHERE, Player, Seat, Taker

if TYPE_CHECKING:  # it holds what is in here
    from server.host.host import Host

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def challenge(host: "Host", game: str, opponent: Opponent, challenger: str) -> "HousePlayer":
    """Have a house player come to the open table of a game, for one match against `challenger`."""
    table = await host.table(game)
    await table.enter(opponent.name)
    return HousePlayer(host, game, table.record.name, opponent, challenger, matches=1)


class HousePlayer(Taker):
    def __init__(
        self,
        host: "Host",
        game: str,
        table: str,
        opponent: Opponent,
        challenger: str,
        *,
        matches: int | None = None,
    ) -> None:
        """It leaves after this many `matches`; None: when it is told to."""
        self._host = host
        self._opponent = opponent
        self._manner = opponent.manner if isinstance(opponent, Sparring) else plainly
        self._turns = 0  # of its match, so far
        self._player = host.lobby.enter(opponent.name, game, NOWHERE)
        self._player.kind = Kind.HOUSE
        self._player.matches_left = matches
        self._player.meet_only(challenger)
        self._player.taker = self
        self._player.move_to(table)

    def leave(self) -> None:
        """The challenger has gone, or wants another opponent: a match goes on to its end, or begins yet."""
        self._player.matches_left = 0
        if not self._player.engaged:
            self._player.retire()

    def take_seat(self, seat: Seat) -> None:
        lots = Random(seat.match.name)  # different in each match, and reproducible
        self._turns = 0
        seat.follow(lambda event: self._tell(seat, lots, event))

    def _tell(self, seat: Seat, lots: Random, event: AnyEvent) -> None:
        if not isinstance(event, Began | Moved) or not seat.to_move:
            pass
        elif self._opponent.seconds:
            self._turns += 1
            self._host.guard.start_soon(self._answer, seat, self._turns, lots)
        else:
            game, position = seat.match.game, seat.match.position
            brain = BRAINS[self._opponent.brain](game, lots.getrandbits(32))
            seat.play(game.write(brain(position, _time_is_up)))

    async def _answer(self, seat: Seat, number: int, lots: Random) -> None:
        """Think, and play. If that fails, the match is void: nobody has won or lost by it."""
        seed = lots.getrandbits(32)

        async def choose() -> Any:
            return await self._chosen(seat, seed)

        try:
            await self._manner(Turn(seat, self._player, number, lots, choose))
        except Failed as failure:
            log.error("a house player cannot think", match=seat.match.name, why=str(failure))
            seat.match.fail(trio.current_time())
        except Exception:
            seat.match.fail(trio.current_time())
            raise

    async def _chosen(self, seat: Seat, seed: int) -> Any:
        match = seat.match
        brain, seconds = self._opponent.brain, self._opponent.seconds
        try:
            return await self._host.thinker.think(
                match.game.name, match.options, match.moves, brain, seconds, seed=seed
            )
        except Busy:
            return match.game.write(greedy(match.game, seed)(match.position, _never))


class Wish(Struct, frozen=True):
    """Whom a challenger wants to meet, and the network under which it is counted; "" if it is not counted."""

    opponent: Opponent
    network: str


class HousePlayers:
    """House players that stay as long as their challengers do, each for one challenger."""

    def __init__(self, host: "Host") -> None:
        self._host = host
        self._wishes: dict[Player, Wish] = {}
        self._here: dict[Player, HousePlayer] = {}
        host.lobby.listen(self._changed)

    def __len__(self) -> int:
        return len(self._here)

    def expect(self, challenger: Player, name: str | None, peer: str) -> None:
        """Raise `Unwelcome` where an opponent cannot come: before a table is opened for the challenger."""
        own = opponents(catalogue()[challenger.game])
        if name is None:
            return
        if name not in own:
            _expect_another(name, challenger.name, own)
        elif challenger not in self._here and challenger.seat is None:
            self._expect_room(self._network(peer))

    def ask(self, challenger: Player, name: str | None, peer: str) -> None:
        """Have the house player of that name meet a challenger at an open table.

        If there is none of that name, nothing happens: it may be the name of a bot. The house player that
        the challenger met before leaves. Raises `Unwelcome` where too many have come since `expect` was
        called.
        """
        wanted = opponents(catalogue()[challenger.game]).get(name or "")
        if (before := self._wishes.get(challenger)) is not None and before.opponent is not wanted:
            self._forget(challenger)
        if wanted is not None:
            self._wishes[challenger] = Wish(wanted, self._network(peer))
            self._come(challenger)

    def _network(self, peer: str) -> str:
        return network_of(peer, self._host.limits.trust_loopback)

    def _come(self, challenger: Player) -> None:
        wish, table = self._wishes[challenger], challenger.place or ""
        if challenger in self._here or challenger.seat is not None:
            return
        self._expect_room(wish.network)
        self._host.tournaments[table].receive(wish.opponent.name)
        self._here[challenger] = HousePlayer(
            self._host, challenger.game, table, wish.opponent, challenger.name
        )

    def _expect_room(self, network: str) -> None:
        most, limits = self._host.limits.practice, self._host.limits
        if len(self._here) >= most:
            raise Unwelcome(f"the host plays {most} bots itself, and `limits.practice` allows no more")
        most = limits.practice_per_address
        if network and sum(self._wishes[player].network == network for player in self._here) >= most:
            raise Unwelcome(
                f"the host plays {most} bots from your address itself, "
                "and `limits.practice_per_address` allows no more"
            )

    def _changed(self, player: Player) -> None:
        """A player came, went or is free."""
        if player.kind is Kind.HOUSE and not player.engaged:
            _rest(player)
        if player not in self._wishes:
            return
        if player.retired or not (player.place or "").startswith(OPEN):
            self._forget(player)
        elif player.seat is not None:
            pass
        elif not player.present:
            self._dismiss(player)
        else:
            try:
                self._come(player)  # it has come back without a word
            except Unwelcome as unwelcome:
                log.info("no room for a house player", player=player.name, why=str(unwelcome))

    def _forget(self, challenger: Player) -> None:
        del self._wishes[challenger]
        self._dismiss(challenger)

    def _dismiss(self, challenger: Player) -> None:
        if (house := self._here.pop(challenger, None)) is not None:
            house.leave()


def _expect_another(wanted: str, name: str, own: Iterable[str]) -> None:
    """Raise `Unwelcome` if no other bot can ever have that name: a bot would wait for it for ever."""
    names = ", ".join(own)
    try:
        checked(wanted)
    except BadName as error:
        raise Unwelcome(f"no opponent can have that name: {error}; the host's own are {names}") from None
    if key(wanted) == key(name):
        raise Unwelcome(f"a bot cannot play itself, and {name} is its own name; the host's own are {names}")


def _rest(player: Player) -> None:
    """Between two matches: leave after the last, else be present, even after having hung up."""
    if player.matches_left == 0:
        player.retire()
    else:
        player.back()


def _never() -> bool:
    """The `stop` of a brain that needs next to no time: its time is never up."""
    return False


def _time_is_up() -> bool:
    """The `stop` of a brain that has to move at once, however long it would like to think."""
    return True
