"""A relayed request, over a link in memory: whole answers, streams, and what ends them early."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.http.exchange import App, Exchange
from server.http.head import HttpError
from server.http.service import Http
from server.http.undecided import UNDECIDED
from server.http.wire import EVENTS, LAST_CHUNK, Response
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.stream_wire import StreamWire
from server.peers.asking import LINGER, LOST, MOST
from server.peers.channel import PIECE, FarEnd
from server.peers.link import Link
from server.peers.messages import WINDOW, Open
from server.protocols.api.giving import LARGE, LEAST, SPARE, give_later

OWN, THEIRS = "Bearer our-token", "their-token"


class Asked:
    """A client at one host, whose requests an application at the other answers."""

    def __init__(self, client: trio.abc.Stream, http: Http, here: Link, guard: Guard) -> None:
        self.client = client
        self.http = http
        self.here = here
        self.guard = guard

    async def say(self, method: str, path: str, *headers: str) -> None:
        lines = (f"{method} {path} HTTP/1.1", "Host: localhost", *headers, "", "")
        await self.client.send_all("\r\n".join(lines).encode())

    async def hear(self, end: bytes) -> bytes:
        heard = b""
        while end not in heard and (more := await self.client.receive_some(1 << 16)):
            heard += more
        return heard


@asynccontextmanager
async def relayed(app: App) -> AsyncIterator[Asked]:
    one, other = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)

        def nobody(wire: FarEnd, opened: Open) -> None:
            raise AssertionError("no bot comes in")

        here = Link(one, 1, nobody, dialled=True)
        there = Link(
            other,
            2,
            nobody,
            dialled=False,
            reply=lambda answering: guard.start_soon(answering.answer, app, guard),
            token=THEIRS,
        )
        nursery.start_soon(here.run)
        nursery.start_soon(there.run)

        def ask(exchange: Exchange) -> Awaitable[object]:
            return here.ask(exchange, organiser=exchange.request.headers.get("authorization") == OWN)

        theirs, ours = trio.testing.lockstep_stream_pair()
        http = Http(ask, guard, Limits())
        guard.start_soon(http.attend, StreamWire(ours, guard, peer="192.0.2.7"))
        yield Asked(theirs, http, here, guard)
        nursery.cancel_scope.cancel()


async def test_an_answer_and_a_refusal_come_back_as_they_were_given(autojump_clock: MockClock) -> None:
    def app(exchange: Exchange) -> None:
        if exchange.request.path == "/no":
            raise HttpError(418, "not here", ("X-Why", "tea"))
        asked = exchange.request
        exchange.respond(
            Response(201, (("X-Path", asked.path),), f"{asked.peer} {asked.query['a']}".encode())
        )

    async with relayed(app) as asked:
        await asked.say("GET", "/yes?a=b")
        answer = await asked.hear(b"192.0.2.7 b")
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert b"X-Path: /yes" in answer
        await asked.say("GET", "/no")
        answer = await asked.hear(b"not here")
        assert answer.startswith(b"HTTP/1.1 418 ")
        assert b"X-Why: tea" in answer
        assert not asked.guard.caught


@pytest.mark.parametrize("why", ["gone", "full"])
async def test_a_request_for_which_a_link_has_no_room_may_be_made_again(
    why: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has carried it out: so an order, too."""

    def nobody(exchange: Exchange) -> None:
        raise AssertionError("nothing comes through")

    async with relayed(nobody) as asked:
        if why == "gone":
            await trio.aclose_forcefully(asked.here._stream)
            await trio.testing.wait_all_tasks_blocked()
        else:
            monkeypatch.setattr("server.peers.link.CHANNELS", 0)
        await asked.say("POST", "/", "Content-Length: 0")
        answer = await asked.hear(LOST.encode())
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in answer


async def test_a_link_carries_any_number_of_requests_one_after_the_other(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches hosts that pass no request on any more once so many have been made."""
    monkeypatch.setattr("server.peers.link.CHANNELS", 1)
    async with relayed(lambda exchange: exchange.respond(Response(200, (), b"answered"))) as asked:
        for _ in range(3):
            await asked.say("GET", "/")
            assert (await asked.hear(b"answered")).startswith(b"HTTP/1.1 200 ")


async def test_an_organiser_of_one_host_is_one_of_the_other_and_nobody_else_is(
    autojump_clock: MockClock,
) -> None:
    def app(exchange: Exchange) -> None:
        exchange.respond(Response(200, (), exchange.request.headers["authorization"].encode()))

    async with relayed(app) as asked:
        for given, seen in ((OWN, f"Bearer {THEIRS}"), ("Bearer guess", "Bearer guess")):
            await asked.say("POST", "/", f"Authorization: {given}", "Content-Length: 0")
            assert seen.encode() in await asked.hear(seen.encode())


async def test_whoever_takes_a_large_answer_too_slowly_is_hung_up_on_at_another_host_as_well(
    autojump_clock: MockClock,
) -> None:
    """What is made for the answer is let go of at once, and the client gets only what is on its way."""
    size, ends = 8 * LARGE, list[float]()

    async def answer() -> Response:
        return Response(200, (), bytes(size))

    async def app(exchange: Exchange) -> None:
        try:
            await give_later(exchange, answer())
        finally:
            ends.append(trio.current_time() - begun)

    async with relayed(app) as asked:
        begun, got = trio.current_time(), 0
        await asked.say("GET", "/")
        while received := await asked.client.receive_some(4096):
            got += len(received)
            await trio.sleep(1.0)
        assert got < 2 * WINDOW
        assert ends[0] < SPARE + size / LEAST
        assert not asked.guard.caught


@pytest.mark.slow
async def test_a_stream_of_which_its_client_takes_nothing_is_cut_off_and_kept_within_bounds(
    autojump_clock: MockClock,
) -> None:
    """Catches events of days that one host keeps for somebody at another who has fallen asleep."""
    put = 0

    def app(exchange: Exchange) -> None:
        nonlocal put
        chunks = exchange.stream(200, (EVENTS,))
        while not exchange.gone:
            chunks.put(bytes(PIECE))
            put += PIECE

    async with relayed(app) as asked:
        await asked.say("GET", "/")
        with suppress(trio.BrokenResourceError):
            assert LAST_CHUNK not in await asked.hear(LAST_CHUNK)
        assert MOST < put <= MOST + PIECE
        assert not asked.guard.caught


async def test_a_stream_goes_on_only_as_its_client_takes_it(autojump_clock: MockClock) -> None:
    put = 0

    async def app(exchange: Exchange) -> None:
        nonlocal put
        chunks = exchange.stream(200)
        while put < 8 * WINDOW and await chunks.drained():
            chunks.put(bytes(1 << 14))
            put += 1 << 14
        chunks.close()

    async with relayed(app) as asked:
        await asked.say("GET", "/")
        await trio.testing.wait_all_tasks_blocked()
        before = put
        assert before < 8 * WINDOW
        assert (await asked.hear(b"\r\n0\r\n\r\n")).endswith(b"\r\n0\r\n\r\n")
        assert put == 8 * WINDOW


@pytest.mark.parametrize("begun", [False, True])
async def test_a_request_whose_host_is_lost_is_refused_or_cut_off(
    autojump_clock: MockClock, begun: bool
) -> None:
    def app(exchange: Exchange) -> None:
        if begun:
            exchange.stream(200).put(b"first")

    async with relayed(app) as asked:
        await asked.say("GET", "/")
        if begun:
            assert b"first" in await asked.hear(b"first")
        await trio.testing.wait_all_tasks_blocked()
        await trio.aclose_forcefully(asked.here._stream)
        rest = await asked.hear(b"second")
        assert b"0\r\n\r\n" not in rest
        assert rest == b"" if begun else rest.startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize(
    ("path", "status"),
    [("/api/tournaments/cup/pause", 502), ("/admin/tournaments/cup/pause", 502), ("/play", 503)],
)
async def test_an_order_whose_host_is_lost_may_have_been_carried_out_and_is_not_refused(
    autojump_clock: MockClock, path: str, status: int
) -> None:
    """Catches 503, which says that nothing was done. What bots ask they ask again, so they are told to."""
    async with relayed(lambda exchange: None) as asked:
        await asked.say("POST", path, "Content-Length: 0")
        await trio.testing.wait_all_tasks_blocked()
        await trio.aclose_forcefully(asked.here._stream)
        answer = await asked.hear(b"}")
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert (UNDECIDED.encode() in answer) == (b"Retry-After" not in answer) == (status == 502)


async def test_an_order_that_another_host_carries_out_is_answered_by_it_when_this_host_stops(
    autojump_clock: MockClock,
) -> None:
    held = list[Exchange]()
    async with relayed(held.append) as asked:
        await asked.say("POST", "/api/tournaments/cup/pause", "Content-Length: 0")
        await trio.testing.wait_all_tasks_blocked()
        asked.http.drain("the host is stopping")
        held[0].respond(Response(200, (), b"paused"))
        assert (await asked.hear(b"paused")).startswith(b"HTTP/1.1 200 ")


async def test_an_order_whose_long_answer_is_cut_off_ends_there(autojump_clock: MockClock) -> None:
    async with relayed(lambda exchange: exchange.stream(200).put(b"first")) as asked:
        await asked.say("POST", "/admin/tournaments/cup/pause", "Content-Length: 0")
        assert b"first" in await asked.hear(b"first")
        await trio.aclose_forcefully(asked.here._stream)
        assert await asked.hear(b"second") == b""
        assert not asked.guard.caught


async def test_a_client_that_hangs_up_is_gone_there_as_well(autojump_clock: MockClock) -> None:
    gone = trio.Event()
    async with relayed(lambda exchange: exchange.on_gone(gone.set)) as asked:
        await asked.say("GET", "/")
        await trio.testing.wait_all_tasks_blocked()
        await asked.client.aclose()
        await gone.wait()


@pytest.mark.parametrize("when", ["at once", "as soon as the client is gone", "a second later"])
async def test_a_client_that_ends_its_side_after_its_request_still_has_the_answer(
    when: str, autojump_clock: MockClock
) -> None:
    """Catches a request that is dropped because its client sends nothing more, as `nc` does not."""

    async def app(exchange: Exchange) -> None:
        gone = trio.Event()
        exchange.on_gone(gone.set)
        if when != "at once":
            await gone.wait()
        if when == "a second later":
            await trio.sleep(1.0)
        exchange.respond(Response(200, (), b"here it is"))

    async with relayed(app) as asked:
        await asked.say("GET", "/")
        await asked.client.send_eof()  # type: ignore[attr-defined]
        assert b"here it is" in await asked.hear(b"here it is")
        assert await asked.client.receive_some() == b""


async def test_nobody_waits_for_ever_for_the_answer_to_a_client_that_is_gone(
    autojump_clock: MockClock,
) -> None:
    async def app(exchange: Exchange) -> None:
        await trio.sleep_forever()

    async with relayed(app) as asked:
        await asked.say("GET", "/")
        await trio.testing.wait_all_tasks_blocked()
        assert asked.here._channels
        await asked.client.aclose()
        await trio.sleep(2 * LINGER)
        assert not asked.here._channels
