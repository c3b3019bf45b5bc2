"""HTTP answers that go on, and what happens when an application makes a mistake."""

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from server.http.exchange import Exchange
from server.http.head import HttpError
from server.http.wanted import WhileWanted
from server.http.wire import Response, json_response
from server.net.limits import Limits
from tests.server.web import STREAM, TRIED, Streams, echo, get, serving
from tests.server.windowed import Weather

Clock = trio.testing.MockClock
LIMITS = Limits()

wires = pytest.mark.parametrize("kind", [TRIED, STREAM])

# Streams.


@wires
async def test_one_put_is_exactly_one_chunk(kind: str) -> None:
    app = Streams(("Content-Type", "text/event-stream"))
    async with serving(app) as server:
        client = server.connect(kind=kind)
        await client.end.send_all(get())
        assert await client.now() == (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        (stream,) = app.streams
        for content in (b'data: {"youAre":"O"}\n\n', b"", "data: ┻━┻\n\n".encode()):
            stream.put(content)
            assert await client.now() == (b"%x\r\n%b\r\n" % (len(content), content) if content else b"")
        stream.close()
        stream.put(b"late")
        stream.close()
        assert await client.now() == b"0\r\n\r\n"
        await client.end.send_all(get("/next"))
        await trio.testing.wait_all_tasks_blocked()
        assert len(app.streams) == 2
        assert not app.gone


async def test_http_1_0_has_no_chunks_and_its_stream_ends_with_the_connection() -> None:
    app = Streams()
    async with serving(app) as server:
        client = server.connect()
        await client.end.send_all(get(version="1.0"))
        await trio.testing.wait_all_tasks_blocked()
        for content in (b"one\n", b"two\n"):
            app.streams[0].put(content)
        app.streams[0].close()
        assert await client.rest() == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\none\ntwo\n"


async def test_nobody_streams_to_a_head_request() -> None:
    app = Streams()
    async with serving(app) as server:
        client = server.connect()
        await client.end.send_all(get("/head", method="HEAD"))
        await trio.testing.wait_all_tasks_blocked()
        app.streams[0].put(b"x")
        app.streams[0].close()
        assert await client.now() == b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert app.gone == ["/head"]
        await client.end.send_all(get())
        assert await client.now() == b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@wires
async def test_a_deaf_reader_of_a_stream_is_cut_and_its_owner_told_and_others_miss_nothing(kind: str) -> None:
    app, limits = Streams(), Limits(outbox_messages=10)
    async with serving(app, limits) as server:
        deaf, hears = server.connect(Weather(window=300), kind=kind), server.connect(kind=kind)
        await deaf.end.send_all(get("/deaf"))
        await hears.end.send_all(get("/hears"))
        await hears.now()
        told: list[int] = []
        with capture_logs() as logs:
            for number in range(100):
                for stream in app.streams:
                    stream.put(b"%04d" % number)
                assert await hears.now() == b"4\r\n%04d\r\n" % number
                if app.gone and not told:
                    told.append(number)
        assert app.gone == ["/deaf"]
        assert 10 <= told[0] <= 40
        assert [entry["event"] for entry in logs] == ["cut"]
        with pytest.raises(trio.BrokenResourceError):
            await deaf.end.send_all(b"are you there?" * 1000)


async def test_a_deaf_reader_is_cut_also_where_there_is_little_news(autojump_clock: Clock) -> None:
    app = Streams()
    async with serving(app) as server:
        deaf = server.connect(Weather(window=100))
        await deaf.end.send_all(get())
        await trio.testing.wait_all_tasks_blocked()
        app.streams[0].put(b"x" * 200)
        with capture_logs():
            await trio.sleep(Limits().outbox_seconds + 0.1)
        assert app.gone == ["/"]


@wires
async def test_a_long_answer_goes_piece_by_piece_as_the_client_takes_it(kind: str) -> None:
    sizes, limits = [400, 0, 900, 1000], Limits(outbox_bytes=1100)

    async def app(exchange: Exchange) -> None:
        chunks = exchange.stream()
        for size in sizes * 5:
            chunks.put(b"x" * size)
            assert await chunks.drained()
        chunks.close()

    async with serving(app, limits) as server:
        client = server.connect(Weather(window=100), kind=kind)
        assert (await client.ask(get())).body == b"x" * sum(sizes) * 5
        assert not server.guard.caught


async def test_whoever_writes_a_long_answer_learns_that_nobody_takes_it(autojump_clock: Clock) -> None:
    gone: list[bool] = []

    async def app(exchange: Exchange) -> None:
        chunks = exchange.stream()
        while not gone:
            chunks.put(b"x" * 100)
            if not await chunks.drained():
                gone.append(True)

    for leaves in (True, False):
        gone.clear()
        async with serving(app) as server:
            client = server.connect(Weather(window=1000))
            await client.end.send_all(get())
            with capture_logs():
                await trio.testing.wait_all_tasks_blocked()
                if leaves:
                    client.end.reset()
                await trio.sleep(11)
            assert gone
            assert not server.guard.caught


@pytest.mark.parametrize("ends", [False, True], ids=["goes on", "has ended its side"])
@wires
async def test_whoever_does_not_read_is_answered_no_further_until_it_does(kind: str, ends: bool) -> None:
    """Catches answers that pile up: a line of a request had hundreds of kilobytes kept, again and again."""
    limits = Limits(outbox_messages=20)
    asked, answers = list[str](), limits.outbox_messages * 2

    def app(exchange: Exchange) -> None:
        asked.append(exchange.request.path)
        exchange.respond(Response(body=b"x" * 1000))

    async with serving(app, limits) as server:
        client = server.connect(Weather(window=100), kind=kind)
        for number in range(answers):
            await client.end.send_all(get(f"/{number}"))
            await trio.testing.wait_all_tasks_blocked()
            assert len(asked) <= 2
        if ends:
            await client.end.send_eof()
        for _ in range(answers):
            assert (await client.answer()).body == b"x" * 1000
        assert asked == [f"/{number}" for number in range(answers)]


@pytest.mark.parametrize("ends", ["before", "meanwhile"])
@wires
async def test_whoever_ends_its_side_and_reads_on_is_given_all_of_a_long_answer(
    kind: str, ends: str, autojump_clock: Clock
) -> None:
    """Catches `printf REQUEST | nc -N`, which got the first two seconds of a large export."""
    while_wanted = WhileWanted()

    async def give(exchange: Exchange) -> None:
        await trio.sleep(0.1)
        chunks = exchange.stream()
        for _ in range(20):
            chunks.put(b"x" * 100)
            assert await chunks.drained()
        chunks.close()

    async with serving(lambda exchange: while_wanted(exchange, give(exchange))) as server:
        client = server.connect(Weather(window=50), kind=kind)
        await client.end.send_all(get())
        if ends == "meanwhile":
            await trio.sleep(0.2)
        await client.end.send_eof()
        got = bytearray()
        while received := await client.end.receive():
            got += received
            await trio.sleep(1.0)
        assert got.endswith((b"64\r\n" + b"x" * 100 + b"\r\n") * 20 + b"0\r\n\r\n")
        assert not server.guard.caught


@pytest.mark.parametrize("answers", [2, 4])
@wires
async def test_whoever_ends_its_side_and_reads_slowly_is_answered_all_that_it_has_asked_for(
    kind: str, answers: int, autojump_clock: Clock
) -> None:
    """Catches a page that ended in the middle, after ten seconds, for a client on a slow line."""
    async with serving(lambda exchange: exchange.respond(Response(body=b"x" * 20_000))) as server:
        client = server.connect(Weather(window=2000), kind=kind)
        await client.end.send_all(get() * answers)
        await client.end.send_eof()
        got = bytearray()
        while received := await client.end.receive():
            got += received
            await trio.sleep(1.0)
        assert trio.current_time() > LIMITS.outbox_seconds
        assert got.count(b"x" * 20_000) == answers
        assert not server.guard.caught


@pytest.mark.parametrize("reads", [0, 200])
async def test_whoever_ends_its_side_and_reads_no_more_is_given_nothing_more(
    reads: int, autojump_clock: Clock
) -> None:
    given, while_wanted = list[int](), WhileWanted()

    async def give(exchange: Exchange) -> None:
        chunks = exchange.stream()
        while await chunks.drained():
            chunks.put(b"x" * 100)
            given.append(100)

    async with serving(lambda exchange: while_wanted(exchange, give(exchange))) as server:
        client = server.connect(Weather(window=50))
        await client.end.send_all(get())
        await client.end.send_eof()
        while reads > 0:
            reads -= len(await client.end.receive())
        with capture_logs():
            await trio.sleep(LIMITS.outbox_seconds + LIMITS.linger_seconds + 1.0)
        assert not client.end.other.open
        assert sum(given) <= 400
        assert not server.guard.caught


# What goes wrong.


async def test_a_mistake_of_the_application_is_a_500_that_says_nothing_and_is_counted() -> None:
    def fails(exchange: Exchange) -> None:
        if exchange.request.path == "/bad":
            raise KeyError("a secret")
        echo(exchange)

    async def fails_later(exchange: Exchange) -> None:
        await trio.lowlevel.checkpoint()
        fails(exchange)

    def writes_two_lines(exchange: Exchange) -> None:
        if exchange.request.path == "/bad":
            exchange.respond(json_response(200, 1, ("Location", "/\r\nX: y")))
        echo(exchange)

    apps: list[Callable[[Exchange], Awaitable[None] | None]] = [fails, fails_later, writes_two_lines]
    for app in apps:
        async with serving(app) as server:
            client = server.connect()
            with capture_logs() as logs:
                answer = await client.ask(get("/bad"))
                assert (answer.status, answer.body) == (
                    500,
                    b'{"error":"the fault is this host\'s, and it is logged"}',
                )
                assert (await client.ask(get("/good"))).body == b"/good"
            assert sum(server.guard.caught.values()) == 1
            assert [entry["event"] for entry in logs] == ["unexpected"]


async def test_a_mistake_in_the_middle_of_a_stream_cuts_it() -> None:
    async def fails(exchange: Exchange) -> None:
        exchange.stream().put(b"x")
        await trio.lowlevel.checkpoint()
        raise KeyError("a secret")

    async with serving(fails) as server:
        client = server.connect()
        await client.end.send_all(get())
        with capture_logs():
            assert (await client.rest()).endswith(b"\r\n\r\n1\r\nx\r\n")
        assert sum(server.guard.caught.values()) == 1


async def test_a_mistake_of_who_is_told_harms_nobody() -> None:
    told: list[str] = []

    def app(exchange: Exchange) -> None:
        exchange.on_gone(lambda: told[5:6].pop())
        exchange.on_gone(lambda: told.append("the second"))

    async with serving(app) as server:
        client = server.connect()
        await client.end.send_all(get())
        client.end.close()
        with capture_logs():
            await trio.testing.wait_all_tasks_blocked()
        assert told == ["the second"]
        assert sum(server.guard.caught.values()) == 1


async def test_an_application_refuses_by_raising_and_the_connection_stays() -> None:
    def app(exchange: Exchange) -> None:
        raise HttpError(404, f"there is no {exchange.request.path}")

    async def later(exchange: Exchange) -> None:
        await trio.lowlevel.checkpoint()
        app(exchange)

    for application in (app, later):
        async with serving(application) as server:
            client = server.connect()
            for path in ("/a", "/b"):
                answer = await client.ask(get(path))
                assert (answer.status, answer.body) == (404, b'{"error":"there is no %b"}' % path.encode())
                assert answer.headers["content-type"] == "application/json; charset=utf-8"
            assert not server.guard.caught
