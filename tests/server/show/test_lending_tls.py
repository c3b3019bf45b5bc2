"""Lending under TLS, where play cannot give its connections away and copies for show."""

import socket
import ssl
from contextlib import suppress
from math import inf

import pytest
import trio
import trio.testing

from server.http.exchange import Exchange
from server.http.wire import Response
from server.net.limits import Limits
from server.show.conduit import Conduit, Lend, NoRoom, ToShow
from tests.server.show.lent import Both, at_stream, everything, files_open, playing, possible, says, until
from tests.server.web import Holds, Streams, get, post

pytestmark = [pytest.mark.slow, possible]


async def test_every_request_is_answered_where_it_belongs_however_the_requests_are_cut() -> None:
    asked = get("/1") + post(b"2") + get("/3") + get("/4") + post(b"5") + post(b"6") + get("/7")
    answers = [b"show /1 ", b"play / 2", b"show /3 ", b"show /4 ", b"play / 5", b"play / 6", b"show /7 "]
    async with playing(secure=True) as both:
        show = await both.show(says("show"))
        client = await both.connect()
        for cut in range(0, len(asked), 3):
            await client.end.send_all(asked[:cut])
            await client.end.send_all(asked[cut:])
            assert [(await client.answer()).body for _ in answers] == answers
        assert not both.guard.caught
        assert not show.guard.caught


async def test_lent_and_back_a_hundred_times_leaves_no_descriptor_open_and_counts_those_that_are() -> None:
    async with playing(secure=True) as both:
        show = await both.show(says("show"))
        client = await both.connect()
        await client.ask(get("/first"))
        await client.ask(post(b"first"))
        before = files_open()
        for _ in range(100):
            assert (await client.ask(get("/x"))).body == b"show /x "
            assert both.admission.files_beside == 2
            assert (await client.ask(post(b"x"))).body == b"play / x"
            assert both.admission.files_beside == 0
        await until(lambda: not len(show.borrowing))
        assert files_open() == before


async def test_without_room_for_the_descriptors_that_it_takes_play_answers() -> None:
    async with playing(secure=True, limits=Limits(spare_files=0), files=3) as both:
        await both.show(says("show"))
        first, second = await both.connect(), await both.connect()
        assert (await second.ask(post(b"x"))).status == 200
        assert (await first.ask(get("/x"))).status == 503
        await trio.aclose_forcefully(second.end)
        await until(lambda: len(both.admission) == 1)
        assert (await first.ask(get("/x"))).status == 200


async def test_a_request_behind_a_page_that_the_client_takes_slowly_waits_for_it() -> None:
    """Catches what is lost, doubled or overtaken between the relay and the answers of play."""
    page = bytes(range(256)) * 400  # more than lies in the pair and less than an outbox takes

    def show_app(exchange: Exchange) -> None:
        exchange.respond(Response(body=page))

    async with playing(secure=True) as both:
        await both.show(show_app)
        client = await both.connect()
        for _ in range(20):
            await client.end.send_all((get("/page") * 3 + post(b"behind")) * 3)
            for _ in range(3):
                for _ in range(3):
                    assert (await client.answer()).body == page
                assert (await client.answer()).body == b"play / behind"


async def test_a_show_that_dies_costs_what_waited_a_503_and_what_was_begun_its_connection() -> None:
    held, streams = Holds(), Streams()

    async with playing(secure=True) as both:
        show = await both.show(at_stream(streams, held))
        waiting, begun, half = [await both.connect() for _ in range(3)]
        await waiting.end.send_all(get("/held") + post(b"ahead"))
        await begun.end.send_all(get("/stream"))
        await half.end.send_all(get("/held"))
        await until(lambda: len(held.exchanges) == 2 and streams.streams)
        streams.streams[0].put(b"so far")
        await half.end.send_all(get("/half")[:9])
        await trio.testing.wait_all_tasks_blocked(0.01)
        await show.kill()
        answer = await waiting.answer()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert (await waiting.answer()).body == b"play / ahead"
        assert (await waiting.ask(get("/again"))).status == 503
        assert (await everything(begun)).endswith(b"\r\n\r\n6\r\nso far\r\n")
        assert (await half.answer()).headers["connection"] == "close"
        await until(lambda: len(both.admission) == 1)
        assert both.admission.files_beside == 0


def waits(passed: socket.socket) -> int:
    """How many bytes there are to read."""
    try:
        return len(passed.recv(1 << 16, socket.MSG_PEEK))
    except BlockingIOError:
        return 0


async def test_what_was_asked_ahead_of_a_show_that_has_no_room_is_answered_by_play() -> None:
    """Catches a client that waited in vain, or whose next request began in the middle of one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ahead = post(b"ahead")
    async with playing(secure=True) as both:
        with ours, theirs:
            conduit, lent = Conduit[ToShow](theirs, ToShow, inf), list[tuple[int, socket.socket]]()

            def take(message: ToShow, descriptor: int | None) -> None:
                assert isinstance(message, Lend)
                lent.append((message.number, socket.socket(fileno=descriptor)))

            both.nursery.start_soon(both.lending.connect, ours)
            both.nursery.start_soon(conduit.hear, take)
            client = await both.connect()
            for cut in (0, 9, len(ahead)):
                await client.end.send_all(get("/a"))
                await until(lambda: lent)
                number, passed = lent.pop()
                with passed:
                    await client.end.send_all(ahead[:cut])
                    while waits(passed) < cut:
                        await trio.lowlevel.checkpoint()
                conduit.say(NoRoom(number))
                assert (await client.answer()).status == 503
                await client.end.send_all(ahead[cut:])
                assert (await client.answer()).body == b"play / ahead"
            both.nursery.cancel_scope.cancel()


@pytest.mark.parametrize("path", ["/held", "/stream"])
async def test_a_client_that_hangs_up_while_it_is_lent_has_left(path: str) -> None:
    held, streams = Holds(), Streams()

    async with playing(secure=True) as both:
        show = await both.show(at_stream(streams, held))
        client = await both.connect()
        await client.end.send_all(get(path))
        await until(lambda: held.exchanges or streams.streams)
        await trio.aclose_forcefully(client.end)
        await until(lambda: held.gone or streams.gone)
        await until(lambda: not len(both.admission) and not len(show.borrowing))
        assert not len(both.lending)


async def test_a_connection_ends_where_show_ends_it() -> None:
    async with playing(secure=True) as both:
        show = await both.show(says("show"))
        client = await both.connect()
        await client.end.send_all(get("/last", "Connection: close"))
        assert (await everything(client)).endswith(b"show /last ")
        await trio.aclose_forcefully(client.end)
        await until(lambda: not len(both.admission) and not len(show.borrowing))


async def answers_to_the_end(both: Both, asked: bytes) -> bytes:
    """What a client is sent that says the end of TLS together with what it asks, until it is told it, too.

    Raises `ssl.SSLEOFError` where the connection ends without that: it could have been cut by anybody.
    """
    came, goes, got = ssl.MemoryBIO(), ssl.MemoryBIO(), b""
    assert both.trusting is not None
    tls = both.trusting.wrap_bio(came, goes, server_hostname="localhost")
    async with await trio.open_tcp_stream("127.0.0.1", both.port) as stream:

        async def exchange() -> None:
            await stream.send_all(goes.read())
            if received := await stream.receive_some():
                came.write(received)
            else:
                came.write_eof()

        while tls.version() is None:
            with suppress(ssl.SSLWantReadError):
                tls.do_handshake()
                break
            await exchange()
        if asked:
            tls.write(asked)
        with suppress(ssl.SSLWantReadError):
            tls.unwrap()
        while True:
            try:
                piece = tls.read()
                if not piece:
                    raise ssl.SSLEOFError("as newer Pythons say by themselves")
                got += piece
            except ssl.SSLZeroReturnError:
                return got
            except ssl.SSLWantReadError:
                await exchange()


@pytest.mark.parametrize("last", [(), ("Connection: close",)], ids=["goes on", "says that it is the last"])
async def test_whoever_says_the_end_of_tls_is_answered_everything_and_told_the_end(last: tuple[str]) -> None:
    """Catches pages of which nothing came, because their end was heard before they were copied."""
    async with playing(secure=True) as both:
        show = await both.show(says("show"))
        for asked, said in (
            (b"", []),
            (get("/play", *last), [b"play /play "]),
            (get("/1", *last), [b"show /1 "]),
            (post(b"1") + get("/2", *last), [b"play / 1", b"show /2 "]),
            (get("/1") + post(b"2") + get("/3", *last), [b"show /1 ", b"play / 2", b"show /3 "]),
        ):
            for _ in range(10):
                got = await answers_to_the_end(both, asked)
                bodies = [part.partition(b"HTTP/1.1")[0] for part in got.split(b"\r\n\r\n")[1:]]
                assert bodies == said
        await until(lambda: not (len(both.lending) or len(both.admission) or len(show.borrowing)))
        assert both.admission.files_beside == 0


@pytest.mark.parametrize("path", ["/play/stream", "/stream"], ids=["of play", "of show"])
async def test_what_is_cut_off_in_the_middle_does_not_look_whole(path: str) -> None:
    """Catches the end of TLS behind half an answer of which an old client knows only that it ends there."""
    play, show = Streams(), Streams()
    async with playing(play, limits=Limits(linger_seconds=0.01), secure=True) as both:
        await both.show(show)
        with pytest.raises(ssl.SSLEOFError):
            await answers_to_the_end(both, b"GET %b HTTP/1.0\r\n\r\n" % path.encode())
        assert play.streams or show.streams
