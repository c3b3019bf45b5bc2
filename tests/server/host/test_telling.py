"""What the log says about a host: one line an event."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.host import telling
from server.host.telling import AT_A_TIME, status
from server.host.view import HeldTournament
from tests.server.protocols.room import Room, room
from tournament.facts import Disqualified, NoShow, RoundBegan, State, Turned, Voided, Withdrew
from tournament.presence import Missing

GAME = "tic-tac-toe"
CUP = {"tournament": "cup", "game": GAME, "format": "round-robin", "entrants": "2"}


def events(logs: list[Any], *keys: str) -> list[tuple[object, ...]]:
    return [tuple(line.get(key) for key in ("event", *keys)) for line in logs]


async def play(here: Room, *moves: str) -> None:
    """Ann and bob come, and play these moves, in turns."""
    guests = [await here.hello(name) for name in ("ann", "bob")]
    for ply, move in enumerate(moves):
        await guests[ply % 2].tell(type="move", move=move)


async def test_a_tournament_is_told_from_its_opening_to_its_end(autojump_clock: MockClock) -> None:
    with capture_logs() as logs:
        async with room(CUP) as here:
            await play(here, "NW", "N", "W", "C", "SW")
            await trio.sleep(1.0)
    told = events(logs, "tournament")
    assert [line for line in told if line[0] == "tournament opened"] == [("tournament opened", "cup")]
    assert [line for line in told if str(line[0]).startswith("tournament ")] == [
        ("tournament opened", "cup"),
        ("tournament begun", "cup"),
        ("tournament finished", "cup"),
    ]
    (over,) = [line for line in logs if line["event"] == "over"]
    assert over["log_level"] == "debug"
    assert (over["match"], over["winner"], over["ending"], over["fault"]) == ("cup-1", "ann", "played", None)


async def test_what_befalls_a_tournament_and_its_entrants_is_told(autojump_clock: MockClock) -> None:
    async with room(CUP) as here:
        cup = here.host.tournaments["cup"]
        with capture_logs() as logs:
            for fact in (
                RoundBegan(2, 0.0),
                NoShow("ann"),
                Withdrew("bob", annulled=False),
                Disqualified("cas", "two programs"),
                Voided("cup-1", "a power cut"),
                Turned(State.PAUSED),
            ):
                telling.told(cup, fact)
    assert events(logs, "tournament", "round", "player", "match", "why") == [
        ("round begun", "cup", 2, None, None, None),
        ("not checked in", "cup", None, "ann", None, None),
        ("withdrawn", "cup", None, "bob", None, None),
        ("disqualified", "cup", None, "cas", None, "two programs"),
        ("voided", None, None, None, "cup-1", "a power cut"),
        ("tournament paused", "cup", None, None, None, None),
    ]


async def test_whoever_comes_leaves_crashes_and_returns_is_told_with_address_and_door(
    autojump_clock: MockClock,
) -> None:
    with capture_logs() as logs:
        async with room() as here:
            ann = await here.hello("ann")
            (welcome,) = await ann.messages("welcome")
            bob = await here.hello("bob")
            await trio.sleep(1.0)
            await ann.wire.aclose()  # it is ann's turn
            await trio.sleep(1.0)
            await here.hello("ann", token=welcome["token"])
            await trio.sleep(1.0)
            await bob.tell(type="bye")
            await trio.sleep(1.0)
    told = events(logs, "player", "tournament")
    open_table = "open-tic-tac-toe"
    assert [line for line in told if line[1] is not None] == [
        ("came", "ann", open_table),
        ("came", "bob", open_table),
        ("crashed", "ann", open_table),
        ("returned", "ann", open_table),
        ("left", "bob", open_table),
    ]
    came = next(line for line in logs if line["event"] == "came")
    assert (came["door"], came["game"], "peer" in came) == ("house", GAME, True)
    crashed = next(line for line in logs if line["event"] == "crashed")
    assert crashed["match"] == "open-tic-tac-toe-1"


async def test_a_bot_that_is_cut_is_told_with_the_reason(autojump_clock: MockClock) -> None:
    with capture_logs() as logs:
        async with room() as here:
            ann = await here.hello("ann")
            await ann.say("x" * 5000)
            await trio.sleep(1.0)
    cut = [line for line in logs if line["event"] == "cut"]
    assert [(line["player"], "4096" in line["why"]) for line in cut] == [("ann", True)]


async def test_the_line_of_a_terminal_says_what_is_played_how_fast_and_who_is_missing(
    autojump_clock: MockClock,
) -> None:
    shown: list[str] = []
    async with room(CUP) as here:
        await play(here, "NW", "N")
        async with trio.open_nursery() as nursery:
            held, keeper = here.host.tournaments, here.host.timekeeper
            keeper.moves = 10
            nursery.start_soon(telling.keep_shown, lambda: held, lambda: keeper.moves, shown.append)
            await trio.testing.wait_all_tasks_blocked()
            keeper.moves = 17
            await trio.sleep(2.5)
            nursery.cancel_scope.cancel()
    assert shown == ["1 match · 7 moves/s", "1 match · 0 moves/s", ""]


class Looked:
    """A tournament in which nothing happens, and which counts how often somebody has looked at it."""

    matches: Mapping[str, Any] = {}

    def __init__(self, looks: list[int]) -> None:
        self._looks = looks

    def missing(self) -> Sequence[Missing]:
        self._looks.append(1)
        return ()


async def test_others_get_their_turns_while_the_line_of_a_terminal_is_made(autojump_clock: MockClock) -> None:
    """Catches a host that stands still once a second, the longer the more tournaments it has ever held."""
    looks, at_once = list[int](), 0

    class Steps(trio.abc.Instrument):
        def before_task_step(self, task: trio.lowlevel.Task) -> None:
            looks.clear()

        def after_task_step(self, task: trio.lowlevel.Task) -> None:
            nonlocal at_once
            at_once = max(at_once, len(looks))

    held, shown = {str(number): cast("HeldTournament", Looked(looks)) for number in range(100)}, list[str]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(telling.keep_shown, lambda: held, lambda: 0, shown.append)
        trio.lowlevel.add_instrument(Steps())
        await trio.sleep(1.5)
        nursery.cancel_scope.cancel()
    assert shown == ["0 matches · 0 moves/s", ""]
    assert 0 < at_once <= AT_A_TIME


def test_when_many_are_missing_those_that_have_been_waited_for_longest_are_named() -> None:
    missing: Mapping[str, float] = {"ann": 5.0, "bob": 200.0, "cas": 7.0, "dee": 6.0, "eve": 1.0}
    said = "2 matches · 3 moves/s · missing: bob (3 min), cas (7 s), dee (6 s), 2 more"
    assert status(2, 3.2, missing) == said
    assert status(0, 0.0, {}) == "0 matches · 0 moves/s"
