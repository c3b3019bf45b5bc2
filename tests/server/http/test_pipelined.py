"""What is sent ahead: all of it comes out in order, and no byte seems to have come before it did."""

from hypothesis import example, given
from hypothesis import strategies as st

from server.http.pipelined import APART, Pipelined


@example(sizes=[1] * 3 * APART, taken=0)
@given(sizes=st.lists(st.integers(1, 5), max_size=3 * APART), taken=st.integers(0, 2 * APART))
def test_however_it_is_cut_few_pieces_are_kept_and_all_bytes_are(sizes: list[int], taken: int) -> None:
    """Catches a client that has sixteen thousand objects kept for it by sending byte by byte."""
    ahead, came, out = Pipelined(), bytearray(), list[tuple[bytes, float]]()
    arrivals: list[float] = []
    for at, size in enumerate(sizes):
        piece = bytes([at % 256]) * size
        ahead.add(piece, float(at))
        came += piece
        arrivals += [float(at)] * size
        assert len(ahead) <= APART
        if at == taken:
            out.append(ahead.take())
    assert ahead.size == len(came) - sum(len(piece) for piece, _ in out)
    while ahead:
        out.append(ahead.take())
    assert ahead.size == 0
    assert b"".join(piece for piece, _ in out) == came
    said = [at for piece, at in out for _ in piece]
    assert all(then <= at for then, at in zip(arrivals, said, strict=True))
    if len(sizes) <= APART:
        assert said == arrivals
