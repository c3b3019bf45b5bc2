"""All bots that have joined the Arena, by game and name: who may join, and who may be called where.

What becomes of each is in `guest.py`.
"""

from collections.abc import Generator
from contextlib import contextmanager

import trio
from msgspec import structs

from server.host.abroad import Wanted
from server.host.host import Host
from server.host.names import BadName, checked, key
from server.host.visits import Key
from server.http.exchange import Exchange
from server.http.head import HttpError
from server.http.origins import is_from_here
from server.net.addresses import BadUrl, Url, taken_apart
from server.net.admission import network_of
from server.net.turns import after_hang_ups
from server.protocols.arena.battle import Enrol
from server.protocols.arena.guest import Guest, Join
from server.protocols.arena.invitations import Invitations
from tournament.facts import State
from tournament.tournament import Tournament


class Guests:
    def __init__(self, host: Host, invitations: Invitations, enrol: Enrol) -> None:
        self.host = host
        self.invitations = invitations
        self.enrol = enrol
        self._guests: dict[Key, Guest] = {}
        self._coming: list[tuple[Key, Url]] = []  # where those who are being admitted want to be called
        self._waiting = False  # for the hour of somebody who is called

    async def join(self, exchange: Exchange, game: str, asked: Join) -> None:
        """Let a bot in, or back; raises `HttpError`. The exchange is answered now or with a match."""
        try:
            where = (game, key(checked(asked.name)))
        except BadName as error:
            raise HttpError(400, str(error)) from None
        if (here := self._guests.get(where)) is not None and here.waits:
            await after_hang_ups()  # this may be the request that was given up, read last
            if exchange.gone:
                return
        self._expect_something_to_play(game, asked)
        url = None
        if asked.teamUrl is not None:
            from_here = is_from_here(exchange.request)
            origin = network_of(exchange.request.peer, self.host.limits.trust_loopback)
            url = await self.invitations.checked(asked.teamUrl, game, from_here=from_here, origin=origin)
            self._expect_room(where, url)
        peer, guest = exchange.request.peer, self._guests.get(where)
        unheard = None if guest is None else guest.unheard(asked, url, peer)
        if guest is None or not (unheard or guest.knows(asked.token)):
            guest = Guest(self, where, peer)
        with self._coming_to(where, url):
            visit = await guest.arrive(peer, asked, unheard)
        if (before := self._guests.get(where)) is not None and before is not guest:
            before.lose_name()
        self._guests[where] = guest
        guest.enter(visit, exchange, url)

    def recall(self, tournament: Tournament) -> None:
        """Go on calling the bots of a tournament that another process, or this host before, has called.

        Whether an address may be called is looked at with each call. What a program on the host's own machine
        may ask for does not hold on another host's.
        """
        record = tournament.record
        game, several = record.opened.game, self.host.group is not None
        for name, called in record.called.items():
            where = (game, key(name))
            if name in record.out or where in self._guests or (several and called.from_here):
                continue
            if record.format.endless and self.host.roll.awaits(name, game):
                continue  # it is called there
            try:
                url = taken_apart(called.url)
            except BadUrl:  # by the rules of today
                continue
            arrived = name in record.claims
            visit = self.host.reception.recall(name, game, called, record.name, arrived=arrived)
            if visit is not None:
                self.host.pacing.came(visit.player, called.address)
                origin = network_of(called.address, self.host.limits.trust_loopback)
                guest = self._guests[where] = Guest(self, where, called.address)
                if record.format.endless:
                    tournament.receive(name)
                guest.recall(visit, called, structs.replace(url, from_here=called.from_here, origin=origin))

    def send_away_later(self, guest: Guest) -> None:
        if guest.is_called_for_now and not self._waiting:
            self._waiting = True
            self.host.guard.start_soon(self._send_away)

    async def _send_away(self) -> None:
        """Forget bots that have been called at an open table for long enough, whether or not they played."""
        try:
            while called := [guest for guest in self._guests.values() if guest.is_called_for_now]:
                await trio.sleep_until(min(guest.until for guest in called))
                for guest in called:
                    guest.go_if_idle()
        finally:
            self._waiting = False

    def forget(self, guest: Guest) -> None:
        if self._guests.get(guest.where) is guest:
            del self._guests[guest.where]

    @contextmanager
    def _coming_to(self, where: Key, url: Url | None) -> Generator[None]:
        """While a bot is being admitted, its address counts as taken: others may ask for it meanwhile."""
        coming = [] if url is None else [(where, url)]
        self._coming += coming
        try:
            yield
        finally:
            for each in coming:
                self._coming.remove(each)

    def _expect_room(self, where: Key, url: Url) -> None:
        """Raise `HttpError` where another may not be called at that address, or for that client."""
        here = [(guest.where, guest.url) for guest in self._guests.values() if guest.url is not None]
        invited = dict([*here, *self._coming])
        invited.pop(where, None)
        if any(each.text == url.text for each in invited.values()):
            raise HttpError(409, "a bot plays under one name, and somebody has joined with this teamUrl")
        limits = self.host.limits
        mine = sum(each.origin == url.origin for each in invited.values())
        if url.origin and mine >= limits.connections_per_address:
            raise HttpError(
                429,
                f"{mine} bots of your address are here to be called, which is the limit: come again later",
            )
        if len(invited) >= limits.called_bots:
            raise HttpError(
                429, f"{len(invited)} bots are here to be called, which is the limit: come again later"
            )

    def _expect_something_to_play(self, game: str, asked: Join) -> None:
        wanted = Wanted(asked.name, game, asked.tournament, asked.token)
        if why := self.host.untold.why(wanted):
            self.host.untold.has_been_told(wanted)
            raise HttpError(410, why)
        named = self.host.tournaments.get(asked.tournament or "")
        if named is not None and named.record.state is State.FINISHED:
            raise HttpError(410, f"{named.record.name} is over")
