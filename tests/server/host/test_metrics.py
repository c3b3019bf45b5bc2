"""What a monitor is told about a host: right types, few samples, and figures that say what happened."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server import figures
from server.host.exposition import exposition
from server.host.host import Host
from server.host.metrics import AT_A_TIME, metrics
from server.host.view import HeldTournament
from tests.deploy.debian import tool
from tests.lacking import lacking
from tests.server.exposition import Figures, read
from tests.server.protocols.room import room
from tournament.events import Ending, Fault
from tournament.facts import Concluded, Opened, State, Turned, Voided
from tournament.record import Record

pytestmark = pytest.mark.slow

GAME = "tic-tac-toe"
HEARD: Any = {"capture_stdout": True, "capture_stderr": True}
CUP = {"tournament": "cup", "game": GAME, "format": "round-robin", "entrants": "2"}


async def of(host: Host) -> Figures:
    return read(await metrics(host))


async def test_what_is_played_is_counted_by_game_ending_and_door(autojump_clock: MockClock) -> None:
    async with room(CUP) as here:
        guests = [await here.hello(name) for name in ("ann", "bob")]
        before = await of(here.host)
        for ply, move in enumerate(("NW", "N", "W")):
            await guests[ply % 2].tell(type="move", move=move)
        during = await of(here.host)
        for ply, move in enumerate(("C", "SW"), 3):
            await guests[ply % 2].tell(type="move", move=move)
        await trio.sleep(1.0)
        after = await of(here.host)
    moves = [found.one("quintain_moves_total", game=GAME) for found in (before, during, after)]
    assert moves == [0, 3, 5]
    assert [found.one("quintain_matches_playing", game=GAME) for found in (before, during, after)] == [
        1,
        1,
        0,
    ]
    assert after.one("quintain_matches_over_total", game=GAME, ending="played") == 1
    assert after.one("quintain_matches_over_total", game=GAME, ending="time") == 0
    assert after.one("quintain_bots_came_total", door="house", game=GAME) == 2
    assert after.one("quintain_players", game=GAME) == 2
    assert after.one("quintain_tournaments", state="finished") == 1


def hold(host: Host, count: int, *states: State) -> None:
    for number in range(count):
        record = Record(f"other-{number}-{states[-1]}", Opened(GAME, "round-robin"))
        for state in states:
            record.add(Turned(state))
        host.hold(record)


class Turns(trio.abc.Instrument):
    """How many steps of tasks there have been."""

    def __init__(self) -> None:
        self.taken = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.taken += 1


async def turns_for_figures(host: Host) -> int:
    await trio.testing.wait_all_tasks_blocked()
    turns = Turns()
    trio.lowlevel.add_instrument(turns)
    await of(host)
    trio.lowlevel.remove_instrument(turns)
    return turns.taken


async def test_figures_pass_by_what_is_over_and_go_in_turns_with_others(autojump_clock: MockClock) -> None:
    """Catches a monitor that stops all moves for tens of milliseconds at each look at a large host."""
    async with room(CUP) as here:
        hold(here.host, 10 * AT_A_TIME, State.FINISHED)
        assert await turns_for_figures(here.host) == 0
        hold(here.host, 10 * AT_A_TIME, State.PAUSED)
        assert await turns_for_figures(here.host) >= 10
        found = await of(here.host)
    for state in (State.FINISHED, State.PAUSED):
        assert found.one("quintain_tournaments", state=state.value) == 10 * AT_A_TIME


async def test_the_count_of_moves_never_falls_while_a_result_is_being_kept(autojump_clock: MockClock) -> None:
    """It is asked for whenever a fact is told: then a match has both ended and not been announced."""
    counts: list[float] = []

    async with room() as here:

        def look(tournament: HeldTournament, fact: object) -> None:
            counts.append(here.host.measures.played(here.host.going_on)[GAME])

        here.host.on_fact.append(look)
        guests = [await here.hello(name) for name in ("ann", "bob")]
        for ply, move in enumerate(("NW", "N", "W", "C", "SW")):
            await guests[ply % 2].tell(type="move", move=move)
            look(here.host.tournaments["open-tic-tac-toe"], None)
        await trio.sleep(1.0)
        look(here.host.tournaments["open-tic-tac-toe"], None)
    assert counts == sorted(counts)
    assert counts[-1] == 5


async def test_whose_fault_it_was_is_counted(autojump_clock: MockClock) -> None:
    async with room(CUP) as here:
        cup = here.host.tournaments["cup"]
        sides = ("ann", "bob")
        for match, ending, fault in (
            ("cup-1", Ending.TIME, Fault.BOT),
            ("cup-2", Ending.VOID, Fault.HOST),
            ("cup-3", Ending.LEFT, Fault.NETWORK),
            ("cup-4", Ending.PLAYED, None),
        ):
            here.host.measures.hear(cup, Concluded(match, 1, sides, None, ending, "", None, fault=fault))
        here.host.measures.hear(cup, Voided("cup-4", "a cable"))
        found = await of(here.host)
    assert [found.one("quintain_faults_total", game=GAME, fault=each.value) for each in Fault] == [1, 1, 1]
    assert found.one("quintain_matches_void_total", fault="host") == 1
    assert found.one("quintain_matches_void_total", fault="none") == 1
    assert found.one("quintain_matches_void_total", fault="bot") == 0


async def test_there_are_no_more_samples_with_a_thousand_names_and_none_of_them_is_told(
    autojump_clock: MockClock,
) -> None:
    async with room() as here:
        await here.host.arrive("somebody", GAME, door="house")
        few = await metrics(here.host)
        for number in range(1000):
            await here.host.arrive(f"bot-{number}", GAME, door="house")
        await trio.sleep(0.1)
        many = await metrics(here.host)
    assert many.count("\n") == few.count("\n")
    assert "bot-" not in many


def test_the_process_is_told_as_everywhere_else() -> None:
    found = read(exposition((*figures.process(), *figures.build(), *figures.waiting({"journal": lambda: 3}))))
    assert found.one("process_cpu_seconds_total") > 0
    assert found.one("process_resident_memory_bytes") > 1 << 20
    assert 0 < found.one("process_open_fds") <= found.one("process_max_fds")
    assert found.one("quintain_queue_length", queue="journal") == 3
    assert len(found.all("quintain_build_info")) == 1


@pytest.mark.skipif(not figures.open_files_counted(), reason="only Linux 6.2 and later count them")
def test_open_files_are_counted_without_a_look_at_each() -> None:
    """Catches a look that takes 7 ms with ten thousand connections, for which all matches wait."""
    called, before = list[object](), read(exposition(figures.process())).one("process_open_fds")
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(open(os.devnull))
        sys.setprofile(lambda frame, event, argument: called.append(argument))  # of this thread alone
        try:
            after = read(exposition(figures.process())).one("process_open_fds")
        finally:
            sys.setprofile(None)
    assert after == before + 100
    assert os.stat in called
    assert os.listdir not in called


def test_whoever_asks_again_and_again_leaves_nothing_behind_that_has_to_be_collected() -> None:
    def asked() -> int:
        exposition((*figures.process(), *figures.build(), *figures.waiting({})))
        return len(gc.get_objects(generation=0))  # what came since the last collection

    with switched_off_collector():
        asked()
        first = asked()
        assert max(asked() for _ in range(50)) - first < 50


@contextmanager
def switched_off_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def test_prometheus_own_tool_finds_nothing_to_complain_about(autojump_clock: MockClock) -> None:
    if (promtool := tool("promtool")) is None:
        lacking("there is no promtool: tests/prepare.sh fetches Debian's prometheus")
    async with room(CUP) as here:
        here.host.figures += (figures.build, figures.process)
        await here.hello("ann")
        text = await metrics(here.host)
    command = [promtool, "check", "metrics"]
    checked = await trio.run_process(command, stdin=text.encode(), check=False, **HEARD)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
