"""What a door hands over: a connection whose bot plays elsewhere goes there with all that was read of it."""

import gc
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from server.host.abroad import Handed, HeldAbroad, Wanted
from server.host.host import Host
from server.host.unwelcome import ELSEWHERE
from server.host.visits import REPLACED, Visit
from server.net import parking
from server.net.admission import Admission
from server.net.frames import PING, TEXT, Close, Frames, Ping, framed, masked, repeated
from server.net.limits import Limits
from server.net.listening import listeners, serve
from server.net.parking import LONG_ENOUGH
from server.net.readiness import readiness
from server.net.turns import Turns
from server.net.wire import Piece
from server.protocols import handed, tcp, websocket
from server.protocols.dialect import Leaves, may_go
from tests.hang import HANG
from tests.server.at_once import TIMES, connections, say_in_order
from tests.server.connected import linux
from tests.server.ends import FrameEnd, LineEnd, in_memory, over_sockets
from tests.server.net.test_outbox import connected
from tests.server.protocols.fours import Bot
from tests.server.windowed import windowed_pair
from tournament.record import Record

PEER = "192.0.2.1"  # of ends in memory
HELLO = '{"type":"hello","name":"ann","game":"connect-4"}'


class Elsewhere:
    """An `Abroad` whose one holder keeps what it is handed, and may give it back."""

    def __init__(self, gives_back: bool = False) -> None:
        self.held: Mapping[str, HeldAbroad] = {}
        self.wanted: list[Wanted] = []
        self.handed: list[Handed] = []
        self.taken = trio.Event()
        self._gives_back = gives_back

    def entered(self, name: str, game: str) -> Sequence[Record]:
        return ()

    def expects(self, name: str, game: str) -> bool:
        return False

    def may_hold(self, tournament: str, game: str) -> bool:
        return False

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> "Elsewhere | None":
        self.wanted.append(wanted)
        return None if self._gives_back and self.handed else self

    def place(self, record: Record) -> None: ...

    async def is_free(self, name: str) -> bool:
        return True

    async def opens(self, game: str) -> bool:
        return True

    async def take(self, handed: Handed) -> Sequence[Piece]:
        self.handed.append(handed)
        self.taken.set()
        return handed.pieces if self._gives_back else ()

    @property
    def read(self) -> bytes:
        return b"".join(piece for piece, _ in self.handed[0].pieces)


class Nobody:
    """A visitor of whom nobody knows who it is."""

    def authenticated(self) -> None: ...


class Serves(Elsewhere):
    """Its holder lets every bot in, and reads what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = bytearray()

    async def take(self, handed: Handed) -> Sequence[Piece]:
        handed.authenticated()
        await super().take(handed)
        assert await handed.wire.pump(self.heard.extend), "reading was interrupted"
        return ()


class Late(Elsewhere):
    """Another process holds the open tables, and whoever comes is led here all the same."""

    def may_hold(self, tournament: str, game: str) -> bool:
        return True

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> None:
        return None

    async def opens(self, game: str) -> bool:
        return False


class TakenOver(Elsewhere):
    """Somebody with the token of whoever is led elsewhere takes over from it at the same moment."""

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> "Elsewhere | None":
        sockets = readiness()
        if leaving is not None and sockets is not None:
            sockets.said.append(partial(leaving.replaced, REPLACED))
        return super().holder(wanted, leaving)


async def running(nursery: trio.Nursery, abroad: Elsewhere) -> Host:
    host = Host()
    await nursery.start(host.run)
    host.abroad = abroad
    return host


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (HELLO, Wanted("ann", "connect-4", None, None, "house", PEER)),
        (
            '{"type":"hello","name":"ann","game":"santorini","tournament":"cup"}',
            Wanted("ann", "santorini", "cup", None, "house", PEER),
        ),
        (
            '{"type":"hello","name":"ann","game":"santorini","against":"bob"}',
            Wanted("ann", "santorini", "open-santorini", None, "house", PEER),
        ),
        ("ann", Wanted("ann", "santorini", None, None, "santorini", PEER)),
        ('"ann"', Wanted("ann", "santorini", None, None, "santorini", PEER)),
    ],
)
async def test_a_first_line_says_where_its_bot_wants_to_play(
    said: str, wanted: Wanted, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        end = await in_memory(await running(nursery, abroad), tcp.attend)()
        await end.say(f"{said}\nmore\nand more, with no")
        await abroad.taken.wait()
        assert abroad.wanted == [wanted]
        assert abroad.read.startswith(f"{said}\nmore\n".encode())
        assert await end.hear() is None
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("said", ['{"type":"hello","name":"ann","game":"chess"}', "{", "GET / HTTP/1.1"])
async def test_what_is_no_sensible_hello_is_answered_here(said: str, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        end = await in_memory(await running(nursery, abroad), tcp.attend)()
        await end.say(said)
        assert await end.hear()
        assert abroad.wanted == []
        nursery.cancel_scope.cancel()


async def test_a_c4arena_bot_whose_place_is_elsewhere_by_now_is_hung_up_on(autojump_clock: MockClock) -> None:
    """It said `start` as its tournament ended here, and would wait over this connection for nothing."""
    async with trio.open_nursery() as nursery:
        bot = Bot(await running(nursery, Late()))
        await bot.tell("start", id="ann")
        assert (bot.heard(), bot.cut) == ([], ELSEWHERE)
        nursery.cancel_scope.cancel()


@pytest.mark.slow
async def test_bots_whose_names_come_together_are_handed_over_in_the_order_of_their_names() -> None:
    """Whoever comes first is first in its match, so the order must not be that in which trio wakes tasks."""
    names = [b"ann\n", b"bob\n", b"cas\n", b"dee\n"]
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        host = await running(nursery, abroad)
        (listener,) = await listeners("127.0.0.1", 0, host.limits)
        attend, admission = partial(tcp.attend, host), Admission(host.limits)
        nursery.start_soon(
            partial(serve, listener, attend, guard=host.guard, admission=admission, limits=host.limits)
        )
        for _ in range(TIMES):
            abroad.handed.clear()
            with connections(listener.getsockname()[1], len(names)) as clients:
                await say_in_order([*reversed(clients)], names)
            assert [handed.pieces[0][0] for handed in abroad.handed] == names
        nursery.cancel_scope.cancel()


async def test_a_connection_that_fails_as_it_is_handed_over_holds_up_no_other() -> None:
    """Catches a host that hands over nothing any more, because the first in turn has never gone on."""
    async with connected() as (outbox, _, _):
        turns, holder = Turns(), Elsewhere()
        one, other = (Leaves(holder, b"", 0.0, turns.take()) for _ in range(2))

        def fail() -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await may_go(one, fail, outbox, Limits())
        with trio.fail_after(HANG):
            assert await may_go(other, list, outbox, Limits())


@pytest.mark.parametrize("over", ["tcp", "websocket"])
async def test_all_that_was_read_goes_on_with_a_connection_however_often_it_goes_elsewhere(
    over: Literal["tcp", "websocket"], autojump_clock: MockClock
) -> None:
    """Under TLS a connection that comes back may bring bytes in two pieces, of which the second was lost."""
    said = [f"{HELLO}\n".encode(), b"more\n", b"and more"]
    pieces = said if over == "tcp" else [masked(each, TEXT, final=True) for each in said]
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        host = await running(nursery, abroad)
        wire, _ = windowed_pair(peer=PEER)
        path = "" if over == "tcp" else "/play"
        read = [(piece, trio.current_time()) for piece in pieces]
        nursery.start_soon(partial(handed.attend, host, wire, Nobody(), over, path, read, settled=False))
        await abroad.taken.wait()
        assert len(abroad.read) == sum(map(len, pieces))
        assert abroad.read.endswith(pieces[-1])
        nursery.cancel_scope.cancel()


async def test_what_comes_back_is_served_from_where_it_was(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere(gives_back=True)
        end = await in_memory(await running(nursery, abroad), tcp.attend)()
        await end.say(HELLO)
        assert '"welcome"' in (await end.hear() or "")
        assert len(abroad.handed) == 1
        nursery.cancel_scope.cancel()


async def test_whoever_serves_a_connection_is_not_interrupted_by_the_door_that_handed_it_over(
    autojump_clock: MockClock,
) -> None:
    """Catches a door that goes on with the connection when its bot is in, or when this host stops."""
    async with trio.open_nursery() as nursery:
        abroad = Serves()
        host = await running(nursery, abroad)
        end = await in_memory(host, tcp.attend)()
        await end.say(HELLO)
        await abroad.taken.wait()
        await end.say("a move")
        await trio.testing.wait_all_tasks_blocked()
        await host.stop()
        await end.say("another")
        await trio.testing.wait_all_tasks_blocked()
        assert abroad.heard == b"a move\nanother\n"
        assert not host.guard.caught
        nursery.cancel_scope.cancel()


def ways_away() -> list[Leaves]:
    return [each for each in gc.get_objects() if isinstance(each, Leaves)]


@pytest.mark.parametrize("path", [None, "/play"])
async def test_what_led_away_is_forgotten_while_another_process_serves_a_bot(
    path: str | None, autojump_clock: MockClock
) -> None:
    """Catches an exception that keeps all that was called when it was raised, for each bot, for hours."""
    of_others = ways_away()  # which another test may have left to the collector
    async with trio.open_nursery() as nursery:
        host = await running(nursery, Serves())
        if path is None:
            end = await in_memory(host, tcp.attend)()
        else:
            end = await in_memory(host, websocket.attend, partial(FrameEnd, path=path))()
            assert isinstance(end, FrameEnd)
            await end.shake_hands()
        await end.say(HELLO)
        await trio.testing.wait_all_tasks_blocked()
        assert [way.__traceback__ for way in ways_away() if way not in of_others] == [None]
        nursery.cancel_scope.cancel()


async def test_a_websocket_that_comes_back_is_served_from_where_it_was(autojump_clock: MockClock) -> None:
    """Catches a scope that serves once: whoever was to go elsewhere could not be read from any more."""
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere(gives_back=True)
        connect = in_memory(await running(nursery, abroad), websocket.attend, partial(FrameEnd, path="/play"))
        end = await connect()
        assert isinstance(end, FrameEnd)
        await end.shake_hands()
        await end.say(HELLO)
        assert '"welcome"' in (await end.hear() or "")
        assert len(abroad.handed) == 1
        nursery.cancel_scope.cancel()


async def test_a_bot_that_says_hello_again_may_play_elsewhere(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        host = await running(nursery, abroad)
        host.abroad = None
        end = await in_memory(host, tcp.attend)()
        await end.say(HELLO)
        assert '"welcome"' in (await end.hear() or "")
        host.abroad = abroad
        await end.say('{"type":"state"}')
        assert '"refused"' in (await end.hear() or "")
        assert abroad.handed == []
        await end.say(HELLO)
        await abroad.taken.wait()
        assert not [player for player in host.lobby.players("connect-4") if player.present]
        nursery.cancel_scope.cancel()


@linux
@pytest.mark.parametrize("seconds", [0.0, LONG_ENOUGH], ids=["parked", "waited for"])
@pytest.mark.parametrize("over", ["tcp", "websocket"])
async def test_a_bot_that_is_replaced_as_it_goes_elsewhere_goes_nowhere_and_holds_up_no_other(
    over: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a host that hands over nothing any more, because the first in turn never goes."""
    monkeypatch.setattr(parking, "LONG_ENOUGH", seconds)
    attend = tcp.attend if over == "tcp" else websocket.attend
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            abroad = TakenOver()
            host = await running(nursery, abroad)
            host.abroad = None
            speak = LineEnd if over == "tcp" else partial(FrameEnd, path="/play")
            connect = await over_sockets(host, nursery, attend, speak)
            one, other = await connect(), await connect()
            for end in (one, other):
                if isinstance(end, FrameEnd):
                    await end.shake_hands()
            await one.say(HELLO)
            assert '"welcome"' in (await one.hear() or "")
            await trio.testing.wait_all_tasks_blocked()
            host.abroad = abroad
            await one.say(HELLO)
            assert REPLACED in (await one.hear() or "")
            await one.close()
            await other.say(HELLO.replace("ann", "bob"))
            await abroad.taken.wait()
            assert [wanted.name for wanted in abroad.wanted] == ["ann", "bob"]
            assert len(abroad.handed) == 1
            assert not host.guard.caught
            await other.close()
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("path", "said", "door"),
    [("/play", HELLO, "house"), ("/", '{"type":"start","id":"ann"}', "connect-4")],
)
async def test_a_websocket_is_handed_over_after_its_handshake(
    path: str, said: str, door: str, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        connect = in_memory(await running(nursery, abroad), websocket.attend, partial(FrameEnd, path=path))
        end = await connect()
        assert isinstance(end, FrameEnd)
        await end.shake_hands()
        await end.say(said)
        await abroad.taken.wait()
        assert abroad.wanted == [Wanted("ann", "connect-4", None, None, door, PEER)]
        assert [*Frames(Limits()).receive(abroad.read)] == [said.encode()]
        assert abroad.handed[0].path == path
        nursery.cancel_scope.cancel()


async def test_a_websocket_that_has_said_bye_goes_nowhere(autojump_clock: MockClock) -> None:
    """Catches a connection that was closed and is handed over all the same, by a hello after the bye."""
    async with trio.open_nursery() as nursery:
        abroad = Elsewhere()
        host = await running(nursery, abroad)
        host.abroad = None
        end = await in_memory(host, websocket.attend, partial(FrameEnd, path="/play"))()
        assert isinstance(end, FrameEnd)
        await end.shake_hands()
        await end.say(HELLO)
        assert '"welcome"' in (await end.hear() or "")
        host.abroad = abroad
        both = (b'{"type":"bye"}', HELLO.encode())
        await end.stream.send_all(b"".join(masked(message, TEXT, final=True) for message in both))
        await trio.sleep(10.0)
        assert abroad.handed == []
        nursery.cancel_scope.cancel()


@given(
    messages=st.lists(
        st.one_of(st.binary(max_size=300), st.builds(Ping, st.binary(max_size=100))), min_size=1
    ),
    cut=st.integers(min_value=0),
    parts=st.integers(min_value=1, max_value=3),
)
def test_whoever_goes_on_with_frames_reads_the_same_messages(
    messages: list[bytes | Ping], cut: int, parts: int
) -> None:
    sent = b"".join(map(repeated, messages)) + masked(b"be", TEXT, final=False)
    sent += masked(b"gun", 0, final=True)
    at = cut % (len(sent) + 1)
    first = Frames(Limits())
    before = [*first.receive(sent[:at])]
    after = [*Frames(Limits()).receive(first.unread + sent[at:])]
    assert [*before, *after] == [*messages, b"begun"]


def test_a_frame_is_masked_as_a_client_does_it() -> None:
    for size in (0, 125, 126, 65_535):
        assert [*Frames(Limits()).receive(masked(b"x" * size))] == [b"x" * size]
    assert [*Frames(Limits()).receive(repeated(Close(1000, "bye")))] == [Close(1000, "bye")]
    assert framed(b"", PING) != masked(b"", PING)
