"""How much the bots of one address play where there is no end: all of it is kept for ever.

Two bots of one author play hundreds of matches a second against each other, which is fifty gigabytes a day,
and a host without room on its disk stands still. So bots of an address that has played too much rest before
their next match. Nobody else waits for them, and nobody rests in a tournament that has an end.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable

import msgspec
import structlog
import trio

from server.host.view import HeldTournament
from server.net.admission import network_of
from server.net.budgets import MOST
from server.net.guard import Spawner
from server.net.limits import Limits
from tournament.facts import AnyFact, Concluded, Dealt, State, Turned
from tournament.lobby import Lobby
from tournament.player import Player

BESIDE = 700  # bytes that a match takes besides its end: its pairing, its deal, and its place in indexes
QUIET = 600.0  # seconds between two lines of the log about one address

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Spending:
    """What one address has spent: by when it would have all of its credits again."""

    __slots__ = ("told", "whole")

    def __init__(self, now: float) -> None:
        self.whole = now
        self.told = now - QUIET  # when the log has last said that its bots rest


class Pacing:
    def __init__(self, lobby: Lobby, limits: Limits, spawner: Callable[[], Spawner]) -> None:
        self._lobby = lobby
        self._limits = limits
        self._spawner = spawner
        self._spent: OrderedDict[str, Spending] = OrderedDict()  # by address; that which spent last is last
        # Who pays for a match in play: addresses, by the name under which its tournament is kept, and its own
        self._playing: dict[tuple[str, str], set[str]] = {}

    def came(self, player: Player, peer: str, *, endless: bool) -> None:
        """A bot was let in: it rests if others of its address have played too much, or itself before."""
        player.address = network_of(peer, self._limits.trust_loopback)
        if endless:
            self._have_rest(player)

    def hear(self, tournament: HeldTournament, fact: AnyFact) -> None:
        """A match without an end is paid for when it is kept, and its players may have to rest after it."""
        record = tournament.record
        if not record.format.endless:
            return
        game = record.opened.game
        match fact:
            case Dealt():  # a bot that is gone before the end pays as well
                names = record.drawn[fact.pairing].names
                if addresses := {player.address for player in self._named(names, game) if player.engaged}:
                    self._playing[record.kept_as, fact.match] = addresses
            case Concluded():
                addresses = self._playing.pop((record.kept_as, fact.match), None)
                players = self._named(fact.players, game)
                if addresses is None:  # it began before the host was started
                    addresses = {player.address for player in players if player.seat is not None}
                size = BESIDE + len(msgspec.json.encode(fact)) if addresses else 0
                for address in addresses:
                    self._spend(address, size)
                for player in players:
                    self._have_rest(player)
            case Turned(state=State.DELETED):
                for which in [each for each in self._playing if each[0] == record.kept_as]:
                    del self._playing[which]
            case _:
                pass

    def _named(self, names: Iterable[str], game: str) -> list[Player]:
        """Those of these names whose addresses are counted."""
        return [player for name in names for player in self._lobby.named(name, game) if player.address]

    def _spend(self, address: str, size: int) -> None:
        now, rate = trio.current_time(), self._limits.table_bytes
        spending = self._spent.pop(address, None) or Spending(now)
        spending.whole = max(spending.whole, now) + size * rate.seconds / rate.credits
        self._spent[address] = spending
        if len(self._spent) > MOST:
            self._spent.popitem(last=False)

    def _owes(self, address: str) -> float:
        """Seconds for which bots of an address have to rest."""
        if (spending := self._spent.get(address)) is None:
            return 0.0
        return spending.whole - trio.current_time() - self._limits.table_bytes.seconds

    def _have_rest(self, player: Player) -> None:
        if player.rested and self._owes(player.address) > 0:
            player.set_rested(False)
            self._say(player.address)
            self._spawner().start_soon(self._rest, player)

    async def _rest(self, player: Player) -> None:
        while (owes := self._owes(player.address)) > 0 and not player.rested:  # noqa: ASYNC110 - it is time
            await trio.sleep(owes)  # others of its address may have played meanwhile
        player.set_rested(True)

    def _say(self, address: str) -> None:
        spending, now = self._spent[address], trio.current_time()
        if now >= spending.told + QUIET:
            spending.told = now
            rate = self._limits.table_bytes
            most = f"`limits.table_bytes`, {rate.credits:,} bytes in {rate.seconds:g} s"
            why = f"what they play takes more than {most}"
            log.info("bots rest between matches", address=address, why=why)
