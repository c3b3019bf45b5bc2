"""HTTP connections: who is answered when, who waits, who is cut, and how it ends."""

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from server.http import Exchange, Refusal, Response, json_response
from server.limits import Limits
from tests.server.web import HEAD, STREAM, TRIED, Holds, Streams, echo, get, post, serving
from tests.server.windowed import Weather, on_virtual_time

Clock = trio.testing.MockClock

wires = pytest.mark.parametrize("kind", [TRIED, STREAM])


# Answered at once.


@wires
async def test_answers_are_exact_and_the_connection_stays(kind: str) -> None:
    async with serving(echo) as server:
        client = server.connect(kind=kind)
        for _ in range(3):
            await client.end.send_all(post(b"hello"))
            assert await client.now() == HEAD + b"6\r\n\r\n/hello"


@given(
    st.lists(st.binary(max_size=40), min_size=1, max_size=6),
    st.builds(Weather, window=st.integers(20, 500), latency=st.floats(0, 0.1), piece=st.integers(1, 90)),
    st.integers(),
)
def test_requests_sent_ahead_are_answered_in_order_however_they_are_cut(
    bodies: list[bytes], weather: Weather, seed: int
) -> None:
    @on_virtual_time
    async def _() -> None:
        async with serving(echo) as server:
            client = server.connect(weather, seed=seed)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(client.end.send_all, b"".join(map(post, bodies)))
                answers = [(await client.answer()).body for _ in bodies]
            assert answers == [b"/" + body for body in bodies]
            assert not server.guard.caught


async def test_head_has_the_length_and_no_body() -> None:
    async with serving(echo) as server:
        client = server.connect()
        await client.end.send_all(get("/abc", method="HEAD") + get("/x"))
        assert await client.now() == HEAD + b"4\r\n\r\n" + HEAD + b"2\r\n\r\n/x"


@pytest.mark.parametrize(
    "request_", [get("/x", version="1.0"), get("/x", "Connection: close"), get("/x", "Connection: x, CLOSE")]
)
@wires
async def test_the_connection_ends_where_the_client_wants_it(request_: bytes, kind: str) -> None:
    async with serving(echo) as server:
        client = server.connect(Weather(window=7), kind=kind)
        await client.end.send_all(request_ + get("/never"))
        assert await client.rest() == HEAD + b"2\r\nConnection: close\r\n\r\n/x"


@wires
async def test_a_client_that_has_ended_its_side_is_still_answered(kind: str) -> None:
    async def later(exchange: Exchange) -> None:
        await trio.lowlevel.checkpoint()
        echo(exchange)

    for app in (echo, later):
        async with serving(app) as server:
            client = server.connect(kind=kind)
            await client.end.send_all(get("/1") + get("/2") + get("/3")[:9])
            await client.end.send_eof()
            assert await client.rest() == HEAD + b"2\r\n\r\n/1" + HEAD + b"2\r\n\r\n/2"


# Held.


async def test_a_held_request_is_answered_within_the_call_of_whoever_has_the_answer() -> None:
    holds = Holds()
    async with serving(holds) as server:
        clients = [server.connect() for _ in range(3)]
        for number, client in enumerate(clients):
            await client.end.send_all(get(f"/{number}"))
            assert await client.now() == b""
        with trio.testing.assert_no_checkpoints():
            holds.exchanges[1].respond(Response(body=b"yes"))
            assert clients[1].end.here() == HEAD + b"3\r\n\r\nyes"
        assert [await client.now() for client in clients] == [b""] * 3
        assert not holds.gone
        assert (await clients[1].end.send_all(get("/again")), len(holds.exchanges)) == (None, 3)
        assert await clients[1].now() == b""
        assert holds.exchanges[3].request.path == "/again"


async def test_what_is_sent_ahead_waits_for_the_held_answer_and_comes_in_order() -> None:
    holds = Holds()
    async with serving(holds) as server:
        client = server.connect()
        for path in ("/1", "/2", "/3"):
            await client.end.send_all(get(path))
            await trio.testing.wait_all_tasks_blocked()
        for number in range(3):
            assert len(holds.exchanges) == number + 1
            holds.exchanges[number].respond(Response(body=b"%d" % number))
            assert len(holds.exchanges) == number + 1
            assert await client.now() == HEAD + b"1\r\n\r\n%d" % number


async def test_requests_are_stamped_with_their_own_time(autojump_clock: Clock) -> None:
    holds = Holds()
    async with serving(holds) as server:
        client = server.connect()
        for _ in range(3):
            await client.end.send_all(get())
            await trio.sleep(1)
        for number in range(3):
            assert holds.exchanges[number].request.arrived == number
            holds.exchanges[number].respond(Response())
            assert (await client.answer()).status == 200
            await trio.testing.wait_all_tasks_blocked()


async def test_who_sends_too_much_ahead_is_cut() -> None:
    holds, limits = Holds(), Limits(pipelined_bytes=1000)
    async with serving(holds, limits) as server:
        client = server.connect()
        await client.end.send_all(get() + b"x" * 900)
        assert await client.now() == b""
        assert not holds.gone
        for _ in range(11):
            await client.end.send_all(b"x" * 100)
            await trio.testing.wait_all_tasks_blocked()
            if holds.gone:
                break
        assert holds.gone == ["/"]
        assert await client.rest() == b""


@wires
@pytest.mark.parametrize("how", ["ends", "closes", "resets"])
async def test_the_holder_learns_once_that_the_client_has_hung_up(
    how: str, kind: str, autojump_clock: Clock
) -> None:
    holds = Holds()
    async with serving(holds) as server:
        client, other = server.connect(kind=kind), server.connect(kind=kind)
        for each, path in ((client, "/held"), (other, "/other")):
            await each.end.send_all(get(path))
            await trio.testing.wait_all_tasks_blocked()
        {"ends": client.end.finish, "closes": client.end.close, "resets": client.end.reset}[how]()
        await trio.testing.wait_all_tasks_blocked()
        assert holds.gone == ["/held"]
        assert holds.exchanges[0].gone
        late: list[bool] = []
        holds.exchanges[0].on_gone(lambda: late.append(True))
        assert late == [True]
        await trio.sleep(100)
        holds.exchanges[0].respond(Response())
        holds.exchanges[0].respond(Response())
        holds.exchanges[0].stream().put(b"x")
        assert holds.gone == ["/held"]
        assert not holds.exchanges[1].gone
        holds.exchanges[1].respond(Response())
        assert (await other.answer()).status == 200
        assert not server.guard.caught


async def test_a_holder_is_not_told_of_a_client_that_leaves_after_its_answer(autojump_clock: Clock) -> None:
    holds = Holds()
    async with serving(holds) as server:
        client = server.connect()
        await client.end.send_all(get())
        await trio.testing.wait_all_tasks_blocked()
        holds.exchanges[0].respond(Response())
        await client.answer()
        client.end.close()
        await trio.sleep(100)
        assert not holds.gone


async def test_a_second_answer_is_a_mistake_that_is_not_sent() -> None:
    def twice(exchange: Exchange) -> None:
        exchange.respond(Response(body=b"once"))
        with pytest.raises(RuntimeError, match="twice"):
            exchange.respond(Response(body=b"twice"))
        with pytest.raises(RuntimeError, match="twice"):
            exchange.stream()

    def stream_twice(exchange: Exchange) -> None:
        chunks = exchange.stream()
        with pytest.raises(RuntimeError, match="twice"):
            exchange.respond(Response(body=b"twice"))
        chunks.put(b"once")
        chunks.close()

    for app in (twice, stream_twice):
        async with serving(app) as server:
            client = server.connect()
            assert (await client.ask(get())).body == b"once"
            assert await client.now() == b""
            assert not server.guard.caught


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


async def test_who_writes_a_long_answer_learns_that_nobody_takes_it(autojump_clock: Clock) -> None:
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
        raise Refusal(404, f"there is no {exchange.request.path}")

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
