"""The Arena as a whole: its routes, its settings, and bots as people write them against a host of its own."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trio.testing import MockClock

from games.brains import alphabeta
from games.catalogue import catalogue
from games.connect4 import GAME as CONNECT_4
from games.game import Game, Illegal
from server.protocols.arena.messages import FLIP, expressible, games
from tests.hang import HANG
from tests.server.protocols.knight import runner
from tests.server.protocols.lists import flipped, lists, put
from tests.server.served import Served
from tests.server.windowed import on_virtual_time

pytestmark = pytest.mark.slow

QUICK = "[limits]\ncall_pause_seconds = 0.0\n"


# Routes


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/tic-tac-toe/join", 405, "POST"),
        ("GET", "/quoridor/evaluate", 405, "POST"),
        ("DELETE", "/quoridor/play/x", 405, "POST"),
        ("POST", "/tic-tac-toe/start/x", 405, "GET"),
        ("HEAD", "/tic-tac-toe/start/x", 405, "GET"),
        ("PUT", "/evaluations/x", 405, "GET, HEAD"),
        ("GET", "/evaluations/x", 404, None),
        ("GET", "/evaluations", 404, None),
        ("GET", "/evaluations/x/y", 404, None),
        ("GET", "/tic-tac-toe", 404, None),
        ("POST", "/tic-tac-toe/", 404, None),
        ("POST", "/tic-tac-toe/play", 404, None),
        ("POST", "/tic-tac-toe/play/x/", 404, None),
        ("GET", "/tic-tac-toe/start/x/y", 404, None),
        ("GET", "/quoridor/start/", 404, None),
    ],
)
async def test_what_cannot_be_done_is_refused(
    method: str, path: str, status: int, allow: str | None, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        answer = await here.ask(path, b"", method=method)
        assert (answer.status, answer.headers.get("allow")) == (status, allow)
        assert answer.body == b"" if method == "HEAD" else [*json.loads(answer.body)] == ["error"]


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)),
    st.sampled_from(["play", "join"]),
)
def test_no_body_is_a_fault_of_the_hosts(body: bytes, action: str) -> None:
    async def ask() -> None:
        async with lists() as here:
            ann, bob = await here.pair()
            where = f"play/{ann.battle}" if action == "play" else action
            here.send(f"/tic-tac-toe/{where}", body, headers={"Content-Type": "text/plain"})
            await here.says(f"/tic-tac-toe/play/{bob.battle}", body)
            told = await ann.told()
            assert len(told) <= 1
            assert (await ann.put("C"))[0] == (423 if told else 200)
            assert await ann.told() == ([] if told else [put("O", "C")])

    on_virtual_time(ask)


# Games


def read_drop(sent: object, position: Any) -> Any:
    match sent:
        case {"action": "drop", "position": str(column)} if column.isdecimal():
            return CONNECT_4.read(int(column), position)
        case _:
            raise Illegal("a disc is dropped")


DROPS = replace(
    CONNECT_4,
    name="drops",
    read=read_drop,
    write=lambda move: {"action": "drop", "position": str(move)},
    lots=False,
    faults="forfeit",
)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more game in the catalogue, whose moves are commands."""
    monkeypatch.setattr("games.catalogue._others", lambda: [("a package of somebody's", DROPS)])
    catalogue.cache_clear()
    yield
    catalogue.cache_clear()


def test_our_games_whose_moves_are_commands_are_served() -> None:
    assert set(games()) >= {"tic-tac-toe", "quoridor"}
    assert not {"connect-4", "hexagon-dots", "santorini"} & set(games())


@pytest.mark.parametrize(
    ("game", "served"),
    [
        (DROPS, True),
        (replace(DROPS, write=lambda move: {"action": f"drop{move}"}), True),
        (replace(DROPS, write=lambda move: {"action": "drop", "position": move}), False),
        (replace(DROPS, write=lambda move: {"action": "drop", "position": "a", "colour": "red"}), False),
        (replace(DROPS, write=lambda move: {"drop": "a"}), False),
        (replace(DROPS, write=lambda move: "drop a"), False),
        (replace(DROPS, faults="retry"), False),
    ],
)
def test_a_game_is_served_if_commands_can_say_its_moves_and_a_bad_one_ends_it(
    game: Game[Any, Any], served: bool
) -> None:
    assert expressible(game) == served


@pytest.mark.usefixtures("planted")
async def test_any_game_of_commands_is_played_like_ours(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair("drops")
        assert (ann.side, bob.side) == CONNECT_4.seats
        assert (await ann.command(action="drop", position="3"))[0] == 200
        assert (await bob.command(action="drop", position="9"))[0] == 200
        told = [
            {"player": side, "action": "drop", "position": column}
            for side, column in zip(CONNECT_4.seats, ("3", "9"), strict=True)
        ]
        assert await bob.told() == told
        assert (await ann.flip())[0] == 200
        assert await ann.told() == [*told, flipped(ann.side)]
        assert ann.stream.over


@pytest.mark.usefixtures("planted")
async def test_where_there_are_no_cases_nobody_is_evaluated(autojump_clock: MockClock) -> None:
    async with lists() as here:
        assert await here.says("/drops/evaluate", {"teamUrl": "http://192.0.2.7"}) == (
            404,
            {"error": "there is nothing at /drops/evaluate"},
        )


# A bot as people write it


class Bot:
    """Waits to be called, plays the battle, and answers the call after that, with an error."""

    def __init__(self, host: Served, game: Game[Any, Any], choose: Callable[[Any], Any]) -> None:
        self.host = host
        self.game = game
        self.choose = choose
        self.wrong: list[BaseException] = []
        bot = self

        class Door(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                try:
                    if self.path == f"/{game.name}":
                        bot.fight(message["battleId"])
                except BaseException as error:
                    bot.wrong.append(error)
                    raise
                with suppress(OSError):  # the host has hung up long ago
                    self.send_error(500)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))

    def __enter__(self) -> "Bot":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def fight(self, battle: str) -> None:
        events = self.events(f"/{self.game.name}/start/{battle}")
        me, position, over = next(events)["youAre"], self.game.opening({}), False
        while True:
            if not over and position.outcome is None and self.game.seats[position.turn] == me:
                self.send(battle, self.game.write(self.choose(position)))
            event = next(events, None)
            if event is None:
                return
            if "winner" in event or over:
                continue
            try:
                if event["player"] != self.game.seats[position.turn]:
                    raise Illegal("somebody moves out of turn")
                position = position.play(self.game.read(event, position))
            except Illegal:
                over = True
                self.send(battle, {"action": FLIP})

    def events(self, path: str) -> Iterator[dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.host.http, timeout=HANG)
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.headers["Content-Type"] == "text/event-stream"
        for line in answer:
            if line.strip():
                yield json.loads(line.decode().removeprefix("data: "))
        connection.close()

    def send(self, battle: str, move: Any) -> None:
        ask(self.host, f"/{self.game.name}/play/{battle}", urlencode(move))


def ask(host: Served, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", host.http, timeout=HANG)
    content = body if isinstance(body, str | None) else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, content)
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    return answer.status, said


@contextmanager
def served(folder: Path, *flags: str) -> Iterator[Served]:
    (folder / "quintain.toml").write_text(QUICK)
    host = Served(folder, *flags)
    try:
        yield host
    finally:
        host.kill()


def perfect(position: Any) -> Any:
    return alphabeta(catalogue()["tic-tac-toe"])(position, lambda: False)


@pytest.mark.parametrize(
    ("game", "choose", "cases", "least"),
    [
        ("tic-tac-toe", perfect, 9, 100),
        pytest.param("quoridor", runner, 13, 50, marks=pytest.mark.campaign),  # so in `test_evaluation.py`
    ],
)
def test_a_bot_is_evaluated_over_the_network(
    game: str, choose: Callable[[Any], Any], cases: int, least: int, tmp_path: Path
) -> None:
    with served(tmp_path) as host, Bot(host, catalogue()[game], choose) as bot:
        asked = {"teamUrl": bot.url, "callbackUrl": f"{bot.url}/score", "runId": "run"}
        status, said = ask(host, f"/{game}/evaluate", asked)
        assert (status, len(said["battleIds"])) == (200, cases)
        until = time.monotonic() + 3 * HANG
        while not (run := ask(host, "/evaluations/run")[1])["done"]:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert run["score"] >= least, run
        assert not bot.wrong


def test_bots_that_are_called_play_a_tournament_over_the_network(tmp_path: Path) -> None:
    cup = (
        "--tournament",
        "cup",
        "--game",
        "tic-tac-toe",
        "--format",
        "round-robin",
        "--entrants",
        "3",
    )
    game = catalogue()["tic-tac-toe"]
    with served(tmp_path, *cup, "--until-done", "--json") as host:
        with (
            Bot(host, game, perfect) as ann,
            Bot(host, game, perfect) as bob,
            Bot(host, game, perfect) as cas,
        ):
            for name, bot in (("ann", ann), ("bob", bob), ("cas", cas)):
                assert ask(host, "/tic-tac-toe/join", {"name": name, "teamUrl": bot.url})[0] == 202
            code, out, errors = host.end()
        assert code == 0, errors
        rows = json.loads(out.splitlines()[-1])["rows"]
        assert [(row["played"], row["draws"]) for row in rows] == [(2, 2)] * 3
        assert not ann.wrong + bob.wrong + cas.wrong
