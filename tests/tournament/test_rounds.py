"""Rounds by the clock: none begins before its time or before the last is over, also after a restart."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from math import inf
from typing import Any

import pytest
import trio
from msgspec import structs
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Pace
from server.export.trf import trf
from tests.tournament.world import Behaviour, World, first, play, silent
from tournament.events import Ending
from tournament.facts import (
    AnyFact,
    Concluded,
    Dealt,
    Drew,
    EndedEarly,
    Entered,
    NoShow,
    Opened,
    RoundBegan,
    State,
    Turned,
    Withdrew,
)
from tournament.format import Pairing
from tournament.record import Record
from tournament.rounds import begins_at, coming, objection, planned
from tournament.sizes import SECONDS
from tournament.store import Memory
from tournament.waiting import START, Waiting

NAMES = ("ann", "bob", "cas", "dee")
FORMATS = ("round-robin", "double-round-robin", "swiss", "knockout", "gauntlet")
MINUTE = 60.0


def rounds_of(here: World) -> dict[int, list[float]]:
    """When the matches of each round were dealt, by the store."""
    drawn: Mapping[int, Pairing] = here.tournament.record.drawn
    found: dict[int, list[float]] = {}
    for kept in here.store.kept():
        if isinstance(kept.fact, Dealt):
            found.setdefault(drawn[kept.fact.pairing].round, []).append(kept.when)
    return found


def ends_of(here: World) -> dict[int, float]:
    """When the last match of each round was over."""
    drawn = here.tournament.record.drawn
    return {
        drawn[kept.fact.pairing].round: kept.when
        for kept in here.store.kept()
        if isinstance(kept.fact, Concluded)
    }


async def hold(
    opened: Opened,
    seconds: float,
    behaviours: Mapping[str, Behaviour] | None = None,
    store: Memory | None = None,
    names: Sequence[str] = NAMES,
) -> World:
    """Hold it for so long, or until it is over; with a store that has it, go on with it."""
    here = World(opened, store)
    if store is None:
        await here.store.keep("cup", trio.current_time(), [opened])
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.timekeeper.run)
            for name in names:
                await here.tournament.enter(name)
                nursery.start_soon(play, here.come(name), (behaviours or {}).get(name, first))
            nursery.start_soon(here.tournament.run)
            if here.tournament.record.state is State.REGISTERING and opened.start is None:
                await here.desk.start()
            await here.tournament.finished()
            nursery.cancel_scope.cancel()
    return here


@pytest.mark.parametrize("format", FORMATS)
async def test_no_round_begins_before_its_time(format: str, autojump_clock: MockClock) -> None:
    begin = trio.current_time()
    here = await hold(Opened("tic-tac-toe", format, round_every=5 * MINUTE), inf)
    rounds = rounds_of(here)
    assert here.tournament.record.state is State.FINISHED
    assert len(rounds) >= 2
    for round, dealt in rounds.items():
        due = begin + (round - 1) * 5 * MINUTE
        assert due - 1.0 <= min(dealt)  # the plan is in whole seconds
        assert max(dealt) <= due + 2 * MINUTE


async def test_a_round_that_is_late_delays_the_next_and_no_other(autojump_clock: MockClock) -> None:
    """The last match of round 1 takes until after the time of round 2."""

    async def slow_at_first(seat: Any) -> None:
        if trio.current_time() < begin + MINUTE:
            await trio.sleep(begin + 1.5 * MINUTE - trio.current_time())
        await first(seat)

    begin = trio.current_time()
    times = tuple(begin + n * MINUTE for n in range(3))
    opened = Opened("tic-tac-toe", "round-robin", pace=Pace(bank=300.0), rounds_at=times)
    here = await hold(opened, inf, {"ann": slow_at_first}, names=(*NAMES, "eve", "fay"))
    rounds, ends = rounds_of(here), ends_of(here)
    assert times[1] < ends[1] <= min(rounds[2]) < ends[1] + 1.0
    assert min(rounds[3]) == pytest.approx(max(times[2], ends[2]), abs=1.0)


async def test_no_round_begins_while_somebody_is_waited_for_in_the_one_before(
    autojump_clock: MockClock,
) -> None:
    """Catches a round of which nothing is in play, and that is taken for over."""
    here = World(Opened("tic-tac-toe", "round-robin", round_every=10.0))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in NAMES:
            await here.tournament.enter(name)
        for name in NAMES[:3]:
            nursery.start_soon(play, here.come(name), first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    rounds, ends = rounds_of(here), ends_of(here)
    assert [min(rounds[round]) >= ends[round - 1] for round in (2, 3)] == [True, True]
    assert ends[1] > 20.0, "which is after the time of the next"


@pytest.mark.parametrize("minutes", [5.0, 0.02], ids=["in time", "late"])
async def test_what_is_drawn_in_a_knockout_is_played_again_in_its_round(
    minutes: float, autojump_clock: MockClock
) -> None:
    """Catches a round that begins with what has to be played again of the one before."""
    always_drawn = structs.replace(catalogue()["tic-tac-toe"], ply_limit=3)
    opened, begin = Opened("tic-tac-toe", "knockout", round_every=minutes * MINUTE), trio.current_time()
    here = World(opened, rules=always_drawn)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in NAMES:
            await here.tournament.enter(name)
            nursery.start_soon(play, here.come(name), first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    rounds, ends = rounds_of(here), ends_of(here)
    assert {round: len(dealt) for round, dealt in rounds.items()} == {1: 4, 2: 2}
    assert [fact.round for fact in here.told if isinstance(fact, RoundBegan)] == [1, 2]
    assert min(rounds[2]) >= max(ends[1], begin + minutes * MINUTE)
    assert ends[1] < begin + MINUTE


async def test_a_restart_between_two_rounds_keeps_the_plan(autojump_clock: MockClock) -> None:
    opened, begin = Opened("tic-tac-toe", "swiss", round_every=5 * MINUTE), trio.current_time()
    before = await hold(opened, 7 * MINUTE)
    assert before.tournament.record.round == 2
    after = await hold(opened, inf, store=before.store)
    assert after.tournament.record.state is State.FINISHED
    third = min(rounds_of(after)[3])
    assert third == pytest.approx(begin + 10 * MINUTE, abs=1.0)


@asynccontextmanager
async def waiting_swiss(names: Sequence[str] = NAMES) -> AsyncGenerator[World]:
    """A Swiss whose first round is over, and that waits for the time of the next; it is held to its end."""
    here = World(Opened("tic-tac-toe", "swiss", round_every=5 * MINUTE))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in names:
            await here.tournament.enter(name)
            nursery.start_soon(play, here.come(name), first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await trio.sleep(4 * MINUTE)
        yield here
        await here.tournament.finished()
        nursery.cancel_scope.cancel()


async def test_a_swiss_round_is_drawn_when_it_begins_among_those_who_are_left(
    autojump_clock: MockClock,
) -> None:
    async with waiting_swiss() as here:
        record = here.tournament.record
        assert {pairing.round for pairing in record.drawn.values()} == {1}
        assert record.state is State.RUNNING
        await here.desk.withdraw("ann")
    later = [pairing for pairing in record.drawn.values() if pairing.round > 1]
    assert later
    assert not any("ann" in pairing.names for pairing in later)


async def test_a_round_that_waits_for_its_time_is_drawn_anew_after_two_orders_at_once(
    autojump_clock: MockClock,
) -> None:
    """Catches a round that was drawn with somebody who had been withdrawn while a match was voided."""
    async with waiting_swiss() as here:
        over, _ = here.concluded()
        async with trio.open_nursery() as orders:
            orders.start_soon(here.desk.withdraw, over.players[0])
            orders.start_soon(here.desk.void, over.match, "a cable")
    later = [pairing for pairing in here.tournament.record.drawn.values() if pairing.round > 1]
    assert later
    assert all(over.players[0] not in pairing.names for pairing in later)


async def test_a_round_that_waits_for_its_time_is_drawn_anew_after_a_match_that_went_otherwise(
    autojump_clock: MockClock,
) -> None:
    """Catches a round by results that do not count any more."""
    async with waiting_swiss("abcdefgh") as here:
        record, over = here.tournament.record, here.concluded()[0]
        before = [*record.drawn.values()]
        await here.desk.void(over.match, "a cable")
        while not record.dealt:
            await here.tournament.changed()
        (again,) = record.dealt
        winner = here.tournament.players(again)[over.winner or 0]
        assert winner.seat is not None
        winner.seat.resign()
        while record.dealt:
            await here.tournament.changed()
        expected = record.format.draw([*record.entrants.values()], before, record.past()[1], record.terms)
    assert [pairing for pairing in record.drawn.values() if pairing.round == 2] == expected


async def test_nobody_is_waited_for_between_rounds(autojump_clock: MockClock) -> None:
    """An entrant that goes after its match and is back for the next has missed nothing."""
    here = World(Opened("tic-tac-toe", "round-robin", absent="settle", round_every=5 * MINUTE))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in NAMES[:2]:
            await here.tournament.enter(name)
        await here.tournament.enter("cas")
        players = {name: here.come(name) for name in NAMES[:3]}
        for player in players.values():
            nursery.start_soon(play, player, first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await trio.sleep(2 * MINUTE)
        for player in players.values():
            player.away()
        await trio.sleep(2 * MINUTE)
        for name in players:
            nursery.start_soon(play, here.come(name), first)
            players[name].retire()
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    assert all(fact.ending is Ending.PLAYED for fact in here.concluded())


async def test_between_rounds_it_is_told_who_is_missing_for_the_next(autojump_clock: MockClock) -> None:
    here = World(Opened("tic-tac-toe", "round-robin", round_every=10 * MINUTE, absent="settle"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in NAMES:
            await here.tournament.enter(name)
        players = [here.come(name) for name in NAMES]
        for player in players:
            nursery.start_soon(play, player, first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await trio.sleep(5 * MINUTE)
        assert here.tournament.record.round == 1
        assert not here.tournament.missing()
        players[0].away()
        assert [each.name for each in here.tournament.missing()] == ["ann"]
        nursery.cancel_scope.cancel()


async def test_whoever_has_lost_a_knockout_is_not_missing_for_its_next_round(
    autojump_clock: MockClock,
) -> None:
    here = World(Opened("tic-tac-toe", "knockout", round_every=10 * MINUTE, absent="settle"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in NAMES:
            await here.tournament.enter(name)
        players = {name: here.come(name) for name in NAMES}
        for player in players.values():
            nursery.start_soon(play, player, first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await trio.sleep(MINUTE)
        won = [over.players[over.winner] for over in here.concluded() if over.winner is not None]
        assert len(won) == 2
        for name, player in players.items():
            if name != won[0]:
                player.away()
        assert [each.name for each in here.tournament.missing()] == [won[1]]
        await here.desk.withdraw(won[0])
        assert not here.tournament.missing()  # the other has a bye
        nursery.cancel_scope.cancel()


async def test_whoever_idles_in_the_next_round_is_not_missing_for_it(autojump_clock: MockClock) -> None:
    here = World(Opened("tic-tac-toe", "round-robin", round_every=10 * MINUTE, absent="settle"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        players = [here.come(name) for name in NAMES[:3]]
        for player in players:
            await here.tournament.enter(player.name)
            nursery.start_soon(play, player, first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await trio.sleep(MINUTE)
        for player in players:
            player.away()
        (second,) = [each for each in here.tournament.record.drawn.values() if each.round == 2]
        assert {each.name for each in here.tournament.missing()} == {*second.names}
        nursery.cancel_scope.cancel()


async def test_whoever_has_played_its_match_is_not_missing_before_the_round_is_over(
    autojump_clock: MockClock,
) -> None:
    here = World(Opened("tic-tac-toe", "round-robin", round_every=10 * MINUTE, absent="settle"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in NAMES:
            await here.tournament.enter(name)
        players = {name: here.come(name) for name in NAMES}
        for name, player in players.items():
            nursery.start_soon(play, player, silent if name == "dee" else first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await trio.sleep(10.0)
        (over,) = here.concluded()
        players[over.players[0]].away()
        assert not here.tournament.missing()
        await trio.sleep(MINUTE)
        assert [each.name for each in here.tournament.missing()] == [over.players[0]]
        nursery.cancel_scope.cancel()


async def test_the_forecast_knows_when_the_last_round_begins(autojump_clock: MockClock) -> None:
    for format in ("round-robin", "swiss"):
        begin = trio.current_time()
        here = World(Opened("tic-tac-toe", format, round_every=10 * MINUTE))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.timekeeper.run)
            for name in NAMES:
                await here.tournament.enter(name)
                nursery.start_soon(play, here.come(name), first)
            nursery.start_soon(here.tournament.run)
            await here.desk.start()
            await trio.sleep(2 * MINUTE)
            forecast, asked = here.tournament.eta(), trio.current_time()
            await here.tournament.finished()
            took = trio.current_time() - begin
            nursery.cancel_scope.cancel()
        assert took > 20 * MINUTE
        assert forecast is not None
        assert asked - begin + forecast == pytest.approx(took, rel=0.05)


def record(opened: Opened, entrants: int = 4) -> Record:
    known = Record("cup", opened)
    for number in range(entrants):
        known.add(Entered(f"bot-{number}"))
    return known


@pytest.mark.parametrize(
    ("format", "rounds"), [("round-robin", 3), ("double-round-robin", 6), ("knockout", 2)]
)
def test_the_plan_has_a_time_for_every_round(format: str, rounds: int) -> None:
    known = record(Opened("tic-tac-toe", format, start_at=1000.0, round_every=60.0))
    assert [*planned(known)] == [(n + 1, 1000.0 + 60.0 * n) for n in range(rounds)]
    known.add(Turned(State.RUNNING))
    known.add(RoundBegan(1, 1003.7))
    assert coming(known) == (2, 1063.0)
    assert begins_at(known, 3) == 1123.0


@pytest.mark.parametrize("format", ["swiss", "knockout"])
@pytest.mark.parametrize("absent", [0, 1, 2])
@pytest.mark.parametrize("leaving", [0, 1, 2, 9])
def test_as_many_rounds_are_told_of_as_are_held_whoever_does_not_come_or_leaves(
    format: str, absent: int, leaving: int
) -> None:
    """Catches a Swiss of 17 that two left: nobody was told any more of its last two rounds."""
    opened = Opened("tic-tac-toe", format, start_at=0.0, round_every=MINUTE, check_in=MINUTE)
    known = record(opened, 17)
    for fact in (*(NoShow(f"bot-{number}") for number in range(absent)), Turned(State.RUNNING)):
        known.add(fact)
    said: list[tuple[int, float] | None] = []
    while drawn := known.format.draw([*known.entrants.values()], *known.past(), known.terms):
        said.append(coming(known))
        for fact in (RoundBegan(len(said), MINUTE * len(said)), Drew(tuple(drawn))):
            known.add(fact)
        for number in [*known.open]:
            match, names = (
                known.match_name(number),
                (known.drawn[number].first, known.drawn[number].second or ""),
            )
            known.add(Concluded(match, number, names, 0, Ending.RESIGNED, "so", (1.0, 0.0)))
        for name in [name for name in known.entrants if name not in known.out][: leaving * (len(said) == 1)]:
            known.add(Withdrew(name, annulled=False))
    assert [each and each[0] for each in (*said, coming(known))] == [*range(1, len(said) + 1), None]
    assert f"\r\nXXR {len(said)}\r\n" in trf(known)


@pytest.mark.parametrize("format", ["swiss", "knockout", "round-robin"])
def test_rounds_are_told_of_for_a_full_field_until_it_begins_and_then_for_whoever_is_in_it(
    format: str,
) -> None:
    """And of an unknown field only those with times of their own."""
    most = 16
    unknown = Opened("tic-tac-toe", format, start_at=0.0, round_every=MINUTE)
    assert [*planned(record(unknown, 0))] == []
    assert [*planned(record(Opened("tic-tac-toe", format, rounds_at=(1.0, 2.0)), 0))] == [(1, 1.0), (2, 2.0)]
    known = record(structs.replace(unknown, entrants=most), 4)
    held = [len([*planned(record(unknown, count))]) for count in (4, most)]
    assert len([*planned(known)]) == held[1] > held[0]
    known.add(Turned(State.RUNNING))
    assert len([*planned(known)]) == held[0]


def test_late_entrants_make_rounds_that_are_told_of() -> None:
    known = record(Opened("tic-tac-toe", "round-robin", start_at=0.0, round_every=MINUTE), 4)
    known.add(Turned(State.RUNNING))
    for late in ((), ("eve", "fay")):
        for name in late:
            known.add(Entered(name))
        drawn = known.format.draw([*known.entrants.values()], *known.past(), known.terms)
        known.add(Drew(tuple(drawn)))
        assert [*planned(known)][-1][0] == drawn[-1].round
    assert drawn[-1].round > 5, "which is more than a round robin of six has"


@pytest.mark.parametrize("over", [EndedEarly(), Turned(State.FINISHED)])
def test_no_round_comes_once_it_is_over_or_was_ended(over: AnyFact) -> None:
    known = record(Opened("tic-tac-toe", "swiss", start_at=0.0, round_every=MINUTE))
    for fact in (Turned(State.RUNNING), RoundBegan(1, 0.0)):
        known.add(fact)
    assert coming(known) == (2, MINUTE)
    known.add(over)
    assert coming(known) is None


@pytest.mark.parametrize("start", [None, 1000.0])
def test_without_a_clock_a_round_begins_at_any_time_whenever_the_tournament_does(start: float | None) -> None:
    assert begins_at(record(Opened("tic-tac-toe", "swiss", start_at=start)), 2) == -inf


def test_rounds_beyond_the_last_time_begin_when_the_one_before_is_over() -> None:
    known = record(Opened("tic-tac-toe", "round-robin", rounds_at=(1000.0, 2000.0)))
    assert known.opened.start == 1000.0
    assert [*planned(known)] == [(1, 1000.0), (2, 2000.0)]
    assert begins_at(known, 3) == -inf


def test_without_a_clock_no_round_waits_for_another() -> None:
    known = record(Opened("tic-tac-toe", "swiss"))
    assert known.round is coming(known) is None
    assert [*planned(known)] == []


@pytest.mark.parametrize(
    ("opened", "why"),
    [
        (Opened("tic-tac-toe", "ladder", round_every=60.0), "has no rounds"),
        (Opened("tic-tac-toe", "decide", round_every=60.0), "has no rounds"),
        (Opened("tic-tac-toe", "swiss", round_every=60.0, rounds_at=(1.0,)), "not both"),
        (Opened("tic-tac-toe", "swiss", round_every=0.0), "more than 0 seconds"),
        (Opened("tic-tac-toe", "swiss", round_every=1e12), "366 days"),
        (Opened("tic-tac-toe", "swiss", rounds_at=()), "1 to 1000 times"),
        (Opened("tic-tac-toe", "swiss", rounds_at=(2.0, 2.0)), "later than the one before"),
        (Opened("tic-tac-toe", "swiss", rounds_at=(2.0, 3.0), start_at=2.5), "before start_at"),
        (Opened("tic-tac-toe", "swiss", check_in=60.0), "expected start_at"),
        (Opened("tic-tac-toe", "swiss", check_in=0.0, start_at=1.0), "more than 0 seconds"),
        (Opened("tic-tac-toe", "ladder", check_in=1.0, start_at=1.0), "nobody checks in"),
    ],
)
def test_times_that_make_no_sense_are_refused_with_what_was_expected(opened: Opened, why: str) -> None:
    assert why in objection(opened)


@pytest.mark.parametrize(
    "opened",
    [
        Opened("tic-tac-toe", "swiss", rounds_at=(1.0, 2.0)),
        Opened("tic-tac-toe", "swiss", rounds_at=(1.0,), start_at=1.0, check_in=SECONDS),
        Opened("tic-tac-toe", "knockout", round_every=SECONDS),
        Opened("tic-tac-toe", "decide", start_at=1.0, check_in=1.0),
        Opened("tic-tac-toe", "ladder"),
    ],
)
def test_nothing_else_is_refused(opened: Opened) -> None:
    assert objection(opened) == ""


def test_what_begins_later_is_there_and_found_by_nobody() -> None:
    open = Waiting(begun=1)
    for number, names in enumerate((("ann", "bob"), ("ann", "cas"), ("bob", "cas")), 1):
        open.add(Pairing(number, number, *names))
    assert list(open) == [1, 2, 3]
    assert (open.due, open.later) == (1, {2: 1, 3: 1})
    assert [open.count(name) for name in ("ann", "bob", "cas")] == [1, 1, 0]
    everybody = {"ann", "bob", "cas"}
    assert [each.number for each in open.meetings(everybody, dict.fromkeys(everybody, START))] == [1]
    open.discard(3)
    assert (list(open), open.due, open.later) == ([1, 2], 1, {2: 1})
    open.begin(2)
    assert (open.due, open.later, open.count("cas")) == (2, {}, 1)
    assert [each.number for each in open.of(("ann",), 3)] == [1, 2]


def test_a_copy_of_what_waits_is_its_own() -> None:
    known = record(Opened("tic-tac-toe", "round-robin", round_every=60.0))
    known.add(Drew((Pairing(1, 1, "bot-0", "bot-1"), Pairing(2, 2, "bot-0", "bot-2"))))
    ahead = known.after(RoundBegan(1, 1.0), RoundBegan(2, 2.0))
    assert (known.open.due, ahead.open.due) == (0, 2)
    assert (known.round, ahead.round) == (0, 2)
