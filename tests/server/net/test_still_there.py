"""Whether a peer's machine is still there, as the kernel finds out."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.net.sockets import OPTIONS, set_options
from server.net.still_there import LOOK, RECENT, silence, still_there, unanswered
from tests.hang import HANG, wait_for
from tests.server.connected import linux, vanish


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The server's end of a connection, and the client's."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client = stack.enter_context(socket.create_connection(listener.getsockname()))
        server, _ = listener.accept()
        set_options(server)
        yield stack.enter_context(server), client


@linux
@pytest.mark.parametrize("told", [b"", b"x"], ids=["silent", "told something"])
async def test_a_machine_that_is_there_answers_whether_or_not_its_program_reads(
    told: bytes, ends: tuple[socket.socket, socket.socket]
) -> None:
    server, _ = ends
    with trio.fail_after(HANG):
        await silent_for_long(server)
        server.sendall(told)
        assert await still_there(server)
    assert as_usual(server)


@linux
async def test_afterwards_it_is_asked_as_seldom_as_before_however_many_have_asked_at_once(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    """Catches a connection on which a packet goes each way every second, until its end."""
    server, _ = ends
    with trio.fail_after(HANG):
        await silent_for_long(server)
        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(still_there, server)
        assert as_usual(server)
        await silent_for_long(server)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(still_there, server)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert as_usual(server)


def as_usual(server: socket.socket) -> bool:
    return all(server.getsockopt(level, name) == value for level, name, value in OPTIONS)


@linux
@pytest.mark.parametrize("told", [b"", b"x"], ids=["silent", "told something"])
async def test_one_that_has_vanished_does_not(told: bytes, ends: tuple[socket.socket, socket.socket]) -> None:
    server, client = ends
    vanish(client)
    with trio.fail_after(HANG):
        await silent_for_long(server)
        server.sendall(told)
        assert not await still_there(server)


@linux
def test_what_has_not_arrived_at_a_machine_that_has_vanished_is_known(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    server, client = ends
    assert unanswered(server) == 0.0
    vanish(client)
    server.sendall(b"x")
    assert unanswered(server) == 0.0, "it may be on its way"
    wait_for(lambda: unanswered(server) > 0.0)


@linux
async def test_a_machine_whose_program_reads_nothing_has_answered(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    """Catches a bot that hangs, and is taken for one that has lost its network."""
    server, _ = ends
    with trio.fail_after(HANG):
        server.sendall(b"x")
        await silent_for_long(server)
        assert unanswered(server) == 0.0


@linux
async def test_whoever_has_just_answered_is_not_asked(
    ends: tuple[socket.socket, socket.socket], autojump_clock: MockClock
) -> None:
    """Catches a second of the same name that is refused a second late."""
    server, client = ends
    client.sendall(b"x")
    assert await still_there(server)
    assert trio.current_time() == 0.0


async def silent_for_long(server: socket.socket) -> None:
    """Wait until nothing has come for as long as it takes before anybody is asked."""
    while (silence(server) or 0) < RECENT:  # noqa: ASYNC110 - the kernel does not say when
        await trio.sleep(LOOK)


@linux
async def test_a_connection_that_is_closed_meanwhile_is_gone(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    server, client = ends
    vanish(client)
    with trio.fail_after(HANG):
        await silent_for_long(server)
        async with trio.open_nursery() as nursery:

            async def close() -> None:
                await trio.sleep(LOOK / 2)
                server.close()

            nursery.start_soon(close)
            assert not await still_there(server)


async def test_it_is_not_known_of_what_is_no_tcp(autojump_clock: MockClock) -> None:
    one, other = socket.socketpair()
    with one, other:
        assert await still_there(one)
