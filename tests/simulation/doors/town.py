"""The host with all its doors, and the network that leads to them."""

from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from random import Random
from typing import Any

import trio
from msgspec import UNSET
from msgspec.structs import replace

from games import hexagondots
from server.config import Evaluation
from server.host.host import Host
from server.host.thinker import Thinker
from server.http.routes import routed
from server.http.service import Http
from server.net.admission import Admission, Visitor
from server.net.wire import Wire
from server.protocols import tcp, websocket
from server.protocols.api.door import Api
from server.protocols.arena.door import Arena
from server.protocols.hexagon_dots.door import HexagonDots
from server.protocols.house.sessions import HouseHttp
from tests.server.protocols.lists import Telephone
from tests.server.transcripts import at_once
from tests.server.windowed import End, windowed_pair
from tests.simulation.doors import talk
from tests.simulation.doors.plan import Plan
from tests.simulation.doors.store import Unhurried
from tournament.facts import AnyFact, Claimed, Dealt, Kept, Opened, State
from tournament.match import Match
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

Called = Callable[[str, dict[str, Any]], Awaitable[bool]]


async def nobody_grades(*match: object) -> None:
    """A child process would take its time, and another clock's."""


class Town(talk.Town):
    def __init__(self, plan: Plan, note: Callable[[str], None], complain: Callable[[str], None]) -> None:
        """To be made where trio's clock runs."""
        self.note = note
        self.complain = complain
        self.name = plan.contest.name
        store = None if plan.latency is None else Unhurried(plan.latency, Random(f"{plan.seed} store"))
        self.host = host = Host(
            store=store,
            at_once=plan.contest.at_once,
            timekeeper=Timekeeper(inf),
            thinker=Thinker(children=0, waiting=0),
            wall=trio.current_time,
        )
        host.boards.run = at_once
        host.grader.grade = nobody_grades
        host.random_bits = Random(f"{plan.seed} lots").getrandbits
        host.on_fact.append(self._told)
        self._plan = plan
        self._telephone = Telephone()
        self._admission = Admission(host.limits)
        self._dialled = 0
        self._pulled: list[End] = []

    async def open(self) -> Tournament:
        """Open the doors and the tournament. The host has to run."""
        host, plan = self.host, self._plan
        self._arena = Arena(host, Evaluation(), "127.0.0.1", self._telephone)
        self._dots, self._house = HexagonDots(host, hexagondots.GAME), HouseHttp(host)
        doors = (self._arena, self._dots, self._house, Api(host, "the organiser's token"))
        self._http = Http(routed(doors), host.guard, host.limits)
        self._doors: dict[str, Callable[[Wire, Visitor], Awaitable[object]]] = {
            "tcp": partial(tcp.attend, host),
            "websocket": partial(websocket.attend, host),
            "http": self._http.attend,
        }
        count = len(plan.contest.entrants)
        opened = Opened(plan.game, plan.contest.format, count, plan.contest.terms, plan.options, plan.pace)
        return await host.open(self.name, opened)

    def _told(self, tournament: Tournament, fact: AnyFact) -> None:
        told: AnyFact | str = fact
        match fact:  # tokens that the host makes up are others each time, and so are their digests
            case Claimed(name=name):
                told = f"{name} has a token"
            case Dealt(keys=(_, _)):
                told = f"{replace(fact, keys=None, ways_back=UNSET)}, and both can come back to it"
            case _:
                pass
        self.note(f"{tournament.record.name}: {told}")

    @property
    def kept(self) -> list[Kept]:
        """All that the store has of the tournament."""
        return [entry for entry in self.host.store.kept() if entry.tournament == self.name]

    # For bots

    @property
    def over(self) -> bool:
        return self.host.tournaments[self.name].record.state is State.FINISHED

    def dial(self, door: str, bot: str) -> End:
        self._dialled += 1
        address = f"10.0.0.{bot.rpartition('-')[2]}"
        seed = self._plan.seed * 10_000 + self._dialled
        wire, end = windowed_pair(self._plan.weather, seed=seed, peer=address)
        visitor = self._admission.admit(wire)
        if visitor is None:
            raise trio.BrokenResourceError("there is no room for a connection")
        self.host.guard.start_soon(self._attend, door, wire, visitor)
        return end

    def pull(self, end: End) -> None:
        """Have neither side hear of the other any more."""
        end.pull()
        self._pulled.append(end)

    def notice(self) -> None:
        """What the kernel finds out by itself, in two minutes: which peers are gone."""
        for end in self._pulled:
            end.other.reset()

    async def _attend(self, door: str, wire: End, visitor: Visitor) -> None:
        try:
            await self._doors[door](wire, visitor)
        finally:
            visitor.leave()
            wire.close()

    def playing(self, name: str) -> tuple[Match, int] | None:
        for tournament in self.host.tournaments.values():
            for match in tournament.matches.values():
                if name in match.names:
                    return match, match.names.index(name)
        return None

    def battle(self, name: str) -> tuple[Match, int] | None:
        battle = self._arena._battles.get(name)
        return None if battle is None else (battle.match, battle.seat.index)

    def number(self, name: str, called: Called) -> str:
        return self._telephone.connect(f"{name}.example:5000", called)

    # What is left when everybody has gone

    def left(self) -> dict[str, int]:
        """But not bots called from an open table: they would be called for an hour after the next match."""
        host, reception = self.host, self.host.reception
        guests = [each for each in self._arena._guests._guests.values() if each.attendance.visit is not None]
        called = {each.attendance.visit.player for each in guests if each.url and each.attendance.visit}
        return {
            "connections": len(self._admission),
            "tasks": len(host.guard._nursery.child_tasks),
            "players": sum(player not in called for player in host.lobby.players()),
            "visits": len(reception._visits) - len(called),
            "claims": len(reception._claims) - len(called),
            "matches": sum(len(each.matches) for each in host.tournaments.values()),
            "HTTP connections": len(self._http._connections),
            "sessions of the house protocol": len(self._house._sessions),
            "bots at Hexagon Dots": len(self._dots._namesakes._count),
            "bots at the Arena": len(guests) - len(called),
            "battles": len(self._arena._battles) + len(self._arena._sides),
        }
