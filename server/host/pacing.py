"""How much the bots of one address play where there is no end: all of it is kept for ever.

Two bots of one author play hundreds of matches a second against each other, which is fifty gigabytes a day,
and a host without room on its disk stands still. So bots of an address that has played too much rest before
their next match. Nobody else waits for them, and nobody rests in a tournament that has an end.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping

import msgspec
import structlog
import trio

from server.net.admission import network_of
from server.net.budgets import MOST
from server.net.guard import Spawner
from server.net.limits import Limits
from tournament.facts import AnyFact, Concluded
from tournament.lobby import Lobby
from tournament.player import Player
from tournament.tournament import Tournament

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
    def __init__(
        self,
        lobby: Lobby,
        limits: Limits,
        tournaments: Mapping[str, Tournament],
        spawner: Callable[[], Spawner],
    ) -> None:
        self._limits = limits
        self._tournaments = tournaments
        self._spawner = spawner
        self._spent: OrderedDict[str, Spending] = OrderedDict()  # by address; that which spent last is last
        self._resting: dict[str, set[Player]] = {}  # by address: those who rest until it owes nothing
        lobby.listen(self._changed)

    def came(self, player: Player, peer: str) -> None:
        """A bot was let in: it rests if others of its address have played too much, or itself before."""
        address = network_of(peer, self._limits.trust_loopback)
        if address != player.address and not player.rested:
            self._resting.get(player.address, set()).discard(player)
            player.set_rested(True)
        player.address = address
        self.have_rest(player)

    def hear(self, tournament: Tournament, fact: AnyFact) -> None:
        """A match without an end is paid for when it is kept, and its players may have to rest after it."""
        if not isinstance(fact, Concluded) or not tournament.record.format.endless:
            return
        players = tournament.players(fact.match)  # one that is gone before the end pays as well
        if addresses := {player.address for player in players if player.address}:
            size = BESIDE + len(msgspec.json.encode(fact))
            for address in addresses:
                self._spend(address, size)
            for player in players:
                self.have_rest(player)

    def have_rest(self, player: Player) -> None:
        """Have a bot rest if its address has played too much, and it plays where there is no end."""
        here = self._tournaments.get(player.place or "")
        if here is None or not here.record.format.endless or player.retired:
            return
        if player.rested and self._owes(player.address) > 0:
            player.set_rested(False)
            self._say(player.address)
            self._put_to_rest(player)

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

    def _put_to_rest(self, player: Player) -> None:
        if (others := self._resting.get(player.address)) is not None:
            others.add(player)
        else:
            self._resting[player.address] = {player}
            self._spawner().start_soon(self._rest, player.address)

    async def _rest(self, address: str) -> None:
        while (owes := self._owes(address)) > 0:  # noqa: ASYNC110 - it is time
            await trio.sleep(owes)  # others of the address may have played meanwhile
        for player in self._resting.pop(address):
            if self._owes(player.address) <= 0:  # otherwise it has come from another one since, and rests
                player.set_rested(True)

    def _changed(self, player: Player) -> None:
        """One that is gone rests no more, unless it has agreed to a match."""
        if player.retired and not (player.rested or player.reserved):
            self._resting.get(player.address, set()).discard(player)

    def _say(self, address: str) -> None:
        spending, now = self._spent[address], trio.current_time()
        if now >= spending.told + QUIET:
            spending.told = now
            rate = self._limits.table_bytes
            most = f"`limits.table_bytes`, {rate.credits:,} bytes in {rate.seconds:g} s"
            why = f"what they play takes more than {most}"
            log.info("bots rest between matches", address=address, why=why)
