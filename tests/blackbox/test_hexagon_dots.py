"""Hexagon Dots over HTTP, as its gist's bots speak it: sentence by sentence, from outside."""

import json
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.ends import Answer, Asking, Stream, ask, fresh
from tests.blackbox.forked import ForkedHost
from tests.blackbox.inspected import Inspected
from tests.blackbox.unhurried import unhurried
from tests.hang import HANG
from tests.oracles import OPEN
from tests.oracles import hexagondots as oracles

pytestmark = pytest.mark.slow
Point = tuple[int, int]
Line = tuple[Point, Point]
RING: list[Point] = [(0, 0), (0, 1), (1, 2), (2, 1), (2, 0), (1, 0)]  # around (1, 1)
HEXAGON: list[Line] = list(zip(RING, RING[1:] + RING[:1], strict=True))


def written(line: Line) -> list[dict[str, int]]:
    return [{"row": row, "col": col} for row, col in line]


class Bot:
    """A bot that knows its game's address, and its newest token."""

    def __init__(self, host: Inspected, game: str, name: str) -> None:
        self.host = host
        self.game = game
        self.name = name
        self.token = ""
        self.asking = Asking(host.http, "POST", f"{game}/players", {"name": name})

    def draw(self, line: Line, token: str | None = None) -> Asking:
        self.asking = self.send(written(line), token)
        return self.asking

    def send(self, body: object, token: str | None = None, **headers: str) -> Asking:
        headers["X_Turn_Token"] = self.token if token is None else token
        return Asking(self.host.http, "POST", f"{self.game}/moves", body, **headers)

    def hear(self) -> Any:
        """The answer that is held for it: its turn, or the end."""
        answer = self.asking.answer()
        assert answer.status == 200, answer
        self.token = answer.headers.get("x-turn-token", "")
        return answer.json


def create(host: Inspected, rows: int, cols: int, **more: str) -> str:
    answer = ask(host.http, "POST", "/", {"rows": rows, "cols": cols, **more})
    assert answer.status == 201
    return answer.headers["location"]


@contextmanager
def game(
    host: Inspected, rows: int = 3, cols: int = 3, names: tuple[str, str] | None = None
) -> Iterator[tuple[Bot, Bot]]:
    """Who has the first turn, and has heard so, and the other, whose join is held."""
    where = create(host, rows, cols)
    names = names or (fresh("JF"), fresh("JF"))
    one = Bot(host, where, names[0])
    assert one.asking.silent(0.1)
    two = Bot(host, where, names[1])
    (asking,), _, _ = select.select([one.asking.socket, two.asking.socket], [], [], HANG)
    bots = (one, two) if asking is one.asking.socket else (two, one)
    try:
        bots[0].hear()
        yield bots
    finally:
        for bot in bots:
            bot.asking.close()


def seen(host: Inspected, where: str) -> Any:
    answer = ask(host.http, "GET", where)
    assert answer.status == 200
    return answer.json


def test_a_new_game_is_201_with_a_path_as_its_location(host: Inspected) -> None:
    where = create(host, 5, 5)
    assert where.startswith("/g/")
    assert seen(host, where) == {
        "rows": 5,
        "cols": 5,
        "lines": [],
        "hexagons": [],
        "players": [],
        "state": "initiating",
    }


@pytest.mark.parametrize(
    ("rows", "cols"),
    [(4, 5), (1, 3), (-3, 3), (3, 2), (33, 3), (3, 32), ("3", 3), (3, None), (10**30, 3), (3.5, 3)],
)
def test_a_bad_board_is_a_4xx_with_the_reason(host: Inspected, rows: object, cols: object) -> None:
    answer = ask(host.http, "POST", "/", {"rows": rows, "cols": cols})
    assert 400 <= answer.status < 500
    assert answer.body


def test_the_greatest_board_is_31_by_31(host: Inspected) -> None:
    assert seen(host, create(host, 31, 31))["rows"] == 31


def test_json_is_json_whatever_the_content_type_says(host: Inspected) -> None:
    answer = ask(
        host.http,
        "POST",
        "/",
        b' { "cols" : 3,\r\n "rows" : 3, "more" : [] }\r\n',
        Content_Type="application/x-www-form-urlencoded",
    )
    assert answer.status == 201


def test_a_join_is_held_until_that_players_first_turn_and_answers_the_whole_game(host: Inspected) -> None:
    where = create(host, 3, 3)
    one, two = Bot(host, where, fresh("JF")), fresh("JF")
    assert one.asking.silent()
    second = Bot(host, where, two)
    answer = one.asking.answer()
    assert answer.status == 200
    assert answer.headers["x-turn-token"]
    assert answer.json == {
        "rows": 3,
        "cols": 3,
        "lines": [],
        "hexagons": [],
        "players": [{"name": one.name, "score": 0}, {"name": two, "score": 0}],
        "state": "in play",
    }
    assert second.asking.silent()
    second.asking.close()


def test_the_second_joiners_game_holds_the_lines_drawn_so_far(host: Inspected) -> None:
    with game(host) as (first, second):
        first.draw(HEXAGON[0])
        whole = second.hear()
        assert (whole["rows"], whole["cols"], whole["state"]) == (3, 3, "in play")
        assert whole["lines"] == [
            {"endpoints": written(HEXAGON[0]), "owner": {"name": first.name, "score": 0}}
        ]
        assert second.token


def test_the_answer_to_a_move_is_a_delta_with_the_own_line_once_and_then_the_opponents(
    host: Inspected,
) -> None:
    with game(host, 3, 5) as (first, second):
        first.draw(HEXAGON[0])
        second.hear()
        second.draw(HEXAGON[1])
        delta = first.hear()
        assert set(delta) == {"lines", "hexagons", "players", "state"}, "no rows and cols"
        assert [(line["owner"]["name"], line["endpoints"]) for line in delta["lines"]] == [
            (first.name, written(HEXAGON[0])),
            (second.name, written(HEXAGON[1])),
        ]
        first.draw(HEXAGON[2])
        assert [line["owner"]["name"] for line in second.hear()["lines"]] == [second.name, first.name]


def test_deltas_put_together_are_the_game(host: Inspected) -> None:
    with game(host, 3, 5) as bots:
        known: dict[str, list[Any]] = {bot.name: [] for bot in bots}
        turn = 0
        for number, line in enumerate(HEXAGON):
            bots[turn].draw(line)
            turn = 1 - turn
            if number < 5:
                known[bots[turn].name] += bots[turn].hear()["lines"]
        second = bots[1]
        known[second.name] += second.hear()["lines"]
        whole = [line["endpoints"] for line in seen(host, second.game)["lines"]]
        assert len(known[second.name]) == len(whole) == 6
        assert all(line["endpoints"] in whole for line in known[second.name])


def test_a_move_is_held_until_the_next_turn(host: Inspected) -> None:
    with game(host) as (first, _):
        assert first.draw(HEXAGON[0]).silent()


def test_endpoints_come_in_any_order_and_go_out_sorted(host: Inspected) -> None:
    with game(host) as (first, second):
        first.asking = first.send([{"col": 1, "row": 2}, {"row": 1, "col": 2}])
        assert second.hear()["lines"][0]["endpoints"] == [{"row": 1, "col": 2}, {"row": 2, "col": 1}]
        second.draw(((0, 1), (0, 0)))
        assert first.hear()["lines"][1]["endpoints"] == [{"row": 0, "col": 0}, {"row": 0, "col": 1}]


def alternate(first: Bot, second: Bot, lines: list[Line]) -> None:
    """Draws these lines in turn; whoever is next has heard so."""
    bots = first, second
    for number, line in enumerate(lines):
        bots[number % 2].draw(line)
        bots[1 - number % 2].hear()


def test_a_capture_is_answered_at_once_with_a_new_token_and_another_turn(host: Inspected) -> None:
    with game(host, 3, 5) as (first, second):
        alternate(first, second, HEXAGON[:5])
        before = second.token
        second.draw(HEXAGON[5])
        delta = second.hear()
        assert second.token
        assert second.token != before
        assert delta["hexagons"] == [
            {"center": {"row": 1, "col": 1}, "owner": {"name": second.name, "score": 1}}
        ]
        assert delta["players"] == [{"name": first.name, "score": 0}, {"name": second.name, "score": 1}]
        assert [line["owner"]["name"] for line in delta["lines"]] == [second.name]
        second.draw(((0, 2), (0, 3)))
        told = first.hear()
        assert len(told["lines"]) == 3
        assert len(told["hexagons"]) == 1


def test_the_end_is_200_without_a_token_to_both(host: Inspected) -> None:
    """On 3×3 every line left after the capture would end on the captured centre."""
    with game(host) as (first, second):
        alternate(first, second, HEXAGON[:5])
        second.draw(HEXAGON[5])
        for bot in (first, second):
            delta = bot.hear()
            assert bot.token == ""
            assert delta["state"] == "completed"
            assert [player["score"] for player in delta["players"]] == [0, 1]


def test_one_line_can_complete_two(host: Inspected) -> None:
    lower = [(row + 2, col) for row, col in RING]
    shared = ((2, 0), (2, 1))
    around = [*HEXAGON, *zip(lower, lower[1:] + lower[:1], strict=True)]
    others = [line for line in around if set(line) != set(shared)]
    with game(host, 5, 3) as (first, second):
        alternate(first, second, others)
        assert len(others) == 10
        first.draw(shared)
        end = first.hear()
        assert (end["state"], len(end["hexagons"])) == ("completed", 2)
        assert [player["score"] for player in end["players"]] == [2, 0]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ([(0, 1), (0, 0)], "drawn"),
        ([(0, 4), (0, 5)], "board"),
        ([(-1, 0), (0, 0)], "board"),
        ([(10**12, 0), (0, 0)], "board"),
        ([(0, 0), (0, 2)], "adjacent"),
        ([(0, 0), (0, 0)], ""),
        ([(1, 1), (1, 2)], "captured"),
        ([(1, 1)], "line"),
        ([], "line"),
        ([(1, 3), (1, 4), (0, 3)], "line"),
    ],
    ids=["again", "beyond", "above", "far", "apart", "a point", "captured", "one", "none", "three"],
)
def test_a_violation_is_403_with_the_rule_and_the_other_is_told_of_it(
    host: Inspected, line: list[Point], word: str
) -> None:
    with game(host, 3, 5) as (first, second):
        alternate(first, second, HEXAGON[:5])
        second.draw(HEXAGON[5])
        second.hear()
        answer = second.send([{"row": row, "col": col} for row, col in line]).answer()
        assert answer.status == 403
        assert word in answer.body.decode()
        assert "x-turn-token" not in answer.headers
        end = first.hear()
        assert (end["state"], first.token) == ("completed", "")
        assert [player["score"] for player in end["players"]] == [0, "disqualified"]


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b'{"row":0}',
        b'[{"row":0},{"row":1}]',
        b'[{"row":1.0,"col":3},{"row":0,"col":3}]',
        b"nonsense",
    ],
)
def test_what_is_not_a_line_is_refused(host: Inspected, body: bytes) -> None:
    with game(host, 3, 5) as (first, _):
        assert 400 <= first.send(body).answer().status < 500


def test_a_wrong_or_foreign_or_stale_token_is_403_and_changes_nothing(host: Inspected) -> None:
    with game(host) as (first, second):
        stale = first.token
        first.draw(HEXAGON[0])
        second.hear()
        for token in (stale, "gorilla", "", "x" * 500):
            answer = second.send(written(HEXAGON[1]), token).answer()
            assert answer.status == 403, token
        answer = ask(host.http, "POST", f"{second.game}/moves", written(HEXAGON[1]))
        assert answer.status == 403
        with game(host) as (stranger, _):
            assert second.send(written(HEXAGON[1]), stranger.token).answer().status == 403
        whole = seen(host, first.game)
        assert (whole["state"], len(whole["lines"])) == ("in play", 1)
        second.draw(HEXAGON[1])
        assert len(first.hear()["lines"]) == 2


def test_the_last_token_with_the_identical_body_is_answered_again_with_the_same_answer(
    host: Inspected,
) -> None:
    with game(host) as (first, second):
        used = first.token
        first.draw(HEXAGON[0])
        second.hear()
        second.draw(HEXAGON[1])
        answer = first.asking.answer()
        again: Answer = first.send(written(HEXAGON[0]), used).answer()
        assert again.status == 200
        assert again.body == answer.body
        assert again.headers["x-turn-token"] == answer.headers["x-turn-token"]
        other = first.send(written(HEXAGON[4]), used).answer()
        assert other.status == 403, "and with another body it is stale"
        first.token = again.headers["x-turn-token"]
        first.draw(HEXAGON[2])
        assert len(second.hear()["lines"]) == 2


def test_a_held_answer_lost_with_its_connection_is_had_by_asking_again(host: Inspected) -> None:
    with game(host) as (first, second):
        first.draw(HEXAGON[0]).close()
        second.hear()
        again = first.draw(HEXAGON[0])
        assert again.silent()
        second.draw(HEXAGON[1])
        assert len(first.hear()["lines"]) == 2
        assert first.token


def test_the_same_holds_for_the_end(host: Inspected) -> None:
    with game(host) as (first, second):
        alternate(first, second, HEXAGON[:5])
        used = second.token
        second.draw(HEXAGON[5])
        first.hear()
        answer = second.asking.answer()
        again = second.send(written(HEXAGON[5]), used).answer()
        assert (again.status, again.body) == (200, answer.body)
        assert second.send(written(HEXAGON[4]), used).answer().status in (403, 410)


def test_a_third_joiner_or_a_move_after_completion_is_410(host: Inspected) -> None:
    with game(host) as (first, second):
        assert ask(host.http, "POST", f"{first.game}/players", {"name": fresh()}).status == 410
        alternate(first, second, HEXAGON[:5])
        second.draw(HEXAGON[5])
        first.hear(), second.hear()
        assert first.send(written(HEXAGON[0]), "gorilla").answer().status == 410
        assert ask(host.http, "POST", f"{first.game}/players", {"name": fresh()}).status == 410


def test_wrong_methods_are_405_with_allow(host: Inspected) -> None:
    where = create(host, 3, 3)
    for method, path, allowed in (
        ("GET", f"{where}/players", "POST"),
        ("PUT", f"{where}/moves", "POST"),
        ("DELETE", where, "GET"),
        ("GET", f"{where}/observers", "POST"),
        ("POST", "/games", "GET"),
        ("DELETE", "/", "POST"),
        ("PUT", "/", "GET"),
    ):
        answer = ask(host.http, method, path)
        assert answer.status == 405, path
        assert allowed in answer.headers["allow"].replace(" ", "").split(","), path


def test_what_is_not_there_is_404(host: Inspected) -> None:
    for path in ("/g/none", "/g/", "/g/none/more"):
        assert ask(host.http, "GET", path).status == 404
    for path in ("/g/none/players", "/g/none/moves"):
        assert ask(host.http, "POST", path, {"name": "x"}).status == 404


def test_observers_get_the_game_and_then_deltas_one_json_a_line(host: Inspected) -> None:
    with game(host, 3, 5) as (first, second):
        first.draw(HEXAGON[0])
        second.hear()
        with Stream(host.http, f"{first.game}/observers", "POST", b"") as stream:
            assert stream.status == 200
            heard = stream.chunk()
            assert heard.endswith(b"\n")
            assert heard.count(b"\n") == 1
            assert json.loads(heard)["rows"] == 3
            assert len(json.loads(heard)["lines"]) == 1
            second.draw(HEXAGON[1])
            delta = json.loads(stream.chunk())
            assert [line["owner"]["name"] for line in delta["lines"]] == [second.name]
            assert "rows" not in delta


def test_match_leads_to_a_game_that_waits_for_a_player(host: Inspected) -> None:
    answer = ask(host.http, "GET", "/match")
    assert answer.status == 201
    assert seen(host, answer.headers["location"])["state"] == "initiating"


def test_games_lists_those_who_wait(host: Inspected) -> None:
    where = create(host, 3, 7)
    listed = ask(host.http, "GET", "/games")
    assert listed.status == 200
    assert where in listed.body.decode()


def test_a_name_that_plays_no_more_can_be_used_again_without_a_token(host: Inspected) -> None:
    """The gist's bots have none to show."""
    with game(host) as (first, second):
        first.draw(((0, 0), (2, 1)))
        second.hear()
    with game(host, names=(first.name, second.name)) as (third, _):
        assert seen(host, third.game)["state"] == "in play"


def test_a_joiner_that_hung_up_leaves_its_place(host: Inspected) -> None:
    where = create(host, 3, 3)
    name = fresh("JF")
    for _ in range(3):
        waiting = Bot(host, where, name)
        assert waiting.asking.silent(0.1), waiting.asking.heard
        waiting.asking.close()


@pytest.mark.parametrize("name", ["", "Draw", "x" * 33, "a\x1bb", "a\u202eb", 7, None])
def test_a_name_that_may_not_be_is_refused(host: Inspected, name: object) -> None:
    answer = ask(host.http, "POST", f"{create(host, 3, 3)}/players", {"name": name})
    assert 400 <= answer.status < 500


def test_two_bots_of_one_name_do_not_play_each_other(host: Inspected) -> None:
    where = create(host, 3, 3)
    name = fresh("JF")
    one = Bot(host, where, name)
    assert one.asking.silent(0.1)
    answer = ask(host.http, "POST", f"{where}/players", {"name": name})
    assert 400 <= answer.status < 500
    one.asking.close()


# When a game is over

Chosen = Callable[[oracles.HexagonDots], set[str]]


def useful(position: oracles.HexagonDots) -> set[str]:
    """All that a bot draws which never fills in: sides of hexagons that can still be captured."""
    sides = {oracles.written(side) for centre in position.possible() for side in position.perimeters[centre]}
    return sides & position.free()


def play(bots: tuple[Bot, Bot], position: oracles.HexagonDots, chosen: Chosen) -> oracles.HexagonDots:
    """Draw what is chosen while there is something; whoever is next has heard so, and both of the end."""
    while position.winner == OPEN and (lines := chosen(position)):
        line, mover = min(lines), bots[position.turn]
        mover.draw(oracles.line_of(line))
        position = position.play(line)
        if position.winner == OPEN:
            told = bots[position.turn].hear()
            assert (told["state"], bool(bots[position.turn].token)) == ("in play", True)
        else:
            ends = [bot.hear() for bot in bots]
            assert [end["state"] for end in ends] == ["completed"] * 2
            assert [bot.token for bot in bots] == ["", ""]
    return position


@pytest.mark.parametrize("more", [{}, {"end": "lines"}], ids=repr)
def test_a_game_ends_when_all_possible_lines_have_been_drawn(host: Inspected, more: dict[str, str]) -> None:
    where = create(host, 3, 5, **more)
    with seated(host, where) as bots:
        position = play(bots, oracles.HexagonDots(3, 5), useful)
        assert (position.possible(), position.winner) == ([], OPEN)
        assert seen(host, where)["state"] == "in play", "the rest is filled in"
        assert play(bots, position, oracles.HexagonDots.moves).winner != OPEN


def test_with_hexagons_a_bot_that_never_fills_in_comes_to_the_end(host: Inspected) -> None:
    where = create(host, 5, 5, end="hexagons")
    assert list(seen(host, where)) == ["rows", "cols", "lines", "hexagons", "players", "state"]
    with seated(host, where) as bots:
        position = play(bots, oracles.HexagonDots(5, 5, "hexagons"), useful)
    assert position.winner != OPEN
    over = seen(host, where)
    assert [player["score"] for player in over["players"]] == [position.score(seat) for seat in (0, 1)]
    assert (over["state"], len(over["lines"])) == ("completed", len(position.drawn))
    assert position.free(), "there was more to fill in"


@pytest.mark.parametrize("end", ["", "line", "LINES", None, 1, ["lines"], {}], ids=repr)
def test_a_wrong_end_is_400_with_the_choices(host: Inspected, end: object) -> None:
    before = ask(host.http, "GET", "/games").json
    answer = ask(host.http, "POST", "/", {"rows": 3, "cols": 3, "end": end})
    assert answer.status == 400
    assert b'"lines"' in answer.body
    assert b'"hexagons"' in answer.body
    assert ask(host.http, "GET", "/games").json == before


def test_games_found_by_match_end_with_the_hexagons(tmp_path: Path) -> None:
    """On a host of its own, where nobody waits in a game that was found earlier."""
    unhurried(tmp_path, "kept")
    with ForkedHost(tmp_path, "--data", "kept") as host:
        where = ask(host.http, "GET", "/match").headers["location"]
        with seated(host, where) as bots:
            position = play(bots, oracles.HexagonDots(5, 5, "hexagons"), useful)
        assert position.winner != OPEN
        kept = ask(host.http, "GET", "/api/matches/open-hexagon-dots-1").json
        assert (kept["options"]["end"], kept["ending"]) == ("hexagons", "played")
        assert len(kept["moves"]) == len(position.drawn) < len(position.all_lines)


@contextmanager
def seated(host: Inspected, where: str) -> Iterator[tuple[Bot, Bot]]:
    """Two at a game, the first of whom has its turn."""
    one = Bot(host, where, fresh("JF"))
    assert one.asking.silent(0.1)
    bots = one, Bot(host, where, fresh("JF"))
    try:
        bots[0].hear()
        yield bots
    finally:
        for bot in bots:
            bot.asking.close()


# One name in several games


def test_one_name_plays_several_games_at_once_each_by_its_own_tokens(host: Inspected) -> None:
    name, other = fresh("JF"), fresh("JF")
    with (
        game(host, names=(name, other)) as one,
        game(host, names=(name, other)) as two,
        game(host, names=(fresh("JF"), name)) as three,
    ):
        games = [one, two, three]
        for count, (first, second) in enumerate(games, 1):
            alternate(first, second, HEXAGON[:count])
        assert [len(seen(host, first.game)["lines"]) for first, _ in games] == [1, 2, 3]
        foreign = one[1].token
        assert two[0].send(written(HEXAGON[2]), foreign).answer().status == 403
        for count, (first, second) in enumerate(games, 1):
            for number, line in enumerate(HEXAGON[count:5], count):
                mover, waits = (first, second) if number % 2 == 0 else (second, first)
                mover.draw(line)
                waits.hear()
            second.draw(HEXAGON[5])
            for told in (first.hear(), second.hear()):
                assert told["state"] == "completed"
                assert [player["score"] for player in told["players"]] == [0, 1]


def test_one_name_is_not_twice_in_the_same_game(host: Inspected) -> None:
    where, name = create(host, 3, 3), fresh("JF")
    one = Bot(host, where, name)
    assert one.asking.silent(0.1)
    again = Bot(host, where, name).asking.answer()
    assert (again.status, name.encode() in again.body) == (409, True)
    other = Bot(host, where, fresh("JF"))
    one.hear()
    assert Bot(host, where, name).asking.answer().status == 409, "nor while it is played"
    one.draw(HEXAGON[0])
    assert len(other.hear()["lines"]) == 1
    one.asking.close()


def test_whoever_hung_up_in_two_games_goes_on_with_the_one_that_it_joins_again(host: Inspected) -> None:
    name, games = fresh("JF"), [create(host, 3, 3), create(host, 3, 5)]
    mine, theirs = list[Bot](), list[Bot]()
    for where in games:
        mine.append(Bot(host, where, name))
        assert mine[-1].asking.silent(0.1)
        theirs.append(Bot(host, where, fresh("JF")))
        mine[-1].hear()
        mine[-1].draw(HEXAGON[0])
        theirs[-1].hear()
    for bot in mine:
        bot.asking.close()
    for where, other, cols in reversed(list(zip(games, theirs, (3, 5), strict=True))):
        back = join_again(host, where, name)
        other.draw(HEXAGON[1])
        whole = back.hear()
        assert (whole["cols"], len(whole["lines"])) == (cols, 2)
        other.asking.close()


def join_again(host: Inspected, where: str, name: str) -> Bot:
    """As soon as the host has noticed that it is gone: until then it is told that it is there."""
    while True:
        bot = Bot(host, where, name)
        if bot.asking.silent():
            return bot
        assert bot.asking.answer().status == 409


# The list at the root


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Accept": "*/*", "User_Agent": "curl/8.5.0"},
        {
            "Accept_Encoding": "gzip;q=1.0,deflate;q=0.6,identity;q=0.3",
            "Accept": "*/*",
            "User_Agent": "Ruby",
        },
        {"Accept": "application/json"},
    ],
    ids=repr,
)
def test_the_root_lists_the_games_for_programs(host: Inspected, headers: dict[str, str]) -> None:
    with game(host, 3, 5) as (first, _):
        waiting = create(host, 3, 7)
        answer = ask(host.http, "GET", "/", **headers)
        assert (answer.status, answer.headers["content-type"][:16]) == (200, "application/json")
        states = {listed["id"]: listed["state"] for listed in answer.json}
        assert states[first.game.removeprefix("/")] == "in play"
        assert states[waiting.removeprefix("/")] == "initiating"
        head = ask(host.http, "HEAD", "/", **headers)
        assert (head.status, head.headers["content-type"]) == (200, answer.headers["content-type"])
        with Stream(host.http, f"/{first.game.removeprefix('/')}/observers", "POST", b"") as stream:
            assert json.loads(stream.chunk())["state"] == "in play"


def test_the_root_is_a_page_for_browsers(host: Inspected) -> None:
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
    for method in ("GET", "HEAD"):
        answer = ask(host.http, method, "/", Accept=accept)
        assert (answer.status, answer.headers["content-type"][:9]) == (200, "text/html")
