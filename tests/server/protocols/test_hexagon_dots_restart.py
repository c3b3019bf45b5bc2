"""Bots of Hexagon Dots whose host stops in the middle of their game, and starts again."""

from collections.abc import Mapping
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.protocols.interrupted import Late
from tests.server.protocols.table import OPEN, SIDES, Dots, Table, drawn, results, table
from tournament.events import CUT_SHORT, Ending
from tournament.store import Memory

CUP = {"tournament": "cup", "game": "hexagon-dots", "format": "round-robin", "entrants": "2"}
OTHER = [{"row": 1, "col": 0}, {"row": 1, "col": 1}]  # a line that is none of the sides
GRACE = 30.0


class Bot(Dots):
    """A bot that knows its last request, and makes it again over a new connection."""

    last: tuple[object, str] | None = None  # a line and its token; None: it has joined

    async def move(self, line: object, token: str | None = None) -> None:
        self.last = line, self.token if token is None else token
        await super().move(line, token)

    async def again(self) -> None:
        if self.last is None:
            await self.join(self.game)
        else:
            await self.move(*self.last)


class Left:
    """A game that was being played when its host stopped, of which the last lines may be lost."""

    def __init__(self, store: Memory, bots: tuple[Bot, Bot], plies: int) -> None:
        self.store = store
        self.plies = plies
        self._bots = bots

    def bots(self, here: Table) -> tuple[Bot, Bot]:
        """Whoever has to move, and whoever waits, with all they know, at another host."""
        moved: list[Bot] = []
        for before in self._bots:
            bot = Bot(here.server.connect, before.name)
            bot.game, bot.token, bot.last = before.game, before.token, before.last
            bot.lines, bot.hexagons = [*before.lines], [*before.hexagons]
            moved.append(bot)
        mover, waiting = moved
        return mover, waiting


async def left(plies: int, lost: int = 0, settings: Mapping[str, str] | None = None) -> Left:
    """Whoever has to move has been told so."""
    store = Memory()
    async with table(settings or {}, store=store) as here:
        bots = [Bot(here.server.connect, name) for name in ("ann", "bob")]
        game = await here.made(5, 5)
        for bot in bots:
            await bot.join(game)
        (match,) = [match for each in here.host.tournaments.values() for match in each.matches.values()]
        mover, waiting = sorted(bots, key=lambda bot: match.names.index(bot.name))
        await mover.turn()
        for number in range(plies):
            await trio.sleep(1.0)
            await mover.move(SIDES[number])
            mover, waiting = waiting, mover
            await mover.turn()
    return Left(Late(store, lost), (mover, waiting), plies)


async def play_on(here: Table, mover: Bot, waiting: Bot, plies: int, tournament: str = OPEN) -> None:
    """All sides, and then a violation. Both were told everything, once."""
    for number in range(plies, len(SIDES)):
        await mover.move(SIDES[number])
        if number < len(SIDES) - 1:
            mover, waiting = waiting, mover
        await mover.turn()
    await mover.move(SIDES[0])
    await waiting.end()
    assert waiting.lines == mover.lines == SIDES
    assert len(waiting.hexagons) == len(mover.hexagons) == 1
    (match,) = await results(here, tournament)
    assert (match.ending, list(match.moves)) == (Ending.ILLEGAL, SIDES)


@pytest.mark.parametrize("settings", [{}, CUP], ids=["an open table", "a tournament"])
@pytest.mark.parametrize("plies", [1, 2, 4, 5])
async def test_a_game_goes_on_by_the_requests_that_its_bots_would_have_made(
    plies: int, settings: Mapping[str, str], autojump_clock: MockClock
) -> None:
    """Whoever waits makes its request again, and whoever is to move just moves."""
    kept = await left(plies, settings=settings)
    async with table(settings, store=kept.store) as here:
        mover, waiting = kept.bots(here)
        await waiting.again()
        assert await waiting.heard() is None
        await trio.sleep(GRACE - 1.0)
        assert drawn(await here.read(mover.game)) == sorted(SIDES[:plies], key=str)
        await play_on(here, mover, waiting, plies, settings.get("tournament", OPEN))


@pytest.mark.parametrize("plies", [2, 4])
async def test_whoever_has_its_answer_already_is_given_it_again(
    plies: int, autojump_clock: MockClock
) -> None:
    """Byte for byte, with the token that it has."""
    kept = await left(plies)
    async with table(store=kept.store) as here:
        mover, waiting = kept.bots(here)
        token, known = mover.token, [*mover.lines]
        mover.lines = known[: plies - 2]
        await mover.again()
        await mover.turn()
        assert (mover.token, mover.lines) == (token, known)
        await waiting.again()
        await play_on(here, mover, waiting, plies)


@pytest.mark.parametrize("plies", [2, 3])
async def test_a_move_that_was_told_and_not_kept_is_made_by_the_repeated_request(
    plies: int, autojump_clock: MockClock
) -> None:
    """In whatever order the two come back: whoever knows of the move waits until it is there again."""
    for mover_first in (True, False):
        kept = await left(plies, lost=1)
        async with table(store=kept.store) as here:
            mover, waiting = kept.bots(here)
            if not mover_first:
                await waiting.again()
            await mover.move(SIDES[plies])
            if mover_first:
                assert await mover.heard() is None
                await waiting.again()
            await waiting.turn()
            await play_on(here, waiting, mover, plies + 1)


async def test_the_move_with_which_a_bot_came_back_may_be_asked_for_again(autojump_clock: MockClock) -> None:
    """Its answer may be long in coming, and its connection may break a second time."""
    kept = await left(2)
    async with table(store=kept.store) as here:
        mover, waiting = kept.bots(here)
        await waiting.again()
        await mover.move(SIDES[2])
        await waiting.turn()
        once_more = kept.bots(here)[0]
        await once_more.move(SIDES[2])
        assert (await mover.told()).status == 409
        await play_on(here, waiting, once_more, 3)


async def test_a_move_that_is_not_made_again_makes_the_game_void(autojump_clock: MockClock) -> None:
    """A bot adds up what it is told: it cannot be told that a line is not there, nor of one twice."""
    kept = await left(3, lost=1)
    async with table(store=kept.store) as here:
        mover, waiting = kept.bots(here)
        await mover.move(SIDES[3])
        assert waiting.last is not None
        await waiting.move(OTHER, waiting.last[1])
        assert drawn(await _delta_at_the_end(mover)) == []
        assert drawn(await _delta_at_the_end(waiting)) == [OTHER]
        (match,) = await results(here)
        assert match.ending is Ending.VOID
        assert match.why == f"{CUT_SHORT}, and {mover.name} had been told of a move that was not kept"


async def test_whoever_is_to_move_and_knows_more_than_was_kept_makes_the_game_void(
    autojump_clock: MockClock,
) -> None:
    kept = await left(4, lost=2)
    async with table(store=kept.store) as here:
        mover, waiting = kept.bots(here)
        await mover.move(SIDES[4])
        assert drawn(await _delta_at_the_end(mover)) == []
        assert drawn(await here.read(mover.game)) == sorted(SIDES[:2], key=str)
        await waiting.again()
        assert (await waiting.told()).status == 410


async def test_a_bot_that_has_forgotten_everything_joins_again(autojump_clock: MockClock) -> None:
    """It is told the whole game, so nothing that it knew is in the way."""
    kept = await left(4, lost=2)
    async with table(store=kept.store) as here:
        bots = kept.bots(here)
        for bot in bots:
            await bot.join(bot.game)
        mover, waiting = bots
        await mover.turn()
        assert mover.lines == sorted(SIDES[:2], key=str)
        mover.lines = SIDES[:2]
        await mover.move(SIDES[2])
        await waiting.turn()
        waiting.lines = SIDES[:3]
        await play_on(here, waiting, mover, 3)


async def test_a_game_goes_on_however_often_the_host_is_started_again(autojump_clock: MockClock) -> None:
    kept = await left(1)
    for plies in (1, 2, 3, 4):
        async with table(store=kept.store) as here:
            mover, waiting = kept.bots(here)
            await waiting.again()
            await mover.move(SIDES[plies])
            await waiting.turn()
            kept = Left(Late(kept.store), (waiting, mover), plies + 1)
    async with table(store=kept.store) as here:
        mover, waiting = kept.bots(here)
        await waiting.again()
        await play_on(here, mover, waiting, 5)


@pytest.mark.parametrize("settings", [{}, CUP], ids=["an open table", "a tournament"])
async def test_whoever_has_come_back_is_here_and_may_be_away_as_long_as_any_other(
    settings: Mapping[str, str], autojump_clock: MockClock
) -> None:
    """Catches a bot that loses its match because the host was away before it."""
    kept = await left(2, settings=settings)
    async with table(settings, store=kept.store) as here:
        mover, waiting = kept.bots(here)
        await trio.sleep(GRACE - 1.0)
        await waiting.again()
        await mover.move(SIDES[2])
        await waiting.turn()
        assert here.host.here(settings.get("tournament", OPEN)).count == 2
        await mover.hang_up()
        await trio.sleep(5.0)
        await mover.again()
        await play_on(here, waiting, mover, 3, settings.get("tournament", OPEN))


async def test_tokens_of_others_and_other_moves_change_nothing(autojump_clock: MockClock) -> None:
    kept = await left(3)
    async with table(store=kept.store) as here:
        mover, waiting = kept.bots(here)
        assert waiting.last is not None
        stranger = Bot(here.server.connect, "eve")
        stranger.game = mover.game
        flipped = "A" if mover.token[-1] != "A" else "B"
        for line, token in [(SIDES[3], mover.token[:-1] + flipped), (SIDES[3], ""), (SIDES[3], "é")]:
            await stranger.move(line, token)
            assert (await stranger.told()).status in (400, 403)
        await stranger.move(OTHER, waiting.last[1])
        assert (await stranger.told()).body == b"this token has been used for another move"
        await stranger.join(mover.game)
        assert (await stranger.told()).status == 410
        await waiting.again()
        await play_on(here, mover, waiting, 3)


async def test_if_somebody_does_not_come_back_the_game_is_void(autojump_clock: MockClock) -> None:
    kept = await left(3)
    async with table(store=kept.store) as here:
        mover, waiting = kept.bots(here)
        await waiting.again()
        await trio.sleep(GRACE + 1.0)
        await waiting.end()
        (match,) = await results(here)
        assert (match.ending, match.why) == (
            Ending.VOID,
            f"{CUT_SHORT}, and {mover.name} did not come back",
        )
        await mover.move(SIDES[3])
        assert (await mover.told()).status == 410
        assert not list(here.host.lobby.players()), "nobody is there any more"


async def test_whoever_waits_in_vain_for_a_lost_move_is_told_of_no_line_twice(
    autojump_clock: MockClock,
) -> None:
    kept = await left(3, lost=1)
    async with table(store=kept.store) as here:
        mover, _ = kept.bots(here)
        await mover.move(SIDES[3])
        await trio.sleep(GRACE + 1.0)
        assert drawn(await _delta_at_the_end(mover)) == []


@pytest.mark.parametrize("waits", [True, False], ids=["waits", "is on its way"])
@pytest.mark.parametrize("settings", [{}, CUP], ids=["an open table", "a tournament"])
async def test_whoever_has_found_a_game_that_had_not_begun_joins_it_after_a_restart(
    settings: Mapping[str, str], waits: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot that is told that there is no such game, although it has just been sent there."""
    store = Memory()
    async with table(settings, store=store) as here:
        ann, game = here.bot("ann"), await here.found()
        if waits:
            await ann.join(game)
            assert await ann.heard() is None
    for late in (Late(store), Late(store)):  # however often
        async with table(settings, store=late) as here:
            ann, bob = here.bot("ann"), here.bot("bob")
            await ann.join(game)
            assert await ann.heard() is None
            await bob.join(await here.found())
            assert await _asked(ann) or await _asked(bob)


async def test_whoever_a_tournament_awaits_is_led_there_from_the_address_of_any_game_of_before(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    async with table(CUP, store=store) as here:
        ann, made = here.bot("ann"), await here.made(3, 3)
        await ann.join(made)
        assert await ann.heard() is None
    async with table(CUP, store=Late(store)) as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        for bot in (ann, bob):
            await bot.join(made)
        assert await _asked(ann) or await _asked(bob)


async def test_a_game_that_somebody_made_and_that_had_not_begun_is_not_there_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    """Nor is one that nobody ever made; looking at an address makes none."""
    store = Memory()
    async with table(store=store) as here:
        addresses = [await here.made(3, 3) for _ in range(100)]
    async with table(store=Late(store)) as here:
        ann = here.caller()
        for address in addresses:
            assert (await ann.ask("POST", f"{address}/players", {"name": "ann"})).status == 404
            assert (await ann.ask("GET", f"{address}/players")).status == 404
        assert await here.read("/games") == {"games": []}


async def _delta_at_the_end(bot: Dots) -> dict[str, Any]:
    """What a move is answered with: never the whole Game, which would double what the bot has added up."""
    told = await bot.end()
    assert told.keys() == {"lines", "hexagons", "players", "state"}
    return told


async def _asked(bot: Dots) -> bool:
    """Whether it is its turn."""
    return (answer := await bot.heard()) is not None and answer.status == 200
