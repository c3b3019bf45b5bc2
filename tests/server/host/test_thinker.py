"""Thinking in child processes: real ones, which are also killed."""

import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from games.brains import alphabeta
from games.catalogue import catalogue
from server.host.thinker import Busy, Failed, Thinker
from tests.hang import HANG, is_alive

pytestmark = pytest.mark.slow

WINS = [0, 1, 0, 1, 0, 1]  # Connect-4: whoever is to move wins in column 0
NONSENSE = {  # tasks, and why they fail
    '["chess", {}, [], "first"]': "KeyError: 'chess'",
    '["connect-4", {"size": 9}, [], "first"]': "BadOption: .* no option",
    '["connect-4", {}, [9], "first"]': "Illegal: there is no column 9",
    '["connect-4", {}, [], "deep-blue"]': "KeyError: 'deep-blue'",
}
SILENT = "while True: input()"
LONG = 2 * HANG  # seconds of thinking that nobody waits for


@asynccontextmanager
async def thinking(**options: Any) -> AsyncIterator[tuple[Thinker, trio.Nursery]]:
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            here = Thinker(**options)
            nursery.start_soon(here.run)
            await trio.testing.wait_all_tasks_blocked()
            yield here, nursery
            nursery.cancel_scope.cancel()


def pids(here: Thinker) -> list[int]:
    return [child.pid for child in here._children]


async def until_busy(here: Thinker, children: int = 1) -> None:
    """Until so many children have their task."""
    while len(here._children) - len(here._idle) < children:
        await trio.testing.wait_all_tasks_blocked(0.01)
    await trio.testing.wait_all_tasks_blocked(0.01)


async def test_it_finds_the_winning_move() -> None:
    async with thinking() as (here, _):
        assert await here.think("connect-4", {}, WINS, "alphabeta", 0.2) == 0


async def test_it_thinks_what_would_be_thought_here() -> None:
    async with thinking() as (there, _):
        for game in catalogue().values():
            position = game.opening({})
            here = game.write(alphabeta(game, 7, 1)(position, lambda: False))
            assert await there.think(game.name, {}, [], "alphabeta", LONG, 1, seed=7) == here, game.name


async def test_it_takes_no_longer_than_it_may() -> None:
    async with thinking(children=2) as (here, nursery):
        await here.think("quoridor", {}, [], "first", 1.0)  # so that there is a child
        nursery.start_soon(here.think, "quoridor", {}, [], "alphabeta", LONG)  # and this one is not over yet
        await until_busy(here)
        began = time.monotonic()
        move = await here.think("quoridor", {}, [], "alphabeta", 0.3)
        assert time.monotonic() - began >= 0.3
        await until_busy(here)
        position = catalogue()["quoridor"].opening({})
        assert catalogue()["quoridor"].read(move, position) in [*position.moves()]


async def test_options_and_moves_lead_to_the_position() -> None:
    lines = [[{"row": 0, "col": 0}, {"row": 0, "col": 1}]]
    async with thinking() as (here, _):
        game = catalogue()["hexagon-dots"]
        move = await here.think(game.name, {"rows": 3, "cols": 4}, lines, "first", 1.0)
        position = game.opening({"rows": 3, "cols": 4})
        position = position.play(game.read(lines[0], position))
        assert move == game.write(next(iter(position.moves())))


async def test_the_loop_goes_on_meanwhile_and_several_think_at_once() -> None:
    async with thinking(children=2) as (here, nursery):
        for _ in range(3):
            nursery.start_soon(here.think, "quoridor", {}, [], "alphabeta", LONG)
        await until_busy(here, 2)
        assert len(pids(here)) == 2, "the third waits"


async def test_whoever_waits_gets_its_turn() -> None:
    async with thinking(children=1) as (here, _):
        moves = list[Any]()

        async def ask() -> None:
            moves.append(await here.think("connect-4", {}, WINS, "alphabeta", 0.1))

        async with trio.open_nursery() as askers:
            for _ in range(4):
                askers.start_soon(ask)
        assert moves == [0] * 4
        assert len(pids(here)) == 1


async def test_where_too_many_wait_the_next_is_told_so() -> None:
    async with thinking(children=1, waiting=2) as (here, nursery):
        for _ in range(3):
            nursery.start_soon(here.think, "quoridor", {}, [], "alphabeta", LONG)
        await until_busy(here)
        with pytest.raises(Busy, match="2 tasks wait"):
            await here.think("connect-4", {}, WINS, "first", 1.0)


async def test_a_child_that_dies_while_it_thinks_is_replaced() -> None:
    async with thinking(children=1) as (here, _):
        moves = list[Any]()

        async def ask() -> None:
            moves.append(await here.think("quoridor", {}, [], "alphabeta", 1.0))

        async with trio.open_nursery() as askers:
            askers.start_soon(ask)
            await until_busy(here)
            (first,) = pids(here)
            os.kill(first, signal.SIGKILL)
        assert len(moves) == 1
        assert pids(here) != [first]
        assert not is_alive(first)


async def test_a_child_that_died_while_it_was_idle_is_replaced() -> None:
    async with thinking(children=1) as (here, _):
        assert await here.think("connect-4", {}, WINS, "alphabeta", 0.1) == 0
        (first,) = pids(here)
        os.kill(first, signal.SIGKILL)
        assert await here.think("connect-4", {}, WINS, "alphabeta", 0.1) == 0


@pytest.mark.parametrize(
    "child",
    [
        pytest.param("", id="dead"),
        pytest.param("input()", id="dies of it"),
        pytest.param(SILENT, id="says nothing"),
        pytest.param("while True: print(len(input()))", id="says something else"),
        pytest.param("input(); print('x' * 100_000)", id="never comes to an end"),
    ],
)
async def test_a_task_that_no_child_answers_is_given_up(child: str) -> None:
    slack = 0.2 if child == SILENT else 1.0  # only its answer is waited for in vain
    async with thinking(slack=slack, command=[sys.executable, "-c", child]) as (here, _):
        with pytest.raises(Failed, match="3 child processes gave no answer"):
            await here.think("connect-4", {}, WINS, "first", 0.0)
        assert pids(here) == []


async def test_where_no_child_can_be_started_the_task_fails() -> None:
    async with thinking(command=["/nowhere/to/be/found"]) as (here, _):
        with pytest.raises(Failed, match="No such file"):
            await here.think("connect-4", {}, WINS, "first", 1.0)


async def test_an_answer_that_nobody_waits_for_is_not_taken_for_the_next() -> None:
    async with thinking(children=1) as (here, _):
        with trio.move_on_after(0.05):
            await here.think("quoridor", {}, [], "alphabeta", 0.2)
        assert await here.think("connect-4", {}, WINS, "alphabeta", 0.2) == 0


async def test_a_task_that_makes_no_sense_fails_and_the_child_lives() -> None:
    async with thinking() as (here, _):
        assert await here.think("connect-4", {}, WINS, "alphabeta", 0.1) == 0
        (child,) = pids(here)
        for task, why in NONSENSE.items():
            game, options, moves, brain = msgspec.json.decode(task)
            with pytest.raises(Failed, match=why):
                await here.think(game, options, moves, brain, 1.0)
            assert pids(here) == [child]
            assert await here.think("connect-4", {}, WINS, "alphabeta", 0.1) == 0
            assert pids(here) == [child]


async def test_no_child_outlives_it() -> None:
    async with thinking(children=2) as (here, nursery):
        for _ in range(2):
            nursery.start_soon(here.think, "quoridor", {}, [], "alphabeta", LONG)
        await until_busy(here, 2)
        children = pids(here)
    assert len(children) == 2
    assert not any(map(is_alive, children))


async def test_nobody_thinks_where_nothing_runs() -> None:
    with pytest.raises(Failed, match="does not run"):
        await Thinker().think("connect-4", {}, WINS, "first", 1.0)
