"""Ghosts: bots that are dealt to and not heard of. What they cost, they cost themselves.

For each dialect, and each way in which it is carried, bots come to the open table
that stop in every way there is. Two honest bots are there, which hardly think, so
how long a match with the ghost lasts is how long an honest bot was bound.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.catalogue import catalogue
from server.host.host import Host
from server.net.limits import Limits
from server.protocols.catalogue import dialects
from server.protocols.dialect import OverHttp, OverTcp, OverWebsocket
from tests.server.doors import memory
from tests.server.ends import Connect, End, FrameEnd
from tests.server.protocols.room import Room
from tests.server.transcripts import hosting
from tournament.events import Ending
from tournament.match import Match
from tournament.player import Seat, Taker

THINKS = 0.5  # seconds for which an honest bot thinks
SLACK = THINKS + 0.2  # its own first move, and the timekeeper looks so often
LONG = 80.0  # seconds in which every ghost has been dealt to, and its match is over
GHOST = "ghost"
TOKEN = "a-token-of-the-ghost"
HELLO = '{{"type":"hello","name":"ghost","game":"{}"}}'
KINDS = {OverTcp: "tcp", OverWebsocket: "websocket", OverHttp: "http"}


class Haunted:
    """A host, the connections of one ghost, and the matches that it was dealt."""

    def __init__(self, host: Host, doors: Mapping[str, Connect], game: str) -> None:
        self.host = host
        self.game = game
        self.matches: list[Match] = []  # of the ghost
        self.begun = trio.Event()
        self._doors = doors
        host.on_begun.append(lambda tournament, match: self._note(match))

    def _note(self, match: Match) -> None:
        if GHOST in match.names:
            self.matches.append(match)
            self.begun.set()

    async def end(self, door: str) -> End:
        return await self._doors[door]()

    async def ask(self, request: str) -> str:
        """Ask over HTTP, and hear the answer."""
        end = await self.end("http")
        await end.say(request)
        return await end.hear() or ""

    async def find(self, pattern: str, request: str) -> str:
        """Ask over HTTP, and find this in the answer."""
        answer = await self.ask(request)
        found = re.search(pattern, answer)
        assert found, answer
        return found[1]

    @property
    def bound(self) -> float:
        """Seconds for which an honest bot was bound, at the longest."""
        now = trio.current_time()
        return max(
            (now if match.result is None else match.result.at) - match.log.events[0].at
            for match in self.matches
        )


Ghost = Callable[[Haunted], Awaitable[object]]
Comes = Callable[[Haunted], Awaitable[End]]


async def says(door: str, words: str, here: Haunted) -> End:
    """Come in, and be heard of no more; as a program that was stopped, or does not read."""
    end = await here.end(door)
    if isinstance(end, FrameEnd):
        await end.shake_hands()
    await end.say(words.format(here.game) if words == HELLO else words)
    return end


async def hangs_up(comes: Comes, here: Haunted) -> None:
    """Come, and hang up when its match begins."""
    end = await comes(here)
    await here.begun.wait()
    await end.close()


async def session(here: Haunted) -> str:
    return await here.find(r"Location: (\S+)", f"POST /play {HELLO.format(here.game)}")


async def never_polls(here: Haunted) -> None:
    await session(here)


async def polls_once(here: Haunted) -> None:
    """The poll is answered with the beginning of its match."""
    await here.ask(f"GET {await session(here)}?after=1")


async def polls_often_and_then_no_more(here: Haunted) -> None:
    where = await session(here)
    for _ in range(5):
        await here.ask(f"GET {where}?after=0")
        await trio.sleep(0.1)


async def streams(here: Haunted) -> End:
    """Its end of the stream is open, and it never reads from it."""
    return await says("http", f"GET {await session(here)}", here)


async def battle(here: Haunted) -> str:
    return await here.find(r'"battleId":"([^"]+)"', f'POST /{here.game}/join {{"name":"ghost"}}')


async def never_opens_its_stream(here: Haunted) -> None:
    await battle(here)


async def opens_its_stream(here: Haunted) -> End:
    return await says("http", f"GET /{here.game}/start/{await battle(here)}", here)


async def closes_its_stream(here: Haunted) -> None:
    end = await opens_its_stream(here)
    await end.hear()
    await end.close()


async def joins_a_game(here: Haunted) -> End:
    where = await here.find(r"Location: (\S+)", "GET /match")
    return await says("http", f'POST {where}/players {{"name":"ghost"}}', here)


TOKEN = "a token of the ghost"


def calls(tool: str, **arguments: str) -> str:
    """A model's call of a tool."""
    meta = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    params = {
        "name": tool,
        "arguments": {**arguments, "token": TOKEN},
        "_meta": {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()},
    }
    said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    head = f"POST /mcp MCP-Protocol-Version: 2026-07-28 Mcp-Method: tools/call Mcp-Name: {tool}"
    return f"{head} {msgspec.json.encode(said).decode()}"


async def joins_and_never_waits(here: Haunted) -> None:
    await here.find("You are in as (ghost)", calls("join", name=GHOST, game=here.game))


async def looks_once(here: Haunted) -> None:
    """A model that thinks about its first move calls nothing either."""
    await joins_and_never_waits(here)
    await here.begun.wait()
    await here.ask(calls("position"))


START = '{"type":"start","id":"ghost","against":null}'

# By dialect and how it is carried: the game, what a ghost does, and whether that differs from thinking.
GHOSTS: list[tuple[str, str, str, Ghost, bool]] = [
    ("house", "tcp", "tic-tac-toe", partial(says, "tcp", HELLO), False),
    ("house", "tcp", "tic-tac-toe", partial(hangs_up, partial(says, "tcp", HELLO)), True),
    ("house", "websocket", "tic-tac-toe", partial(says, "websocket", HELLO), False),
    ("house", "websocket", "tic-tac-toe", partial(hangs_up, partial(says, "websocket", HELLO)), True),
    ("house", "http", "tic-tac-toe", never_polls, True),
    ("house", "http", "tic-tac-toe", polls_once, True),
    ("house", "http", "tic-tac-toe", polls_often_and_then_no_more, True),
    ("house", "http", "tic-tac-toe", streams, False),
    ("house", "http", "tic-tac-toe", partial(hangs_up, streams), True),
    ("mcp", "http", "tic-tac-toe", joins_and_never_waits, True),
    ("mcp", "http", "tic-tac-toe", looks_once, False),
    ("arena", "http", "tic-tac-toe", never_opens_its_stream, True),
    ("arena", "http", "quoridor", never_opens_its_stream, True),
    ("arena", "http", "quoridor", opens_its_stream, False),
    ("arena", "http", "quoridor", closes_its_stream, True),
    ("hexagon-dots", "http", "hexagon-dots", joins_a_game, False),
    ("hexagon-dots", "http", "hexagon-dots", partial(hangs_up, joins_a_game), True),
    ("connect-4", "websocket", "connect-4", partial(says, "connect-4", START), False),
    ("connect-4", "websocket", "connect-4", partial(hangs_up, partial(says, "connect-4", START)), True),
    ("santorini", "tcp", "santorini", partial(says, "santorini", GHOST), False),
    ("santorini", "tcp", "santorini", partial(hangs_up, partial(says, "santorini", GHOST)), True),
]


async def honest(host: Host, name: str, game: str) -> None:
    """Come to the open table, and play every match to its end."""

    class Plays(Taker):
        def take_seat(self, seat: Seat) -> None:
            host.guard.start_soon(play, seat)

    async def play(seat: Seat) -> None:
        async for _ in seat.match.log.read():
            if seat.to_move:
                await trio.sleep(THINKS)
            if seat.to_move:  # else its opponent has left meanwhile
                seat.play(seat.match.game.write(next(iter(seat.match.position.moves()))))

    visit = await host.arrive(name, game)
    visit.player.taker = Plays()


def called(ghost: Ghost) -> str:
    return ghost.func.__name__ if isinstance(ghost, partial) else ghost.__name__


def pace(game: str) -> float:
    """Seconds that a first move may take."""
    found = catalogue()[game].pace
    return min(seconds for seconds in (found.bank, found.turn) if seconds is not None)


def test_every_dialect_has_its_ghosts_however_it_is_carried() -> None:
    carried = {(name, KINDS[type(way)]) for name, each in dialects().items() for way in each.carried_by}
    assert {(dialect, way) for dialect, way, *_ in GHOSTS} >= {
        (name, way)
        for name, way in carried
        if dialects()[name].page is None  # else it is another package's
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "ghost", "tells"),
    [
        pytest.param(game, ghost, tells, id=f"{dialect}-{way}-{game}-{called(ghost)}")
        for dialect, way, game, ghost, tells in GHOSTS
    ],
)
async def test_a_ghost_binds_an_honest_bot_for_no_longer_than_its_wire_makes_it_hard_to_tell(
    game: str, ghost: Ghost, tells: bool, autojump_clock: MockClock
) -> None:
    async with hosting({}) as (host, nursery):
        here = Haunted(host, await memory(host, nursery), game)
        await honest(host, "ann", game)
        nursery.start_soon(ghost, here)
        with trio.move_on_after(1.0):
            await here.begun.wait()
        await honest(host, "bob", game)
        await trio.sleep(LONG)
        assert here.matches
        longest = Limits().ghost_seconds if tells else pace(game)
        assert here.bound <= longest + SLACK


async def test_a_session_that_is_silent_is_dealt_nothing_until_it_listens(autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, nursery):
        here = Haunted(host, await memory(host, nursery), "tic-tac-toe")
        where = await session(here)
        await trio.sleep(7.0)
        await honest(host, "ann", here.game)
        await trio.sleep(1.0)
        assert not here.matches
        assert "begin" in await here.ask(f"GET {where}?after=1")
        assert here.matches


async def test_a_bot_that_polls_may_think_over_its_first_move_for_as_long_as_its_clock_allows(
    autojump_clock: MockClock,
) -> None:
    async with hosting({}) as (host, nursery):
        here = Haunted(host, await memory(host, nursery), "tic-tac-toe")
        where = await session(here)
        await honest(host, "ann", here.game)
        assert "begin" in await here.ask(f"GET {where}?after=1")
        assert '"turn":"O"' in await here.ask(f"GET {where}?after=1")
        (match,) = here.matches
        seat = match.names.index(GHOST)
        if seat:  # the honest bot begins
            assert '"ply":1' in await here.ask(f"GET {where}?after=3")
        await trio.sleep(15.0)
        await here.ask(f'POST {where} {{"type":"move","move":"{"SE" if seat else "NW"}"}}')
        assert match.has_moved(seat)
        assert match.verdict is None


async def test_whoever_has_moved_may_be_gone_for_as_long_as_ever(autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, _):
        visits = [await host.arrive(name, "connect-4") for name in ("ann", "bob")]
        await trio.testing.wait_all_tasks_blocked()
        one, other = sorted(
            (visit.player.seat for visit in visits if visit.player.seat), key=lambda s: s.index
        )
        one.play(3)
        other.play(3)
        one.away()
        await trio.sleep(29.0)
        assert one.match.verdict is None
        await trio.sleep(1.5)
        assert one.match.result is not None
        assert one.match.result.ending is Ending.LEFT


async def test_after_a_match_that_it_did_not_come_to_a_silent_session_is_dealt_no_other(
    autojump_clock: MockClock,
) -> None:
    async with hosting({}) as (host, nursery):
        here = Haunted(host, await memory(host, nursery), "tic-tac-toe")
        await honest(host, "ann", here.game)
        await session(here)
        await trio.sleep(60.0)
        assert len(here.matches) == 1


async def test_a_model_that_calls_soon_enough_may_think_for_as_long_as_its_clock_allows(
    autojump_clock: MockClock,
) -> None:
    async with hosting({}) as (host, nursery):
        here = Haunted(host, await memory(host, nursery), "tic-tac-toe")
        await joins_and_never_waits(here)
        await honest(host, "ann", here.game)
        await trio.sleep(Limits().ghost_seconds - 0.5)
        await here.ask(calls("position"))
        (match,) = here.matches
        await trio.sleep(10.0)
        await here.ask(calls("move", move="SE" if match.names.index(GHOST) else "NW"))
        assert match.has_moved(match.names.index(GHOST))
        assert match.verdict is None


async def test_a_model_that_goes_on_over_another_connection_in_time_is_no_ghost(
    autojump_clock: MockClock,
) -> None:
    """Catches a match that is void because its bot is gone, while it is being asked."""
    async with hosting({}) as (host, nursery):
        here = Haunted(host, await memory(host, nursery), "tic-tac-toe")
        await here.find("You are in as (ghost)", calls("join", name=GHOST, game=here.game, token=TOKEN))
        await honest(host, "ann", here.game)
        await trio.sleep(Limits().ghost_seconds - 0.5)
        await Room(host, nursery).hello(GHOST, here.game, token=TOKEN)
        await trio.sleep(10.0)
        (match,) = here.matches
        assert match.verdict is None


async def test_in_a_tournament_the_clock_decides_about_a_model_that_does_not_call(
    autojump_clock: MockClock,
) -> None:
    """It may think for longer than a bot may be gone."""
    settings = {"tournament": "cup", "game": "tic-tac-toe", "entrants": "2", "format": "round-robin"}
    async with hosting(settings | {"turn": "100"}) as (host, nursery):
        here = Haunted(host, await memory(host, nursery), "tic-tac-toe")
        await joins_and_never_waits(here)
        await honest(host, "ann", here.game)
        await trio.sleep(90.0)
        (match,) = here.matches
        assert match.verdict is None
