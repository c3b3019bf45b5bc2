"""HTTP connections: deadlines, refusals, and that each connection ends, with the last answer read."""

from itertools import pairwise

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from server.http.exchange import Exchange
from server.http.service import AT_A_TIME, SWEEP
from server.http.wire import Response
from server.net.admission import Admission
from server.net.limits import Limits
from tests.effort import tries
from tests.server.spoilt import streams
from tests.server.web import HEAD, STREAM, TRIED, Client, Holds, Streams, echo, get, post, serving
from tests.server.windowed import Weather, on_virtual_time, windowed_pair

Clock = trio.testing.MockClock
LIMITS = Limits()

wires = pytest.mark.parametrize("kind", [TRIED, STREAM])

TOO_SLOW = b'{"error":"the end of the request did not come in time"}'


async def lasts(client: Client) -> tuple[float, bytes]:
    """How long the server keeps the connection open, and what it says."""
    begun = trio.current_time()
    said = await client.rest()
    return trio.current_time() - begun, said


# Deadlines, which are as coarse as a second.


@wires
@pytest.mark.parametrize("begun", [b"G", b"GET / HTTP/1.1\r\nHost:"])
async def test_a_head_has_to_come_in_time(begun: bytes, kind: str, autojump_clock: Clock) -> None:
    async with serving(echo) as server:
        client = server.connect(kind=kind)
        await client.end.send_all(begun)
        lasted, said = await lasts(client)
        assert LIMITS.head_seconds <= lasted <= LIMITS.head_seconds + 1
        assert said.startswith(b"HTTP/1.1 408 ")
        assert said.endswith(TOO_SLOW)


async def test_a_body_has_to_come_in_time(autojump_clock: Clock) -> None:
    for begun in (post(b"hello")[:-1], get("/", "Transfer-Encoding: chunked", method="POST") + b"5\r\nhell"):
        async with serving(echo) as server:
            client = server.connect()
            await client.end.send_all(begun)
            lasted, said = await lasts(client)
            assert LIMITS.body_seconds <= lasted <= LIMITS.body_seconds + 1
            assert said.endswith(TOO_SLOW)


async def test_a_trickle_prolongs_nothing(autojump_clock: Clock) -> None:
    async with serving(echo) as server:
        client = server.connect()

        async def trickle() -> None:
            for byte in get("/", "X: " + "a" * 1000):
                with trio.move_on_after(0.5):
                    await client.end.send_all(bytes([byte]))
                    await trio.sleep_forever()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trickle)
            lasted, said = await lasts(client)
            nursery.cancel_scope.cancel()
        assert lasted <= LIMITS.head_seconds + 1
        assert said.endswith(TOO_SLOW)


async def test_a_connection_that_says_nothing_is_closed_without_a_word(autojump_clock: Clock) -> None:
    async with serving(echo) as server:
        for _ in range(2):  # also after a time in which nobody was there
            with trio.fail_after(100.0):
                lasted, said = await lasts(server.connect())
            assert LIMITS.head_seconds <= lasted <= LIMITS.head_seconds + 1
            assert said == b""
            await trio.sleep(100.0)


async def test_between_requests_there_is_time(autojump_clock: Clock) -> None:
    async with serving(echo) as server:
        client = server.connect()
        for _ in range(3):
            await client.ask(get())
            await trio.sleep(LIMITS.idle_seconds - 1)
        await client.ask(get())
        await client.end.send_all(b"\r\n")
        lasted, said = await lasts(client)
        assert LIMITS.idle_seconds <= lasted <= LIMITS.idle_seconds + 1
        assert said == b""


async def test_however_many_are_idle_for_as_long_others_get_their_turn(autojump_clock: Clock) -> None:
    """Catches all of them being closed in one step: with 5,000 connections, moves waited for 40 ms."""
    ended = list[Client]()

    async def stay(client: Client) -> None:
        await client.rest()
        ended.append(client)

    async with serving(echo) as server, trio.open_nursery() as nursery:
        for _ in range(5 * AT_A_TIME):
            client = server.connect()
            await client.ask(get())
            nursery.start_soon(stay, client)
        seen = [0]
        for _ in range(int(LIMITS.idle_seconds / SWEEP) + 3):
            await trio.sleep(SWEEP)
            for _ in range(20):
                seen.append(len(ended))
                await trio.lowlevel.checkpoint()
        assert seen[-1] == 5 * AT_A_TIME
        assert max(after - before for before, after in pairwise(seen)) <= 2 * AT_A_TIME


@pytest.mark.slow
async def test_whoever_asked_in_time_is_answered_though_the_host_stood_still(autojump_clock: Clock) -> None:
    async with serving(echo) as server:
        for _ in range(20):  # which task has its turn first after that is a matter of chance
            client = server.connect()
            await client.ask(get())
            await trio.sleep(LIMITS.idle_seconds - 1)
            client.end.send_now(get())
            autojump_clock.jump(30)
            assert (await client.answer()).body == b"/"


@pytest.mark.slow
async def test_a_held_answer_may_take_as_long_as_it_takes_and_then_time_runs_again(
    autojump_clock: Clock,
) -> None:
    holds = Holds()
    async with serving(holds) as server:
        client = server.connect()
        await client.end.send_all(get() + get()[:10])
        await trio.sleep(tries(1_000, 3_600))
        assert not holds.gone
        holds.exchanges[0].respond(Response(body=b"at last"))
        assert (await client.answer()).body == b"at last"
        lasted, said = await lasts(client)
        assert LIMITS.head_seconds <= lasted <= LIMITS.head_seconds + 1
        assert said.endswith(TOO_SLOW)


@pytest.mark.slow
async def test_a_stream_may_be_silent_as_long_as_it_likes(autojump_clock: Clock) -> None:
    app = Streams()
    async with serving(app) as server:
        client = server.connect()
        await client.end.send_all(get())
        await client.now()
        await trio.sleep(tries(1_000, 10_000))
        app.streams[0].put(b"x")
        assert await client.now() == b"1\r\nx\r\n"
        assert not app.gone


# 100-continue.


@wires
async def test_a_client_that_waits_to_be_told_is_told_once(kind: str) -> None:
    async with serving(echo) as server:
        client = server.connect(kind=kind)
        await client.end.send_all(get())
        await client.now()
        for _ in range(2):
            await client.end.send_all(post(b"hello", "Expect: 100-continue")[:-5])
            assert await client.now() == b"HTTP/1.1 100 Continue\r\n\r\n"
            await client.end.send_all(b"hel")
            assert await client.now() == b""
            await client.end.send_all(b"lo")
            assert await client.now() == HEAD + b"6\r\n\r\n/hello"


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (post(b"hello", "Expect: 100-continue"), HEAD + b"6\r\n\r\n/hello"),
        (get("/", "Expect: 100-continue"), HEAD + b"1\r\n\r\n/"),
        (post(b"hello")[:-2], b""),
        (post(b"hello", "Expect: 100-continue").replace(b"1.1", b"1.0")[:-2], b""),
    ],
)
async def test_nobody_else_is_told(request_: bytes, answer: bytes) -> None:
    async with serving(echo) as server:
        client = server.connect()
        await client.end.send_all(request_)
        assert await client.now() == answer


async def test_a_body_that_is_too_long_is_refused_before_it_is_sent() -> None:
    async with serving(echo, Limits(body_bytes=10)) as server:
        client = server.connect()
        answer = await client.ask(post(b"x" * 11, "Expect: 100-continue")[:-11])
        assert (answer.status, answer.body) == (413, b'{"error":"a body may have 10 bytes here"}')
        other = server.connect()
        assert (await other.ask(post(b"x" * 10))).status == 200


# Refusals.


@wires
async def test_after_a_refusal_the_connection_ends_and_the_answer_is_read_by_one_that_still_sends(
    kind: str, autojump_clock: Clock
) -> None:
    async with serving(echo) as server:
        client = server.connect(Weather(latency=0.1), kind=kind)
        await client.ask(get())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.end.send_all, b"GET /\x00 HTTP/1.1\r\n\r\n" + b"x" * 50_000)
            answer = await client.answer()
            assert answer.status == 400
            assert answer.headers["connection"] == "close"
            assert await client.end.receive() == b""
        await trio.sleep(10)
        with pytest.raises(trio.BrokenResourceError):
            await client.end.send_all(b"x" * 100_000)
        assert not server.guard.caught


async def test_a_method_that_nobody_has_is_refused_with_those_that_there_are() -> None:
    async with serving(echo) as server:
        client = server.connect()
        await client.end.send_all(b"BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = await client.answer()
        assert answer.status == 405
        assert answer.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
        assert b"BREW is not a method of this host" in answer.body
        assert answer.headers["connection"] == "close"


async def test_what_came_before_what_is_refused_is_answered() -> None:
    async with serving(echo) as server:
        client = server.connect()
        await client.end.send_all(get("/1") + get("/2") + b"junk\r\n" + get("/3"))
        said = await client.rest()
        assert said.startswith(HEAD + b"2\r\n\r\n/1" + HEAD + b"2\r\n\r\n/2" + b"HTTP/1.1 400 ")
        assert said.count(b"HTTP/1.1") == 3 + 1  # the refusal names what it expected


async def test_a_client_that_reads_its_last_answer_slowly_gets_all_of_it(autojump_clock: Clock) -> None:
    def app(exchange: Exchange) -> None:
        exchange.respond(Response(body=b"x" * 1000))

    async with serving(app) as server:
        client = server.connect(Weather(window=100, piece=100))
        await client.end.send_all(get("/", "Connection: close"))
        got = b""
        while received := await client.end.receive():
            got += received
            await trio.sleep(LIMITS.linger_seconds)
        assert got.endswith(b"x" * 1000)
        assert trio.current_time() > 10 * LIMITS.linger_seconds


# Draining.


async def test_a_server_that_drains_ends_event_streams_as_a_whole_and_no_other_answer_under_way() -> None:
    """Clients took the end of the host for a broken connection: `IncompleteRead` in Python."""
    for kind, ends in (("text/event-stream", True), ("application/x-ndjson", False)):
        app = Streams(("Content-Type", kind))
        async with serving(app) as server:
            client = server.connect()
            await client.end.send_all(get())
            await client.now()
            app.streams[0].put(b"data: 1\n\n")
            server.http.drain("come again")
            told = b"9\r\ndata: 1\n\n\r\n"
            assert (await client.rest() if ends else await client.now()) == told + ends * b"0\r\n\r\n"


async def test_a_server_that_drains_sends_away_whoever_waits_and_finishes_what_it_was_saying(
    autojump_clock: Clock,
) -> None:
    holds = Holds()
    app = Streams()

    def route(exchange: Exchange) -> None:
        {"/hold": holds, "/stream": app, "/": echo}[exchange.request.path](exchange)

    async with serving(route) as server:
        idle, held, streamed, begun = (server.connect() for _ in range(4))
        await idle.ask(get())
        await held.end.send_all(get("/hold") + get("/"))
        await streamed.end.send_all(get("/stream"))
        await begun.end.send_all(get()[:5])
        await streamed.now()
        let_go: list[str] = []
        holds.exchanges[0].on_gone(lambda: let_go.append("held"))
        server.http.drain("come again")
        assert await idle.rest() == b""
        answer = await held.rest()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: 5\r\n" in answer
        assert answer.endswith(b'{"error":"come again"}')
        assert let_go == ["held"]
        holds.exchanges[0].respond(Response(body=b"too late, and no harm"))
        app.streams[0].put(b"y")
        app.streams[0].close()
        assert await streamed.rest() == b"1\r\ny\r\n0\r\n\r\n"
        await begun.end.send_all(get()[5:])
        assert await begun.rest() == HEAD + b"1\r\nConnection: close\r\n\r\n/"


async def test_a_server_that_drains_leaves_an_order_to_whoever_carries_it_out() -> None:
    """It was answered with 503, as if it had not been carried out, and had been."""
    orders: list[Exchange] = []

    def app(exchange: Exchange) -> None:
        exchange.decides = True
        orders.append(exchange)

    async with serving(app) as server:
        client = server.connect()
        await client.end.send_all(post(b"void"))
        assert await client.now() == b""
        server.http.drain("come again")
        assert await client.now() == b""
        orders[0].respond(Response(body=b"done"))
        assert await client.rest() == HEAD + b"4\r\nConnection: close\r\n\r\ndone"


# Who is here.


async def test_a_client_that_has_shown_who_it_is_is_no_longer_driven_out() -> None:
    def app(exchange: Exchange) -> None:
        if exchange.request.path == "/me":
            exchange.authenticated()
        echo(exchange)

    admission = Admission(Limits(unauthenticated=1))
    async with serving(app) as server:
        known, stranger, newcomer = (windowed_pair(peer=f"192.0.2.{number}")[0] for number in range(3))
        await server.connect(visitor=admission.admit(known)).ask(get("/me"))
        assert admission.admit(stranger)
        assert admission.admit(newcomer)
        await known.send_some(b"still open")
        with pytest.raises(trio.BrokenResourceError):
            stranger.send_now(b"x")


# Anything at all.


@pytest.mark.slow
@given(streams() | st.binary(max_size=400), st.integers(1, 60), st.sampled_from(["waits", "ends", "resets"]))
def test_whatever_a_client_sends_its_connection_ends_and_nothing_unexpected_is_raised(
    content: bytes, piece: int, how: str
) -> None:
    @on_virtual_time
    async def _() -> None:
        async with serving(echo, LIMITS) as server:
            client = server.connect(Weather(window=100, latency=0.01, piece=piece))
            with trio.fail_after(200), capture_logs() as logs:
                try:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(client.end.send_all, content)
                        await trio.sleep(0.5)
                        {"waits": bool, "ends": client.end.finish, "resets": client.end.reset}[how]()
                        await client.rest()
                        nursery.cancel_scope.cancel()
                except* (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass
            assert not server.guard.caught
            assert not logs
