"""What bots are told, and what waits, while a host cannot reach the one that holds their tournament."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from server.net.frames import GOING_AWAY, closing
from server.peers.abroad import HOLDER_TIMEOUT
from server.peers.leases import EVERY
from server.peers.link import OUT_OF_REACH
from tests.server.ends import Connect, FrameEnd, ask
from tests.server.peers.several import One, Shared, link
from tests.server.protocols.lists import Telephone
from tournament.facts import Opened

pytestmark = pytest.mark.slow

HELLO = '{"type":"hello","name":"ann","game":"connect-4","tournament":"connect-4"}'
GAMES = ("tic-tac-toe", "connect-4", "santorini", "hexagon-dots")  # each with a tournament of its name


class Group:
    """Hosts, of which the first holds all tournaments."""

    def __init__(self, nursery: trio.Nursery, hosts: Sequence[One]) -> None:
        self._nursery = nursery
        self._hosts = hosts
        self._life = trio.CancelScope()  # of the first
        self.doors: Sequence[Mapping[str, Connect]] = ()

    async def begin(self) -> None:
        await self._nursery.start(self._live)
        for one in self._hosts[1:]:
            await one.run(self._nursery)
        self.doors = [one.doors(Telephone()) for one in self._hosts]
        for game in GAMES:
            await self._hosts[0].host.found(game, Opened(game, "round-robin", 2))
        self.link()
        await trio.sleep(2 * EVERY)

    @property
    def first(self) -> One:
        return self._hosts[0]

    def link(self) -> None:
        for later, one in enumerate(self._hosts):
            for other in self._hosts[:later]:
                link(self._nursery, one, other)

    def cut(self) -> None:
        """Have no other host reach the first, nor be reached by it."""
        self.silence()
        for one in self._hosts[1:]:
            del one.links.links[self._hosts[0].links.host]

    def silence(self) -> None:
        """Have no other host hear of what the first one makes, though none knows yet that it is cut off."""
        self._hosts[0].links.links.clear()

    def kill(self) -> None:
        self._life.cancel()
        self.cut()

    def has_leased(self, table: str) -> bool:
        return any(table in one.keeping.leases.held for one in self._hosts)

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        with self._life:
            async with trio.open_nursery() as nursery:
                await self._hosts[0].run(nursery)
                task_status.started()


@asynccontextmanager
async def group(count: int, trip: float = 0.0) -> AsyncIterator[Group]:
    """The database is as many seconds away."""
    database = Shared(trio.current_time)

    async def there(call: Callable[[], Any], *, limiter: trio.CapacityLimiter) -> Any:
        await trio.sleep(trip)
        return call()

    async with trio.open_nursery() as nursery:
        made = Group(nursery, [One(database, there) for _ in range(count)])
        await made.begin()
        yield made
        nursery.cancel_scope.cancel()


async def battle(connect: Connect) -> str:
    """A battle of the Arena that has begun."""
    found: list[str] = []

    async def join(name: str) -> None:
        body = json.dumps({"name": name, "tournament": "tic-tac-toe"}, separators=(",", ":"))
        answer = await ask(connect, f"POST /tic-tac-toe/join {body}")
        found.append(json.loads(answer[answer.index("{") :])["battleId"])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(join, "ann")
        nursery.start_soon(join, "bob")
    return f"GET /tic-tac-toe/start/{found[0]}"


async def move(connect: Connect) -> str:
    """A move in a game of Hexagon Dots that has begun."""
    made = await ask(connect, 'POST / {"rows":3,"cols":5}')
    game = made.rpartition("Location: ")[2].split()[0]
    tokens: list[str] = []

    async def join(name: str) -> None:
        answer = await ask(connect, f'POST {game}/players {{"name":"{name}"}}')
        tokens.append(answer.partition("X-Turn-Token: ")[2].split()[0])
        nursery.cancel_scope.cancel()  # the other one is not answered before a move

    async with trio.open_nursery() as nursery:
        nursery.start_soon(join, "ann")
        nursery.start_soon(join, "bob")
    return f'POST {game}/moves X-Turn-Token: {tokens[0]} [{{"row":0,"col":0}},{{"row":0,"col":1}}]'


async def session(connect: Connect) -> str:
    """A session of the house protocol."""
    answer = await ask(connect, f"POST /play {HELLO}")
    return f"GET /play/{json.loads(answer[answer.index('{') :])['session']}?after=0"


@pytest.mark.parametrize("begin", [battle, session])
async def test_a_request_that_belongs_to_another_host_waits_while_the_link_is_cut(
    begin: Callable[[Connect], Awaitable[str]], autojump_clock: MockClock
) -> None:
    """Catches bots that are told that there is no such battle or session, and give up what goes on."""
    async with group(2) as hosts:
        request = await begin(hosts.doors[1]["http"])
        hosts.cut()
        answers: list[str] = []

        async def late() -> None:
            answers.append(await ask(hosts.doors[1]["http"], request))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(late)
            await trio.sleep(HOLDER_TIMEOUT / 2)
            hosts.link()
        assert answers[0].startswith("200")
        hosts.cut()
        assert (await ask(hosts.doors[1]["http"], request)).startswith("503")


@pytest.mark.parametrize("before", [0.0, EVERY / 2], ids=["of which it knows", "of which it hears later"])
@pytest.mark.parametrize("begin", [battle, session, move])
async def test_so_does_one_with_a_secret_of_which_that_host_could_not_tell(
    begin: Callable[[Connect], Awaitable[str]], before: float, autojump_clock: MockClock
) -> None:
    """Catches a bot whose next request comes to a host that could not be told of its secret."""
    async with group(2) as hosts:
        hosts.silence()
        request = await begin(hosts.doors[0]["http"])
        answers: list[str] = []

        async def late() -> None:
            answers.append(await ask(hosts.doors[1]["http"], request))

        async with trio.open_nursery() as nursery:
            if before:
                nursery.start_soon(late)
                await trio.sleep(before)
            hosts.cut()
            if not before:
                nursery.start_soon(late)
            await trio.sleep(HOLDER_TIMEOUT / 2)
            hosts.link()
            await trio.sleep(EVERY)
            nursery.cancel_scope.cancel()  # a move is answered when the opponent has moved
        assert [each[:3] for each in answers] == ([] if begin is move else ["200"])


@pytest.mark.parametrize("trip", [0.0, 0.2], ids=["the database is here", "the database is some way off"])
@pytest.mark.parametrize("begin", [battle, move])
async def test_what_goes_on_is_found_at_any_host_when_another_one_takes_it_over(
    begin: Callable[[Connect], Awaitable[str]], trip: float, autojump_clock: MockClock
) -> None:
    """Catches a bot that is told, before that host has told the others what it has, that there is nothing."""
    async with group(3, trip) as hosts:
        request = await begin(hosts.doors[1]["http"])
        hosts.kill()
        answers: list[str] = []

        async def look(connect: Connect) -> None:
            answers.append((await ask(connect, request))[:3])

        async with trio.open_nursery() as nursery:
            for _ in range(40):
                for doors in hosts.doors[1:]:
                    nursery.start_soon(look, doors["http"])
                await trio.sleep(EVERY / 4)
            nursery.cancel_scope.cancel()  # a move is answered when the opponent has moved
        assert answers
        assert set(answers) <= {"200", "409", "503"}, "409: the same was asked again"
        assert ("200" in answers) == (begin is battle)


@pytest.mark.parametrize("begin", [battle, move])
async def test_so_is_what_a_host_made_too_late_to_tell_of(
    begin: Callable[[Connect], Awaitable[str]], autojump_clock: MockClock
) -> None:
    async with group(2, 0.2) as hosts:
        hosts.silence()
        request = await begin(hosts.doors[0]["http"])
        hosts.kill()
        answers: list[str] = []

        async def look() -> None:
            answers.append((await ask(hosts.doors[1]["http"], request))[:3])

        async with trio.open_nursery() as nursery:
            for _ in range(40):
                nursery.start_soon(look)
                await trio.sleep(EVERY / 4)
            nursery.cancel_scope.cancel()
        assert set(answers) <= {"200", "409", "503"}


@pytest.mark.parametrize("door", [0, 1])
async def test_a_request_waits_until_all_goes_on_that_its_host_has_taken_over(
    door: int, autojump_clock: MockClock
) -> None:
    """Catches a bot of Hexagon Dots whose opponent of before, at the same address, plays on already."""
    async with group(2) as hosts:
        request = await battle(hosts.doors[1]["http"])
        peers = hosts.first.peers
        peers._gained.append("tic-tac-toe")
        assert (await ask(hosts.doors[door]["http"], request)).startswith("200")
        assert not peers._gained


async def test_nobody_waits_long_for_a_session_that_has_ended_with_its_host(
    autojump_clock: MockClock,
) -> None:
    """Its bot says hello again, and the clock of its match may run."""
    async with group(3) as hosts:
        request = await session(hosts.doors[1]["http"])
        hosts.kill()
        await trio.sleep(2.0)
        for doors in hosts.doors[1:]:
            begun = trio.current_time()
            assert (await ask(doors["http"], request)).startswith("404")
            assert trio.current_time() - begun <= EVERY


async def test_a_bot_whose_host_is_out_of_reach_is_told_to_come_again(autojump_clock: MockClock) -> None:
    async with group(2) as hosts:
        hosts.cut()
        answer = await ask(hosts.doors[1]["tcp"], HELLO)
        assert answer == f'{{"type":"refused","reason":"{OUT_OF_REACH}"}}'


async def test_a_bot_of_the_memo_whose_host_is_out_of_reach_is_hung_up_on_without_a_word(
    autojump_clock: MockClock,
) -> None:
    """It may parse every line as a state."""
    async with group(2) as hosts:
        hosts.cut()
        ann = await hosts.doors[1]["tcp"]()
        await ann.say("ann")
        assert await ann.hear() is None, "it is the end of the connection"


@pytest.mark.parametrize(
    ("door", "says"), [("websocket", HELLO), ("connect-4", '{"type":"start","id":"ann"}')]
)
async def test_a_websocket_whose_host_is_out_of_reach_is_closed_with_that_reason(
    door: str, says: str, autojump_clock: MockClock
) -> None:
    async with group(2) as hosts:
        hosts.cut()
        end = await hosts.doors[1][door]()
        assert isinstance(end, FrameEnd)
        await end.shake_hands()
        await end.say(says)
        received = b""
        while part := await end.stream.receive_some():
            received += part
        assert received.endswith(closing(GOING_AWAY, OUT_OF_REACH))
        await end.close()


async def test_nobody_who_only_looks_has_a_host_hold_a_table(autojump_clock: MockClock) -> None:
    """Catches strangers who choose which host holds the table of a game, before any bot has come."""
    async with group(2) as hosts:
        table = "/api/tournaments/open-quoridor"
        for request in (f"GET {table}", f"GET {table}/matches", f"POST {table}/pause {{}}"):
            await ask(hosts.doors[1]["http"], request)
        assert not hosts.has_leased("open-quoridor")
