"""`tournament/dealing.py`: a game that fails as a match begins costs nobody but its own bots a moment.

What is dealt otherwise, and when, is in `test_tournament.py`.
"""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import trio
from msgspec import structs
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Game
from tests.tournament.world import first, play, table, world
from tournament.events import HOST_FAILED, Ending, Fault
from tournament.facts import Dealt, State
from tournament.player import Seat

FOUR = dict.fromkeys(("ann", "bob", "cas", "dee"), first)
HOUR, AN_HOUR = 3600.0, 3 * (6 + 60)  # seconds; facts of an hour of rests: a draw, a deal and a void at each


def failing(fails: Callable[[], bool], tried: list[float]) -> Game[Any, Any]:
    """Tic-Tac-Toe, in which no match can begin while it `fails`; it notes when one was `tried`."""
    game = catalogue()["tic-tac-toe"]

    def start() -> Any:
        tried.append(trio.current_time())
        if fails():
            raise ZeroDivisionError
        return game.start()

    return structs.replace(game, start=start)


async def test_a_match_that_cannot_begin_is_void_and_played_when_it_can(autojump_clock: MockClock) -> None:
    """Catches a host that ends with all of its tournaments, at once and after each start."""
    tried, failures = list[float](), list[Exception]()
    game = failing(lambda: len(tried) <= 5, tried)
    async with world(FOUR, rules=game, failed=failures.append) as here:
        await here.tournament.run()
    assert here.tournament.record.state is State.FINISHED
    void = [fact for fact in here.concluded() if fact.score is None]
    assert [(fact.ending, fact.why, fact.fault) for fact in void] == [
        (Ending.VOID, HOST_FAILED, Fault.HOST)
    ] * 5
    assert all(fact.began == fact.ended is not None for fact in void)
    assert [type(failure) for failure in failures] == [ZeroDivisionError] * 5
    played = Counter(frozenset(fact.players) for fact in here.concluded() if fact.score is not None)
    assert len(played) == played.total() == 6
    assert {fact.ending for fact in here.concluded() if fact.score} == {Ending.PLAYED}


async def test_while_its_game_fails_a_table_tries_less_and_less_often(
    autojump_clock: MockClock,
) -> None:
    """Catches a journal that grows by thousands of void matches a second, all night."""
    tried, failures = list[float](), list[Exception]()
    broken = True
    game = failing(lambda: broken, tried)
    async with table("tic-tac-toe", rules=game, failed=failures.append) as (here, nursery):
        for name in ("ann", "bob"):
            player = here.come(name)
            player.move_to("cup")
            await here.tournament.enter(name)
            nursery.start_soon(play, player, first)
        await trio.sleep(HOUR)
        rests = [round(after - before) for before, after in pairwise(tried)]
        assert rests[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
        assert len(here.told) < AN_HOUR
        broken = False
        await trio.sleep(90.0)
        played = [fact for fact in here.concluded() if fact.ending is Ending.PLAYED]
        assert len(played) > 5, "and goes on as before"


async def test_while_its_game_fails_at_moves_a_table_begins_matches_once_a_second(
    autojump_clock: MockClock,
) -> None:
    """Catches the same journal, where both bots stay: they are dealt the next match at once."""
    game = catalogue()["tic-tac-toe"]

    def read(sent: Any, position: Any) -> Any:
        raise ZeroDivisionError

    async def at_once(seat: Seat) -> None:
        if seat.to_move:
            seat.match.log.report = failures.append
            seat.play("C")

    failures = list[Exception]()
    async with table("tic-tac-toe", rules=structs.replace(game, read=read)) as (here, nursery):
        for name in FOUR:
            player = here.come(name)
            player.move_to("cup")
            await here.tournament.enter(name)
            nursery.start_soon(play, player, at_once)
        await trio.sleep(60.5)
        void = here.concluded()
        assert len(void) == len(failures) == 2 * 61, "however many fail together"
        assert {(fact.ending, fact.why, fact.fault) for fact in void} == {
            (Ending.VOID, HOST_FAILED, Fault.HOST)
        }


async def test_those_who_challenged_each_other_are_free_if_their_match_cannot_begin(
    autojump_clock: MockClock,
) -> None:
    tried, failures = list[float](), list[Exception]()
    game = failing(lambda: len(tried) == 1, tried)
    async with table("tic-tac-toe", rules=game, failed=failures.append) as (here, nursery):
        players = [here.come(name) for name in ("ann", "bob")]
        for player in players:
            await here.tournament.enter(player.name)
            nursery.start_soon(play, player, first)
        here.tournament.challenge(players[0], players[1])
        for player in players:
            player.move_to("cup")
        await trio.sleep(30.0)
        dealt = [fact.match for fact in here.told if isinstance(fact, Dealt)]
        (void, *played) = here.concluded()
    assert len(failures) == 1
    assert (void.match, void.ending) == (dealt[0], Ending.VOID)
    assert played
    assert {fact.ending for fact in played} == {Ending.PLAYED}
