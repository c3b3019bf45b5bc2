"""A worker's side of connections: those that it is handed, how they end, and those that it gives back."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from math import inf
from typing import Any

import pytest
import trio
import trio.testing
from msgspec import Struct

from server.host.abroad import Wanted
from server.host.host import Host
from server.net import parking
from server.net.frames import masked
from server.show.conduit import Back, Gone, Known, NoRoom
from server.workers.messages import Hand, NeedTable
from server.workers.serving import Serving
from tests.hang import HANG
from tests.server.at_once import TIMES
from tests.server.workers.linked import only_on_linux
from tournament.facts import Opened

NAMES = ["ann", "bob", "cas", "dee"]
GAME = "connect-4"


def hello(name: str, tournament: str = "cup") -> bytes:
    said = {"type": "hello", "name": name, "game": GAME, "tournament": tournament}
    return json.dumps(said | {"token": f"{name}-keeps-this-secret"}).encode() + b"\n"


class Hosting:
    """A worker that holds one tournament, and what it says to worker 0."""

    def __init__(self, most: float) -> None:
        self.host = Host()
        self.said: list[Struct] = []
        self.serving = Serving(self.host, self.said.append, most=most)
        self._stack = ExitStack()

    @property
    def names(self) -> set[str]:
        """Bots that are here."""
        return {player.name for player in self.host.lobby.players(GAME) if player.present}

    async def hand(
        self,
        number: int,
        said: bytes,
        path: str | None = None,
        *,
        secure: bool = False,
        waited: float = 0.0,
    ) -> socket.socket:
        """Have it serve a connection, over which a bot has said this, and `waited`; returns the bot's end.

        With a `path` it is a websocket's.
        """
        ours, theirs = socket.socketpair()
        self._stack.enter_context(ours).setblocking(False)
        pieces = ((said, trio.current_time() - waited),)
        door = ("tcp", "") if path is None else ("websocket", path)
        self.serving.serve(Hand(number, door[0], door[1], "", secure, pieces), theirs.detach())
        await trio.testing.wait_all_tasks_blocked()
        return ours

    def close(self) -> None:
        self._stack.close()


@asynccontextmanager
async def hosting(most: float = inf) -> AsyncIterator[Hosting]:
    here = Hosting(most)
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            await nursery.start(here.host.run)
            await here.host.open("cup", Opened(GAME, "round-robin", entrants=4))
            here.host.abroad = here.serving
            yield here
            here.close()
            nursery.cancel_scope.cancel()
    assert not here.host.guard.caught


def heard(bot: socket.socket) -> list[dict[str, Any]]:
    """All that a bot has been told since the last call."""
    return [json.loads(line) for line in bot.recv(65536).splitlines()]


def count_of(said: list[Struct], *messages: Struct) -> list[int]:
    return [said.count(message) for message in messages]


@only_on_linux
async def test_worker_0_is_told_once_that_a_bot_is_known_and_once_that_it_has_gone() -> None:
    async with hosting() as here:
        ann = await here.hand(7, hello("ann"))
        assert [each["type"] for each in heard(ann)] == ["welcome"]
        ann.send(hello("ann"))
        await trio.testing.wait_all_tasks_blocked()
        assert count_of(here.said, Known(7), Gone(7)) == [1, 0]
        ann.close()
        await trio.testing.wait_all_tasks_blocked()
        assert count_of(here.said, Known(7), Gone(7)) == [1, 1]
        assert not here.names


@only_on_linux
@pytest.mark.parametrize("path", [None, "/play"])
async def test_whoever_has_waited_for_this_worker_to_start_is_let_in(path: str | None) -> None:
    """Catches bots that were told that they had said too much, by how long they had waited."""
    async with hosting() as here:
        waited = here.host.limits.messages.seconds
        for number, name in enumerate(NAMES):
            said = hello(name) if path is None else masked(hello(name))
            bot = await here.hand(number, said, path, waited=number * waited)
            assert b'"welcome"' in bot.recv(65536)


@only_on_linux
@pytest.mark.parametrize("path", [None, "/play"])
async def test_whoever_waits_has_no_task_and_is_heard(
    path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches bots that take half as much memory again in a worker, and those that it reads no longer."""
    monkeypatch.setattr(parking, "LONG_ENOUGH", 0.0)
    say = (lambda said: said) if path is None else masked
    async with hosting() as here:
        before = trio.lowlevel.current_statistics().tasks_living
        bots = [await here.hand(number, say(hello(NAMES[number])), path) for number in range(3)]
        while trio.lowlevel.current_statistics().tasks_living > before:
            await trio.lowlevel.checkpoint()
        for number, bot in enumerate(bots):
            assert b'"welcome"' in bot.recv(65536)
            bot.send(say(hello(NAMES[number])))
        await trio.testing.wait_all_tasks_blocked()
        for number, bot in enumerate(bots):
            assert b'"welcome"' in bot.recv(65536)
            bot.close()
            await trio.testing.wait_all_tasks_blocked()
            assert count_of(here.said, Known(number), Gone(number)) == [1, 1]
        assert not here.names


@only_on_linux
@pytest.mark.parametrize("secure", [False, True])
async def test_what_worker_0_copies_for_a_bot_may_lie_there_and_is_heard_after_what_it_says_itself(
    secure: bool,
) -> None:
    """Under TLS alone. Catches moves that waited in a stopped process, and lost their matches."""
    async with hosting() as here:
        here.host.abroad = None  # by which a worker opens nothing
        await here.host.open("pair", Opened(GAME, "round-robin", entrants=2))
        here.host.abroad = here.serving
        plies: list[int] = []
        here.serving.hear_now = lambda: plies.extend(
            match.ply for match in here.host.tournaments["pair"].matches.values()
        )
        bots = [
            await here.hand(number, hello(name, "pair"), secure=secure)
            for number, name in enumerate(NAMES[:2])
        ]
        (match,) = here.host.tournaments["pair"].matches.values()
        (mover,) = (bot for bot in bots if any(each.get("you") == "first" for each in heard(bot)))
        assert {each == here.host.requests_on_their_way for each in match.on_its_way} == {secure}
        mover.send(b'{"type":"move","move":3}\n')
        await trio.testing.wait_all_tasks_blocked()
        assert (match.ply, plies) == (1, [0] if secure else [])


@only_on_linux
async def test_whoever_is_not_here_yet_goes_to_worker_0_unless_no_other_worker_has_the_game() -> None:
    """Catches one name in two places: only worker 0 knows who has it elsewhere."""
    async with hosting() as here:
        await here.hand(0, hello("ann"))
        ann, elsewhere = Wanted("ann", GAME, "cup", None), Wanted("ann", GAME, "elsewhere", None)
        bob = Wanted("bob", GAME, "cup", None)
        found = [here.serving.holder(wanted) for wanted in (ann, elsewhere, bob)]
        assert found == [None, here.serving, here.serving]
        here.serving.alone = frozenset([GAME])
        assert [here.serving.holder(wanted) for wanted in (ann, elsewhere, bob)] == [None] * 3


@only_on_linux
async def test_what_worker_0_has_said_of_other_workers_counts_for_whoever_comes_after_that() -> None:
    """Catches bots that were told of no such tournament, a moment after it was opened elsewhere."""
    async with hosting() as here:
        here.serving.alone = frozenset([GAME])

        def hear_now() -> None:
            here.serving.alone = frozenset()

        here.serving.hear_now = hear_now
        ann = await here.hand(0, hello("ann"))
        assert [each["type"] for each in heard(ann)] == ["welcome"]
        ann.send(hello("ann", "elsewhere"))
        await trio.testing.wait_all_tasks_blocked()
        assert ann.recv(1) == b"", "nobody here has an answer"
        (back,) = [each for each in here.said if isinstance(each, Back)]
        assert b"".join(piece for piece, _ in back.pieces) == hello("ann", "elsewhere")


@only_on_linux
async def test_where_there_is_no_room_a_connection_ends_and_others_notice_nothing() -> None:
    """Catches a worker out of files, in which everything fails that opens one."""
    async with hosting(most=1) as here:
        ann = await here.hand(0, hello("ann"))
        bob = await here.hand(1, hello("bob"))
        assert bob.recv(1) == b"", "it may come again"
        here.serving.serve(
            Hand(2, "tcp", "", "", False, ()), None
        )  # the kernel had no room for the descriptor
        assert [each for each in here.said if isinstance(each, NoRoom)] == [NoRoom(1), NoRoom(2)]
        assert here.names == {"ann"}
        ann.close()
        await trio.testing.wait_all_tasks_blocked()
        await here.hand(3, hello("bob"))
        assert here.names == {"bob"}


@only_on_linux
async def test_a_bot_that_says_hello_for_another_tournament_goes_back_with_all_that_it_has_said() -> None:
    async with hosting() as here:
        ann = await here.hand(0, hello("ann"))
        more = hello("ann", "elsewhere") + b'{"type":"state"}\n{"type"'
        ann.send(hello("ann", "cup"))
        await trio.testing.wait_all_tasks_blocked()
        assert here.names == {"ann"}, "it is here: nobody has to ask worker 0"
        ann.send(more)
        await trio.testing.wait_all_tasks_blocked()
        (back,) = [each for each in here.said if isinstance(each, Back)]
        assert back.number == 0
        assert b"".join(piece for piece, _ in back.pieces) == more
        assert Gone(0) not in here.said, "it is worker 0 that has it now"
        assert not here.names


@only_on_linux
async def test_a_bot_that_wants_what_no_other_worker_has_is_refused_without_asking() -> None:
    async with hosting() as here:
        here.serving.alone = frozenset([GAME])
        ann = await here.hand(0, hello("ann"))
        ann.send(hello("ann", "elsewhere"))
        await trio.testing.wait_all_tasks_blocked()
        assert [each["type"] for each in heard(ann)] == ["welcome", "refused"]
        assert not any(isinstance(each, Back) for each in here.said)


async def test_an_open_table_is_asked_for_once_and_all_who_wait_for_it_go_on_when_it_is_held() -> None:
    host, said = Host(), list[Struct]()
    serving, waited = Serving(host, said.append), list[bool]()

    async def wait() -> None:
        waited.append(await serving.opens(GAME))

    with trio.fail_after(HANG):
        for time in (1, 2):  # it may be closed, and needed once more
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(wait)
                await trio.testing.wait_all_tasks_blocked()
                assert said == [NeedTable(GAME)] * time
                assert len(waited) == 3 * (time - 1)
                serving.opened("santorini")
                serving.opened(GAME)
    assert waited == [False] * 6, "worker 0 opens it"


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
