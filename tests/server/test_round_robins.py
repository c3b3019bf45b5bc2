"""The main job, as people do it: `quintain serve --tournament … --until-done --json`, and four bots come.

Every game over its seed's own wire and over the house protocol, in processes of
their own; the bots know their wire and the rules, as the oracles have them.
"""

import http.client
import json
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.games.test_against_oracles import ORACLES
from tests.hang import HANG
from tests.oracles import OPEN
from tests.server.served import Served
from tests.server.test_matrix import Http, Tcp, Websocket, choose, short
from tests.server.test_serve import Bot as Lines

pytestmark = pytest.mark.slow

NAMES = ("ann", "bob", "cid", "dot")
LEAGUE = f"""
[[tournament]]
name = "t"
game = "{{game}}"
entrants = 4
pace = {{{{ turn = {HANG} }}}}
"""
PLIES = 200  # after which Quoridor is drawn

Play = Callable[[Served, str, str], None]  # a bot of that name, in that game, until the tournament is over


class Player:
    """What a bot knows of a match: the moves that it was told, and the rules."""

    def __init__(self, game: str, name: str) -> None:
        self.game = game
        self._lots = random.Random(name)
        self.begin()

    def begin(self) -> None:
        self.position = ORACLES[self.game]()
        self.moves: list[str] = []

    def learn(self, move: str) -> None:
        self.moves.append(move)
        self.position = self.position.play(move)

    def choose(self) -> str:
        return choose(self.game, self.position, self._lots)


def house(served: Served, name: str, game: str, *, wire: type[Tcp] | type[Websocket] | type[Http]) -> None:
    talk, player, mine = wire(served), Player(game, name), ""
    talk.say({"type": "hello", "name": name, "game": game, "tournament": "t"})
    while (message := talk.hear())["type"] != "standings":
        if message["type"] == "begin":
            player.begin()
            mine = message["you"]
        elif message["type"] == "turn":
            if message["last"] is not None:
                player.learn(short(game, message["last"]))
            if message["turn"] == mine:
                talk.say({"type": "move", "ply": message["ply"], "move": spelt(game, player.choose())})
    assert len(message["rows"]) == len(NAMES)
    talk.close()


def memo(served: Served, name: str, game: str) -> None:
    bot, player = Lines(served.tcp, name), Player(game, name)
    while line := bot.lines.readline():
        status, turn, _, (one, _), (other, _) = told = json.loads(line)
        names = (one, other)
        if status == "gameOver":
            player.begin()
            continue
        if told != player.position.show(names):
            after = (
                move for move in player.position.moves() if player.position.play(move).show(names) == told
            )
            player.learn(next(after))
        if turn == name:
            bot.say(player.choose())
    bot.close()


def c4_arena(served: Served, name: str, game: str) -> None:
    talk, player = Websocket(served, "/"), Player(game, name)
    try:
        talk.say({"type": "start", "id": name, "against": None})
        while True:
            told = talk.hear()
            if told["type"] == "end":
                player.begin()
                talk.say({"type": "start", "id": name, "against": None})
                continue
            for column in told["moves"][len(player.moves) :]:
                player.learn(str(column))
            if told["turn"] == told["you"]:
                talk.say({"type": "move", "move": int(player.choose())})
    except (AssertionError, OSError):
        talk.close()  # this protocol has no other end than that of the connection


def arena(served: Served, name: str, game: str) -> None:
    asks, listens, token = Requests(served), Requests(served), None
    while (answer := asks.ask("POST", f"/{game}/join", {"name": name, "token": token}))[0] == 200:
        battle, token = answer[2]["battleId"], answer[2]["token"]
        player, mine = Player(game, name), ""
        for event in listens.events(f"/{game}/start/{battle}"):
            mine = event.get("youAre", mine)
            if "position" in event:
                player.learn(event["position"])
            seats = ("O", "X") if game == "tic-tac-toe" else ("first", "second")
            open_yet = player.position.winner == OPEN and len(player.moves) < PLIES
            if open_yet and mine == seats[player.position.turn]:
                asks.ask("POST", f"/{game}/play/{battle}", acted(game, player.choose()))
    assert answer[0] == 410, answer
    asks.close()
    listens.close()


def dots(served: Served, name: str, game: str) -> None:
    """When all is over it is led to the open table: it may wait or play there until the host has gone."""
    asks = Requests(served)
    with suppress(ConnectionError):
        while True:
            status, headers, told = asks.ask("GET", "/match")
            if status == 503:
                break
            path, player = headers["Location"], Player(game, name)
            status, headers, told = asks.ask("POST", f"{path}/players", {"name": name})
            while status == 200:
                for line in told["lines"]:
                    player.learn(short(game, line["endpoints"]))
                if told["state"] == "completed":
                    break
                ends = [end.split(",") for end in player.choose().split()]
                line = [{"row": int(row), "col": int(col)} for row, col in ends]
                token = {"X-Turn-Token": headers["X-Turn-Token"]}
                status, headers, told = asks.ask("POST", f"{path}/moves", line, token)
            if status in (410, 503):  # all is over, or about to be
                break
            assert status == 200, told
    asks.close()


class Requests:
    """Somebody who asks one thing at a time."""

    def __init__(self, served: Served) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", served.http, timeout=HANG)

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str], Any]:
        self._connection.request(method, path, json.dumps(body) if body is not None else None, headers or {})
        answer = self._connection.getresponse()
        content = answer.read()
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.status, answer.headers, json.loads(content) if is_json else content

    def events(self, path: str) -> Any:
        self._connection.request("GET", path)
        for line in self._connection.getresponse():
            if line.strip():
                yield json.loads(line.removeprefix(b"data: "))

    def close(self) -> None:
        self._connection.close()


def spelt(game: str, move: str) -> object:
    return int(move) if game == "connect-4" else move


def acted(game: str, move: str) -> dict[str, str]:
    action = "putSymbol" if game == "tic-tac-toe" else "putWall" if len(move) == 3 else "move"
    return {"action": action, "position": move}


SEEDS: Mapping[str, Play] = {
    "tic-tac-toe": arena,
    "quoridor": arena,
    "connect-4": c4_arena,
    "santorini": memo,
    "hexagon-dots": dots,
}
HOUSE: tuple[Play, ...] = tuple(partial(house, wire=wire) for wire in (Tcp, Websocket, Http, Tcp))


@pytest.mark.parametrize("game", SEEDS)
def test_a_round_robin_of_four_over_the_seeds_wire(game: str, tmp_path: Path) -> None:
    assert_everybody_has_met(hold(tmp_path / "seed", game, (SEEDS[game],) * 4), game)


# `test_matrix.py` has matches of all games over all transports.
HOUSE_ALONE = "hexagon-dots"  # in which a turn may go on


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=() if game == HOUSE_ALONE else pytest.mark.campaign) for game in SEEDS]
)
def test_a_round_robin_of_four_over_the_house_protocol(game: str, tmp_path: Path) -> None:
    assert_everybody_has_met(hold(tmp_path / "house", game, HOUSE), game)


def assert_everybody_has_met(standings: dict[str, Any], game: str) -> None:
    assert (standings["tournament"], standings["game"], standings["state"]) == ("t", game, "finished")
    rows = standings["rows"]
    assert sorted(row["name"] for row in rows) == [*NAMES]
    assert [row["played"] for row in rows] == [3] * 4, "everybody has met everybody: six matches"
    assert sum(row["points"] for row in rows) == 6
    assert sum(row["wins"] for row in rows) == sum(row["losses"] for row in rows)


def hold(folder: Path, game: str, players: tuple[Play, ...]) -> dict[str, Any]:
    """A tournament, from the command to its last line. The file has what no flag is for: time to think."""
    folder.mkdir()
    (folder / "quintain.toml").write_text(LEAGUE.format(game=game))
    flags = ("--tournament", "t", "--game", game, "--format", "round-robin", "--entrants", "4")
    served = Served(folder, *flags, "--until-done", "--json", "--log-level", "error")
    try:
        with ThreadPoolExecutor(4) as threads:
            bots = [
                threads.submit(play, served, name, game) for play, name in zip(players, NAMES, strict=True)
            ]
            for bot in bots:
                bot.result(HANG)
        code, out, errors = served.end()
    finally:
        served.kill()
    assert code == 0
    assert "rror" not in errors, errors
    return json.loads(out.splitlines()[-1])
