"""What a program says on standard error is kept in one file for each match, in one folder, within bounds."""

from pathlib import Path

import pytest

from server.programs.match_logs import BEFORE, CUT, LARGEST, MatchLogs


def test_each_match_has_a_file_of_what_the_program_said(tmp_path: Path) -> None:
    logs = MatchLogs(tmp_path / "new/bot-logs")
    logs.take(b"good morning\n")
    for match, line in (("cup-1", b"a\n"), ("cup-2", b"b\n"), ("cup-2", b"c\n"), ("cup-1", b"d\n")):
        logs.begin(match)
        logs.take(line)
    logs.begin("cup-3")
    logs.close()
    kept = {file.name: file.read_bytes() for file in (tmp_path / "new/bot-logs").iterdir()}
    assert kept == {f"{BEFORE}.log": b"good morning\n", "cup-1.log": b"a\nd\n", "cup-2.log": b"b\nc\n"}


@pytest.mark.parametrize("match", ["../../etc/passwd", "/etc/passwd", "..", "", "a\x00b", "ä" * 4000])
def test_whatever_a_host_calls_a_match_its_file_is_in_the_folder(match: str, tmp_path: Path) -> None:
    logs = MatchLogs(tmp_path)
    logs.begin(match)
    logs.take(b"x\n")
    logs.close()
    (kept,) = tmp_path.rglob("*")
    assert (kept.parent, kept.read_bytes()) == (tmp_path, b"x\n")


def test_a_program_that_prints_in_a_loop_does_not_fill_the_disk(tmp_path: Path) -> None:
    logs = MatchLogs(tmp_path)
    logs.begin("cup-1")
    for _ in range(30):
        logs.take(b"x" * (LARGEST // 20))
    assert LARGEST // 2 < (tmp_path / "cup-1.log").stat().st_size <= LARGEST + len(CUT)
    assert (tmp_path / "cup-1.log").read_bytes().partition(CUT)[1:] == (CUT, b"")
    logs.begin("cup-2")
    logs.take(b"there is room again\n")
    logs.close()
    assert (tmp_path / "cup-2.log").read_bytes() == b"there is room again\n"
