"""Hexagon Dots over HTTP: a name in several games that somebody made, and one player everywhere else."""

from collections.abc import Coroutine
from functools import partial
from typing import cast

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.hexagondots import GAME
from server.host.host import Host
from server.host.visits import Visit
from server.http.exchange import Exchange
from server.http.routes import routed
from server.net.still_there import LONGEST
from server.protocols.hexagon_dots.door import HexagonDots
from server.protocols.hexagon_dots.gate import Gate
from tests.server.protocols.table import (
    OPEN,
    SIDES,
    Dots,
    Slow,
    Table,
    drawn,
    playing,
    results,
    said,
    scores,
    sides_drawn,
    table,
)
from tests.server.transcripts import hosting
from tests.server.web import serving
from tests.steps import steps_taken
from tournament.events import Ending
from tournament.facts import Entered, Opened
from tournament.folding import fold

HERE = b"the name ann is taken: somebody is here under it"
TWICE = b"the name ann is taken: somebody is in this game under it"


async def pair(here: Table, one: str, other: str) -> tuple[Dots, Dots]:
    """Two at a game of their own; the first has its turn."""
    bots, game = (here.bot(one), here.bot(other)), await here.made()
    for bot in bots:
        await bot.join(game)
    await bots[0].turn()
    return bots


async def test_a_name_plays_several_games_each_by_its_own_tokens(autojump_clock: MockClock) -> None:
    """Two of them against the same opponent, one as second, none as far as another."""
    async with table() as here:
        games = [await pair(here, *names) for names in (("ann", "bob"), ("ann", "bob"), ("cas", "ann"))]
        record = here.host.tournaments[OPEN].record
        for count, (one, other) in enumerate(games):
            await sides_drawn(one, other, count)
        (ann, _), (also_ann, bob), _ = games
        assert len({ann.token, also_ann.token}) == 2
        await bob.move(SIDES[0], ann.token)
        assert (await bob.told()).status == 403, "a token of another game, though the same two play it"
        for count, (one, other) in reversed(list(enumerate(games))):
            for number, side in enumerate(SIDES[count:5], count):
                mover, waits = (one, other) if number % 2 == 0 else (other, one)
                await mover.move(side)
                await waits.turn()
            await other.move(SIDES[5])
            assert (scores(await one.end()), scores(await other.end())) == ([0, 1], [0, 1])
            assert one.lines == SIDES, "every line of this game and of no other"
            for others, _ in games[:count]:
                again = here.bot("ann")
                await again.join(others.game)
                assert await answered(again) == (409, TWICE), "the other games go on"
        over = await results(here)
        assert [(each.players, each.winner, each.ending, list(each.moves)) for each in over] == [
            (names, 1, Ending.PLAYED, SIDES) for names in (("cas", "ann"), ("ann", "bob"), ("ann", "bob"))
        ]
        assert len({each.match for each in over}) == 3
        rows = {row.name: (row.played, row.wins) for row in record.standings()}
        assert rows == {"ann": (3, 1), "bob": (2, 2), "cas": (1, 0)}
        assert fold(here.host.store.kept())[OPEN].matches == record.matches
        await trio.testing.wait_all_tasks_blocked()
        assert not list(here.host.lobby.players("hexagon-dots")), "who has played is gone, in every game"


async def test_a_turn_that_is_missed_costs_that_game_and_no_other(autojump_clock: MockClock) -> None:
    async with table() as here:
        (_, bob), (ann, cas) = await pair(here, "ann", "bob"), await pair(here, "ann", "cas")
        await trio.sleep(4.0)
        await ann.move(SIDES[0])
        await cas.turn()
        await trio.sleep(1.5)
        assert scores(await bob.end()) == ["disqualified", 0]
        await cas.move(SIDES[1])
        await ann.turn()


@pytest.mark.parametrize("name", ["ann", "Ann", "\uff41nn"])
async def test_a_name_is_not_twice_in_the_same_game(name: str, autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.made()
        ann, bob, again = here.bot("ann"), here.bot("bob"), here.bot(name)
        refused = TWICE.replace(b"ann", name.encode())
        await ann.join(game)
        await again.join(game)
        assert await answered(again) == (409, refused)
        await bob.join(game)
        await ann.turn()
        for draw in range(5):
            await again.join(game)
            assert await answered(again) == (409, refused), "whoever's turn it is"
            mover, other = (ann, bob) if draw % 2 == 0 else (bob, ann)
            await mover.move(SIDES[draw])
            await other.turn()
        await bob.move(SIDES[5])
        await ann.end()
        await again.join(game)
        assert (await again.told()).status == 410, "it is over"


async def test_one_of_two_joins_under_one_name_at_once_is_let_in(autojump_clock: MockClock) -> None:
    async with table(store=Slow(Entered, Opened)) as here:
        game = await here.made()
        bots = [here.bot("ann"), here.bot("ann")]
        for bot in bots:
            await bot.join(game)
        await trio.sleep(13.0)
        (answer,) = [heard for bot in bots if (heard := await bot.heard()) is not None]
        assert (answer.status, answer.body) == (409, TWICE)
        await here.bot("bob").join(game)
        await trio.sleep(1.0)
        assert {*playing(here, "ann").names} == {"ann", "bob"}


async def test_whoever_hung_up_comes_back_to_the_game_that_it_joins(autojump_clock: MockClock) -> None:
    async with table() as here:
        games = [await pair(here, "ann", other) for other in ("bob", "cas")]
        for count, (ann, other) in zip((0, 2), games, strict=True):
            await sides_drawn(ann, other, count)
            await ann.move(SIDES[count])
            await other.turn()
        (first, bob), (second, cas) = games
        await first.hang_up()
        await second.hang_up()
        third, dan = await pair(here, "ann", "dan")
        assert drawn(await here.read(third.game)) == [], "a new game is a new game"
        for bot, other, count in ((second, cas, 3), (first, bob, 1)):
            back = here.bot("ann")
            await back.join(bot.game)
            await other.move(SIDES[count])
            assert len(drawn(said(await back.turn()))) == count + 1
            twice = here.bot("ann")
            await twice.join(bot.game)
            assert await answered(twice) == (409, TWICE)
        await third.move(SIDES[0])
        await dan.turn()


@pytest.mark.parametrize("where", ["its own game", "another"])
@pytest.mark.parametrize("found", [False, True], ids=["made", "found"])
async def test_a_name_that_looks_like_that_of_whoever_hung_up_does_not_come_back_in_its_place(
    found: bool, where: str, autojump_clock: MockClock
) -> None:
    """Catches a bot that finds itself in the middle of a stranger's game, under a name not its own."""
    async with table() as here:
        ann, bob = await here.pair(await here.found() if found else None)
        await ann.move(SIDES[0])
        await bob.turn()
        await ann.hang_up()
        other = here.bot("Ann")
        await other.join(ann.game if where == "its own game" else await here.found())
        status, sentence = await answered(other)
        assert (status, sentence.startswith(b"the name Ann is taken: ")) == (409, True)
        back = here.bot("ann")
        await back.join(ann.game)
        await bob.move(SIDES[1])
        assert len(drawn(said(await back.turn()))) == 2


async def test_whoever_was_led_back_from_another_address_is_still_in_its_game(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await ann.move(SIDES[0])
        await bob.turn()
        await ann.hang_up()
        found = here.bot("ann")
        await found.join(await here.found())
        again = here.bot("ann")
        await again.join(bob.game)
        assert await answered(again) == (409, TWICE)
        await found.hang_up()
        await again.join(bob.game)
        await bob.move(SIDES[1])
        assert drawn(said(await again.turn())) == sorted(SIDES[:2], key=str)


@pytest.mark.parametrize("found_first", [True, False])
async def test_at_an_address_of_match_a_name_is_one_players(
    found_first: bool, autojump_clock: MockClock
) -> None:
    """Whatever else is played under it."""
    async with table() as here:
        addresses = await here.found(), await here.made()
        ann, again = here.bot("ann"), here.bot("ann")
        await ann.join(addresses[not found_first])
        await again.join(addresses[found_first])
        assert await answered(again) == (409, HERE)
        await here.bot("bob").join(ann.game)
        await ann.turn()
        await again.join(addresses[found_first])
        assert await answered(again) == (409, HERE)


@pytest.mark.parametrize("found", [True, False])
@pytest.mark.parametrize("rounds", range(4))
async def test_whoever_hung_up_and_joins_at_once_is_let_in(
    rounds: int, found: bool, autojump_clock: MockClock
) -> None:
    """Even if the event loop goes a few rounds before it reads the hang-up, and has the request by then."""
    async with table() as here:
        game = await (here.found() if found else here.made())
        gone, back, bob = here.bot("ann"), here.bot("ann"), here.bot("bob")
        await gone.join(game)
        await back.ask("GET", "/games")  # its connection is there before the other ends
        async with trio.open_nursery() as nursery:
            nursery.start_soon(back.join, game)
            for _ in range(rounds):
                await trio.lowlevel.checkpoint()
            await gone.hang_up()
        await bob.join(game)
        assert drawn(said(await back.turn())) == []


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("found", [True, False])
async def test_whoever_lost_its_network_and_joins_again_is_let_in(
    found: bool, elsewhere: bool, autojump_clock: MockClock
) -> None:
    """At the same address, or at another that it has looked for."""
    async with table() as here:
        game = await (here.found() if found else here.made())
        gone, back, bob = here.bot("ann"), here.bot("ann"), here.bot("bob")
        await gone.join(game)
        gone.client.end.pull()
        if elsewhere:
            game = await (here.found() if found else here.made())
        await back.join(game)
        await trio.sleep(2 * LONGEST)
        await bob.join(game)
        assert drawn(said(await back.turn())) == []


async def test_whoever_lost_its_network_while_its_opponent_thinks_joins_again_and_goes_on(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        bob.client.end.pull()
        back = here.bot("bob")
        await back.join(bob.game)
        await trio.sleep(1.01 * LONGEST)
        await ann.move(SIDES[0])
        assert drawn(said(await back.turn())) == SIDES[:1]


async def test_in_a_tournament_a_name_is_one_players(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = await here.pair()
        await here.host.open("cup", Opened("hexagon-dots", "round-robin", 3))
        again = here.bot("ann")
        for game in (await here.found(), await here.made()):
            await again.join(game)
            assert await answered(again) == (409, HERE), "it would be led to the cup"
        await ann.move(b"null")
        assert (await ann.told()).status == 403
        await bob.end()
        await again.join(await here.made())
        assert list(here.host.tournaments["cup"].record.entrants) == ["ann"]
        for game in (await here.found(), await here.made()):
            await ann.join(game)
            assert await answered(ann) == (409, HERE)


async def answered(bot: Dots) -> tuple[int, bytes]:
    answer = await bot.told()
    return answer.status, answer.body


@pytest.mark.parametrize("hung_up", [False, True], ids=["they play", "they have hung up"])
async def test_a_name_comes_and_goes_as_soon_however_many_games_it_is_in(
    hung_up: bool, autojump_clock: MockClock
) -> None:
    """Catches a look at all games of a name whenever it joins one more or leaves one."""
    cost: list[tuple[int, ...]] = []
    for many in (1, 3, 30):  # the first time, something is made that is kept
        async with hosting({}) as (host, _):
            door = HexagonDots(host, GAME)
            async with serving(routed((door,))) as server:
                for number in range(many):
                    ann, _ = await pair(Table(host, server), "ann", f"bob {number}")
                    await ann.move(SIDES[0])
                    if hung_up:
                        await ann.hang_up()
                gate = door._gates.make({"rows": 3, "cols": 3}, fixed=True, peer="")
                visits: list[Visit] = []
                cost.append(
                    (
                        steps_taken(partial(_begin_to_let_in, door, gate)),
                        steps_taken(lambda: visits.append(_arrived(host))),  # noqa: B023
                        steps_taken(visits[0].leave),
                    )
                )
    assert cost[1] == cost[2]


def _begin_to_let_in(door: HexagonDots, gate: Gate) -> None:
    letting_in = door._take_in(gate, cast("Exchange", None), "ann")
    cast("Coroutine[None, None, None]", letting_in).close()


def _arrived(host: Host) -> Visit:
    visit = host.reception.arrive("ann", GAME.name, keeps=False, shared=True)
    visit.player.move_to(OPEN)
    return visit
