"""An author's team server, called by the arena: evaluations and tournaments by `teamUrl`, from outside."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.ends import Stream, ask, form, fresh
from tests.blackbox.forked import ForkedHost
from tests.blackbox.inspected import Inspected
from tests.blackbox.unhurried import unhurried
from tests.hang import wait_for
from tests.ports import free_ports

pytestmark = pytest.mark.slow
FLIP = "(╯°□°)╯︵ ┻━┻"
FIELDS = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
CHEATS = {
    "C_AI_DUP": 4,
    "C_AI_TWICE_A_ROW": 4,
    "C_AI_X_FIRST": 4,
    "C_AI_OUT_OF_BOUND": 4,
    "C_AI_FLIP_TABLE_RANDOMLY": 4,
}
CASES = {"BASE_AI_O": 20, "BASE_AI_X": 20, "AB_AI_O": 20, "AB_AI_X": 20} | CHEATS


def wins(board: str, seat: str) -> bool:
    return any(all(board[at] == seat for at in line) for line in LINES)


def best(board: str, seat: str, known: dict[tuple[str, str], tuple[int, int]]) -> tuple[int, int]:
    """The value of a board for whoever is to move, and a field that has it."""
    if (board, seat) not in known:
        other = "X" if seat == "O" else "O"
        if wins(board, other):
            known[board, seat] = -1, -1
        elif " " not in board:
            known[board, seat] = 0, -1
        else:
            free = [at for at, field in enumerate(board) if field == " "]
            replies = ((board[:at] + seat + board[at + 1 :], at) for at in free)
            known[board, seat] = max((-best(after, other, known)[0], at) for after, at in replies)
    return known[board, seat]


class Team:
    """A bot as its author runs it: the arena's call is answered when the battle is over, and by a 500."""

    def __init__(self, host: Inspected, game: str = "tic-tac-toe", idle: bool = False) -> None:
        self.host = host
        self.game = game
        self.called: list[Any] = []
        self.told: list[Any] = []
        self.before: list[int] = []  # how the last battle stood whenever it was called to another
        self.heard: list[list[Any]] = []
        team = self

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == f"/{game}":
                    if team.called:
                        team.before.append(team.poke(team.called[-1][1]["battleId"]))
                    team.called.append((self.headers["Content-Type"], json.loads(body)))
                    if not idle:
                        with suppress(OSError, EOFError, HTTPException):  # the host may end meanwhile
                            team.battle(json.loads(body)["battleId"])
                    self.send_error(500)
                else:
                    team.told.append((self.path, body))
                    self.send_response(200)
                    self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        # Of its own also once it has gone: the host may still be evaluating it.
        self.server = ThreadingHTTPServer(("127.0.0.1", *free_ports(1)), Endpoint)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def battle(self, battle_id: str) -> None:
        board, events, known = " " * 9, [], {}
        with Stream(self.host.http, f"/{self.game}/start/{battle_id}") as stream:
            me = stream.event()["youAre"]
            turn = "O"
            while True:
                if turn == me and not (wins(board, "O") or wins(board, "X") or " " not in board):
                    self.post(battle_id, action="putSymbol", position=FIELDS[best(board, me, known)[1]])
                chunk = stream.chunk()
                if not chunk:
                    break
                event = json.loads(chunk[6:])
                events.append(event)
                if "player" not in event:
                    continue
                position = event.get("position")
                legal = (
                    event["player"] == turn and position in FIELDS and board[FIELDS.index(position)] == " "
                )
                if legal:
                    at = FIELDS.index(position)
                    board = board[:at] + turn + board[at + 1 :]
                    turn = "X" if turn == "O" else "O"
                elif event["player"] != me:
                    turn = ""
                    self.post(battle_id, action=FLIP)
        self.heard.append(events)

    def post(self, battle_id: str, **fields: str) -> None:
        ask(
            self.host.http,
            "POST",
            f"/{self.game}/play/{battle_id}",
            form(**fields),
            Content_Type="application/x-www-form-urlencoded",
        )

    def poke(self, battle_id: str) -> int:
        """The status of a command that has no effect: 400 while a battle goes on, 423 once it is over."""
        return ask(self.host.http, "POST", f"/{self.game}/play/{battle_id}", b"{").status

    def finished(self, count: int) -> list[list[Any]]:
        """What was told in its first battles, once their streams have closed."""
        wait_for(lambda: len(self.heard) >= count, f"the end of {count} battles")
        return self.heard[:count]

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@contextmanager
def team(host: Inspected, game: str = "tic-tac-toe", *, idle: bool = False) -> Iterator[Team]:
    opened = Team(host, game, idle)
    try:
        yield opened
    finally:
        opened.close()


def evaluated(host: Inspected, run: str) -> Any:
    stands: Any = {}

    def done() -> bool:
        nonlocal stands
        stands = ask(host.http, "GET", f"/evaluations/{run}").json
        return stands["done"]

    wait_for(done, f"the end of the evaluation {run}")
    return stands


def test_a_perfect_bot_that_flips_at_cheats_has_100_points(host: Inspected) -> None:
    run = fresh("run")
    with team(host) as bot:
        asked = {"teamUrl": bot.url, "callbackUrl": f"{bot.url}/done", "runId": run}
        answer = ask(host.http, "POST", "/tic-tac-toe/evaluate", asked)
        assert answer.status == 200
        assert answer.json["errors"] == {}
        assert len(set(answer.json["battleIds"])) == len(CASES)
        stands = evaluated(host, run)
        assert set(stands) == {"runId", "score", "done", "cases"}
        assert (stands["runId"], stands["done"]) == (run, True)
        assert {case["caseType"]: case["score"] for case in stands["cases"]} == CASES
        assert stands["score"] == 100
        assert all(set(case) == {"battleId", "caseType", "score", "why"} for case in stands["cases"])
        assert sorted(case["battleId"] for case in stands["cases"]) == sorted(answer.json["battleIds"])
        assert sorted(body["battleId"] for _, body in bot.called) == sorted(answer.json["battleIds"])
        assert all(list(body) == ["battleId"] for _, body in bot.called)
        assert {kind for kind, _ in bot.called} == {"application/json"}
        assert bot.before == [423] * (len(CASES) - 1), "one after another"
        flips = [
            events[-1]
            for events in bot.finished(len(CASES))
            if any(event.get("action") == FLIP for event in events)
        ]
        assert [set(last) for last in flips] == [{"player", "action"}] * len(CHEATS), "without a winner"
        wait_for(lambda: bot.told, "the score")
        ((path, body),) = bot.told
        assert path == "/done"
        assert json.loads(body)["runId"] == run
        assert json.loads(body)["score"] == 100


def test_the_letter_in_a_case_is_the_arenas_seat(host: Inspected) -> None:
    for case, seat in (("BASE_AI_O", "X"), ("BASE_AI_X", "O")):
        run = fresh("run")
        with team(host) as bot:
            asked = {"teamUrl": bot.url, "runId": run, "caseType": case}
            answer = ask(host.http, "POST", "/tic-tac-toe/evaluate", asked)
            assert len(answer.json["battleIds"]) == 1
            assert evaluated(host, run)["score"] == 20
            assert bot.finished(1)[0][-1] == {"winner": seat}


def test_the_baseline_takes_the_first_empty_field_row_by_row(host: Inspected) -> None:
    with team(host) as bot:
        run = fresh("run")
        asked = form(teamUrl=bot.url, runId=run, caseType="BASE_AI_O")
        ask(
            host.http,
            "POST",
            "/tic-tac-toe/evaluate",
            asked,
            Content_Type="application/x-www-form-urlencoded",
        )
        evaluated(host, run)
        taken: list[str] = []
        for event in bot.finished(1)[0][:-1]:
            if event["player"] == "O":
                assert event["position"] == next(field for field in FIELDS if field not in taken)
            taken.append(event["position"])


def test_whoever_never_opens_its_stream_holds_up_nobody(host: Inspected) -> None:
    with team(host, idle=True) as idle, team(host) as bot:
        ask(host.http, "POST", "/tic-tac-toe/evaluate", {"teamUrl": idle.url, "runId": fresh("run")})
        run = fresh("run")
        asked = {"teamUrl": bot.url, "runId": run, "caseType": "AB_AI_X"}
        ask(host.http, "POST", "/tic-tac-toe/evaluate", asked)
        assert evaluated(host, run)["score"] == 20


@pytest.mark.parametrize("body", [{}, {"callbackUrl": "http://127.0.0.1:9999"}, {"teamUrl": 7}, b"junk"])
def test_missing_fields_are_400(host: Inspected, body: object) -> None:
    for game in ("tic-tac-toe", "quoridor"):
        answer = ask(host.http, "POST", f"/{game}/evaluate", body)
        assert answer.status == 400
        assert list(answer.json) == ["error"]


def test_an_unknown_case_is_400_and_an_unknown_run_404(host: Inspected) -> None:
    with team(host) as bot:
        asked = {"teamUrl": bot.url, "runId": fresh("run"), "caseType": "NO_SUCH_AI"}
        assert ask(host.http, "POST", "/tic-tac-toe/evaluate", asked).status == 400
        assert bot.called == []
    assert ask(host.http, "GET", "/evaluations/nobodys").status == 404


def test_quoridor_has_its_thirteen_cases(host: Inspected) -> None:
    """Some of them are asked for by name: there may be no more than eight evaluations at once."""
    with team(host, "quoridor", idle=True) as bot:
        answer = ask(host.http, "POST", "/quoridor/evaluate", {"teamUrl": bot.url, "runId": fresh("run")})
        assert len(set(answer.json["battleIds"])) == 13
    for case in ("WALK_THROUGH_WALL", "PUT_11_WALLS", "WALL_BLOCKING", "BASE_AI_FIRST", "AB_AI_SECOND"):
        with team(host, "quoridor", idle=True) as bot:
            asked = {"teamUrl": bot.url, "runId": fresh("run"), "caseType": case}
            answer = ask(host.http, "POST", "/quoridor/evaluate", asked)
            assert answer.status == 200, case
            assert len(answer.json["battleIds"]) == 1


def test_a_join_with_a_team_url_is_202_at_once_and_the_host_calls_for_each_match(tmp_path: Path) -> None:
    """On a host of its own: for ten seconds after the teams have gone they are called to further matches."""
    unhurried(tmp_path, "kept")
    with ForkedHost(tmp_path, "--data", "kept") as host, team(host) as one, team(host) as two:
        for bot in (one, two):
            body = {"name": fresh("team"), "teamUrl": bot.url}
            assert ask(host.http, "POST", "/tic-tac-toe/join", body).status == 202
        assert one.finished(1)[0][-1] == two.finished(1)[0][-1] == {"winner": "draw"}
