"""Who may come in under which name, and who may come back.

A name belongs to the bot that is here under it. A name that was given a token
belongs to whoever has the token: from any door, in the middle of a match, as
often as is reasonable. Bots of the old protocols have no tokens: when their
connection is gone, they are gone too.
"""

import hmac
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from itertools import islice

import trio

from server.host.look_alikes import alike
from server.host.names import BadName, LatelyReserved, checked, key
from server.host.roll import Roll
from server.host.secrets import token_digest
from server.host.unwelcome import Guessing, TooManyNames, Unwelcome, wait_for_next
from server.host.visits import REPLACED, Key, Present, Visit
from server.net.budgets import Budgets, address_of
from server.net.limits import Bucket, Limits
from tournament.facts import Called
from tournament.lobby import Lobby
from tournament.player import NOWHERE, Player
from tournament.refusals import Refusal

SHORTEST = 16  # characters of a token that a bot may bring along: 96 bits, if it was one of ours
AT_A_TIME = 100  # names that are looked at in one go, to forget some
LATEST = 8  # visits under one name that are looked at when somebody else comes: any number may share it


class Claim:
    """A name that belongs to a token."""

    __slots__ = ("acknowledged", "called", "digest", "name", "player", "takeovers")

    def __init__(self, name: str, digest: bytes) -> None:
        self.name = name
        self.digest = digest
        self.acknowledged = False  # until then the bot may never have got its token
        self.called = False  # to its matches: that it plays does not show that it has got its token
        self.player: Player | None = None
        self.takeovers: Bucket | None = None  # made when needed: few names are ever taken over

    def goes_with(self, token: str) -> bool:
        """Whether this is the token that the name belongs to."""
        return hmac.compare_digest(self.digest, token_digest(token))

    @property
    def plays_on(self) -> bool:
        """Whether its bot has come back to a match by itself, before it has shown its token."""
        return self.player is not None and self.player.seat is not None and self.player.present


class Reception:
    def __init__(self, lobby: Lobby, limits: Limits, roll: Roll | None = None) -> None:
        alike()  # read now: later there may be no file left to open, and matches would wait for it
        self._lobby = lobby
        self._limits = limits
        self._roll = roll or Roll()
        self._visits: dict[Key, list[Visit]] = {}  # those that hold a player now
        self._shared = Counter[tuple[Key, str]]()  # how many of them share a name, spelled like that
        self._claims: dict[Key, Claim] = {}
        self._gone: OrderedDict[Key, float] = OrderedDict()  # claims whose bots are away: since when
        self._failures = Budgets(limits.wrong_tokens)
        self._new_names = Budgets(limits.new_names)
        self.acknowledged: Callable[[Visit], None] = lambda visit: None  # when a name becomes a bot's
        # Called with a name under which somebody has a place from now on, was refused, or is gone.
        self.moved: Callable[[Key], None] = lambda where: None

    def arrive(
        self,
        name: str,
        game: str,
        *,
        token: str | None = None,
        keeps: bool = True,
        shared: bool = False,
        door: str = "",
        peer: str = "",
        unheard: Visit | None = None,
        may_take_over: Callable[[Player], None] = lambda player: None,
    ) -> Visit:
        """Let a bot in, or back in. `keeps` gives it a token to come back with.

        Bots that come `shared` may have the same name, but only if all of them do, and spell it alike.
        `unheard` is a visit of the same bot, as the door knows: unless its token was seen to arrive, it is
        given another. Before a player goes over to whoever has its token, `may_take_over` may raise a reason
        why not.
        """
        try:
            name = checked(name)
        except LatelyReserved as error:
            if not self._roll.knows(name, game):  # an entrant keeps its name
                raise Unwelcome(str(error)) from None
        except BadName as error:
            raise Unwelcome(str(error)) from None
        where = (game, key(name))
        claim, here = self._claims.get(where), self._visits.get(where, [])
        if claim is not None and token is not None and claim.goes_with(token):
            if here and claim.player is not None:
                may_take_over(claim.player)
            return self._back(where, claim, token, peer)
        if claim is not None and not claim.acknowledged and unheard is not None and self.holds(unheard):
            may_take_over(unheard.player)
            token = secrets.token_urlsafe(16)
            claim.digest = token_digest(token)
            return self._back(where, claim, token, peer, has_it=False)
        if claim is not None and (claim.acknowledged or here or claim.plays_on):
            self.failed(peer, token)
            if claim.name != name:
                raise Unwelcome(
                    f"the name {name} is taken by one that looks like it, and this is not its token: "
                    "come under another name, or bring its token"
                )
            raise Unwelcome(
                f"the name {name} is taken, and this is not its token: "
                "come under another name, or bring its token"
            )
        if here and not (shared and self._shared[where, name] == len(here)):
            if here[-1].player.name != name:
                raise Unwelcome(f"the name {name} is taken: somebody is here under one that looks like it")
            raise Unwelcome(f"the name {name} is taken: somebody is here under it")
        self.expect_no_seat_of_others(name, game, door, peer, token)
        if not here and not self._roll.knows(name, game):
            self._expect_credit(peer)
        if claim is not None:  # whose token was never seen to arrive
            self._forget(where)
        if not keeps:
            return self._visit(where, self._lobby.enter(name, game, NOWHERE), None, None, peer, shared)
        token = token if token is not None and is_token(token) else secrets.token_urlsafe(16)
        claim = self._claims[where] = Claim(name, token_digest(token))
        claim.player = self._lobby.enter(name, game, NOWHERE)
        return self._visit(where, claim.player, token, claim.digest, peer)

    def expect_no_seat_of_others(
        self, name: str, game: str, door: str, peer: str, token: str | None = None
    ) -> None:
        """Raise `Unwelcome` if a tournament keeps that name for a bot from another door or address."""
        came = (name, door, address_of(peer))
        if any((seat.name, seat.door, seat.address) != came for seat in self._roll.seats(name, game)):
            self.failed(peer, token)
            raise Unwelcome(taken(name))

    def await_return(self, player: Player, *, shared: bool) -> Visit:
        """Hold a player for a bot without a token that was playing when the host stopped."""
        visit = self._visit((player.game, key(player.name)), player, None, None, "", shared)
        self.moved(visit.key)
        return visit

    def recall(self, name: str, game: str, called: Called, place: str, *, arrived: bool) -> Visit | None:
        """Hold a name for a bot that is called to its matches; None if somebody else has it by now.

        `arrived`: its token is known to have arrived, as in `restore`.
        """
        where = (game, key(name))
        if where in self._visits:
            return None
        self.restore(name, game, called.digest, place, arrived=arrived, called=True)
        claim = self._claims[where]
        player = claim.player
        if claim.digest.hex() != called.digest or player is None or player.retired:
            return None
        if player.place != place and player.seat is not None:
            return None
        self._gone.pop(where, None)
        player.for_one_match = False
        player.move_to(place)
        visit = self._visit(where, player, None, claim.digest, called.address)
        visit.resumes = True
        self.moved(where)
        return visit

    def is_held(self, player: Player) -> bool:
        """Whether a bot is here as that player, or the player is held for one."""
        return any(visit.player is player for visit in self._visits.get((player.game, key(player.name)), ()))

    def held(self, name: str, game: str) -> Sequence[Visit]:
        """The visits of those who are here under that name, or for whom it is held; of many, the latest."""
        return self._visits.get((game, key(name)), [])[-LATEST:]

    def is_free(self, name: str, game: str) -> bool:
        """Whether the name belongs to nobody, and nobody is here under it."""
        where = (game, key(name))
        return where not in self._claims and where not in self._visits

    def owner(self, player: Player) -> str | None:
        """The digest of the token to which a player's name belongs, in hexadecimal, if it came with one."""
        claim = self._claims.get((player.game, key(player.name)))
        return None if claim is None or claim.player is not player else claim.digest.hex()

    def is_contested(self, name: str, game: str, token: str) -> bool:
        """Whether whoever has this token has taken over so often that it has to wait, if somebody is here."""
        claim = self._claims.get((game, key(name)))
        if claim is None or claim.takeovers is None or not claim.goes_with(token):
            return False
        return not claim.takeovers.has_one(trio.current_time())

    def is_playing(self, name: str, game: str, token: str | None) -> bool:
        """Whether a bot that comes like that comes back to a match."""
        claim = self._claims.get((game, key(name)))
        if claim is None or token is None or claim.player is None or claim.player.seat is None:
            return False
        return claim.goes_with(token)

    def present(self, where: Key) -> Present | None:
        """Who is here under a name, if somebody has a place."""
        visits = [visit for visit in self._visits.get(where, ()) if visit.player.place != NOWHERE]
        if not visits:
            return None
        claim = self._claims.get(where)
        digest = "" if claim is None else claim.digest.hex()
        return Present(visits[-1].player.place or "", digest, all(visit.shared for visit in visits))

    def holds(self, visit: Visit) -> bool:
        return visit in self._visits.get(visit.key, ())

    def acknowledge(self, visit: Visit) -> None:
        if visit.token is not None and self.holds(visit):
            claim = self._claims[visit.key]
            if not claim.acknowledged:
                claim.acknowledged = True
                self.acknowledged(visit)

    def digest(self, visit: Visit) -> str | None:
        """The digest of the token to which this visitor's name belongs, if there is one."""
        claim = self._claims.get(visit.key)
        return claim.digest.hex() if claim is not None and claim.acknowledged else None

    def restore(
        self, name: str, game: str, digest: str, place: str, *, arrived: bool = True, called: bool = False
    ) -> None:
        """Give a name back to the bot that had it before a restart, as an absent player of `place`.

        Unless its token was seen to have `arrived`, the first bot to come has the name. Its own bot
        may have come to this host in vain, before this host held its tournament.
        """
        where = (game, key(name))
        known = self._claims.get(where)
        if known is not None and where in self._gone and known.digest.hex() == digest:
            player = known.player
            if player is None or player.retired or (player.place != place and player.seat is None):
                self._forget(where)
        if where not in self._claims:
            claim = Claim(name, bytes.fromhex(digest))
            claim.acknowledged, claim.called = arrived, called
            claim.player = self._lobby.enter(name, game, place, present=False)
            self._claims[where], self._gone[where] = claim, trio.current_time()

    def trust(self, name: str, game: str, player: Player | None = None) -> None:
        """Whoever had the name, if that is this `player`, has said something since it was told its token.

        A bot that was called may have been told its match and not its token.
        """
        claim = self._claims.get((game, key(name)))
        if claim is not None and not claim.called and player in (None, claim.player):
            claim.acknowledged = True

    def invite(self, name: str, game: str, place: str) -> str:
        """A token to claim the name with; any earlier token for it becomes invalid.

        Raises `Unwelcome` if its bot is here. A bot that has a token for another spelling keeps its name if
        it is here or awaited, and this raises `Refusal`; else its name is free.
        """
        where, token = (game, key(name)), secrets.token_urlsafe(16)
        self._expect_no_look_alike(where, name)
        if self._visits.get(where):
            raise Unwelcome(f"{name} is here already")
        if (claim := self._claims.get(where)) is not None and claim.name != name:
            self._forget(where)
            claim = None
        if claim is not None:
            claim.digest, claim.acknowledged = token_digest(token), True
        else:
            self.restore(name, game, token_digest(token).hex(), place)
        return token

    def _expect_no_look_alike(self, where: Key, name: str) -> None:
        """Raise `Refusal` if a bot that is here, plays or is awaited spells the name differently."""
        claim = self._claims.get(where)
        held = [visit.player for visit in self._visits.get(where, ())]
        if claim is not None and claim.player is not None:
            awaited = claim.player.seat is not None or self._roll.awaits(claim.name, where[0])
            held += [claim.player] if awaited else []
        for player in held:
            if player.name != name:
                raise Refusal(f"people would take {name} for {player.name}, and that name is in use")

    def bind(self, name: str, game: str, place: str) -> str:
        """Like `invite`, for a name whose bot may be here: any token that it has becomes invalid."""
        where, here = (game, key(name)), self._visits.get((game, key(name)))
        if not here:
            return self.invite(name, game, place)
        token = secrets.token_urlsafe(16)
        if where not in self._claims:
            self._claims[where] = Claim(name, b"")
        claim = self._claims[where]
        claim.digest, claim.acknowledged, claim.player = token_digest(token), True, here[-1].player
        return token

    def replace(self, name: str, game: str, before: str, after: str) -> None:
        """Have a name that belongs to the token with the digest `before` belong to the one with `after`."""
        where = (game, key(name))
        claim = self._claims.get(where)
        if claim is not None and claim.name == name and claim.digest.hex() == before:
            claim.digest, claim.acknowledged = bytes.fromhex(after), True
            self.moved(where)

    def leave(self, visit: Visit, for_good: bool) -> None:
        if not self.holds(visit):
            return  # another visit has taken over the player
        self._visits[visit.key].remove(visit)
        if not self._visits[visit.key]:
            del self._visits[visit.key]
        self._share_no_more(visit)
        self.moved(visit.key)
        claim = self._claims.get(visit.key)
        if claim is not None and claim.player is visit.player:
            self._gone[visit.key] = trio.current_time()
            self._gone.move_to_end(visit.key)
        if for_good or visit.token is None:
            visit.player.retire()
        else:
            visit.player.away()

    def dismiss(self, player: Player, why: Unwelcome) -> None:
        """Hang up on the bots that are here as that player."""
        for visit in tuple(self._visits.get((player.game, key(player.name)), ())):
            if visit.player is player:
                visit.replaced(str(why))

    def give_way(self, where: Key, leaving: Visit | None = None) -> None:
        """Whoever has the token of the bot that is here under a name has gone to another process.

        It has a place here of its own if it is `leaving`, and has not been replaced in that.
        """
        for visit in tuple(self._visits.get(where, ())):
            if visit is not leaving:
                visit.replaced(REPLACED)

    def forget(self, awaited: Callable[[Player], bool], kept: float) -> bool:
        """Free names whose bots have been gone for this many seconds and are awaited nowhere.

        Frees only some of them, those gone longest; returns whether there may be more.
        """
        now = trio.current_time()
        long = [where for where, gone in islice(self._gone.items(), AT_A_TIME) if now - gone >= kept]
        for where in long:
            player = self._claims[where].player
            if player is not None and awaited(player):
                self._gone[where] = now
                self._gone.move_to_end(where)
            else:
                self._forget(where)
        return len(long) == AT_A_TIME

    def drop(self, player: Player) -> None:
        """Free the name of a bot that is gone, whether it has a token or not."""
        where = (player.game, key(player.name))
        claim = self._claims.get(where)
        if claim is not None and claim.player is player and where in self._gone:
            self._forget(where)

    def _forget(self, where: Key) -> None:
        claim = self._claims.pop(where)
        self._gone.pop(where, None)
        if claim.player is not None and not claim.player.for_one_match:  # else its bot may come to that
            claim.player.retire()

    def _back(self, where: Key, claim: Claim, token: str, peer: str, *, has_it: bool = True) -> Visit:
        """Let in the bot that has the token, or is given it, and send away any that has the name."""
        if self._visits.get(where):
            self._expect_takeover(claim)
        for old in self._visits.pop(where, []):
            self._share_no_more(old)
            old.replaced(REPLACED)
        claim.acknowledged = has_it
        self._gone.pop(where, None)
        if claim.player is None or claim.player.retired:
            claim.player = self._lobby.enter(claim.name, where[0], NOWHERE)
        claim.player.for_one_match = False
        claim.player.back()
        visit = self._visit(where, claim.player, token, claim.digest, peer)
        visit.returned = True
        return visit

    def _expect_takeover(self, claim: Claim) -> None:
        now, most = trio.current_time(), self._limits.takeovers
        if claim.takeovers is None:
            claim.takeovers = Bucket(most, now)
        if not claim.takeovers.take(now):
            raise Unwelcome(f"the name {claim.name} is being taken over too often: {wait_for_next(most)}")

    def _visit(
        self,
        where: Key,
        player: Player,
        token: str | None,
        digest: bytes | None,
        peer: str,
        shared: bool = False,
    ) -> Visit:
        visit = Visit(self, where, player, token, digest, peer, shared)
        self._visits.setdefault(where, []).append(visit)
        if shared:
            self._shared[where, player.name] += 1
        return visit

    def _share_no_more(self, visit: Visit) -> None:
        """A visit is over: a name may be shared by thousands, so they are counted and not looked at."""
        spelled = visit.key, visit.player.name
        if visit.shared:
            self._shared[spelled] -= 1
            if not self._shared[spelled]:
                del self._shared[spelled]

    def failed(self, peer: str, token: str | None) -> None:
        """Count a wrong token; raises `Guessing` for an address that has come with too many."""
        if token is None:
            return
        if not self._failures.take(peer, trio.current_time()):
            most = self._limits.wrong_tokens
            raise Guessing(f"too many wrong tokens came from your address: {wait_for_next(most)}", most)

    def _expect_credit(self, peer: str) -> None:
        if not self._new_names.take(peer, trio.current_time()):
            most = self._limits.new_names
            rate = f"{most.credits} at once, and {most.credits / most.seconds:g} a second after that"
            raise TooManyNames(
                f"too many new names came from your address: `limits.new_names` allows {rate}", most
            )


def is_token(brought: str | None) -> bool:
    """Whether what a bot brings is a token, by which it can be recognised."""
    return brought is not None and len(brought) >= SHORTEST


def taken(name: str) -> str:
    """Why a name is taken, without a word about who has it, or one that looks like it."""
    return f"the name {name} is taken: ask the organiser, if it is yours"
