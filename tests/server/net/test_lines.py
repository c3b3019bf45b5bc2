"""Lines: however the input is cut, the same lines come out; and what is kept is bounded."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.net.lines import Lines, LineTooLong
from tests.server.cutting import cut, places

MOST = 12

inputs = st.lists(st.binary(max_size=MOST + 3), max_size=8).map(b"\n".join) | st.text(
    alphabet="a\n\r\v\x1c\x85\u2028é", max_size=60
).map(str.encode)


def received(pieces: list[bytes], most: int = MOST) -> tuple[list[bytes], bool]:
    """The lines of `pieces`, and whether one was too long."""
    lines, got = Lines(most), list[bytes]()
    try:
        for piece in pieces:
            got.extend(lines.receive(piece))
    except LineTooLong:
        return got, True
    return got, False


@given(inputs, places)
def test_any_cut_of_the_input_gives_the_same_lines(content: bytes, at: list[int]) -> None:
    assert received(cut(content, at)) == received([content])


@given(inputs, places)
def test_what_has_begun_is_what_follows_the_last_line_feed(content: bytes, at: list[int]) -> None:
    lines = Lines(1000)
    for piece in cut(content, at):
        list(lines.receive(piece))
    assert lines.begun() == len(lines.unread) == len(content.rpartition(b"\n")[2])


@given(inputs)
def test_a_line_ends_at_a_line_feed_and_at_nothing_else(content: bytes) -> None:
    whole = content.split(b"\n")[:-1]
    assert received([content], most=1000) == ([line.removesuffix(b"\r") for line in whole], False)


@given(inputs)
def test_the_lines_before_one_that_is_too_long_are_yielded_and_none_after_it(content: bytes) -> None:
    *whole, rest = content.split(b"\n")
    short = []
    for line in whole:
        if len(line) > MOST:
            break
        short.append(line.removesuffix(b"\r"))
    too_long = len(short) < len(whole) or len(rest) > MOST
    assert received([content]) == (short, too_long)


def test_a_line_that_was_too_long_is_so_for_good() -> None:
    lines = Lines(MOST)
    for sent in (b"a" * (MOST + 1), b"\n", b"short\n"):
        with pytest.raises(LineTooLong, match=f"may have {MOST} bytes" if sent[:1] == b"a" else None):
            list(lines.receive(sent))
        assert kept(lines) == 0


def test_what_a_line_may_have_can_be_lowered_between_two_of_one_piece() -> None:
    """Catches a bound that is asked for once a piece."""
    lines = Lines(MOST)
    got = iter(lines.receive(b"abcd\nab\nabc\n"))
    assert next(got) == b"abcd"
    lines.most = 2
    assert next(got) == b"ab"
    with pytest.raises(LineTooLong, match="may have 2 bytes"):
        next(got)


def test_megabytes_without_a_line_feed_are_never_kept() -> None:
    lines = Lines(4096)
    for _ in range(4096):
        assert not list(lines.receive(b"x"))
    assert kept(lines) == 4096
    with pytest.raises(LineTooLong):
        list(lines.receive(b"x" * 4_000_000))
    assert kept(lines) == 0


def kept(lines: Lines) -> int:
    """Bytes of unfinished lines that it holds on to, wherever it does."""
    return sum(len(each) for each in gc.get_referents(lines) if isinstance(each, bytes | bytearray))
