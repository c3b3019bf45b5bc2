"""A fault of the host's own, over a request or in telling a bot of its match, costs nobody a match."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from games.tictactoe import TicTacToe
from server.host.host import Host
from server.protocols.arena.battle import Battle
from server.protocols.arena.messages import FLIP
from server.protocols.hexagon_dots.bot import Bot
from server.protocols.house.talk import HouseTalk
from server.protocols.mcp.place import Place
from server.protocols.santorini_memo import Memo
from tests.server.protocols.lists import CUP, Stream, answered, lists
from tests.server.protocols.room import room
from tests.server.protocols.table import SIDES, said, table
from tests.server.protocols.test_mcp import playing, token_of
from tournament.events import HOST_FAILED, AnyEvent, Began, Ended, Ending, Fault, Moved
from tournament.facts import Concluded, State

OWN = "a-token-of-ones-own"
FAULT = b'{"error":"the fault is this host\'s, and it is logged"}'


def broken(*arguments: Any) -> None:
    raise RuntimeError("planted")


def plant(monkeypatch: pytest.MonkeyPatch, where: type, what: str, *, after: bool) -> None:
    """Have a method fail, at once or `after` it has done its work."""
    whole: Callable[..., Any] = getattr(where, what)

    def fail(*arguments: Any) -> None:
        if after:
            whole(*arguments)
        broken()

    monkeypatch.setattr(where, what, fail)


def deafen(monkeypatch: pytest.MonkeyPatch, where: type, kind: type, whom: Callable[[Any], bool]) -> None:
    """Have a dialect fail to tell somebody of events of that kind."""
    what = "_hear" if where is Battle else "_tell"
    whole: Callable[[Any, AnyEvent], None] = getattr(where, what)

    def fail(dialect: Any, event: AnyEvent) -> None:
        if isinstance(event, kind) and whom(dialect):
            broken()
        whole(dialect, event)

    monkeypatch.setattr(where, what, fail)


def expect_void(over: Concluded) -> None:
    assert (over.ending, over.why, over.fault, over.score) == (Ending.VOID, HOST_FAILED, Fault.HOST, None)


def expect_counted(host: Host) -> None:
    """As every exception is that nobody expected: there was one."""
    assert host.guard.caught.total() == 1
    host.guard.caught.clear()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("what", ["_hold", "_move"])
async def test_a_fault_over_a_move_of_hexagon_dots_makes_the_game_void(
    what: str, after: bool, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Bot, what, after=after)
            await ann.move(SIDES[0])
            answer = await ann.told()
        assert (answer.status, answer.body) == (500, FAULT)
        if what == "_move" and after:  # by then it is Bob's turn
            await bob.turn()
            await bob.move(SIDES[1])
        other = await bob.told()
        assert (other.status, "x-turn-token" in other.headers) == (200, False)
        assert said(other)["state"] == "completed"
        (over,) = here.host.tournaments["open-hexagon-dots"].record.matches.values()
        expect_void(over)
        assert here.host.measures.voids["host"] == 1
        assert sum(here.server.guard.caught.values()) == 1
        here.server.guard.caught.clear()
        again, other = await here.pair()
        await again.move(SIDES[0])
        await other.turn()


@pytest.mark.parametrize("what", ["_hold", "join"])
async def test_a_fault_over_a_join_of_hexagon_dots_leaves_nobody_behind(
    what: str, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with table() as here:
        game, ann = await here.made(), here.bot("ann")
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Bot, what, after=True)
            await ann.join(game)
            assert (await ann.told()).status == 500
        assert not list(here.host.lobby.players())
        here.server.guard.caught.clear()
        await here.pair(game)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("what", ["_move", "play", "start"])
async def test_a_fault_over_a_request_of_a_battle_makes_the_match_void(
    what: str, after: bool, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Battle, what, after=after)
            if what == "start":
                client = here.send(f"/tic-tac-toe/start/{ann.battle}")
                cut = await client.now()
                assert after or FAULT in cut
            else:
                answer = await here.ask(
                    f"/tic-tac-toe/play/{ann.battle}", {"action": "putSymbol", "position": "C"}
                )
                assert after or (answer.status, answer.body) == (500, FAULT)
        await trio.sleep(1.0)
        await bob.told()
        assert bob.stream.over
        (over,) = here.host.tournaments["open-tic-tac-toe"].record.matches.values()
        expect_void(over)
        assert here.host.measures.voids["host"] == 1
        here.host.guard.caught.clear()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_fault_over_a_tool_of_a_language_model_makes_the_match_void(
    after: bool, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with playing() as (host, mover, _):
        move = {"name": "move", "arguments": {"token": await token_of(mover, host), "move": 3}}
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Place, "play", after=after)
            assert (await mover.new("tools/call", move)).status == 500
        await trio.testing.wait_all_tasks_blocked()
        (over,) = host.tournaments["open-connect-4"].record.matches.values()
        expect_void(over)
        expect_counted(host)


async def test_what_is_wrong_with_a_request_is_no_fault_of_the_host(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, _ = await here.pair()
        status, _ = await here.says(f"/tic-tac-toe/play/{ann.battle}", b"{")
        assert status == 400
        assert (await ann.put("C"))[0] == 200


@pytest.mark.parametrize("kind", [Began, Moved, Ended])
async def test_a_bot_that_could_not_be_told_of_its_match_comes_anew_and_misses_no_other(
    kind: type, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with room(CUP) as hall:
        ann = await hall.hello("ann", token=OWN)
        with capture_logs(), monkeypatch.context() as planted:
            deafen(planted, HouseTalk, kind, lambda house: house.attendance.name == "bob")
            bob = await hall.hello("bob")
            told = await bob.messages()
            await ann.tell(type="move", move="NW")
            await ann.tell(type="resign")
        expect_counted(hall.host)
        told += await bob.messages()
        assert told[-2:] == [
            {"type": "refused", "reason": HOST_FAILED},
            {"type": "[closed]"},
        ]
        record = hall.host.tournaments["cup"].record
        if kind is not Ended:  # otherwise the match was over before
            (over,) = record.matches.values()
            expect_void(over)
        await ann.messages()
        bob = await hall.hello("bob", token=told[0]["token"])
        if kind is not Ended:
            assert [message["type"] for message in await ann.messages()] == ["begin", "turn"]
            assert [message["type"] for message in await bob.messages()] == ["welcome", "begin", "turn"]
            await ann.tell(type="resign")
        assert record.state is State.FINISHED
        assert record.matches[list(record.matches)[-1]].winner == 1


async def test_a_bot_whose_move_makes_a_game_fail_is_told_as_its_opponent_is_and_both_play_on(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with room(CUP) as hall:
        ann, bob = await hall.hello("ann"), await hall.hello("bob")
        await ann.messages()
        await bob.messages()
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, TicTacToe, "play", after=False)
            await ann.tell(type="move", move="NW")
        expect_counted(hall.host)
        told = await ann.messages()
        assert told == await bob.messages()
        assert [(each["type"], each["ending"], each["fault"]) for each in told] == [("end", "void", "host")]
        await trio.sleep(1.0)
        assert [each["type"] for each in await ann.messages()] == ["begin", "turn"]
        await ann.tell(type="move", move="NW")
        assert [each["type"] for each in await bob.messages()] == ["begin", "turn", "turn"]


async def test_a_bot_that_cannot_be_told_how_its_match_stands_when_it_comes_back_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with room(CUP) as hall:
        ann, _ = await hall.hello("ann", token=OWN), await hall.hello("bob")
        await ann.messages()
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, HouseTalk, "_resume", after=False)
            again = await hall.hello("ann", token=OWN)
        assert (await again.messages())[-2:] == [
            {"type": "refused", "reason": HOST_FAILED},
            {"type": "[closed]"},
        ]
        (over,) = hall.host.tournaments["cup"].record.matches.values()
        expect_void(over)
        again = await hall.hello("ann", token=OWN)
        assert [message["type"] for message in await again.messages()] == ["welcome", "begin", "turn"]
        hall.host.guard.caught.clear()


@pytest.mark.parametrize("kind", [Began, Moved, Ended])
async def test_an_old_bot_that_could_not_be_told_of_its_match_may_come_again(
    kind: type, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        ann = await hall.come("ann")
        with capture_logs(), monkeypatch.context() as planted:
            deafen(planted, Memo, kind, lambda memo: memo.attendance.name == "bob")
            bob = await hall.come("bob")
            await ann.say("0 0")
            await ann.wire.aclose()
            await trio.testing.wait_all_tasks_blocked()
        expect_counted(hall.host)
        assert (await bob.lines())[-1] == "[closed]"
        await hall.come("ann")
        bob = await hall.come("bob")
        assert [state[0] for state in await bob.states()] == ["placeWorker"]


async def test_a_bot_that_cannot_be_told_of_the_end_of_its_tournament_ends_nothing_else(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    """Catches a fault of one dialect that ended the whole host."""
    async with room(CUP) as hall:
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, HouseTalk, "_tournament_over", after=False)
            ann = await hall.hello("ann")
        bob = await hall.hello("bob")
        await ann.tell(type="resign")
        expect_counted(hall.host)
        assert (await ann.messages())[-2:] == [
            {"type": "refused", "reason": HOST_FAILED},
            {"type": "[closed]"},
        ]
        assert [each["type"] for each in await bob.messages()][-2:] == ["end", "standings"]
        assert hall.host.tournaments["cup"].record.state is State.FINISHED


async def test_whoever_comes_back_to_its_match_may_do_so_if_its_old_connection_cannot_be_told(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    """Catches a match that was lost on time, by a bot that the host had sent away."""
    async with room(CUP) as hall:
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, HouseTalk, "_give_way", after=False)
            old = await hall.hello("ann", token=OWN)
        await hall.hello("bob")
        await old.messages()
        ann = await hall.hello("ann", token=OWN)
        expect_counted(hall.host)
        assert await old.messages() == [{"type": "[closed]"}], "or it waits for ever"
        assert [each["type"] for each in await ann.messages()] == ["welcome", "begin", "turn"]


async def test_a_bot_that_cannot_be_told_that_it_is_in_loses_no_match_to_which_it_came_back(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    """Catches a bot that was in, and was neither asked nor missed until its time was over."""
    async with room(CUP) as hall:
        ann, _ = await hall.hello("ann", token=OWN), await hall.hello("bob")
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, HouseTalk, "_enter", after=False)
            again = await hall.hello("ann", token=OWN)
        expect_counted(hall.host)
        assert (await again.messages())[-1] == {"type": "[closed]"}
        (over,) = hall.host.tournaments["cup"].record.matches.values()
        expect_void(over)
        ann = await hall.hello("ann", token=OWN)
        assert [each["type"] for each in await ann.messages()] == ["welcome", "begin", "turn"]


async def test_a_bot_that_has_gone_is_gone_though_its_dialect_fails(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    """Catches a name that stayed taken, and to which matches were dealt."""
    async with room() as hall:
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Memo, "gone", after=False)
            ann = await hall.come("ann")
            await ann.wire.aclose()
            await trio.testing.wait_all_tasks_blocked()
        assert not list(hall.host.lobby.players())
        hall.host.guard.caught.clear()


async def test_a_bot_that_cannot_be_told_that_the_host_stops_keeps_nobody_else_from_hearing_it(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    """Catches a stop that ended with a traceback, without the standings."""
    async with room() as hall:
        bots = [await hall.hello("ann"), await hall.hello("cas", "quoridor")]
        with capture_logs(), monkeypatch.context() as planted:
            plant(planted, Memo, "give_up", after=False)
            await hall.come("bob")
            await hall.host.stop()
        expect_counted(hall.host)
        assert [(await each.messages())[-1]["type"] for each in bots] == ["[closed]"] * 2


@pytest.mark.parametrize("kind", [Began, Moved])
async def test_a_bot_of_hexagon_dots_that_could_not_be_told_of_its_match_may_join_again(
    kind: type, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with table() as here:
        game, ann, bob = await here.made(), here.bot("ann"), here.bot("bob")
        with capture_logs(), monkeypatch.context() as planted:
            deafen(planted, Bot, kind, lambda bot: bot.name == "bob")
            await ann.join(game)
            await bob.join(game)
            if kind is Moved:
                await ann.turn()
                await ann.move(SIDES[0])
            assert (await bob.told()).status == 410
        expect_counted(here.host)
        (over,) = here.host.tournaments["open-hexagon-dots"].record.matches.values()
        expect_void(over)
        assert not list(here.host.lobby.players())
        await here.pair()


@pytest.mark.parametrize("kind", [Began, Moved, Ended])
async def test_a_bot_of_the_arena_that_could_not_be_told_of_its_match_may_join_again(
    kind: type, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        with capture_logs(), monkeypatch.context() as planted:
            deafen(planted, Battle, kind, lambda battle: battle.seat.index == 1)
            clients = [await here.join("ann"), await here.join("bob")]
            battles = [await answered(client) for client in clients]
            streams = [Stream(here.send(f"/tic-tac-toe/start/{battle}")) for battle in battles]
            await trio.testing.wait_all_tasks_blocked()
            await here.ask(f"/tic-tac-toe/play/{battles[0]}", {"action": "putSymbol", "position": "C"})
            await here.ask(f"/tic-tac-toe/play/{battles[0]}", {"action": FLIP})
        expect_counted(here.host)
        for stream in streams:
            await stream.told()
            assert stream.over
        (over,) = here.host.tournaments["open-tic-tac-toe"].record.matches.values()
        if kind is not Ended:
            expect_void(over)
        await here.pair()
