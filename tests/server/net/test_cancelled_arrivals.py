"""A law of arrivals: whoever is cancelled at any of its checkpoints holds up nobody who comes after it.

Several connections come at once, over real sockets. The task of one of them is cancelled after its first,
its second, … step, or when it has been woken and is about to take that, until it has no more. A turn or a
lock that it took and kept would hold up the last one.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from server.host.host import Host
from server.net.admission import Admission
from server.net.frames import TEXT, masked
from server.net.guard import Guard, Spawner
from server.net.limits import Limits
from server.net.listening import listeners, serve
from server.net.proxies import Proxies
from server.protocols import tcp, websocket
from tests.hang import HANG
from tests.server.at_once import connections
from tests.server.workers.test_handing import HELLO, Elsewhere, running
from tournament.facts import AnyFact
from tournament.store import Memory

HEADER = b"PROXY TCP4 203.0.113.9 127.0.0.1 56324 8000\r\n"
HANDSHAKE = (
    b"GET /play HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
AT_ONCE = 3  # connections of which one is cancelled, before the last one comes
# Of the tasks that serve these, the first two; and of those that let their bots in, which begin after them.
CONNECTIONS, DECISIONS = (0, 1), (AT_ONCE + 1, AT_ONCE + 2)
MOST = 60  # moments of an arrival: it has far fewer


class Cancelling(Guard, trio.abc.Instrument):
    """Cancels the `victim`th of its tasks at a moment of its life, by number, and counts these.

    Moments are when it is woken, and when it begins to wait.
    """

    def __init__(self, nursery: Spawner, victim: int, moment: int) -> None:
        super().__init__(nursery)
        self.moments = 0
        self.cancelled = False
        self._victim = victim
        self._moment = moment
        self._begun = 0
        self._task: trio.lowlevel.Task | None = None
        self._scope = trio.CancelScope()

    def start_soon(self, async_fn: Any, *args: Any, name: object = None) -> None:
        super().start_soon(self._attended, async_fn, args, name=name)

    async def _attended(self, async_fn: Callable[..., Awaitable[object]], args: Sequence[Any]) -> None:
        self._begun += 1
        if self._begun - 1 != self._victim:
            await async_fn(*args)
            return
        self._task = trio.lowlevel.current_task()
        with self._scope:
            await async_fn(*args)

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if task is self._task:
            self.moments += 1
            if self.moments == self._moment:
                self.cancelled = True
                self._scope.cancel()

    task_scheduled = after_task_step


class SlowToKeep(Memory):
    """A store that takes its time, so that an arrival has checkpoints there."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        for _ in range(3):
            await trio.lowlevel.checkpoint()
        return await super().keep(tournament, when, facts)


def said(door: str, name: str) -> bytes:
    hello = HELLO.replace("ann", name).encode()
    return HANDSHAKE + masked(hello, TEXT, final=True) if door == "websocket" else hello + b"\n"


async def arrivals(
    door: str, proxied: bool, elsewhere: bool, victim: int, moment: int
) -> tuple[Cancelling, Host]:
    """What becomes of some connections, one of which is cancelled; the last one has come in."""
    limits = Limits(linger_seconds=0.01, handshake_seconds=10 * HANG)  # or that would end every wait
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        host = await running(nursery, abroad) if elsewhere else Host(limits, SlowToKeep())
        if not elsewhere:
            await nursery.start(host.run)
        guard = host._guard = Cancelling(nursery, victim, moment)
        trio.lowlevel.add_instrument(guard)
        (listener,) = await listeners("127.0.0.1", 0, limits)
        admission = Admission(limits, proxies=Proxies(["127.0.0.1"] if proxied else []))
        attend = {"tcp": tcp.attend, "websocket": websocket.attend}[door]
        serving = partial(serve, listener, partial(attend, host), guard=guard, admission=admission)
        nursery.start_soon(partial(serving, limits=limits, headers=proxied))
        with connections(listener.getsockname()[1], AT_ONCE + 1) as (*clients, last):
            await trio.testing.wait_all_tasks_blocked()
            for number, client in enumerate(clients):
                client.sendall(HEADER * proxied + said(door, f"bot-{number}"))
            await trio.testing.wait_all_tasks_blocked(0.01)
            last.sendall(HEADER * proxied + said(door, "last"))
            with trio.fail_after(HANG):
                while not came_in(host, abroad, elsewhere):  # noqa: ASYNC110 - a socket wakes nobody here
                    await trio.sleep(0.001)
        trio.lowlevel.remove_instrument(guard)
        nursery.cancel_scope.cancel()
    return guard, host


def came_in(host: Host, abroad: Elsewhere, elsewhere: bool) -> bool:
    if elsewhere:
        return any(b"last" in content for handed in abroad.handed for content, _ in handed.pieces)
    return any(player.present and player.place for player in host.lobby.named("last", "connect-4"))


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", [True, False], ids=["handed over", "let in"])
@pytest.mark.parametrize("proxied", [False, True], ids=["plain", "behind a proxy"])
@pytest.mark.parametrize("door", ["tcp", "websocket"])
async def test_whoever_is_cancelled_at_any_checkpoint_of_its_arrival_holds_nobody_up(
    door: str, proxied: bool, elsewhere: bool
) -> None:
    for victim in CONNECTIONS if elsewhere else (*CONNECTIONS, *DECISIONS):
        for moment in range(1, MOST):
            guard, host = await arrivals(door, proxied, elsewhere, victim, moment)
            assert not host.leaving._turns
            assert not host.placing._in_turn or not host.placing._in_turn["connect-4"].locked()
            assert not guard.caught, "nothing but the cancellation went wrong"
            if not guard.cancelled:
                break
        assert guard.moments > 0, "it was cancelled somewhere"
        assert not guard.cancelled, "and at each of its checkpoints"
