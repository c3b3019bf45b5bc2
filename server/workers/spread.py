"""Matches of a large tournament, lent to other workers: the holder's side, and the conduits between workers.

The worker that holds a tournament has its record, its lobby and its bots between matches. A match of two bots
whose connections can be passed on is lent, with both, to the worker that plays the fewest; its result
comes back to be kept, and the connections come back when the bots have been told.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from math import inf
from socket import socket
from typing import cast

import trio

from server.host.host import Host
from server.host.passing import Passed, Passing
from server.host.wire_log import TapeSnapshot
from server.show.conduit import Conduit
from server.show.feed import Teller
from server.workers.guests import Guests
from server.workers.match_messages import (
    Acknowledged,
    Announce,
    Between,
    Closed,
    Decided,
    Fetch,
    Heard,
    Home,
    Left,
    Play,
    Returned,
    Sit,
    Together,
)
from tournament.events import Ended
from tournament.lent import Beginning, Course, Lent, Travelling
from tournament.match import Match
from tournament.player import Player, Seat
from tournament.tournament import Tournament

SOON = 0.1  # seconds between two looks at moves played for others
HOME = 2  # matches lent for each that is played at home, which also deals and keeps all of them

Decide = Callable[[Match, Ended], None]


class LentConnection:
    """A connection that is passed on."""

    def __init__(self, connection: Passing, lent: "Outside", seat: int) -> None:
        self.connection = connection
        self.lent = lent
        self.seat = seat
        self.left = False


class Outside:
    """A match that is lent, until both of its connections are back."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.stand_in: Lent | None = None
        # Once it is home: the match, its seats, and how many events the bots have been told.
        self.home: tuple[Travelling, tuple[Seat, Seat], int] | None = None
        self.away = 2  # connections that are away


class Pair:
    """This worker and one other, each of which may lend to the other."""

    def __init__(
        self, host: Host, teller: Teller, connected: socket, hear_now: Callable[[], None] = lambda: None
    ) -> None:
        """`hear_now` takes in what worker 0 has said already."""
        self.lent: dict[str, Outside] = {}  # matches, by name
        self.guests = Guests(host, teller, self.say, hear_now)
        self._host = host
        self._connected = connected
        self._conduit = Conduit[Together](connected, Together, inf)
        self._unsaid: list[Between] = []  # messages, until other tasks have had their turn
        self._news = trio.Event()  # set when there is something unsaid
        self._out: dict[int, LentConnection] = {}
        self._numbers = count()
        self._gone = False

    async def run(self) -> None:
        """Talk to the other worker until it is gone."""
        with self._connected:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._say_together)
                await self._conduit.hear(self._take_all)
                nursery.cancel_scope.cancel()
        self._gone = True
        self.guests.end()
        for number, out in tuple(self._out.items()):
            self._has_left(out, TapeSnapshot(), for_good=False)
            del self._out[number]
            out.connection.close()
        for outside in tuple(self.lent.values()):
            self._lose(outside)

    def lend(
        self, tournament: Tournament, beginning: Beginning, players: tuple[Player, Player], decided: Decide
    ) -> Lent | None:
        """Lend a match; None: it cannot be lent just now."""
        fetch = partial(self._fetch, beginning.name)
        # Made first: if the game fails, nothing has been passed on yet.
        stand_in = Lent(beginning, trio.current_time(), decided, fetch, self._announce)
        connections = [cast("Passing", player.connection) for player in players]
        passed: list[Passed] = []
        for connection in connections:
            found = None
            try:
                found = connection.pass_on(fetch)
            finally:
                if found is None:  # its bot is just saying something, or its dialect fails
                    for each, _ in zip(connections, passed, strict=False):
                        each.stay()
            if found is None:
                return None
            passed.append(found)
        outside = self.lent[beginning.name] = Outside(tournament)
        sits: list[Sit] = []
        for seat, (connection, each) in enumerate(zip(connections, passed, strict=True)):
            number = next(self._numbers)
            self._out[number] = LentConnection(connection, outside, seat)
            sits.append(
                Sit(
                    number,
                    each.door,
                    each.dialect,
                    each.path,
                    each.peer,
                    each.secure,
                    each.words,
                    each.budget,
                )
            )
        one, other = sits
        self._say_now(one, passed=passed[0].descriptor)
        self._say_now(other, Play(beginning, (one.number, other.number)), passed=passed[1].descriptor)
        outside.stand_in = stand_in
        return stand_in

    def fetch_all(self) -> None:
        """Have all matches come home that can go on after a restart."""
        for name, outside in self.lent.items():
            if name in outside.tournament.record.keys:
                self._fetch(name)

    def stop(self) -> None:
        """This worker is about to end."""
        self.guests.stop()
        self._say_now()

    def say(self, message: object) -> None:
        """Send a message to the other worker, together with others that are said before other tasks run."""
        if not self._gone:
            self._unsaid.append(cast("Between", message))
            if isinstance(message, Left):  # its bot may come back at any moment
                self._say_now()
            else:
                self._news.set()

    # Within

    def _say_now(self, *messages: Between, passed: socket | None = None) -> None:
        """Send messages after all that are unsent. `passed` belongs to the `Sit` among them."""
        said, self._unsaid = (*self._unsaid, *messages), []
        if said and not self._gone:
            self._conduit.say(Together(said), passed)

    async def _say_together(self) -> None:
        """Send, as one, all messages that were said before this task runs."""
        while True:
            await self._news.wait()
            self._news = trio.Event()
            self._say_now()

    def _fetch(self, match: str) -> None:
        outside = self.lent.get(match)
        if outside is not None and (outside.stand_in is None or outside.stand_in.verdict is None):
            self.say(Fetch(match))  # otherwise it is home, or about to be told its result there

    def _announce(self, lent: Lent) -> None:
        outside = self.lent.get(lent.name)
        if outside is None or outside.away == 0:
            self.lent.pop(lent.name, None)
            lent.told()
        else:
            self.say(Announce(lent.name, lent.receipt))

    def _take_all(self, together: Together, descriptor: int | None) -> None:
        for message in together.messages:
            self._take(message, descriptor)

    def _take(self, message: Between, descriptor: int | None) -> None:
        match message:
            case Heard(matches):
                for name, moves, times, asides in matches:
                    if (outside := self.lent.get(name)) is not None and outside.stand_in is not None:
                        outside.stand_in.hear(moves, times, asides)
            case Decided(name, report):
                if (outside := self.lent.get(name)) is not None and outside.stand_in is not None:
                    outside.stand_in.conclude(report)
            case Home(name, course, told):
                if (outside := self.lent.get(name)) is not None:
                    self._come_home(outside, course, told)
            case Acknowledged(number):
                if (out := self._out.get(number)) is not None:
                    try:
                        out.connection.acknowledged()
                    except Exception as error:  # the dialect's: its bot plays on
                        self._host.guard.report(error)
            case Returned(number, pieces, tape, spent):
                if (out := self._out.get(number)) is not None:
                    home = out.lent.home
                    seat = None if home is None else (home[1][out.seat], home[2])
                    del self._out[number]
                    try:
                        out.connection.back(pieces, tape, seat, spent)
                    except Exception as error:  # the dialect's: its bot can come again
                        self._host.guard.report(error)
                        out.connection.close()
                    self._is_back(out.lent)
            case Left(number, tape, for_good, cut):
                if (out := self._out.get(number)) is not None:
                    self._has_left(out, tape, for_good=for_good, cut=cut)
            case Closed(number):
                if (out := self._out.pop(number, None)) is not None:
                    self._has_left(out, TapeSnapshot(), for_good=False)
                    out.connection.close()
            case _:
                self.guests.take(message, descriptor)

    def _come_home(self, outside: Outside, course: Course, told: int) -> None:
        lent = outside.stand_in
        if lent is None or (seats := outside.tournament.come_home(lent, course)) is None:
            return
        match = cast("Travelling", seats[0].match)
        outside.home = match, seats, told
        del self.lent[lent.name]
        lent.carry_out(match)
        self._host.timekeeper.expect(match.deadline)

    def _has_left(
        self, out: LentConnection, tape: TapeSnapshot, *, for_good: bool, cut: bool = False
    ) -> None:
        if not out.left:
            out.left = True
            out.connection.left(tape, for_good=for_good, cut=cut)
            self._is_back(out.lent)

    def _is_back(self, outside: Outside) -> None:
        """A connection is here again, or its bot has left."""
        outside.away -= 1
        if outside.home is not None:
            outside.home[0].arrived()
        elif outside.away == 0 and (lent := outside.stand_in) is not None and lent.log.closed:
            del self.lent[lent.name]
            lent.told()

    def _lose(self, outside: Outside) -> None:
        """Go on here with a match that was played there, unless its result is being kept."""
        if (lent := outside.stand_in) is not None and lent.verdict is None:
            del self.lent[lent.name]
            self._host.guard.start_soon(outside.tournament.lose, lent)


class Spread:
    """All other workers, and the choice of one to play a match."""

    def __init__(self, host: Host, teller: Teller, spread: int) -> None:
        """Tournaments with more than `spread` bots are spread."""
        self._host = host
        self._teller = teller
        self._spread = spread
        self._pairs: dict[int, Pair] = {}
        self._draining = False
        self.hear_now: Callable[[], None] = lambda: None  # takes in what worker 0 has said, if this is not it
        host.lend = self.lend

    async def meet(self, number: int, connected: socket) -> None:
        """Lend matches to a worker, and play for it, until it is gone."""
        pair = self._pairs[number] = Pair(self._host, self._teller, connected, self.hear_now)
        try:
            await pair.run()
        finally:
            if self._pairs.get(number) is pair:
                del self._pairs[number]

    async def run(self) -> None:
        """Tell the others the moves played here for them, until cancelled."""
        while True:
            await trio.sleep(SOON)
            self._each(lambda pair: pair.guests.say_moves())

    def drain(self) -> None:
        """Lend nothing more, and have all matches come home that can go on after a restart."""
        self._draining = True
        self._each(lambda pair: pair.fetch_all())

    def stop(self) -> None:
        self._each(lambda pair: pair.stop())

    def lend(
        self,
        tournament: Tournament,
        beginning: Beginning,
        players: tuple[Player, Player],
        decided: Decide,
    ) -> Lent | None:
        """Have another worker play a match; None: it is played here."""
        if (
            not self._pairs
            or self._draining
            or self._host.draining
            or not self._is_large(tournament)
            or not _may_go(players)
        ):
            return None
        lent = Counter({pair: len(pair.lent) for pair in self._pairs.values()})
        pair = min(self._pairs.values(), key=lent.__getitem__)
        here = self._host.timekeeper.playing - sum(lent.values())
        if HOME * here < lent[pair]:
            return None
        return pair.lend(tournament, beginning, players, decided)

    def _is_large(self, tournament: Tournament) -> bool:
        record = tournament.record
        bots = self._host.lobby.count(record.opened.game) if record.format.endless else len(record.entrants)
        return bots > self._spread

    def _each(self, do: Callable[[Pair], None]) -> None:
        for pair in tuple(self._pairs.values()):
            do(pair)


def _may_go(players: Sequence[Player]) -> bool:
    """Whether both have connections that can be passed on, and both or neither come back after a restart."""
    one, other = players
    if one.connection is None or other.connection is None or one.way_back or other.way_back:
        return False
    return (one.key is None) == (other.key is None)
