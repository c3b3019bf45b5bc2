"""Names that belong, in a tournament, to the bot with their token: it was invited, or came with one.

The reception knows whose a name is now; the tournament keeps that over restarts.
"""

from collections.abc import Callable, Iterator, Mapping

import trio
from msgspec import Struct

from server.host.calling import kept_if_there
from server.host.current import ENDS
from server.host.names import BadName, checked
from server.host.reception import Reception
from server.host.roll import Roll
from server.host.secrets import token_digest
from server.host.unwelcome import Unwelcome
from server.host.visits import Visit
from server.net.budgets import address_of
from tournament.desk import NOTHING, About, Desk
from tournament.facts import Claimed, State
from tournament.match import Match
from tournament.player import CALLED, UNSEEN, Player
from tournament.record import Record
from tournament.refusals import Refusal, Senseless, admits
from tournament.tournament import Tournament

PIECE = 100  # names that are kept again before other tasks get their turn: some four milliseconds


def way_back(visit: Visit, *, has_it: bool) -> str | None:
    """What brings a bot back to a match after a restart, or None; `has_it`: it has its token for certain."""
    if not visit.resumes or visit.digest is None:
        return None
    return ("" if has_it else UNSEEN) + visit.digest.hex()


class Replaced(Struct, frozen=True, array_like=True):
    """A name that belongs to another token than before, as another process has to know it."""

    name: str
    game: str
    before: str  # digests of the tokens, in hexadecimal
    after: str


class Claims:
    def __init__(self, reception: Reception, roll: Roll, tournaments: Mapping[str, Tournament]) -> None:
        """`tournaments` are those that this process holds."""
        self._reception = reception
        self._roll = roll
        self._tournaments = tournaments
        # Called with each name that belongs to another token by an organiser's order.
        self.replaced: Callable[[Replaced], object] = lambda replaced: None
        self._went_on: set[str] = set()  # tournaments that have gone on after their end, as they are kept
        self._in_turn = trio.Lock()  # for names that organisers let in: each is compared with those before it

    def entrant_name(self, tournament: Tournament, name: str) -> str:
        """The name without spaces around it, if an entrant may have it there; else raises `Refusal`."""
        record = tournament.record
        try:
            name = checked(name)
        except BadName as error:
            raise Senseless(str(error)) from None
        if (entrant := self._roll.alike(record, name)) is not None:
            raise Refusal(f"{record.name} has an entrant {entrant}, whom people would take for {name}")
        return name

    async def enter(self, tournament: Tournament, name: str, by: str, about: About = NOTHING) -> None:
        """Enter a bot by its name alone; raises `Refusal`."""
        async with self._in_turn:
            await Desk(tournament, by).enter(self.entrant_name(tournament, name), about)

    async def invite(self, tournament: Tournament, name: str, by: str, about: About = NOTHING) -> str:
        """Enter a bot that will come with the token that this returns: nobody else can use the name.

        Raises `Refusal`, also if another tournament has an entrant of that name.
        """
        async with self._in_turn:
            return await self._invite(tournament, name, by, about)

    async def _invite(self, tournament: Tournament, name: str, by: str, about: About) -> str:
        record, name = tournament.record, self.entrant_name(tournament, name)
        game, token = record.opened.game, ""

        def claim() -> str:
            nonlocal token
            for other in self._roll.awaiting(name, game):
                if other is not record:
                    raise _needless(record, name, f"{name} takes part in {other.name}")
            try:
                token = self._reception.invite(name, game, record.name)
            except Unwelcome as unwelcome:
                raise _needless(record, name, str(unwelcome)) from None
            return token_digest(token).hex()

        before = record.claims.get(name)
        await Desk(tournament, by).invite(name, claim, about)
        self._tell_replaced(name, game, before, token)
        return token

    async def bind(self, tournament: Tournament, name: str, by: str) -> str:
        """Have the name of an entrant belong to the token that this returns; raises `Refusal`.

        It does so in all tournaments of which this process knows that they await it: one that still had an
        earlier token would bring that back when the host is started again.
        """
        game, token = tournament.record.opened.game, ""

        def claim() -> str:
            nonlocal token
            token = self._reception.bind(name, game, tournament.record.name)
            return token_digest(token).hex()

        before = tournament.record.claims.get(name)
        await Desk(tournament, by).bind(name, claim)
        for other in [*self._roll.awaiting(name, game)]:
            if other is not tournament.record and other.name in self._tournaments:
                claimed = Claimed(name, token_digest(token).hex())
                await kept_if_there(self._tournaments[other.name], claimed)
        self._tell_replaced(name, game, before, token)
        return token

    def _tell_replaced(self, name: str, game: str, before: str | None, token: str) -> None:
        if before is not None:
            self.replaced(Replaced(name, game, before, token_digest(token).hex()))

    async def replace(self, replaced: Replaced) -> None:
        """Have a new token, given in another process, take the place of the earlier one where that counts.

        The name may belong to another bot here, which keeps its own token.
        """
        name, game, before, after = replaced.name, replaced.game, replaced.before, replaced.after
        self._reception.replace(name, game, before, after)
        for record in [*self._roll.awaiting(name, game)]:
            if record.claims.get(name) == before and record.name in self._tournaments:
                await kept_if_there(self._tournaments[record.name], Claimed(name, after))

    def new(self, visit: Visit, tournament: Tournament) -> Iterator[Claimed]:
        """The facts that the tournament has to keep so that the visitor has the name after a restart, too."""
        digest, record, name = self._reception.digest(visit), tournament.record, visit.player.name
        over = record.format.endless or record.state is State.FINISHED
        if digest is not None and not over and record.claims.get(name) != digest:
            yield Claimed(name, digest)

    def is_anothers(self, visit: Visit, door: str, record: Record) -> bool:
        """Whether the visitor took its name after a tournament's end, and that goes on with its own entrant.

        Everywhere else the visitor has a newer token, if the two differ.
        """
        if record.kept_as not in self._went_on:
            return False
        name, own = visit.player.name, None if visit.digest is None else visit.digest.hex()
        if (seat := record.seats.get(name)) is not None:
            return (seat.door, seat.address) != (door, address_of(visit.peer))
        return record.claims.get(name, own) != own

    def is_another_bots(self, player: Player, left: Record, record: Record) -> bool:
        """The same of somebody who is led on, out of the tournament that it has `left`."""
        if record.kept_as not in self._went_on:
            return False
        name, own = player.name, self._reception.owner(player)
        if (seat := record.seats.get(name)) is not None:
            return seat != left.seats.get(name)
        return record.claims.get(name, own) != own

    def restore_players(self, record: Record) -> None:
        """Await the players of the matches that were in play when the host stopped."""
        for match, keys in record.keys.items():
            for name, key in zip(record.drawn[record.dealt[match]].names, keys, strict=True):
                if digest := record.claims.get(name, key):
                    arrived, called = not digest.startswith(UNSEEN), digest.startswith(CALLED)
                    digest, game = digest.lstrip(UNSEEN), record.opened.game
                    self._reception.restore(name, game, digest, record.name, arrived=arrived, called=called)

    def gone_on(self, match: Match) -> None:
        """A match that a stop of the host interrupted goes on: bots that moved in it have their tokens."""
        for seat, name in enumerate(match.names):
            if match.has_moved(seat):
                self._reception.trust(name, match.game.name)

    def restore(self, record: Record) -> None:
        """Keep the names for the bots that have their tokens, if the tournament is not over."""
        if record.state is not State.FINISHED:
            for name, digest in record.claims.items():
                self._reception.restore(name, record.opened.game, digest, record.name)

    def keep_again(self, record: Record, nursery: trio.Nursery) -> None:
        """Keep the names of a tournament that goes on after its end, unless others have them by now."""
        self._went_on.add(record.kept_as)
        nursery.start_soon(self._restore_free_names, record)

    async def _restore_free_names(self, record: Record) -> None:
        for number, (name, digest) in enumerate([*record.claims.items()], 1):
            if record.state in ENDS:
                return
            if self._reception.is_free(name, record.opened.game):
                self._reception.restore(name, record.opened.game, digest, record.name)
            if number % PIECE == 0:
                await trio.lowlevel.checkpoint()


def _needless(record: Record, name: str, why: str) -> Refusal:
    """What refuses an invitation for a bot that has a token, or is here: it says how that one gets in."""
    if name in record.entrants:
        return Refusal(f"{why}, and needs no invitation: it is an entrant of {record.name} already")
    if admits(record):
        return Refusal(f"{why}, and needs no invitation: whoever comes enters {record.name}")
    return Refusal(f"{why}, and needs no invitation; to let it in, enter it by name")
