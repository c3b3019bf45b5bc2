"""How a bot comes in: under a name that is its own or free, and to a place to play.

`reception.py` says whose a name is, and `placing.py` where its bot plays. What a door is told if a bot cannot
come in is in `unwelcome.py`.
"""

from functools import partial
from typing import TYPE_CHECKING, cast

import trio

from server.host.claims import way_back
from server.host.names import bare, key
from server.host.opening import OPEN
from server.host.passing import Passing, after_hang_ups_of
from server.host.reception import is_token
from server.host.unwelcome import ELSEWHERE, STOPPING, ComeAgain, Out, PlaysElsewhere, Unwelcome
from server.host.visits import Visit
from server.net.budgets import address_of
from tournament.facts import Seated
from tournament.kinds import Kind
from tournament.refusals import HeldElsewhere, NotNow, Refusal, TakenOut

if TYPE_CHECKING:  # it holds what is in here
    from server.host.host import Host


class Arrivals:
    def __init__(self, host: "Host") -> None:
        self._host = host

    async def arrive(
        self,
        name: str,
        game: str,
        *,
        tournament: str | None = None,
        token: str | None = None,
        keeps: bool = True,
        shared: bool = False,
        against: str | None = None,
        ready: bool = True,
        resumes: bool = False,
        door: str = "",
        peer: str = "",
        matches: int | None = None,
        version: str | None = None,
        practises: bool = False,
        person: bool = False,
        goes_on: bool = False,
        unheard: Visit | None = None,
    ) -> Visit:
        """Let a bot in and give it a place to play; raises `Unwelcome` with the reason for its author.

        At an open table it meets nobody but `against`, and bots that all come `shared` may have the same
        name; in any other tournament a name belongs to one player. A bot that does not come `ready` is dealt
        nothing before its door says that it is, and one that `resumes` can come back with its token to a
        match that a restart of the host has interrupted. A name that comes without a token belongs to its
        `door` and the address of its `peer` until the tournament that it enters is over.

        Whoever has the token of somebody who is here takes over from it, but not to play elsewhere than in
        its tournament: a name plays a game in one place at a time. `unheard` is for doors that know a bot
        whose token may never have arrived, and that this is it. Where it `goes_on`, the same bot has
        asked before, and may choose another place while it waits for a match.

        It is dealt this many `matches`, with the one that it comes back to, and says what its `version` is.
        If it `practises`, `against` may be one of the host's own opponents, who comes as well. A `person`
        plays by hand.
        """
        host = self._host
        if token is None and (held := host.reception.held(name, game)):
            for other in held:
                await other.decided()
            # It may be the same bot, which has just hung up.
            await after_hang_ups_of(other.player for other in held)
            await self.let_go_of_vanished(name, game, shared=shared, peer=peer)
        elif token is not None and host.reception.is_contested(name, game, token):
            # Not by two who have the same token, if one of them has vanished each time.
            for other in host.reception.held(name, game):
                await _has_vanished(other)
        if host.stopped or (host.draining and not host.reception.is_playing(name, game, token)):
            raise ComeAgain(STOPPING)
        against = None if against is None else bare(against)
        try:
            visit = host.reception.arrive(
                name,
                game,
                token=token,
                keeps=keeps,
                shared=shared,
                door=door,
                peer=peer,
                unheard=unheard,
                may_take_over=lambda player: host.placing.expect_same_place(
                    player, tournament, goes_on=goes_on
                ),
            )
        except Unwelcome:
            host.reception.moved((game, key(name)))
            raise
        visit.await_decision()
        visit.player.meet_only(against)
        visit.player.version = version
        visit.player.kind = Kind.PERSON if person else Kind.BOT
        visit.player.matches_left = None if matches is None else matches - (visit.player.seat is not None)
        visit.player.back()  # if it had been dealt all that it wanted
        visit.player.set_ready(ready)
        visit.resumes = resumes
        visit.player.key = way_back(visit, has_it=is_token(token))
        try:
            if practises:
                host.house_players.expect(visit.player, against, peer)
            if tournament is not None and self._is_elsewhere(tournament, game):
                raise HeldElsewhere(ELSEWHERE)
            seated = None if is_token(token) else Seated(visit.player.name, door, address_of(peer))
            found = await host.placing.place(
                visit.player,
                tournament,
                seated,
                visit.expect_current,
                partial(host.claims.is_anothers, visit, door),
            )
            host.claim(visit)
            host.pacing.came(visit.player, peer)
            if shared and not found.record.format.endless:
                host.placing.expect_alone(visit.player)
            if practises and found.record.name.startswith(OPEN):
                host.house_players.ask(visit.player, against, peer)
        except (Refusal, Unwelcome) as refusal:
            visit.leave(for_good=not visit.returned)  # a bot that came back keeps its seat
            raise _unwelcome(refusal) from None
        except Exception:  # ours: the name must not stay taken
            visit.leave(for_good=not visit.returned)
            raise
        host.reception.moved(visit.key)
        host.measures.came[door, game] += 1
        visit.decide()
        return visit

    async def let_go_of_vanished(self, name: str, game: str, *, shared: bool, peer: str) -> None:
        """Let go of whoever has a name of which a bot comes that may be the same, if its network is gone."""
        async with trio.open_nursery() as nursery:  # it may have lost many connections at once
            for other in self._host.reception.held(name, game):
                if self._is_in_its_way(other, shared=shared, peer=peer):
                    nursery.start_soon(_has_vanished, other)

    def _is_in_its_way(self, other: Visit, *, shared: bool, peer: str) -> bool:
        """Whether somebody who is here has the name in place of a bot that comes from there without a token.

        It may be the same bot: both have the same address, and neither has shown a token.
        """
        if address_of(other.peer) != address_of(peer) or self._host.reception.digest(other) is not None:
            return False
        held = self._host.tournaments.get(other.player.place or "")
        return not (shared and other.shared and held is not None and held.record.format.endless)

    def _is_elsewhere(self, tournament: str, game: str) -> bool:
        """Whether a bot was sent here only because of somebody of its name, who has just gone."""
        if self._host.abroad is None or tournament in self._host.tournaments or tournament == OPEN + game:
            return False
        return self._host.abroad.may_hold(tournament, game)


async def _has_vanished(visit: Visit) -> bool:
    """Whether somebody's network is gone, as far as can be found out; then it has hung up."""
    connection = cast("Passing | None", visit.player.connection)
    return await (visit.vanished() if connection is None else connection.vanished())


def _unwelcome(why: Refusal | Unwelcome) -> Unwelcome:
    """The same for a door, which may have more to do than to tell the bot."""
    match why:
        case TakenOut():
            return Out(str(why))
        case HeldElsewhere():
            return PlaysElsewhere(str(why))
        case NotNow():
            return ComeAgain(str(why))
        case _:
            return Unwelcome(str(why))
