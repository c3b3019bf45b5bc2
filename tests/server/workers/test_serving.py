"""A worker's side of connections: those that it is handed come to it in the order of handing over."""

import socket
from contextlib import ExitStack

import trio
import trio.testing

from server.host.host import Host
from server.workers.messages import Hand
from server.workers.serving import Serving
from tests.server.at_once import TIMES

NAMES = ["ann", "bob", "cas", "dee"]


async def test_bots_that_are_handed_over_together_come_in_in_that_order() -> None:
    for _ in range(TIMES):
        host = Host()
        async with trio.open_nursery() as nursery:
            await nursery.start(host.run)
            serving = Serving(host, lambda message: None)
            with ExitStack() as stack:
                for number, name in enumerate(NAMES):
                    ours, theirs = socket.socketpair()
                    stack.enter_context(ours)
                    pieces = ((f"{name}\n".encode(), trio.current_time()),)
                    serving.serve(Hand(number, "tcp", "", "", False, pieces), theirs.detach())
                await trio.testing.wait_all_tasks_blocked()
                players = sorted(host.lobby.players("santorini"), key=lambda player: player.arrival)
                assert [player.name for player in players] == NAMES
            nursery.cancel_scope.cancel()
