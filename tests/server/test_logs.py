"""What is logged, and how: a line an event, as text or JSON, and on a terminal a line that changes."""

import fcntl
import io
import json
import os
import re
import struct
import termios
import threading
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog
import trio
from trio.testing import MockClock

from server.logs import CLEAR, Output, announce, set_up
from server.net.escaping import CUT
from server.net.limits import Rate
from server.net.log_budget import LogBudget
from tests.hang import HANG


class Screen(io.StringIO):
    """A terminal that remembers what it was sent."""

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> list[str]:
        """Its lines, as somebody who looks sees them now."""
        text = re.sub(r"\x1b\[[0-9]*m", "", self.getvalue())
        return [line.rpartition(CLEAR)[2] for line in text.split("\n")]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Logging is one for the whole process."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


def logger() -> structlog.typing.FilteringBoundLogger:
    return structlog.get_logger()


@pytest.mark.parametrize(
    ("stream", "form", "is_json"),
    [
        (io.StringIO, None, True),
        (Screen, None, False),
        (io.StringIO, "text", False),
        (Screen, "json", True),
    ],
)
def test_the_form_is_text_on_a_terminal_and_json_elsewhere_unless_somebody_says_which(
    stream: type[io.StringIO], form: str | None, is_json: bool
) -> None:
    there = stream()
    set_up("info", form, stream=there)  # type: ignore[arg-type] - what a test wants
    logger().info("came", player="ann")
    logger().debug("over")
    (line,) = there.getvalue().splitlines()
    if is_json:
        assert json.loads(line) | {"timestamp": ""} == {
            "event": "came",
            "level": "info",
            "player": "ann",
            "timestamp": "",
        }
    else:
        assert "came" in line
        assert "ann" in line
        assert not line.startswith("{")


def test_no_colours_where_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen()
    set_up("info", stream=screen)
    logger().info("came", player="ann")
    assert "\x1b" not in screen.getvalue()


def test_how_things_are_is_below_all_lines_and_changes_in_place() -> None:
    screen = Screen()
    output = set_up("info", stream=screen)
    output.show("1 match")
    logger().info("came", player="ann")
    output.show("2 matches")
    logger().info("left", player="ann")
    came, left, below = screen.shown
    assert ("came" in came, "left" in left, below) == (True, True, "2 matches")
    output.show("")
    assert screen.shown[-1] == ""


def test_where_nobody_looks_nothing_changes_in_place() -> None:
    for form, stream in (("text", io.StringIO()), ("json", Screen())):
        set_up("info", form, stream=stream).show("1 match")  # type: ignore[arg-type] - one of the two
        assert stream.getvalue() == ""


def test_what_strangers_are_called_moves_no_cursor_and_a_long_line_does_not_wrap() -> None:
    screen = Screen()
    output = set_up("info", stream=screen)
    output.show("missing: \x1b[2J" + "x" * 500)
    drawn = screen.getvalue().removeprefix(CLEAR)
    assert "\x1b" not in drawn
    assert len(drawn) <= 128


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "said", ["\x1b[2J", "ann\nforged", "\r", "\x9b", "\x7f", "\x85", "\u2028", "\u202e", "\ud800", "x" * 9000]
)
def test_whatever_strangers_say_is_one_line_of_the_log_that_moves_no_cursor_and_is_not_long(
    form: Literal["text", "json"], said: str
) -> None:
    there = io.StringIO()
    set_up("info", form, stream=there)
    logger().info("came", player=said, why=f"{said} is no name")
    (line,) = there.getvalue().splitlines()
    assert line.isprintable()
    assert len(line) < 4 * CUT


def test_what_the_log_says_of_a_fault_of_ours_is_whole() -> None:
    there = io.StringIO()
    set_up("info", "json", stream=there)
    logger().error("unexpected", exc_info=ZeroDivisionError("x" * 2 * CUT))
    (line,) = there.getvalue().splitlines()
    assert "x" * 2 * CUT in json.loads(line)["exception"]


def test_nobody_has_to_read_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever read it has gone, or its disk is full: that ends no host."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb", buffering=0) as unread:
        stream = io.TextIOWrapper(unread, write_through=True)
        monkeypatch.setattr("sys.stderr", stream)
        output = set_up("info", "text")
        output.live = True  # it was a terminal
        logger().info("came", player="ann")
        output.show("1 match")
        announce("text", "the desk opens once")


@pytest.mark.slow
def test_while_a_thread_writes_nothing_is_lost_and_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipe holds less than is written, and is read only afterwards; a notice has the form of the log."""
    reader, writer = os.pipe()
    with os.fdopen(reader) as read, os.fdopen(writer, "w") as unread:
        monkeypatch.setattr("sys.stderr", unread)
        output = set_up("info", "json")
        announce("text", "first", output)
        found: list[str] = []
        reading = threading.Thread(target=lambda: found.extend(read))
        with output.in_a_thread():
            for number in range(20_000):
                logger().info("came", number=number)
            announce("text", "last", output)
            reading.start()
        logger().info("over")
        unread.close()
        reading.join(HANG)
    lines = [line.strip() for line in found]
    assert (lines[0], json.loads(lines[-1])["event"]) == ("first", "over")
    told = [json.loads(line) for line in lines[1:] if line != "last"]
    missing = [line["lines"] for line in told if "are missing" in line["event"]]
    assert sum(line["event"] == "came" for line in told) + sum(missing) + (lines[-2] == "last") == 20_001
    assert sum(missing), "there was no room for all"
    assert all(line["level"] == "warning" for line in told if "are missing" in line["event"])


def test_what_is_no_file_is_written_to_at_once_as_before() -> None:
    there = io.StringIO()
    with set_up("info", "json", stream=there).in_a_thread():
        logger().info("came")
        assert json.loads(there.getvalue())["event"] == "came"


def test_a_terminal_that_is_paused_is_not_shown_how_things_were_all_the_while() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as seen, os.fdopen(theirs, "w") as terminal:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        termios.tcflow(theirs, termios.TCOOFF)
        output = set_up("info", "text", stream=terminal)
        with output.in_a_thread():
            logger().info("came")
            for number in range(1000):
                output.show(f"{number} matches")
            termios.tcflow(theirs, termios.TCOON)
        os.set_blocking(ours, False)
        drawn = seen.read() or b""
        assert b"came" in drawn
        assert drawn.count(b" matches") <= 1


def test_one_address_fills_no_log() -> None:
    there = io.StringIO()
    set_up("info", "json", Rate(3, 1e9), stream=there)
    for _ in range(50):
        logger().info("came", peer="10.0.0.1")
    logger().info("tournament opened", tournament="cup")
    assert [json.loads(line)["event"] for line in there.getvalue().splitlines()] == [
        *["came"] * 3,
        "tournament opened",
    ]


async def test_what_was_left_out_is_told_of_even_if_nothing_more_comes(autojump_clock: MockClock) -> None:
    there = io.StringIO()
    output = set_up("info", "json", Rate(3, 1e9), stream=there)
    for _ in range(50):
        logger().info("came", peer="10.0.0.1")
    with trio.move_on_after(100.0):
        await output.tell_the_rest()
    last = json.loads(there.getvalue().splitlines()[-1])
    assert (last["event"], last["of"], last["more"]) == ("and more", "10.0.0.1", 47)


@pytest.mark.parametrize(("columns", "width"), [(40, 39), (0, CUT - 1)])
def test_a_terminal_is_as_wide_as_it_says(columns: int, width: int) -> None:
    """Catches a status without its last letter where a terminal, such as a serial one, says nothing (0)."""
    ours, theirs = os.openpty()
    try:
        with os.fdopen(theirs, "w") as terminal:
            os.set_blocking(ours, False)
            output = Output(terminal, LogBudget(Rate(1, 1.0)), str, live=True)
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            output.show("x" * 500)
            drawn = os.read(ours, 10_000).decode().removeprefix(CLEAR)
            assert len(drawn) == width
    finally:
        os.close(ours)
