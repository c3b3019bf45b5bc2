"""One bot that has joined the Arena: waiting for a match, invited to one, or away.

A bot that gave its address is present until its tournament is over, and invited
to each match. Any other is present while its request to join is unanswered and
while it plays: the answer is its match, and for the next it joins again.

Each request to join is an attendance of its own, which succeeds the one before
it. A guest is what these have in common: a name, perhaps an address, the request
that is held and the last battle. `guests.py` has all of them.
"""

import hmac
from typing import Protocol

import trio
from msgspec import Struct

from server.host.host import Host
from server.host.opening import OPEN
from server.host.returning import way_back
from server.host.secrets import token_digest, uuid
from server.host.unwelcome import Out, Unwelcome
from server.host.view import HeldTournament
from server.host.visits import REPLACED, Key, Visit
from server.http.exchange import Exchange
from server.http.head import HttpError
from server.http.wire import PRIVATE, Response, json_response, refused
from server.net.addresses import Url
from server.net.budgets import address_of
from server.protocols.arena.battle import Battle, Enrol
from server.protocols.arena.invitations import Invitations
from server.protocols.common.attendance import Attendance
from server.protocols.common.states import State as Attending
from server.protocols.common.unwelcome import status_of
from tournament.facts import AnyFact, Called, State
from tournament.player import CALLED, UNSEEN, Seat

DOOR = "arena"


class Join(Struct, frozen=True):
    """What a bot says to come in, or back."""

    name: str
    teamUrl: str | None = None  # where it is invited
    token: str | None = None  # from an earlier answer, or the bot's own choice of 16 characters or more
    tournament: str | None = None  # None: the host finds a place


class AllGuests(Protocol):
    """The guests, as far as one of them deals with the others."""

    host: Host
    invitations: Invitations
    enrol: Enrol

    def send_away_later(self, guest: "Guest") -> None:
        """Have it forgotten when it has been called at an open table for long enough."""
        ...

    def forget(self, guest: "Guest") -> None:
        """It is gone, or plays on elsewhere: another of its name is another guest."""
        ...


class Guest:
    """One bot under a name: waiting for the answer to its request, or invited, or away."""

    __slots__ = (
        "_battle",
        "_call",
        "_guests",
        "_held",
        "_host",
        "_is_recalled",
        "attendance",
        "until",
        "url",
        "where",
    )

    def __init__(self, guests: AllGuests, where: Key, peer: str) -> None:
        self.where = where
        self.url: Url | None = None  # where it is invited
        self._guests = guests
        self._host = guests.host
        self.attendance = self._attending(peer)  # of the last request by which it came in, or of its first
        self._held: Exchange | None = None  # its request to join, which is answered with its next battle
        self._battle: Battle | None = None  # its last battle
        self._call = "", "", trio.CancelScope()  # its last call: to which battle, at which address
        self.until = 0.0  # when invitations from an open table end
        self._is_recalled = False  # it has not been heard since the host was started again

    @property
    def waits(self) -> bool:
        """Whether a request of it is held."""
        return self._held is not None

    @property
    def _at_open_table(self) -> bool:
        visit = self.attendance.visit
        return visit is None or (visit.player.place or OPEN).startswith(OPEN)

    @property
    def _is_without_end(self) -> bool:
        visit = self.attendance.visit
        held = None if visit is None else self._host.tournaments.get(visit.player.place or "")
        return held is not None and held.record.format.endless

    @property
    def _has_been_here_long(self) -> bool:
        return trio.current_time() >= self.until

    @property
    def is_called_for_now(self) -> bool:
        """Whether it is invited to the matches of an open table, and its time there is not over."""
        return self.url is not None and self._at_open_table and not self._has_been_here_long

    def knows(self, token: str | None) -> bool:
        visit = self.attendance.visit
        if visit is None or visit.digest is None or token is None:
            return False
        return hmac.compare_digest(visit.digest, token_digest(token))

    def unheard(self, asked: Join, url: Url | None, peer: str) -> Visit | None:
        """Its visit, if this is a request of that bot, which may never have got its token.

        The answer may have been lost, or the bot was started again. It is known by where it is invited and
        by where its request comes from. Without an invitation, a battle that it has been told may be on its
        way to it, and then anybody on the same machine could take that.
        """
        visit, same = self.attendance.visit, url is not None and url == self.url
        if visit is None or asked.token is not None or not same:
            return None
        if address_of(peer) != address_of(self.attendance.peer):
            return None
        return visit if self._host.reception.digest(visit) is None else None

    # Coming

    async def arrive(self, peer: str, asked: Join, unheard: Visit | None) -> Visit:
        """Have the host decide whether it may come in; raises `HttpError`."""
        here = before = self.attendance
        if before.state is not Attending.SILENT:
            here = self._attending(peer)
        try:
            visit = await here.arrive(
                asked.name,
                self.where[0],
                succeeds=None if here is before else before,
                tournament=asked.tournament,
                token=asked.token,
                ready=False,
                resumes=True,
                door=DOOR,
                unheard=unheard,
            )
        except Unwelcome as refusal:
            if before is self.attendance and not (before.current or before.succeeded):
                self._go()
            raise self._told_of(refusal) from None
        if visit is None:
            raise HttpError(409, REPLACED)
        self.attendance = here
        place = self._host.tournaments[visit.player.place or ""].record
        if place.state is State.FINISHED:  # since it began to arrive
            self._host.untold.has_heard(place, visit.player.name)
            self._go(for_good=True)
            raise HttpError(410, f"{place.name} is over")
        return visit

    def _told_of(self, refusal: Unwelcome) -> HttpError:
        """What somebody who may not come in is told."""
        other = 410 if isinstance(refusal, Out) else 409
        status, headers = status_of(refusal, other, draining=self._host.draining)
        return HttpError(status, str(refusal), *headers)

    def recall(self, visit: Visit, called: Called, url: Url) -> None:
        """Be called as before the host was started again, but not to the battle that this interrupted.

        The bot may come back to that by itself. A program that is called expects a battle to begin: one that
        finds moves there may well lose by its next. So its seat is held, and the match is played again if it
        does not come.
        """
        player, self.url = visit.player, url
        self._is_recalled = True
        has_token = self._host.reception.digest(visit) is not None
        player.key = ("" if has_token else CALLED) + called.digest
        player.way_back = player.way_back or way_back(DOOR, uuid())
        self.attendance.recall(visit)
        player.set_ready(True)
        player.can_be_called()

    def enter(self, visit: Visit, exchange: Exchange, url: Url | None) -> None:
        player, self.url = visit.player, url
        player.way_back = player.way_back or way_back(DOOR, uuid())
        exchange.authenticated()
        self._is_recalled = False
        self._note_called()
        if url is None:
            self._held, visit.vanished = exchange, self._vanished
            exchange.on_gone(self._hung_up)
        else:
            self._begin_its_time()
            if player.key is not None and player.key.startswith(UNSEEN):
                player.key = CALLED + player.key.lstrip(UNSEEN)
            place = None if self._at_open_table else player.place
            welcome = {"name": player.name, "token": visit.token, "tournament": place}
            exchange.respond(json_response(202, welcome, *PRIVATE))
        player.set_ready(True)
        self.attendance.take_place()

    def _note_called(self) -> None:
        """Have it kept where the bot is called, if it is; that costs nothing where it is known."""
        visit, url = self.attendance.visit, self.url
        if visit is None:
            return
        if url is None:
            self._host.note_called(visit, Called(visit.player.name))
        else:
            digest, peer = (visit.digest or b"").hex(), address_of(self.attendance.peer)
            self._host.note_called(visit, Called(visit.player.name, url.text, digest, peer, url.from_here))

    def _attending(self, peer: str) -> Attendance:
        return Attendance(
            self._host,
            peer,
            tell=None,  # the battle hears of it, and tells the bot
            dealt=self._begin,
            resumed=self._resume,
            replaced=self._give_way,
            tournament_over=self._tournament_over,
            taken_out=self._take_out,
            moved=self._begin_its_time,
        )

    def _begin_its_time(self) -> None:
        """It has come, or been led on as its tournament was deleted.

        At an open table it is called for a while.
        """
        self.until = trio.current_time() + self._host.limits.table_seconds
        self._guests.send_away_later(self)

    # Its matches

    def _begin(self, seat: Seat) -> None:
        reachable = self._held is not None or self.url is not None
        limits = self._host.limits
        seconds = limits.start_seconds if reachable else limits.away_seconds
        if self.url is None:  # otherwise it may have to wake up
            seconds = min(seconds, seat.early_grace)
        self._open(seat, self._next_battle()).expect(seconds)
        self._note_called()
        self._let_know()

    def _next_battle(self) -> str | None:
        """The name that the match was kept with, so that after a restart the battle is found by it."""
        if (visit := self.attendance.visit) is None:
            return None
        _, _, name = visit.player.way_back.partition(" ")
        visit.player.way_back = way_back(DOOR, uuid())
        return name

    def _resume(self, seat: Seat) -> None:
        battle = self._battle
        if battle is None or battle.seat is not seat:
            self._open(seat)
        else:
            battle.expect_as_before()  # coming back has started its clock
        if not self._is_recalled:
            self._let_know()

    def _open(self, seat: Seat, name: str | None = None) -> Battle:
        self._battle = self._guests.enrol(
            seat, name=name, tape=self.attendance.tape, opened=self._acknowledge, ended=self._match_over
        )
        return self._battle

    def _let_know(self) -> None:
        """Tell the bot its battle."""
        battle, visit = self._battle, self.attendance.visit
        if battle is None or visit is None:
            return
        if self._held is not None:
            answer = {"battleId": battle.name, "token": visit.token}
            self._answer(json_response(200, answer, *PRIVATE))
        elif self.url is not None and not battle.started:
            self._host.guard.start_soon(self._invite, self.url, battle)

    async def _invite(self, url: Url, battle: Battle) -> None:
        """Call a bot to its battle when its last is over.

        The call is given up when the battle is over, or the bot has joined again with another address.
        """
        invitations, (to, at, call) = self._guests.invitations, self._call
        if to == battle.name:
            if at == url.text:
                return
            call.cancel()
            battle.called(heard=True)  # or by joining again and again it would never have been called
        call = trio.CancelScope()
        self._call = battle.name, url.text, call
        battle.await_call()
        with call:
            async with invitations.turn(url):
                if battle.started or battle.over.is_set():
                    return
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(invitations.invite, url, battle)
                    await battle.over.wait()
                    nursery.cancel_scope.cancel()

    def _acknowledge(self) -> None:
        """The bot has asked for its battle, so it must have received the answer, and its token with it."""
        visit = self.attendance.visit
        if visit is not None and self.url is None:
            visit.acknowledge()

    def _match_over(self) -> None:
        """The battle has told the bot; if nobody is here for that match any more, nothing follows from it."""
        here, battle = self.attendance, self._battle
        if battle is None or here.seat is not battle.seat:
            return
        if battle.over.is_set():
            self._battle = None  # or they would keep each other alive; it goes on if a table may be flipped
        here.ended()
        if self.url is None:
            self._wait_for_return()
        elif here.current and (
            (self._is_without_end and self._has_missed(battle))
            or (self._at_open_table and self._has_been_here_long)
        ):
            self._go(for_good=True)

    def _has_missed(self, battle: Battle) -> bool:
        """Whether it was called to a battle and did not come; to one that a restart cut short it is not."""
        return not (battle.started or (self._is_recalled and battle.match.interrupted))

    # Going

    def go_if_idle(self) -> None:
        """Go if it has been here long, unless it plays: then it goes at the end of its match."""
        if self.url is not None and self._has_been_here_long and self.attendance.seat is None:
            self._go(for_good=True)

    def _hung_up(self) -> None:
        if self._held is not None and self._held.gone:  # and not a request before
            self._held = None
            self._wait_for_return()

    async def _vanished(self) -> bool:
        return self._held is not None and await self._held.vanished()

    def _wait_for_return(self) -> None:
        """Be away until the bot joins again; where there is no end, nobody waits for that."""
        if not (self._at_open_table or self._is_without_end):
            self.attendance.away()
        elif self.attendance.seat is None:
            self._go()
        else:
            self.attendance.away()
            self._guests.forget(self)

    def _give_way(self, why: str) -> None:
        """Give way to a holder of the same token: the bot itself, by another request, or from elsewhere."""
        self._answer(refused(409, why))
        if not self.attendance.succeeded:
            self.url = None  # it plays on over another connection, over which nobody is called
            self._note_called()
            self._guests.forget(self)
            if self._battle is not None:
                self._battle.retire()

    def _tournament_over(self, tournament: HeldTournament, fact: AnyFact) -> None:
        """Let it go. If it is away, it hears of that when it joins again; one that is called need not."""
        record, visit = tournament.record, self.attendance.visit
        if visit is not None and (self._held is not None or self.url is not None):
            self._host.untold.has_heard(record, visit.player.name)
        self._answer(refused(410, f"{record.name} is over"))
        self._go(for_good=True)

    def _take_out(self, why: str) -> None:
        """An organiser has taken it out of its tournament: nothing is left for it to play."""
        visit = self.attendance.visit
        if self._held is None and self.url is None and visit is not None and visit.token is not None:
            self._host.untold.tell_later(self.where, visit.token, why)
            self._host.on_key_of_game(visit.token)
        self._answer(refused(410, why))
        self._go(for_good=True)

    def _go(self, *, for_good: bool = False) -> None:
        if self.url is not None and self._is_without_end:
            self.url = None
            self._note_called()
        self.attendance.lost(for_good=for_good)
        self._guests.forget(self)

    def lose_name(self) -> None:
        """Go, away as it is: another has come under its name, whose token was never seen to arrive."""
        self.attendance.lost()

    def _answer(self, response: Response) -> None:
        """Answer the request that is held, if there is one."""
        held, self._held = self._held, None
        if held is not None:
            held.respond(response)
