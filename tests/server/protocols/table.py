"""A host with its HTTP doors for bots, and bots that come in by them, for tests on a virtual clock."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any

import msgspec
import trio
import trio.testing

from games import hexagondots
from server.host.host import Host
from server.http.routes import HttpDoor, routed
from server.net.limits import Limits
from server.protocols.hexagon_dots import door
from server.protocols.house.sessions import HouseHttp
from tests.server.transcripts import hosting
from tests.server.web import Answer, Client, Server, serving
from tests.server.windowed import Weather
from tests.tournament.world import kept_matches
from tournament.facts import AnyFact, Concluded
from tournament.match import Match
from tournament.store import Memory, Store

FORM = "application/x-www-form-urlencoded"  # what clients in use say of their JSON
TURN = "x-turn-token"
OPEN = "open-hexagon-dots"


def request(method: str, path: str, body: bytes = b"", headers: Iterable[str] = ()) -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: a", f"Content-Type: {FORM}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, *headers, "", ""]).encode() + body


def line(row: int, col: int, other_row: int, other_col: int) -> list[dict[str, int]]:
    """A move."""
    return [{"row": row, "col": col}, {"row": other_row, "col": other_col}]


# Around (1, 1): whoever draws the last of them captures it.
AROUND = ((0, 0, 0, 1), (0, 1, 1, 2), (1, 2, 2, 1), (2, 0, 2, 1), (1, 0, 2, 0), (0, 0, 1, 0))
SIDES = [line(*ends) for ends in AROUND]


def drawn(told: Any) -> list[list[dict[str, int]]]:
    """The ends of the lines in a Game or a Delta."""
    return [each["endpoints"] for each in told["lines"]]


def said(answer: Answer) -> Any:
    return msgspec.json.decode(answer.body)


class Caller:
    """Somebody who asks one thing at a time, over a connection that is opened when it is needed."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = self._connect()
        return self._client

    async def send(self, method: str, path: str, body: object = None, *headers: str) -> None:
        """Ask, and let everybody have heard of it; the answer may be a long time coming."""
        content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        await self.client.end.send_all(request(method, path, content, headers))
        await trio.testing.wait_all_tasks_blocked()

    async def ask(self, method: str, path: str, body: object = None, *headers: str) -> Answer:
        await self.send(method, path, body, *headers)
        answer = await self.heard()
        assert answer is not None, f"{method} {path} is not answered"
        return answer

    async def heard(self) -> Answer | None:
        """The answer, if it has come."""
        self.client.over = await self.client.now()
        return await self.client.answer() if self.client.over else None

    async def told(self) -> Answer:
        """The answer, which has come."""
        answer = await self.heard()
        assert answer is not None, "there is no answer"
        return answer

    async def hang_up(self) -> None:
        self.client.end.close()
        self._client = None
        await trio.testing.wait_all_tasks_blocked()


class Dots(Caller):
    """A bot that plays Hexagon Dots."""

    def __init__(self, connect: Callable[[], Client], name: str) -> None:
        super().__init__(connect)
        self.name = name
        self.game = ""  # where it plays
        self.token = ""  # that it was given last
        self.lines: list[object] = []  # all that it was told of, in the order of its being told
        self.hexagons: list[object] = []

    async def join(self, game: str) -> None:
        self.game = game
        await self.send("POST", f"{game}/players", {"name": self.name})

    async def move(self, line: object, token: str | None = None) -> None:
        header = f"X-Turn-Token: {self.token if token is None else token}"
        await self.send("POST", f"{self.game}/moves", line, header)

    async def turn(self) -> Answer:
        """The answer that says that it is its turn."""
        answer = await self.told()
        assert answer.status == 200, answer
        self.token = answer.headers[TURN]
        self.learn(said(answer))
        return answer

    async def end(self) -> dict[str, Any]:
        """The Game or Delta at the end."""
        answer = await self.told()
        assert answer.status == 200, answer
        assert TURN not in answer.headers
        told = said(answer)
        self.learn(told)
        assert told["state"] == "completed"
        return told

    def learn(self, told: dict[str, Any]) -> None:
        """Add to what is known what has come, without a look at it, as bots do."""
        if "rows" in told:
            self.lines, self.hexagons = [], []
        self.lines += drawn(told)
        self.hexagons += told["hexagons"]


class Slow(Memory):
    """A store that takes twelve seconds over some kinds of facts, and no time over others."""

    def __init__(self, *kinds: type[AnyFact]) -> None:
        super().__init__()
        self._kinds = kinds

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if any(isinstance(fact, self._kinds) for fact in facts):
            await trio.sleep(12.0)
        return await super().keep(tournament, when, facts)


class Table:
    def __init__(self, host: Host, server: Server) -> None:
        self.host = host
        self.server = server

    def caller(self, weather: Weather | None = None) -> Caller:
        return Caller(partial(self.server.connect, weather))

    def bot(self, name: str) -> Dots:
        return Dots(self.server.connect, name)

    async def read(self, path: str) -> Any:
        answer = await self.caller().ask("GET", path)
        assert answer.status == 200, answer
        return said(answer)

    async def made(self, rows: int = 3, cols: int = 3, **options: object) -> str:
        """A new game."""
        answer = await self.caller().ask("POST", "/", {"rows": rows, "cols": cols, **options})
        assert (answer.status, answer.body) == (201, b"")
        return answer.headers["location"]

    async def found(self) -> str:
        """Where the host sends whoever looks for a game."""
        return (await self.caller().ask("GET", "/match")).headers["location"]

    async def pair(self, game: str | None = None) -> tuple[Dots, Dots]:
        """Ann and Bob at a game, who has been told that it is Ann's turn."""
        game = game or await self.made()
        ann, bob = self.bot("ann"), self.bot("bob")
        await ann.join(game)
        await bob.join(game)
        await ann.turn()
        return ann, bob


@asynccontextmanager
async def table(
    settings: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    *more: Callable[[Host], HttpDoor],
    store: Store | None = None,
) -> AsyncIterator[Table]:
    async with hosting(settings or {}, limits, store) as (host, _):
        doors = (door.HexagonDots(host, hexagondots.GAME), HouseHttp(host), *(door(host) for door in more))
        async with serving(routed(doors), limits) as server:
            yield Table(host, server)
            assert not server.guard.caught, "something failed that nobody expected"


async def sides_drawn(ann: Dots, bob: Dots, count: int) -> None:
    """The first sides of (1, 1), by turns; after that whoever is next has its turn."""
    for number, side in enumerate(SIDES[:count]):
        mover, other = (ann, bob) if number % 2 == 0 else (bob, ann)
        await mover.move(side)
        await other.turn()


async def results(here: Table, tournament: str = OPEN) -> list[Concluded]:
    return await kept_matches(here.host.tournaments[tournament])


def playing(here: Table, name: str) -> Match:
    """The match that somebody is in."""
    matches = (match for each in here.host.tournaments.values() for match in each.matches.values())
    return next(match for match in matches if name in match.names)


def scores(told: dict[str, Any]) -> list[object]:
    return [player["score"] for player in told["players"]]


async def play_on(here: Table, bot: Dots, random: Random) -> None:
    """After a join: to the end, any legal moves."""
    while (answer := await bot.client.answer()).status == 200:
        bot.learn(said(answer))
        if TURN not in answer.headers:
            return
        bot.token = answer.headers[TURN]
        match = playing(here, bot.name)
        await trio.sleep(0.1)
        await bot.move(match.game.write(random.choice(list(match.position.moves()))))
    assert answer.status == 410, answer  # somebody else was quicker, or all is over
    await trio.sleep(1.0)
