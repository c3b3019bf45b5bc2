"""How much the bots of one address play where there is no end: all of it is kept for ever.

Two bots of one author play hundreds of matches a second against each other, which is fifty gigabytes a day,
and a host without room on its disk stands still. So bots of an address that has played too much rest before
their next match. Nobody else waits for them, and nobody rests in a tournament that has an end.
"""

from collections import OrderedDict
from collections.abc import Callable

import msgspec
import structlog
import trio

from server.host.view import HeldTournament
from server.net.admission import network_of
from server.net.budgets import MOST
from server.net.guard import Spawner
from server.net.limits import Limits
from tournament.facts import AnyFact, Concluded
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

    def came(self, player: Player, peer: str, *, endless: bool) -> None:
        """A bot was let in: it rests if others of its address have played too much, or itself before."""
        player.address = network_of(peer, self._limits.trust_loopback)
        if endless:
            self._have_rest(player)

    def hear(self, tournament: HeldTournament, fact: AnyFact) -> None:
        """A match without an end was kept: it is paid for, and its players may have to rest after it."""
        if not isinstance(fact, Concluded) or not tournament.record.format.endless:
            return
        game = tournament.record.opened.game
        players = [
            player
            for name in fact.players
            for player in self._lobby.named(name, game)
            if player.address and player.seat is not None and player.seat.match.name == fact.match
        ]
        if players:
            size = BESIDE + len(msgspec.json.encode(fact))
            for address in {player.address for player in players}:
                self._spend(address, size)
            for player in players:
                self._have_rest(player)

    def _spend(self, address: str, size: int) -> None:
        now, rate = trio.current_time(), self._limits.table_bytes
        spending = self._spent.pop(address, None) or Spending(now)
        spending.whole = max(spending.whole, now) + size * rate.seconds / rate.credits
        self._spent[address] = spending
        if len(self._spent) > MOST:
            self._spent.popitem(last=False)

    def _owes(self, address: str) -> float:
        """Seconds for which bots of an address have to rest."""
        spending = self._spent.get(address)
        return (
            0.0
            if spending is None
            else spending.whole - trio.current_time() - self._limits.table_bytes.seconds
        )

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
