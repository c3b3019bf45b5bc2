"""Every game over every transport: real sockets, bots that know the wire and the rules, nothing of ours.

The rules are the oracles', which were written from the rules alone.
"""

import http.client
import json
import random
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from typing import Any, Protocol

import pytest
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Request, TextMessage
from wsproto.utilities import LocalProtocolError

from tests.games.test_against_oracles import ORACLES
from tests.hang import HANG, wait_for
from tests.oracles import OPEN
from tests.server.served import Served

pytestmark = pytest.mark.slow

HASTE = 0.8  # of the steps in Quoridor go forward: at random it would take for ever


class Talk(Protocol):
    """One bot's side of the house protocol: a message at a time."""

    def say(self, message: dict[str, Any]) -> None: ...
    def hear(self) -> dict[str, Any]: ...
    def close(self) -> None: ...


class Tcp:
    """A JSON object a line."""

    def __init__(self, host: Served) -> None:
        self._socket = socket.create_connection(("127.0.0.1", host.tcp), HANG)
        self._lines = self._socket.makefile("r")

    def say(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        return json.loads(self._lines.readline())

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


class Websocket:
    """A JSON object a text message."""

    def __init__(self, host: Served, path: str = "/play") -> None:
        self._socket = self._connected(host.websocket)
        self._wire = WSConnection(ConnectionType.CLIENT)
        self._socket.sendall(self._wire.send(Request(host="127.0.0.1", target=path)))
        self._events = self._read()
        assert isinstance(next(self._events), AcceptConnection)

    def _connected(self, port: int) -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), HANG)

    def _read(self) -> Iterator[Any]:
        while True:
            yield from self._wire.events()
            self._wire.receive_data(self._socket.recv(65536) or None)

    def say(self, message: dict[str, Any]) -> None:
        self._socket.sendall(self._wire.send(TextMessage(json.dumps(message))))

    def hear(self) -> dict[str, Any]:
        text = ""
        for event in self._events:
            assert isinstance(event, TextMessage), event
            text += event.data
            if event.message_finished:
                return json.loads(text)
        raise AssertionError("the host ended the connection")

    def close(self) -> None:
        with suppress(OSError, LocalProtocolError):  # the host may have been quicker
            self._socket.sendall(self._wire.send(CloseConnection(1000)))
        self._socket.close()


class Http:
    """A session and long polls."""

    def __init__(self, host: Served) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", host.http, timeout=HANG)
        self._session = ""
        self._after = 0
        self._told: list[dict[str, Any]] = []

    def _ask(self, method: str, path: str, body: str | None = None) -> Any:
        self._connection.request(method, path, body)
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status < 300, content
        return json.loads(content)

    def say(self, message: dict[str, Any]) -> None:
        answer = self._ask("POST", f"/play{self._session}", json.dumps(message))
        if message["type"] == "hello":
            self._session = f"/{answer['session']}"
            self._told.append(answer)

    def hear(self) -> dict[str, Any]:
        while not self._told:
            self._told += self._ask("GET", f"/play{self._session}?after={self._after}")
        message = self._told.pop(0)
        self._after = message["seq"]
        return message

    def close(self) -> None:
        self._connection.close()


TRANSPORTS: dict[str, type[Tcp] | type[Websocket] | type[Http]] = {
    "tcp": Tcp,
    "websocket": Websocket,
    "http": Http,
}
MIXED = [("tcp", "websocket"), ("websocket", "http"), ("http", "tcp")]
ALL = [*((name, name) for name in TRANSPORTS), *MIXED]
PLAYED = MIXED[:2]  # of each game: all transports are among them


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("matrix"))
    yield served
    served.kill()


@pytest.mark.parametrize(
    ("transports", "game"),
    [
        pytest.param(
            transports,
            game,
            id=f"{'-'.join(transports)}-{game}",
            marks=() if transports in PLAYED or game == "tic-tac-toe" else pytest.mark.campaign,
        )
        for transports, game in product(ALL, ORACLES)
    ],
)
def test_a_match_is_played_to_its_end(host: Served, game: str, transports: tuple[str, str]) -> None:
    name = f"{game}.{'.'.join(transports)}"
    open_tournament(host, name, game)
    with ThreadPoolExecutor(2) as threads:
        bots = [
            threads.submit(play, TRANSPORTS[transport](host), f"{seat}.{name}"[:32], name, game)
            for seat, transport in zip("ab", transports, strict=True)
        ]
        stories = [bot.result(HANG) for bot in bots]
    (one_end, one_moves), (other_end, other_moves) = stories
    assert one_end == other_end
    assert one_moves == other_moves
    assert one_end["ending"] == "played"
    status, record = host.get(f"/api/matches/{one_end['match']}")
    assert status == 200
    assert [short(game, move) for move in record["moves"]] == one_moves
    assert record["why"] == one_end["why"]
    wait_for(lambda: host.get(f"/api/tournaments/{name}")[1]["state"] == "finished", f"the end of {name}")


def open_tournament(host: Served, name: str, game: str) -> None:
    body = json.dumps({"name": name, "game": game, "entrants": 2, "pace": {"turn": HANG}})
    token = (host.data / "organiser-token").read_text().strip()
    status, answer = host.ask(
        "POST /api/tournaments HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
    assert status == 201, answer


def play(talk: Talk, name: str, tournament: str, game: str) -> tuple[dict[str, Any], list[str]]:
    """Play one match; returns its `end`, without what is told of oneself, and the moves as they were told."""
    lots, oracle, moves, mine = random.Random(name), ORACLES[game](), list[str](), ""
    talk.say({"type": "hello", "name": name, "game": game, "tournament": tournament, "protocol": 1})
    while True:
        message = talk.hear()
        match message["type"]:
            case "begin":
                mine, match = message["you"], message["match"]
                assert name in message["players"]
            case "turn":
                if message["last"] is not None:
                    moves.append(short(game, message["last"]))
                    oracle = oracle.play(moves[-1])
                assert message["ply"] == len(moves)
                if message["turn"] == mine:
                    move = choose(game, oracle, lots)
                    sent = int(move) if game == "connect-4" else move
                    talk.say({"type": "move", "match": match, "ply": message["ply"], "move": sent})
            case "end":
                assert oracle.winner != OPEN or len(moves) == 200
                talk.close()
                return {key: message[key] for key in ("match", "winner", "ending", "why")}, moves
            case other:
                assert other in ("welcome", "standings"), message


def choose(game: str, oracle: Any, lots: random.Random) -> str:
    moves = sorted(oracle.pawn_moves() if game == "quoridor" else oracle.moves())  # of walls there are many
    if game == "quoridor" and lots.random() < HASTE:
        return max(moves, key=lambda move: int(move[1]) * (1 if oracle.turn == 0 else -1))
    return lots.choice(moves)


def short(game: str, move: Any) -> str:
    """A move as the wire has it, as people write it."""
    match game:
        case "tic-tac-toe" | "quoridor":
            return move["position"]
        case "connect-4":
            return str(move)
        case "santorini":
            return " ".join(map(str, move))
        case _:
            return " ".join(f"{point['row']},{point['col']}" for point in move)
