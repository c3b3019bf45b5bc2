"""What the kernel says of a connection that others have descriptors of too."""

import socket
from contextlib import ExitStack, suppress

from server.net.tcp_use import tcp_taken, tcp_use
from tests.hang import wait_for
from tests.server.connected import linux


def connected(stack: ExitStack) -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = stack.enter_context(socket.create_connection(listener.getsockname()))
        server, _ = listener.accept()
    return stack.enter_context(server), client


@linux
def test_bytes_that_anybody_wrote_or_read_are_counted_each_once() -> None:
    with ExitStack() as stack:
        server, client = connected(stack)
        other = stack.enter_context(server.dup())
        assert tcp_use(server) == (0, 0)
        client.send(b"12345")
        assert server.recv(5, socket.MSG_PEEK | socket.MSG_WAITALL) == b"12345"
        assert tcp_use(server) == (0, 0)
        other.recv(2)
        assert tcp_use(server) == (0, 2)
        other.send(b"abc")
        assert tcp_use(server) == (3, 2)
        client.shutdown(socket.SHUT_WR)
        assert server.recv(5) == b"345"
        use = tcp_use(server)
        assert use is not None
        assert use[0] == 3


@linux
def test_what_is_written_and_not_yet_sent_counts_as_well() -> None:
    with ExitStack() as stack:
        server, _ = connected(stack)
        server.setblocking(False)
        written = 0
        with suppress(BlockingIOError):
            while True:
                written += server.send(b"x" * 65536)
        assert tcp_use(server) == (written, 0)


@linux
def test_what_the_machine_of_a_peer_has_taken_counts_whether_or_not_it_was_read() -> None:
    with ExitStack() as stack:
        server, client = connected(stack)
        before = tcp_taken(server)
        assert before is not None
        server.send(b"12345")
        wait_for(lambda: tcp_taken(server) == before + 5, "an acknowledgement")
        assert client.recv(5) == b"12345"
        assert tcp_taken(server) == before + 5


def test_nothing_is_known_of_what_is_not_an_open_tcp_connection() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert tcp_use(ours) is None
        assert tcp_taken(ours) is None
    with ExitStack() as stack:
        server, _ = connected(stack)
        server.shutdown(socket.SHUT_WR)
        assert tcp_use(server) is None
