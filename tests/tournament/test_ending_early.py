"""A tournament that its organiser ends before all was played: the hall closes."""

from collections.abc import Sequence

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.export.verify import verify
from tests.server.exports import exported, text
from tests.tournament.world import World, first, silent, table, world
from tournament.archived_record import for_the_archive
from tournament.events import Ending
from tournament.facts import AnyFact, Dealt, Drew, EndedEarly, Entered, State, Turned
from tournament.folding import fold
from tournament.format import Terms, offered
from tournament.refusals import Refusal
from tournament.store import Memory

FOUR = dict.fromkeys(("ann", "bob", "cyd", "dan"), first)
EIGHT = dict.fromkeys("abcdefgh", first)
ENDING = sorted(name for name, format in offered().items() if not format.endless)


def points(here: World) -> dict[str, float]:
    return {row.name: row.points for row in here.tournament.record.standings()}


async def ended(here: World, after: float) -> None:
    """Hold it, and end it after so many seconds."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(after)
        await here.desk.end()


@pytest.mark.parametrize("format", ENDING)
@pytest.mark.parametrize("after", [1.5, 7.5, 12.5, 19.5])
async def test_what_is_played_goes_on_to_its_end_and_nothing_else_begins(
    autojump_clock: MockClock, format: str, after: float
) -> None:
    store = Memory()
    async with world(EIGHT, format=format, store=store) as here:
        await ended(here, after)
        record, facts = here.tournament.record, [each.fact for each in store.kept()]
        at = facts.index(EndedEarly())
        assert record.state is State.FINISHED
        assert facts[-1] == Turned(State.FINISHED)
        assert not any(isinstance(each, Dealt | Drew | Entered) for each in facts[at:])
        dealt = [each.match for each in facts if isinstance(each, Dealt)]
        assert sorted(dealt) == sorted(record.matches), "every match that began has its end"
        assert {each.ending for each in record.matches.values()} == {Ending.PLAYED}
        assert record.decided == len(dealt)
        assert not record.open
        assert here.tournament.missing() == []
        assert here.tournament.eta() is None
        assert record.format.eliminates or not record.lacks_its_final
        assert sum(points(here).values()) == len(dealt) + record.byes
        kept = tuple(store.kept())
        assert fold(kept)["cup"].standings() == record.standings()
        for with_facts in (True, False):
            assert verify(text(exported(kept, with_facts))).findings == []


async def test_it_ends_at_once_where_nothing_is_played_even_if_it_is_paused(
    autojump_clock: MockClock,
) -> None:
    async with world(FOUR) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.5)
        await here.desk.pause()
        await trio.sleep(100.0)
        assert here.tournament.record.state is State.PAUSED
        assert len(here.concluded()) == 2
        await here.desk.end()
        assert here.tournament.record.state is State.FINISHED, "and whoever has ordered it is told so"
        await here.tournament.finished()
    assert len(here.concluded()) == 2


async def test_it_is_over_once_though_something_changes_while_its_end_is_being_kept(
    autojump_clock: MockClock,
) -> None:
    """Catches a tournament that waits for its turn to look, and then is over for the second time."""

    class Slow(Memory):
        async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
            if EndedEarly() in facts:
                here.tournament.wake()
                await trio.testing.wait_all_tasks_blocked()
            return await super().keep(tournament, when, facts)

    store = Slow()
    async with world(FOUR, store=store) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.5)
        await here.desk.pause()
        await trio.sleep(100.0)
        await here.desk.end()
        await trio.testing.wait_all_tasks_blocked()
    facts = [each.fact for each in store.kept()]
    assert facts.count(Turned(State.FINISHED)) == 1
    assert verify(text(exported(tuple(store.kept())))).findings == []


async def test_after_a_crash_it_ends_with_what_was_in_play(autojump_clock: MockClock) -> None:
    store = Memory()
    async with world(FOUR, store=store) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(7.5)
        await here.desk.end()
        assert here.tournament.record.dealt, "the crash has to come in the middle of a match"
        nursery.cancel_scope.cancel()
    over = points(here)
    async with world(FOUR, store=store) as here:
        await here.tournament.run()
        record = here.tournament.record
        assert record.state is State.FINISHED
        assert {each.ending for each in here.concluded()} == {Ending.VOID}, "what cannot go on is void"
        assert points(here) == over


async def test_a_match_that_is_void_is_not_played_again(autojump_clock: MockClock) -> None:
    async with world(FOUR | {"ann": silent}) as here:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            await trio.sleep(8.5)
            await here.desk.end()
            (live,) = here.tournament.matches
            await here.desk.void(live, "the light went out")
        (over,) = (each for each in here.concluded() if "ann" not in each.players)
        before = here.tournament.record.version
        await here.desk.void(over.match, "a cable")
        assert here.tournament.record.state is State.FINISHED, "and there is nothing to go on with"
        assert here.tournament.record.version > before
        assert set(points(here).values()) == {0.0}
        kept = tuple(here.store.kept())
        assert verify(text(exported(kept))).findings == []


async def test_whoever_is_disqualified_afterwards_loses_what_was_played_and_nothing_else(
    autojump_clock: MockClock,
) -> None:
    async with world(FOUR) as here:
        await ended(here, 7.5)
        played = [set(each.players) for each in here.concluded()]
        await here.desk.disqualify("ann", "two bots in one")
        after = here.tournament.record.standings()
        assert sum(row.points for row in after) == len(played)
        assert {row.name: row.losses for row in after}["ann"] == sum("ann" in both for both in played)


async def test_in_a_knockout_without_its_last_round_nobody_has_won(autojump_clock: MockClock) -> None:
    async with world(FOUR, format="knockout") as here:
        await ended(here, 1.5)
        record = here.tournament.record
        assert [row.rank for row in record.standings()] == [1, 1, 3, 3]
        assert for_the_archive(record).winners == ()


@pytest.mark.parametrize("paused", [False, True])
async def test_in_a_knockout_whose_last_round_was_played_all_the_same_its_winner_has_won(
    paused: bool, autojump_clock: MockClock
) -> None:
    """Catches an end that was ordered during the final, or after it while the tournament was paused."""
    async with world(FOUR, format="knockout") as here, trio.open_nursery() as nursery:
        record = here.tournament.record
        nursery.start_soon(here.tournament.run)
        await trio.sleep(12.5)
        assert [*record.dealt] == ["cup-3"]
        if paused:
            await here.desk.pause()
            await trio.sleep(60.0)
            assert record.state is State.PAUSED
        await here.desk.end()
        await here.tournament.finished()
        (winner,) = [row.name for row in record.standings() if row.rank == 1]
        assert for_the_archive(record).winners == (winner,)
        await here.desk.void("cup-3", "a cable")
        assert for_the_archive(record).winners == (), "it is not played again"


async def test_what_cannot_be_ended_says_why(autojump_clock: MockClock) -> None:
    async with world({"ann": first, "bob": first}, format="swiss", terms=Terms(rounds=1)) as here:
        with pytest.raises(Refusal, match="cup is registering; only what is running or paused can be ended"):
            await here.desk.end()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            await trio.sleep(0.5)
            await here.desk.end()
            with pytest.raises(Refusal, match="cup was ended already"):
                await here.desk.end()
            with pytest.raises(Refusal, match="cup is over"):
                await here.desk.enter("eve")
        here.tournament.record.ended_early = False
        with pytest.raises(Refusal, match="cup is finished; only what is running or paused can be ended"):
            await here.desk.end()
    async with table("tic-tac-toe", "ladder") as (here, _):
        with pytest.raises(Refusal, match="cup has no end: pause it, and it stays as it is"):
            await here.desk.end()


async def test_an_export_in_which_a_match_begins_afterwards_is_found_out(autojump_clock: MockClock) -> None:
    store = Memory()
    async with world(FOUR, store=store) as here:
        await ended(here, 7.5)
    kept = list(store.kept())
    end = next(each for each in kept if each.fact == EndedEarly())
    start = kept.index(next(each for each in kept if isinstance(each.fact, Drew))) + 1
    moved = [*kept[:start], end, *(each for each in kept[start:] if each is not end)]
    found = " ".join(each.why for each in verify(text(exported(moved))).findings)
    assert "nothing is to be played" in found
