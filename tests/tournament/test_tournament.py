"""One tournament, alive, on a virtual clock."""

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import inf

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from games.catalogue import catalogue
from games.game import Pace
from tests.tournament.world import World, first, leaves, play, silent, table, world
from tournament.dealing import AT_A_TIME
from tournament.desk import About, Desk
from tournament.draws import FEW, SHORT, Draws
from tournament.events import NOBODY, Ended, Ending
from tournament.facts import Concluded, Drew, Entered, Opened, State, Turned
from tournament.forecast import Forecast
from tournament.format import Pairing, Result, Terms
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.player import Seat
from tournament.presence import Presence
from tournament.record import Record
from tournament.refusals import NotThere, Refusal
from tournament.settling import whole_micros
from tournament.store import Memory
from tournament.timekeeper import Timekeeper

FOUR = dict.fromkeys(("ann", "bob", "cas", "dee"), first)


async def test_a_round_robin_plays_every_pair_once_and_finishes(autojump_clock: MockClock) -> None:
    async with world(FOUR) as here:
        await here.tournament.run()
    pairs = Counter(frozenset(fact.players) for fact in here.concluded())
    assert len(pairs) == 6
    assert set(pairs.values()) == {1}
    assert here.tournament.record.state is State.FINISHED
    assert sum(row.points for row in here.tournament.record.standings()) == 6.0


async def test_the_record_of_a_match_has_its_moves_and_times(autojump_clock: MockClock) -> None:
    async with world(dict.fromkeys(("ann", "bob"), first)) as here:
        await here.tournament.run()
    (match,) = here.concluded()
    assert match.match == "cup-1"
    assert match.moves[0] == {"action": "putSymbol", "position": "NW"}
    assert match.times == pytest.approx((1.0,) * len(match.moves))
    assert (match.winner, match.ending, match.score) == (0, Ending.PLAYED, (1.0, 0.0))


async def test_a_slow_bot_costs_only_its_own_matches(autojump_clock: MockClock) -> None:
    """No barrier: while dee lets its clock run out, the others play all of theirs."""
    async with world(FOUR | {"dee": silent}) as here:
        await here.tournament.run()
    ends = [set(fact.players) for fact in here.concluded()]
    quick = [number for number, players in enumerate(ends) if "dee" not in players]
    assert max(quick) < len(ends) - 1
    assert trio.current_time() < 3 * 20.0
    losses = [fact for fact in here.concluded() if "dee" in fact.players]
    assert len(losses) == 3
    for fact in losses:
        assert fact.ending is Ending.TIME
        assert fact.winner == 1 - fact.players.index("dee")


async def test_no_more_matches_are_in_play_than_allowed(autojump_clock: MockClock) -> None:
    most = 0

    def begun(match: Match) -> None:
        nonlocal most
        most = max(most, len(here.tournament.matches))

    async with world(dict.fromkeys("abcdefgh", first), at_once=2, begun=begun) as here:
        await here.tournament.run()
    assert most == 2
    assert len(here.concluded()) == 28


async def test_a_result_is_in_the_store_before_anybody_is_told(autojump_clock: MockClock) -> None:
    """Catches announcing first: the store here takes a second, in which the match must not look over."""

    class Slow(Memory):
        async def keep(self, tournament, when, facts) -> Sequence[str]:  # type: ignore[no-untyped-def]
            await trio.sleep(1.0)
            return await super().keep(tournament, when, facts)

    seen = 0

    async def watch(match: Match) -> None:
        nonlocal seen
        async for event in match.log.read():
            if isinstance(event, Ended):
                kept = [entry.fact for entry in store.kept() if isinstance(entry.fact, Concluded)]
                assert match.name in [fact.match for fact in kept]
                assert match.receipt == await store.receipt("cup", match.name)
                seen += 1

    store = Slow()
    three = dict.fromkeys(("ann", "bob", "cas"), first)
    async with trio.open_nursery() as watchers:
        begun = lambda match: watchers.start_soon(watch, match)  # noqa: E731
        async with world(three, store=store, begun=begun) as here:
            await here.tournament.run()
    assert seen == 3


async def test_whoever_is_away_when_its_match_is_due_has_a_grace_and_then_forfeits_it(
    autojump_clock: MockClock,
) -> None:
    async with world({"ann": first, "bob": first}) as here:
        bob = here.lobby.find("bob", "tic-tac-toe")
        assert bob is not None
        bob.away()
        begun = trio.current_time()
        await here.tournament.run()
    (match,) = here.concluded()
    assert trio.current_time() - begun == pytest.approx(30.0, abs=0.1)
    assert (match.ending, match.why) == (Ending.LEFT, "bob did not come")
    assert match.score == ((1.0, 0.0) if match.players[0] == "ann" else (0.0, 1.0))
    assert match.moves == ()


async def test_where_there_is_an_end_whoever_is_gone_before_its_first_move_is_waited_for_as_ever(
    autojump_clock: MockClock,
) -> None:
    """Only where there is none can its opponent play others meanwhile."""
    players = dict.fromkeys(("ann", "bob"), silent)
    async with world(players, early_grace=5.0) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        bob = here.lobby.find("bob", "tic-tac-toe")
        assert bob is not None
        bob.away()
        await trio.sleep(10.0)
        assert not here.concluded()
        nursery.cancel_scope.cancel()


async def test_whoever_comes_within_the_grace_plays(autojump_clock: MockClock) -> None:
    async with world({"ann": first, "bob": first}) as here:
        bob = here.lobby.find("bob", "tic-tac-toe")
        assert bob is not None
        bob.away()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            await trio.sleep(29.0)
            bob.back()
    (match,) = here.concluded()
    assert match.ending is Ending.PLAYED


async def test_while_all_time_stands_still_nobody_is_missed(autojump_clock: MockClock) -> None:
    """A host lets nobody in until all of it has started, and bots that came back found their matches lost."""
    async with world({"ann": first, "bob": first}) as here, trio.open_nursery() as nursery:
        bob = here.lobby.find("bob", "tic-tac-toe")
        assert bob is not None
        bob.away()
        nursery.start_soon(here.tournament.run)
        await trio.sleep(20.0)
        here.timekeeper.pause()
        await trio.sleep(100.0)
        assert here.timekeeper.stalled == 100.0
        until = here.tournament._presence.waits_until
        assert until - trio.current_time() == pytest.approx(10.0), "thousands would look twice a second"
        here.timekeeper.resume()
        await trio.sleep(9.0)
        bob.back()
        await here.tournament.finished()
    (end,) = here.concluded()
    assert end.ending is Ending.PLAYED


async def test_an_absent_player_keeps_nobody_from_playing_others(autojump_clock: MockClock) -> None:
    async with world(FOUR) as here:
        dee = here.lobby.find("dee", "tic-tac-toe")
        assert dee is not None
        dee.retire()
        await here.tournament.run()
    played = [fact for fact in here.concluded() if fact.ending is Ending.PLAYED]
    forfeited = [fact for fact in here.concluded() if fact.ending is Ending.LEFT]
    assert len(played) == len(forfeited) == 3
    assert 90.0 <= trio.current_time() < 120.0, "one match after another, each with its own grace"
    assert {row.name: row.points for row in here.tournament.record.standings()}["dee"] == 0.0


async def test_with_neither_there_a_match_is_void_once_and_then_lost_for_both(
    autojump_clock: MockClock,
) -> None:
    async with world({"ann": first, "bob": first}) as here:
        for player in tuple(here.lobby.players()):
            player.retire()
        await here.tournament.run()
    assert [(fact.match, fact.ending, fact.score, fact.why) for fact in here.concluded()] == [
        ("cup-1", Ending.VOID, None, NOBODY),
        ("cup-1.2", Ending.LEFT, (0.0, 0.0), NOBODY),
    ]


async def test_both_leaving_in_the_middle_is_the_same(autojump_clock: MockClock) -> None:
    async def away(seat: Seat) -> None:
        seat.away(5.0)
        async for _ in seat.match.log.read():
            pass

    async with world({"ann": away, "bob": away}) as here:
        await here.tournament.run()
    assert [(fact.ending, fact.score) for fact in here.concluded()] == [
        (Ending.VOID, None),
        (Ending.LEFT, (0.0, 0.0)),
    ]


async def test_leaving_in_the_middle_loses_that_match_and_no_other(autojump_clock: MockClock) -> None:
    async def leave_after_a_move(seat: Seat) -> None:
        async for _ in seat.match.log.read():
            if seat.match.both_have_moved:
                seat.leave()
            elif seat.to_move:
                seat.play(seat.match.game.write(next(iter(seat.match.position.moves()))))

    async with world(FOUR | {"dee": leave_after_a_move}) as here:
        await here.tournament.run()
    losses = [fact for fact in here.concluded() if "dee" in fact.players]
    assert [fact.ending for fact in losses] == [Ending.LEFT] * 3
    assert all(fact.players[fact.winner or 0] != "dee" for fact in losses)


async def test_whoever_leaves_before_both_have_moved_is_excused_once_in_each_pairing(
    autojump_clock: MockClock,
) -> None:
    """A bot that leaves time and again to avoid an opponent loses to it after all."""
    async with world(FOUR | {"dee": leaves(0.5)}) as here:
        await here.tournament.run()
    left = [fact for fact in here.concluded() if "dee" in fact.players]
    for pairing in {fact.pairing for fact in left}:
        void, lost = [fact for fact in left if fact.pairing == pairing]
        assert (void.ending, void.score, void.why) == (Ending.VOID, None, "dee left before both had moved")
        assert (lost.ending, lost.why) == (Ending.LEFT, "dee left the match")
        assert lost.score == ((0.0, 1.0) if lost.players[0] == "dee" else (1.0, 0.0))
    assert len(left) == 6


async def test_each_of_two_is_excused_once(autojump_clock: MockClock) -> None:
    begun = 0

    async def leave_in_turn(seat: Seat) -> None:
        """The one leaves the first match, the other the second, and the third is played."""
        nonlocal begun
        begun += seat.index
        await trio.sleep(0.5)
        if seat.match.names[seat.index] == {1: "ann", 2: "bob"}.get(begun):
            seat.leave()
        else:
            await first(seat)

    async with world({"ann": leave_in_turn, "bob": leave_in_turn}) as here:
        await here.tournament.run()
    assert [fact.why for fact in here.concluded()[:2]] == [
        "ann left before both had moved",
        "bob left before both had moved",
    ]
    assert [fact.ending for fact in here.concluded()] == [Ending.VOID, Ending.VOID, Ending.PLAYED]


# Going on


async def test_a_tournament_goes_on_after_a_crash_with_the_same_pairings_and_ids(
    autojump_clock: MockClock,
) -> None:
    whole = Memory()
    async with world(FOUR, store=whole) as here:
        await here.tournament.run()
    uninterrupted = {row.name: row.points for row in here.tournament.record.standings()}

    store = Memory()
    async with world(FOUR, store=store) as here:
        with trio.move_on_after(7.5):
            await here.tournament.run()
    assert here.tournament.record.dealt, "the crash has to come in the middle of a match"
    async with world(FOUR, store=store) as here:
        await here.tournament.run()
    record = here.tournament.record
    cut_short = [match for match in record.matches.values() if match.ending is Ending.VOID]
    assert cut_short
    assert all("the host stopped" in match.why for match in cut_short)
    assert {row.name: row.points for row in record.standings()} == uninterrupted
    drawn = [entry.fact for entry in store.kept() if isinstance(entry.fact, Drew)]
    assert drawn == [entry.fact for entry in whole.kept() if isinstance(entry.fact, Drew)]


async def test_a_finished_tournament_has_nothing_to_run(autojump_clock: MockClock) -> None:
    store = Memory()
    async with world(FOUR, store=store) as here:
        await here.tournament.run()
    kept = list(store.kept())
    async with world(FOUR, store=store) as here:
        await here.tournament.run()
    assert list(store.kept()) == kept


# The desk


async def test_a_paused_tournament_deals_nothing_and_finishes_what_is_in_play(
    autojump_clock: MockClock,
) -> None:
    async with world(FOUR) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.5)
        await here.desk.pause()
        await trio.sleep(1000.0)
        assert len(here.concluded()) == 2
        assert not here.tournament.matches
        with pytest.raises(Refusal, match="paused; only what is running can be paused"):
            await here.desk.pause()
        await here.desk.resume()
    assert len(here.concluded()) == 6


async def test_withdrawn_early_a_players_results_are_annulled(autojump_clock: MockClock) -> None:
    async with world(dict.fromkeys("abcdef", first)) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(8.0)
        played = [fact for fact in here.concluded() if "a" in fact.players]
        assert 1 <= len(played) <= 2
        await here.desk.withdraw("a")
        with pytest.raises(Refusal, match="a was taken out of cup, which is final: it is not let in again"):
            await here.desk.enter("a")
    record = here.tournament.record
    assert record.annulled == {"a"}
    assert sum(row.points for row in record.standings()) == 10.0, "as if the other five had been alone"
    with pytest.raises(Refusal, match="out of cup already"):
        here.desk.withdrawal("a")


async def test_withdrawn_late_a_player_forfeits_the_rest(autojump_clock: MockClock) -> None:
    async with world(FOUR) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(16.0)
        assert sum("ann" in fact.players for fact in here.concluded()) == 2
        await here.desk.withdraw("ann")
    record = here.tournament.record
    assert not record.annulled
    assert sum(row.points for row in record.standings()) == 6.0
    last = [fact for fact in here.concluded() if "ann" in fact.players][-1]
    assert (last.ending, last.fault) == (Ending.LEFT, None), "it has not left: it was taken out"
    assert last.why == "ann is out of the tournament"
    assert last.winner == 1 - last.players.index("ann")
    others = [fact.ending for fact in here.concluded() if "ann" not in fact.players]
    assert others == [Ending.PLAYED] * 3, "one of which was in play when she was taken out"


async def test_a_stranger_is_entered_once_with_its_first_match_that_counts(autojump_clock: MockClock) -> None:
    """Catches a journal of strangers whose matches were void, and one that enters a bot with each match."""
    async with table("tic-tac-toe") as (here, nursery):
        for name in ("ann", "bob"):
            await here.tournament.enter(name)
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep(4.5)
        (match,) = here.tournament.matches.values()
        assert match.both_have_moved
        await here.desk.void(match.name, "a cable")
        assert not here.tournament.record.entrants
        await trio.sleep(60.0)
        assert len(here.concluded()) > 3
        assert sorted(fact.name for fact in here.told if isinstance(fact, Entered)) == ["ann", "bob"]
        assert not any(map(here.tournament.is_newcomer, ("ann", "bob")))


@pytest.mark.parametrize("format", ["open", "ladder"])
async def test_a_table_for_so_many_bots_takes_no_more_before_it_begins_or_later(format: str) -> None:
    """There whoever enters is kept at once: a newcomer of whom nothing is kept would not be counted."""
    for before in (3, 1, 0):
        here = World(Opened("tic-tac-toe", format, 3))
        for number in range(4):
            if number == before:
                await here.tournament.keep(Turned(State.RUNNING))
            if number < 3:
                await here.tournament.enter(f"bot-{number}")
        with pytest.raises(Refusal, match="cup is full: it takes 3"):
            await here.tournament.enter("bot-3")
        assert len(here.tournament.record.entrants) == 3


async def test_a_stranger_of_whom_nothing_is_kept_yet_is_taken_out_once_and_plays_no_more(
    autojump_clock: MockClock,
) -> None:
    async with table("tic-tac-toe") as (here, nursery):
        await here.tournament.enter("ann")
        await here.desk.disqualify("ann", "two bots in one")
        with pytest.raises(Refusal, match="ann is out of cup already"):
            await here.desk.disqualify("ann", "again")
        await here.tournament.enter("ann")
        await here.tournament.enter("bob")
        for name in ("ann", "bob"):
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep(10.0)
        assert not here.tournament.record.drawn


async def test_a_stranger_that_is_here_twice_plays_on_when_one_of_its_bots_goes(
    autojump_clock: MockClock,
) -> None:
    async with table("tic-tac-toe") as (here, nursery):
        for name in ("ann", "ann", "bob"):
            await here.tournament.enter(name)
        one, other = here.come("ann"), here.come("ann")
        await trio.sleep(1.0)
        one.retire()
        for player in (other, here.come("bob")):
            nursery.start_soon(play, player, silent)
        await trio.sleep(1.0)
        assert [match.names for match in here.tournament.matches.values()] == [("ann", "bob")]
        for player in [*here.lobby.players()]:
            player.retire()
        await trio.sleep(1.0)
        assert not any(map(here.tournament.is_newcomer, ("ann", "bob"))), "of whom nobody is here any more"


async def test_all_who_wait_for_a_change_hear_of_it(autojump_clock: MockClock) -> None:
    """Catches an organiser's void that waits for ever, because somebody else began to wait after it."""
    async with table("tic-tac-toe") as (here, _):
        with trio.fail_after(60.0):
            async with trio.open_nursery() as waiting:
                for _ in range(3):
                    waiting.start_soon(here.tournament.changed)
                await wait_all_tasks_blocked()
                here.tournament.wake()


async def test_whoever_is_let_in_while_the_pairings_of_somebody_else_are_lost_is_drawn_at_once(
    autojump_clock: MockClock,
) -> None:
    """Catches a draw that was forgotten, as so many are lost at a time, and made when all else was over."""
    field = dict.fromkeys((f"bot-{number}" for number in range(AT_A_TIME + 10)), silent)
    async with world(field) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        async with trio.open_nursery() as orders:
            orders.start_soon(here.desk.disqualify, "bot-0", "two bots in one")
            orders.start_soon(here.desk.enter, "late")
        await trio.sleep(1.0)
        record = here.tournament.record
        assert not record.open.of(["bot-0"], AT_A_TIME)
        assert record.open.count("late") == len(field) - 1
        nursery.cancel_scope.cancel()


async def test_a_preview_is_what_then_happens(autojump_clock: MockClock) -> None:
    async with world(FOUR) as here:
        await here.tournament.run()
        name = here.tournament.record.standings()[0].name
        before, after = (
            await here.desk.preview(here.desk.disqualification(name, "two bots in one"), lambda _, rows: rows)
        )()
        assert here.tournament.record.standings() == before
        await here.desk.disqualify(name, "two bots in one")
        assert here.tournament.record.standings() == after
        assert before != after
        assert {row.name: row.points for row in after}[name] == 0.0


async def test_whoever_has_withdrawn_can_still_be_disqualified(autojump_clock: MockClock) -> None:
    """Catches a cheat that withdraws in time, so that its matches count for nobody."""
    async with world(dict.fromkeys("abcdef", first)) as here:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            await trio.sleep(8.0)
            await here.desk.withdraw("a")
        assert here.tournament.record.annulled == {"a"}
        before, after = (
            await here.desk.preview(here.desk.disqualification("a", "two bots in one"), lambda _, rows: rows)
        )()
        await here.desk.disqualify("a", "two bots in one")
        record = here.tournament.record
        assert record.standings() == after != before
        assert not record.annulled
        rows = {row.name: row for row in after}
        assert rows["a"].points == 0.0
        assert sum(row.points for row in after) == len(record.drawn)
        with pytest.raises(Refusal, match="a is out of cup already"):
            await here.desk.disqualify("a", "again")


async def test_a_void_match_is_played_again_even_after_the_end(autojump_clock: MockClock) -> None:
    async with world({"ann": first, "bob": first}) as here:
        await here.tournament.run()
        await here.desk.void("cup-1", "a cable")
        assert here.tournament.record.voided == {"cup-1": round(here.tournament.wall(), 3)}
        assert here.tournament.record.state is State.RUNNING
        await here.tournament.run()
        assert [fact.match for fact in here.concluded()] == ["cup-1", "cup-1.2"]
        with pytest.raises(Refusal, match="cup-1 is void already"):
            await here.desk.void("cup-1", "again")
        with pytest.raises(Refusal, match="no match 'cup-9'"):
            await here.desk.void("cup-9", "what")


async def test_a_void_match_is_played_again_at_once_if_its_players_have_nothing_else_to_do(
    autojump_clock: MockClock,
) -> None:
    async with world(dict.fromkeys(("ann", "bob", "cas"), first)) as here, trio.open_nursery() as nursery:
        cas = here.lobby.find("cas", "tic-tac-toe")
        assert cas is not None
        cas.away()
        nursery.start_soon(here.tournament.run)
        await trio.sleep(10.0)
        (over,) = here.concluded()
        await here.desk.void(over.match, "a cable")
        await trio.sleep(10.0)
        assert [fact.players for fact in here.concluded()] == [over.players] * 2
        nursery.cancel_scope.cancel()


ORDERS: Mapping[str, Callable[[Desk], Awaitable[None]]] = {
    "delete": Desk.delete,
    "start": Desk.start,
    "freeze": Desk.freeze,
    "enter": lambda desk: desk.enter("eve"),
    "invite": lambda desk: desk.invite("eve", lambda: "a digest"),
    "withdraw": lambda desk: desk.withdraw("ann"),
    "describe": lambda desk: desk.describe("ann", About("a school")),
}


@pytest.mark.parametrize("order", ORDERS)
async def test_an_order_that_has_waited_until_the_tournament_was_deleted_is_not_carried_out(
    order: str,
) -> None:
    """Catches an entrant of what is deleted: the host failed whenever a bot came under that name."""
    async with world({"ann": first, "bob": first}) as here:
        record = here.tournament.record
        await here.desk.delete()
        facts = record.facts
        with pytest.raises(NotThere, match="cup was deleted"):
            await ORDERS[order](here.desk)
        with pytest.raises(Refusal, match="cup was deleted"):
            await here.tournament.enter("eve")
        assert record.facts == facts


async def test_in_a_knockout_nobody_s_way_into_the_next_round_is_voided(autojump_clock: MockClock) -> None:
    """Catches a bracket whose final was won by somebody that had lost before."""
    async with world(dict.fromkeys(("ann", "bob", "cas", "dee"), first), format="knockout") as here:
        await here.tournament.run()
        record = here.tournament.record
        final = record.drawn[record.last_drawn]
        before = [(each.match, each.pairing) for each in here.concluded()]
        for match, number in before:
            if number == final.number:
                continue
            why = f"round 2 has been drawn by what came of {match}: in a knockout that cannot be"
            with pytest.raises(Refusal, match=why):
                await here.desk.void(match, "a cable")
        await here.desk.void(before[-1][0], "a cable")
        assert record.state is State.RUNNING


async def drawn_out(seat: Seat) -> None:
    """Play a match of Tic-Tac-Toe that nobody wins, a second for each move."""
    async for event in seat.match.log.read():
        if seat.to_move and not isinstance(event, Ended):
            await trio.sleep(1.0)
            seat.play(("NW", "N", "NE", "C", "W", "E", "S", "SW", "SE")[seat.match.ply])


async def test_in_a_knockout_a_draw_that_is_being_played_again_is_not_voided(
    autojump_clock: MockClock,
) -> None:
    """Catches two matches that both decide a contest: the loser of one of them went through."""
    async with world({"ann": drawn_out, "bob": drawn_out}, format="knockout") as here:
        await here.tournament.run()
        why = "were drawn again by what came of cup-1: in a knockout that cannot be voided any more"
        with pytest.raises(Refusal, match=why):
            await here.desk.void("cup-1", "a cable")
        await here.desk.void("cup-2", "a cable")


async def test_in_a_knockout_nothing_is_voided_by_which_a_place_stayed_empty(
    autojump_clock: MockClock,
) -> None:
    """Catches an entrant that won its first round and was in none after it."""
    players = {"ann": first, "bob": silent, "cas": silent, "dee": first}
    async with world(players, format="knockout") as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(10.0)
        (over,) = here.concluded()
        await here.desk.withdraw(over.players[over.winner or 0])
        await here.tournament.finished()
        with pytest.raises(Refusal, match=f"round 2 has been drawn by what came of {over.match}"):
            await here.desk.void(over.match, "a cable")


@pytest.mark.parametrize(
    ("why", "told"), [("the wrong bot", "the wrong bot"), ("", "the organiser voided it")]
)
async def test_a_match_in_play_can_be_voided_and_everybody_is_told_why(
    why: str, told: str, autojump_clock: MockClock
) -> None:
    async with world({"ann": first, "bob": first}) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.5)
        await here.desk.void("cup-1", why)
    void, again = here.concluded()
    assert (void.match, void.ending, void.why) == ("cup-1", Ending.VOID, told)
    assert (again.match, again.ending) == ("cup-1.2", Ending.PLAYED)


# Who may come


async def test_it_takes_so_many_and_no_more(autojump_clock: MockClock) -> None:
    async with world({"ann": first, "bob": first}) as here:
        with pytest.raises(Refusal, match="full: it takes 2"):
            await here.tournament.enter("cas")
        await here.tournament.enter("ann")
        assert list(here.tournament.record.entrants) == ["ann", "bob"]
        await here.tournament.run()
        with pytest.raises(Refusal, match="over"):
            await here.tournament.enter("cas")


async def test_only_an_organiser_lets_latecomers_in_and_only_where_the_format_can(
    autojump_clock: MockClock,
) -> None:
    for format, late in (("round-robin", True), ("knockout", False)):
        async with world({"ann": first, "bob": first}, format=format) as here, trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            await trio.sleep(1.5)
            with pytest.raises(Refusal, match="has begun"):
                await here.tournament.enter("cas")
            nursery.start_soon(play, here.come("cas"), first)
            if late:
                await here.desk.enter("cas")
            else:
                with pytest.raises(Refusal, match="takes no more"):
                    await here.desk.enter("cas")
            await trio.sleep(200.0)
            assert here.tournament.record.state is State.FINISHED
            nursery.cancel_scope.cancel()
        assert len(here.concluded()) == (3 if late else 1)


async def test_it_does_not_start_with_too_few(autojump_clock: MockClock) -> None:
    here = World(Opened("tic-tac-toe", "round-robin"))
    await here.tournament.enter("ann")
    with pytest.raises(Refusal, match="cup has 1 entrant; a round-robin needs 2"):
        await here.desk.start()
    await here.tournament.enter("bob")
    await here.desk.start()
    assert here.tournament.record.state is State.RUNNING


async def test_what_is_running_is_not_deleted_before_its_first_match_either(
    autojump_clock: MockClock,
) -> None:
    here = World(Opened("tic-tac-toe", "round-robin"))
    for name in ("ann", "bob"):
        await here.tournament.enter(name)
    await here.desk.start()
    with pytest.raises(Refusal, match="cup is running: pause it"):
        await here.desk.delete()
    await here.desk.pause()
    assert await here.desk.delete() is State.PAUSED


async def test_whoever_is_out_of_a_tournament_can_still_be_described(autojump_clock: MockClock) -> None:
    here = World(Opened("tic-tac-toe", "round-robin"))
    await here.tournament.enter("ann")
    await here.desk.withdraw("ann")
    await here.desk.describe("ann", About("a school"))
    assert here.tournament.record.affiliations == {"ann": "a school"}


async def test_whoever_was_withdrawn_before_the_start_is_none_of_those_it_needs(
    autojump_clock: MockClock,
) -> None:
    """Catches a tournament that starts with too few, which is over at once, without a match."""
    here = World(Opened("tic-tac-toe", "round-robin", 2))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await here.tournament.enter("ann")
        await here.desk.withdraw("ann")
        await here.tournament.enter("bob")
        await trio.sleep(1.0)
        with pytest.raises(Refusal, match="cup has 1 entrant; a round-robin needs 2"):
            await here.desk.start()
        assert here.tournament.record.state is State.REGISTERING
        await here.tournament.enter("cas")
        await trio.sleep(1.0)
        assert here.tournament.record.state is State.RUNNING
        with pytest.raises(Refusal, match="has begun"):
            await here.tournament.enter("dee")
        nursery.cancel_scope.cancel()


async def test_pace_and_options_are_those_of_the_tournament(autojump_clock: MockClock) -> None:
    begun: list[Match] = []
    opened = Opened("hexagon-dots", "round-robin", 2, Terms(), {"rows": 3, "cols": 3}, Pace(turn=1.5))
    here = World(opened, begun=begun.append)
    for name in ("ann", "bob"):
        here.come(name)
        await here.tournament.enter(name)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        await here.tournament.run()
        nursery.cancel_scope.cancel()
    assert begun[0].clock.pace == Pace(turn=1.5)
    assert begun[0].position == catalogue()["hexagon-dots"].start(rows=3, cols=3)
    assert here.concluded()[0].ending is Ending.TIME


async def test_an_estimate_is_there_once_something_is_known(autojump_clock: MockClock) -> None:
    async with world(FOUR, at_once=1) as here, trio.open_nursery() as nursery:
        assert here.tournament.eta() is None
        nursery.start_soon(here.tournament.run)
        await trio.sleep(10.5)
        assert len(here.concluded()) == 1
        assert here.tournament.eta() == pytest.approx(4.5 * 7.0), (
            "half of this one and four more of seven moves, a second each"
        )
    assert here.tournament.eta() is None


async def test_an_estimate_counts_how_long_a_bot_is_waited_for_that_is_gone_from_a_match(
    autojump_clock: MockClock,
) -> None:
    async with world(FOUR, at_once=1) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(10.5)
        (match,) = here.tournament.matches.values()
        match.away(1 - match.position.turn, trio.current_time() + 30.0, trio.current_time())
        await trio.sleep(1.0)
        waited = match.given_up_at - trio.current_time()
        assert waited > 15.0
        assert here.tournament.eta() == pytest.approx(waited + 4 * 7.0), "and not half of this one"
        nursery.cancel_scope.cancel()


async def test_an_estimate_of_what_decide_has_drawn_counts_how_long_an_absent_bot_is_waited_for(
    autojump_clock: MockClock,
) -> None:
    players = dict.fromkeys(("ann", "bob"), first)
    async with world(players, format="decide") as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        while not here.concluded():
            await here.tournament.changed()
        bob = here.lobby.find("bob", "tic-tac-toe")
        assert bob is not None
        bob.away()
        await trio.sleep(10.0)
        assert len(here.concluded()) == 1
        assert not here.tournament.matches
        assert (here.tournament.eta() or 0.0) >= 20.0
        nursery.cancel_scope.cancel()


async def test_an_estimate_falls_while_an_absent_bot_is_waited_for(autojump_clock: MockClock) -> None:
    """It stood still until the next pairing was over, though nothing else was left to wait for."""
    async with world(FOUR) as here, trio.open_nursery() as nursery:
        dee = here.lobby.find("dee", "tic-tac-toe")
        assert dee is not None
        dee.away()
        began, foreseen = trio.current_time(), list[tuple[float, float]]()
        nursery.start_soon(here.tournament.run)
        await trio.sleep(25.0)  # the others have played all that they can
        while here.tournament.record.state is not State.FINISHED:
            foreseen.append((trio.current_time() - began, here.tournament.eta() or 0.0))
            await trio.sleep(5.0)
        ended = foreseen[-1][0] + foreseen[-1][1]
        assert [at + left for at, left in foreseen] == pytest.approx([ended] * len(foreseen), abs=1.0)
        assert len(foreseen) > 6


@pytest.mark.parametrize("here_again", [True, False], ids=["all are there", "nobody is there yet"])
async def test_after_a_restart_an_estimate_knows_how_long_matches_have_taken(
    here_again: bool, autojump_clock: MockClock
) -> None:
    """It knew nothing, or of the rounds to come only how long the absent are waited for."""
    terms = Terms(rounds=5)
    async with world(FOUR, format="swiss", terms=terms) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        while len(here.concluded()) < 2:
            await here.tournament.changed()
        await here.desk.pause()
        while here.tournament.matches:
            await here.tournament.changed()
        before = here.tournament.eta()
        nursery.cancel_scope.cancel()
    assert before is not None
    assert before > 4 * 5.0
    again = World(here.tournament.record.opened, here.store)
    if here_again:
        for name in FOUR:
            again.come(name)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(again.tournament.run)
        await trio.sleep(1.0)
        after = again.tournament.eta()
        assert after is not None
        assert after >= before - 1.0
        nursery.cancel_scope.cancel()


def test_nothing_is_remembered_for_a_forecast_where_there_is_no_end_to_foresee() -> None:
    """Anybody can play at a table, under as many names as there are."""
    lengths: dict[str, float] = {}
    for format in ("round-robin", "decide", "open", "ladder"):
        forecast = Forecast(Record("cup", Opened("tic-tac-toe", format)))
        forecast.note(("ann", "bob"), 3.0)
        lengths[format] = forecast.length
    assert lengths == {"round-robin": 3.0, "decide": 3.0, "open": 0.0, "ladder": 0.0}


async def unhurried(seat: Seat) -> None:
    """Play like `first`, but begin each match three seconds later."""
    await trio.sleep(3.0)
    await first(seat)


@pytest.mark.parametrize("format", ["double-round-robin", "swiss", "knockout", "gauntlet"])
async def test_every_format_comes_to_an_end(autojump_clock: MockClock, format: str) -> None:
    async with world(dict.fromkeys("abcdefg", first), format=format) as here:
        await here.tournament.run()
    assert here.tournament.record.state is State.FINISHED
    assert here.tournament.record.results.remembered()


@pytest.mark.parametrize("format", ["swiss", "knockout"])
async def test_it_is_not_over_where_the_last_matches_of_a_round_end_while_its_format_is_asked_for_more(
    autojump_clock: MockClock, format: str
) -> None:
    """A knockout of 300 was over after four of its nine rounds: the format had nothing to add while three
    matches were in play, and when it had said so they were over.
    """

    async def slowly(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
        drawn = draw()
        await trio.sleep(60.0)
        return drawn

    many = {f"p{index}": first if index % 2 else unhurried for index in range(FEW + 2)}
    async with world(many, format=format, elsewhere=slowly) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(61.0)
        assert len(here.tournament.matches) == len(many) / 2
        await here.desk.describe("p0", About("ETH Zürich"))  # a Swiss asks anew when an entrant has changed
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    record = here.tournament.record
    assert record.drawn[record.last_drawn].round == {"swiss": 7, "knockout": 5}[format]


async def test_what_another_process_draws_is_not_copied_here() -> None:
    """Catches a copy of half a million pairings on the loop that plays, whenever an entrant has changed."""

    class Unread(Record):
        def past(self) -> tuple[Sequence[Pairing], Sequence[Result]]:
            raise AssertionError

    async def by_another(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
        return [Pairing(1, 1, "p0", "p1")]

    record = Unread("cup", Opened("tic-tac-toe", "round-robin"))
    for index in range(FEW + 2):
        record.add(Entered(f"p{index}"))
    presence = Presence(record, "tic-tac-toe", Lobby(), Timekeeper(), 30.0)
    draws = Draws(record, presence, by_another, secrets.randbits)
    assert await draws.drawn(inf) == [Pairing(1, 1, "p0", "p1")]


@pytest.mark.parametrize(
    ("format", "rounds", "played"), [("gauntlet", 10_000, 0), ("swiss", 10_000, SHORT + 1)]
)
async def test_what_a_few_play_for_thousands_of_rounds_is_drawn_elsewhere(
    format: str, rounds: int, played: int
) -> None:
    """Catches a look at all that they have played, or a draw of all that they will, while moves wait."""
    asked: list[str] = []

    async def by_another(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
        asked.append(record.name)
        return []

    record = Record("cup", Opened("tic-tac-toe", format, terms=Terms(rounds=rounds)))
    for name in ("ann", "bob"):
        record.add(Entered(name))
    record.add(Drew(tuple([Pairing(number, number, "ann", "bob") for number in range(1, played + 1)])))
    presence = Presence(record, "tic-tac-toe", Lobby(), Timekeeper(), 30.0)
    await Draws(record, presence, by_another, secrets.randbits).drawn(inf)
    assert asked == ["cup"]


async def test_nobody_can_compute_beforehand_who_begins_where_lots_decide(autojump_clock: MockClock) -> None:
    """Catches lots that depend on nothing but names: a bot chose one that begins in every match."""
    first_to_move = set[str]()
    for _ in range(40):
        begun = trio.Event()
        table = world(
            {"ann": silent, "bob": silent},
            format="open",
            terms=Terms(lots=True),
            begun=lambda match, begun=begun: begun.set(),
        )
        async with table as here, trio.open_nursery() as nursery:
            nursery.start_soon(here.tournament.run)
            await begun.wait()
            first_to_move.add(here.tournament.record.drawn[1].first)
            nursery.cancel_scope.cancel()
    assert first_to_move == {"ann", "bob"}


async def test_a_copy_is_of_one_moment_although_others_have_their_turns(autojump_clock: MockClock) -> None:
    """A preview of a round robin of a thousand held up all moves for 50 ms."""
    done: list[str] = []
    async with world(FOUR) as here, trio.open_nursery() as nursery:

        async def take_turns() -> None:
            for _ in range(10):
                await trio.lowlevel.checkpoint()
            done.append("ten turns")

        async def enter() -> None:
            await here.tournament.keep(Entered("eve"))
            done.append("entered")

        nursery.start_soon(take_turns)
        nursery.start_soon(enter)
        copied = await here.tournament.copied_record()
        done.append("copied")
    assert done == ["ten turns", "copied", "entered"]
    assert "eve" not in copied.entrants
    assert "eve" in here.tournament.record.entrants


async def test_it_is_not_over_after_a_round_of_nothing_but_byes(autojump_clock: MockClock) -> None:
    """A final used not to be played where in both halves the opponent was gone: byes are decided at once."""
    eight = dict.fromkeys("abcdefgh", first)
    async with world(eight, format="knockout", at_once=1) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(3 * 7.5)
        assert len(here.concluded()) == 3, "of seven moves each, a second a move"
        for quarter in (0, 2):
            await here.desk.withdraw(here.concluded()[quarter].players[0])
    drew = [fact.pairings for fact in here.told if isinstance(fact, Drew)]
    assert [[len(pairing.names) for pairing in pairings] for pairings in drew] == [[2] * 4, [1, 1], [2]]
    assert here.tournament.record.state is State.FINISHED
    assert set(here.concluded()[-1].players) == {here.concluded()[quarter].players[0] for quarter in (1, 3)}


async def test_a_ladder_goes_on_while_there_are_two(autojump_clock: MockClock) -> None:
    async with world(dict.fromkeys("abcd", first), format="ladder") as here:
        with trio.move_on_after(100.0):
            await here.tournament.run()
    assert len(here.concluded()) >= 10
    assert here.tournament.record.state is State.RUNNING


@given(st.floats(0, 1e5))
def test_a_time_in_whole_microseconds_is_never_more_than_was_spent(seconds: float) -> None:
    (micros,) = whole_micros([seconds])
    assert seconds - 2e-6 < micros <= seconds
    assert micros == round(micros * 1e6) / 1e6
    assert whole_micros([micros, seconds]) == (micros, micros)
