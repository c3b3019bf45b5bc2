"""Hexagon Dots over HTTP: held requests, tokens for one turn, and who plays whom."""

import re
from math import inf, nextafter
from random import Random

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.net.limits import Limits, Rate
from tests.server.protocols.table import (
    AROUND,
    SIDES,
    TURN,
    Dots,
    Slow,
    Table,
    drawn,
    line,
    play_on,
    playing,
    request,
    results,
    said,
    scores,
    sides_drawn,
    table,
)
from tournament.events import Ending
from tournament.facts import Dealt
from tournament.match import GRACE

NO_TOKEN = b"a move needs the X-Turn-Token of the last answer"
REUSED = b"this token has been used for another move"
TWICE = b"the name ann is taken: somebody is in this game under it"
GONE = "the game is over: "
ROW_BY_ROW = [line(*ends) for ends in sorted(AROUND)]


# Games


async def test_a_game_that_was_made_has_an_address_and_a_board(autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.made(5, 3)
        assert game.startswith("/g/")
        told = await here.read(game)
        assert list(told.items()) == [
            ("rows", 5),
            ("cols", 3),
            ("lines", []),
            ("hexagons", []),
            ("players", []),
            ("state", "initiating"),
        ]
        assert await here.made(5, 3) != game


@pytest.mark.parametrize(
    ("board", "reason"),
    [
        ({"rows": 4, "cols": 5}, "rows has to be an odd number from 3 to 31, not 4"),
        ({"rows": 33, "cols": 5}, "rows has to be an odd number from 3 to 31, not 33"),
        ({"rows": 5, "cols": 2}, "cols has to be a number from 3 to 31, not 2"),
        ({"rows": 5, "cols": -5}, "cols has to be a number from 3 to 31, not -5"),
        (b'{"rows":5,"cols":1' + b"0" * 4000 + b"}", "cols has to be a number from 3 to 31, not a number of"),
        ({"rows": "5", "cols": 5}, r'expected \{"rows":5,"cols":5\}: rows: expected a whole number, not "5"'),
        ({"rows": 5.0, "cols": 5.5}, "expected .*: rows: expected a whole number, not 5.0"),
        ({"rows": True, "cols": 5}, "expected .*: rows: expected a whole number, not true"),
        ({"rows": 5}, "expected .*: cols is required, and is missing"),
        ([5, 5], "expected .*: expected an object, not "),
        (b'{"rows":NaN,"cols":5}', "expected .*: this is not JSON: "),
        (b'{"rows":1e999,"cols":5}', "expected .*: rows: this number is too large"),
        (b'\xef\xbb\xbf{"rows":5,"cols":5}', "expected .*: this is not JSON: "),
        (b'{"rows\xff":5,"cols":5}', "expected .*: a body is UTF-8, and this one is not"),
        (b'{"rows":5,"cols":5,"unknown":"\xff"}', "expected .*: a body is UTF-8, and this one is not"),
        (b"[" * 4000, "expected .*"),
        # Newer Pythons read on, to the end that is missing.
        (b'{"x":' + b"[" * 4000, "expected .*: this (body is nested too deeply|is not JSON: )"),
        (b"", "expected .*"),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_a_board_that_cannot_be_is_refused_with_the_reason(
    board: object, reason: str, autojump_clock: MockClock
) -> None:
    async with table() as here:
        answer = await here.caller().ask("POST", "/", board)
        assert (answer.status, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")
        assert re.match(reason, answer.body.decode())
        assert await here.read("/games") == {"games": []}


async def test_the_last_of_a_field_that_comes_twice_counts(autojump_clock: MockClock) -> None:
    async with table() as here:
        answer = await here.caller().ask("POST", "/", b'{"rows":4,"cols":3,"rows":3}')
        assert (await here.read(answer.headers["location"]))["rows"] == 3


# Turns


async def test_a_join_is_answered_at_the_first_turn_with_the_whole_game(autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.made()
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(game)
        await trio.sleep(1000.0)
        assert await ann.heard() is None
        assert scores(await here.read(game)) == [0]
        await bob.join(game)
        first = await ann.turn()
        assert list(said(first)) == ["rows", "cols", "lines", "hexagons", "players", "state"]
        assert (drawn(said(first)), said(first)["state"]) == ([], "in play")
        assert await bob.heard() is None
        await ann.move(SIDES[0])
        second = said(await bob.turn())
        assert second["lines"] == [{"endpoints": SIDES[0], "owner": {"name": "ann", "score": 0}}]
        assert second["players"] == [{"name": "ann", "score": 0}, {"name": "bob", "score": 0}]
        assert ann.token != bob.token


async def test_a_move_is_answered_at_the_next_turn_with_what_has_come_since(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0])
        await bob.turn()
        assert await ann.heard() is None
        assert drawn(await here.read(ann.game)) == SIDES[:1]
        await bob.move(SIDES[1])
        assert drawn(await here.read(ann.game)) == SIDES[:2]
        answer = said(await ann.turn())
        assert list(answer) == ["lines", "hexagons", "players", "state"]
        assert drawn(answer) == SIDES[:2], "its own line, and then the opponent's"
        assert [each["owner"]["name"] for each in answer["lines"]] == ["ann", "bob"]


async def test_the_ends_of_a_line_may_come_in_any_order_and_are_told_in_theirs(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0][::-1])
        assert drawn(said(await bob.turn())) == [SIDES[0]]


async def test_a_capture_is_answered_at_once_with_another_turn(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair(await here.made(3, 5))
        await sides_drawn(ann, bob, 5)
        earlier = bob.token
        await bob.move(SIDES[5])
        answer = said(await bob.turn())
        assert bob.token != earlier
        assert drawn(answer) == SIDES[5:], "nothing but what this request drew"
        assert answer["hexagons"] == [{"center": {"row": 1, "col": 1}, "owner": {"name": "bob", "score": 1}}]
        assert scores(answer) == [0, 1]
        await bob.move(line(0, 2, 0, 3))
        later = said(await ann.turn())
        assert drawn(later) == [SIDES[4], SIDES[5], line(0, 2, 0, 3)]
        assert later["hexagons"] == answer["hexagons"]


async def test_the_end_is_told_to_both_without_a_token(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await sides_drawn(ann, bob, 5)
        await bob.move(SIDES[5])
        told = await ann.end(), await bob.end()
        assert drawn(told[0]) == SIDES[4:]
        assert drawn(told[1]) == SIDES[5:]
        assert scores(told[0]) == scores(told[1]) == [0, 1]
        over = await here.read(ann.game)
        assert (drawn(over), over["state"]) == (ROW_BY_ROW, "completed")
        (result,) = await results(here)
        assert (result.winner, result.ending) == (1, Ending.PLAYED)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cols"), [(3, 3), (3, 6), (5, 5), (7, 4), (9, 9)])
async def test_bots_that_put_deltas_together_without_a_look_know_the_game(
    rows: int, cols: int, autojump_clock: MockClock
) -> None:
    """Catches a line that is told twice, or not at all, at captures above all."""
    async with table() as here:
        game = await here.made(rows, cols)
        ann, bob = here.bot("ann"), here.bot("bob")
        watcher = here.caller()
        await watcher.send("POST", f"{game}/observers")
        async with trio.open_nursery() as nursery:
            for bot in (ann, bob):
                await bot.join(game)
                nursery.start_soon(play_on, here, bot, Random(f"{bot.name} {rows} {cols}"))
        (result,) = await results(here)
        moves = list(result.moves)
        assert ann.lines == moves, "who began was told of every line in the order of drawing"
        assert sorted(map(str, bob.lines)) == sorted(map(str, moves))
        over = await here.read(game)
        by_centre = {str(each["center"]): each["owner"]["name"] for each in over["hexagons"]}
        for bot in (ann, bob):
            assert {str(each["center"]): each["owner"]["name"] for each in bot.hexagons} == by_centre
            assert len(bot.hexagons) == len(by_centre)
        assert len(by_centre) == sum(scores(over))
        watched = [msgspec.json.decode(news) for news in (await watcher.told()).body.splitlines()]
        assert [ends for news in watched for ends in drawn(news)] == moves
        assert [news["state"] for news in watched[:2]] == ["initiating", "in play"]
        assert [news["state"] for news in watched].index("completed") == len(watched) - 1


# Violations


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (SIDES[0], "0,0 0,1 is already drawn, by first"),
        (line(0, 3, 0, 4), "row 0, column 4 is not on the board"),
        (line(-1, 0, 0, 0), "row -1, column 0 is not on the board"),
        (line(0, 0, 0, 10**30), "row 0, column 1000000000000000000000000000000 is not on the board"),
        (line(0, 0, 2, 0), "the points of 0,0 2,0 are not adjacent"),
        (line(1, 1, 1, 2), "1,1 1,2 touches a captured hexagon"),
        (line(0, 3, 0, 3), "0,3 0,3 is not a line"),
        ([{"row": 0, "col": 2}], "expected the two ends of a line"),
        ({"row": 0, "col": 2}, "expected the two ends of a line"),
        ([{"row": 0.0, "col": 2}, {"row": 0, "col": 3}], "expected the two ends of a line"),
        ([{"row": False, "col": 2}, {"row": 0, "col": 3}], "expected the two ends of a line"),
        ([{"row": "0", "col": 2}, {"row": 0, "col": 3}], "expected the two ends of a line"),
        (None, "expected the two ends of a line"),
    ],
    ids=repr,
)
async def test_a_violation_is_told_in_words_and_loses(
    move: object, reason: str, autojump_clock: MockClock
) -> None:
    async with table() as here:
        ann, bob = await here.pair(await here.made(3, 5))
        await sides_drawn(ann, bob, 5)
        await bob.move(SIDES[5])
        await bob.turn()
        await bob.move(msgspec.json.encode(move))
        answer = await bob.told()
        assert (answer.status, answer.headers["content-type"]) == (403, "text/plain; charset=utf-8")
        assert reason in answer.body.decode()
        assert TURN not in answer.headers
        end = await ann.end()
        assert end["players"] == [{"name": "ann", "score": 0}, {"name": "bob", "score": "disqualified"}]
        assert drawn(end) == SIDES[4:], "what was not allowed is not drawn"
        assert end["hexagons"][0]["owner"] == end["players"][1]
        assert await here.read(ann.game) | end == await here.read(ann.game) | {"lines": end["lines"]}
        (result,) = await results(here)
        assert (result.winner, result.ending) == (0, Ending.ILLEGAL)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[NaN]", b"[1e999]", b'"\xff"', b"\xef\xbb\xbf[]", b"[" * 4000, "[]".encode("utf-16")],
)
async def test_what_is_no_json_is_no_move(body: bytes, autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(body)
        answer = await ann.told()
        assert answer.status == 400
        why = "this is not JSON: |a move is UTF-8, |this move is (empty|nested)|\\[0\\]: this number is too"
        assert re.match(f"expected a move as JSON: ({why})", answer.body.decode())
        await ann.move(SIDES[0])
        assert drawn(said(await bob.turn())) == SIDES[:1]


# Tokens


@pytest.mark.parametrize(
    "token", ["", "no such thing", "‹older›", "‹last›", "‹opponent's›", "‹of another game›"]
)
async def test_a_token_that_is_not_the_current_one_changes_nothing(
    token: str, autojump_clock: MockClock
) -> None:
    """Or anybody could make anybody lose: the moves here are illegal."""
    async with table() as here:
        ann, bob = await here.pair()
        known = {"‹older›": ann.token}
        await sides_drawn(ann, bob, 2)
        known |= {"‹last›": ann.token, "‹opponent's›": bob.token}
        await ann.move(SIDES[2])
        await bob.turn()
        await bob.move(SIDES[3])
        await ann.turn()
        cas, dan = here.bot("cas"), here.bot("dan")
        other = await here.made()
        await cas.join(other)
        await dan.join(other)
        await cas.turn()
        known["‹of another game›"] = cas.token
        before = await here.read(ann.game)
        stranger = here.bot("stranger")
        stranger.game = ann.game
        await stranger.move(line(0, 0, 0, 0), known.get(token, token))
        answer = await stranger.told()
        assert (answer.status, answer.body) == (403, REUSED if token == "‹last›" else NO_TOKEN)
        assert await here.read(ann.game) == before
        assert await bob.heard() is None
        await ann.move(SIDES[4])
        assert drawn(said(await bob.turn())) == SIDES[3:5]


async def test_a_token_is_good_for_one_move(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0])
        await bob.turn()
        again = here.bot("ann")
        again.game = ann.game
        await again.move(SIDES[1], ann.token)
        answer = await again.told()
        assert (answer.status, answer.body) == (403, REUSED)
        await bob.move(SIDES[1])
        assert drawn(said(await ann.turn())) == SIDES[:2]


async def test_a_token_counts_at_its_own_game_alone(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, _ = await here.pair()
        game, ann.game = ann.game, await here.made()
        await ann.move(SIDES[0])
        assert (await ann.told()).body == NO_TOKEN
        assert drawn(await here.read(game)) == []


async def test_the_same_request_again_is_answered_the_same_again(autojump_clock: MockClock) -> None:
    """Its answer may have been lost on its way."""
    async with table() as here:
        ann, bob = await here.pair()
        used = ann.token
        await ann.move(SIDES[0])
        await bob.turn()
        await bob.move(SIDES[1])
        first = await ann.turn()
        await ann.hang_up()
        for _ in range(2):
            await ann.move(SIDES[0], used)
            assert await ann.told() == first
        await ann.move(SIDES[2])
        assert drawn(said(await bob.turn())) == SIDES[1:3]


async def test_the_same_request_again_takes_the_place_of_the_one_that_is_held(
    autojump_clock: MockClock,
) -> None:
    """The old connection may be dead without anybody's knowing."""
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0])
        await bob.turn()
        again = here.bot("ann")
        again.game = ann.game
        await again.move(SIDES[0], ann.token)
        assert (await ann.told()).status == 409
        await bob.move(SIDES[1])
        assert drawn(said(await again.turn())) == SIDES[:2]
        await again.move(SIDES[2])
        assert drawn(said(await bob.turn())) == SIDES[1:3]


@pytest.mark.parametrize("rounds", range(4))
async def test_a_request_that_was_given_up_takes_the_place_of_none_that_is_held(
    rounds: int, autojump_clock: MockClock
) -> None:
    """It may be read after the same request over another connection, and its hang-up a few rounds later."""
    async with table() as here:
        ann, bob = await here.pair()
        given_up, token = here.caller(), ann.token
        await given_up.ask("GET", "/games")  # its connection is there
        await ann.move(SIDES[0])
        move = msgspec.json.encode(SIDES[0])
        await given_up.client.end.send_all(
            request("POST", f"{ann.game}/moves", move, [f"X-Turn-Token: {token}"])
        )
        for _ in range(rounds):
            await trio.lowlevel.checkpoint()
        await given_up.hang_up()
        await bob.turn()
        await bob.move(SIDES[1])
        assert drawn(said(await ann.turn())) == SIDES[:2]


@pytest.mark.parametrize("last", [SIDES[5], SIDES[0]], ids=["won", "disqualified"])
async def test_the_end_is_told_again_to_whoever_asks_the_same_again(
    last: object, autojump_clock: MockClock
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await sides_drawn(ann, bob, 5)
        await bob.move(last)
        told = {ann: await ann.told(), bob: await bob.told()}
        for bot, move in ((ann, SIDES[4]), (bob, last)):
            await bot.move(move)
            assert await bot.told() == told[bot]
        await bob.move(SIDES[1])
        answer = await bob.told()
        assert (answer.status, answer.body.decode()[: len(GONE)]) == (410, GONE)


# Time


async def test_five_seconds_a_turn_and_the_last_moment_is_in_time(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        begun = trio.current_time()
        await trio.sleep_until(begun + 5.0)
        await ann.move(SIDES[0])
        await bob.turn()
        await trio.sleep_until(begun + 10.0)
        await bob.move(SIDES[1])
        await ann.turn()


async def test_whoever_is_late_has_lost_and_hears_it_when_it_comes(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0])
        await bob.turn()
        begun = trio.current_time()
        await trio.sleep_until(begun + 5.01)
        end = await ann.end()
        assert (drawn(end), scores(end)) == (SIDES[:1], [0, "disqualified"])
        await bob.move(SIDES[1])
        answer = await bob.told()
        assert (answer.status, answer.body) == (410, b"the game is over: bob ran out of time")


async def test_whoever_answers_with_what_is_no_json_is_told_so_in_the_record(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(b"0,0 0,1")
        assert (await ann.told()).status == 400
        await trio.sleep(5.1)
        await bob.end()
        (over,) = here.host.tournaments["open-hexagon-dots"].record.matches.values()
        assert "ann ran out of time; its last message had no effect: expected a move as JSON" in over.why


async def test_a_move_just_after_the_last_moment_is_late(autojump_clock: MockClock) -> None:
    """Before anybody has noticed the time: what decides is when it arrived."""
    async with table() as here:
        ann, bob = await here.pair()
        await trio.sleep_until(nextafter(trio.current_time() + 5.0, inf))
        await ann.move(SIDES[0])
        answer = await ann.told()
        assert (answer.status, answer.body) == (410, b"the game is over: ann ran out of time")
        assert drawn(await bob.end()) == []


# Hanging up


async def test_a_bot_that_hung_up_goes_on_with_the_same_request(autojump_clock: MockClock) -> None:
    """And what happened meanwhile is told once; its clock waits with its turn."""
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0])
        await bob.turn()
        await ann.hang_up()
        await bob.move(SIDES[1])
        await trio.sleep(20.0)
        await ann.move(SIDES[0])
        assert drawn(said(await ann.turn())) == SIDES[:2]
        await trio.sleep(4.9)
        await ann.move(SIDES[2])
        assert drawn(said(await bob.turn())) == SIDES[1:3]
        await trio.sleep(4.9)
        await bob.move(SIDES[3])
        await ann.turn()
        await trio.sleep(4.9)
        assert await bob.heard() is None, "who came back is not awaited any more"
        await trio.sleep(0.2)
        assert scores(await bob.end()) == ["disqualified", 0], "and its clock runs again"


async def unsteady(here: Table, bot: Dots, random: Random) -> None:
    """Loses its connection now and then, and makes the same request again, to the end."""
    answer = await bot.client.answer()
    while TURN in answer.headers:
        bot.learn(said(answer))
        bot.token = answer.headers[TURN]
        match = playing(here, bot.name)
        move = match.game.write(random.choice(list(match.position.moves())))
        await trio.sleep(random.random())
        await bot.move(move)
        while random.random() < 0.3:
            await trio.sleep(random.random() / 2)
            await bot.hang_up()
            await trio.sleep(random.random() / 2)
            await bot.move(move)
        answer = await bot.client.answer()
    assert answer.status == 200
    bot.learn(said(answer))


@pytest.mark.parametrize("seed", range(5))
async def test_bots_that_lose_their_connections_lose_nothing_else(
    seed: int, autojump_clock: MockClock
) -> None:
    async with table() as here:
        game = await here.made(5, 5)
        ann, bob = here.bot("ann"), here.bot("bob")
        async with trio.open_nursery() as nursery:
            for bot in (ann, bob):
                await bot.join(game)
                nursery.start_soon(unsteady, here, bot, Random(f"{bot.name} {seed}"))
        (result,) = await results(here)
        assert result.ending is Ending.PLAYED
        assert ann.lines == list(result.moves)
        assert sorted(map(str, bob.lines)) == sorted(map(str, result.moves))


async def test_a_bot_that_hung_up_before_its_first_turn_joins_again(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await bob.hang_up()
        await ann.move(SIDES[0])
        await trio.sleep(4.9)
        await bob.join(bob.game)
        assert drawn(said(await bob.turn())) == SIDES[:1]


async def test_a_bot_that_hangs_up_before_its_first_turn_holds_nobody_up(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await bob.hang_up()
        await ann.move(SIDES[0])
        await trio.sleep(5.1)
        assert scores(await ann.end()) == [0, 0], "nobody is disqualified"
        (result,) = await results(here)
        assert (result.winner, result.ending, result.score) == (None, Ending.VOID, None)


@pytest.mark.parametrize("dealt", [True, False], ids=["that the host dealt", "that somebody made"])
@pytest.mark.parametrize("seconds", [6.0, 13.0], ids=["at once", "when it has begun"])
async def test_a_bot_that_hangs_up_as_its_match_is_being_kept_joins_again(
    seconds: float, dealt: bool, autojump_clock: MockClock
) -> None:
    async with table(store=Slow(Dealt)) as here:
        game = await (here.found() if dealt else here.made())
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(game)
        await bob.join(game)
        await bob.hang_up()
        await trio.sleep(seconds)
        await bob.join(await here.found() if dealt else game)
        await trio.sleep(13.0 - seconds)
        await ann.turn()
        await ann.move(SIDES[0])
        assert drawn(said(await bob.turn())) == SIDES[:1]


async def test_a_bot_that_hangs_up_as_its_match_is_being_kept_and_stays_away_holds_nobody_up(
    autojump_clock: MockClock,
) -> None:
    async with table(store=Slow(Dealt)) as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(await here.found())
        await bob.join(await here.found())
        await bob.hang_up()
        await trio.sleep(13.0)
        await ann.turn()
        await ann.move(SIDES[0])
        await trio.sleep(5.0)
        (result,) = await results(here)
        assert (result.ending, result.why) == (Ending.VOID, "bob left before both had moved")


async def test_nobody_stays_who_hangs_up_while_its_match_waits_until_its_bots_have_rested(
    autojump_clock: MockClock,
) -> None:
    """Catches any number of bots without a connection, and names that nobody else can have."""
    async with table(limits=Limits(table_bytes=Rate(1, 3600.0))) as here:
        ann, bob = await here.pair()
        await sides_drawn(ann, bob, 1)
        await ann.hang_up()
        await bob.hang_up()
        while not await results(here):  # noqa: ASYNC110 - its address has played too much from now on
            await trio.sleep(1.0)
        game, bots = await here.made(), [here.bot("cat"), here.bot("dan")]
        for bot in bots:
            await bot.join(game)
        await trio.testing.wait_all_tasks_blocked()
        for bot in bots:
            await bot.hang_up()
        await trio.sleep(1.0)
        assert not [*here.host.lobby.players()]


@pytest.mark.parametrize("dealt", [True, False], ids=["that the host dealt", "that somebody made"])
async def test_a_bot_that_lost_its_memory_and_looks_for_a_game_is_led_back_to_its_own(
    dealt: bool, autojump_clock: MockClock
) -> None:
    async with table() as here:
        ann, bob = await here.pair(await (here.found() if dealt else here.made()))
        await sides_drawn(ann, bob, 2)
        await ann.move(SIDES[2])
        await bob.turn()
        await ann.hang_up()
        await ann.join(await here.found())
        assert ann.game != bob.game
        assert drawn(await here.read(ann.game)) == sorted(SIDES[:3], key=str), "it is shown there too"
        await bob.move(SIDES[3])
        assert drawn(said(await ann.turn())) == [line(*ends) for ends in sorted(AROUND[:4])]
        await ann.move(SIDES[4])
        assert drawn(said(await bob.turn())) == SIDES[3:5]


async def test_whoever_comes_back_over_another_protocol_is_there(autojump_clock: MockClock) -> None:
    """With a token of its organiser's. Catches a bot that has left for the referee, while it plays on."""
    settings = {"tournament": "cup", "game": "hexagon-dots", "format": "round-robin", "entrants": "2"}
    async with table({**settings, "bank": "600"}) as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        for bot in (ann, bob):
            await bot.join(await here.found())
        match, cup = playing(here, "ann"), here.host.tournaments["cup"]
        first, second = (ann, bob) if match.names[0] == "ann" else (bob, ann)
        await first.turn()
        await first.move(SIDES[0])
        await first.hang_up()
        token = await here.host.claims.bind(cup, first.name, "the organiser")
        visit = await here.host.arrive(first.name, "hexagon-dots", token=token)
        await second.turn()
        await second.move(SIDES[1])
        assert visit.player.seat is not None
        await trio.sleep(GRACE + 1.0)
        visit.player.seat.play(SIDES[2])
        await second.turn()
        assert match.left(trio.current_time())[0] == 600.0 - GRACE - 1.0


async def test_half_a_minute_in_a_match_is_all_that_a_bot_may_be_away(autojump_clock: MockClock) -> None:
    """Or hanging up would be a way to think on."""
    async with table() as here:
        ann, bob = await here.pair()
        await sides_drawn(ann, bob, 2)
        await bob.hang_up()
        await ann.move(SIDES[2])
        await trio.sleep(20.0)
        await bob.join(bob.game)
        await bob.turn()
        await bob.move(SIDES[3])
        await ann.turn()
        await bob.hang_up()
        await ann.move(SIDES[4])
        await trio.sleep(9.9)
        assert await ann.heard() is None
        await trio.sleep(0.2)
        assert scores(await ann.end()) == [0, "disqualified"]
        await bob.move(SIDES[3])
        assert drawn(await bob.end()) == SIDES[3:5], "whoever comes too late is told how it ended"
        (result,) = await results(here)
        assert (result.winner, result.ending) == (0, Ending.LEFT)
        assert not list(here.host.lobby.players("hexagon-dots")), "both are gone"
        await bob.join(await here.made())
        assert await bob.heard() is None, "and may come again, as everybody who waits"


async def test_the_time_in_which_the_host_keeps_nothing_is_no_absence(autojump_clock: MockClock) -> None:
    """Catches a match that is lost by a blink, because its bot had hung up while the host's disk was full."""
    settings = {"tournament": "cup", "game": "hexagon-dots", "format": "round-robin", "entrants": "2"}
    async with table({**settings, "bank": "600"}) as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        for bot in (ann, bob):
            await bot.join(await here.found())
        if playing(here, "ann").names[0] == "bob":
            ann, bob = bob, ann
        await ann.turn()
        await sides_drawn(ann, bob, 2)

        async def be_away(seconds: float, meanwhile: float = 0.0) -> None:
            await bob.hang_up()
            await trio.sleep(seconds)
            if meanwhile:
                here.host.timekeeper.pause("the disk is full")
                await trio.sleep(meanwhile)
                here.host.timekeeper.resume("the disk is full")
            await bob.move(SIDES[1])

        await be_away(GRACE - 10.0, meanwhile=GRACE)
        await be_away(0.0, meanwhile=GRACE)
        await be_away(9.9)
        assert await bob.heard() is None, "it waits, and has lost nothing"
        await be_away(0.2)
        assert scores(await bob.end()) == [0, "disqualified"], "its own absences add up"


async def test_whoever_comes_back_a_moment_too_late_is_told_the_end_at_once(
    autojump_clock: MockClock,
) -> None:
    """Before anybody has noticed the time: coming back is what ends the match."""
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0])
        await bob.turn()
        await bob.move(SIDES[1])
        await ann.turn()
        await bob.hang_up()
        gone = trio.current_time()
        await ann.move(SIDES[2])
        await trio.sleep_until(nextafter(gone + GRACE, inf))
        await bob.move(SIDES[1])
        assert drawn(await bob.end()) == SIDES[1:3]
        assert scores(await ann.end()) == [0, "disqualified"]


async def test_nobody_takes_the_place_of_somebody_who_waits_or_thinks(autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.made()
        ann, impostor = here.bot("ann"), here.bot("ann")
        await ann.join(game)
        await impostor.join(game)
        answer = await impostor.told()
        assert (answer.status, answer.body) == (409, TWICE)
        bob = here.bot("bob")
        await bob.join(game)
        await ann.turn()
        for name in ("ann", "bob", "Ann"):
            impostor.name = name
            await impostor.join(game)
            assert (await impostor.told()).status == 409
        await ann.move(SIDES[0])
        await bob.turn()


async def test_whoever_hangs_up_before_there_is_a_match_leaves_its_place_to_others(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        game = await here.made()
        ann = here.bot("ann")
        await ann.join(game)
        await ann.hang_up()
        assert (await here.read(game))["players"] == []
        cas, bob = here.bot("cas"), here.bot("bob")
        await cas.join(game)
        await bob.join(game)
        await cas.turn()


async def test_a_turn_is_not_lost_with_the_opponents_connection(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await sides_drawn(ann, bob, 2)
        await bob.hang_up()
        await trio.sleep(4.0)
        await ann.move(SIDES[2])
        await trio.sleep(26.5)
        assert drawn(await ann.end()) == SIDES[2:3]
        assert (await results(here))[0].winner == 0
