"""Lending connections: whoever answers, the client sees one host, and nothing is lost with a show."""

import os
import resource
import socket
import struct
import subprocess
import sys
from contextlib import ExitStack, suppress
from itertools import pairwise

import msgspec
import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from server.http.exchange import Exchange
from server.http.wire import Response
from server.net.hosts import Hosts
from server.net.limits import Limits
from server.net.proxies import Proxies
from server.show.lending import Lending
from tests.effort import tries
from tests.server.show.lent import at_stream, everything, files_open, is_shown, playing, possible, says, until
from tests.server.web import Client, Holds, Streams, get, post, serving

pytestmark = [pytest.mark.slow, possible]

STEP = 5  # bytes from one cut to the next: none of the words between which it matters is shorter

# Where a request is answered.


async def test_every_request_is_answered_where_it_belongs_and_a_connection_stays_where_it_is() -> None:
    async with playing() as both:
        show = await both.show(says("show"))
        client = await both.connect()
        for asked, answered, lent in (
            (get("/a"), b"show /a ", 1),
            (get("/b"), b"show /b ", 1),
            (post(b"move"), b"play / move", 0),
            (post(b"again"), b"play / again", 0),
            (get("/play"), b"play /play ", 0),
            (get("/c"), b"show /c ", 1),
        ):
            answer = await client.ask(asked)
            assert (answer.status, answer.body) == (200, answered)
            assert len(both.lending) == lent
        assert both.lending._number == 2
        assert not both.guard.caught
        assert not show.guard.caught


async def test_what_is_asked_ahead_is_answered_in_order_however_it_is_cut() -> None:
    asked = (
        post(b"1") + get("/2") + get("/3", method="HEAD") + post(b"4") + get("/play") + get("/6")
        + get("/7", "Transfer-Encoding: chunked") + b"1\r\nx\r\n2\r\nyz\r\n0\r\n\r\n"
        + get("/", "Transfer-Encoding: chunked", method="POST") + b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"
        + get("/9", "Connection: close")
    )  # fmt: skip
    expected: bytes | None = None
    async with playing() as both:
        await both.show(says("show"))
        for cut in range(0, len(asked), tries(STEP, 1)):
            client = await both.connect()
            await client.end.send_all(asked[:cut])
            await trio.testing.wait_all_tasks_blocked(0.0005)
            await client.end.send_all(asked[cut:])
            got = await everything(client)
            expected = expected or got
            assert got == expected, cut
            await client.end.aclose()
        assert expected is not None
        assert [part.partition(b"HTTP/1.1")[0] for part in expected.split(b"\r\n\r\n")[1:]] == [
            b"play / 1",
            b"show /2 ",
            b"",
            b"play / 4",
            b"play /play ",
            b"show /6 ",
            b"show /7 xyz",
            b"play / abc",
            b"show /9 ",
        ]


async def test_a_client_that_ends_its_side_after_its_last_request_is_answered_everything() -> None:
    """Catches 503 for a page behind another answer, and silence for what has to go back to play after it."""
    asked = post(b"1") + get("/2") + post(b"3") + get("/play") + get("/5") + get("/6")
    said = [b"play / 1", b"show /2 ", b"play / 3", b"play /play ", b"show /5 ", b"show /6 "]
    async with playing() as both:
        show = await both.show(says("show"))
        for cut in range(0, len(asked), tries(STEP, 1)):
            connected = socket.create_connection(("127.0.0.1", both.port))
            connected.sendall(asked[:cut])
            await trio.testing.wait_all_tasks_blocked(0.0005)
            connected.sendall(asked[cut:])
            connected.shutdown(socket.SHUT_WR)  # and nobody has had a turn since
            connected.setblocking(False)
            async with trio.SocketStream(trio.socket.from_stdlib_socket(connected)) as end:
                client = Client(end)
                assert [(await client.answer()).body for _ in said] == said
                assert await everything(client) == b""
        await until(lambda: not (len(both.lending) or len(both.admission) or len(show.borrowing)))


async def test_lent_and_back_again_and_again_leaves_no_descriptor_open() -> None:
    async with playing() as both:
        show = await both.show(says("show"))
        client = await both.connect()
        await client.ask(get("/first"))
        await client.ask(post(b"first"))
        before = files_open()
        for _ in range(tries(100, 1000)):
            assert (await client.ask(get("/x"))).body == b"show /x "
            assert (await client.ask(post(b"x"))).body == b"play / x"
        await until(lambda: not len(show.borrowing))
        assert files_open() == before
        assert len(both.admission) == 1


async def test_a_stream_of_show_ends_and_the_connection_goes_on() -> None:
    app = Streams()
    async with playing() as both:
        await both.show(app)
        client = await both.connect()
        await client.end.send_all(get("/live") + post(b"ahead"))
        await until(lambda: app.streams)
        for content in (b"one", b"two"):
            app.streams[0].put(content)
        app.streams[0].close()
        assert (await client.answer()).body == b"onetwo"
        assert (await client.answer()).body == b"play / ahead"


async def test_a_request_behind_a_page_that_the_client_takes_slowly_waits_for_it() -> None:
    page = b"x" * 5_000_000

    async def pages(exchange: Exchange) -> None:
        chunks = exchange.stream()
        for _ in range(5):
            chunks.put(page[:1_000_000])
            await chunks.drained()
        chunks.put(page[:1_000_000])
        chunks.close()

    async with playing() as both:
        await both.show(pages)
        client = await both.connect()
        await client.end.send_all(get("/page") + post(b"behind"))
        assert (await client.answer()).body == page + page[:1_000_000]
        assert (await client.answer()).body == b"play / behind"


async def test_a_page_behind_an_answer_that_the_client_takes_slowly_waits_for_it() -> None:
    def play(exchange: Exchange) -> None:
        exchange.respond(Response(body=b"x" * 1_000_000))

    async with playing(play, Limits(outbox_bytes=10_000_000)) as both:
        await both.show(says("show"))
        client = await both.connect()
        await client.end.send_all(b"".join([post(b"")] * 8) + get("/page"))
        for _ in range(8):
            assert len((await client.answer()).body) == 1_000_000
        assert (await client.answer()).body == b"show /page "


async def test_a_move_that_comes_by_way_of_show_is_stamped_when_it_came() -> None:
    holds, played = Holds(), Holds()
    async with playing(played) as both:
        await both.show(holds)
        client = await both.connect()
        await client.end.send_all(get("/held"))
        await until(lambda: holds.exchanges)
        for _ in range(2):
            await client.end.send_all(post(b"move"))
            await trio.testing.wait_all_tasks_blocked(0.01)
        came = trio.current_time()
        for _ in range(20):
            await trio.testing.wait_all_tasks_blocked(0.001)
        holds.exchanges[0].respond(Response())
        await until(lambda: played.exchanges)
        first = played.exchanges[0].request.arrived
        played.exchanges[0].respond(Response())
        await until(lambda: len(played.exchanges) == 2)
        second = played.exchanges[1].request.arrived
        assert holds.exchanges[0].request.arrived < first < second <= came


@pytest.mark.parametrize("size", [30_000, 120_000])
async def test_what_does_not_fit_in_one_packet_comes_in_several(size: int) -> None:
    limits = Limits(head_bytes=size + 1000, body_bytes=size, pipelined_bytes=4 * size)
    async with playing(limits=limits) as both:
        await both.show(says("show"))
        client = await both.connect()
        for _ in range(3):
            assert (await client.ask(get("/a", "Cookie: " + "x" * size))).body == b"show /a "
            body = b"y" * size
            assert (await client.ask(post(body))).body == b"play / " + body


# Who asks.


async def test_another_name_of_the_host_on_the_same_connection_is_for_play_to_judge() -> None:
    async with playing() as both:
        both.admission.hosts = Hosts()
        await both.show(says("show"))
        client = await both.connect()
        own = get("/a").replace(b"Host: a", b"Host: localhost")
        for _ in range(2):
            assert (await client.ask(own)).status == 200
        assert (await client.ask(get("/a"))).status == 421
        assert (await client.ask(own)).body == b"show /a "


async def test_whoever_a_proxy_speaks_for_is_known_in_show() -> None:
    async with playing() as both:
        both.admission.proxies = Proxies(["127.0.0.1"])
        await both.show(says("show"))
        client = await both.connect()
        for person in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1"):
            answer = await client.ask(get("/a", f"X-Forwarded-For: {person}"))
            assert (answer.body, answer.headers["from"]) == (b"show /a ", person)
        assert (await client.ask(get("/a"))).headers["from"] == "127.0.0.1"


# No show, and no room.


async def test_whoever_asks_while_a_worker_is_away_hears_nothing_of_pages() -> None:
    why = "the worker is starting again"
    away = Lending(Limits(), why=why)
    async with serving(away.answer) as server:
        for path in ("/play/2fQx?after=1", "/tic-tac-toe/start/21083c13", "/g/1/moves", "/api/x"):
            answer = await server.connect().ask(get(path))
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert msgspec.json.decode(answer.body) == {"error": why}
        page = await server.connect().ask(get("/g/1", "Accept: text/html"))
        assert (page.status, page.headers["retry-after"]) == (503, "1")
        assert b"<p>The worker is starting again.</p>" in page.body


async def test_without_a_show_whoever_looks_is_told_to_ask_again_and_whoever_plays_notices_nothing() -> None:
    async with playing() as both:
        client = await both.connect()
        for accepts, kind in (("text/html", "text/html"), ("*/*", "application/json")):
            answer = await client.ask(get("/", f"Accept: {accepts}"))
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert answer.headers["content-type"].startswith(kind)
            assert b"starting again" in answer.body
            assert (await client.ask(post(b"x"))).body == b"play / x"
        for _ in range(2):
            show = await both.show(says("show"))
            client = await both.connect()
            assert (await client.ask(get("/a"))).body == b"show /a "
            await show.kill()
            assert await everything(client) == b""
            client = await both.connect()
            assert (await client.ask(get("/a"))).status == 503


async def test_beyond_what_show_may_have_open_play_answers() -> None:
    async with playing() as both:
        show = await both.show(says("show"), most=2)
        clients = [await both.connect() for _ in range(4)]
        statuses = [(await client.ask(get("/a"))).status for client in clients]
        assert statuses == [200, 200, 503, 503]
        assert (await clients[2].ask(post(b"x"))).body == b"play / x"
        assert (await clients[0].ask(post(b"x"))).body == b"play / x"
        await until(lambda: len(show.borrowing) == 1)
        assert (await clients[3].ask(get("/a"))).body == b"show /a "


async def test_a_show_out_of_descriptors_says_so_and_play_answers() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with playing() as both:
        await both.show(says("show"))
        client = await both.connect()
        await client.ask(post(b"x"))
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
        try:
            assert (await client.ask(get("/a"))).status == 503
            assert (await client.ask(post(b"x"))).body == b"play / x"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert (await client.ask(get("/a"))).body == b"show /a "


async def test_while_show_does_not_listen_a_bounded_number_waits_for_it() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    async with playing(limits=Limits(lent_waiting=3)) as both:
        with ours:
            over = trio.Event()

            async def lend() -> None:
                await both.lending.connect(ours)
                over.set()

            both.nursery.start_soon(lend)
            await trio.testing.wait_all_tasks_blocked()
            refused: list[Client] = []
            waiting: list[Client] = []
            while len(refused) < 5:
                lent = len(both.lending)
                client = await both.connect()
                await client.end.send_all(get("/a", "Cookie: " + "x" * 12_000))
                await trio.testing.wait_all_tasks_blocked(0.01)
                (waiting if len(both.lending) > lent else refused).append(client)
            for client in refused:
                assert (await client.answer()).status == 503
                assert (await client.ask(post(b"x"))).body == b"play / x"
            theirs.close()
            await over.wait()
            for client in waiting:
                answer = await client.answer()
                assert (answer.status, answer.headers["retry-after"]) == (503, "1")
                assert (await client.ask(post(b"x"))).body == b"play / x"


async def test_whoever_has_many_connections_wait_for_show_keeps_no_other_address_from_it() -> None:
    """Catches a stranger by whom everybody else gets 503 in place of every page."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    limits = Limits(lent_waiting=8, trust_loopback=False, connections_per_address=1000)
    page = get("/a", "Cookie: " + "x" * 12_000)
    async with playing(limits=limits) as both:
        with ours, ExitStack() as opened:
            over = trio.Event()

            async def lend() -> None:
                await both.lending.connect(ours)
                over.set()

            async def asked(source: str) -> socket.socket:
                client = socket.create_connection(("127.0.0.1", both.port), source_address=(source, 0))
                opened.enter_context(client).sendall(page)
                await trio.testing.wait_all_tasks_blocked(0.01)
                client.setblocking(False)
                return client

            def is_refused(client: socket.socket) -> bool:
                with suppress(BlockingIOError):
                    return client.recv(100).startswith(b"HTTP/1.1 503 ")
                return False

            both.nursery.start_soon(lend)
            await trio.testing.wait_all_tasks_blocked()
            while not is_refused(await asked("127.0.0.2")):
                pass
            waiting, other = both.lending.waiting, is_refused(await asked("127.0.0.3"))
            again = is_refused(await asked("127.0.0.2"))
            theirs.close()
            await over.wait()
    assert (waiting, other, again) == (2, False, True), "a quarter is left to one address"


# How it ends.


async def test_a_show_that_dies_costs_what_waited_a_503_and_what_was_begun_its_connection() -> None:
    held, streams = Holds(), Streams()

    async with playing() as both:
        show = await both.show(at_stream(streams, held))
        waiting = [await both.connect() for _ in range(200)]
        begun = [await both.connect() for _ in range(20)]
        ahead = [await both.connect() for _ in range(20)]
        for client in waiting:
            await client.end.send_all(get("/held"))
        for client in begun:
            await client.end.send_all(get("/stream"))
        for client in ahead:
            await client.end.send_all(get("/held") + post(b"ahead"))
        await until(lambda: len(held.exchanges) == 220 and len(streams.streams) == 20)
        for stream in streams.streams:
            stream.put(b"so far")
        for client in ahead[:10]:
            await client.end.send_all(get("/half")[:9])
        await trio.testing.wait_all_tasks_blocked(0.01)
        await show.kill()
        for client in waiting:
            answer = await client.answer()
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert "connection" not in answer.headers
            assert (await client.ask(post(b"on"))).body == b"play / on"
        for client in begun:
            got = await everything(client)
            assert got.endswith(b"\r\n\r\n6\r\nso far\r\n")
        for number, client in enumerate(ahead):
            answer = await client.answer()
            assert answer.status == 503
            if number < 10:  # show has read the beginning of a request, which is lost with it
                assert answer.headers["connection"] == "close"
                assert await everything(client) == b""
            else:
                assert (await client.answer()).body == b"play / ahead"
        assert not len(both.lending)
        await until(lambda: len(both.admission) == 210)


async def test_half_an_answer_to_a_client_that_knows_no_chunks_does_not_look_whole() -> None:
    """Catches half an export that a proxy speaking HTTP/1.0, as some nginx do, passed on as a whole one."""
    app = Streams()
    async with playing() as both:
        show = await both.show(app)
        whole, half = await both.connect(), await both.connect()
        for number, client in enumerate((whole, half), 1):
            await client.end.send_all(b"GET / HTTP/1.0\r\n\r\n")
            await until(lambda number=number: len(app.streams) == number)
            app.streams[-1].put(b"so far")
            assert (await client.end.receive_some()).endswith(b"\r\n\r\nso far")
        app.streams[0].close()
        assert await whole.end.receive_some() == b""
        await show.kill()
        with pytest.raises(trio.BrokenResourceError):
            await half.end.receive_some()


async def test_an_order_may_have_been_carried_out_by_the_process_that_is_lost_with_it() -> None:
    """Catches 503, which says that nothing was done. What bots ask they ask again, so they are told to."""
    held = Holds()
    told = {"/api/tournaments/cup/pause": 502, "/admin/tournaments/cup/pause": 502, "/g/1/moves": 503}
    async with playing(lambda exchange: both.lending.answer(exchange)) as both:
        worker = await both.show(held)
        clients = [await both.connect() for _ in told]
        for client, path in zip(clients, told, strict=True):
            await client.end.send_all(get(path, "Content-Length: 0", method="POST"))
        await until(lambda: len(held.exchanges) == len(told))
        await worker.kill()
        for client, status in zip(clients, told.values(), strict=True):
            answer = await client.answer()
            assert answer.status == status
            assert ("retry-after" in answer.headers) == (status == 503)


async def test_a_process_that_is_killed_with_two_hundred_requests_in_flight_costs_nobody_more_than_that() -> (
    None
):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    async with playing() as both:
        with theirs:
            command = [sys.executable, "-m", "tests.server.show.borrower", str(theirs.fileno())]
            child = subprocess.Popen(command, pass_fds=[theirs.fileno()])  # noqa: ASYNC220
        over = trio.Event()

        async def lend() -> None:
            with ours:
                await both.lending.connect(ours)
            over.set()

        try:
            both.nursery.start_soon(lend)
            clients: list[Client] = []
            for _ in range(220):  # each asks at once: whoever says nothing for five seconds is hung up on
                clients.append(client := await both.connect())
                assert (await client.ask(get("/a"))).body == b"show /a "
                assert (await client.ask(post(b"b"))).body == b"play / b"
            held, begun = clients[:200], clients[200:]
            for client in held:
                await client.end.send_all(get("/held"))
            for client in begun:
                await client.end.send_all(get("/stream"))
                while not client.over.endswith(b"so far\r\n"):
                    client.over += await client.end.receive_some()
        finally:
            child.kill()
            child.wait()
        await over.wait()
        for client in held:
            assert (await client.answer()).status == 503
            assert (await client.ask(post(b"on"))).body == b"play / on"
        for client in begun:
            assert (await everything(client)).endswith(b"\r\n\r\n6\r\nso far\r\n")
        await until(lambda: len(both.admission) == 200)


@pytest.mark.parametrize("how", ["closes", "resets", "ends"])
async def test_a_client_that_hangs_up_while_it_is_lent_has_left(how: str) -> None:
    holds = Holds()
    async with playing() as both:
        show = await both.show(holds)
        before = files_open()
        client = await both.connect()
        await client.end.send_all(get("/held"))
        await until(lambda: holds.exchanges)
        if how == "resets":
            client.end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await (client.end.send_eof() if how == "ends" else client.end.aclose())
        await until(lambda: holds.gone)
        if how == "ends":
            holds.exchanges[0].respond(Response(body=b"still"))
            assert (await everything(client)).endswith(b"\r\n\r\nstill")
            await client.end.aclose()
        await until(lambda: not len(both.admission))
        assert not len(both.lending)
        assert not len(show.borrowing)
        assert files_open() == before


async def test_play_ends_a_connection_that_is_lent_and_show_learns_of_it() -> None:
    holds = Holds()
    limits = Limits(trust_loopback=False, unauthenticated=2)
    async with playing(limits=limits) as both:
        show = await both.show(holds)
        first, second = await both.connect(), await both.connect()
        for number, client in enumerate((first, second), 1):
            await client.end.send_all(get("/held"))
            await until(lambda: len(holds.exchanges) == number)  # noqa: B023
        holds.exchanges[0].authenticated()
        await trio.testing.wait_all_tasks_blocked(0.01)
        _, fourth = await both.connect(), await both.connect()
        assert await everything(second) == b""
        await until(lambda: holds.gone)
        assert not holds.exchanges[0].gone
        assert len(both.admission) == 3
        holds.exchanges[0].respond(Response(body=b"known"))
        assert (await first.answer()).body == b"known"
        assert (await fourth.ask(post(b"x"))).body == b"play / x"
        await until(lambda: len(show.borrowing) == 1)


async def test_when_play_stops_lending_to_a_show_that_lives_nobody_writes_between_its_answers() -> None:
    holds = Holds()
    async with playing() as both:
        show = await both.show(holds)
        client = await both.connect()
        await client.end.send_all(get("/held"))
        await until(lambda: holds.exchanges)
        show.lends.cancel()
        await show.over.wait()
        holds.exchanges[0].respond(Response(body=b"too late"))
        assert await everything(client) == b""
        assert (await (await both.connect()).ask(get("/held"))).status == 503


async def test_when_the_host_stops_streams_end_as_show_ends_them_and_idle_connections_at_once() -> None:
    streams = Streams()

    async with playing() as both:
        await both.show(at_stream(streams, says("show")))
        idle, streaming = await both.connect(), await both.connect()
        await idle.ask(get("/a"))
        await streaming.end.send_all(get("/stream"))
        await until(lambda: streams.streams)
        both.http.drain("the host stops")
        both.lending.drain("the host stops")
        assert await everything(idle) == b""
        streams.streams[0].put(b"the last")
        streams.streams[0].close()
        assert (await everything(streaming)).endswith(b"8\r\nthe last\r\n0\r\n\r\n")
        await until(lambda: not len(both.lending))


async def test_where_the_two_disagree_about_a_request_it_is_answered_all_the_same() -> None:
    """Catches a connection that goes to and fro for ever."""
    async with playing() as both:
        show = await both.show(says("show"))
        show.borrowing.is_shown = lambda request: False
        client = await both.connect()
        for _ in range(3):
            assert (await client.ask(get("/a") + get("/b"))).body == b"show /a "
            assert (await client.answer()).body == b"show /b "
        assert both.lending._number == 6


asked = st.sampled_from(
    [
        get("/a"),
        get("/b", method="HEAD"),
        get("/play"),
        get("/c", "Content-Length: 3") + b"xyz",
        get("/d", "Transfer-Encoding: chunked") + b"2\r\nxy\r\n0\r\n\r\n",
        post(b"move"),
        post(b"zip", "Content-Encoding: gzip"),
        get("/", "Transfer-Encoding: chunked", "Expect: 100-continue", method="POST")
        + b"1\r\nx\r\n0\r\n\r\n",
        b"\r\n" + get("/e"),
        get("/f", version="1.0"),
        b"nonsense\r\n\r\n",
        get("/" + "x" * 3000),
    ]
)


@given(st.lists(asked, min_size=1, max_size=8), st.lists(st.integers(0, 10_000), max_size=6))
def test_whether_it_is_lent_or_not_a_client_hears_the_same_bytes(
    requests: list[bytes], cuts: list[int]
) -> None:
    whole = b"".join(requests)
    ends = sorted({cut % (len(whole) + 1) for cut in cuts} | {0, len(whole)})

    def inline(exchange: Exchange) -> None:
        says("show" if is_shown(exchange.request) else "play")(exchange)

    async def heard(lends: bool) -> bytes:
        async with playing() if lends else playing(inline) as both:
            if lends:
                await both.show(says("show"))
            else:
                both.http.app = inline
            client = await both.connect()
            with suppress(trio.BrokenResourceError):
                for begun, ended in pairwise(ends):
                    await client.end.send_all(whole[begun:ended])
                    await trio.testing.wait_all_tasks_blocked(0.001)
                await client.end.send_eof()
            return await everything(client)

    assert trio.run(heard, True) == trio.run(heard, False)
