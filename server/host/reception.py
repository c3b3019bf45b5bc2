"""Who may come in under which name, and who may come back.

A name belongs to whoever is here under it. One that was given a token belongs
to whoever has the token: from any door, in the middle of a match, as often as
is reasonable. Bots of the old protocols have no tokens: when their connection
is gone, they are gone too.
"""

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable

import trio

from server.host.names import BadName, checked, key
from server.host.secrets import token_digest
from server.net.limits import Bucket, Limits
from tournament.lobby import Lobby
from tournament.player import Player

Key = tuple[str, str]  # the game, and the name as `key` has it
SHORTEST = 16  # characters of a token that a bot may bring along: 96 bits, if it was one of ours
ADDRESSES = 1000  # of peers whose failures are counted: whoever needs more has spread its guesses too thin

REPLACED = "somebody with the same token has taken over"


class Unwelcome(Exception):
    """Somebody cannot come in. The message is for the author of the bot."""


class Guessing(Unwelcome):
    """Too many wrong tokens: whoever holds the line hangs up."""


class Visit:
    """One connection's hold on a player. The player may outlive it, and may be held by another by then."""

    def __init__(
        self, reception: "Reception", key: Key, player: Player, token: str | None, peer: str, shared: bool
    ) -> None:
        self.player = player
        self.token = token  # to come back with; None for bots that cannot
        self.peer = peer
        self.key = key
        self.shared = shared  # others who share it may have the name as well
        self.returned = False  # the player was known: it may have a seat somewhere
        self.replaced: Callable[[str], None] = lambda why: (
            None
        )  # called when another connection has taken over
        self._reception = reception

    @property
    def digest(self) -> bytes | None:
        """By which its token can be known again."""
        return None if self.token is None else token_digest(self.token)

    @property
    def current(self) -> bool:
        return self._reception.holds(self)

    def acknowledge(self) -> None:
        """The bot has said something since it was told its token: it must have it."""
        self._reception.acknowledge(self)

    def leave(self, *, for_good: bool = False) -> None:
        """The connection is gone. A player that can come back keeps its seat for a while."""
        self._reception.leave(self, for_good)


class Claim:
    """A name that belongs to a token."""

    def __init__(self, name: str, digest: bytes, now: float, limits: Limits) -> None:
        self.name = name
        self.digest = digest
        self.acknowledged = False  # until then the bot may never have got its token
        self.player: Player | None = None
        self.gone_since: float | None = None
        self.takeovers = Bucket(limits.takeovers, now)


class Reception:
    def __init__(self, lobby: Lobby, limits: Limits) -> None:
        self._lobby = lobby
        self._limits = limits
        self._visits: dict[Key, list[Visit]] = {}  # that hold a player now
        self._claims: dict[Key, Claim] = {}
        self._failures: OrderedDict[str, Bucket] = OrderedDict()  # of addresses that came with a wrong token
        self.acknowledged: Callable[[Visit], None] = lambda visit: None  # told when a name has become a bot's

    def arrive(
        self,
        name: str,
        game: str,
        *,
        token: str | None = None,
        keeps: bool = True,
        shared: bool = False,
        peer: str = "",
    ) -> Visit:
        """Come in, or back. `keeps` gives a token to come back with.

        Those who come `shared` may have the name with others who do, and with nobody else.
        """
        try:
            name = checked(name, game)
        except BadName as error:
            raise Unwelcome(str(error)) from None
        where = (game, key(name))
        claim, here = self._claims.get(where), self._visits.get(where, [])
        if claim is not None and token is not None and hmac.compare_digest(claim.digest, token_digest(token)):
            return self._back(where, claim, token, peer)
        if claim is not None and (claim.acknowledged or here):
            self.failed(peer, token)
            raise Unwelcome(f"the name {name} is taken, and this is not its token")
        if here and not (shared and all(visit.shared for visit in here)):
            raise Unwelcome(f"the name {name} is taken: somebody is here under it")
        if claim is not None:  # its token was never seen to arrive
            del self._claims[where]
            if claim.player is not None:
                claim.player.retire()
        if not keeps:
            return self._visit(where, self._lobby.enter(name, game), None, peer, shared)
        token = token if token is not None and len(token) >= SHORTEST else secrets.token_urlsafe(16)
        claim = self._claims[where] = Claim(name, token_digest(token), trio.current_time(), self._limits)
        claim.player = self._lobby.enter(name, game)
        return self._visit(where, claim.player, token, peer)

    def holds(self, visit: Visit) -> bool:
        return visit in self._visits.get(visit.key, ())

    def acknowledge(self, visit: Visit) -> None:
        if visit.token is not None and self.holds(visit):
            claim = self._claims[visit.key]
            if not claim.acknowledged:
                claim.acknowledged = True
                self.acknowledged(visit)

    def digest(self, visit: Visit) -> str | None:
        """What is known of the token that this visitor's name belongs to, if it belongs to one."""
        claim = self._claims.get(visit.key)
        return claim.digest.hex() if claim is not None and claim.acknowledged else None

    def restore(self, name: str, game: str, digest: str, place: str) -> None:
        """A name was somebody's before the host started again: an absent player's, who is awaited there."""
        where = (game, key(name))
        if where not in self._claims:
            claim = Claim(name, bytes.fromhex(digest), trio.current_time(), self._limits)
            claim.acknowledged, claim.gone_since = True, trio.current_time()
            claim.player = self._lobby.enter(name, game)
            claim.player.place = place
            claim.player.away()
            self._claims[where] = claim

    def invite(self, name: str, game: str, place: str) -> str:
        """A token to claim the name with; any earlier token for it becomes invalid."""
        where, token = (game, key(name)), secrets.token_urlsafe(16)
        if self._visits.get(where):
            raise Unwelcome(f"{name} is here already, and needs no invitation")
        if (claim := self._claims.get(where)) is not None:
            claim.digest, claim.acknowledged = token_digest(token), True
        else:
            self.restore(name, game, token_digest(token).hex(), place)
        return token

    def leave(self, visit: Visit, for_good: bool) -> None:
        if not self.holds(visit):
            return  # somebody else has taken over: what it holds is not ours to clear
        self._visits[visit.key].remove(visit)
        if not self._visits[visit.key]:
            del self._visits[visit.key]
        claim = self._claims.get(visit.key)
        if claim is not None and claim.player is visit.player:
            claim.gone_since = trio.current_time()
        if for_good or visit.token is None:
            visit.player.retire()
        else:
            visit.player.away()

    def forget(self, awaited: Callable[[Player], bool], kept: float) -> None:
        """Give names free whose bots have been gone for so many seconds and are awaited nowhere."""
        now = trio.current_time()
        for where, claim in tuple(self._claims.items()):
            player, gone = claim.player, claim.gone_since
            if player is None or gone is None or now - gone < kept or awaited(player):
                continue
            player.retire()
            del self._claims[where]

    def _back(self, where: Key, claim: Claim, token: str, peer: str) -> Visit:
        """Whoever has the token is let in at once, in the place of whoever else is."""
        if self._visits.get(where) and not claim.takeovers.take(trio.current_time()):
            raise Unwelcome(f"the name {claim.name} is being taken over too often: wait for a minute")
        for old in self._visits.pop(where, []):
            old.replaced(REPLACED)
        claim.acknowledged = True
        claim.gone_since = None
        if claim.player is None or claim.player.retired:
            claim.player = self._lobby.enter(claim.name, where[0])
        claim.player.back()
        visit = self._visit(where, claim.player, token, peer)
        visit.returned = True
        return visit

    def _visit(self, where: Key, player: Player, token: str | None, peer: str, shared: bool = False) -> Visit:
        visit = Visit(self, where, player, token, peer, shared)
        self._visits.setdefault(where, []).append(visit)
        return visit

    def failed(self, peer: str, token: str | None) -> None:
        """Count a wrong token; raises `Guessing` for an address that has come with too many."""
        if token is None:
            return
        now = trio.current_time()
        bucket = self._failures.setdefault(peer, Bucket(self._limits.wrong_tokens, now))
        self._failures.move_to_end(peer)
        while len(self._failures) > ADDRESSES:
            self._failures.popitem(last=False)
        if not bucket.take(now):
            raise Guessing("too many wrong tokens came from your address: wait for a minute")
