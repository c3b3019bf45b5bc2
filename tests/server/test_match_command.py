"""`quintain match`, as somebody at a keyboard or a script runs it: with real programs, and interrupted."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cyclopts import CycloptsError

from server.__main__ import command_line
from server.commands.match import sprt_of
from server.exits import Misuse
from tests.hang import wait_for
from tests.server.example_programs import command
from tests.server.forked import Forked
from tests.server.run import quintain
from tests.server.served import ROOT
from tournament.sprt import Sprt

pytestmark = pytest.mark.slow

Told = Callable[..., dict[str, Any]]

CONNECT4 = ("--game", "connect-4")
SLOWISH = """import json, sys, time
for line in sys.stdin:
    turn = json.loads(line)
    time.sleep(0.005)
    print(next(column for column in range(7) if turn["state"][column * 6 + 5] == 0), flush=True)
"""
SHELL = """while read -r line; do
    ply=${line#*'"ply":'}
    echo $((${ply%%,*} % 7))
done
"""

STOPPING = """if mkdir STOPPED 2> /dev/null; then
    read -r line
    kill -STOP $PPID
    echo 0
    sleep 4
    kill -CONT $PPID
fi
"""


def command_match(*words: str) -> int:
    """In this process, which is quicker than in one of its own."""
    line = ("match", *words)
    return command_line(line)(line, exit_on_error=False, print_error=False, result_action="return_value")


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    def ask(*words: str) -> dict[str, Any]:
        assert command_match(*words, "--json") == 0
        out, errors = capsys.readouterr()
        assert errors == ""
        return json.loads(out)

    return ask


def test_two_that_leave_nothing_to_chance_are_told_of_and_openings_help(told: Told) -> None:
    words = ("brain:first", "brain:first", *CONNECT4, "--games", "12")
    plain = told(*words)
    assert (plain["games"], plain["pairs"], plain["repeats"]) == (12, [0, 0, 6, 0, 0], 5)
    assert plain["interval"][0] < -100 < plain["elo"] < 100 < plain["interval"][1]
    assert told(*words, "--plies", "4")["repeats"] == 0


def test_while_the_command_is_stopped_nobodys_clock_runs(tmp_path: Path) -> None:
    """A program stops it, as Ctrl-Z does, answers at once, and lets it go on when its time would be over."""
    (tmp_path / "bot.sh").write_text(STOPPING.replace("STOPPED", str(tmp_path / "match")) + SHELL)
    words = (f"sh {tmp_path / 'bot.sh'}", "brain:first", *CONNECT4, "--games", "1", "--turn", "3")
    code, out, errors = quintain("match", *words, "--json")
    assert (code, errors) == (0, "")
    assert json.loads(out)["results"][0]["moves"][0] == 0
    (tmp_path / "bot.sh").write_text(STOPPING.replace("STOPPED", str(tmp_path / "check")) + SHELL)
    _, out, errors = quintain("check", f"sh {tmp_path / 'bot.sh'}", *CONNECT4, "--timeout", "3", "--json")
    assert errors == ""
    assert (tmp_path / "check").exists()
    assert "nothing came within" not in out


def test_programs_in_any_language_play_pairs_from_one_opening(told: Told, tmp_path: Path) -> None:
    (tmp_path / "openings").write_text("3 3 2\n# the edge\n0 6\n")
    (tmp_path / "bot.sh").write_text(SHELL)
    words = (
        command(tmp_path, "good"),
        f"sh {tmp_path / 'bot.sh'}",
        *CONNECT4,
        "--openings",
        str(tmp_path / "openings"),
    )
    found = told(*words, "--games", "6", "--concurrency", "2", "--bank", "60", "--gain", "1")
    assert [each["match"] for each in found["results"]] == [1, 2, 3, 4, 5, 6]
    begun = [each["moves"][:2] for each in found["results"]]
    assert begun == [[3, 3], [3, 3], [0, 6], [0, 6], [3, 3], [3, 3]]
    first, second = found["results"][0]["players"]
    assert [each["players"] for each in found["results"]] == [[first, second], [second, first]] * 3
    assert sum(found["pairs"]) == 3
    assert found["repeats"] == 1, "the third pair begins as the first one did"


def test_a_program_that_crashes_is_told_of_in_harmless_words(tmp_path: Path) -> None:
    code, out, _ = quintain("match", command(tmp_path, "crashing"), "brain:first", *CONNECT4, "--games", "2")
    assert code == 0
    assert "lost 2 by ending in the middle" in out
    assert "no idea \\x1b[31m" in out
    assert "\x1b" not in out


def test_a_program_that_hangs_costs_its_clock(told: Told, tmp_path: Path) -> None:
    found = told("brain:first", command(tmp_path, "mute"), *CONNECT4, "--games", "4", "--turn", "0.3")
    assert [each["ending"] for each in found["results"]] == ["time"] * 4
    assert found["wins"] == 4


def test_a_test_stops_as_soon_as_it_is_decided(told: Told) -> None:
    words = ("brain:greedy", "brain:random", *CONNECT4, "--plies", "4", "--concurrency", "3")
    found = told(*words, "--sprt", "elo0=0,elo1=60", "--games", "1000")
    test = found["sprt"]
    assert (test["state"], test["elo0"], test["elo1"]) == ("H1", 0, 60)
    assert test["llr"] >= test["upper"] == pytest.approx(2.944439)
    assert found["games"] < 100
    assert test["llr"] == pytest.approx(Sprt(elo0=0, elo1=60).ratio(found["pairs"]), abs=1e-6)


def test_what_was_saved_goes_on_as_if_nothing_had_happened(told: Told, tmp_path: Path) -> None:
    words = ("brain:random", "brain:greedy", *CONNECT4, "--plies", "3", "--seed", "5", "--think", "0")
    whole = told(*words, "--games", "9")
    path = tmp_path / "series.jsonl"
    told(*words, "--games", "4", "--save", str(path))
    with path.open("ab") as file:
        file.write(b'{"type":"match","match":5,"pla')  # whoever wrote that was killed
    assert told(*words[:4], "--resume", str(path), "--games", "9") == whole
    assert told(*words[:4], "--resume", str(path)) == whole | {"games": 9}, "there is nothing left to play"
    path.write_bytes(path.read_bytes()[:-10])  # whoever was to play nine was killed before the end
    assert told(*words[:4], "--resume", str(path)) == whole
    with pytest.raises(Misuse, match="--resume"):  # what is there is not overwritten
        command_match(*words, "--save", str(path))
    with pytest.raises(Misuse, match="expected the seed that it was saved with, 5, and got 6"):
        command_match(*words[:4], "--resume", str(path), "--seed", "6")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_stops_it_what_is_known_is_kept(how: signal.Signals, tmp_path: Path) -> None:
    """By Ctrl-C it is printed as well. What goes on afterwards plays each match once."""
    (tmp_path / "slowish.py").write_text(SLOWISH)
    path, slowish = tmp_path / "series.jsonl", f"{sys.executable} {tmp_path / 'slowish.py'}"
    words = ("match", slowish, "brain:random", *CONNECT4, "--plies", "2")
    more = ("--games", "5000", "--save", str(path), "--json", "--concurrency", "2")
    process = Forked((*words, *more), ROOT, os.environ)
    try:
        wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") > 5, "five matches")
        process.send_signal(how)
        out, errors = process.communicate()
    finally:
        process.kill()
    kept = [json.loads(line) for line in path.read_text().splitlines()[1:] if line.endswith("}")]
    if how is not signal.SIGKILL:
        assert (process.returncode, errors) == (130, "")
        found = json.loads(out)
        assert found["games"] == len(kept) == len(found["results"])
        assert found["wins"] + found["draws"] + found["losses"] == found["games"]
    games = max(each["match"] for each in kept) + 2
    code, out, errors = quintain(*words, "--resume", str(path), "--games", str(games), "--json")
    assert (code, errors) == (0, "")
    results = json.loads(out)["results"]
    assert [each["match"] for each in results] == [*range(1, games + 1)]
    for each in kept:
        assert results[each["match"] - 1]["moves"] == each["moves"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--sprt", "elo0=10,elo1=0"), "--sprt: elo0 has to be less than elo1"),
        (("--plies", "2", "--openings", "file"), "expected --plies or --openings, and got both"),
        (("--openings", "is-not-there"), "is-not-there: cannot be read"),
        (("--plies", "60"), "60 plies are too many"),
        (("--gain", "1"), "--gain adds to a bank: expected --bank as well"),
        (("--bank", "inf"), "expected a number of seconds for --bank"),
        (("--resume", "is-not-there"), "is-not-there: cannot be read"),
        (("--save", ""), "--save: expected the name of a file"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(Misuse) as refused:
        command_match("brain:first", "brain:first", "--game", "tic-tac-toe", *words)
    assert str(refused.value).startswith(why)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "words",
    [("--concurrency", "0"), ("--games", "0"), ("--plies", "-1"), ("--turn", "-1"), ("--turn", "nan")],
)
def test_a_figure_out_of_range_is_said_with_its_flag(words: tuple[str, str]) -> None:
    with pytest.raises(CycloptsError, match=words[0]):
        command_match("brain:first", "brain:first", *CONNECT4, *words)


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
@pytest.mark.parametrize("flag", ["--turn", "--bank"])
def test_whatever_is_no_time_is_refused_for_the_same_reason(flag: str, seconds: str) -> None:
    code, out, errors = quintain("match", "brain:first", "brain:first", *CONNECT4, flag, seconds)
    assert (code, out) == (2, "")
    assert errors == f'quintain: Invalid value "{float(seconds)}" for {flag}: expected more than 0\n'


def test_the_command_ends_with_the_code_for_wrong_usage_and_one_line() -> None:
    code, out, errors = quintain("match", "brain:first", "brain:first", *CONNECT4, "--sprt", "elo0=5,elo1=0")
    assert (code, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("quintain: --sprt: elo0 has to be less than elo1")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected each setting once"),
        ("elo0=0,elo1", 'expected each setting once, as elo0=0,elo1=10, and got "elo1"'),
        ("elo0=0,elo0=1,elo1=5", 'and got "elo0=1"'),
        ("elo0=0", "elo1 is missing"),
        ("elo0=0,elo1=many", 'expected a number for elo1, and got "many"'),
        ("elo_0=0,elo_1=5", 'there is no setting "elo_0"; there are: elo0, elo1, alpha, beta, model'),
        ("elo0=0,elo1=5,gamma=1", 'there is no setting "gamma"; there are: elo0, elo1, alpha, beta, model'),
        ("elo0=0,elo1=5,model=bayesian", 'no model "bayesian"; there are: normalized, logistic'),
        ("elo0=5,elo1=5", "elo0 has to be less than elo1"),
        ("elo0=0,elo1=5,alpha=1", "alpha has to lie between 0 and 1"),
        ("elo0=0,elo1=5,beta=-0.1", "beta has to lie between 0 and 1"),
        ("elo0=0,elo1=5,alpha=.5,beta=.5", "alpha and beta have to add up to less than 1"),
        ("elo0=0,elo1=1e9", "elo1 has to lie between -200 and 200"),
    ],
)
def test_a_test_that_cannot_be_read_or_had_is_refused(text: str, why: str) -> None:
    with pytest.raises(Misuse) as refused:
        sprt_of(text)
    assert str(refused.value).startswith("--sprt: ")
    assert why in str(refused.value)


def test_a_test_is_read_as_it_is_written() -> None:
    assert sprt_of("elo0=-1.75,elo1=.25") == Sprt(elo0=-1.75, elo1=0.25)
    everything = Sprt(elo0=0, elo1=5, alpha=0.01, beta=0.1, model="logistic")
    assert sprt_of("elo0=0, elo1=5, alpha=0.01, beta=0.1, model=logistic") == everything
