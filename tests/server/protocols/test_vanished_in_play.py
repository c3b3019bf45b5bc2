"""A machine that vanishes in the middle of a match: whose fault it is that the time of its bot runs out."""

import socket
from functools import partial

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.net.admission import Admission
from server.net.limits import Limits
from server.net.listening import listeners, serve
from server.protocols import tcp
from tests.hang import HANG, wait_for
from tests.server.connected import linux, vanish
from tests.server.transcripts import hosting
from tournament.events import Fault

SETTINGS = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2", "turn": "5"}
STEP = 0.05  # seconds: a host notices steps that are much longer, and gives them back to the clocks


@linux
@pytest.mark.parametrize("vanishes", [True, False])
async def test_whoever_runs_out_of_time_because_its_machine_has_vanished_is_not_blamed(
    vanishes: bool, mock_clock: MockClock
) -> None:
    """Catches a bot that is told to think faster, and never had the question."""
    (listener,) = await listeners("127.0.0.1", 0, Limits())
    with trio.fail_after(HANG):
        async with hosting(SETTINGS) as (host, nursery):
            serving = partial(serve, guard=host.guard, admission=Admission(host.limits), limits=host.limits)
            nursery.start_soon(partial(serving, listener, partial(tcp.attend, host)))
            bots = {name: socket.create_connection(listener.getsockname()[:2]) for name in ("ann", "bob")}
            for name, bot in bots.items():
                say(bot, type="hello", name=name, game="tic-tac-toe")
            cup = host.tournaments["cup"]
            while not cup.matches:
                await trio.lowlevel.checkpoint()
            (match,) = cup.matches.values()
            if vanishes:
                vanish(bots[match.names[1]])
            say(bots[match.names[0]], type="move", move="C")
            while match.ply == 0:
                await trio.lowlevel.checkpoint()
            await trio.testing.wait_all_tasks_blocked()
            silent = match.unanswered[1]
            assert silent is not None
            if vanishes:
                wait_for(silent)
            while match.verdict is None:
                mock_clock.jump(STEP)
                await trio.testing.wait_all_tasks_blocked()
            for bot in bots.values():
                bot.close()
            nursery.cancel_scope.cancel()
    assert match.verdict.winner == 0
    assert match.verdict.fault is (Fault.NETWORK if vanishes else Fault.BOT)
    assert ("its machine had not answered for" in match.verdict.why) == vanishes


def say(bot: socket.socket, **message: str) -> None:
    bot.sendall(msgspec.json.encode(message) + b"\n")
