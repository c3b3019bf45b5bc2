"""The same bytes in other pieces: whoever reads a stream must not care."""

from itertools import pairwise

from hypothesis import strategies as st

places = st.lists(st.integers(0, 1 << 16), max_size=12)


def cut(content: bytes, at: list[int]) -> list[bytes]:
    """`content` in pieces, cut at `places`; some of them may be empty."""
    bounds = [0, *sorted(place % (len(content) + 1) for place in at), len(content)]
    return [content[start:end] for start, end in pairwise(bounds)]
