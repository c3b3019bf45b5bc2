"""Requests that belong to another host: recognising them, and having them answered there.

A request's path names a tournament, or a bot comes with it; else it has a secret that some host made, and
every host tells the others its secrets. Requests that only look are answered here, from the journal that all
hosts share.
"""

import hmac
from collections.abc import Awaitable, Iterable, Sequence
from functools import partial

import trio
from msgspec import Struct

from server.host.abroad import Wanted
from server.host.claims import Replaced
from server.http.exchange import App, Exchange
from server.http.head import RETRY_SOON, HttpError
from server.http.routes import HttpDoor, spelling_of
from server.http.wire import Request
from server.net.guard import Guard
from server.net.pauses import WithPauses
from server.net.readiness import readiness
from server.pages.desk.sessions import Session, Sessions
from server.peers.abroad import HOLDER_TIMEOUT, Peers
from server.peers.asking import LOST, Answering
from server.peers.leases import EVERY
from server.peers.link import OUT_OF_REACH, Link
from server.peers.links import Links
from server.peers.messages import (
    Arranged,
    Board,
    Forgets,
    Knows,
    News,
    Sitting,
    StoodStill,
    TokenReplaced,
    ToldEnd,
    Watch,
)
from server.peers.secrets import Secrets
from server.peers.watching import Watching
from server.protocols.dialect import Hint, Leads
from server.workers.requests import Reading
from tournament.match import Match

AT_A_TIME = 500  # secrets, or bots that have heard of ends, that are told before others get their turn
OWN = 0  # in place of a host's number: this host

Place = int | str  # a host, or a tournament with its holder


class Sought(Struct, frozen=True):
    """Where a request has to be answered."""

    place: Place | None  # None: here
    # To be followed first: a secret that no host has told yet, or that of a host that is out of reach.
    leads: tuple[Wanted | Hint | str, ...] = ()
    goes_on: bool = False  # whether another host may go on with what a secret led to, if its host is gone
    opens: bool = True  # whether this host holds a game's table from now on, if nobody does


HERE = Sought(None)


class Relayed:
    """All requests of a host that shares its database."""

    def __init__(
        self,
        peers: Peers,
        links: Links,
        doors: Iterable[HttpDoor],
        token: str,
        sessions: Sessions | None,
        watching: Watching,
    ) -> None:
        self.watching = watching
        self._peers = peers
        self._links = links
        self._token = token.encode()
        self._sessions = sessions
        self._reading = Reading()
        doors = tuple(doors)
        self._spelling = spelling_of(doors)
        self._doors = {path: door for door in doors if isinstance(door, Leads) for path in door.paths}
        self._keys = Secrets()  # each with the host that made it
        self._replaced: list[Replaced] = []  # by organisers at this host, who are people: there are few
        self._app: App | None = None
        links.token = token
        links.reply, links.hear, links.linked = self._reply, self._hear, self._introduce
        peers.host.on_key, peers.host.on_key_gone = self._tell_key, self._tell_key_gone
        peers.host.is_key = self._keys.__contains__
        peers.host.untold.on_told = self._tell_told
        peers.host.claims.replaced = self._tell_replaced
        peers.arranged = self._tell_arranged
        peers.host.requests_on_their_way = self._may_lack
        peers.host.timekeeper.stood_still = self._tell_stood_still
        if sessions is not None:
            sessions.told = self._tell_sitting

    def beside(self, app: App) -> App:
        """One application: `app`, and the other hosts for what is theirs."""
        self._app = app

        def answer(exchange: Exchange) -> Awaitable[object] | None:
            sought = self._sought(exchange.request)
            if sought.leads:
                return self._answered_soon(exchange, app, sought)
            if sought.place is not None:
                return self._answered(exchange, app, sought.place, opens=sought.opens)
            return app(exchange)

        return answer

    # Where a request belongs

    def _sought(self, request: Request) -> Sought:
        request = self._spelling.rightly(request)
        door = self._doors.get(request.path.strip("/").split("/")[0])
        if door is not None:
            return self._led(door.leads(request), goes_on=True)
        asked = self._reading.asked(request)
        if asked is None:
            return HERE
        if asked.tournament is not None:
            if asked.tournament in self._peers.host.tournaments:
                return HERE
            return Sought(asked.tournament, opens=asked.opens and self._is_organisers(request))
        if asked.needs and self._keys.has_none(asked.needs):
            return Sought(None, (asked.wanted, *asked.needs) if asked.wanted else asked.needs)
        if asked.wanted is not None:
            return self._led((asked.wanted,))
        return self._led(asked.keys)

    def _led(self, found: Iterable[Wanted | Hint | str], *, goes_on: bool = False) -> Sought:
        leads = tuple([each for each in found if each])
        place = self._by(*leads)
        unsure = bool(leads) and isinstance(leads[0], str) and self._keys.has_none(leads)
        unheard_of = place is None and self._is_unheard_of(leads)
        early = goes_on and place is None and not self._peers.goes_on_here
        waits = unsure or unheard_of or early or self._is_out_of_reach(place)
        return Sought(None, leads, goes_on) if waits else Sought(place)

    def _is_unheard_of(self, leads: Sequence[Wanted | Hint | str]) -> bool:
        """Whether they lead to a tournament that another host may have opened a moment ago."""
        return any(isinstance(each, Wanted) and self._peers.is_unheard_of(each) for each in leads)

    def _by(self, *leads: Wanted | Hint | str) -> Place | None:
        for lead in leads:
            if isinstance(lead, Wanted):
                return self._peers.where(lead)
            if isinstance(lead, Hint):
                host = self._keys.pop(lead.key, None)
                if host and self._links.to(host) is not None:
                    return host
            elif (host := self._keys.whose(lead)) == OWN:
                return None
            elif host is not None and (self._links.to(host) is not None or self._peers.goes_on(host)):
                return host
            elif host is not None:
                self._keys.lose(lead, host, trio.current_time() + HOLDER_TIMEOUT)
        return None

    def _is_out_of_reach(self, place: Place | None) -> bool:
        """Whether that is a host that goes on, and the link to it is cut."""
        return isinstance(place, int) and self._links.to(place) is None

    # Having it answered

    async def _answered_soon(self, exchange: Exchange, app: App, sought: Sought) -> None:
        """Answer a request that may be quicker than the host that has just given the client a secret.

        While the link to that host is cut, the request waits: whoever was told that there is nothing here, or
        that its turn is not known, would give up a match that goes on. When that host is gone, it waits until
        another one has taken over. It also waits for the database's next word on a tournament that is not
        known here.
        """
        leads = sought.leads
        deadline = trio.current_time() + HOLDER_TIMEOUT
        while self._is_out_of_reach(self._by(*leads)):
            if trio.current_time() > deadline:
                raise HttpError(503, LOST, RETRY_SOON)
            await self._peers.news()
        if not self._is_unheard_of(leads):
            await self._hear_of(leads, goes_on=sought.goes_on)
        elif not await self._peers.renewed():
            raise HttpError(503, OUT_OF_REACH, RETRY_SOON)
        if sought.goes_on and self._by(*leads) is None:
            await self._peers.gone_on()  # one address may lead to several matches
        await self._answered(exchange, app, self._by(*leads))

    async def _hear_of(self, leads: Sequence[Wanted | Hint | str], *, goes_on: bool) -> None:
        """Wait until some host tells of a secret: longer while one may go on with it, or cannot tell of it.

        A host to which there is a link again tells of all its secrets at once. One that has ended may not
        have told of its latest.
        """
        taking_over = self._keys.told_anew_within(leads) if goes_on else 0.0
        deadline, seconds = trio.current_time() + HOLDER_TIMEOUT, max(EVERY, taking_over)
        while self._keys.has_none(leads) and trio.current_time() < deadline:
            missed = self._may_be_untold(goes_on)
            await self._keys.heard_of(leads, seconds)
            if not (missed or self._may_be_untold(goes_on)):
                break
            seconds = EVERY

    def _may_be_untold(self, goes_on: bool) -> bool:
        return self._peers.misses_a_link or (goes_on and self._peers.lost_a_host)

    async def _answered(
        self, exchange: Exchange, app: App, place: Place | None, *, opens: bool = True
    ) -> None:
        match place:
            case None:
                link = None
            case int():
                link = self._links.to(place)
            case str():
                link = await self._holder(place, opens=opens)
        if link is not None:
            await self._ask(link, exchange)
        elif (pending := app(exchange)) is not None:
            await pending

    async def _ask(self, link: Link, exchange: Exchange, *, again: bool = False) -> None:
        await link.ask(exchange, organiser=self._is_organisers(exchange.request), again=again)

    def _is_organisers(self, request: Request) -> bool:
        return hmac.compare_digest(request.bearer, self._token)

    async def _holder(self, tournament: str, *, opens: bool) -> Link | None:
        """The link to the host that holds a tournament; None if this one does, or it does not exist."""
        deadline, looked = trio.current_time() + HOLDER_TIMEOUT, False
        while (link := self._peers.link(tournament)) is None:
            if await self._peers.claimed(tournament, opens=opens):
                return None
            if self._peers.there_is(tournament):
                if trio.current_time() > deadline:
                    raise HttpError(503, LOST, RETRY_SOON)
                await self._peers.news()
            elif looked:
                return None
            else:
                looked = True
                await self._peers.renewed()  # that will show it, if it is new
        return link

    def _reply(self, answering: Answering) -> None:
        guard = self._peers.host.guard
        if self._app is None:
            answering.refuse(HttpError(503, LOST, RETRY_SOON))
        else:
            guard.start_soon(self._answer, answering, self._app, guard)

    async def _answer(self, answering: Answering, app: App, guard: Guard) -> None:
        await answering.answer(partial(self._answered_for_another, app, answering.again), guard)

    async def _answered_for_another(self, app: App, again: bool, exchange: Exchange) -> None:
        """Answer what another host asks, once this one goes on with the tournament in question.

        Either of the two may not have heard yet what was kept just now. If the request does not belong here
        after all, the host that it belongs to is asked, but not by a host that was itself asked in that way.
        """
        if (link := await self._elsewhere(exchange.request)) is not None:
            await self._peers.read_on()
            link = await self._elsewhere(exchange.request)
        if link is not None and again:
            raise HttpError(503, LOST, RETRY_SOON)
        if link is not None:
            await self._ask(link, exchange, again=True)
            return
        await self._peers.gone_on()
        if (pending := app(exchange)) is not None:
            await pending

    async def _elsewhere(self, request: Request) -> Link | None:
        """The link to the other host that holds what a request is about, if one does."""
        sought = self._sought(request)
        if sought.leads:
            await self._keys.heard_of(sought.leads, EVERY)
        place = self._by(*sought.leads) if sought.leads else sought.place
        return await self._holder(place, opens=sought.opens) if isinstance(place, str) else None

    # What hosts tell each other

    def _hear(self, peer: int, news: News) -> None:
        match news:
            case Knows(key=key, host=host):
                self._keys.know(key, OWN if host == self._links.host else host)
            case Forgets(key=key):
                self._keys.forget(key, peer)
            case Sitting(digest=digest, left=left, form_token=form_token) if self._sessions is not None:
                until = None if left is None else trio.current_time() + left
                self._sessions.take(digest, None if until is None else Session(until, form_token))
            case ToldEnd(tournament=tournament, name=name):
                self._peers.host.untold.note(tournament, name)
            case TokenReplaced(replaced=replaced):
                self._peers.host.guard.start_soon(self._peers.host.claims.replace, replaced)
            case Arranged():
                self._peers.read_on_at_once()
            case StoodStill(seconds=seconds):
                self._peers.host.timekeeper.excuse(seconds, self._moves_by_request)
            case Watch() | Board() if (link := self._links.to(peer)) is not None:
                self.watching.hear(link, news)
            case _:
                pass

    def _may_lack(self, by: float) -> bool:
        """Whether a request that some host had been sent by then may not be here yet.

        Requests of one bot may come to any host, so all are asked.
        """
        now, sockets = trio.current_time(), readiness()
        here = sockets is not None and sockets.on_its_way(by)
        return any([here, *(link.may_lack(by, now) for link in self._links.all())])  # all are asked

    def _moves_by_request(self, match: Match) -> bool:
        seat = match.to_move
        return seat is not None and match.on_its_way[seat] == self._may_lack

    def _introduce(self, link: Link) -> None:
        self._peers.host.guard.start_soon(self._tell_all, link)

    async def _tell_all(self, link: Link) -> None:
        """Tell a host all that the others are told. Others get their turns meanwhile: it may be much."""
        if self._sessions is not None:
            for digest, session in self._sessions.known():
                link.say(_sitting(digest, session))
        for replaced in self._replaced:
            link.say(TokenReplaced(replaced))
        async for tournament, name in WithPauses(self._peers.host.untold.heard(), AT_A_TIME):
            link.say(ToldEnd(tournament, name))
        async for key in WithPauses(self._keys, AT_A_TIME):
            if self._keys.get(key) == OWN:
                link.say(Knows(key, self._links.host))

    def _tell_key(self, key: str) -> None:
        self._keys.know(key, OWN)
        for link in self._links.all():
            link.say(Knows(key, self._links.host))

    def _tell_key_gone(self, key: str) -> None:
        if self._keys.forget(key, OWN):
            for link in self._links.all():
                link.say(Forgets(key))

    def _tell_replaced(self, replaced: Replaced) -> None:
        self._replaced.append(replaced)
        for link in self._links.all():
            link.say(TokenReplaced(replaced))

    def _tell_arranged(self) -> None:
        for link in self._links.all():
            link.say(Arranged())

    def _tell_stood_still(self, seconds: float) -> None:
        for link in self._links.all():
            link.say(StoodStill(seconds))

    def _tell_told(self, tournament: str, name: str) -> None:
        for link in self._links.all():
            link.say(ToldEnd(tournament, name))

    def _tell_sitting(self, digest: bytes, session: Session | None) -> None:
        for link in self._links.all():
            link.say(_sitting(digest, session))


def _sitting(digest: bytes, session: Session | None) -> Sitting:
    if session is None:
        return Sitting(digest, None, "")
    return Sitting(digest, session.until - trio.current_time(), session.form_token)
