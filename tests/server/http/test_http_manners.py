"""HTTP's manners: compressed bodies are refused in words, and pages of any site may read what they should."""

import pytest
from structlog.testing import capture_logs

from server.http.exchange import Exchange
from server.http.head import HttpError
from server.http.wire import Response
from tests.server.web import STREAM, TRIED, echo, get, post, serving

wires = pytest.mark.parametrize("kind", [TRIED, STREAM])

CHUNKED = "Transfer-Encoding: chunked"


def never(exchange: Exchange) -> None:
    raise AssertionError("the application need not know")


@wires
@pytest.mark.parametrize("coding", ["gzip", "GZIP", "br", "deflate", "identity, gzip", "x-nonsense"])
async def test_a_compressed_body_is_refused_in_words_and_the_connection_stays(coding: str, kind: str) -> None:
    header = f"Content-Encoding: {coding}"
    for request in (
        post(b"\x1f\x8b\x08 and so on", header),
        get("/", CHUNKED, header, method="POST") + b"2\r\n\x1f\x8b\r\n0\r\n\r\n",
        post(b"\x1f\x8b", header, "Expect: 100-continue"),
    ):
        async with serving(never) as server:
            client = server.connect(kind=kind)
            await client.end.send_all(request + request)
            for _ in range(2):
                answer = await client.answer("POST")
                assert (answer.status, answer.headers["accept-encoding"]) == (415, "identity")
                assert f"without Content-Encoding, and this one came as {coding}".encode() in answer.body
            await client.end.send_all(post(b"x", header, "Connection: close"))
            assert b"\r\nConnection: close\r\n" in await client.rest()


@pytest.mark.parametrize("coding", ["identity", "Identity", "", "identity,identity", "utf-8", "UTF8"])
async def test_a_body_as_it_is_is_taken_whatever_its_coding_is_called(coding: str) -> None:
    async with serving(echo) as server:
        client = server.connect()
        assert (await client.ask(post(b"abc", f"Content-Encoding: {coding}"))).body == b"/abc"


async def test_where_there_is_no_body_it_is_not_compressed() -> None:
    async with serving(echo) as server:
        client = server.connect()
        assert (await client.ask(get("/x", "Content-Encoding: gzip"))).body == b"/x"
        assert (await client.ask(post(b"", "Content-Encoding: gzip"))).body == b"/"


EXPOSED = b"Access-Control-Expose-Headers: X-Turn-Token, Location, Retry-After\r\n"
SHARED = b"Access-Control-Allow-Origin: *\r\n" + EXPOSED


@wires
async def test_an_answer_is_marked_for_pages_of_any_site_where_the_application_says_so(kind: str) -> None:
    def app(exchange: Exchange) -> None:
        exchange.shared = exchange.request.path != "/secret"
        match exchange.request.path:
            case "/stream":
                chunks = exchange.stream(200)
                chunks.put(b"one")
                chunks.close()
            case "/refused":
                raise HttpError(409, "no")
            case "/broken":
                raise KeyError("a mistake")
            case "/nothing":
                exchange.respond(Response(204))
            case _:
                echo(exchange)

    async with serving(app) as server:
        with capture_logs():
            for path in ("/whole", "/stream", "/refused", "/broken", "/nothing", "/secret"):
                for request in (
                    get(path),
                    get(path, method="HEAD"),
                    get(path, version="1.0"),
                    get(path, "Connection: close"),
                ):
                    client = server.connect(kind=kind)
                    await client.end.send_all(request)
                    head, _, _ = (await client.now()).partition(b"\r\n\r\n")
                    marks = b"".join(line for line in head.splitlines(True) if line.startswith(b"Access"))
                    assert marks.strip() == (b"" if path == "/secret" else SHARED.strip()), request
