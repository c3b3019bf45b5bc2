"""Listening, on real sockets."""

import errno
import os
import select
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing
import trustme
from structlog.testing import capture_logs

from server.http.service import Http
from server.net.admission import Admission, Visitor
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.listening import TRIES, Attend, CannotListen, addresses, listeners, opened, serve, where
from server.net.open_files import room_for_files
from server.net.proxies import Proxies
from server.net.readiness import readiness
from server.net.wire import Wire
from tests.hang import HANG
from tests.loopback import HAS_IPV6, ipv6
from tests.ports import free_ports
from tests.server.connected import linux
from tests.server.web import HEAD, echo, get

LIMITS = Limits(connections_per_address=3, unauthenticated=5, spare_files=2)
ROUNDS = 30  # of two that come in either order
FLOOD = 60  # connections that all came before any is accepted
FEW = 8  # that are begun between two turns of a task: two lots, since trio runs a round's tasks in any order


def certified() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a host at localhost needs for TLS, and a client that trusts it."""
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(client)
    return server, client


@asynccontextmanager
async def listening(
    attend: Attend, *, tls: ssl.SSLContext | None = None, http: bool = False, limits: Limits | None = None
) -> AsyncIterator[tuple[socket.socket, Guard]]:
    """Something that listens on a free port, and the guard of its connections."""
    limits = limits or Limits()
    (listener,) = await listeners("127.0.0.1", 0, limits)
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            guard = Guard(nursery)
            handler = Http(echo, guard, limits).attend if http else attend
            admission = Admission(limits, room_for_files())
            context = None if tls is None else lambda: tls
            nursery.start_soon(
                partial(
                    serve, listener, handler, guard=guard, admission=admission, limits=limits, tls=context
                )
            )
            yield listener, guard
            nursery.cancel_scope.cancel()
    assert listener.fileno() == -1


async def connect(listener: socket.socket) -> trio.SocketStream:
    host, port = where(listener).rsplit(":", 1)
    return await trio.open_tcp_stream(host.strip("[]"), int(port))


async def says_who(wire: Wire, visitor: Visitor) -> None:
    await wire.send_some(f"{wire.peer} {wire.secure}".encode())


async def everything(stream: trio.abc.Stream) -> bytes:
    """What is said until the end, be it an orderly one or not."""
    got = b""
    with suppress(trio.BrokenResourceError):
        while received := await stream.receive_some():
            got += received
    return got


async def test_each_connection_is_attended_and_closed_when_that_ends() -> None:
    async with listening(says_who) as (listener, _):
        for _ in range(3):
            async with await connect(listener) as client:
                assert await everything(client) == b"127.0.0.1 False"


async def test_a_connection_that_fails_harms_no_other() -> None:
    async def fails(wire: Wire, visitor: Visitor) -> None:
        if await wire.receive() == b"fail":
            raise KeyError("a mistake")
        wire.send_now(b"fine")

    async with listening(fails) as (listener, guard):
        with capture_logs():
            for said, heard in ((b"fail", b""), (b"go on", b"fine"), (b"fail", b""), (b"go on", b"fine")):
                async with await connect(listener) as client:
                    await client.send_all(said)
                    assert await everything(client) == heard
        assert sum(guard.caught.values()) == 2


async def test_while_a_flood_of_connections_is_let_in_everybody_else_gets_turns() -> None:
    begun = 0

    async def count(wire: Wire, visitor: Visitor) -> None:
        nonlocal begun
        begun += 1

    limits = Limits(backlog=FLOOD)
    (listener,) = await listeners("127.0.0.1", 0, limits)
    with ExitStack() as clients:
        for _ in range(FLOOD):
            clients.enter_context(socket.create_connection(listener.getsockname()))
        with trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:
                guard = Guard(nursery)
                serving = partial(
                    serve, listener, count, guard=guard, admission=Admission(limits), limits=limits
                )
                nursery.start_soon(serving)
                between = list[int]()
                while begun < FLOOD:
                    before = begun
                    await trio.lowlevel.checkpoint()
                    between.append(begun - before)
                nursery.cancel_scope.cancel()
    assert max(between) <= FEW


async def test_while_a_flood_of_handshakes_is_made_everybody_else_gets_turns() -> None:
    """Catches hundreds of strangers whose handshakes hold up all matches for a fifth of a second."""
    server, theirs = certified()
    begun = 0

    async def count(wire: Wire, visitor: Visitor) -> None:
        nonlocal begun
        begun += 1

    async def come(stream: trio.SocketStream, may: trio.Event) -> None:
        client = trio.SSLStream(stream, theirs, server_hostname="localhost")
        await may.wait()
        async with stream:
            with suppress(trio.BrokenResourceError):  # nobody attends it for longer than it takes to count it
                await client.do_handshake()

    async with listening(count, tls=server) as (listener, _), trio.open_nursery() as nursery:
        may = trio.Event()
        for _ in range(FLOOD):
            nursery.start_soon(come, await connect(listener), may)
        await trio.testing.wait_all_tasks_blocked()
        may.set()
        between = list[int]()
        while begun < FLOOD:
            before = begun
            await trio.lowlevel.checkpoint()
            between.append(begun - before)
    assert max(between) <= FEW


@linux
async def test_a_flood_of_handshakes_from_one_address_keeps_no_other_waiting() -> None:
    """Catches a stranger who keeps all others out: their handshakes had to wait behind those of the flood."""
    server, theirs = certified()
    to_say = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        theirs.wrap_bio(ssl.MemoryBIO(), to_say, server_hostname="localhost").do_handshake()
    hello = to_say.read()
    async with listening(says_who, tls=server, limits=Limits(backlog=2 * FLOOD)) as (listener, _):
        with ExitStack() as clients:
            flood = [socket.create_connection(listener.getsockname()) for _ in range(2 * FLOOD)]
            for each in flood:
                clients.enter_context(each)
                each.send(hello)
                each.setblocking(False)
            other = clients.enter_context(
                socket.create_connection(listener.getsockname(), source_address=("127.0.0.2", 0))
            )
            other.send(hello)
            other.setblocking(False)
            await trio.lowlevel.wait_readable(other)
            answered, _, _ = select.select(flood, [], [], 0)
        assert len(answered) < FLOOD


async def test_http_is_served_over_sockets() -> None:
    async with listening(says_who, http=True) as (listener, guard):
        async with await connect(listener) as client:
            for path in ("/1", "/2"):
                await client.send_all(get(path))
                assert await client.receive_some() == HEAD + b"2\r\n\r\n" + path.encode()
            await client.send_all(get("/3", "Connection: close"))
            assert await everything(client) == HEAD + b"2\r\nConnection: close\r\n\r\n/3"
        async with await connect(listener) as client:
            await client.send_all(b"\x16\x03\x01 a client that speaks TLS" + b"x" * 100_000)
            assert (await everything(client)).startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert not guard.caught


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="there is no epoll on this system")
async def test_from_the_bytes_of_a_request_to_those_of_its_answer_there_is_no_task_switch() -> None:
    async with listening(says_who, http=True) as (listener, _), await connect(listener) as client:
        await client.send_all(get())
        await client.receive_some()
        watcher = readiness()
        assert watcher is not None
        client.socket._sock.send(get("/now"))
        with trio.testing.assert_no_checkpoints():
            watcher.sweep()
            assert client.socket._sock.recv(1000) == HEAD + b"4\r\n\r\n/now"


async def test_tls_is_spoken_where_there_is_a_certificate() -> None:
    server, theirs = certified()
    async with listening(says_who, tls=server, http=True) as (listener, guard):
        async with trio.SSLStream(await connect(listener), theirs, server_hostname="localhost") as client:
            await client.send_all(get("/1") + get("/2", "Connection: close"))
            assert await everything(client) == (
                HEAD + b"2\r\n\r\n/1" + HEAD + b"2\r\nConnection: close\r\n\r\n/2"
            )
        async with await connect(listener) as plain:
            await plain.send_all(get())
            assert HEAD not in await everything(plain)
        assert not guard.caught
    async with listening(says_who, tls=server) as (listener, _), await connect(listener) as plain:
        client = trio.SSLStream(plain, theirs, server_hostname="localhost")
        assert await everything(client) == b"127.0.0.1 True"


async def test_a_connection_under_tls_that_another_process_serves_ends_with_all_files_that_it_takes() -> None:
    """Catches two files, and a task, for each bot that another worker hangs up on."""
    server, theirs = certified()
    passed: list[socket.socket | None] = []

    async def attend(wire: Wire, visitor: Visitor) -> None:
        passed.append(wire.let_go())

    async with listening(attend, tls=server) as (listener, guard), await connect(listener) as plain:
        client = trio.SSLStream(plain, theirs, server_hostname="localhost")
        await client.do_handshake()
        with suppress(trio.BrokenResourceError):
            await client.receive_some()
        (end,) = passed
        assert end is not None
        while end.fileno() >= 0:  # noqa: ASYNC110 - nobody tells
            await trio.sleep(0.01)
    assert not guard.caught


async def test_whoever_is_still_sending_over_tls_may_read_the_last_answer() -> None:
    """Catches a connection that was closed at once, so that sending failed before the answer was read."""
    server, theirs = certified()
    limits = Limits(linger_seconds=HANG)
    async with listening(says_who, tls=server, http=True, limits=limits) as (listener, guard):
        async with trio.SSLStream(await connect(listener), theirs, server_hostname="localhost") as client:
            await client.send_all(get("/1", "Connection: close"))
            assert (await everything(client)).endswith(b"\r\n\r\n/1")
            for _ in range(100):
                await client.send_all(bytes(10_000))
        assert not guard.caught


async def test_a_process_that_serves_somebody_over_tls_hears_that_the_peer_has_gone_without_a_word() -> None:
    """Catches a bot that counts as here, in a worker, long after its connection was lost."""
    server, theirs = certified()
    lent = list[trio.SocketStream]()

    async def lend(wire: Wire, visitor: Visitor) -> None:
        passed = wire.let_go()
        assert passed is not None
        lent.append(trio.SocketStream(trio.socket.from_stdlib_socket(passed.dup())))
        await wire.pump(lambda received: None)

    async with listening(lend, tls=server) as (listener, guard), await connect(listener) as plain:
        client = trio.SSLStream(plain, theirs, server_hostname="localhost")
        await client.send_all(b"hello")
        while not lent:
            await trio.testing.wait_all_tasks_blocked()
        assert await lent[0].receive_some() == b"hello"
        await plain.aclose()  # TLS itself says nothing
        assert await everything(lent[0]) == b""
        await lent[0].aclose()
        assert not guard.caught


async def test_half_a_handshake_is_not_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    async with listening(says_who, tls=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)) as (listener, guard):
        async with await connect(listener) as client:
            await client.send_all(b"\x16\x03\x01\x02\x00")
            assert await everything(client) == b""
        assert trio.current_time() == pytest.approx(Limits().handshake_seconds)
        assert not guard.caught


async def test_a_handshake_during_which_the_host_stands_still_is_made(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Catches bots that are hung up on because the machine of their host was paused for some seconds."""
    server, theirs = certified()
    heard, to_say = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = theirs.wrap_bio(heard, to_say, server_hostname="localhost")
    async with listening(says_who, tls=server) as (listener, guard), await connect(listener) as plain:
        with suppress(ssl.SSLWantReadError):
            client.do_handshake()
        hello = to_say.read()
        await plain.send_all(hello[:100])
        await trio.testing.wait_all_tasks_blocked(0.01)
        with socket.socket(fileno=os.dup(plain.socket.fileno())) as at_once:
            at_once.send(hello[100:])
        autojump_clock.jump(2 * Limits().handshake_seconds)
        said = b""
        while not said and (received := await plain.receive_some()):
            heard.write(received)
            with suppress(ssl.SSLWantReadError):
                client.do_handshake()
                said = client.read()
            await plain.send_all(to_say.read())
        assert said == b"127.0.0.1 True"
        assert not guard.caught


@pytest.mark.parametrize(
    "said", [b"PROXY TCP4 nobody\r\n", b"PROXY TCP4 198.51.100.1 192.0.2.1 1 2\r\nhello"]
)
async def test_whoever_is_not_introduced_or_shakes_no_hands_is_not_served_and_counts_no_more(
    said: bytes,
) -> None:
    """Catches a host that such connections fill up, one after the other."""
    server, _ = certified()
    limits, attended = Limits(), list[Wire]()
    admission = Admission(limits, proxies=Proxies(["127.0.0.1"]))

    async def attend(wire: Wire, visitor: Visitor) -> None:
        attended.append(wire)

    (listener,) = await listeners("127.0.0.1", 0, limits)
    with trio.fail_after(HANG), capture_logs():
        async with trio.open_nursery() as nursery:
            guard = Guard(nursery)
            serving = partial(serve, guard=guard, admission=admission, limits=limits, headers=True)
            nursery.start_soon(partial(serving, listener, attend, tls=lambda: server))
            async with await connect(listener) as client:
                await client.send_all(said)
                await everything(client)
                while len(admission):
                    await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
    assert not attended


@linux
async def test_what_comes_over_tls_has_arrived_when_it_was_read_from_the_socket(
    mock_clock: trio.testing.MockClock,
) -> None:
    """Catches bots that are charged, over TLS alone, for the time in which the host was busy with others."""
    server, theirs = certified()
    arrived = list[tuple[bytes, float]]()
    heard, to_say = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = theirs.wrap_bio(heard, to_say, server_hostname="localhost")

    async def hears(wire: Wire, visitor: Visitor) -> None:
        await wire.pump(lambda received: arrived.append((received, wire.arrived)))

    async with listening(hears, tls=server) as (listener, _), await connect(listener) as plain:
        while client.version() is None or not client.session:
            with suppress(ssl.SSLWantReadError):
                client.do_handshake()
                break
            await plain.send_all(to_say.read())
            heard.write(await plain.receive_some())
        client.write(b"first")
        await plain.send_all(to_say.read())
        while not arrived:
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked()  # it is read from again
        client.write(b"move")
        await plain.send_all(to_say.read())
        sockets = readiness()
        assert sockets is not None
        sockets.sweep()
        read = trio.current_time()
        mock_clock.jump(1.0)
        while len(arrived) < 2:
            await trio.lowlevel.checkpoint()
        assert arrived[1] == (b"move", read)


class Troubled(socket.socket):
    """A listening socket of which the first connections come to nothing."""

    troubles: list[int]

    def accept(self) -> tuple[socket.socket, object]:
        if self.troubles:
            raise OSError(self.troubles.pop(0), "trouble")
        return super().accept()


@pytest.mark.parametrize(
    ("troubles", "takes"),
    [([errno.EMFILE] * 20, 2.0), ([errno.ENOBUFS, errno.ENFILE], 0.2), ([errno.ECONNABORTED] * 3, 0.0)],
)
async def test_listening_outlives_what_befalls_one_connection_and_a_lack_of_files(
    troubles: list[int], takes: float, autojump_clock: trio.testing.MockClock
) -> None:
    (plain,) = await listeners("127.0.0.1", 0, Limits())
    listener = Troubled(plain.family, plain.type, plain.proto, plain.detach())
    listener.setblocking(False)
    listener.troubles = list(troubles)
    async with trio.open_nursery() as nursery:
        guard, limits = Guard(nursery), Limits()
        with capture_logs() as logs:
            client = await connect(listener)
            begun = trio.current_time()
            nursery.start_soon(
                partial(serve, listener, says_who, guard=guard, admission=Admission(limits), limits=limits)
            )
            assert await everything(client) == b"127.0.0.1 False"
        await client.aclose()
        assert trio.current_time() - begun == pytest.approx(takes)
        assert len(logs) == (1 if takes else 0)
        nursery.cancel_scope.cancel()


async def test_where_there_is_no_room_at_all_a_connection_is_closed() -> None:
    (listener,) = await listeners("127.0.0.1", 0, Limits())
    async with trio.open_nursery() as nursery:
        full = Admission(Limits(), files=Limits().spare_files)
        serving = partial(serve, guard=Guard(nursery), admission=full, limits=Limits())
        nursery.start_soon(serving, listener, says_who)
        async with await connect(listener) as client:
            assert await everything(client) == b""
        nursery.cancel_scope.cancel()


async def test_a_socket_that_does_not_listen_is_no_door() -> None:
    with socket.socket() as deaf, pytest.raises(OSError, match="Invalid argument"):
        await serve(deaf, says_who, guard=Guard(NoTasks()), admission=Admission(Limits()), limits=Limits())


class NoTasks:
    def start_soon(
        self, async_fn: Callable[..., Awaitable[object]], *args: object, name: object = None
    ) -> None:
        raise AssertionError("nobody has come")


# On both addresses of one's own machine.


BOTH = ("127.0.0.1", "::1")


def test_ones_own_machine_is_both_of_its_addresses_where_it_has_both() -> None:
    here = BOTH if HAS_IPV6 else ("127.0.0.1",)
    assert addresses("127.0.0.1") == addresses("localhost") == here
    for elsewhere in ("0.0.0.0", "::", "::1", "127.0.0.2", "192.0.2.1", "host.example"):  # noqa: S104
        assert addresses(elsewhere) == (elsewhere,)


@ipv6
async def test_a_free_port_is_the_same_on_both_and_leads_to_the_same_host() -> None:
    sockets = await opened(BOTH, 0, Limits())
    first, other = map(where, sockets)
    assert (first.rpartition(":")[0], other.rpartition(":")[0]) == ("127.0.0.1", "[::1]")
    assert first.rpartition(":")[2] == other.rpartition(":")[2] != "0"
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            limits = Limits()
            admission = Admission(limits)
            for listener in sockets:
                nursery.start_soon(
                    partial(
                        serve, listener, says_who, guard=Guard(nursery), admission=admission, limits=limits
                    )
                )
            for listener, peer in zip(sockets, BOTH, strict=True):
                async with await connect(listener) as client:
                    assert await everything(client) == f"{peer} False".encode()
            nursery.cancel_scope.cancel()


@ipv6
async def test_a_port_that_is_taken_on_the_other_address_is_an_error_that_says_where() -> None:
    (port,) = free_ports(1)  # on the first address, where the system gives it to nobody else's connection
    with (
        socket.create_server(("::1", port), family=socket.AF_INET6),
        pytest.raises(CannotListen, match=f"cannot listen on ::1 port {port}: Address already in use"),
    ):
        await opened(BOTH, port, Limits())
    for again in await opened(BOTH, port, Limits()):  # nothing was left open on the first
        again.close()


class Crowded:
    """Listens, where a port is taken by somebody else at each of the first tries on the second address."""

    def __init__(self, tries: int) -> None:
        self.left = tries
        self.tried: list[int] = []

    async def listen(self, host: str, port: int, limits: Limits) -> list[socket.socket]:
        if host == "second":
            self.tried.append(port)
            self.left -= 1
            if self.left >= 0:
                raise OSError(errno.EADDRINUSE, "Address already in use")
            return []
        return await listeners(host, port, limits)


@pytest.mark.parametrize("tries", [0, 1, TRIES - 1])
async def test_where_a_free_port_is_not_free_everywhere_others_are_tried(tries: int) -> None:
    crowd = Crowded(tries)
    with capture_logs() as logs:
        (socket_,) = await opened(("127.0.0.1", "second"), 0, Limits(), crowd.listen)
    with socket_:
        assert len(crowd.tried) == tries + 1
        assert socket_.getsockname()[1] == crowd.tried[-1]
    assert logs == []


async def test_where_none_is_free_everywhere_the_first_address_has_to_do_and_that_is_said() -> None:
    crowd = Crowded(TRIES)
    with capture_logs() as logs:
        (socket_,) = await opened(("127.0.0.1", "second"), 0, Limits(), crowd.listen)
    with socket_:
        assert crowd.left == 0
        (said,) = logs
        assert (said["log_level"], said["listening"], said["not_on"]) == ("warning", where(socket_), "second")


async def test_what_was_tried_in_vain_is_free_again() -> None:
    crowd = Crowded(TRIES)
    with capture_logs():
        (socket_,) = await opened(("127.0.0.1", "second"), 0, Limits(), crowd.listen)
    with socket_:
        for port in {*crowd.tried} - {socket_.getsockname()[1]}:
            for again in await listeners("127.0.0.1", port, Limits()):
                again.close()


async def test_a_listener_that_is_to_stop_in_the_moment_in_which_somebody_comes_serves_nobody() -> None:
    """Catches a host that ends with an error, because its guard has ended just before its listener."""
    served: list[bool] = []

    class Serves(Guard):
        def start_soon(self, *task: Any, **named: Any) -> None:
            served.append(stopping.cancel_called)
            _, accepted = task
            accepted.popleft().args[1].close()

    async def attend(wire: Wire, visitor: Visitor) -> None:
        pass

    for _ in range(ROUNDS):
        (listener,) = await listeners("127.0.0.1", 0, LIMITS)
        with listener.dup() as same, trio.CancelScope() as stopping, socket.socket() as client:
            async with trio.open_nursery() as nursery:
                guard = Serves(nursery)
                nursery.start_soon(
                    partial(serve, listener, attend, guard=guard, admission=Admission(LIMITS), limits=LIMITS)
                )
                await trio.testing.wait_all_tasks_blocked()
                client.connect(listener.getsockname())
                await trio.lowlevel.wait_readable(same)  # in one go with the listener, before it or after it
                stopping.cancel()
    assert True not in served
