"""Wires whose bytes are taken as they come, and the epoll that all of them share."""

import contextvars
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress

import pytest
import trio
import trio.testing

from server.net.limits import Limits
from server.net.outbox import PIECE, Outbox
from server.net.readiness import ROUND, WOKEN, Readiness, readiness
from server.net.sockets import OPTIONS, UNSENT, SocketWire, set_options
from server.net.wire import READ, Wire
from tests.hang import HANG
from tests.server.connected import EPOLL, PLAIN, connected, linux, sockets, wires
from tests.server.served import ROOT
from tests.turns import Rounds


@sockets
async def test_what_nobody_reads_waits_and_costs_no_time(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        await client.send_all(b"one")
        assert await wire.receive() == b"one"
        await client.send_all(b"two")
        await trio.testing.wait_all_tasks_blocked(0.01)  # never comes to an end while a task spins
        assert await wire.receive() == b"two"
        await client.send_eof()
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert await wire.receive() == b""


@pytest.mark.parametrize("at_once", [True, False], ids=["of the listening socket", "its own"])
async def test_a_connection_has_the_options_whether_it_has_them_from_the_listening_socket_or_not(
    at_once: bool,
) -> None:
    """Catches moves that wait in the kernel, and peers whose machine has gone and stays unnoticed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if at_once:
            set_options(listener)
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with closing(SocketWire(accepted)):
                has = {(level, name): accepted.getsockopt(level, name) for level, name, _ in OPTIONS}
    assert has == {(level, name): value for level, name, value in OPTIONS}


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPCNT"), reason="this system cannot be told")
def test_a_bot_that_thinks_for_minutes_is_not_forgotten_by_a_router_that_remembers_a_minute() -> None:
    """Catches bots that cannot be told of a move, nor heard: neither end notices."""
    options = {option: value for _, option, value in OPTIONS}
    idle = [name for name in ("TCP_KEEPIDLE", "TCP_KEEPALIVE") if hasattr(socket, name)]
    silent, interval = options[getattr(socket, idle[0])], options[socket.TCP_KEEPINTVL]
    assert silent + interval < 60, "also where one packet is lost"
    gone = silent + interval * options[socket.TCP_KEEPCNT]
    assert gone <= 120, "a machine that has gone is noticed"
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        assert options[socket.TCP_USER_TIMEOUT] == 1000 * gone, "also one that was told something meanwhile"


def test_a_peer_whose_machine_has_gone_is_noticed_within_minutes_where_the_option_has_another_name() -> None:
    """Catches the two hours that macOS waits by itself, whose name for the option is not Linux's."""
    program = (
        "import socket, trio\n"
        "vars(socket).pop('TCP_KEEPIDLE', None)\n"
        "socket.TCP_KEEPALIVE = 16\n"
        "from server.net.sockets import OPTIONS\n"
        "print((socket.IPPROTO_TCP, 16, 30) in OPTIONS)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout == "True\n"


@pytest.mark.skipif(not hasattr(socket, "TCP_NOTSENT_LOWAT"), reason="this system cannot be told")
async def test_the_kernel_keeps_little_for_a_peer_that_reads_nothing() -> None:
    """Catches 4 MiB of kernel memory for each deaf bot, whatever its outbox may hold."""
    async with connected(PLAIN) as (wire, client, _):
        taken, room = 0, client.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        with trio.move_on_after(HANG) as waited:
            while taken <= room + 2 * UNSENT:
                with trio.move_on_after(0.1) as full:  # what it has taken may be under way
                    taken += await wire.send_some(bytes(1024))
                if full.cancelled_caught:
                    break
        assert not waited.cancelled_caught
        assert taken <= room + 2 * UNSENT


@sockets
async def test_what_was_given_back_waits_for_the_next_reader_if_one_is_cancelled(kind: str) -> None:
    async with connected(kind) as (wire, _, _):
        assert isinstance(wire, SocketWire)
        wire.unread(b"one")
        with trio.CancelScope() as scope:
            scope.cancel()
            await wire.receive()
        assert await wire.receive() == b"one"


@wires
async def test_what_the_taker_raises_is_raised_where_it_was_set_to_work(kind: str) -> None:
    def take(received: bytes) -> None:
        raise ValueError(received)

    async with connected(kind) as (wire, client, _):
        await client.send_all(b"x")
        with pytest.raises(ValueError, match="b'x'"):
            await wire.pump(take)
        await client.send_all(b"y")
        assert await wire.receive() == b"y"


@wires
async def test_the_taker_may_close_the_wire(kind: str) -> None:
    taken: list[bytes] = []
    async with connected(kind) as (wire, client, _):

        def take(received: bytes) -> None:
            taken.append(received)
            wire.close()

        await client.send_all(b"x")
        with pytest.raises(trio.ClosedResourceError):
            await wire.pump(take)
        assert taken == [b"x"]


@wires
async def test_a_mistake_of_the_taker_is_raised_also_when_it_closed_the_wire(kind: str) -> None:
    async with connected(kind) as (wire, client, _):

        def take(received: bytes) -> None:
            wire.close()
            raise ValueError(received)

        await client.send_all(b"x")
        with pytest.raises(ValueError, match="b'x'"):
            await wire.pump(take)


@wires
async def test_the_taker_runs_in_the_context_of_its_task(kind: str) -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody's")
    seen: list[str] = []
    async with connected(kind) as (wire, client, _):
        name.set("the reader's")
        await client.send_all(b"x")
        await client.send_eof()
        await wire.pump(lambda _: seen.append(name.get()))
    assert seen == ["the reader's"]


@wires
async def test_one_that_floods_takes_no_turns_from_another(kind: str) -> None:
    async def shout(stream: trio.SocketStream) -> None:
        while True:
            await stream.send_all(b"x" * READ)

    async with connected(kind) as (loud, shouts, nursery), connected(kind) as (quiet, asks, _):
        nursery.start_soon(shout, shouts)
        nursery.start_soon(loud.pump, bytes)
        for _ in range(20):
            await asks.send_all(b"a question")
            assert await quiet.receive() == b"a question"
        nursery.cancel_scope.cancel()


@linux
async def test_a_sweep_reads_what_lies_there_without_waiting() -> None:
    taken: list[bytes] = []
    async with connected(EPOLL) as (wire, client, nursery):
        watcher = readiness()
        assert watcher is not None
        nursery.start_soon(wire.pump, taken.append)
        await trio.testing.wait_all_tasks_blocked()
        await client.send_all(b"in time")
        with trio.testing.assert_no_checkpoints():
            watcher.sweep()
        assert taken == [b"in time"]
        nursery.cancel_scope.cancel()


@linux
async def test_a_taker_that_sweeps_and_closes_meets_nobody_twice_and_no_closed_wire() -> None:
    taken: list[str] = []
    async with connected(EPOLL) as (one, first, nursery), connected(EPOLL) as (two, second, others):
        watcher = readiness()
        assert watcher is not None

        def take(name: str, other: Wire) -> Callable[[bytes], None]:
            def taking(_: bytes) -> None:
                taken.append(name)
                watcher.sweep()
                other.close()

            return taking

        async def reads(wire: Wire, name: str, other: Wire) -> None:
            with pytest.raises(trio.ClosedResourceError):
                await wire.pump(take(name, other))
            taken.append(f"{name} was closed")

        nursery.start_soon(reads, one, "one", two)
        others.start_soon(reads, two, "two", one)
        await trio.testing.wait_all_tasks_blocked()
        await first.send_all(b"x")
        await second.send_all(b"x")
        with trio.testing.assert_no_checkpoints():
            watcher.sweep()
        await trio.testing.wait_all_tasks_blocked()
        assert taken in (["one", "two was closed"], ["two", "one was closed"])
        one.close()
        two.close()
        await trio.testing.wait_all_tasks_blocked()


@linux
async def test_what_came_for_one_that_was_cancelled_before_its_turn_is_there_for_the_next() -> None:
    """Catches bytes that were taken from the kernel and then given to nobody, or to somebody twice."""
    watcher = readiness()
    assert watcher is not None
    ends = dict[SocketWire, socket.socket]()
    for _ in range(3):
        ours, theirs = socket.socketpair()
        ends[SocketWire(ours, watcher=watcher)] = theirs
    scopes = {wire: trio.CancelScope() for wire in ends}
    taken: list[SocketWire] = []

    async def reads(wire: SocketWire) -> None:
        def take(_: bytes) -> None:
            taken.append(wire)
            for other in ends.keys() - {wire}:
                scopes[other].cancel()

        with scopes[wire]:
            await wire.pump(take)

    with trio.fail_after(HANG), ExitStack() as stack:
        for wire, theirs in ends.items():
            stack.enter_context(closing(wire))
            stack.enter_context(theirs)
        async with trio.open_nursery() as nursery:
            for wire in ends:
                nursery.start_soon(reads, wire)
            await trio.testing.wait_all_tasks_blocked()
            for theirs in ends.values():
                theirs.send(b"x")
            watcher.sweep()
            await trio.testing.wait_all_tasks_blocked()
            assert len(taken) == 1, "the first in the round cancelled the others"

            (first,) = taken
            scopes[first].cancel()
            await trio.testing.wait_all_tasks_blocked()
            ends[first].send(b"y")
            assert await first.receive() == b"y"
            one, two = ends.keys() - taken
            assert await one.receive() == b"x"
            ends[one].send(b"y")
            assert await one.receive() == b"y"
            more: list[bytes] = []
            nursery.start_soon(two.pump, more.append)
            await trio.testing.wait_all_tasks_blocked()
            ends[two].send(b"y")
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert more == [b"x", b"y"]
            nursery.cancel_scope.cancel()


@linux
async def test_a_reader_that_is_woken_for_nothing_sleeps_on() -> None:
    taken: list[bytes] = []
    async with connected(EPOLL) as (wire, client, nursery):
        assert isinstance(wire, SocketWire)
        nursery.start_soon(wire.pump, taken.append)
        await trio.testing.wait_all_tasks_blocked()
        for text in (b"x", b"y"):
            await client.send_all(text)
            await trio.testing.wait_all_tasks_blocked(0.01)
            wire.read(trio.current_time())
            wire.hand_on()
        assert taken == [b"x", b"y"]
        nursery.cancel_scope.cancel()


@linux
@pytest.mark.parametrize("reads", [True, False])
async def test_what_was_let_go_of_is_for_others_to_read_until_it_is_taken_back(reads: bool) -> None:
    taken: list[bytes] = []
    async with connected(EPOLL) as (wire, client, nursery):
        if reads:
            nursery.start_soon(wire.pump, taken.append)
            await trio.testing.wait_all_tasks_blocked()
        passed = wire.let_go()
        assert passed is not None
        if not reads:
            nursery.start_soon(wire.pump, taken.append)
        with passed.dup() as other:
            assert wire.used() == (False, False)
            await client.send_all(b"for others")
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert other.recv(100) == b"for others"
            assert wire.used() == (False, True)
            other.send(b"from others")
            assert wire.used() == (True, True)
            assert await client.receive_some() == b"from others"
        await client.send_all(b"for us")
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert taken == []
        wire.take_back()
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert taken == [b"for us"]
        nursery.cancel_scope.cancel()


@linux
@pytest.mark.parametrize("closes", [False, True], ids=["ends its side", "closes"])
async def test_that_the_peer_has_ended_is_known_before_all_that_it_said_is_read_and_by_whomever(
    closes: bool,
) -> None:
    async with connected(EPOLL) as (wire, client, _):
        assert wire.let_go() is not None
        await client.send_all(b"unread")
        assert not wire.ended
        if closes:
            await client.aclose()
        else:
            await client.send_eof()
        assert wire.ended
        wire.close()
        assert wire.ended


@linux
async def test_closing_what_was_let_go_of_ends_it_for_others_and_what_is_closed_cannot_be_let_go_of() -> None:
    async with connected(EPOLL) as (wire, client, _):
        passed = wire.let_go()
        assert passed is not None
        with passed.dup() as other:
            wire.close()
            assert other.recv(100) == b""
            assert await client.receive_some() == b""
        assert wire.let_go() is None


@linux
def test_each_event_loop_has_an_epoll_of_its_own() -> None:
    seen: list[Readiness | None] = []

    async def look() -> None:
        assert readiness() is readiness()
        seen.append(readiness())

    for _ in range(2):
        trio.run(look)
    assert seen[0] is not seen[1]


@linux
async def test_what_is_put_while_others_are_read_goes_out_whole_and_in_order_before_any_task_runs() -> None:
    async with connected(EPOLL) as (wire, client, nursery):
        outbox = Outbox(wire, nursery, Limits())
        seen: list[bool] = []

        def take(received: bytes) -> None:
            for letter in b"abc":
                outbox.put(bytes([letter]))
            seen.append(outbox.empty)
            outbox.put(b"d" * 2 * PIECE)  # is not kept for later
            outbox.put(b"e")

        nursery.start_soon(pump, wire, take)
        await client.send_all(b"x")
        heard = b""
        while not heard.endswith(b"e"):
            heard += await client.receive_some()
        assert heard == b"abc" + b"d" * 2 * PIECE + b"e"
        assert seen == [False]  # a round was under way, and nothing was sent yet


@linux
async def test_what_is_not_urgent_waits_until_all_have_been_read_and_goes_with_what_is() -> None:
    """Catches what is never sent, what is sent before others are read, and what is overtaken."""
    async with connected(EPOLL) as (wire, client, nursery):
        mine, theirs = socket.socketpair()
        other = SocketWire(mine, watcher=readiness())
        outbox = Outbox(wire, nursery, Limits())
        kept: list[bool] = []

        def take(received: bytes) -> None:
            outbox.put(b"a", urgent=False)
            theirs.send(received)  # is read in the same sweep, in a later round of it

        def take_other(received: bytes) -> None:
            kept.append(not outbox.empty)
            if received == b"2":
                outbox.put(b"b")
                outbox.put(b"c", urgent=False)

        nursery.start_soon(pump, wire, take)
        nursery.start_soon(pump, other, take_other)
        with theirs, closing(other):
            await client.send_all(b"1")
            assert await client.receive_some() == b"a"
            await client.send_all(b"2")
            assert await client.receive_some() == b"abc"
            assert kept == [True, True]


@linux
async def test_others_have_their_turn_in_the_middle_of_a_sweep_and_what_is_not_urgent_waits_for_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.net.readiness.STEP", -1.0)  # a round is longer
    many, read, seen = 3 * ROUND, list[bytes](), list[int]()
    async with connected(EPOLL) as (wire, client, nursery):
        outbox, kept = Outbox(wire, nursery, Limits()), list[bool]()

        def take(received: bytes) -> None:
            kept.append(not outbox.empty)
            outbox.put(b"a", urgent=False)
            read.append(received)

        async def look() -> None:
            while len(read) < many:
                seen.append(len(read))
                await trio.lowlevel.checkpoint()

        with ExitStack() as stack:
            pairs = [socket.socketpair() for _ in range(many)]
            for mine, theirs in pairs:
                stack.enter_context(theirs)
                one = stack.enter_context(closing(SocketWire(mine, watcher=readiness())))
                nursery.start_soon(pump, one, take)
            await trio.testing.wait_all_tasks_blocked()
            for _, theirs in pairs:
                theirs.send(b"x")
            await look()
            assert any(0 < each < many for each in seen)
            assert await client.receive_some() == b"a" * many
            assert kept == [False] + [True] * (many - 1)


@linux
async def test_those_who_hang_up_at_the_same_moment_are_heard_a_few_at_a_time() -> None:
    """Catches a lab of bots that is stopped, and holds up all other matches for 25 ms."""
    many, ended = 8 * WOKEN, list[bool]()

    async def attend(wire: Wire) -> None:
        ended.append(await wire.pump(lambda received: None))

    with trio.fail_after(HANG), ExitStack() as stack:
        async with trio.open_nursery() as nursery:
            pairs = [socket.socketpair() for _ in range(many)]
            for mine, theirs in pairs:
                stack.enter_context(theirs)
                one = stack.enter_context(closing(SocketWire(mine, watcher=readiness())))
                nursery.start_soon(attend, one)
            await trio.testing.wait_all_tasks_blocked()
            for _, theirs in pairs:
                theirs.close()
            rounds = stack.enter_context(Rounds())
    assert ended == [True] * many
    assert max(rounds.turns) < WOKEN + ROUND + 10


@linux
async def test_what_can_wait_is_sent_at_its_time_whatever_is_said_together_meanwhile() -> None:
    """Catches a message that is sent only when there is another one for the same peer."""
    ready, sent = readiness(), list[str]()
    assert ready is not None
    ready.mentioned.append(lambda: sent.append("before"))  # in a sweep that is not over
    with ready.together():
        ready.mentioned.append(lambda: sent.append("together"))
    assert sent == ["together"]
    ready.sweep()
    assert sent == ["together", "before"]


@linux
async def test_what_is_said_together_goes_out_at_the_end_in_one_piece_urgent_or_not() -> None:
    async with connected(EPOLL) as (wire, client, nursery):
        outbox, sockets = Outbox(wire, nursery, Limits()), readiness()
        assert sockets is not None
        with sockets.together():
            outbox.put(b"a", urgent=False)
            with sockets.together():
                outbox.put(b"b")
            assert not outbox.empty
            outbox.put(b"c", urgent=False)
        assert outbox.empty
        assert await client.receive_some() == b"abc"
        outbox.put(b"d", urgent=False)
        assert outbox.empty


@linux
@pytest.mark.parametrize("end", ["finish", "cut"])
async def test_what_was_put_in_the_same_round_goes_out_before_the_end(end: str) -> None:
    async with connected(EPOLL) as (wire, client, nursery):
        outbox = Outbox(wire, nursery, Limits())

        def take(received: bytes) -> None:
            outbox.put(b"the last")
            outbox.finish() if end == "finish" else outbox.cut("enough")

        nursery.start_soon(pump, wire, take)
        await client.send_all(b"x")
        assert await client.receive_some() == b"the last"
        assert await client.receive_some() == b""


async def pump(wire: Wire, take: Callable[[bytes], None]) -> None:
    """Until it is closed."""
    with suppress(trio.ClosedResourceError):
        await wire.pump(take)
