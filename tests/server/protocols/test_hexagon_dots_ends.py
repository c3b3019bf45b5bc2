"""Hexagon Dots over HTTP: when a game is over, for whom; and the list that the viewer of 2011 reads."""

from random import Random
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.game import Game
from server.export.verify import verify
from server.protocols.hexagon_dots.door import AT_A_TIME
from server.protocols.house.messages import begin
from tests.oracles.hexagondots import HexagonDots, written
from tests.server.exports import exported, text
from tests.server.host.test_metrics import Turns
from tests.server.protocols.table import (
    OPEN,
    SIDES,
    TURN,
    Dots,
    Table,
    line,
    playing,
    request,
    results,
    said,
    scores,
    sides_drawn,
    table,
)
from tournament.events import Ending
from tournament.facts import Opened
from tournament.match import Match

FOUND = {"rows": 5, "cols": 5, "end": "hexagons"}  # by `GET /match`
CHOICES = 'end has to be "lines" or "hexagons", not '
GAME = ["rows", "cols", "lines", "hexagons", "players", "state"]  # the wire's, as it always was
BESIDE = [line(*ends) for ends in ((0, 2, 0, 3), (0, 3, 1, 4), (1, 4, 2, 3), (2, 2, 2, 3), (1, 2, 2, 2))]
LAST = line(0, 2, 1, 2)  # with those around (1, 3), which overlaps (1, 2) and not (1, 1)


def drawn_by(match: Match) -> HexagonDots:
    """Where a match stands, to its oracle."""
    game: Game[Any, Any] = match.game
    oracle = HexagonDots(**match.options)
    for sent in match.moves:
        oracle = oracle.play(game.short(game.read(sent, match.position)))
    return oracle


async def hunt(here: Table, bot: Dots, random: Random) -> None:
    """After a join: to the end, drawing sides of hexagons that can be captured, and nothing else ever."""
    while TURN in (answer := await bot.client.answer()).headers:
        bot.token = answer.headers[TURN]
        match = playing(here, bot.name)
        oracle = drawn_by(match)
        useful = {written(side) for centre in oracle.possible() for side in oracle.perimeters[centre]}
        await trio.sleep(0.1)
        await bot.move(msgspec.json.encode(random.choice(sorted(useful & oracle.free()))))
    assert (answer.status, said(answer)["state"]) == (200, "completed")


async def hunted(here: Table, game: str) -> None:
    ann, bob = here.bot("ann"), here.bot("bob")
    async with trio.open_nursery() as nursery:
        for bot in (ann, bob):
            await bot.join(game)
            nursery.start_soon(hunt, here, bot, Random(bot.name))


# Made by somebody


@pytest.mark.parametrize(
    "end", [None, True, 7, 0.5, "", "line", "Lines", "lines ", [], {}, ["lines"], "x" * 3000], ids=repr
)
async def test_a_wrong_end_is_refused_with_the_choices(end: object, autojump_clock: MockClock) -> None:
    async with table() as here:
        answer = await here.caller().ask("POST", "/", {"rows": 5, "cols": 5, "end": end})
        assert (answer.status, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")
        assert answer.body.decode().startswith(CHOICES)
        assert await here.read("/games") == {"games": []}


@pytest.mark.parametrize("options", [{}, {"end": "lines"}, {"end": "hexagons"}], ids=repr)
async def test_a_game_ends_as_whoever_made_it_wanted(
    options: dict[str, str], autojump_clock: MockClock
) -> None:
    async with table() as here:
        game = await here.made(3, 5, **options)
        assert list(await here.read(game)) == GAME
        ann, bob = await here.pair(game)
        await sides_drawn(ann, bob, 5)
        await bob.move(SIDES[5])
        await bob.turn()
        mover, other = bob, ann
        for side in BESIDE:
            await mover.move(side)
            await other.turn()
            mover, other = other, mover
        await mover.move(LAST)
        assert list(await here.read(game)) == GAME
        if options == {"end": "hexagons"}:
            assert scores(await ann.end()) == scores(await bob.end()) == [1, 1]
            (result,) = await results(here)
            assert result.winner is None
            assert (result.ending, len(result.moves)) == (Ending.PLAYED, 12)
        else:
            assert scores(said(await mover.turn())) == [1, 1]
            await mover.move(line(0, 1, 0, 2))
            assert TURN in (await other.turn()).headers


@pytest.mark.slow
async def test_bots_that_never_fill_in_play_a_game_to_its_end(autojump_clock: MockClock) -> None:
    async with table() as here:
        await hunted(here, await here.made(5, 5, end="hexagons"))
        (result,) = await results(here)
        assert (result.ending, result.options) == (Ending.PLAYED, FOUND)
        assert len(result.moves) < 49 - 6


# Found by `GET /match`


@pytest.mark.slow
async def test_a_game_found_by_match_ends_with_the_hexagons(autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.found()
        assert list(await here.read(game)) == GAME
        await hunted(here, game)
        (result,) = await results(here)
        assert (result.ending, result.options) == (Ending.PLAYED, FOUND)


async def test_whoever_meets_a_bot_that_came_by_match_is_told_how_the_game_ends(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        visit = await here.host.arrive("eve", "hexagon-dots")
        bob = here.bot("bob")
        await bob.join(await here.found())
        assert playing(here, "bob").names == ("eve", "bob")
        assert visit.player.seat is not None
        assert begin(visit.player.seat, 0).options == FOUND


async def test_a_game_that_somebody_made_keeps_its_end_for_whoever_is_led_there(
    autojump_clock: MockClock,
) -> None:
    async with table() as here:
        made = await here.made(3, 7)
        assert await here.found() == made
        await here.pair(made)
        assert playing(here, "ann").options == {"rows": 3, "cols": 7}


@pytest.mark.parametrize("options", [{}, {"rows": 3, "cols": 7}, {"end": "hexagons"}], ids=repr)
@pytest.mark.parametrize("found", [True, False])
async def test_a_tournament_has_options_of_its_own(
    options: dict[str, Any], found: bool, autojump_clock: MockClock
) -> None:
    async with table() as here:
        await here.host.open("cup", Opened("hexagon-dots", "round-robin", 2, options=options))
        await here.pair(await (here.found() if found else here.made(5, 5, end="lines")))
        match = playing(here, "ann")
        assert (match.name, match.options) == ("cup-1", options)


@pytest.mark.slow
async def test_what_was_found_by_match_can_be_verified(autojump_clock: MockClock) -> None:
    async with table() as here:
        await hunted(here, await here.found())
        lines = exported(here.host.store.kept())
        (match,) = [each for each in lines if each["type"] == "match"]
        assert (match["match"], match["options"]) == (f"{OPEN}-1", FOUND)
        assert verify(text(lines)).findings == []
        match["options"] = FOUND | {"end": "lines"}
        assert verify(text(lines)).findings, "by other rules it is not over"


# The list


async def test_the_list_has_every_game_until_it_is_over(autojump_clock: MockClock) -> None:
    async with table() as here:
        assert await here.read("/") == []
        game, other = await here.made(3, 5), await here.made(7, 7)
        listed = {"id": other[1:], "rows": 7, "cols": 7, "players": [], "state": "initiating"}
        mine = {"id": game[1:], "rows": 3, "cols": 5}
        assert await here.read("/") == [{**mine, "players": [], "state": "initiating"}, listed]
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(game)
        seated = [{"name": "ann", "score": 0}]
        assert await here.read("/") == [{**mine, "players": seated, "state": "initiating"}, listed]
        await bob.join(game)
        await ann.turn()
        await sides_drawn(ann, bob, 5)
        await bob.move(SIDES[5])
        await bob.turn()
        seated.append({"name": "bob", "score": 1})
        assert await here.read("/") == [{**mine, "players": seated, "state": "in play"}, listed]
        await bob.move(b"null")
        await ann.end()
        assert await here.read("/") == [listed]


@pytest.mark.parametrize("path", ["/", "/games"])
async def test_others_get_their_turns_while_games_are_listed(path: str, autojump_clock: MockClock) -> None:
    """Catches a list of thousands for which no move is played: anybody can ask for it, again and again."""
    async with table() as here:
        taken: list[int] = []
        for games in (1, 4 * AT_A_TIME):
            for _ in range(games):
                await here.made()
            turns = Turns()
            trio.lowlevel.add_instrument(turns)
            assert await here.read(path)
            trio.lowlevel.remove_instrument(turns)
            taken.append(turns.taken)
    assert taken[1] >= taken[0] + 4


async def test_a_game_that_a_tournament_dealt_is_listed_as_it_is_played(autojump_clock: MockClock) -> None:
    async with table() as here:
        options = {"rows": 3, "cols": 7}
        await here.host.open("cup", Opened("hexagon-dots", "round-robin", 2, options=options))
        ann, _ = await here.pair(await here.found())
        (listed,) = await here.read("/")
        assert (listed["id"], listed["rows"], listed["cols"]) == (ann.game[1:], 3, 7)


async def test_the_viewer_of_2011_finds_what_is_in_play_and_watches_it(autojump_clock: MockClock) -> None:
    async with table() as here:
        await here.made()
        ann, _ = await here.pair()
        viewer = here.caller()
        games = said(await viewer.ask("GET", "/", None, "Accept: */*", "User-Agent: Ruby"))
        (watched,) = [game["id"] for game in games if game["state"] == "in play"]
        await viewer.send("POST", f"/{watched}/observers")
        assert b'"rows":3,"cols":3' in await viewer.client.now()
        await ann.move(SIDES[0])
        assert b'"owner":{"name":"ann"' in await viewer.client.now()


async def test_head_says_of_the_list_what_get_does(autojump_clock: MockClock) -> None:
    async with table() as here:
        await here.made()
        whole, caller = await here.caller().ask("GET", "/"), here.caller()
        await caller.client.end.send_all(request("HEAD", "/"))
        head = await caller.client.answer("HEAD")
        assert (head.status, head.headers, head.body) == (200, whole.headers, b"")
        assert int(head.headers["content-length"]) == len(whole.body)
