"""A program that is started again in the middle of a match goes on with it, and not for ever."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from server.programs.program import Gone, Program
from server.programs.restarting import Restarting
from tests.hang import HANG

ANSWERS = """import json, sys
for line in sys.stdin:
    turn = json.loads(line)
    print(f"thinking about {turn['match']}", file=sys.stderr, flush=True)
    if {crashes}:
        sys.exit('no idea')
    print(len(turn['moves']), flush=True)
"""
EACH_TIME = "turn['match'] == 'cup-1'"
ONCE = f"not open('started', 'a+').tell() and not print('x', file=open('started', 'a')) and {EACH_TIME}"

HANGS = "__import__('time').sleep(1e6)"


def question(match: str, *moves: int) -> dict[str, Any]:
    return {"type": "turn", "match": match, "ply": len(moves), "moves": moves}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Callable[[], Program]]:
    """Starts one that crashes if so."""
    monkeypatch.chdir(tmp_path)

    def written(crashes: str) -> Callable[[], Program]:
        Path("bot.py").write_text(ANSWERS.replace("{crashes}", crashes))
        return lambda: Program(f"{sys.executable} bot.py", quiet=True)

    return written


Write = Callable[[str], Callable[[], Program]]


@pytest.mark.slow
def test_a_program_that_crashes_is_asked_again_with_all_the_moves(program: Write) -> None:
    told: list[str] = []
    bot = Restarting(program(ONCE), told.append, HANG)
    assert bot.ask(question("cup-1", 3, 3), HANG) == 2
    assert bot.ask(question("cup-1", 3, 3, 4, 4), HANG) == 4
    assert bot.end()
    (sentence,) = told
    assert "ended with exit code 1; its last words: thinking about cup-1 / no idea" in sentence
    assert sentence.endswith(": it is started again, restart 1 of 5 in this match")


@pytest.mark.slow
def test_a_program_that_crashes_each_time_is_given_up_and_has_a_new_chance_in_the_next_match(
    program: Write,
) -> None:
    told: list[str] = []
    bot = Restarting(program(EACH_TIME), told.append, HANG, most=2)
    for _ in range(2):
        with pytest.raises(Gone, match="exit code 1"):
            bot.ask(question("cup-1"), HANG)
        assert [line.partition("restart ")[2][:6] for line in told] == ["1 of 2", "2 of 2"]
    assert bot.ask(question("cup-2", 1), HANG) == 1, "that was the last of them, and had ended"
    bot.end()
    assert told[2].endswith("restart 1 of 2 in this match")


@pytest.mark.slow
def test_a_program_that_does_not_answer_is_started_again_and_has_time_for_it(program: Write) -> None:
    told: list[str] = []
    bot = Restarting(program(ONCE.replace(EACH_TIME, HANGS)), told.append, slack=HANG)
    assert bot.ask(question("cup-1", 3), 0.2) == 1
    bot.end()
    assert "did not answer in 0.2 s, and has written nothing yet: a move is one line" in told[0]
