"""How long the absent are waited for in a tournament that settles, and how it starts by itself."""

from math import inf

import pytest
import trio
from trio.testing import MockClock

from tests.steps import steps_taken
from tests.tournament.world import World, first, play
from tournament.absences import AGAIN, MISSES, SLOWER, Absences
from tournament.events import Ending
from tournament.facts import Concluded, Drew, Entered, Opened, State, Turned
from tournament.format import Pairing
from tournament.presence import PIECE
from tournament.refusals import Refusal
from tournament.waiting import Waiting

GRACE = 30.0
LENGTH = 8.0  # seconds of a match
FREE = {f"bot-{number}" for number in range(9)}


def open_pairings(count: int = 9) -> Waiting:
    return Waiting(Pairing(number + 1, number + 1, "ann", f"bot-{number}") for number in range(count))


def settled(absences: Absences, now: float, open: Waiting, *, playing: bool = True) -> list[Pairing]:
    """What is over now, which is taken out of what is open."""
    found = absences.settled(now, FREE, open, LENGTH, playing=playing)
    for pairing in found:
        open.discard(pairing.number)
    return found


def test_somebody_is_waited_for_30_seconds_then_10_and_then_loses_half_as_fast_as_it_would_play() -> None:
    absences, open, over = Absences(GRACE), open_pairings(), []
    absences.went("ann", plays=True, now=100.0)
    while len(over) < 5:
        now = absences.until
        assert settled(absences, now - 0.01, open) == []
        assert len(settled(absences, now, open)) == 1
        over.append(now - 100.0)
    slowly = SLOWER * LENGTH
    assert over == pytest.approx([30.0, 40.0, 40.0 + slowly, 40.0 + 2 * slowly, 40.0 + 3 * slowly])


def test_it_is_known_how_long_somebody_holds_up_the_others_if_it_stays_away() -> None:
    absences, open = Absences(GRACE), open_pairings()

    def waits(now: float) -> list[float]:
        return [absences.wait_left("ann", pairings, now) for pairings in range(4)]

    assert waits(0.0) == [0.0, 30.0, 40.0, 40.0]
    absences.went("ann", plays=True, now=0.0)
    assert waits(20.0) == [0.0, 10.0, 20.0, 20.0]
    settled(absences, 30.0, open)
    assert waits(35.0) == [0.0, 5.0, 5.0, 5.0]
    settled(absences, 40.0, open)
    assert waits(40.0) == [0.0] * 4


def test_whoever_has_come_back_is_waited_for_anew() -> None:
    absences, open = Absences(GRACE), open_pairings()
    absences.went("ann", plays=True, now=0.0)
    assert len(settled(absences, 30.0, open)) == len(settled(absences, 40.0, open)) == 1
    absences.came("ann")
    assert absences.until == inf
    assert settled(absences, 1000.0, open) == []
    absences.went("ann", plays=True, now=1000.0)
    assert absences.until == 1000.0 + GRACE


def test_a_pairing_is_settled_when_an_opponent_has_nothing_else_to_play_and_not_before() -> None:
    absences, open = Absences(GRACE), open_pairings()
    absences.went("ann", plays=True, now=0.0)
    assert absences.settled(50.0, set(), open, LENGTH, playing=True) == []
    absences.free("bot-4")
    (pairing,) = absences.settled(55.0, {"bot-4"}, open, LENGTH, playing=True)
    assert pairing.names == ("ann", "bot-4")
    assert absences.until == 55.0 + AGAIN


def test_when_nothing_is_played_and_nobody_waited_for_the_rest_is_over_at_once() -> None:
    absences, open = Absences(GRACE), open_pairings()
    absences.went("ann", plays=True, now=0.0)
    for now in (30.0, 40.0):
        settled(absences, now, open)
    for _ in range(9 - MISSES):
        assert len(settled(absences, 40.0, open, playing=False)) == 1
    assert not open


def test_the_absent_do_not_lose_at_once_while_somebody_else_is_waited_for() -> None:
    absences, open = Absences(GRACE), open_pairings()
    absences.went("ann", plays=True, now=0.0)
    for now in (30.0, 40.0):
        settled(absences, now, open)
    open.add(Pairing(20, 1, "bob", "bot-1"))
    absences.went("bob", plays=True, now=40.0)
    assert settled(absences, 41.0, open, playing=False) == []


def test_whoever_was_waited_for_in_vain_does_not_keep_the_rest_from_being_over_at_once() -> None:
    """Catches an event that goes on for as long as others would have played in it, and nobody plays."""
    absences, open = Absences(GRACE), open_pairings()
    open.add(Pairing(20, 20, "ann", "bob"))
    for name in ("ann", "bob"):
        absences.went(name, plays=True, now=0.0)
    for now in (30.0, 40.0):
        settled(absences, now, open)
    for _ in range(9 - MISSES):
        assert len(settled(absences, 40.0, open, playing=False)) == 1
    assert [pairing.names for pairing in settled(absences, 40.0, open, playing=False)] == [("ann", "bob")]


def test_what_a_look_costs_does_not_grow_with_the_pairings_that_are_open() -> None:
    """Catches looking through all pairings of the absent at every step: a thousand have a thousand each."""

    def cost(count: int) -> int:
        absences, open = Absences(GRACE), open_pairings(count)
        absences.went("ann", plays=True, now=0.0)
        absences.settled(31.0, set(), open, LENGTH, playing=True)

        def look() -> None:
            for step in range(20):
                absences.settled(32.0 + step, set(), open, LENGTH, playing=True)

        return steps_taken(look)

    assert cost(900) <= cost(9)


def test_of_thousands_whose_wait_ends_at_once_a_hundred_are_looked_at_at_a_time() -> None:
    """When a round of ten thousand bots began and a third did not come, that held up all moves for 26 ms."""

    def waiting(count: int) -> tuple[Absences, Waiting]:
        absences, names = Absences(GRACE), [(f"gone-{number}", f"here-{number}") for number in range(count)]
        for absent, _ in names:
            absences.went(absent, plays=True, now=0.0)
        return absences, Waiting(Pairing(number, 1, *both) for number, both in enumerate(names, 1))

    def cost(count: int) -> int:
        absences, open = waiting(count)
        here = {f"here-{number}" for number in range(count)}
        return steps_taken(lambda: absences.settled(GRACE, here, open, LENGTH, playing=True))

    assert cost(2000) == cost(200)
    absences, open = waiting(300)
    here, found = {f"here-{number}" for number in range(300)}, set[int]()
    while not found or absences.more:
        over = {each.number for each in absences.settled(GRACE, here, open, LENGTH, playing=True)}
        assert over.isdisjoint(found)
        found |= over
        for number in over:
            open.discard(number)
    assert found == set(range(1, 301))


def test_while_everybody_who_is_absent_is_waited_for_none_of_those_who_are_free_is_looked_at() -> None:
    """When a round of ten thousand bots began, that held up all moves for 17 ms."""

    def cost(count: int) -> int:
        absences, open = Absences(GRACE), open_pairings(count)
        absences.went("ann", plays=True, now=0.0)
        free = {f"bot-{number}" for number in range(count)}
        for name in free:
            absences.free(name)
        return steps_taken(lambda: absences.settled(1.0, free, open, LENGTH, playing=True))

    assert cost(900) == cost(9)


async def test_asking_who_is_missing_costs_no_look_at_the_matches_while_nobody_is(
    autojump_clock: MockClock,
) -> None:
    """It is asked for every second, and a tournament may have a thousand matches in play."""

    async def cost(bots: int) -> int:
        here = World(Opened("tic-tac-toe", "round-robin", bots))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            for name in (f"bot-{number}" for number in range(bots)):
                await here.tournament.enter(name)
                here.come(name)
            await trio.sleep(1.0)
            assert len(here.tournament.matches) == bots // 2
            here.tournament.missing()
            steps = steps_taken(here.tournament.missing)
            nursery.cancel_scope.cancel()
        return steps

    assert await cost(60) <= await cost(2)


async def test_what_a_pairing_that_is_settled_costs_does_not_grow_with_the_others_who_are_absent() -> None:
    """Catches a look at all of them with each few pairings: of ten thousand, thousands may not come."""

    def cost(bots: int) -> int:
        tournament = World(Opened("tic-tac-toe", "knockout", bots)).tournament
        pairing = Pairing(1, 1, "bot-0", "bot-1")
        for fact in (*(Entered(f"bot-{number}") for number in range(bots)), Drew((pairing,))):
            tournament.record.add(fact)
        absent = {*tournament.record.entrants}

        def settle() -> None:
            with pytest.raises(StopIteration):
                tournament._settle([pairing], absent).send(None)

        return steps_taken(settle)

    assert cost(200) == cost(20)


async def test_after_a_pause_everybody_is_waited_for_anew(autojump_clock: MockClock) -> None:
    here = World(Opened("tic-tac-toe", "round-robin", absent="settle"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        for name in ("ann", "bob", "cas"):
            await here.tournament.enter(name)
        for name in ("ann", "bob"):
            nursery.start_soon(play, here.come(name), first)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        await trio.sleep(25.0)
        await here.desk.pause()
        await trio.sleep(100.0)
        await here.desk.resume()
        resumed = trio.current_time()
        await here.tournament.finished()
        assert trio.current_time() - resumed >= GRACE
        nursery.cancel_scope.cancel()
    left = [fact for fact in here.concluded() if fact.ending is Ending.LEFT]
    assert [fact.why for fact in left] == ["cas did not come"] * 2


async def test_the_missing_are_told_with_the_time_since_when(autojump_clock: MockClock) -> None:
    here = World(Opened("tic-tac-toe", "round-robin", absent="settle"))
    for name in ("ann", "bob", "cas"):
        await here.tournament.enter(name)
    bob = here.come("bob")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(5.0)
        assert [each.name for each in here.tournament.missing()] == ["ann", "cas"]
        ann = here.come("ann")
        await trio.sleep(5.0)
        began = trio.current_time()
        bob.away()
        await trio.sleep(5.0)
        missing = {each.name: each.since for each in here.tournament.missing()}
        assert missing.keys() == {"bob", "cas"}
        assert missing["bob"] == pytest.approx(began, abs=0.001)
        await here.desk.withdraw("bob")
        assert [each.name for each in here.tournament.missing()] == ["cas"]
        ann.retire()
        nursery.cancel_scope.cancel()


async def test_whoever_is_gone_from_its_last_match_is_missing_until_that_is_over(
    autojump_clock: MockClock,
) -> None:
    here = World(Opened("tic-tac-toe", "swiss", 2))
    ann, _ = (here.come(name) for name in ("ann", "bob"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        for name in ("ann", "bob"):
            await here.tournament.enter(name)
        await trio.sleep(1.0)
        assert ann.seat is not None
        assert not here.tournament.missing()
        ann.away()
        await trio.sleep(1.0)
        assert [each.name for each in here.tournament.missing()] == ["ann"]
        await here.tournament.finished()
        assert not here.tournament.missing()
        nursery.cancel_scope.cancel()


async def test_it_starts_by_itself_at_its_time_with_whoever_is_there(autojump_clock: MockClock) -> None:
    start = trio.current_time() + 500.0
    here = World(Opened("tic-tac-toe", "round-robin", 3, absent="settle", start_at=start))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        for name in ("ann", "bob"):
            await here.tournament.enter(name)
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep(499.0)
        assert here.tournament.record.state is State.REGISTERING
        await trio.sleep(2.0)
        assert here.tournament.record.state is State.RUNNING
        nursery.cancel_scope.cancel()


async def test_at_its_time_it_waits_for_as_many_as_it_needs(autojump_clock: MockClock) -> None:
    here = World(Opened("tic-tac-toe", "round-robin", start_at=trio.current_time() - 100.0))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await here.tournament.enter("ann")
        await trio.sleep(100.0)
        assert here.tournament.record.state is State.REGISTERING
        await here.desk.withdraw("ann")
        await here.tournament.enter("bob")
        await trio.sleep(100.0)
        assert here.tournament.record.state is State.REGISTERING
        await here.tournament.enter("cas")
        await trio.sleep(1.0)
        assert here.tournament.record.state is State.RUNNING
        nursery.cancel_scope.cancel()


async def test_a_late_comer_is_told_how_it_can_still_enter_where_it_can() -> None:
    for format, told in (
        ("round-robin", "its organiser can still let you in, with quintain tournament enter cup NAME"),
        ("knockout", "a knockout takes no more entrants"),
    ):
        here = World(Opened("tic-tac-toe", format))
        for name in ("ann", "bob"):
            await here.tournament.enter(name)
        await here.tournament.keep(Turned(State.RUNNING))
        with pytest.raises(Refusal, match=told):
            await here.tournament.enter("cas")


async def test_nobody_withdraws_from_what_is_over() -> None:
    here = World(Opened("tic-tac-toe", "round-robin"))
    await here.tournament.enter("ann")
    await here.tournament.keep(Turned(State.FINISHED))
    with pytest.raises(Refusal, match="cup is over, so there is nothing left to withdraw from"):
        await here.desk.withdraw("ann")
    assert not any(isinstance(fact, Concluded) for fact in here.told)


async def test_until_something_changes_nobody_is_looked_at_to_say_who_is_missing(
    autojump_clock: MockClock,
) -> None:
    """Catches a list of thousands who were invited, made twice a second and each time a little different."""

    async def cost(bots: int) -> int:
        here = World(
            Opened("tic-tac-toe", "round-robin", by_invitation=True),
            wall=lambda: trio.current_time() * 1.0001,  # no two clocks agree
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            for name in (f"bot-{number}" for number in range(bots)):
                await here.desk.enter(name)
            await trio.sleep(1.0)
            missing = here.tournament.missing()
            assert len(missing) == bots
            await trio.sleep(100.0)
            steps = steps_taken(here.tournament.missing)
            assert here.tournament.missing() == missing
            here.come("bot-0")
            assert len(here.tournament.missing()) == bots - 1
            nursery.cancel_scope.cancel()
        return steps

    assert await cost(60) == await cost(2)


async def test_whoever_is_absent_is_looked_at_only_where_somebody_was_invited(
    autojump_clock: MockClock,
) -> None:
    """Catches a look at thousands who have gone, twice a second, to see whether they had been invited."""

    async def cost(bots: int) -> int:
        here = World(Opened("tic-tac-toe", "round-robin"))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            for name in (f"bot-{number}" for number in range(bots)):
                await here.tournament.enter(name)
            await trio.sleep(1.0)
            assert len(here.tournament.missing()) == bots
            steps = steps_taken(lambda: here.tournament.awaits_the_invited)
            assert not here.tournament.awaits_the_invited
            await here.desk.invite("eve", lambda: "00")
            assert here.tournament.awaits_the_invited
            await here.desk.withdraw("eve")
            assert not here.tournament.awaits_the_invited
            nursery.cancel_scope.cancel()
        return steps

    assert await cost(60) == await cost(2)


async def test_others_have_their_turns_while_thousands_are_looked_at_for_the_answer_to_an_order() -> None:
    """Catches 16 ms for which nobody moved, after an organiser had started a tournament of 10,000."""
    here, turns = World(Opened("tic-tac-toe", "swiss")), 0
    await here.tournament.keep(*(Entered(f"bot-{number}") for number in range(8 * PIECE)))

    async def take_turns() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_turns)
        await here.tournament.foresee()
        assert turns >= 4
        assert len(here.tournament.missing()) == 8 * PIECE
        nursery.cancel_scope.cancel()
