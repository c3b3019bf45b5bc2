"""The thread that writes the log: whoever logs never waits, and what is missing is counted."""

import os
import threading
from collections.abc import Generator
from contextlib import suppress

import pytest

from server import log_writer
from server.log_writer import KEPT, LogWriter, tell, tell_traceback
from tests.hang import HANG

LINE = "x" * 99 + "\n"


class Pipe:
    """A pipe that nobody reads, until somebody does."""

    def __init__(self) -> None:
        self.reads, self.writes = os.pipe()

    def fill(self) -> None:
        os.set_blocking(self.writes, False)
        for size in (4096, 1):
            try:
                while True:
                    os.write(self.writes, b"-" * size)
            except BlockingIOError:
                pass
        os.set_blocking(self.writes, True)


@pytest.fixture
def pipe() -> Generator[Pipe]:
    made = Pipe()
    yield made
    for descriptor in (made.reads, made.writes):
        with suppress(OSError):  # the test has closed it
            os.close(descriptor)


def notice(lines: int) -> str:
    return f"{lines} are missing\n"


def read_all(pipe: Pipe, writer: LogWriter) -> list[str]:
    """What comes out if somebody reads to the end."""
    found: list[str] = []
    reading = threading.Thread(target=lambda: found.extend(_read(pipe)))
    reading.start()
    assert writer.close()
    os.close(pipe.writes)
    reading.join(HANG)
    return found


def _read(pipe: Pipe) -> list[str]:
    with os.fdopen(pipe.reads, closefd=False) as read:
        return read.read().lstrip("-").splitlines()


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "as somebody else has set it"])
def test_where_nobody_reads_lines_wait_and_are_written_in_their_order(pipe: Pipe, blocking: bool) -> None:
    pipe.fill()
    os.set_blocking(pipe.writes, blocking)
    writer = LogWriter(pipe.writes, notice)
    for number in range(1000):
        writer.write(f"{number}\n")
    assert writer.behind
    assert read_all(pipe, writer) == [str(number) for number in range(1000)]
    assert not writer.behind


def test_what_waits_is_bounded_and_the_next_line_comes_after_how_many_are_missing(pipe: Pipe) -> None:
    pipe.fill()
    writer, most = LogWriter(pipe.writes, notice), KEPT // len(LINE)
    for _ in range(most + 7):
        writer.write(LINE)
    found = read_all(pipe, writer)
    assert (len(found), found[-1]) == (most + 1, "7 are missing"), "also if no further line comes"


def test_a_line_after_those_that_are_missing_says_so_before_it(pipe: Pipe) -> None:
    pipe.fill()
    writer, most = LogWriter(pipe.writes, notice), KEPT // len(LINE)
    for _ in range(most + 7):
        writer.write(LINE)
    writer.write("a\n")  # there is room for this one
    found = read_all(pipe, writer)
    assert found[most:] == ["7 are missing", "a"]


def test_what_cannot_be_written_is_counted_and_said_when_something_can(pipe: Pipe) -> None:
    """As on a full disk: every attempt fails, and then one does not."""
    full = os.open("/dev/full", os.O_WRONLY)
    with os.fdopen(full, "wb", buffering=0):
        writer = LogWriter(full, notice)
        for number in range(5):
            writer.write(f"{number}\n")
            while writer.behind:
                os.sched_yield()
        os.dup2(pipe.writes, full)
        writer.write("a\n")
        assert writer.close()
    os.close(pipe.writes)
    assert _read(pipe) == ["5 are missing", "a"]


def test_a_host_ends_also_if_nobody_reads(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "PARTING", 0.01)
    pipe.fill()
    writer = LogWriter(pipe.writes, notice)
    writer.write("a\n")
    assert not writer.close()
    with os.fdopen(pipe.reads, "rb", closefd=False, buffering=0) as read:  # lets the thread end
        while not read.read(65536).endswith(b"a\n"):
            pass


def test_last_words_are_read_whole_by_whoever_reads_slowly(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than a pipe holds."""
    monkeypatch.setattr(log_writer, "PARTING", HANG)
    pipe.fill()
    found: list[str] = []
    reading = threading.Thread(target=lambda: found.extend(_read(pipe)))
    with os.fdopen(pipe.writes, "w", encoding="utf-8") as stream:
        reading.start()
        tell(LINE * 2000, stream)
    reading.join(HANG)
    assert found == [LINE.strip()] * 2000


def test_last_words_that_nobody_can_read_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    tell("no stream\n", None)
    with open(os.devnull, encoding="utf-8") as unwritable:
        tell("no stream to write to\n", unwritable)
    tell("closed\n", unwritable)
    assert capsys.readouterr().err == ""


def test_a_traceback_is_told_as_python_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError("a bug of ours")
    except ValueError as error:
        tell_traceback(type(error), error, error.__traceback__)
    said = capsys.readouterr().err
    assert said.startswith("Traceback (most recent call last):\n")
    assert said.endswith("ValueError: a bug of ours\n")
