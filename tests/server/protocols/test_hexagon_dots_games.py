"""Hexagon Dots over HTTP: who may join, how bots find games, tournaments, and what is seen from outside."""

import gc
from collections import Counter
from collections.abc import Awaitable
from functools import partial
from operator import add
from random import Random
from typing import Any, cast

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games import hexagondots
from server.host.host import Host
from server.host.reception import taken
from server.http.exchange import Chunks
from server.http.routes import routed
from server.http.service import Http
from server.net.admission import Admission, Visitor
from server.net.limits import Limits
from server.net.wire import Served, Wire
from server.protocols.api.door import Api
from server.protocols.hexagon_dots.bot import Bot
from server.protocols.hexagon_dots.door import HexagonDots
from server.protocols.hexagon_dots.gate import COMING, LATE, EnteredBot
from server.protocols.hexagon_dots.gates import Gates
from server.protocols.hexagon_dots.messages import FOUND
from server.protocols.hexagon_dots.observers import AT_A_TIME
from tests.hang import HANG, SLOWLY
from tests.server.ends import over_sockets
from tests.server.protocols.table import (
    AROUND,
    OPEN,
    SIDES,
    TURN,
    Answer,
    Caller,
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
from tests.server.transcripts import hosting
from tests.server.web import Client
from tests.server.windowed import Weather, windowed_pair
from tests.steps import steps_taken
from tournament.desk import Desk
from tournament.events import Ending
from tournament.facts import Dealt, Entered, Opened, Seated, State, Turned

CUP = {"tournament": "cup", "game": "hexagon-dots", "format": "round-robin"}
GONE = "the game is over: "


# Who may do what


async def test_a_third_cannot_join(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        cas = here.bot("cas")
        await cas.join(ann.game)
        answer = await cas.told()
        assert (answer.status, answer.body) == (410, b"ann and bob play this game")
        await sides_drawn(ann, bob, 5)
        await bob.move(SIDES[5])
        for name in ("cas", "ann"):
            cas.name = name
            await cas.join(ann.game)
            answer = await cas.told()
            assert (answer.status, answer.body.decode()[: len(GONE)]) == (410, GONE)
        await cas.move(SIDES[0], "no such token")
        assert (await cas.told()).status == 410


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"name": ""}, "at least one character"),
        ({"name": "a" * 33}, "at most 32 characters"),
        ({"name": "Draw"}, "a reserved word"),
        ({"name": "a\u202eb"}, "bidirectional"),
        ({"name": 3}, "name: expected a text, not 3"),
        ({}, "name is required, and is missing"),
        (b"", 'expected {"name":"ann"}'),
    ],
    ids=repr,
)
async def test_whoever_has_no_name_that_can_be_had_is_told_why(
    body: object, reason: str, autojump_clock: MockClock
) -> None:
    async with table() as here:
        answer = await here.caller().ask("POST", f"{await here.made()}/players", body)
        assert answer.status == 400
        assert reason in answer.body.decode()


async def test_a_name_that_belongs_to_a_token_is_taken(autojump_clock: MockClock) -> None:
    async with table() as here:
        visit = await here.host.arrive("ann", "hexagon-dots")
        visit.acknowledge()
        ann = here.bot("ann")
        await ann.join(await here.made())
        answer = await ann.told()
        assert (answer.status, b"is taken" in answer.body) == (409, True)


async def test_a_host_that_is_about_to_stop_takes_nobody(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, game = here.bot("ann"), await here.made()
        here.host.draining = True
        await ann.join(game)
        answers = [await ann.told()]
        answers += [await here.caller().ask("POST", "/", b'{"rows":3,"cols":3}')]
        answers += [await here.caller().ask("GET", "/match")]
        assert [(each.status, each.headers.get("retry-after")) for each in answers] == [(503, "5")] * 3


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/", "GET, POST"),
        ("POST", "/match", "GET"),
        ("DELETE", "/games", "GET"),
        ("POST", "‹game›", "GET"),
        ("GET", "‹game›/players", "POST"),
        ("PUT", "‹game›/moves", "POST"),
        ("HEAD", "‹game›/observers", "POST"),
    ],
)
async def test_a_wrong_method_is_told_the_right_one(
    method: str, path: str, allowed: str, autojump_clock: MockClock
) -> None:
    async with table() as here:
        caller = here.caller()
        await caller.client.end.send_all(request(method, path.replace("‹game›", await here.made())))
        answer = await caller.client.answer(method)
        assert (answer.status, answer.headers["allow"]) == (405, allowed)


@pytest.mark.parametrize(
    "path", ["/g/0", "/g", "/g/", "‹game›//", "‹game›/lines", "‹game›/moves/1", "/match/1"]
)
async def test_there_is_nothing_anywhere_else(path: str, autojump_clock: MockClock) -> None:
    async with table() as here:
        answer = await here.caller().ask("POST", path.replace("‹game›", await here.made()))
        assert (answer.status, answer.body[:20]) == (404, b"there is no game at ")


# While the host is busy


async def test_two_of_three_who_join_at_once_play(autojump_clock: MockClock) -> None:
    async with table(store=Slow(Entered, Opened)) as here:
        game = await here.made()
        ann, bob, cas = (here.bot(name) for name in ("ann", "bob", "cas"))
        for bot in (ann, bob, cas):
            await bot.join(game)
        await trio.sleep(13.0)
        answers = {bot.name: await bot.heard() for bot in (ann, bob, cas)}
        (late,) = (name for name, answer in answers.items() if answer is not None and answer.status == 410)
        (match,) = here.host.tournaments[OPEN].matches.values()
        assert {*match.names, late} == {"ann", "bob", "cas"}


async def test_whoever_hangs_up_while_it_is_let_in_was_never_there(autojump_clock: MockClock) -> None:
    async with table(store=Slow(Entered, Opened)) as here:
        game = await here.made()
        ann, bob, cas = (here.bot(name) for name in ("ann", "bob", "cas"))
        await ann.join(game)
        await trio.sleep(1.0)
        await ann.hang_up()
        await trio.sleep(12.0)
        assert (await here.read(game))["players"] == []
        for bot in (bob, cas):
            await bot.join(game)
        await trio.sleep(1.0)
        assert playing(here, "bob").names == ("bob", "cas")


async def test_a_game_is_not_forgotten_while_somebody_is_let_in(autojump_clock: MockClock) -> None:
    async with table(limits=Limits(games=1), store=Slow(Entered, Opened)) as here:
        game = await here.made()
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(game)
        await here.made()
        await here.read(game)
        await trio.sleep(13.0)
        await bob.join(game)
        await trio.sleep(13.0)
        await ann.turn()


async def test_a_game_is_not_dropped_in_the_instant_in_which_somebody_joins_it(
    autojump_clock: MockClock,
) -> None:
    """Catches a join that begins after its game was dropped: from then on nobody could make or find a game.

    The host reads two requests one right after the other, half the time the join first.
    """
    make = request("POST", "/", b'{"rows":3,"cols":3}')
    async with table(limits=Limits(games=1)) as here:
        for number in range(20):
            joiner, maker = here.bot(f"ann{number}"), here.caller()
            joins = request("POST", f"{await here.made()}/players", b'{"name":"ann%d"}' % number)
            for asks in (joiner, maker):
                assert asks.client.end.open
            await trio.testing.wait_all_tasks_blocked()
            joiner.client.end.send_now(joins)
            maker.client.end.send_now(make)
            await trio.testing.wait_all_tasks_blocked()
            assert (await maker.told()).status == 201
            answer = await joiner.heard()
            assert answer is None or answer.status == 404
            await joiner.hang_up()
        assert (await here.caller().ask("GET", "/match")).status == 201


@pytest.mark.parametrize("meanwhile", ["a stranger comes there", "another game is made"])
async def test_all_who_are_let_in_at_an_address_are_at_one_game(
    meanwhile: str, autojump_clock: MockClock
) -> None:
    """Catches a game that was dropped and made anew meanwhile, so that one bot's moves found the other's."""
    async with table(limits=Limits(games=1), store=Slow(Seated)) as here:
        cup = await here.host.open("cup", Opened("hexagon-dots", "round-robin", 2, by_invitation=True))
        for name in ("ann", "bob"):
            await Desk(cup).enter(name)
        ann, bob, cas = (here.bot(name) for name in ("ann", "bob", "cas"))
        await ann.join("/g/00000000")
        if meanwhile == "another game is made":
            await here.made()
        else:
            await cas.join(ann.game)
            assert (await cas.told()).status in (404, 410)
        await bob.join(ann.game)
        await trio.sleep(13.0)
        await ann.turn()
        await sides_drawn(ann, bob, 2)


async def test_an_address_of_no_game_is_one_for_nobody_who_is_here_either(autojump_clock: MockClock) -> None:
    """Catches a bot that is here and tries other addresses: each of them led to a game from then on."""
    async with table() as here:
        ann, again = here.bot("ann"), here.bot("ann")
        await ann.join(await here.made())
        await again.join("/g/00000000")
        assert (await again.told()).status == 404
        assert (await here.caller().ask("GET", "/g/00000000")).status == 404


async def test_nobody_is_in_two_matches_when_an_opponent_goes_as_they_begin(
    autojump_clock: MockClock,
) -> None:
    async with table(store=Slow(Dealt)) as here:
        game = await here.made()
        ann, bob, cas = (here.bot(name) for name in ("ann", "bob", "cas"))
        for bot in (ann, bob):
            await bot.join(game)
        await bob.hang_up()
        await cas.join(game)
        assert (await cas.told()).status == 410
        await trio.sleep(13.0)
        await ann.turn()
        await ann.move(SIDES[0])
        await trio.sleep(5.0)
        assert scores(await ann.end()) == [0, 0]
        assert len(await results(here)) == 1


async def test_whoever_waits_on_a_board_of_its_own_is_dealt_nothing_else(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        for bot in (ann, bob):
            await bot.join(await here.made())
        await trio.sleep(60.0)
        assert not here.host.tournaments[OPEN].matches
        assert await ann.heard() is await bob.heard() is None


# Finding a game


async def test_whoever_asks_for_a_game_is_sent_to_whoever_waits(autojump_clock: MockClock) -> None:
    async with table() as here:
        seeker = here.caller()
        first = await seeker.ask("GET", "/match")
        assert (first.status, first.body) == (201, b"")
        game = first.headers["location"]
        assert (await seeker.ask("GET", "/match")).headers["location"] == game, "it still waits for a player"
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(game)
        assert (await here.read("/games"))["games"] == [
            {"game": game, "rows": 5, "cols": 5, "players": ["ann"]}
        ]
        assert (await seeker.ask("GET", "/match")).headers["location"] == game
        await bob.join(game)
        await ann.turn()
        assert await here.read("/games") == {"games": []}
        assert (await seeker.ask("GET", "/match")).headers["location"] != game


async def test_no_more_are_sent_to_a_game_than_it_has_places(autojump_clock: MockClock) -> None:
    """Bots of 2011 ask where to join, and then join: several may have asked before the first one comes."""
    async with table() as here:
        bots = [here.bot(name) for name in ("ann", "bob", "cas", "dan")]
        games = [await here.found() for _ in bots]
        for bot, game in zip(bots, games, strict=True):
            await bot.join(game)
        told = [answer for bot in bots if (answer := await bot.heard()) is not None]
        assert [answer.status for answer in told] == [200, 200], "one bot begins in each of two matches"


async def test_whoever_was_sent_to_a_game_plays_however_many_look_for_one_at_once(
    autojump_clock: MockClock,
) -> None:
    """Half of a hundred bots were told 410: whoever had come there first had begun to play with another."""
    told = Counter[int]()
    async with table() as here, trio.open_nursery() as nursery:
        nursery.cancel_scope.deadline = trio.current_time() + 60.0

        async def visit(name: str) -> None:
            chance, bot = Random(name), here.bot(name)
            await trio.sleep(chance.choice((0.0, chance.uniform(0.0, 3.0))))
            game = await here.found()
            await trio.sleep(chance.uniform(0.0, 1.5 * COMING))
            await bot.join(game)
            told[(answer := await bot.client.answer()).status] += 1
            while TURN in answer.headers:
                bot.token = answer.headers[TURN]
                await bot.move("a violation, which ends the match")
                answer = await bot.client.answer()

        for number in range(60):
            nursery.start_soon(visit, f"bot-{number}")
    assert told == {200: 60}


async def test_whoever_made_a_game_and_one_who_was_sent_there_have_its_places(
    autojump_clock: MockClock,
) -> None:
    """Two could be sent there before its maker came, and as many again when the first of them had come."""
    async with table() as here:
        game = await here.made()
        assert await here.found() == game
        elsewhere = [await here.found() for _ in range(4)]
        await here.bot("ann").join(game)
        elsewhere.append(await here.found())
        assert game not in elsewhere
        await here.bot("bob").join(game)
        await trio.sleep(1.0)
        assert {each.names for each in here.host.tournaments[OPEN].matches.values()} == {("ann", "bob")}


@pytest.mark.parametrize("made", [1, 4])
async def test_two_who_were_sent_to_games_play_although_makers_of_games_never_come(
    made: int, autojump_clock: MockClock
) -> None:
    """One was sent to a game that somebody had just made, the other past it; both waited for ever."""
    async with table() as here:
        for _ in range(made):
            await here.made()
        ann, bob = here.bot("ann"), here.bot("bob")
        for bot in (ann, bob):
            await bot.join(await here.found())
        await trio.sleep(COMING)
        assert [each["name"] for each in said(await ann.turn())["players"]] == ["ann", "bob"]
        await ann.move(SIDES[0])
        assert drawn(said(await bob.turn())) == [SIDES[0]]


async def test_whoever_waits_at_its_game_plays_although_one_that_was_sent_there_never_comes(
    autojump_clock: MockClock,
) -> None:
    """Whoever looked next was sent past the game, because a place was kept there; both waited for ever."""
    async with table() as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(await here.made(5, 3))
        assert await here.found() == ann.game
        game = await here.found()
        assert game != ann.game
        await trio.sleep(2 * COMING)
        await bob.join(game)
        await trio.sleep(2 * COMING)
        told = said(await ann.turn())
        assert (told["rows"], told["cols"]) == (5, 3), "they play on the board that Ann came for"


async def test_whoever_was_just_sent_to_a_game_has_its_place_however_long_ago_that_was_made(
    autojump_clock: MockClock,
) -> None:
    """Catches 410 for one that the host has sent there: clients in use look for no other game then."""
    async with table() as here:
        ann, bob, cas = (here.bot(name) for name in ("ann", "bob", "cas"))
        await ann.join(await here.made())
        await trio.sleep(LATE)
        assert await here.found() == ann.game
        await trio.sleep(1.0)
        await bob.join(await here.found())
        assert bob.game != ann.game
        await trio.sleep(COMING - 0.5)
        game = await here.found()
        assert game == ann.game
        await trio.sleep(1.0)
        await cas.join(game)
        assert [each["name"] for each in said(await ann.turn())["players"]] == ["ann", "cas"]


async def test_nobody_is_joined_up_with_whoever_has_to_rest_first(autojump_clock: MockClock) -> None:
    """Catches one that waits with it, for as long as it takes, and plays nobody else who comes."""
    async with table() as here:
        ann, bob, cas = (here.bot(name) for name in ("ann", "bob", "cas"))
        await ann.join(await here.made())
        await here.found()
        await bob.join(await here.found())
        assert bob.game != ann.game
        (player,) = (each for each in here.host.lobby.players() if each.name == "ann")
        player.set_rested(False)
        await trio.sleep(2 * COMING)
        await cas.join(bob.game)
        await trio.sleep(COMING)
        assert {each.names for each in here.host.tournaments[OPEN].matches.values()} == {("bob", "cas")}


async def test_somebody_who_only_looks_for_games_keeps_nobody_from_playing(autojump_clock: MockClock) -> None:
    """Each look had a place kept, so that nobody was ever sent to whoever waits at a game that it made."""
    async with table() as here, trio.open_nursery() as nursery:

        async def look() -> None:
            while True:
                await here.found()
                await trio.sleep(1.0)

        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(await here.made())
        nursery.start_soon(look)
        await trio.sleep(0.5)
        await bob.join(await here.found())
        assert bob.game != ann.game
        await trio.sleep(LATE + COMING)
        assert {each.names for each in here.host.tournaments[OPEN].matches.values()} == {("ann", "bob")}
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("most", [3, 100])
@pytest.mark.parametrize("junk", [b"", b"[]", b'{"name":"draw"}', b'{"name":"ann"}'])
async def test_nobody_is_sent_to_an_address_that_somebody_has_made_up(
    junk: bytes, most: int, autojump_clock: MockClock
) -> None:
    """Catches a host that opened a game wherever somebody sent junk, and sent others there in vain."""
    async with table(limits=Limits(games=most)) as here:
        stranger = here.caller()
        for number in range(10):
            answer = await stranger.ask("POST", f"/g/{number:08x}/players", junk)
            assert answer.status in (400, 404)
        assert said(await stranger.ask("GET", "/games")) == {"games": []}
        ann, bob = here.bot("ann"), here.bot("bob")
        for bot in (ann, bob):
            await bot.join((await stranger.ask("GET", "/match")).headers["location"])
        assert (await ann.told()).status == 200


async def test_where_a_host_has_no_more_games_those_that_others_were_sent_to_are_not_dropped(
    autojump_clock: MockClock,
) -> None:
    async with table(limits=Limits(games=3)) as here:
        bots = [here.bot(name) for name in "abcdefghij"]
        games = [await here.found() for _ in bots]
        assert len({*games}) == 3
        for bot, game in zip(bots, games, strict=True):
            await bot.join(game)
        await trio.sleep(1.0)
        assert len(here.host.tournaments[OPEN].matches) == 5


async def test_a_place_is_kept_a_moment_for_whoever_was_sent_to_it(autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.made()
        await here.bot("ann").join(game)
        assert await here.found() == game
        assert await here.found() != game, "somebody may be on the way"
        await trio.sleep(COMING)
        assert await here.found() == game


async def test_whoever_seeks_a_game_is_not_sent_to_one_that_others_play(autojump_clock: MockClock) -> None:
    """A tournament's matches are seen at whichever address a bot of it has joined."""
    async with table(CUP | {"entrants": "2"}) as here:
        seeker = here.caller()
        found, made = (await seeker.ask("GET", "/match")).headers["location"], await here.made(3, 3)
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(found)
        await bob.join(made)
        await trio.sleep(1.0)
        assert (await here.read(found))["state"] == "in play"
        game = (await seeker.ask("GET", "/match")).headers["location"]
        assert (await here.read(game))["state"] == "initiating"


async def test_a_game_that_was_just_made_is_offered_and_one_that_nobody_came_to_is_not(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        seeker, made = here.caller(), await here.made(7, 7)
        assert (await seeker.ask("GET", "/match")).headers["location"] == made
        await trio.sleep(60.0)
        assert (await seeker.ask("GET", "/match")).headers["location"] != made
        ann = here.bot("ann")
        await ann.join(made)
        assert (await seeker.ask("GET", "/match")).headers["location"] == made, "now somebody waits there"


async def career(here: Table, name: str, where: str | None = None) -> None:
    """Find a game or go to that one, join, play to the end, and all over again."""
    bot, random = here.bot(name), Random(name)
    while True:
        await bot.join(where or (await here.caller().ask("GET", "/match")).headers["location"])
        await play_on(here, bot, random)


@pytest.mark.slow
async def test_bots_that_seek_games_play_one_after_the_other(autojump_clock: MockClock) -> None:
    async with table() as here, trio.open_nursery() as nursery:
        for name in ("ann", "bob", "cas"):
            nursery.start_soon(career, here, name)
        await trio.sleep(60.0)
        nursery.cancel_scope.cancel()
        over = await results(here)
        met = Counter(frozenset(result.players) for result in over)
        assert len(met) == 3, "the host sees to it that all meet"
        assert {result.ending for result in over} == {Ending.PLAYED}


# Tournaments


@pytest.mark.slow
@pytest.mark.parametrize("where", ["each a new one", "the same", "one that was made"])
async def test_in_a_tournament_any_address_leads_to_the_next_match(
    where: str, autojump_clock: MockClock
) -> None:
    async with table(CUP | {"entrants": "3"}) as here:
        game = None
        if where == "the same":
            game = (await here.caller().ask("GET", "/match")).headers["location"]
        elif where == "one that was made":
            game = await here.made(3, 3)
        async with trio.open_nursery() as nursery:
            for name in ("ann", "bob", "cas"):
                nursery.start_soon(career, here, name, game)
            await trio.sleep(60.0)
            nursery.cancel_scope.cancel()
        cup = here.host.tournaments["cup"].record
        assert cup.state is State.FINISHED
        over = await results(here, "cup")
        assert [(each.ending, len(each.moves) > 30) for each in over] == [(Ending.PLAYED, True)] * 3


async def test_whoever_is_in_no_tournament_plays_on_the_board_that_it_came_for(
    autojump_clock: MockClock,
) -> None:
    """Also where others passed through, on their way to a tournament."""
    async with table(CUP | {"entrants": "2"}) as here:
        game = await here.made(3, 3)
        ann, bob, cas, dan = (here.bot(name) for name in ("ann", "bob", "cas", "dan"))
        for bot in (ann, bob, cas, dan):
            await bot.join(game)
        assert said(await ann.turn())["rows"] == 5
        assert said(await cas.turn())["rows"] == 3
        assert playing(here, "dan").names == ("cas", "dan")
        for bot in (ann, cas):
            await bot.move(SIDES[0])
        for bot in (bob, dan):
            assert drawn(said(await bot.turn())) == SIDES[:1]


async def test_where_a_tournament_is_by_invitation_the_others_play_on_the_board_that_they_came_for(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        cup = await here.host.open("cup", Opened("hexagon-dots", "round-robin", 2, by_invitation=True))
        for name in ("ann", "bob"):
            await Desk(cup).enter(name)
        game = await here.made(3, 3)
        ann, bob, cas, dan = (here.bot(name) for name in ("ann", "bob", "cas", "dan"))
        for bot in (cas, dan, ann, bob):
            await bot.join(game)
        assert said(await ann.turn())["rows"] == 5
        assert said(await cas.turn())["rows"] == 3
        assert (playing(here, "ann").names, playing(here, "cas").names) == (("ann", "bob"), ("cas", "dan"))


async def test_whoever_waits_for_a_match_that_will_not_be_is_told(autojump_clock: MockClock) -> None:
    async with table(CUP | {"entrants": "3"}) as here:
        ann = here.bot("ann")
        await ann.join(await here.made())
        await here.host.tournaments["cup"].keep(Turned(State.FINISHED))
        answer = await ann.told()
        assert (answer.status, answer.body) == (410, b"cup is over")
        await ann.join(await here.made())
        assert await ann.heard() is None, "there is the open table"


async def test_whoever_asks_for_its_next_match_after_the_last_is_told_however_long_its_way_is(
    autojump_clock: MockClock,
) -> None:
    """Catches bots a few milliseconds away from their host, which played on at the open table."""
    async with table(CUP | {"entrants": "2"}) as here:
        ann, bob = await here.pair(await here.found())
        await ann.move(b"null")
        assert [(await bot.told()).status for bot in (ann, bob)] == [403, 200]
        assert here.host.tournaments["cup"].record.state is State.FINISHED
        for bot in (ann, bob):
            await bot.join(await here.found())
            answer = await bot.told()
            assert (answer.status, answer.body) == (410, b"cup is over")
        await ann.join(await here.found())
        assert await ann.heard() is None, "there is the open table"


@pytest.mark.parametrize(("found", "options"), [(True, FOUND), (False, FOUND | {"rows": 3, "cols": 3})])
async def test_whoever_waits_in_a_tournament_that_is_deleted_gets_the_board_that_it_came_for(
    found: bool, options: dict[str, object], autojump_clock: MockClock
) -> None:
    """Catches a bot of 2011 whose game did not end when it expected, and which lost on time then."""
    async with table(CUP | {"entrants": "3"}) as here:
        ann = here.bot("ann")
        await ann.join(await here.found() if found else await here.made(end="hexagons"))
        assert await ann.heard() is None
        await here.host.delete(here.host.tournaments["cup"], "somebody")
        await here.host.arrive("bob", "hexagon-dots")
        assert said(await ann.turn())["rows"] == options["rows"]
        assert playing(here, "ann").options == options


async def test_the_options_of_a_tournament_are_its_own(autojump_clock: MockClock) -> None:
    async with table(CUP | {"entrants": "2"}) as here:
        await here.pair(await here.found())
        assert playing(here, "ann").options == {}


async def test_whoever_waits_and_is_taken_out_of_its_tournament_is_told(autojump_clock: MockClock) -> None:
    async with table(CUP | {"entrants": "3"}) as here:
        ann = here.bot("ann")
        await ann.join(await here.made())
        await Desk(here.host.tournaments["cup"]).withdraw("ann")
        answer = await ann.told()
        assert (answer.status, answer.body) == (410, b"ann was withdrawn from cup: ask its organiser why")


async def test_a_match_goes_on_when_its_tournament_is_over_whether_a_bot_is_there_or_away(
    autojump_clock: MockClock,
) -> None:
    async with table(CUP | {"entrants": "2"}) as here:
        ann, bob = await here.pair()
        await bob.hang_up()
        await here.host.tournaments["cup"].keep(Turned(State.FINISHED))
        await ann.move(SIDES[0])
        await bob.join(bob.game)
        assert drawn(said(await bob.turn())) == SIDES[:1]
        await bob.move(SIDES[1])
        assert drawn(said(await ann.turn())) == SIDES[:2]


async def test_a_match_that_the_organiser_voids_disqualifies_nobody_and_is_played_again(
    autojump_clock: MockClock,
) -> None:
    async with table(CUP | {"entrants": "2"}) as here:
        ann, bob = await here.pair()
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a bad day")
        assert scores(await bob.end()) == [0, 0]
        await ann.move(SIDES[0])
        assert drawn(await ann.end()) == [], "it was over before that"
        for bot in (ann, bob):
            await bot.join(ann.game)
        await ann.turn()
        assert playing(here, "ann").name == "cup-1.2"


async def test_the_later_of_two_matches_at_one_address_is_seen(
    autojump_clock: MockClock,
) -> None:
    async with table(CUP | {"entrants": "4"}) as here:
        game = await here.made()
        bots = {name: here.bot(name) for name in ("ann", "bob", "cas", "dan")}
        for bot in bots.values():
            await bot.join(game)
        seen = [player["name"] for player in (await here.read(game))["players"]]
        other = next(name for name in bots if name not in seen)
        for names, told in ((playing(here, other).names, False), (tuple(seen), True)):
            watcher = here.caller()
            await watcher.send("POST", f"{game}/observers")
            await watcher.client.now()
            await bots[names[0]].turn()
            await bots[names[0]].move(SIDES[0])
            await bots[names[1]].turn()
            assert bool(await watcher.client.now()) is told


@pytest.mark.usefixtures("nothing_old")
@pytest.mark.slow
async def test_whoever_has_gone_is_remembered_by_nothing(autojump_clock: MockClock) -> None:
    """Catches a host that grows with everybody who ever looked in."""
    async with table(CUP | {"entrants": "8"}) as here:
        game = await here.made()
        for name in ("ann", "bob", "cas"):
            bot = here.bot(name)
            await bot.join(game)
            await bot.hang_up()
        watcher = here.caller()
        await watcher.send("POST", f"{game}/observers")
        await watcher.hang_up()
        await trio.sleep(10.0)
        gc.collect()
        assert not [each for each in gc.get_objects() if isinstance(each, Bot | Chunks)]


# What is seen


async def test_what_was_played_on_a_board_is_in_the_record_with_the_board(autojump_clock: MockClock) -> None:
    async with table(None, None, lambda host: Api(host, "?")) as here:
        ann, bob = await here.pair(await here.made(3, 3))
        await sides_drawn(ann, bob, 5)
        await bob.move(SIDES[5])
        await bob.end()
        shown = await here.read(f"/api/matches/{OPEN}-1")
        assert (shown["players"], shown["moves"]) == (["ann", "bob"], SIDES)
        assert shown["options"] == {"rows": 3, "cols": 3}
        events = await here.caller().ask("GET", f"/api/matches/{OPEN}-1/events")
        assert events.body.count(b'"rows":3') == 7, "the opening and the positions after six moves"


async def test_whoever_observes_sees_the_game_and_then_every_change(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await sides_drawn(ann, bob, 2)
        watcher = here.caller()
        await watcher.send("POST", f"{ann.game}/observers")
        head, _, first = (await watcher.client.now()).partition(b"\r\n\r\n")
        assert b"Transfer-Encoding: chunked" in head
        assert drawn(lines_of(first)[0]) == [line(*ends) for ends in sorted(AROUND[:2])]
        await ann.move(SIDES[2])
        (change,) = lines_of(await watcher.client.now())
        assert list(change) == ["lines", "hexagons", "players", "state"]
        assert drawn(change) == SIDES[2:3]
        await bob.turn()
        await bob.move(b"null")
        (end,) = lines_of(await watcher.client.now())
        assert (drawn(end), scores(end), end["state"]) == ([], [0, "disqualified"], "completed")
        late = await watcher.ask("POST", f"{ann.game}/observers")
        assert [each["state"] for each in map(msgspec.json.decode, late.body.splitlines())] == ["completed"]


async def test_however_many_observe_a_move_waits_until_a_few_are_told(autojump_clock: MockClock) -> None:
    """Catches a step of the loop that plays which grows with those who watch: 10 ms for a thousand."""
    async with table() as here:
        ann, bob = await here.pair()
        watchers = [here.caller() for _ in range(2 * AT_A_TIME + 1)]
        for watcher in watchers:
            await watcher.send("POST", f"{ann.game}/observers")
        seen = [await watcher.client.now() for watcher in watchers]
        for mover, other, ends, at_once in (
            (ann, bob, SIDES[0], AT_A_TIME),
            (bob, ann, SIDES[1], 0),  # the others are still to be told of the first move
            (ann, bob, SIDES[2], 0),
        ):
            await mover.move(ends)
            await other.turn()
            told = [await watcher.client.now() for watcher in watchers]
            assert sum(map(bool, told)) == at_once
            seen = [*map(add, seen, told)]
        await bob.move(b"null")
        await trio.sleep(1.0)
        for watcher, before in zip(watchers, seen, strict=True):
            got = before + await watcher.client.now()
            assert got.endswith(b"\r\n0\r\n\r\n")
            *earlier, last = lines_of(got)
            assert [line for each in (*earlier, last) for line in drawn(each)] == SIDES[:3]
            assert {each["state"] for each in earlier} == {"in play"}
            assert (scores(last), last["state"]) == ([0, "disqualified"], "completed")


async def test_whoever_observes_sees_one_game_where_bots_of_several_have_joined(
    autojump_clock: MockClock,
) -> None:
    async with table(CUP | {"entrants": "4"}) as here, trio.open_nursery() as nursery:
        game, watcher = await here.found(), here.caller()
        await watcher.send("POST", f"{game}/observers")
        for name in ("ann", "bob", "cas", "dan"):
            nursery.start_soon(career, here, name, game)
        seen = (await watcher.told()).body.splitlines()
        nursery.cancel_scope.cancel()
        told = [each for each in map(msgspec.json.decode, seen) if each["state"] != "initiating"]
        assert len({tuple(player["name"] for player in each["players"]) for each in told}) == 1
        lines = [line for each in told for line in drawn(each)]
        assert all(lines.count(line) == 1 for line in lines)
        assert told[-1]["state"] == "completed"
        assert (await here.read(game))["players"] == told[-1]["players"]


def lines_of(chunks: bytes) -> list[dict[str, Any]]:
    """The JSON in the chunks of a stream."""
    return [msgspec.json.decode(piece) for piece in chunks.split(b"\r\n") if piece[:1] == b"{"]


async def test_a_flood_of_strangers_drives_out_nobody_who_observes(autojump_clock: MockClock) -> None:
    admission = Admission(Limits(unauthenticated=1))
    watching, *strangers = (windowed_pair(peer=f"192.0.2.{number}")[0] for number in range(3))
    async with table() as here:
        watcher = Caller(partial(here.server.connect, visitor=admission.admit(watching)))
        await watcher.send("POST", f"{await here.made()}/observers")
        assert (await watcher.client.now()).startswith(b"HTTP/1.1 200")
        for stranger in strangers:
            assert admission.admit(stranger)
        await watching.send_some(b"still open")


async def test_an_observer_who_does_not_read_is_cut_and_nobody_else_notices(
    autojump_clock: MockClock,
) -> None:
    async with table(limits=Limits(outbox_messages=3)) as here:
        game = await here.made(3, 5)
        deaf = here.caller(Weather(window=300))
        await deaf.send("POST", f"{game}/observers")
        ann, bob = await here.pair(game)
        await sides_drawn(ann, bob, 5)
        await bob.move(SIDES[5])
        await bob.turn()
        with trio.fail_after(60.0):
            rest = await deaf.client.rest()
        assert not rest.endswith(b"\r\n0\r\n\r\n"), "the connection was closed"
        await bob.move(line(0, 2, 0, 3))
        await ann.turn()


async def test_games_that_nobody_needs_go_when_there_are_too_many(autojump_clock: MockClock) -> None:
    async with table(limits=Limits(games=2)) as here:
        ann, bob = await here.pair()
        cas = here.bot("cas")
        waiting = await here.made()
        await cas.join(waiting)
        idle = [await here.made() for _ in range(3)]
        assert (await here.caller().ask("GET", idle[0])).status == 404
        for game in (ann.game, waiting, *idle[1:]):
            await here.read(game)
        await ann.move(SIDES[0])
        await bob.turn()


@pytest.mark.parametrize("most", [3, 4])
async def test_whoever_makes_too_many_games_drops_only_their_own(
    most: int, autojump_clock: MockClock
) -> None:
    async with table(limits=Limits(games=most)) as here:
        mine = [await here.made() for _ in range(2)]
        stranger = Caller(partial(here.server.connect, peer="198.51.100.1"))
        theirs: list[str] = []
        for _ in range(10):
            answer = await stranger.ask("POST", "/", {"rows": 3, "cols": 3})
            theirs.append(answer.headers["location"])
        for game in (*mine, theirs[-1]):
            await here.read(game)
        assert (await here.caller().ask("GET", theirs[0])).status == 404


async def test_a_game_costs_as_much_to_make_and_to_find_however_many_there_were(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that looks at all games that were played whenever there is to be another one."""
    cost: list[int] = []
    for many in (50, 100):
        async with hosting({}, Limits(games=many)) as (host, _):
            gates = Gates(host)
            for _ in range(many + 1):
                gates.make(FOUND, fixed=True, peer="").take()

            def once(gates: Gates = gates) -> None:
                gates.make(FOUND, fixed=False, peer="")
                gates.find("").take()

            once()
            cost.append(steps_taken(once))
            assert len([*gates]) == many
    assert cost[0] == cost[1]


async def test_a_game_is_found_as_soon_however_many_are_sent_to_the_same_one(
    autojump_clock: MockClock,
) -> None:
    """Catches a flood of requests for a game, each of which cost the more the more there were within 5 s."""
    cost: list[int] = []
    for many in (50, 100):
        async with hosting({}, Limits(games=1)) as (host, _):
            gates = Gates(host)
            (found,) = {gates.find("") for _ in range(many)}
            cost.append(steps_taken(partial(gates.find, "")))
            assert not found.has_place_at(trio.current_time())
            await trio.sleep(COMING)
            assert found.has_place_at(trio.current_time())
    assert cost[0] == cost[1]


async def test_a_game_is_found_as_soon_however_many_wait_at_games_of_their_own(
    autojump_clock: MockClock,
) -> None:
    """Catches a look at all games where somebody waits, for one of them."""
    cost: list[int] = []
    for many in (5, 50):
        async with hosting({}, Limits(games=many)) as (host, _):
            gates = Gates(host)
            for number in range(many):
                gate = gates.make({"rows": 3, "cols": 3}, fixed=True, peer="")
                gate.enter(Waiting(), host.lobby.enter(f"bot-{number}", "hexagon-dots"))
            first = next(iter(gates))
            cost.append(steps_taken(partial(gates.find, "")))
            assert not first.has_place_at(trio.current_time())
            assert gates.find("").waiting
    assert cost[0] == cost[1]


class Waiting(EnteredBot):
    """A bot that has joined a game where nobody else has."""

    waits = True

    def is_awaited_with(self, token: str) -> bool:
        return False


async def test_what_was_answered_last_is_forgotten_where_there_were_too_many_since(
    autojump_clock: MockClock,
) -> None:
    async with table(limits=Limits(games=2)) as here:
        bots: list[Dots] = []
        for _ in range(2):
            ann, bob = await here.pair()
            await ann.move(SIDES[0])
            await bob.turn()
            await bob.move(b"null")
            assert (await bob.told()).status == 403
            await ann.end()
            bots += (ann, bob)
        for bot, move, status in zip(bots, (SIDES[0], b"null") * 2, (410, 410, 200, 403), strict=True):
            await bot.move(move)
            assert (await bot.told()).status == status


async def test_a_whole_game_over_real_sockets(slow_clock: MockClock) -> None:
    with trio.fail_after(HANG * SLOWLY):
        async with hosting({}) as (host, nursery):
            http = Http(routed((HexagonDots(host, hexagondots.GAME),)), host.guard, host.limits)

            def attend(host: Host, wire: Wire, visitor: Visitor) -> Awaitable[Served | None]:
                return http.attend(wire, visitor)

            connect = await over_sockets(host, nursery, attend, Client)
            ann, bob = await connect(), await connect()
            game = (await ann.ask(request("POST", "/", b'{"rows":3,"cols":3}'))).headers["location"]
            ends: dict[str, Answer] = {}

            async def play(client: Client, name: str, mine: list[object]) -> None:
                join = msgspec.json.encode({"name": name})
                answer = await client.ask(request("POST", f"{game}/players", join))
                while TURN in answer.headers:
                    move, token = msgspec.json.encode(mine.pop(0)), answer.headers[TURN]
                    answer = await client.ask(
                        request("POST", f"{game}/moves", move, [f"X-Turn-Token: {token}"])
                    )
                ends[name] = answer

            async with trio.open_nursery() as players:
                players.start_soon(play, ann, "ann", SIDES[::2])
                await trio.testing.wait_all_tasks_blocked(0.05)
                players.start_soon(play, bob, "bob", SIDES[1::2])
            assert scores(said(ends["ann"])) == scores(said(ends["bob"])) == [0, 1]
            for client in (ann, bob):
                await client.end.aclose()


async def test_nobody_else_joins_in_the_place_of_a_bot_that_has_hung_up_in_a_tournament(
    autojump_clock: MockClock,
) -> None:
    """Its seat belongs to its address, also in the middle of a match."""
    async with table(CUP | {"entrants": "2"}) as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        game = await here.found()
        await ann.join(game)
        await bob.join(game)
        away = ann if await bob.heard() else bob
        await away.hang_up()
        stranger = Dots(partial(here.server.connect, peer="198.51.100.7"), away.name)
        await stranger.join(game)
        answer = await stranger.told()
        assert (answer.status, answer.body.decode()) == (409, taken(away.name))
        await away.join(game)
        assert await away.heard() is None, "it waits for its turn again"


async def test_an_address_alone_leads_nowhere(autojump_clock: MockClock) -> None:
    """Catches a move that goes to where its address was made, when it is quicker than word of its token."""
    async with table() as here:
        keys = list[str]()
        here.host.on_key, here.host.group = keys.append, cast("Any", object())  # there is one
        games = await here.found(), await here.made()
        assert len(keys) == 2, "other hosts know that these were made"
        assert set(keys).isdisjoint(games)
        here.host.group = None
        await here.made()
        assert len(keys) == 2, "within a host, the path says which process has it"
