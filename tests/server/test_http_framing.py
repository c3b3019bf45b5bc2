"""Where a request begins and ends: any cut of the bytes gives the same, and what is ambiguous is not served.

The other opinion is h11's. What it refuses we must not serve, and what both
serve has to be the same. We may refuse more.
"""

from collections.abc import Callable

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from server.http_head import Refusal, form
from server.http_wire import Request, Requests, Response, chunk, json_response, opening, refused, written
from server.limits import Limits
from tests.server.cutting import cut, places

LIMITS = Limits()
ROOM = 200  # bytes that a body may have in these tests


def requests(limits: Limits = LIMITS) -> Requests:
    return Requests(limits, lambda method, path: ROOM, "192.0.2.1")


def served(pieces: list[bytes], limits: Limits = LIMITS) -> tuple[list[Request], int | None]:
    """The requests that are served, and the status of the refusal that ends them."""
    reader, got = requests(limits), list[Request]()
    try:
        for piece in pieces:
            reader.feed(piece)
            while (request := reader.next(0.0)) is not None:
                got.append(request)
    except Refusal as refusal:
        return got, refusal.status
    return got, None


def status(content: bytes, limits: Limits = LIMITS) -> int | None:
    """What the first request is refused with."""
    got, end = served([content], limits)
    assert not got
    return end


def only(content: bytes) -> Request:
    (request,), end = served([content])
    assert end is None
    return request


def get(*headers: bytes, line: bytes = b"GET / HTTP/1.1") -> bytes:
    return b"\r\n".join([line, b"Host: a", *headers, b"", b""])


def post(*headers: bytes, body: bytes = b"") -> bytes:
    return get(*headers, line=b"POST / HTTP/1.1") + body


CHUNKED = b"Transfer-Encoding: chunked"


# What is served.


def test_a_request_is_what_the_client_said() -> None:
    request = only(
        post(b"Content-Length: 4", b"X-Turn-Token:  3f0e \t", body=b"\x00\r\n\xff").replace(
            b"/ ", b"/g/b%C3%A4r?a=1&b=x+y%2B&a=2&c ", 1
        )
    )
    assert request == Request(
        "POST",
        "/g/bär",
        {"a": "2", "b": "x y+", "c": ""},
        {"host": "a", "content-length": "4", "x-turn-token": "3f0e"},
        b"\x00\r\n\xff",
        "192.0.2.1",
        0.0,
        False,
    )


def test_a_header_that_comes_twice_is_joined() -> None:
    assert only(get(b"Accept: a", b"ACCEPT:b")).headers["accept"] == "a, b"


def test_chunks_are_put_together() -> None:
    body = b"3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n"
    assert only(post(CHUNKED, body=body)).body == b"abc0123456789"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"GET http://example.org/a?b HTTP/1.1", "/a"),
        (b"GET HTTPS://example.org HTTP/1.1", "/"),
        (b"GET http://example.org?b HTTP/1.1", "/"),
        (b"OPTIONS * HTTP/1.1", "*"),
        (b"GET //a//b HTTP/1.0", "//a//b"),
    ],
)
def test_whole_addresses_are_taken_as_paths(line: bytes, path: str) -> None:
    assert only(get(line=line)).path == path


def test_an_offer_to_change_the_protocol_is_declined_and_the_body_still_read() -> None:
    offer = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAEAAEAAAAIAAAAB")
    assert only(post(*offer, b"Content-Length: 2", body=b"hi")).body == b"hi"


def test_one_empty_line_before_a_request_is_forgiven_and_two_are_not() -> None:
    got, end = served([b"\r\n" + get() + b"\r\n" + get()])
    assert len(got) == 2
    assert end is None
    assert status(b"\r\n\r\n" + get()) == 400


def test_http_1_0_needs_no_host() -> None:
    assert only(b"GET / HTTP/1.0\r\n\r\n").headers == {}


def test_the_same_head_with_another_body_is_another_request() -> None:
    one = post(b"Content-Length: 1", body=b"a")
    got, _ = served([one, one.replace(b"\r\n\r\na", b"\r\n\r\nb")])
    assert [request.body for request in got] == [b"a", b"b"]


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
    post(CHUNKED, body=b"1;ext=1\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1;\n\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"1\r\na\n0\r\n\r\n"),
    post(CHUNKED, body=b"1\r\nab\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"2\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"-1\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"000000001\r\na\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX: trailer\r\n\r\n"),
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
    get(line=b"GET /%2e%2Fetc HTTP/1.1"),
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
    ("content", "expected"),
    [
        (get(line=b"GET / HTTP/2.0"), 505),
        (get(line=b"GET / HTTP/1.2"), 505),
        (get(line=b"GET / HTTP/0.9"), 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (get(line=b"CONNECT a:80 HTTP/1.1"), 501),
        (get(line=b"TRACE / HTTP/1.1"), 501),
        (get(line=b"get / HTTP/1.1"), 501),
        (get(line=b"BREW /pot HTTP/1.1"), 501),
        (get(line=b"GET /" + b"a" * LIMITS.target_bytes + b" HTTP/1.1"), 414),
        (b"GET /" + b"a" * 2 * LIMITS.target_bytes, 414),
        (get(b"X: " + b"a" * LIMITS.head_bytes), 431),
        (get()[:-2] + b"X: " + b"a" * LIMITS.head_bytes, 431),
        (get(*[b"X: a"] * LIMITS.headers), 431),
        (get(b"Expect: 200-ok"), 417),
        (post(b"Content-Length: 201"), 413),
        (post(CHUNKED, body=b"64\r\n" + b"a" * 100 + b"\r\n65\r\n"), 413),
        (post(CHUNKED, body=b"FFFFFFFF\r\n"), 413),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"SSH-2.0-OpenSSH_9.6\r\n", 400),
        (b'{"type":"hello"}\n', 400),
        (b"Ann\n", 400),
        (b"0 0\r\n", 400),
        (b"X" * 33, 400),
    ],
)
def test_each_refusal_says_whose_fault_it_is(content: bytes, expected: int) -> None:
    assert status(content) == expected


def test_the_longest_that_is_allowed_is_served() -> None:
    line = b"GET /" + b"a" * (LIMITS.target_bytes - 1) + b" HTTP/1.1"
    rest = LIMITS.head_bytes - len(get(b"X: ", line=line))
    assert only(get(b"X: " + b"a" * rest, line=line)).headers["x"] == "a" * rest
    assert status(get(b"X: a" + b"a" * rest, line=line)) == 431
    assert len(only(post(b"Content-Length: 200", body=b"a" * 200)).body) == 200
    assert only(get(*[b"X: a"] * (LIMITS.headers - 1)))


@pytest.mark.parametrize(
    "begun", [b"", b"\r", b"\r\n", b"\r\n\r", b"G", b"GET", b"GET ", b"GET / HTTP/1.1\r"]
)
def test_what_may_yet_become_a_request_is_waited_for(begun: bytes) -> None:
    assert served([begun]) == ([], None)


def test_a_client_in_the_middle_of_nothing_is_idle() -> None:
    reader = requests()
    stages = [reader.stage]
    for piece in (b"\r\n", b"PO", post(b"Content-Length: 2")[2:], b"hi"):
        reader.feed(piece)
        reader.next(0.0)
        stages.append(reader.stage)
    assert stages == ["idle", "idle", "head", "body", "idle"]
    assert not reader.left


def test_a_request_is_stamped_with_the_time_of_its_last_byte() -> None:
    reader, content = requests(), post(b"Content-Length: 2", body=b"hi")
    for at, piece in enumerate((content[:10], content[10:-1], content[-1:])):
        reader.feed(piece)
        request = reader.next(float(at))
    assert request is not None
    assert request.arrived == 2.0


def test_forms_are_read_strictly() -> None:
    assert form(b"position=SE&action=put+Symbol&position=NE&&x=a=b") == {
        "position": "NE",
        "action": "put Symbol",
        "x": "a=b",
    }
    assert form("flip=(╯°□°)╯︵ ┻━┻".encode()) == {"flip": "(╯°□°)╯︵ ┻━┻"}
    assert form(b"flip=%28%E2%95%AF") == {"flip": "(╯"}
    for bad in (b"a=%", b"%g1=1", b"a=\xff", b"a=%ff"):
        with pytest.raises(Refusal):
            form(bad)


# Any cut, any mutation, another opinion.

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
sizes = mostly([b"1", b"01", b"2", b"5", b"1 ", b"+1", b"1;a", b"", b"g", b"0", b"0x1"])
pieces = st.builds(lambda *parts: b"".join(parts), sizes, ends, mostly([b"a", b"ab", b"abcde", b""]), ends)
chunked = st.builds(
    lambda chunks, last: b"".join([*chunks, *last]),
    st.lists(pieces, max_size=3),
    st.tuples(mostly([b"0", b"00", b"0 "]), ends, mostly([b""] * 4 + [b"X: y\r\n"]), ends),
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
framed = st.tuples(st.just([b"Host: a", CHUNKED]), chunked) | st.tuples(st.lists(headers, max_size=4), bodies)
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


def ours(content: bytes) -> list[tuple[str, bytes]]:
    """Methods and bodies of what we serve, up to the end of the connection."""
    reader, got = requests(), list[tuple[str, bytes]]()
    reader.feed(content)
    try:
        while (request := reader.next(0.0)) is not None:
            got.append((request.method, request.body))
            if reader.head is not None and reader.head.last:
                break
    except Refusal:
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


@settings(max_examples=20 * settings.default.max_examples)
@given(streams())
def test_of_spoilt_requests_nothing_is_served_that_h11_refuses(content: bytes) -> None:
    served_here, served_there = ours(content), theirs(content)
    assert served_here == served_there[: len(served_here)]


def test_what_nobody_could_misunderstand_both_serve() -> None:
    content = (
        get()
        + post(b"Content-Length: 5", body=b"abcde")
        + post(CHUNKED, body=b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        + get(b"Connection: close")
        + get()
    )
    assert (
        ours(content)
        == theirs(content)
        == [("GET", b""), ("POST", b"abcde"), ("POST", b"abcde"), ("GET", b"")]
    )


@pytest.mark.parametrize("content", SMUGGLED)
def test_what_h11_refuses_of_the_known_attacks_is_refused_here(content: bytes) -> None:
    assert len(ours(content + get())) <= len(theirs(content + get()))


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


# Answers.


def client_reads(method: str, answer: bytes) -> tuple[h11.Response, bytes]:
    """What a client understands, and that it leaves nothing over."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(answer)
    response, body = connection.next_event(), b""
    assert isinstance(response, h11.Response)
    while isinstance(piece := connection.next_event(), h11.Data):
        body += bytes(piece.data)
    assert isinstance(piece, h11.EndOfMessage)
    assert connection.trailing_data == (b"", False)
    return response, body


def test_an_answer_is_written_to_the_byte() -> None:
    assert written(json_response(201, {"ä": 1}, ("Location", "/g/1"))) == (
        b"HTTP/1.1 201 Created\r\nContent-Type: application/json; charset=utf-8\r\n"
        b"X-Content-Type-Options: nosniff\r\nLocation: /g/1\r\nContent-Length: 8\r\n\r\n"
        b'{"\xc3\xa4":1}'
    )
    assert written(refused(404, "no such game"), last=True).endswith(
        b'Content-Length: 24\r\nConnection: close\r\n\r\n{"error":"no such game"}'
    )


@given(st.binary(max_size=50), st.sampled_from([200, 404, 500]))
def test_a_client_reads_what_was_written_and_nothing_is_left_over(body: bytes, code: int) -> None:
    answer = Response(code, (("Content-Type", "text/plain"),), body)
    for method in ("GET", "HEAD"):
        response, read = client_reads(method, written(answer, only_head=method == "HEAD"))
        assert response.status_code == code
        assert (b"content-length", str(len(body)).encode()) in response.headers
        assert read == (body if method == "GET" else b"")


@given(st.lists(st.binary(min_size=1, max_size=50)))
def test_a_client_reads_the_chunks_as_they_were_put(contents: list[bytes]) -> None:
    answer = opening(200, (("Content-Type", "text/event-stream"),), chunked=True)
    answer += b"".join(map(chunk, contents)) + chunk(b"")
    assert client_reads("GET", answer)[1] == b"".join(contents)


def test_no_content_has_none() -> None:
    for code in (204, 304):
        response, body = client_reads("GET", written(Response(code, body=b"ignored")))
        assert not {name for name, _ in response.headers} & {b"content-length", b"transfer-encoding"}
        assert body == b""


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\rb"])
def test_an_answer_holds_no_other_answer(value: str) -> None:
    write: list[Callable[[], bytes]] = [
        lambda: written(json_response(200, 1, ("Location", value))),
        lambda: written(Response(204, (("Location", value),))),
        lambda: opening(200, ((value, "x"),)),
    ]
    for attempt in write:
        with pytest.raises(ValueError, match="line end"):
            attempt()
