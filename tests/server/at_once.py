"""Clients that send one after the other, while nobody reads: a door then finds all of it in one sweep."""

import socket
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

import trio.testing

TIMES = 12  # trio runs tasks that wake up together in any order: once would prove nothing


@contextmanager
def connections(port: int, count: int) -> Generator[list[socket.socket]]:
    """So many connections to a door on loopback, in the order of connecting."""
    with ExitStack() as stack:
        address = ("127.0.0.1", port)
        yield [stack.enter_context(socket.create_connection(address)) for _ in range(count)]


async def say_in_order(clients: Sequence[socket.socket], said: Sequence[bytes]) -> None:
    """When all are accepted, have each say its part; returns when the door has taken in all of it."""
    await trio.testing.wait_all_tasks_blocked(0.05)
    for client, part in zip(clients, said, strict=True):
        client.sendall(part)
    await trio.testing.wait_all_tasks_blocked(0.05)
