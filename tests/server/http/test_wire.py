"""HTTP messages one by one: what is read, what is refused and how, and what is written."""

from collections.abc import Callable

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.http.head import HttpError, form, read_head
from server.http.wire import Request, Response, chunk, json_response, opening, refused, written
from tests.server.reading import CHUNKED, LIMITS, get, post, requests, served, status


def only(content: bytes) -> Request:
    (request,), end = served([content])
    assert end is None
    return request


# What is served.


def test_a_short_request_comes_after_a_long_one_that_was_cut() -> None:
    long, short = get(b"X: " + b"a" * 500), get(line=b"GET /b HTTP/1.1")
    got, end = served([long[:-2], long[-2:], short])
    assert ([request.path for request in got], end) == (["/", "/b"], None)


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
        "a=1&b=x+y%2B&a=2&c",
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


def test_a_whole_address_says_which_host_is_meant_and_not_the_header() -> None:
    line = b"GET http://b:80/c HTTP/1.1"
    assert only(get(line=line)).headers["host"] == "b:80"
    assert only(get(line=line).replace(b"Host: a\r\n", b"").replace(b"1.1", b"1.0")).headers["host"] == "b:80"
    assert status(get(line=line).replace(b"Host: a\r\n", b"")) == 400
    assert status(get(line=b"GET http://a@b/c HTTP/1.1")) == 400


def test_an_offer_to_change_the_protocol_is_declined_and_the_body_still_read() -> None:
    offer = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAEAAEAAAAIAAAAB")
    assert only(post(*offer, b"Content-Length: 2", body=b"hi")).body == b"hi"


@pytest.mark.parametrize("path", [b"/", b"/play"])
def test_a_websocket_handshake_is_shown_to_the_other_port(path: bytes) -> None:
    """Catches a list of games, or "this takes POST, not GET", for a bot that has mistaken the port."""
    offer = (b"Connection: keep-alive, Upgrade", b"Upgrade: WebSocket", b"Sec-WebSocket-Version: 13")
    with pytest.raises(HttpError, match="websocket at another") as told:
        read_head(get(*offer, line=b"GET %b HTTP/1.1" % path), LIMITS)
    assert told.value.status == 400


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


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (get(line=b"GET / HTTP/2.0"), 505),
        (get(line=b"GET / HTTP/1.2"), 505),
        (get(line=b"GET / HTTP/0.9"), 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (get(line=b"CONNECT a:80 HTTP/1.1"), 405),
        (get(line=b"TRACE / HTTP/1.1"), 405),
        (get(line=b"get / HTTP/1.1"), 405),
        (get(line=b"BREW /pot HTTP/1.1"), 405),
        (get(line=b"GET /" + b"a" * LIMITS.target_bytes + b" HTTP/1.1"), 414),
        (b"GET /" + b"a" * 2 * LIMITS.target_bytes, 414),
        (get(b"X: " + b"a" * LIMITS.head_bytes), 431),
        (get()[:-2] + b"X: " + b"a" * LIMITS.head_bytes, 431),
        (get(*[b"X: a"] * LIMITS.headers), 431),
        (get(*[b"%d:" % number for number in range(LIMITS.headers)]), 431),
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


@pytest.mark.parametrize("begun", [b"", b"GET", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_what_is_not_a_whole_head_is_none(begun: bytes) -> None:
    with pytest.raises(HttpError):
        read_head(begun, LIMITS)


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
        with pytest.raises(HttpError):
            form(bad)


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
        lambda: written(Response(200, own=(("Location", value),))),
        lambda: opening(200, ((value, "x"),)),
    ]
    for attempt in write:
        with pytest.raises(ValueError, match="line end"):
            attempt()
