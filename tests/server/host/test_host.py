"""The house: who plays where, and what runs as long as the host does."""

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from typing import Any
from weakref import ref

import pytest
import trio
import trio.testing
from msgspec import structs
from trio.testing import MockClock

from games.catalogue import BadCatalogue, catalogue
from server.host.abroad import HeldAbroad, Wanted
from server.host.archiving import EVERY
from server.host.host import Host
from server.host.names import key
from server.host.opening import OPEN, Opening
from server.host.unwelcome import Unwelcome
from server.host.visits import Visit
from tests.server.protocols.room import SlowToEnter
from tests.server.protocols.table import Slow as SlowToKeep
from tests.steps import steps_taken
from tests.tournament.world import first, play
from tests.turns import taking_turns
from tournament.desk import Desk
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened, State, Turned
from tournament.folding import kept_as
from tournament.format import Pairing, Terms
from tournament.in_play import Both
from tournament.lent import Beginning, Decided, Lent, not_begun
from tournament.match import Match
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.store import Kept, Memory
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

GAME = "tic-tac-toe"


class Slow:
    """An `Abroad` that holds nothing, and takes its time before this process opens a table."""

    def __init__(self) -> None:
        self.held: dict[str, HeldAbroad] = {}
        self.ready = trio.Event()

    def entered(self, name: str, game: str) -> Sequence[Record]:
        return ()

    def expects(self, name: str, game: str) -> bool:
        return False

    def may_hold(self, tournament: str, game: str) -> bool:
        return False

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> None: ...

    def place(self, record: Record) -> None: ...

    async def is_free(self, name: str) -> bool:
        return True

    async def opens(self, game: str) -> bool:
        await self.ready.wait()
        return True


@asynccontextmanager
async def running(store: Memory | None = None) -> AsyncIterator[tuple[Host, trio.Nursery]]:
    host = Host(store=store, timekeeper=Timekeeper(inf), wall=trio.current_time)
    async with trio.open_nursery() as nursery:
        await nursery.start(host.run)
        yield host, nursery
        nursery.cancel_scope.cancel()


async def come(host: Host, nursery: trio.Nursery, name: str, **how: Any) -> Visit:
    visit = await host.arrive(name, GAME, **how)
    nursery.start_soon(play, visit.player, first)
    return visit


async def test_whoever_comes_with_nothing_on_meets_others_at_the_open_table(
    autojump_clock: MockClock,
) -> None:
    async with running() as (host, nursery):
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await trio.sleep(30.0)
        table = host.tournaments["open-tic-tac-toe"].record
        assert len(table.matches) >= 3
        sides = [match.players for match in table.matches.values()]
        assert sides[:2] == [("ann", "bob"), ("bob", "ann")], "who came first is first, and then by turns"


@pytest.mark.parametrize("_", range(12))
async def test_those_who_come_while_a_table_is_being_opened_come_to_it_in_their_order(
    _: int, autojump_clock: MockClock
) -> None:
    """Another process may have to open it, and whoever comes right then does not overtake."""
    abroad, came = Slow(), list[str]()

    async def come(host: Host, name: str) -> None:
        await host.arrive(name, GAME)
        came.append(name)

    async with running() as (host, nursery):
        host.abroad = abroad
        for name in ("ann", "bob", "cas", "dee"):
            nursery.start_soon(come, host, name)
            await trio.testing.wait_all_tasks_blocked()
        abroad.ready.set()
        while OPEN + GAME not in host.tournaments:
            await trio.lowlevel.checkpoint()
        nursery.start_soon(come, host, "eve")
        await trio.testing.wait_all_tasks_blocked()
        assert came == ["ann", "bob", "cas", "dee", "eve"]


async def test_whoever_comes_while_a_tournament_takes_entrants_enters_it(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        cup = await host.open("cup", Opened(GAME, "round-robin", 3))
        for name in ("ann", "bob", "cas", "dee"):
            await come(host, nursery, name)
        await trio.sleep(100.0)
        assert list(cup.record.entrants) == ["ann", "bob", "cas"]
        assert cup.record.state is State.FINISHED
        assert (await come(host, nursery, "eve")).player.place == "open-tic-tac-toe"
        await trio.sleep(20.0)
        assert list(host.tournaments["open-tic-tac-toe"].record.entrants) == ["dee", "eve"]


async def test_a_ladder_takes_as_many_as_was_asked_for_and_these_again(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        ladder = await host.open("stairs", Opened(GAME, "ladder", 2))
        ann, _ = [await come(host, nursery, name) for name in ("ann", "bob")]
        await trio.sleep(20.0)
        assert ladder.record.state is State.RUNNING
        assert (await come(host, nursery, "cas")).player.place == OPEN + GAME
        with pytest.raises(Unwelcome, match=r"^stairs is full: it takes 2$"):
            await host.arrive("dee", GAME, tournament="stairs")
        ann.leave(for_good=True)
        await trio.sleep(20.0)
        assert (await come(host, nursery, "ann")).player.place == "stairs"


async def test_a_ladder_that_was_started_with_fewer_takes_as_many_as_are_lacking_and_no_more(
    autojump_clock: MockClock,
) -> None:
    """Catches one that took everybody who came until the next match was over."""
    async with running() as (host, nursery):
        ladder = await host.open("stairs", Opened(GAME, "ladder", 3))
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await Desk(ladder).start()
        places = [(await come(host, nursery, name)).player.place for name in ("cas", "dee", "eve")]
        assert places == ["stairs", OPEN + GAME, OPEN + GAME]
        with pytest.raises(Unwelcome, match=r"^stairs is full: it takes 3$"):
            await host.arrive("fay", GAME, tournament="stairs")
        await trio.sleep(100.0)
        assert sorted(ladder.record.entrants) == ["ann", "bob", "cas"]


async def test_whoever_comes_while_a_tournament_fills_up_goes_to_the_next_and_then_to_the_open_table(
    autojump_clock: MockClock,
) -> None:
    """All of them come before the first has been taken in. Whoever asked for one by name is told."""
    places = dict[str, str | None]()

    async def come(host: Host, name: str, wanted: str | None) -> None:
        try:
            places[name] = (await host.arrive(name, GAME, tournament=wanted)).player.place
        except Unwelcome as error:
            places[name] = str(error)

    async with running(SlowToEnter()) as (host, _):
        for name, entrants in (("cup", 2), ("friday", 3)):
            await host.open(name, Opened(GAME, "round-robin", entrants))
        async with trio.open_nursery() as nursery:
            for name in ("ann", "bob", "cas", "dan", "eve", "fay"):
                nursery.start_soon(come, host, name, None)
            await trio.sleep(1.0)
            nursery.start_soon(come, host, "gil", "cup")
        assert places.pop("gil") == "cup is full: it takes 2"
        assert sorted(map(str, places.values())) == [*["cup"] * 2, *["friday"] * 3, OPEN + GAME]


async def test_a_player_plays_in_one_place_at_a_time(autojump_clock: MockClock) -> None:
    """Catches an open table that deals to those who wait for their next match in a tournament."""
    async with running() as (host, nursery):
        visits = [await come(host, nursery, name) for name in ("ann", "bob")]
        await trio.sleep(20.0)
        for visit in visits:
            visit.leave(for_good=True)
        await trio.sleep(1.0)
        cup = await host.open("cup", Opened(GAME, "round-robin", 3))
        played = len(host.tournaments["open-tic-tac-toe"].record.matches)
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await trio.sleep(50.0)
        assert len(host.tournaments["open-tic-tac-toe"].record.matches) == played
        await come(host, nursery, "cas")
        await trio.sleep(50.0)
        assert cup.record.state is State.FINISHED


async def test_a_tournament_may_be_asked_for_by_name(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        await host.open("monday", Opened(GAME, "round-robin", 2))
        await host.open("friday", Opened(GAME, "round-robin", 2))
        assert (await come(host, nursery, "ann", tournament="friday")).player.place == "friday"
        assert (await come(host, nursery, "bob")).player.place == "monday"
        with pytest.raises(Unwelcome, match="no tournament 'sunday' of tic-tac-toe"):
            await host.arrive("cas", GAME, tournament="sunday")
        assert host.lobby.find("cas", GAME) is None, "who is turned away is not here"


async def test_an_entrant_who_comes_back_goes_to_its_tournament(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        cup = await host.open("cup", Opened(GAME, "round-robin", 3))
        for name in ("ann", "bob", "cas"):
            visit = await come(host, nursery, name, keeps=False)
        await host.open("other", Opened(GAME, "round-robin", 3))
        visit.leave()
        assert (await come(host, nursery, "cas", keeps=False)).player.place == "cup"
        await trio.sleep(100.0)
        assert cup.record.state is State.FINISHED


@pytest.mark.parametrize(
    ("name", "opened", "reason"),
    [
        ("cup", Opened("chess", "swiss"), "no game 'chess'; there are: connect-4"),
        ("cup", Opened(GAME, "lottery"), "no format 'lottery'; there are: "),
        ("cup", Opened(GAME, "swiss", 1), "a swiss needs 2 entrants or more, not 1"),
        ("cup", Opened(GAME, "swiss", 2_001), "entrants: expected 2 to 2000 in a swiss, not 2001"),
        ("cup", Opened("hexagon-dots", "swiss", options={"rows": 4}), "rows"),
        ("cup", Opened("hexagon-dots", "swiss", options={"end": 3}), 'end has to be "lines" or "hexagons"'),
        ("cup", Opened(GAME, "swiss", options={"size": 4}), "has no option"),
        ("", Opened(GAME, "swiss"), "is named by letters"),
        ("a/b", Opened(GAME, "swiss"), "is named by letters"),
        ("there", Opened(GAME, "swiss"), "there is a tournament there already"),
    ],
)
async def test_a_tournament_that_cannot_be_is_refused_in_words(
    autojump_clock: MockClock, name: str, opened: Opened, reason: str
) -> None:
    async with running() as (host, _):
        await host.open("there", Opened(GAME, "swiss"))
        with pytest.raises(Refusal, match=reason):
            await host.open(name, opened)
        assert list(host.tournaments) == ["there"]


async def test_everything_goes_on_from_what_the_store_holds(autojump_clock: MockClock) -> None:
    store = Memory()
    async with running(store) as (host, nursery):
        await host.open("cup", Opened(GAME, "round-robin", 3, Terms(seed=7)))
        for name in ("ann", "bob", "cas"):
            await come(host, nursery, name)
        await trio.sleep(4.0)
    async with running(store) as (host, nursery):
        for name in ("ann", "bob", "cas"):
            await come(host, nursery, name)
        await trio.sleep(100.0)
        assert host.tournaments["cup"].record.state is State.FINISHED


async def test_listeners_hear_of_matches_and_facts(autojump_clock: MockClock) -> None:
    begun: list[str] = []
    facts: list[AnyFact] = []

    def hear(tournament: Tournament, match: Match) -> None:
        begun.append(match.name)

    async with running() as (host, nursery):
        host.on_begun.append(hear)
        host.on_fact.append(lambda tournament, fact: facts.append(fact))
        await host.open("cup", Opened(GAME, "round-robin", 2))
        for name in ("ann", "bob"):
            await come(host, nursery, name)
        await trio.sleep(50.0)
    assert begun == ["cup-1"]
    assert [fact.match for fact in facts if isinstance(fact, Concluded)] == ["cup-1"]


async def test_other_processes_are_told_of_whoever_was_refused() -> None:
    """They expect everybody whom they have sent here."""
    async with running() as (host, _):
        await host.arrive("ann", GAME, keeps=False)
        moved = list[tuple[str, str]]()
        host.reception.moved = moved.append
        with pytest.raises(Unwelcome, match="taken"):
            await host.arrive("ann", GAME)
        assert moved == [(GAME, key("ann"))]


async def test_of_two_who_open_a_tournament_of_one_name_at_once_one_is_refused(
    autojump_clock: MockClock,
) -> None:
    refused = list[str]()

    async def opens(host: Host) -> None:
        try:
            await host.open("cup", Opened(GAME, "round-robin", 2))
        except Refusal as refusal:
            refused.append(str(refusal))

    store = SlowToKeep(Opened)
    async with running(store) as (host, _):
        async with trio.open_nursery() as both:
            both.start_soon(opens, host)
            both.start_soon(opens, host)
        assert refused == ["there is a tournament cup already"]
        assert [kept.tournament for kept in store.kept() if isinstance(kept.fact, Opened)] == ["cup"]


async def test_a_host_that_is_about_to_stop_lets_nobody_in(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        host.draining = True
        with pytest.raises(Unwelcome, match="about to stop"):
            await host.arrive("ann", GAME)


async def test_a_match_that_goes_on_after_a_restart_is_no_news_to_other_tournaments(
    autojump_clock: MockClock,
) -> None:
    """Catches a start at which every tournament does something for each match of every other one."""
    interrupted, heard = Record("cup", Opened(GAME, "round-robin", 2)), list[str]()
    for fact in (
        Entered("ann"),
        Entered("bob"),
        Turned(State.RUNNING),
        Drew((Pairing(1, 1, "ann", "bob"),)),
        Dealt("cup-1", 1, keys=("", ""), ways_back=("arena one", "arena other")),
    ):
        interrupted.add(fact)
    host = Host(timekeeper=Timekeeper(inf), load=lambda: ({"cup": interrupted}, []))
    host.lobby.listen(lambda player: heard.append(player.name), "league")
    async with trio.open_nursery() as nursery:
        await nursery.start(host.run)
        assert [*host.tournaments["cup"].matches] == ["cup-1"]
        assert {player.place for player in host.lobby.players(GAME)} == {"cup"}
        nursery.cancel_scope.cancel()
    assert not heard


class Told:
    """A connection that hears of it when the host stops."""

    def __init__(self, told: list[str]) -> None:
        self.told = told

    def say_goodbye(self) -> None:
        self.told.append("goodbye")


class Steps(trio.abc.Instrument):
    """How many steps all tasks have taken."""

    def __init__(self) -> None:
        self.taken = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.taken += 1


async def test_a_host_stops_as_soon_however_many_tournaments_wait_for_bots_or_are_over(
    autojump_clock: MockClock,
) -> None:
    """Catches bots that are hung up on without a word: there is a second in which to tell them goodbye."""
    taken, few, many = list[int](), 5, 50
    for count in (few, many):
        async with running() as (host, nursery):
            for number in range(count):
                await host.open(f"cup-{number}", Opened(GAME, "round-robin", 2, by_invitation=True))
            await come(host, nursery, "ann")
            await come(host, nursery, "bob")
            await trio.sleep(1.5)
            assert host.tournaments[OPEN + GAME].matches
            told: list[str] = []
            host.on_stop.add(Told(told))
            steps = Steps()
            trio.lowlevel.add_instrument(steps)
            await host.stop()
            trio.lowlevel.remove_instrument(steps)
            assert told
            taken.append(steps.taken)
            over = host.tournaments[OPEN + GAME].record.ended
            await trio.sleep(60.0)
            assert host.tournaments[OPEN + GAME].record.ended == over, "nothing is decided any more"
    assert taken[1] - taken[0] < many - few


async def test_whoever_comes_back_and_asks_for_what_is_not_there_keeps_its_seat(
    autojump_clock: MockClock,
) -> None:
    """Catches a returning player that is thrown out, with its match, over a wrong name of a tournament."""
    async with running() as (host, nursery):
        ann = await come(host, nursery, "ann")
        await come(host, nursery, "bob")
        await trio.sleep(0.5)
        assert ann.player.seat is not None
        ann.acknowledge()
        ann.leave()
        with pytest.raises(Unwelcome, match="no tournament 'sunday'"):
            await host.arrive("ann", GAME, token=ann.token, tournament="sunday")
        again = await host.arrive("ann", GAME, token=ann.token)
        assert again.player is ann.player
        assert again.player.seat is not None
        assert again.player.seat.match.verdict is None


async def test_a_tournament_is_opened_as_soon_however_many_of_its_name_were_deleted() -> None:
    """Catches a look at the names of all of them: after 50,000, no move was played for 30 ms meanwhile."""
    opened, steps = Opened(GAME, "round-robin"), list[int]()
    for many in (50, 100):
        opening = Opening(Memory(), trio.current_time, whole=True)
        opening.note([Record("cup", opened, kept_as=kept_as("cup", number)) for number in range(many)])
        assert (await opening.open("cup", opened, (), 0.0)).kept_as == kept_as("cup", many)
        steps.append(steps_taken(partial(opening._unused, "cup")))
        assert (await opening.open("cup", opened, (), 0.0)).kept_as == kept_as("cup", many + 1)
        assert (await opening.open("cap", opened, (), 0.0)).kept_as == "cap"
    assert steps[0] == steps[1]


async def test_while_many_are_led_out_of_a_deleted_tournament_others_get_their_turns() -> None:
    """Catches one step for all of them: with 10,000 it held up all moves for a tenth of a second."""
    async with running() as (host, _):
        cup = await host.open("cup", Opened(GAME, "round-robin"))
        visits = [await host.arrive(f"bot-{number}", GAME, tournament="cup") for number in range(50)]
        async with taking_turns() as turns:
            await host.delete(cup, "somebody")
        assert turns.taken >= len(visits)
        assert {visit.player.place for visit in visits} == {OPEN + GAME}


@pytest.mark.parametrize("played", [True, False])
async def test_nothing_is_left_of_a_deleted_tournament_that_only_the_collector_could_free(
    autojump_clock: MockClock, played: bool
) -> None:
    """Catches circles: after a round robin of 500 had been deleted, its pairings took 25 MB for ever."""
    gc.disable()
    try:
        async with running() as (host, nursery):
            cup = await host.open("cup", Opened(GAME, "round-robin", 2 if played else None))
            for name in ("ann", "bob"):
                await come(host, nursery, name, tournament="cup")
            if played:
                await cup.finished()
                await trio.sleep(EVERY)  # until it was looked at whether it can be archived
            left = ref(cup), ref(cup.record)
            await host.delete(cup, "somebody")
            del cup
            await trio.testing.wait_all_tasks_blocked()
            assert [each() for each in left] == [None, None]
    finally:
        gc.enable()


async def test_a_match_that_comes_home_when_nobody_holds_its_tournament_is_passed_over(
    autojump_clock: MockClock,
) -> None:
    """Catches an error where it is heard of, which would end the link to the process that played it."""
    lent: list[Lent] = []

    def lend(tournament: Tournament, beginning: Beginning, players: Both, decided: Decided) -> None:
        lent.append(Lent(beginning, 0.0, decided, lambda: None, lambda match: None))

    async with running() as (host, nursery):
        host.lend = lend
        cup = await host.open("cup", Opened(GAME, "round-robin", 2))
        for name in ("ann", "bob"):
            await come(host, nursery, name, tournament="cup")
        await cup.finished()
        await host.delete(cup, "somebody")
        left = ref(cup)
        del cup
        await trio.testing.wait_all_tasks_blocked()
        gc.collect()
        assert left() is None
        lent[0].conclude(not_begun(0.0))


# What is kept was opened with another version of a game


@pytest.mark.parametrize("state", [State.REGISTERING, State.RUNNING, State.PAUSED, State.FINISHED])
async def test_without_the_game_of_a_tournament_no_host_runs_and_the_game_is_named(state: State) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(BadCatalogue, match='"chess"'), flatten_subgroups=True):
        async with running(cup_of(state, "chess")):
            ...


async def test_a_tournament_goes_on_only_if_its_game_has_its_options_and_is_named_otherwise() -> None:
    with pytest.RaisesGroup(
        pytest.RaisesExc(BadCatalogue, match='cup cannot go on: .*"size"'), flatten_subgroups=True
    ):
        async with running(cup_of(State.RUNNING, GAME, size=4)):
            ...


async def test_a_tournament_with_which_its_game_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise KeyError("?")

    changed = structs.replace(catalogue()[GAME], start=fail)
    monkeypatch.setattr("server.host.opening.game_kept", lambda name: changed)
    with pytest.RaisesGroup(
        pytest.RaisesExc(BadCatalogue, match="cup cannot go on: Tic-Tac-Toe fails to begin: KeyError"),
        flatten_subgroups=True,
    ):
        async with running(cup_of(State.RUNNING, GAME)):
            ...


@pytest.mark.parametrize(
    ("state", "game", "held"), [(State.FINISHED, GAME, ["cup"]), (State.DELETED, "chess", [])]
)
async def test_what_is_over_needs_no_options_and_what_is_deleted_no_game(
    state: State, game: str, held: Sequence[str]
) -> None:
    async with running(cup_of(state, game, size=4)) as (host, _):
        assert [*host.tournaments] == held


def cup_of(state: State, game: str, **options: object) -> Memory:
    facts: Sequence[AnyFact] = (Opened(game, "round-robin", 2, options=options), Turned(state))
    return Memory(Kept("cup", 0.0, fact) for fact in facts)
