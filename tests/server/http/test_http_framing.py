"""Where a request begins and ends: any cut of the bytes gives the same, and what is ambiguous is not served.

The other opinion is h11's. What it refuses we must not serve, and what both
serve has to be the same. We may refuse more.
"""

import h11
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from server.http.head import PLAIN, Head, HttpError, read_head
from server.net.limits import Limits
from tests.effort import tries
from tests.server.cutting import cut, places
from tests.server.reading import CHUNKED, LIMITS, get, post, requests, served, status
from tests.server.spoilt import streams, whole

# What is refused, and how.

SMUGGLED = [
    post(b"Content-Length: 4", CHUNKED, body=b"0\r\n\r\n"),
    post(CHUNKED, b"Content-Length: 4", body=b"0\r\n\r\n"),
    post(b"Content-Length: 4", b"Content-Length: 5", body=b"abcd"),
    post(b"Content-Length: 4", b"Content-Length: 4", body=b"abcd"),
    post(b"Content-Length: 4, 4", body=b"abcd"),
    post(b"Content-Length: 4, 5", body=b"abcd"),
    post(b"Content-Length: +4", body=b"abcd"),
    post(b"Content-Length: -4", body=b"abcd"),
    post(b"Content-Length: 0x4", body=b"abcd"),
    post(b"Content-Length: 4e0", body=b"abcd"),
    post(b"Content-Length: 1 0", body=b"abcd"),
    post(b"Content-Length: \xb2", body=b"abcd"),
    post(b"Content-Length:", body=b"abcd"),
    post(b"Content-Length: 99999999999999999999999999", body=b"abcd"),
    post(b"Content-Length: 1000000000000000", body=b"abcd"),
    post(b"Content-Length : 4", body=b"abcd"),
    post(b" Content-Length: 4", body=b"abcd"),
    post(b"Content\x00-Length: 4", body=b"abcd"),
    post(b"X: a\r\n Content-Length: 4", body=b"abcd"),
    post(b"X: a\r\n\tContent-Length: 4", body=b"abcd"),
    post(b"X: a\nContent-Length: 4", body=b"abcd"),
    post(b"X: a\rContent-Length: 4", body=b"abcd"),
    post(b"X: a\x00b", body=b""),
    post(b"X: a\x0bb", body=b""),
    post(b"X", body=b""),
    post(b": x", body=b""),
    post(b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding: identity, chunked", body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n"),
    post(CHUNKED, CHUNKED, body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding: identity", body=b""),
    post(b"Transfer-Encoding:", body=b""),
    post(b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding : chunked", body=b"0\r\n\r\n"),
    post(b"Transfer\xa0Encoding: chunked", body=b"0\r\n\r\n"),
    post(b'Transfer-Encoding: "chunked"', body=b"0\r\n\r\n"),
    post(CHUNKED, body=b"0\r\n\r\n").replace(b"1.1", b"1.0"),
    post(CHUNKED, body=b"+1\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"0x1\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1 \r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b" 1\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1;\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1 ;a=b\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1;a=\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1;a=b c\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b'1;a="b\r\na\r\n0\r\n\r\n'),
    post(CHUNKED, body=b"1;a=b\n0\r\n\r\n"),
    post(CHUNKED, body=b"1;a\rb\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1;a\x00\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"0;a=\r\n\r\n"),
    post(CHUNKED, body=b"0;\nX: y\r\n\r\n"),
    post(CHUNKED, body=b"1;\n\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1\r\na\n0\r\n\r\n"),
    post(CHUNKED, body=b"1\r\nab\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"2\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"-1\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"000000001\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX : y\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX: y\r\n z\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX: y\n\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX: y\r\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX: \x00\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nContent-Length: 4\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nHost: b\r\n\r\n"),
    post(CHUNKED, body=b"0\r\n\n"),
    b"GET / HTTP/1.1\nHost: a\n\n",
    b"GET / HTTP/1.1\r\nHost: a\n\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    get(b"Host: b"),
    get(b"host: a"),
    b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n",
    get(line=b"GET  / HTTP/1.1"),
    get(line=b"GET /  HTTP/1.1"),
    get(line=b"GET / HTTP/1.1 "),
    get(line=b" GET / HTTP/1.1"),
    get(line=b"GET\t/ HTTP/1.1"),
    get(line=b"GET / http/1.1"),
    get(line=b"GET / HTTP/1,1"),
    get(line=b"GET / HTTP/1.1x"),
    get(line=b"GET / HTTP/01.1"),
    get(line=b"GET /"),
    get(line=b"GET"),
    get(line=b"GET /\xff HTTP/1.1"),
    get(line=b"GET /\x00 HTTP/1.1"),
    get(line=b"GET / RTSP/1.0"),
    get(line=b"SOURCE / ICE/1.0"),
    get(line=b"GET /#fragment HTTP/1.1"),
    get(line=b"GET a HTTP/1.1"),
    get(line=b"GET ftp://a/ HTTP/1.1"),
    get(line=b"GET a:80 HTTP/1.1"),
    get(line=b"GET /%00 HTTP/1.1"),
    get(line=b"GET /%0d%0aSet-Cookie HTTP/1.1"),
    get(line=b"GET /%7F HTTP/1.1"),
    get(line=b"GET /% HTTP/1.1"),
    get(line=b"GET /%4 HTTP/1.1"),
    get(line=b"GET /%zz HTTP/1.1"),
    get(line=b"GET /%ff HTTP/1.1"),
    get(line=b"GET /%c0%af HTTP/1.1"),
    get(line=b"GET /?a=%ff HTTP/1.1"),
]


@pytest.mark.parametrize("content", SMUGGLED)
def test_what_could_be_understood_in_two_ways_is_refused(content: bytes) -> None:
    assert status(content + get()) == 400


@pytest.mark.parametrize(
    "content", [get(), post(b"Content-Length: 5", body=b"a\r\n\r\nb"), get(line=b"GET / HTTP/1.0")]
)
@pytest.mark.parametrize("size", [1, 7, 100])
def test_whoever_ends_all_lines_with_lf_alone_is_told(content: bytes, size: int) -> None:
    """As scripts do that write a request by hand."""
    reader, sent = requests(), content.replace(b"\r\n", b"\n")

    def read() -> None:
        for start in range(0, len(sent), size):
            reader.feed(sent[start : start + size])
            assert reader.next(0.0) is None

    with pytest.raises(HttpError, match="CR LF"):
        read()


# Any cut, any mutation, another opinion.


def ours(content: bytes) -> list[tuple[str, bytes]]:
    """Methods and bodies of what we serve, up to the end of the connection."""
    reader, got = requests(), list[tuple[str, bytes]]()
    reader.feed(content)
    try:
        while (request := reader.next(0.0)) is not None:
            got.append((request.method, request.body))
            if reader.head is not None and reader.head.last:
                break
    except HttpError:
        pass
    return got


def theirs(content: bytes) -> list[tuple[str, bytes]]:
    """What h11 serves of it: each request by a connection of its own, with what the one before left.

    One empty line before a request is forgiven, as RFC 9112 (2.2) asks, though
    h11 does not: that is the one thing in which we are the more liberal.
    """
    got: list[tuple[str, bytes]] = []
    while content := content.removeprefix(b"\r\n"):
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(content)
        try:
            request, body = connection.next_event(), b""
            if not isinstance(request, h11.Request):
                break
            while isinstance(piece := connection.next_event(), h11.Data):
                body += bytes(piece.data)
            if not isinstance(piece, h11.EndOfMessage):
                break
        except h11.RemoteProtocolError:
            break
        got.append((request.method.decode(), body))
        content, _ = connection.trailing_data
        if connection.their_state is h11.MUST_CLOSE:
            break
    return got


@given(st.lists(whole, min_size=1, max_size=4).map(b"".join))
@example(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcdeGET / HTTP/1.1\r\nHost: a\r\n\r\n")
def test_what_is_served_h11_would_serve_as_well_and_as_the_same(content: bytes) -> None:
    served_here, served_there = ours(content), theirs(content)
    assert served_here == served_there[: len(served_here)]


@pytest.mark.slow
@settings(max_examples=tries(6, 20) * settings.default.max_examples)
@given(streams())
def test_no_spoilt_request_that_h11_refuses_is_served(content: bytes) -> None:
    served_here, served_there = ours(content), theirs(content)
    assert served_here == served_there[: len(served_here)]


def test_what_nobody_could_misunderstand_both_serve() -> None:
    content = (
        get()
        + post(b"Content-Length: 5", body=b"abcde")
        + post(CHUNKED, body=b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        + post(CHUNKED, body=b'3;a=b; c = "d;\\"" ;e\r\nabc\r\n2;f\r\nde\r\n0;g\r\nX: y\r\nZ:\r\n\r\n')
        + get(line=b"GET http://a/b HTTP/1.1")
        + get(b"Connection: close")
        + get()
    )
    served = [("GET", b""), *[("POST", b"abcde")] * 3, ("GET", b""), ("GET", b"")]
    assert ours(content) == theirs(content) == served


@pytest.mark.parametrize("content", SMUGGLED)
def test_what_h11_refuses_of_the_known_attacks_is_refused_here(content: bytes) -> None:
    assert len(ours(content + get())) <= len(theirs(content + get()))


PADDING = b"X-Padding: " + b"a" * PLAIN + b"\r\n"


def understood(head: bytes) -> Head | int:
    """What a head says, without the padding, or the status that it is refused with."""
    try:
        found = read_head(head, LIMITS)
    except HttpError as refusal:
        return refusal.status
    return structs.replace(found, headers={k: v for k, v in found.headers.items() if k != "x-padding"})


@given(whole | streams())
@example(b"GET /\x22$&'()*+,-./:;<=>?@[\\]^_`{|}~! HTTP/1.1\r\nHost: a\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+.^_`|~09Az-:  \x22$&'()*+,-./:;<=>?@[\\]^_`{|}~! \r\n\r\n")
@example(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\nContent-Length: 007\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\nUpgrade: h2c\r\nX: \t\r\n\r\n")
def test_a_head_means_the_same_put_together_of_its_lines_and_read_by_llhttp(content: bytes) -> None:
    """What is long is read by llhttp."""
    ends = content.find(b"\r\n\r\n") + 2
    assume(ends > 1)
    assert understood(content[:ends] + b"\r\n") == understood(content[:ends] + PADDING + b"\r\n")


SMALL = Limits(head_bytes=120, target_bytes=30, headers=5)


@given(streams() | st.binary(max_size=300), places)
def test_any_cut_of_the_bytes_gives_the_same_requests_and_the_same_refusal(
    content: bytes, at: list[int]
) -> None:
    for limits in (LIMITS, SMALL):
        assert served(cut(content, at), limits) == served([content], limits)


@given(streams())
def test_byte_by_byte_gives_the_same(content: bytes) -> None:
    for limits in (LIMITS, SMALL):
        each = [content[place : place + 1] for place in range(len(content))]
        assert served(each, limits) == served([content], limits)
