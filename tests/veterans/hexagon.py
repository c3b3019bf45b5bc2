"""Bots of Hexagon Dots from 2011: they ask for a match, believe every delta, and never fill in.

A request is JSON that calls itself a form, as a library does that was given
nothing but the bytes. What a bot is told it puts behind what it has: a line
that comes twice, or one of its own that does not come, is the end of it. It
draws sides of hexagons that can still be captured, and where there are none it
would look for one for ever.
"""

import http.client
import json
import random
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.hang import HANG

Point = tuple[int, int]
Line = tuple[Point, Point]

PATHS = ("/match", "/players", "/moves")
SHOUTED = ("/Match/", "/Players/", "/MOVES/")
RUBY = {
    "Accept-Encoding": "gzip;q=1.0,deflate;q=0.6,identity;q=0.3",
    "Accept": "*/*",
    "User-Agent": "Ruby",
    "Connection": "close",
}


def ask(
    port: int, path: str, body: object = None, headers: dict[str, str] | None = None
) -> tuple[int, Any, Any]:
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}{path}", data, headers or {}), timeout=HANG) as answer:
            content = answer.read()
            return answer.status, answer.headers, json.loads(content) if content else None
    except HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


def around(row: int, col: int) -> list[Point]:
    """The six points around one, in a circle, whether or not they are on a board."""
    left = col - row % 2
    upper, lower = (row - 1, left), (row + 1, left)
    return [upper, (row - 1, left + 1), (row, col + 1), (row + 1, left + 1), lower, (row, col - 1)]


def line(one: Any, other: Any) -> Line:
    return (min(one, other), max(one, other))


def point(told: Any) -> Point:
    return told["row"], told["col"]


def ends(told: Any) -> Line:
    """Of a line as it is told: the earlier end first."""
    one, other = map(point, told["endpoints"])
    assert one < other
    return one, other


class Player:
    """One bot in one game."""

    def __init__(self, port: int, name: str, paths: tuple[str, str, str] = PATHS) -> None:
        self.port = port
        self.name = name
        self.match, self.players, self.moves = paths
        self.lots = random.Random(name)

    def find(self) -> str:
        status, headers, _ = ask(self.port, self.match)
        assert status == 201
        return headers["Location"]

    def play(self, game: str = "") -> None:
        """Plays at that address, or wherever it is sent, until the game is over."""
        self.game = game or self.find()
        told = ask(self.port, f"{self.game}{self.players}", {"name": self.name})
        assert told[0] == 200, told
        self.lines: list[Line] = []
        self.hexagons: list[Point] = []
        self.size = told[2]["rows"], told[2]["cols"]
        self.learn(told[2])
        while (token := told[1]["X-Turn-Token"]) is not None:
            mine = self.choice()
            points = [{"row": row, "col": col} for row, col in mine]
            told = ask(self.port, f"{self.game}{self.moves}", points, {"X-Turn-Token": token})
            assert told[0] == 200, told
            self.learn(told[2])
            assert self.lines.count(mine) == 1, "its own line has to come, and once"
        assert told[2]["state"] == "completed"
        self.scores = {player["name"]: player["score"] for player in told[2]["players"]}

    def learn(self, told: Any) -> None:
        self.lines += [ends(new) for new in told["lines"]]
        self.hexagons += [point(new["center"]) for new in told["hexagons"]]
        assert len({*self.lines}) == len(self.lines), "a line came twice"
        assert len({*self.hexagons}) == len(self.hexagons), "a hexagon came twice"

    def possible(self) -> list[list[Line]]:
        """The sides that are missing of each hexagon that can still be captured."""
        rows, cols = self.size
        points = {(row, col) for row in range(rows) for col in range(cols - 1 + row % 2)}
        found: list[list[Line]] = []
        for centre in sorted(points - {*self.hexagons}):
            ring = around(*centre)
            if {*ring} <= points and not {*ring} & {*self.hexagons}:
                sides = {line(ring[at - 1], ring[at]) for at in range(6)}
                found.append(sorted(sides - {*self.lines}))
        return found

    def choice(self) -> Line:
        """One that captures, if there is one; else any side."""
        missing = self.possible()
        assert missing, "there is nothing left to capture, and it is asked to draw a line"
        last = [sides for sides in missing if len(sides) == 1]
        return self.lots.choice(self.lots.choice(last or missing))

    def play_often(self, games: int) -> None:
        for _ in range(games):
            self.play()


class Viewer:
    """Shows a game to people: looks for one at `/`, and puts the deltas together as they come."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.lines: list[Line] = []

    def games(self) -> dict[str, str]:
        """The addresses of all games, which it makes of their ids, and how these stand."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        connection.request("GET", "/", headers=RUBY)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        assert (answer.status, answer.headers["Content-Encoding"]) == (200, None)
        assert answer.headers["Content-Type"].startswith("application/json"), answer.headers["Content-Type"]
        return {f"/{game['id']}": game["state"] for game in json.loads(content)}

    def watch(self, game: str) -> None:
        """Until it is over."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        connection.request("POST", f"{game}/observers", headers=RUBY)
        answer = connection.getresponse()
        assert answer.status == 200
        for told in map(json.loads, answer):
            self.lines += [ends(new) for new in told["lines"]]
            self.state = told["state"]
        connection.close()
