"""Programs that are bots, and what they are put through before they play for points."""

import json
import os
import signal
import sys
import threading
import time
from math import inf
from pathlib import Path
from typing import Any

import pytest

from games.catalogue import catalogue
from games.game import Pace
from server.exits import Failure
from server.net.limits import Limits
from server.programs.contestant import Hired, House, thinking
from server.programs.local_match import local_match, question
from server.programs.program import BEGINNING, LONGEST, Gone, Program, move_in
from server.programs.trials import TRIALS, Broke, Ground
from tests.hang import HANG, is_alive
from tests.server.example_programs import command
from tournament.events import Ending
from tournament.match import Match

pytestmark = pytest.mark.slow

CONNECT4 = catalogue()["connect-4"]
SOONEST = ("tic-tac-toe", "hexagon-dots")  # of which moves have little in common
QUICK = 0.4  # seconds to wait for an answer of programs that never give one
HOUSE = """
import json, sys
sys.path.insert(0, ROOT)
from games.brains import random
from games.catalogue import catalogue
from server.programs.contestant import thinking
game = catalogue()[GAME]
choose = thinking(game, random(game), 0)
for line in sys.stdin:
    print(json.dumps(choose(json.loads(line))), flush=True)
"""
BROKEN = {  # by which program breaks it, a trial and a word of the sentence
    "illegal": ("plays whole games by the rules", "there is no column 9"),
    "mute": ("plays whole games by the rules", "nothing came within"),
    "unflushed": ("plays whole games by the rules", "flush"),
    "chatty": ("speaks only when it is asked", "'done'"),
    "crashing": ("plays whole games by the rules", "exit code 1; its last words: no idea"),
    "strict": ("ignores what it does not know", "what is this?"),
    "stubborn": ("ends when its input ends", "it goes on"),
}


def test_a_program_is_ended_also_if_an_interrupt_comes_while_it_is(tmp_path: Path) -> None:
    """It sends the interrupt itself, when its input ends, and goes on."""
    running = tmp_path / "running"
    program = Program(f"sh -c 'echo $$ > {running}; cat > /dev/null; kill -INT $PPID; exec sleep 600'")
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            program.end()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert not is_alive(int(running.read_text()))


@pytest.mark.parametrize("trial", TRIALS)
def test_a_good_program_passes_every_trial(trial: str, tmp_path: Path) -> None:
    TRIALS[trial](Ground(command(tmp_path, "good"), CONNECT4, 10.0))


@pytest.mark.parametrize("name", BROKEN)
def test_each_fault_is_found_and_told_in_a_sentence(name: str, tmp_path: Path) -> None:
    trial, words = BROKEN[name]
    timeout = QUICK if name in ("mute", "unflushed") else 10.0
    with pytest.raises(Broke) as broke:
        TRIALS[trial](Ground(command(tmp_path, name), CONNECT4, timeout))
    assert words in str(broke.value)


@pytest.mark.parametrize(
    "game",
    [pytest.param(game, marks=() if game in SOONEST else pytest.mark.campaign) for game in catalogue()],
)
def test_the_trials_know_every_game(game: str, tmp_path: Path) -> None:
    """A house brain as the program: whatever the game, nothing breaks. Below every one finds its position."""
    path = tmp_path / "house.py"
    path.write_text(HOUSE.replace("GAME", repr(game)).replace("ROOT", repr(str(Path(__file__).parents[3]))))
    ground = Ground(f"{sys.executable} {path}", catalogue()[game], 20.0)
    for name in ("plays either seat", "begins again when an opponent has left"):
        TRIALS[name](ground)


def test_whoever_is_too_slow_loses_by_the_clock_and_whoever_ends_has_left(tmp_path: Path) -> None:
    house = House(CONNECT4, "first", 0.0, 0)
    pace = Pace(turn=QUICK)
    for name, ending in (("mute", Ending.TIME), ("crashing", Ending.LEFT), ("illegal", Ending.ILLEGAL)):
        hired = Hired(command(tmp_path, name))
        long = Pace(turn=20.0)
        match = local_match(CONNECT4, "m", ("a", "b"), (hired, house), pace if name == "mute" else long)
        assert match.result is not None
        assert (match.result.ending, match.result.winner) == (ending, 1)
        again = local_match(CONNECT4, "n", ("b", "a"), (house, hired), pace if name == "mute" else long)
        assert again.result is not None
        assert (again.result.ending, again.result.winner) == (ending, 0)
        hired.end()


def test_a_program_that_has_written_nothing_yet_is_told_how_its_moves_are_read(tmp_path: Path) -> None:
    """Catches an author who looks for what takes so long, while the moves wait to be flushed."""
    asked = question(Match(CONNECT4, ("a", "b"), 0.0, name="m"))
    (tmp_path / "hangs.py").write_text("input()\nprint(3, flush=True)\ninput()\ninput()\n")
    for program, answers in (
        (Program(command(tmp_path, "unflushed"), quiet=True), 0),
        (Program(f"{sys.executable} {tmp_path / 'hangs.py'}", quiet=True), 1),
    ):
        for _ in range(answers):
            assert program.ask(asked, HANG) == 3
        with pytest.raises(TimeoutError, match="did not answer in 0") as late:
            program.ask(asked, 0.0)
        program.end()
        assert ("its output has to be flushed" in str(late.value)) == (not answers)


def test_time_in_which_the_clock_stands_still_is_not_the_programs(tmp_path: Path) -> None:
    """To start and to answer takes it longer than it has, but none of that is counted."""
    standing = Program(command(tmp_path, "good"), quiet=True, now=lambda: 0.0)
    match = Match(CONNECT4, ("a", "b"), 0.0, name="m")
    assert standing.ask(question(match), 0.001) in range(7)
    standing.end()


def test_an_illegal_move_is_repeated_as_it_was_written(tmp_path: Path) -> None:
    """Catches Python's way of writing values, which looks as if the program had written it."""
    (tmp_path / "echo.py").write_text("for line in open(0): print(line.strip(), flush=True)\n")
    with pytest.raises(Broke) as broke:
        TRIALS["plays either seat"](Ground(f"{sys.executable} {tmp_path / 'echo.py'}", CONNECT4, 20.0))
    assert 'its move {"type":"turn"' in str(broke.value)
    assert '"last":null' in str(broke.value)


def test_a_refused_move_is_asked_for_again_with_the_reason(tmp_path: Path) -> None:
    source = (
        "import json, sys\nfor line in sys.stdin:\n    print(3 if 'refused' in line else 9, flush=True)\n"
    )
    (tmp_path / "careless.py").write_text(source)
    hired = Hired(f"{sys.executable} {tmp_path / 'careless.py'}")
    match = local_match(CONNECT4, "m", ("a", "b"), (hired, House(CONNECT4, "first", 0.0, 0)))
    hired.end()
    assert match.moves[0] == 3


@pytest.mark.parametrize(
    ("line", "move"),
    [
        (b"3\n", 3),
        (b" SE \r\n", "SE"),
        (b'{"action":"move","position":"e2"}\n', {"action": "move", "position": "e2"}),
        (b'{"type":"move","ply":3,"move":[1,2]}\n', [1, 2]),
        (b"0,0 0,1\n", "0,0 0,1"),
        (b"NaN\n", "NaN"),
        (b"\xff\n", "\ufffd"),
        (b"[" * 9000, "[" * BEGINNING),
        (json.dumps([*range(700)]).encode(), [*range(700)]),  # of a game with long moves
    ],
)
def test_a_line_is_a_move_in_any_of_its_forms(line: bytes, move: object) -> None:
    assert move_in(line) == move


@pytest.mark.parametrize(
    "line",
    [
        "x" * LONGEST,
        "[" * LONGEST,
        "🎲" * 16_000,
        "9" * 4000,
        json.dumps(["\x00" * 9000]),
        *(
            json.dumps({"type": "move", "move": move})
            for move in ("x" * 9000, ["🎲"] * 9000, {"x": "é" * 999})
        ),
    ],
)
def test_no_move_is_so_long_that_a_host_hangs_up_over_it(line: str) -> None:
    """Catches a bot that was cut off for its answer, came back, and gave it again, until its time was up."""
    message = {"type": "move", "match": "m" * 64, "ply": 10**9, "move": move_in(line.encode())}
    assert len(json.dumps(message)) < Limits().json_line_bytes


def test_a_program_that_has_gone_says_how(tmp_path: Path) -> None:
    match = Match(CONNECT4, ("a", "b"), time.monotonic())
    for source, how in (
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 1)", "ended by signal 35"),
        ("import os, time; os.close(1); time.sleep(30)", "closed its standard output"),
    ):
        (tmp_path / "gone.py").write_text(source)
        program = Program(f"{sys.executable} {tmp_path / 'gone.py'}", quiet=True)
        with pytest.raises(Gone, match=how):
            program.ask(question(match), 20.0)
        program.end()


def test_the_last_words_of_a_program_are_a_few_however_much_it_has_written(tmp_path: Path) -> None:
    """Catches megabytes on a terminal, of a program that writes no end of a line."""
    (tmp_path / "loud.py").write_text("import sys; sys.stderr.write('x' * 300_000); sys.exit('no idea')")
    program = Program(f"{sys.executable} {tmp_path / 'loud.py'}", quiet=True)
    with pytest.raises(Gone) as gone:
        program.ask(question(Match(CONNECT4, ("a", "b"), time.monotonic())), HANG)
    program.end()
    assert "ended with exit code 1; its last words: xxx" in str(gone.value)
    assert len(str(gone.value)) < 1500


@pytest.mark.parametrize("crashes", [True, False])
def test_a_process_that_outlives_a_program_holds_nobody_up(crashes: bool, tmp_path: Path) -> None:
    """It has a session of its own, and both pipes of the program, from which nothing more comes."""
    running = tmp_path / "running"
    sleep = f"import time; time.sleep({HANG})"
    (tmp_path / "forks.py").write_text(
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {sleep!r}], start_new_session=True)\n"
        f"open({str(running)!r}, 'w').write(str(child.pid))\n"
        f"if {crashes}: sys.exit('no idea')\n"
        "for line in sys.stdin: print(3, flush=True)\n"
    )
    program = Program(f"{sys.executable} {tmp_path / 'forks.py'}", quiet=True)
    asked = question(Match(CONNECT4, ("a", "b"), time.monotonic()))
    if crashes:
        with pytest.raises(Gone, match="ended with exit code 1; its last words: no idea"):
            program.ask(asked, HANG)
    else:
        assert program.ask(asked, HANG) == 3
    program.end()
    child = int(running.read_text())
    assert is_alive(child)
    os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize(("words", "why"), [("'", "No closing"), ("", "empty"), ("./not-there", "cannot be")])
def test_what_cannot_be_started_is_said(words: str, why: str) -> None:
    with pytest.raises(Failure, match=why):
        Program(words)


@pytest.mark.parametrize("line", ["#!/no/such/interpreter", "#!/bin/sh\r"])
def test_a_missing_interpreter_is_told_from_a_missing_program(line: str, tmp_path: Path) -> None:
    """The second one is how a script begins that was written with the ends of lines of another system."""
    script = tmp_path / "bot.sh"
    script.write_text(f"{line}\necho 3\n", newline="")
    script.chmod(0o755)
    with pytest.raises(Failure, match=r"its first line, .*, names a program that is not here"):
        Program(str(script))


def test_a_house_brain_that_is_stopped_thinks_no_further() -> None:
    """Catches `quintain match`, which ended after Ctrl-C only when its brains had thought to the end."""
    begun, over = threading.Event(), threading.Event()

    class Asked(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            if key == "clock":  # which is looked at when thinking begins
                begun.set()
            return super().__getitem__(key)

    house = House(CONNECT4, "alphabeta", inf, 0)
    asked = Asked(question(Match(CONNECT4, ("a", "b"), 0.0, name="m", pace=Pace())))

    def ask() -> None:
        house.ask(asked)
        over.set()

    threading.Thread(target=ask, daemon=True).start()
    assert begun.wait(HANG)
    house.stop()
    assert over.wait(HANG)
    with pytest.raises(Gone):
        house.ask(asked)


@pytest.mark.parametrize("name", catalogue())
def test_a_brain_finds_its_position_whatever_it_is_asked_next(name: str) -> None:
    """Going on, another match, the same question again, and one from the middle: always a legal move."""
    game = catalogue()[name]
    choose = thinking(game, lambda position, stop: next(iter(position.moves())), 0.0)
    for number in range(2):
        match = Match(game, ("a", "b"), 0.0, name=f"m{number}", pace=Pace())
        while match.to_move is not None and match.ply < 8:
            asked, first = question(match), game.write(next(iter(match.position.moves())))
            if match.ply % 3 != 1:  # else it is the other one's turn
                assert choose(asked) == choose(asked) == first
            match.play(match.position.turn, first, 0.0)


@pytest.mark.parametrize("name", catalogue())
def test_a_brain_plays_on_from_other_moves_where_a_restart_has_taken_some_back(name: str) -> None:
    """Catches a move for the position before, which is illegal, and is made again whenever it is refused."""
    game = catalogue()[name]
    choose = thinking(game, lambda position, stop: next(iter(position.moves())), 0.0)
    for number in range(2):
        match = Match(game, ("a", "b"), 0.0, name="m", pace=Pace())
        for _ in range(2):
            move = [*match.position.moves()][-number]
            match.play(match.position.turn, game.write(move), 0.0)
        assert choose(question(match)) == game.write(next(iter(match.position.moves())))
