"""Connect-4 as the c4-arena speaks it: who meets whom, what a bot is told, and what comes of it.

What is ignored is in `test_c4arena_ignored.py`; the bytes are in the transcripts of the protocol's page.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from math import inf, nextafter
from random import Random

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from games.connect4 import GAME
from server.host.abroad import Abroad
from server.host.host import Host
from server.protocols.c4arena.messages import ONLY_START
from tests.server.protocols.fours import (
    DISCONNECTED,
    DRAWN,
    END,
    WON,
    Bot,
    ignored,
    pair,
    place,
    play,
    state,
    table,
)
from tests.server.workers.test_handing import Late
from tournament.desk import Desk
from tournament.events import Ending
from tournament.facts import Opened, State

CUP = {"tournament": "cup", "game": "connect-4", "format": "round-robin"}

# A match


async def test_a_bot_waits_until_another_comes_and_then_both_are_told_the_state(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        ann, bob = Bot(host), Bot(host)
        assert await ann.start("Ann") == []
        told = [*await bob.start("Bob"), *ann.heard()]
        assert sorted(told, key=lambda each: each["you"]) == [state(1, 1, []), state(1, 2, [])]


@pytest.mark.slow
@given(st.integers())
async def test_every_move_is_told_to_both_with_all_that_were_played_and_shown_as_the_last_once(
    seed: int,
) -> None:
    async with place() as host:
        random, bots = Random(seed), await pair(host)
        position, moves = GAME.start(), list[int]()
        while position.outcome is None:
            column = random.choice([*position.moves()])
            mover = position.turn
            position, moves = position.play(column), [*moves, column]
            told = [await bots[mover].move(column), bots[1 - mover].heard()]
            for you, heard in zip((mover + 1, 2 - mover), told, strict=True):
                if position.outcome is None:
                    assert heard == [state(position.turn + 1, you, moves, **{"last-move": column})]
                    again = await bots[you - 1].say("state_request")
                    assert again == [state(position.turn + 1, you, moves)]
                else:
                    winner = 0 if position.outcome.winner is None else position.outcome.winner + 1
                    assert heard == [state(0, you, moves, winner=winner, **{"last-move": column}), END]


async def test_a_draw_has_0_for_a_winner(autojump_clock: MockClock) -> None:
    async with place() as host:
        bots = await pair(host)
        await play(bots, DRAWN[:-1])
        last = {"last-move": DRAWN[-1], "winner": 0}
        assert await bots[1].move(DRAWN[-1]) == [state(0, 2, DRAWN, **last), END]
        assert bots[0].heard() == [state(0, 1, DRAWN, **last), END]


async def test_only_whoever_asks_for_the_state_is_told_it(autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        await play((first, second), [3])
        assert await first.say("state_request") == [state(2, 1, [3])]
        assert second.heard() == []


async def test_after_the_end_the_same_socket_may_start_again_under_another_id_too(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        ann, bob = bots = await pair(host)
        await play(bots, WON)
        assert await ann.say("state_request") == [ignored({"type": "state_request"}, ONLY_START)]
        assert await ann.start("Amy") == []
        await trio.sleep(100.0)
        assert ann.heard() == [], "nobody plays who has not started again"
        (told,) = await bob.start("Ben")
        assert (told["type"], told["moves"]) == ("state", [])
        (playing,) = host.tournaments["open-connect-4"].matches.values()
        assert sorted(playing.names) == ["Amy", "Ben"]


async def test_a_bot_that_has_not_started_again_is_nobody_at_the_table(autojump_clock: MockClock) -> None:
    async with place() as host:
        await play(await pair(host), WON)
        assert list(host.lobby.players()) == []


# Who meets whom at the open table


async def test_whoever_came_for_somebody_meets_nobody_else(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, bob, cas = Bot(host), Bot(host), Bot(host)
        await ann.start("Ann", against="Bob")
        assert await cas.start("Cas", against=None) == []
        assert len(await bob.start("Bob")) == 1
        assert (len(ann.heard()), len(cas.heard())) == (1, 0)


async def test_two_meet_only_if_each_wants_the_other(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, bob, dee = Bot(host), Bot(host), Bot(host)
        await ann.start("Ann", against="Bob")
        assert await bob.start("Bob", against="Dee") == []
        assert len(await dee.start("Dee", against="Bob")) == 1
        assert (len(bob.heard()), len(ann.heard())) == (1, 0)


async def test_spaces_around_an_id_keep_nobody_from_meeting(autojump_clock: MockClock) -> None:
    """Catches an id that loses them as the bot's own, and keeps them as that of an opponent."""
    async with place() as host:
        ann, bob, cas = Bot(host), Bot(host), Bot(host)
        await ann.start(" Ann")
        assert len(await bob.start("Bob", against=" Ann")) == 1
        assert await cas.start("Cas", against="random ")


async def test_two_sockets_with_one_id_may_wait_and_never_meet_each_other(autojump_clock: MockClock) -> None:
    async with place() as host:
        one, other, bob, cas = (Bot(host) for _ in range(4))
        assert await one.start("Ann") == await other.start("Ann") == []
        await bob.start("Bob")
        await cas.start("Cas")
        assert (len(one.heard()), len(other.heard())) == (1, 1)
        names = [sorted(match.names) for match in host.tournaments["open-connect-4"].matches.values()]
        assert names == [["Ann", "Bob"], ["Ann", "Cas"]]


async def test_two_who_are_playing_each_other_are_not_paired_again(autojump_clock: MockClock) -> None:
    async with place() as host:
        bots, others = await pair(host), (Bot(host), Bot(host))
        assert await others[0].start("Ann") == await others[1].start("Bob") == []
        await play(bots, WON)
        assert [len(bot.heard()) for bot in others] == [1, 1]


async def test_those_who_have_met_least_meet_first(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, bob = bots = await pair(host)
        await play(bots, WON)
        cas = Bot(host)
        await cas.start("Cas", against="Ann")
        await ann.start("Bob")  # who is who does not matter to a socket
        assert len(await bob.start("Ann")) == 1
        assert (len(cas.heard()), len(ann.heard())) == (1, 0)


async def test_sides_are_by_lot(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, bob = Bot(host), Bot(host)
        sides = list[int]()
        for _ in range(12):
            await ann.start("Ann")
            await bob.start("Bob")
            sides.append(ann.heard()[0]["you"])
            await play((ann, bob) if sides[-1] == 1 else (bob, ann), WON)
        assert sides.count(1) in range(3, 10)
        assert sides not in ([1, 2] * 6, [2, 1] * 6), "nor by turns"


# Who does not play to the end


async def test_when_a_bot_hangs_up_before_both_have_moved_the_other_is_told_the_same_and_it_is_void(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        first, second = await pair(host)
        await play((first, second), [3])
        await second.gone()
        assert first.heard() == [state(2, 1, [3]), DISCONNECTED]
        (match,) = table(host).matches.values()
        assert (match.ending, match.winner, match.score) == (Ending.VOID, None, None)


async def test_when_a_bot_hangs_up_the_other_is_told_the_state_and_that(autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        await play((first, second), [3, 3])
        await second.gone()
        assert first.heard() == [state(1, 1, [3, 3]), DISCONNECTED]
        assert second.heard() == []
        (match,) = table(host).matches.values()
        assert (match.ending, match.winner) == (Ending.LEFT, 0)
        assert await first.start("Ann") == [], "the socket is as good as before"


async def test_whoever_hangs_up_while_it_waits_is_waited_for_by_nobody(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, bob = Bot(host), Bot(host)
        await ann.start("Ann")
        await ann.gone()
        assert await bob.start("Bob") == []
        assert [player.name for player in host.lobby.players()] == ["Bob"]


async def test_whoever_hangs_up_while_it_is_let_in_is_not_there(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, bob = Bot(host), Bot(host)
        ann.talk.hear(b'{"type":"start","id":"Ann"}', trio.current_time())
        await ann.gone()
        assert await bob.start("Bob") == []
        assert [player.name for player in host.lobby.players()] == ["Bob"]


@pytest.mark.parametrize("late", [False, True])
async def test_a_move_takes_60_seconds_at_most(late: bool, autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        end = trio.current_time() + 60.0
        await trio.sleep_until(nextafter(end, inf) if late else end)
        first.talk.hear(b'{"type":"move","move":3}', trio.current_time())
        await trio.sleep(1.0)
        if late:
            lost = first.heard()
            assert lost[-2:] == [state(0, 1, [], winner=2), END], "who has lost is told so"
            assert second.heard() == [state(1, 2, []), DISCONNECTED]
            assert next(iter(table(host).matches.values())).ending is Ending.TIME
        else:
            assert first.heard() == [state(2, 1, [3], **{"last-move": 3})]


async def test_whoever_thinks_too_long_may_start_again(autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        await trio.sleep(61.0)
        assert (first.heard()[-1], second.heard()[-1]) == (END, DISCONNECTED)
        await first.start("Ann")
        assert len(await second.start("Bob")) == 1


async def test_whoever_answers_with_what_is_no_move_is_told_so_in_the_record(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        first, _ = await pair(host)
        await first.say("moves", move=3)
        await trio.sleep(61.0)
        (over,) = table(host).matches.values()
        assert over.why.endswith(" ran out of time; its last message had no effect: Unknown message type")


async def test_twenty_moves_that_are_refused_lose_the_match(autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        for _ in range(19):
            await first.move(7)
            await trio.sleep(2.0)  # for the answer, which takes up to a second
        assert second.heard() == []
        first.heard()
        refused = ignored({"type": "move", "move": 7}, "Invalid move")
        assert await first.move(7) == [refused, state(0, 1, [], winner=2), END]
        assert second.heard() == [state(1, 2, []), DISCONNECTED]


async def test_when_a_match_is_voided_both_may_go_on(autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        await play((first, second), [3])
        (name,) = host.tournaments["open-connect-4"].matches
        await Desk(host.tournaments["open-connect-4"]).void(name, "the organiser spilt coffee")
        await trio.sleep(1.0)
        assert first.heard() == [state(2, 1, [3]), DISCONNECTED]
        assert second.heard() == [state(2, 2, [3]), DISCONNECTED]


# In a tournament


async def test_in_a_tournament_start_means_deal_me_my_next_match(autojump_clock: MockClock) -> None:
    async with place(CUP | {"entrants": "3"}) as host:
        record = host.tournaments["cup"].record
        bots = {name: Bot(host) for name in ("Ann", "Bob", "Cas")}
        for name, bot in bots.items():
            await bot.tell("start", id=name, against="random")
        for played in range(3):
            assert len(record.matches) == played
            first, second = sorted((bot for bot in bots.values() if bot.told), key=lambda bot: bot.seat())
            await play((first, second), WON)
            await trio.sleep(1.0)
            assert not any(bot.told for bot in bots.values()), "nobody plays who has not started again"
            for name, bot in bots.items():
                if bot in (first, second) and played < 2:
                    await bot.tell("start", id=name)
        assert {match.ending for match in record.matches.values()} == {Ending.PLAYED}
        assert record.state is State.FINISHED


async def test_when_the_tournament_is_over_the_host_hangs_up_on_whoever_still_waits(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that had said `start` before the last match, and waited forever for one more."""
    async with place(CUP | {"entrants": "3"}) as host:
        bots = {name: Bot(host) for name in ("Ann", "Bob", "Cas")}
        for _ in range(3):
            for name, bot in bots.items():
                if bot.talk.attendance.name is None:
                    await bot.tell("start", id=name)
            assert not any(bot.cut for bot in bots.values())
            first, second = sorted((bot for bot in bots.values() if bot.told), key=lambda bot: bot.seat())
            await play((first, second), WON)
            await trio.sleep(1.0)
        assert host.tournaments["cup"].record.state is State.FINISHED
        assert sorted(str(bot.cut) for bot in bots.values()) == ["None", "None", "cup is over"]
        assert not any(bot.told for bot in bots.values())
        ann, bob = Bot(host), Bot(host)
        assert await ann.start("Ann") == []
        assert (await bob.start("Bob"))[0]["moves"] == [], "whoever comes now is at the open table"


@asynccontextmanager
async def after_a_cup() -> AsyncIterator[tuple[Host, Bot, Bot, str]]:
    """Two bots whose cup is over with their match, over the same connections, and the name of the first."""
    async with place(CUP | {"entrants": "2"}) as host:
        ann, bob = await pair(host)
        name = ann.talk.attendance.name or ""
        await play((ann, bob), WON)
        await trio.sleep(1.0)
        assert host.tournaments["cup"].record.state is State.FINISHED
        yield host, ann, bob, name


async def test_the_host_hangs_up_on_whoever_asks_for_its_next_match_when_there_is_none(
    autojump_clock: MockClock,
) -> None:
    """One that asked a moment before the end was hung up on; one that asked a moment after it got a seat."""
    async with after_a_cup() as (host, ann, bob, name):
        start = msgspec.json.encode({"type": "start", "id": name})
        assert ann.talk.repeated(start) == b"", "so that no other process lets it in at the open table"
        assert await ann.start(name) == []
        assert ann.cut == "cup is over"
        await bob.start("Cas")
        assert (bob.cut, bob.talk.attendance.name) == (None, "Cas"), "another id was in no tournament"
        again = Bot(host)
        assert await again.start(name) != [], "over another connection, it meets Cas at the open table"


@pytest.mark.parametrize("rounds", range(12))
@pytest.mark.parametrize("abroad", [None, Late()], ids=["alone", "with-workers"])
async def test_whether_it_asks_before_the_end_is_kept_or_after_makes_no_difference(
    abroad: Abroad | None, rounds: int, autojump_clock: MockClock
) -> None:
    """Even if the end is kept while it is being let in, and wherever the open table is held."""
    async with place(CUP | {"entrants": "2"}) as host:
        host.abroad = abroad
        ann, bob = await pair(host)
        name = ann.talk.attendance.name or ""
        await play((ann, bob), WON[:-1])
        start = msgspec.json.encode({"type": "start", "id": name})
        ann.talk.hear(b'{"type":"move","move":%d}' % WON[-1], trio.current_time())
        while END not in ann.heard():
            await trio.lowlevel.checkpoint()
        for _ in range(rounds):
            await trio.lowlevel.checkpoint()
        ann.talk.hear(start, trio.current_time())
        await trio.sleep(1.0)
        assert host.tournaments["cup"].record.state is State.FINISHED
        assert (ann.cut, ann.heard()) == ("cup is over", [])


async def test_it_goes_on_over_the_same_connection_to_a_tournament_that_takes_it(
    autojump_clock: MockClock,
) -> None:
    async with after_a_cup() as (host, ann, _, name):
        await host.open("league", Opened(GAME.name, "round-robin", 2))
        await ann.start(name)
        assert ann.cut is None
        assert [*host.tournaments["league"].record.entrants] == [name]


async def test_the_host_hangs_up_on_whoever_asks_for_its_next_match_and_was_taken_out(
    autojump_clock: MockClock,
) -> None:
    async with place(CUP | {"entrants": "3"}) as host:
        bots = {name: Bot(host) for name in ("Ann", "Bob", "Cas")}
        for name, bot in bots.items():
            await bot.start(name)
        (match,) = host.tournaments["cup"].matches.values()
        name = match.names[0]
        bots[name].heard()
        await play((bots[name], bots[match.names[1]]), WON)
        await Desk(host.tournaments["cup"]).disqualify(name, "two bots in one")
        await bots[name].start(name)
        assert bots[name].cut == f"{name} was disqualified from cup: ask its organiser why"


async def test_the_host_hangs_up_on_whoever_waits_and_is_taken_out(autojump_clock: MockClock) -> None:
    async with place(CUP | {"entrants": "3"}) as host:
        ann, bob, cas = (Bot(host) for _ in range(3))
        for name, bot in (("Ann", ann), ("Bob", bob)):
            await bot.tell("start", id=name)
        desk = Desk(host.tournaments["cup"])
        await desk.disqualify("Ann", "two bots in one")
        await trio.sleep(1.0)
        assert (ann.cut, bob.cut) == ("Ann was disqualified from cup: ask its organiser why", None)
        await cas.start("Cas")
        await desk.start()
        await trio.sleep(1.0)
        assert [match.names for match in host.tournaments["cup"].matches.values()] == [("Bob", "Cas")]


async def test_whoever_does_not_start_again_has_half_a_minute_before_a_match_is_lost(
    autojump_clock: MockClock,
) -> None:
    async with place(CUP | {"entrants": "2", "format": "double-round-robin"}) as host:
        record = host.tournaments["cup"].record
        ann, bob = Bot(host), Bot(host)
        await ann.start("Ann")
        await bob.start("Bob")
        await play((ann, bob) if ann.heard()[0]["you"] == 1 else (bob, ann), WON)
        bob.heard()
        assert await ann.start("Ann") == []
        await trio.sleep(29.0)
        assert len(record.matches) == 1
        await trio.sleep(2.0)
        (_, second) = record.matches.values()
        assert (second.ending, second.why) == (Ending.LEFT, "Bob was here before, and did not come back")


@pytest.mark.parametrize("rounds", range(4))
async def test_in_a_tournament_whoever_hung_up_and_starts_at_once_is_let_in(
    rounds: int, autojump_clock: MockClock
) -> None:
    """Even if the event loop goes a few rounds before it reads the hang-up, and has the id by then."""
    async with place(CUP | {"entrants": "2"}) as host:
        gone, back, bob = Bot(host), Bot(host), Bot(host)
        await gone.start("Ann")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(back.tell, "start", id="Ann"))
            for _ in range(rounds):
                await trio.lowlevel.checkpoint()
            await gone.gone()
        await bob.start("Bob")
        assert [message["type"] for message in back.heard()] == ["state"]


async def test_a_name_that_waits_at_the_open_table_may_enter_a_tournament_over_another_connection(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        at_table, in_cup = Bot(host), Bot(host)
        await at_table.start("Ann")
        cup = await host.open("cup", Opened("connect-4", "round-robin", 2))
        assert await in_cup.start("Ann") == []
        assert list(cup.record.entrants) == ["Ann"]
        assert (at_table.cut, in_cup.cut) == (None, None)


async def test_in_a_tournament_a_name_is_one_bots_while_it_waits_or_plays(autojump_clock: MockClock) -> None:
    """Catches somebody who takes a seat by starting under the name of an entrant."""
    async with place(CUP | {"entrants": "2"}) as host:
        ann, bob, other = Bot(host), Bot(host), Bot(host)
        taken = "the name Ann is taken: somebody plays in cup under it"
        again = ignored({"type": "start", "id": "Ann"}, taken)
        await ann.start("Ann")
        assert await other.start("Ann") == [again]
        await bob.start("Bob")
        assert await other.start("Ann") == [again]
        await ann.gone()
        await trio.sleep(1.0)
        assert other.heard() == []
