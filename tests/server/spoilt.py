"""Requests as a stranger may send them: right ones, strange ones, and either with some bytes changed."""

from hypothesis import strategies as st

from tests.server.reading import CHUNKED

headers = st.sampled_from(
    [
        b"Content-Length: 5",
        b"Content-Length: 0",
        b"content-length:5 ",
        b"Content-Length: 5, 5",
        b"Content-Length: 05",
        CHUNKED,
        b"Transfer-Encoding: Chunked",
        b"Transfer-Encoding: gzip, chunked",
        b"Host: a",
        b"X: \xe4",
        b"X:",
        b"Connection: close",
        b"Connection: upgrade",
        b"Upgrade: h2c",
        b"Expect: 100-continue",
    ]
)
mostly = st.sampled_from  # what is in its list more often is drawn more often
ends = mostly([b"\r\n"] * 6 + [b"\n", b"\r", b"", b"\n\r\n"])
sizes = mostly(
    [b"1", b"01", b"2", b"5", b"1 ", b"+1", b"1;a", b"2;a=b", b'1;a="b;"', b"", b"g", b"0", b"0x1"]
)
pieces = st.builds(lambda *parts: b"".join(parts), sizes, ends, mostly([b"a", b"ab", b"abcde", b""]), ends)
chunked = st.builds(
    lambda chunks, last: b"".join([*chunks, *last]),
    st.lists(pieces, max_size=3),
    st.tuples(
        mostly([b"0", b"00", b"0 ", b"0;a"]), ends, mostly([b""] * 4 + [b"X: y\r\n", b"Host: a\r\n"]), ends
    ),
)
bodies = mostly([b"", b"abcde", b"0\r\n\r\n", b"\r\n"]) | chunked
lines = st.sampled_from(
    [
        b"GET / HTTP/1.1",
        b"POST /a?b HTTP/1.1",
        b"POST / HTTP/1.0",
        b"HEAD http://a/b HTTP/1.1",
        b"CONNECT a HTTP/1.1",
    ]
)
named = st.just(b"Host: a")
fields = st.tuples(named, headers) | st.lists(headers, max_size=4)
framed = st.tuples(st.tuples(named, st.just(CHUNKED)), chunked) | st.tuples(fields, bodies)
whole = st.builds(lambda line, rest: b"\r\n".join([line, *rest[0], b"", rest[1]]), lines, framed)
spoilt = st.binary(max_size=3) | st.sampled_from(
    [
        b"\r",
        b"\n",
        b"\r\n",
        b"\n\n",
        b" ",
        b"\t",
        b"\x00",
        b":",
        b",",
        b";",
        b"=",
        b'"',
        b"0",
        b"\r\n ",
        b"chunked",
        b"\x0b",
        b"-",
    ]
)
mutations = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), spoilt), max_size=4)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Some requests one after the other, each whole, and then a few bytes changed, added or taken away."""
    content = b"".join(draw(st.lists(whole, min_size=1, max_size=3)))
    for place, gone, added in draw(mutations):
        place %= len(content) + 1
        content = content[:place] + added + content[place + gone :]
    return content
