"""Pieces that are packed once fit into any stream."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.pages import packing

pieces = st.lists(st.tuples(st.booleans(), st.binary(max_size=3000)), max_size=8)


@given(pieces=pieces, again=st.integers(min_value=1, max_value=3))
def test_a_stream_of_pieces_in_any_order_is_what_they_were(
    pieces: list[tuple[bool, bytes]], again: int
) -> None:
    """And each piece is there as soon as it has come, without waiting for the next."""
    made = [packing.stored(piece) if short else packing.packed(piece) for short, piece in pieces]
    unpack = zlib.decompressobj(31)
    unpack.decompress(packing.HEAD)
    for _ in range(again):
        for (_, piece), sent in zip(pieces, made, strict=True):
            assert unpack.decompress(sent) == piece
    assert not unpack.unused_data


def test_what_says_the_same_again_and_again_gets_small() -> None:
    board = b'<circle cx="50" cy="50" r="25" fill="var(--board-first, #c8452f)"/>' * 100
    assert len(packing.packed(board)) < len(board) / 10


@pytest.mark.parametrize(
    ("said", "takes"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1.0, gzip;q=0.8", True),
        ("", False),
        ("gzip;q=0", False),
        ("x-gzip", False),
    ],
)
def test_only_whoever_takes_it_gets_it(said: str, takes: bool) -> None:
    assert packing.accepted(said) is takes
