"""What a worker says to worker 0: together, and before bots hear what follows from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from socket import socket

import msgspec

from server.net.readiness import readiness
from server.show.conduit import PACKET, Conduit
from server.workers.messages import FromWorker, Key, Ready, Several, ToWorker
from server.workers.saying import Saying
from server.workers.serving import AdmittedPeer
from server.workers.starting import conduit_pair

_heard = msgspec.msgpack.Decoder(FromWorker)


@contextmanager
def link() -> Iterator[tuple[Saying, socket]]:
    ours, theirs = conduit_pair()
    with ours, theirs:
        theirs.setblocking(False)
        yield Saying(Conduit[ToWorker](ours, ToWorker, inf)), theirs


def heard(theirs: socket) -> list[object]:
    found: list[object] = []
    while True:
        try:
            found.append(_heard.decode(theirs.recv(PACKET)[1:]))
        except BlockingIOError:
            return found


async def test_what_is_said_while_sockets_are_read_is_one_packet_and_comes_first() -> None:
    """Catches a bot that comes with its secret to worker 0 before that has heard of it."""
    sockets = readiness()
    assert sockets is not None
    with link() as (saying, theirs):
        saying.say(Key("alone"))
        assert heard(theirs) == [Key("alone")]
        before: list[object] = []
        for _ in range(2):
            with sockets.together():
                sockets.said.append(lambda: before.extend(heard(theirs)))  # a bot is told this
                saying.say(Key("one"))
                with sockets.together():
                    saying.say(Key("other"))
                assert heard(theirs) == []
            assert before == [Several((Key("one"), Key("other")))]
            before.clear()
        with sockets.together():
            saying.say(Key("single"))
        saying.say(Ready())
        assert heard(theirs) == [Key("single"), Ready()]


def test_that_a_client_has_shown_who_it_is_is_said_once() -> None:
    """Catches a message for each match of a bot that says `start` before it."""
    said: list[object] = []
    visitor = AdmittedPeer(said.append, 1)
    for _ in range(3):
        visitor.authenticated()
    assert len(said) == 1
