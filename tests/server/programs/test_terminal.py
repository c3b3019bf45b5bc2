"""What is for a terminal only: bars and colours, as wide as it is."""

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stderr
from io import BytesIO, StringIO
from pathlib import Path

import pytest

from server.exits import Failure
from server.programs.terminal import expect_consent, progress, share, size_of


class Screen:
    """A terminal of so many columns, and what was written to it."""

    def __init__(self, outer: int, inner: int) -> None:
        self._outer = outer
        self.stderr = os.fdopen(inner, "w", buffering=1)

        self.stdin = os.fdopen(os.dup(inner))

    def written(self) -> str:
        self.stderr.write("END")
        self.stderr.flush()
        seen = b""
        while not seen.endswith(b"END"):
            seen += os.read(self._outer, 65536)
        return seen.decode()

    def type(self, line: str) -> None:
        os.write(self._outer, line.encode())


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    outer, inner = pty.openpty()
    there = Screen(outer, inner)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    yield there
    there.stderr.close()
    there.stdin.close()
    os.close(outer)


def play(screen: Screen, words: str) -> None:
    with redirect_stderr(screen.stderr), progress("alphabeta – greedy", 2) as step:
        step(words)
        step(words)


@pytest.mark.parametrize("columns", ["100", "40", "30"])
def test_how_it_stands_can_be_read_on_a_narrow_terminal(
    columns: str, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches `brain:alphabeta – brain:alphabeta (2)  …`, with no figure in it."""
    monkeypatch.setenv("COLUMNS", columns)
    play(screen, "a name of forty characters and then some  +2 =0")
    seen = screen.written()
    assert "=0" in seen
    assert "2/2" in seen


def test_much_work_is_shown_in_hundredths_and_nothing_where_nobody_knows_how_much_it_is(
    screen: Screen,
) -> None:
    with redirect_stderr(screen.stderr):
        with share("verify", 0) as more:
            more(7)
        assert screen.written() == "END"
        with share("verify", 400) as more:
            more(399)
            more(10)
    assert "100/100" in screen.written()


def test_a_file_has_a_size_and_a_pipe_has_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"seven")
    with (tmp_path / "file").open("rb") as file:
        assert size_of(file) == 5
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb"):
        assert size_of(pipe) == size_of(BytesIO(b"seven")) == 0


def test_no_color_takes_the_colours_and_leaves_the_bar(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    play(screen, "so far")
    coloured = screen.written()
    monkeypatch.setenv("NO_COLOR", "1")
    play(screen, "so far")
    plain = screen.written()
    assert ("━" in coloured, "━" in plain) == (True, True)
    assert ("\x1b[3" in coloured, "\x1b[3" in plain) == (True, False)


@pytest.mark.parametrize(("answer", "agreed"), [("y", True), ("YES", True), ("n", False), ("", False)])
def test_whoever_sits_at_a_terminal_is_asked(
    answer: str, agreed: bool, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", screen.stdin)
    screen.type(f"{answer}\n")
    with redirect_stderr(screen.stderr), nullcontext() if agreed else pytest.raises(Failure):
        expect_consent("Delete friday?")
    assert "Delete friday? [y/N] " in screen.written()


@pytest.mark.parametrize("aside", ["stdin", "stderr"])
def test_a_script_is_not_asked_whatever_else_is_a_terminal(
    aside: str, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = StringIO()
    monkeypatch.setattr(sys, "stdin", elsewhere if aside == "stdin" else screen.stdin)
    with redirect_stderr(elsewhere if aside == "stderr" else screen.stderr):
        expect_consent("Delete friday?")
    assert (screen.written(), elsewhere.getvalue()) == ("END", "")
