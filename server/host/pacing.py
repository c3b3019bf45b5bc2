"""How much the bots of one address play where there is no end, and how often they miss a match there.

All that they play is kept for ever. Two bots of one author play hundreds of matches a second against each
other, which is fifty gigabytes a day, and a host without room on its disk stands still. A bot that is dealt
a match and does not come binds its opponent for seconds, and names are free to anybody: whoever came under
a new one for each match would bind everybody. So bots of an address that has played too much, or missed too
many matches, rest before their next one. Nobody else waits for them, and nobody rests in a tournament that
has an end.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import msgspec
import structlog
import trio

from server.net.admission import network_of
from server.net.budgets import MOST
from server.net.guard import Spawner
from server.net.limits import Limits, Rate
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded
from tournament.kinds import with_the_house
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


class Spent:
    """What each address has spent of one limit. The address that spent longest ago is forgotten first."""

    def __init__(self, rate: Rate, why: str) -> None:
        """`why` bots rest of an address that has spent more."""
        self._rate = rate
        self._why = why
        self._by_address: OrderedDict[str, Spending] = OrderedDict()

    def spend(self, address: str, size: int) -> None:
        now, rate = trio.current_time(), self._rate
        spending = self._by_address.pop(address, None) or Spending(now)
        spending.whole = max(spending.whole, now) + size * rate.seconds / rate.credits
        self._by_address[address] = spending
        if len(self._by_address) > MOST:
            self._by_address.popitem(last=False)

    def owes(self, address: str) -> float:
        """Seconds for which bots of an address have to rest."""
        if (spending := self._by_address.get(address)) is None:
            return 0.0
        return spending.whole - trio.current_time() - self._rate.seconds

    def say(self, address: str) -> None:
        """Say in the log why bots of an address rest, if they do for this limit."""
        spending, now = self._by_address.get(address), trio.current_time()
        if spending is not None and self.owes(address) > 0 and now >= spending.told + QUIET:
            spending.told = now
            why = f"{self._why}, {self._rate.credits:,} in {self._rate.seconds:g} s"
            log.info("bots rest between matches", address=address, why=why)


class Pacing:
    def __init__(
        self,
        lobby: Lobby,
        limits: Limits,
        tournaments: Mapping[str, Tournament],
        spawner: Callable[[], Spawner],
    ) -> None:
        self._lobby = lobby
        self._limits = limits
        self._tournaments = tournaments
        self._spawner = spawner
        self._played = Spent(limits.table_bytes, "what they play takes more bytes than `limits.table_bytes`")
        self._missed = Spent(limits.missed_matches, "they miss more matches than `limits.missed_matches`")
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
                self._played.spend(address, size)
            self._note_missing(tournament, fact, players)
            for player in players:
                self.have_rest(player)

    def _note_missing(self, tournament: Tournament, fact: Concluded, players: Sequence[Player]) -> None:
        """Whoever did not come to a match, or was late without a move, has missed it.

        What two bots of one address do to each other concerns nobody else, and a house player has time.
        """
        if fact.ending not in (Ending.VOID, Ending.TIME) or with_the_house(fact.kinds):
            return
        missing = tournament.at_fault(fact.match)
        for player, other in zip(players, reversed(players), strict=True):
            binds = other.name not in missing and other.address != player.address
            if player.address and player.name in missing and binds:
                self._missed.spend(player.address, 1)
                self._have_all_rest(player.address)

    def _have_all_rest(self, address: str) -> None:
        """If an address owes anything, have its bots rest, those as well who wait for a match already."""
        if self._owes(address) > 0:
            for player in tuple(self._lobby.players()):
                if player.address == address:
                    self.have_rest(player)

    def have_rest(self, player: Player) -> None:
        """Have a bot rest if its address has played too much, and it plays where there is no end."""
        here = self._tournaments.get(player.place or "")
        if here is None or not here.record.format.endless or player.retired:
            return
        if player.rested and self._owes(player.address) > 0:
            player.set_rested(False)
            for spent in (self._played, self._missed):
                spent.say(player.address)
            self._put_to_rest(player)

    def _owes(self, address: str) -> float:
        """Seconds for which bots of an address have to rest."""
        return max(self._played.owes(address), self._missed.owes(address))

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
