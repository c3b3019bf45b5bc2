"""Bodies in chunks: extensions and trailers are left out, and cost what a head may."""

import pytest

from server.net.limits import Limits
from tests.server.http.test_wire import only
from tests.server.reading import CHUNKED, get, post, served, status

SMALL = Limits(head_bytes=100)
HEAD = len(post(CHUNKED))


@pytest.mark.parametrize(
    "body",
    [
        b"3;a\r\nabc\r\n0\r\n\r\n",
        b'3;a=b;c="d \\" ;\xe4"\r\nabc\r\n0;e\r\n\r\n',
        b"3; a = b ; c\r\nabc\r\n0\r\n\r\n",
        b"3\r\nabc\r\n0\r\nX-Checksum: 1f\r\n\r\n",
        b"3\r\nabc\r\n0\r\nX:\r\nY: \xe4\tz\r\n\r\n",
    ],
)
def test_extensions_and_trailers_are_accepted_and_left_out(body: bytes) -> None:
    request = only(post(CHUNKED, body=body))
    assert request.body == b"abc"
    assert not {"x", "y", "x-checksum"} & request.headers.keys()
    got, end = served([post(CHUNKED, body=body) + get()])
    assert ([each.method for each in got], end) == (["POST", "GET"], None)


def chunked_with(extra: int, *, trailer: bool) -> bytes:
    """A request with `extra` bytes besides its head, its body and what frames it."""
    if trailer:
        line = b"X: " + b"y" * (extra - 7) + b"\r\n"  # the empty line that ends trailers counts as well
        return post(CHUNKED, body=b"3\r\nabc\r\n0\r\n" + line + b"\r\n")
    return post(CHUNKED, body=b"3;" + b"a" * (extra - 1) + b"\r\nabc\r\n0\r\n\r\n")


@pytest.mark.parametrize("trailer", [False, True])
def test_extensions_and_trailers_count_towards_the_limit_of_the_head(trailer: bool) -> None:
    left = SMALL.head_bytes - HEAD
    assert served([chunked_with(left, trailer=trailer)], SMALL)[1] is None
    assert status(chunked_with(left + 1, trailer=trailer), SMALL) == 431


@pytest.mark.parametrize("endless", [b"1;", b"0;", b"0\r\nX: "])
def test_an_endless_extension_or_trailer_is_refused_before_it_ends(endless: bytes) -> None:
    assert status(post(CHUNKED, body=endless + b"a" * SMALL.head_bytes), SMALL) == 431


def test_many_small_extensions_count_together() -> None:
    chunk = b"1;abcdefgh\r\na\r\n"
    assert served([post(CHUNKED, body=chunk * 3 + b"0\r\n\r\n")], SMALL)[1] is None
    assert status(post(CHUNKED, body=chunk * 20 + b"0\r\n\r\n"), SMALL) == 431
