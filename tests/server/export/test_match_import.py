"""A match that was read back is judged by the rules, its clocks and its ending."""

import re
from pathlib import Path

import pytest
from msgspec import structs

from games.catalogue import catalogue
from server.commands.import_match import import_match
from server.exits import DONE, FAILED
from server.export.match_import import checked
from server.export.match_text import read, text
from tests.server.export.test_match_text import played, record


def test_what_does_not_follow_from_the_moves_is_found() -> None:
    game = catalogue()["tic-tac-toe"]
    written = text(record(game), played(game))
    turned = re.sub(r"player \d has won", "nobody has won", written)
    slow = re.sub(r"0\.\d{6} s", "9999.000000 s", written, count=1)
    for spoilt in (turned, slow):
        _, findings = checked(read(spoilt))
        assert findings


def test_a_format_that_is_not_there_is_a_finding() -> None:
    game = catalogue()["tic-tac-toe"]
    _, findings = checked(read(text(record(game), played(game)).replace("round-robin", "swindle")))
    assert findings == ["there is no format swindle"]


def test_what_cannot_be_played_again_is_told_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, file = catalogue()["tic-tac-toe"], tmp_path / "cup-1.txt"
    written = text(record(game), played(game))
    for spoilt in (
        written.replace("round-robin", "swindle"),
        re.sub(r"0\.\d{6} s", "9999.000000 s", written),
    ):
        file.write_text(spoilt)
        assert import_match(str(file)) == FAILED
        assert "it does not follow: " in capsys.readouterr().out


def test_a_text_may_have_passed_through_an_editor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches "expected 'quintain match 1' as the first line" of a file that began with it."""
    game, file = catalogue()["tic-tac-toe"], tmp_path / "cup-1.txt"
    written = text(record(game), played(game))
    file.write_bytes(b"\xef\xbb\xbf" + written.replace("\n", "\r\n").encode())
    assert import_match(str(file)) == DONE
    assert "cup-1: ann" in capsys.readouterr().out


def test_no_word_of_a_text_looks_like_another_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a text from a stranger whose match was named by a result and a line break."""
    forged = "\nA win: everything follows."
    game, file = catalogue()["tic-tac-toe"], tmp_path / "cup-1.txt"
    names = (f"ann{forged}", f"bob{forged}")
    match = structs.replace(played(game, names), match=f"cup-1{forged}", why=f"so{forged}")
    file.write_text(text(record(game, names), match))
    import_match(str(file))
    printed = capsys.readouterr().out
    assert "A win: everything follows." in printed
    assert not [line for line in printed.splitlines() if line.startswith("A win")]
