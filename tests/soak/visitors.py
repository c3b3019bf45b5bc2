"""Who comes and goes: waves of bots of every dialect, names that never play, and people who look.

Names come back after a while, each several times an hour. What the host may remember of
names is bounded by other limits; here it is to be full long before anything is measured.
"""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection
from itertools import count, cycle, islice
from random import Random
from time import perf_counter

from msgspec import Struct
from msgspec.json import decode, encode

from games import quoridor
from tests.bench import load_tcp, load_websocket, memory
from tests.bench.crowd import Crowd, Silence
from tests.bench.load_http import WALLS, ArenaBot, Gone, HexagonBot
from tests.bench.server import Server
from tests.chaos.bots import PLAYS

TOGETHER = 8  # bots of a wave
NAMES = 96  # of the bots of one dialect: a name comes back when a match that it left is long over
TIMEOUT = 0.05  # seconds without a word after which it is the turn of the next dialect
LATER = 30.0  # seconds for which a wave stays longer that has not moved yet: the machine is busy
LOOKED_AT = (
    "/",
    "/tournaments/open-{game}",
    "/api/tournaments/open-{game}/standings",
    "/metrics",
    "/healthz",
)

Names = Iterator[str]


class HouseBot:
    """Plays Tic-Tac-Toe in the house protocol, over TCP."""

    def __init__(self, crowd: Crowd, name: str) -> None:
        self._crowd = crowd
        self._random = Random(name)
        self._rest = b""
        self._you = ""
        self._asked: float | None = None  # when it sent the move that it waits to hear of
        self._send = crowd.connect(self._take)
        hello = {"type": "hello", "name": name, "game": "tic-tac-toe", "token": f"{name}-keeps-this-secret"}
        self._send(encode(hello) + b"\n")

    def _take(self, received: bytes) -> None:
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            self._hear(decode(line))

    def _hear(self, message: dict[str, object]) -> None:
        match message:
            case {"type": "begin", "you": str(you)}:
                self._you = you
            case {"type": "turn", "state": state, "turn": turn, "match": name, "ply": ply}:
                if self._asked is not None:
                    self._crowd.made(self._asked)
                    self._asked = None
                if turn == self._you:
                    move = PLAYS["tic-tac-toe"](state, self._random)
                    self._asked = perf_counter()
                    self._send(encode({"type": "move", "match": name, "ply": ply, "move": move}) + b"\n")
            case {"type": "refused" | "error"}:
                raise RuntimeError(f"a bot that plays by the rules was told {message}")
            case _:
                self._asked = None


class Dialect(Struct, frozen=True):
    """Bots of one dialect, which play a game that no other dialect plays here."""

    door: str
    game: str
    gather: Callable[[Crowd, Names], None]


def santorini(crowd: Crowd, names: Names) -> None:
    for name in names:
        load_tcp.Bot(crowd, name)


def connect_4(crowd: Crowd, names: Names) -> None:
    for name in names:
        load_websocket.Bot(crowd, name)


def house(crowd: Crowd, names: Names) -> None:
    for name in names:
        HouseBot(crowd, name)


def arena() -> Callable[[Crowd, Names], None]:
    tokens: dict[str, str] = {}

    def gather(crowd: Crowd, names: Names) -> None:
        for name in names:
            ArenaBot(crowd, name, quoridor.GAME, WALLS, tokens)

    return gather


def hexagon_dots(crowd: Crowd, names: Names) -> None:
    while pair := [HexagonBot(crowd, name) for name in islice(names, 2)]:
        one, other = pair
        one.other, other.other = other, one
        one.make_game()


def dialects() -> Mapping[str, Dialect]:
    return {
        "santorini": Dialect("tcp", "santorini", santorini),
        "c4-arena": Dialect("websocket", "connect-4", connect_4),
        "arena": Dialect("http", "quoridor", arena()),
        "hexagon-dots": Dialect("http", "hexagon-dots", hexagon_dots),
        "house": Dialect("tcp", "tic-tac-toe", house),
    }


class Waves:
    """The bots of one dialect, some of them at a time. After each wave others have a look."""

    def __init__(self, server: Server, dialect: Dialect, stay: float) -> None:
        self.game = dialect.game
        self.moves = 0
        self.waves = 0
        self._server = server
        self._dialect = dialect
        self._stay = stay
        self._names = cycle([f"{dialect.game[:8]}-{number}" for number in range(NAMES)])
        self._strangers = (f"{dialect.game[:8]}-never-plays-{number}" for number in count())
        self._crowd: Crowd | None = None
        self._until = 0.0

    def play(self, seconds: float) -> None:
        now = perf_counter()
        if self._crowd is None or now > self._until + (0.0 if self._crowd.moves else LATER):
            if self._crowd is not None:
                self._crowd.leave()
                self._pass_by()  # while no bot is here that one of these could meet
            self.waves += 1
            self._crowd, self._until = (
                Crowd(self._server.address(self._dialect.door), timeout=TIMEOUT),
                now + self._stay,
            )
            self._dialect.gather(self._crowd, islice(self._names, TOGETHER))
        before = self._crowd.moves
        # Whoever was left in the middle of a match waits for a while, whoever was too slow for the next wave.
        with suppress(Silence, Gone):
            self._crowd.play(seconds)
        self.moves += self._crowd.moves - before

    def leave(self) -> None:
        if self._crowd is not None:
            self._crowd.leave()

    def _pass_by(self) -> None:
        """Come under a name of which nothing is heard again; and look around."""
        for wire in memory.WIRES.values():
            if wire.game == self._dialect.game:
                with socket.create_connection(self._server.address(wire.door)) as stranger:
                    stranger.sendall(wire.greeting(next(self._strangers)))
        connection = HTTPConnection(*self._server.address("http"))
        for path in LOOKED_AT:
            connection.request("GET", path.format(game=self._dialect.game))
            response = connection.getresponse()
            response.read()
            if response.status not in (200, 503):  # 503: a machine that has much to do says "in a second"
                raise RuntimeError(f"{path} of {self._dialect.game}: {response.status} {response.reason}")
        connection.close()
