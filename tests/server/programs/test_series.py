"""A series: pairs from one opening with the sides exchanged, several at a time, and no waiting for ever."""

import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec import structs

from games.catalogue import catalogue
from games.game import Pace
from server.exits import Failure
from server.programs.contestant import Contestant
from server.programs.interrupts import Interrupts
from server.programs.openings import RandomOpenings, start
from server.programs.program import MOST, Gone, Program
from server.programs.running_time import Now
from server.programs.series import Setting, series
from server.programs.tally import Played, pair_of
from tests.ending import signals_as_before
from tests.hang import HANG, is_alive, wait_for
from tests.server.example_programs import command
from tournament.events import Ending

CONNECT4 = catalogue()["connect-4"]
LONG = Pace(turn=60.0)
SHORT = Pace(turn=0.4)  # for programs that never answer

DEAF = "import time\nwhile True:\n    time.sleep(1)\n"
FLOODING = "import sys\nwhile True:\n    sys.stdout.write('3\\n' * 100)\n"
MOODY = """import json, os, sys, time
with open("WHO", "a") as who:
    who.write(f"{os.getpid()}\\n")
for line in sys.stdin:
    if json.loads(line)["match"] != "match-1":
        time.sleep(1000)
    print(json.loads(line)["ply"] // 2 % 7, flush=True)
"""


def setting(first: str, second: str, pace: Pace = LONG, plies: int = 0, seed: int = 0) -> Setting:
    openings = RandomOpenings(CONNECT4, plies, seed) if plies else start
    return Setting(
        game=CONNECT4,
        commands=(first, second),
        names=("a", "b"),
        pace=pace,
        think=0.0,
        seed=seed,
        openings=openings,
    )


def program(folder: Path, name: str, source: str) -> str:
    (folder / f"{name}.py").write_text(source)
    return f"{sys.executable} {folder / f'{name}.py'}"


def played(conditions: Setting, matches: int, places: int = 1) -> dict[int, Played]:
    return {each.match: each for each in series(conditions, range(1, matches + 1), places)}


def untimed(matches: dict[int, Played]) -> list[object]:
    return [(number, each.moves, each.winner) for number, each in sorted(matches.items())]


def test_a_pair_is_one_opening_with_the_sides_exchanged() -> None:
    matches = played(setting("brain:random", "brain:greedy", plies=4), 8)
    for number, each in matches.items():
        assert each.players == (("a", "b") if number % 2 else ("b", "a"))
        assert each.opening == 4
        assert each.times[:4] == [0.0] * 4, "an opening costs nobody any time"
        assert len(each.times) == len(each.moves)
    openings = [tuple(matches[number].moves[:4]) for number in range(1, 9)]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) == 4


def test_house_brains_play_the_same_matches_however_many_are_played_at_a_time() -> None:
    one = played(setting("brain:random", "brain:greedy", plies=2, seed=3), 12)
    assert untimed(played(setting("brain:random", "brain:greedy", plies=2, seed=3), 12, 5)) == untimed(one)
    assert untimed(played(setting("brain:random", "brain:greedy", plies=2, seed=4), 12)) != untimed(one)


def test_more_places_than_the_machine_can_count_are_as_many_as_there_are_matches() -> None:
    with closing(series(setting("brain:first", "brain:first"), (1, 2), sys.maxsize + 1)) as results:
        assert {each.match for each in results} == {1, 2}


def test_only_the_matches_that_are_asked_for_are_played_as_they_would_have_been() -> None:
    conditions = setting("brain:random", "brain:random", plies=2)
    every = played(conditions, 8)
    some = {each.match: each for each in series(conditions, [3, 6, 7], 2)}
    assert untimed(some) == untimed({number: every[number] for number in (3, 6, 7)})


def test_a_program_knows_the_moves_of_the_opening(tmp_path: Path) -> None:
    source = """import json, sys
for line in sys.stdin:
    turn = json.loads(line)
    discs = sum(1 for field in turn["state"] if field)
    assert discs == len(turn["moves"]) == turn["ply"], (discs, turn["moves"])
    print(next(column for column in range(7) if turn["state"][column * 6 + 5] == 0), flush=True)
"""
    knowing = program(tmp_path, "knowing", source)
    for each in played(setting(knowing, "brain:first", plies=5), 4).values():
        assert each.ending is Ending.PLAYED, each.why


@pytest.mark.slow
def test_a_program_that_reads_nothing_costs_its_clock_and_no_more(tmp_path: Path) -> None:
    matches = played(setting("brain:first", program(tmp_path, "deaf", DEAF), SHORT), 4, 2)
    assert [each.ending for each in matches.values()] == [Ending.TIME] * 4
    assert all(each.players[each.winner or 0] == "a" for each in matches.values())


def test_a_question_longer_than_a_pipe_that_nobody_reads_is_given_up_in_time(tmp_path: Path) -> None:
    deaf = Program(program(tmp_path, "deaf", DEAF), quiet=True)
    with pytest.raises(TimeoutError):
        deaf.ask({"state": "x" * 300_000}, 0.1)
    deaf.kill()
    deaf.end()


def test_a_program_that_writes_without_end_is_ended_and_fills_no_memory(tmp_path: Path) -> None:
    flooding = Program(program(tmp_path, "flooding", FLOODING), quiet=True)
    wait_for(lambda: flooding.gone, "the end of the program")
    with pytest.raises(Gone, match=f"wrote more than {MOST} lines that nobody had asked for"):
        flooding.ask({}, HANG)
    flooding.end()


@pytest.mark.parametrize("plies", [0, 5])
def test_how_a_program_ended_is_said(plies: int, tmp_path: Path) -> None:
    for each in played(setting(command(tmp_path, "crashing"), "brain:first", plies=plies), 2).values():
        assert each.ending is Ending.LEFT
        assert "ended with exit code 1; its last words: no idea" in each.why


def test_whoever_stops_taking_results_leaves_no_program_behind(tmp_path: Path) -> None:
    """One match is over, in two others somebody is thinking and will not stop."""
    who = tmp_path / "processes"
    moody = program(tmp_path, "moody", MOODY.replace("WHO", str(who)))
    with closing(series(setting(moody, "brain:first"), range(1, 1000), 3)) as results:
        assert next(results).match == 1
        wait_for(lambda: len(who.read_text().split()) == 3, "the start of all programs")
    processes = [int(line) for line in who.read_text().split()]
    wait_for(lambda: not any(is_alive(process) for process in processes), "the end of all programs")


@pytest.mark.parametrize("commands", [("brain:first", "./is-not-there"), ("./is-not-there", "brain:first")])
def test_a_program_that_cannot_be_started_is_said(commands: tuple[str, str]) -> None:
    with pytest.raises(Failure, match="cannot be started"):
        played(setting(*commands), 4, 2)


def test_a_program_that_vanishes_in_the_middle_is_said(tmp_path: Path) -> None:
    script = tmp_path / "once"
    script.write_text(f"#!{sys.executable}\nimport os\nos.unlink(__file__)\n")
    script.chmod(0o755)
    with pytest.raises(Failure, match="cannot be started"):
        played(setting(str(script), "brain:first"), 4)


def test_matches_are_numbered_from_one_and_two_make_a_pair() -> None:
    assert [pair_of(number) for number in range(1, 7)] == [0, 0, 1, 1, 2, 2]


class Impatient:
    """A contestant that never moves. Whenever one is stopped, somebody presses Ctrl-C again."""

    def __init__(self) -> None:
        self.endings = ["it was stopped"]
        self._stopped = Event()
        self.ended = False

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        self._stopped.wait(HANG)
        raise Gone(self.endings[-1])

    def stop(self) -> None:
        self._stopped.set()
        os.kill(os.getpid(), signal.SIGINT)

    def end(self) -> None:
        self.ended = True


def test_however_often_somebody_presses_ctrl_c_no_program_is_left_behind() -> None:
    hired: list[Impatient] = []

    class Hiring(Setting, frozen=True, kw_only=True):
        def contestants(self, now: Now) -> tuple[Contestant, Contestant]:
            hired.extend((Impatient(), Impatient()))
            if len(hired) == 8:
                os.kill(os.getpid(), signal.SIGINT)
            return hired[-2], hired[-1]

    conditions = Hiring(**structs.asdict(setting("a", "b")))
    with (
        signals_as_before(),
        pytest.raises(KeyboardInterrupt),
        Interrupts(),
        closing(series(conditions, range(1, 9), 4)) as results,
    ):
        next(results)
    assert [each.ended for each in hired] == [True] * 8
