"""Who waits for the end of a tournament: it is told once, and nobody waits for what never comes."""

import trio
from trio.testing import MockClock

from server.host.view import HeldTournament
from server.protocols.common.tournament_end import TournamentEnds, stop_waiting, when_over
from tests.server.protocols.fours import Bot, place
from tests.server.protocols.lists import CUP
from tests.server.protocols.room import room
from tests.server.transcripts import hosting
from tournament.facts import AnyFact, Opened, State, Turned


class Waiting:
    def __init__(self, who: str, told: list[tuple[str, str]]) -> None:
        self.who = who
        self.told = told

    def hear_the_end(self, tournament: HeldTournament, fact: AnyFact) -> None:
        self.told.append((self.who, tournament.record.name))


async def test_whoever_waits_hears_of_the_end_of_its_own_tournament_alone(autojump_clock: MockClock) -> None:
    told: list[tuple[str, str]] = []
    async with hosting(CUP) as (host, _):
        cup = host.tournaments["cup"]
        league = await host.open("league", cup.record.opened)
        for who, where in (("ann", "cup"), ("bob", "cup"), ("cas", "league")):
            when_over(host, where, Waiting(who, told))
        dee = Waiting("dee", told)
        when_over(host, "cup", dee)
        stop_waiting(host, "cup", dee)
        assert not told
        await cup.keep(Turned(State.FINISHED))
        assert told == [("ann", "cup"), ("bob", "cup")]
        await league.keep(Turned(State.FINISHED))
        assert told[2:] == [("cas", "league")]


async def test_whoever_is_led_elsewhere_hears_of_the_end_there(autojump_clock: MockClock) -> None:
    """It waited for the end of the tournament that was deleted, and so for ever."""
    async with room(CUP | {"game": "tic-tac-toe"}) as here:
        ann = await here.hello("ann")
        league = await here.host.open("league", Opened("tic-tac-toe", "round-robin", 2))
        await league.enter("ann")
        await here.host.delete(here.host.tournaments["cup"], "the organiser")
        bob = await here.hello("bob", tournament="league")
        await bob.tell(type="resign")
        await trio.sleep(1.0)
        assert league.record.state is State.FINISHED
        assert [each["tournament"] for each in await ann.messages("standings")] == ["league"]


async def test_a_bot_of_an_old_protocol_is_not_kept_waiting_there(autojump_clock: MockClock) -> None:
    async with place(CUP | {"game": "connect-4"}) as host:
        ann = Bot(host)
        await ann.start("ann")
        league = await host.open("league", Opened("connect-4", "round-robin", 3))
        for name in ("ann", "bob", "cas"):
            await league.enter(name)
        await host.delete(host.tournaments["cup"], "the organiser")
        await trio.sleep(200.0)
        assert league.record.state is State.FINISHED
        assert ann.cut == "league is over"


async def test_nobody_waits_for_the_end_of_an_open_table(autojump_clock: MockClock) -> None:
    """Catches listeners that are kept for ever: a bot that hangs up there may never be heard of again."""
    async with hosting({}) as (host, _):
        table = await host.table("tic-tac-toe")
        before = len(host.on_fact)
        when_over(host, table.record.name, Waiting("ann", []))
        assert len(host.on_fact) == before


def test_nothing_is_left_of_those_who_no_longer_wait() -> None:
    ends = TournamentEnds()
    waiting = [(name, Waiting("ann", [])) for name in ("cup", "cup", "league")]
    for name, each in waiting:
        ends.wait(name, each)
    for name, each in (*waiting, waiting[0]):  # a second call does no harm
        ends.forget(name, each)
    assert vars(ends) == vars(TournamentEnds())
