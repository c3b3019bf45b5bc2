"""HTTP connections: who is answered when, who waits, who is cut, and how it ends."""

from functools import partial

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from server.http.exchange import Exchange
from server.http.service import Http
from server.http.wire import Response
from server.net.admission import Admission
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.listening import listeners, serve
from tests.server.at_once import TIMES, connections, say_in_order
from tests.server.connected import linux
from tests.server.web import HEAD, STREAM, TRIED, Holds, echo, get, post, serving
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


@wires
@pytest.mark.parametrize("headers", [(), ("Connection: close",)])
async def test_one_that_has_ended_its_side_may_still_be_given_the_answer_it_waited_for(
    headers: tuple[str, ...], kind: str
) -> None:
    holds = Holds()
    async with serving(holds) as server:
        client = server.connect(kind=kind)
        await client.end.send_all(get("/", *headers))
        await client.end.send_eof()
        await trio.testing.wait_all_tasks_blocked()
        assert holds.gone == ["/"]
        holds.exchanges[0].respond(Response(body=b"yes"))
        assert (await client.rest()).endswith(b"\r\n\r\nyes")


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


async def test_what_comes_just_after_the_held_answer_is_read_after_what_was_sent_ahead() -> None:
    """Catches bytes that overtook those before them: half the time, halves of a request changed places."""
    for _ in range(20):
        holds = Holds()
        async with serving(holds) as server:
            client = server.connect()
            second = get("/2")
            await client.end.send_all(get("/1"))
            await trio.testing.wait_all_tasks_blocked()
            await client.end.send_all(second[:9])
            await trio.testing.wait_all_tasks_blocked()
            client.end.send_now(second[9:])
            holds.exchanges[0].respond(Response())
            assert await client.now() == HEAD + b"0\r\n\r\n"
            assert [exchange.request.path for exchange in holds.exchanges] == ["/1", "/2"]


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


async def test_whoever_sends_too_much_ahead_is_cut() -> None:
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


@linux
@pytest.mark.slow
async def test_requests_that_come_together_are_looked_into_in_the_order_of_coming() -> None:
    """The first of two bots that join a game is first in it, also when the answers take a moment."""
    begun: list[str] = []

    async def app(exchange: Exchange) -> None:
        begun.append(exchange.request.path)
        await trio.lowlevel.checkpoint()
        echo(exchange)

    paths, limits = ["/ann", "/bob", "/cas", "/dee"], Limits()
    (listener,) = await listeners("127.0.0.1", 0, limits)
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        attend, admission = Http(app, guard, limits).attend, Admission(limits)
        nursery.start_soon(partial(serve, listener, attend, guard=guard, admission=admission, limits=limits))
        for _ in range(TIMES):
            begun.clear()
            with connections(listener.getsockname()[1], len(paths)) as clients:
                await say_in_order([*reversed(clients)], [get(path) for path in paths])
            assert begun == paths
        nursery.cancel_scope.cancel()
