"""What people and scripts see: the command, its output and codes, the API, the configuration."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.ends import Asking, Frames, Lines, Stream, ask, fresh
from tests.blackbox.forked import ForkedHost
from tests.blackbox.inspected import Inspected
from tests.hang import wait_for
from tests.server.forked import Forked

pytestmark = pytest.mark.slow
FREE = ["--tcp", "0", "--websocket", "0", "--http", "0"]
FLIP = ["C", "NW", "N", "W", "S"]  # first wins


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """All of the command but its start, which is there where hosts are inspected."""
    places = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    process = Forked(arguments, folder, places | environment)
    out, errors = process.communicate()
    return subprocess.CompletedProcess(arguments, process.wait(), out, errors)


def hello(host: Inspected, name: str, game: str, **more: Any) -> Lines:
    bot = Lines(host.tcp)
    bot.say({"type": "hello", "name": name, "game": game, **more})
    return bot


def post(host: Inspected, path: str, body: object = None) -> Any:
    return ask(host.http, "POST", f"/api/tournaments{path}", body or {}, **host.organiser())


AS_OF = {"as_of": "whenever it was asked"}


def get(host: Inspected, path: str) -> Any:
    """Asked again while the host asks for that: on a busy machine it computes standings for a while."""
    answers: list[Any] = []
    wait_for(lambda: answers.append(ask(host.http, "GET", f"/api/{path}")) or answers[-1].status != 503)
    answer = answers[-1]
    assert answer.status == 200, answer
    return answer.json


def win(bots: list[Lines], resign: bool = False) -> None:
    """Has two bots play a match of Tic-Tac-Toe that the first to move wins."""
    seats: dict[str, Lines] = {}
    for bot in bots:
        while (message := bot.hear())["type"] != "begin":
            pass
        seats[message["you"]] = bot
    if resign:
        seats["X"].say({"type": "resign"})
    else:
        for ply, move in enumerate(FLIP):
            for bot in bots:
                while (message := bot.hear())["type"] != "turn" or message["ply"] != ply:
                    pass
            seats["OX"[ply % 2]].say({"type": "move", "ply": ply, "move": move})
    for bot in bots:
        while bot.hear()["type"] != "end":
            pass


@pytest.fixture(scope="module")
def finished(host: Inspected) -> str:
    """The name of a tournament that two bots have played."""
    name = fresh("cup")
    made = post(host, "", {"name": name, "game": "tic-tac-toe", "format": "round-robin", "entrants": 2})
    assert made.status == 201
    with hello(host, fresh("ann"), "tic-tac-toe") as ann, hello(host, fresh("bob"), "tic-tac-toe") as bob:
        assert ann.hear()["tournament"] == bob.hear()["tournament"] == name
        win([ann, bob])
        for bot in (ann, bob):
            standings = bot.hear()
            assert (standings["type"], standings["final"]) == ("standings", True)
    return name


def test_the_ready_line_says_where_and_is_all_of_standard_output(tmp_path: Path) -> None:
    with Inspected(tmp_path, "--data", "kept") as host:
        assert host.data == "kept"
        assert {host.tcp[0], host.websocket[0], host.http[0]} == {"127.0.0.1"}
        assert 0 not in {host.tcp[1], host.websocket[1], host.http[1]}
        host.process.send_signal(signal.SIGINT)
        code, _ = host.ends()
        assert code == 130


def test_the_organisers_token_is_kept_0600_and_its_path_is_said_on_standard_error(host: Inspected) -> None:
    tokens = [file for file in (host.folder / "kept").iterdir() if "token" in file.name]
    assert len(tokens) == 1
    assert tokens[0].stat().st_mode & 0o777 == 0o600
    assert f"kept/{tokens[0].name}" in host.said()
    assert tokens[0].read_text().strip() not in host.said()


def test_quintain_token_is_used_in_its_place(tmp_path: Path) -> None:
    with ForkedHost(tmp_path, QUINTAIN_TOKEN="of-my-own-choosing-0123456789") as host:
        body = {"name": "cup", "game": "quoridor", "format": "swiss", "entrants": 4, "rounds": 2}
        bearer = {"Authorization": "Bearer of-my-own-choosing-0123456789"}
        assert ask(host.http, "POST", "/api/tournaments", body, **bearer).status == 201
        host.process.send_signal(signal.SIGTERM)
        code, out = host.ends()
        assert code == 0
        assert "cup" in out, "standings so far"


def test_until_done_ends_with_one_json_object_as_the_last_line_and_code_0(tmp_path: Path) -> None:
    arguments = ("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2", "--until-done", "--json")
    with ForkedHost(tmp_path, *arguments) as host:
        with hello(host, "ann", "tic-tac-toe") as ann, hello(host, "bob", "tic-tac-toe") as bob:
            win([ann, bob])
            code, out = host.ends()
        assert code == 0
        standings = json.loads(out.splitlines()[-1])
        assert {"tournament", "game", "format", "state", "rows"} <= set(standings)
        assert (standings["tournament"], standings["state"]) == ("cup", "finished")
        assert [row["points"] for row in standings["rows"]] == [1.0, 0.0]


def test_until_done_without_json_ends_with_a_table(tmp_path: Path) -> None:
    arguments = ("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2", "--until-done")
    with ForkedHost(tmp_path, *arguments) as host:
        with hello(host, "ann", "tic-tac-toe") as ann, hello(host, "bob", "tic-tac-toe") as bob:
            win([ann, bob], resign=True)
            code, out = host.ends()
        assert code == 0
        assert "ann" in out
        assert "bob" in out
        assert "\x1b" not in out, "colours on a terminal only"


def test_the_data_folder_is_resumed_from(tmp_path: Path) -> None:
    with ForkedHost(tmp_path, "--data", "kept") as host:
        name = {"name": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": 2}
        assert post(host, "", name).status == 201
        with hello(host, "ann", "tic-tac-toe") as ann, hello(host, "bob", "tic-tac-toe") as bob:
            win([ann, bob])
            assert ann.hear()["final"]
        before = get(host, "tournaments/cup/standings") | AS_OF
        host.process.kill()
        host.process.wait()
    with ForkedHost(tmp_path, "--data", "kept") as host:
        assert get(host, "tournaments/cup/standings") | AS_OF == before
        (match,) = get(host, "tournaments/cup/matches")["matches"]
        assert len(get(host, f"matches/{match['match']}")["moves"]) == 5


def test_a_second_host_on_the_same_data_is_refused(host: Inspected) -> None:
    second = run(host.folder, "serve", *FREE, "--data", "kept")
    assert second.returncode in (1, 2)
    assert "Traceback" not in second.stderr
    assert second.stdout == ""


def test_a_port_that_is_taken_is_said_in_a_line(host: Inspected, tmp_path: Path) -> None:
    second = run(tmp_path, "serve", "--tcp", str(host.tcp[1]), "--websocket", "0", "--http", "0")
    assert second.returncode in (1, 2)
    assert str(host.tcp[1]) in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('bnd = "x"', ["bnd"]),
        ('[ports]\ntcp = "x"', ["ports", "tcp"]),
        ("[ports]\nudp = 1", ["udp"]),
        ("[ports]\ntcp = 70000", ["tcp"]),
        ("x = = 1", []),
        ('[[tournament]]\nname = "f"', ["game"]),
        ('[[tournament]]\nname = "f"\ngame = "chess"', ["chess", "game"]),
        ('[[tournament]]\nname = "f"\ngame = "quoridor"\nformat = "league"', ["league", "format"]),
        ('[[tournament]]\nname = "f"\ngame = "quoridor"\npace = { turn = -1.0 }', ["pace"]),
        ('[[tournament]]\nname = "f"\ngame = "quoridor"\noptions = { stuck = "draws" }', ["stuck"]),
    ],
)
def test_a_wrong_key_is_one_line_with_file_key_and_reason_and_code_2(
    tmp_path: Path, content: str, words: list[str]
) -> None:
    (tmp_path / "quintain.toml").write_text(content)
    ended = run(tmp_path, "serve", *FREE)
    assert ended.returncode == 2
    assert ended.stdout == ""
    (line,) = [line for line in ended.stderr.splitlines() if not line.startswith("{")]
    for word in ("quintain.toml", *words):
        assert word in line


@pytest.mark.parametrize("name", ["QUINTAIN_NOPE", "QUINTAIN_PORTS__UDP", "QUINTAIN_PORTS__TCP"])
def test_a_wrong_key_in_the_environment_is_one_line_too(tmp_path: Path, name: str) -> None:
    ended = run(tmp_path, "serve", *FREE, **{name: "zz"})
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1


def test_flags_are_over_the_environment_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "quintain.toml").write_text(
        'data = "of-file"\n[ports]\ntcp = 1\nwebsocket = 1\nhttp = 0\n'
        '[[tournament]]\nname = "friday"\ngame = "santorini"\nformat = "round-robin"\nentrants = 8\n'
        'pace = { turn = 5.0 }\noptions = { stuck = "draws" }\n'
    )
    environment = {
        "QUINTAIN_PORTS__WEBSOCKET": "0",
        "QUINTAIN_PORTS__TCP": "2",
        "QUINTAIN_DATA": "of-environment",
    }
    with ForkedHost(tmp_path, "--tcp", "0", free=False, **environment) as host:
        assert host.data == "of-environment"
        friday = get(host, "tournaments/friday")
        assert (friday["state"], friday["wanted"]) == ("registering", 8)
        assert friday["pace"]["turn"] == 5.0
        assert friday["options"] == {"stuck": "draws"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--nope"],
        ["serve", "--tcp", "x"],
        ["serve", "--format", "swiss"],
        ["serve", "--tournament", "x"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_code_2(tmp_path: Path, arguments: list[str]) -> None:
    ended = run(tmp_path, *arguments)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert ended.stderr


def test_help_has_an_example_on_every_level(tmp_path: Path) -> None:
    for command in ([], ["serve"]):
        ended = run(tmp_path, *command, "--help")
        assert ended.returncode == 0
        assert "xample" in ended.stdout
    assert run(tmp_path, "--version").stdout.strip()


def test_the_five_games_are_among_those_that_are_told(host: Inspected) -> None:
    names = [game["name"] for game in get(host, "games")["games"]]
    assert {"connect-4", "hexagon-dots", "quoridor", "santorini", "tic-tac-toe"} <= set(names)
    assert names == sorted(names)


def test_standings_have_these_keys(host: Inspected, finished: str) -> None:
    standings = get(host, f"tournaments/{finished}/standings")
    assert {"tournament", "game", "format", "state", "rows"} <= set(standings)
    assert (standings["game"], standings["format"], standings["state"]) == (
        "tic-tac-toe",
        "round-robin",
        "finished",
    )
    keys = {"rank", "name", "points", "played", "wins", "draws", "losses", "rating", "interval"}
    for row in standings["rows"]:
        assert keys <= set(row)
    assert [row["rank"] for row in standings["rows"]] == [1, 2]


def test_a_match_has_these_keys_and_is_listed_without_moves_and_times(host: Inspected, finished: str) -> None:
    keys = {"match", "game", "tournament", "players", "winner", "ending", "why"}
    (listed,) = get(host, f"tournaments/{finished}/matches")["matches"]
    assert keys <= set(listed)
    assert {"moves", "times"}.isdisjoint(listed)
    whole = get(host, f"matches/{listed['match']}")
    assert whole.items() >= listed.items()
    assert [move["position"] for move in whole["moves"]] == FLIP
    assert len(whole["times"]) == len(FLIP)
    assert (whole["winner"], whole["ending"]) == (0, "played")


def test_an_export_is_json_lines_each_with_its_type(host: Inspected, finished: str) -> None:
    answer = ask(host.http, "GET", f"/api/tournaments/{finished}/export")
    lines = [json.loads(line) for line in answer.body.splitlines()]
    chain = ("fact", "withheld", "head")  # what `quintain verify` follows
    assert [line["type"] for line in lines if line["type"] not in chain] == [
        "tournament",
        "entrant",
        "entrant",
        "pairing",
        "match",
        "standings",
    ]
    assert {line["type"] for line in lines[5:]} - {"standings"} <= {*chain}
    (listed,) = get(host, f"tournaments/{finished}/matches")["matches"]
    shown, exported = get(host, f"matches/{listed['match']}"), lines[4]
    assert {key: exported.get(key) for key in shown.keys() & exported.keys()}.items() <= shown.items()
    assert shown.keys() - exported.keys() <= {"receipt", "mistakes", "accuracy", "ungraded", "estimate"}


def test_events_of_a_match_have_ids_and_resume(host: Inspected, finished: str) -> None:
    (listed,) = get(host, f"tournaments/{finished}/matches")["matches"]
    path = f"/api/matches/{listed['match']}/events"
    with Stream(host.http, path) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        chunks = b""
        while chunk := stream.chunk():
            chunks += chunk
    ids = [line[4:] for line in chunks.decode().splitlines() if line.startswith("id: ")]
    assert len(ids) >= len(FLIP) + 2 == len(set(ids))
    with Stream(host.http, path, Last_Event_ID=ids[3]) as stream:
        assert f"id: {ids[4]}\n".encode() in stream.chunk()


def test_events_of_everything_tell_begin_end_and_standings(host: Inspected) -> None:
    name = fresh("cup")
    post(host, "", {"name": name, "game": "tic-tac-toe", "format": "round-robin", "entrants": 2})
    with Stream(host.http, "/api/events") as stream:
        with hello(host, fresh("ann"), "tic-tac-toe") as ann, hello(host, fresh("bob"), "tic-tac-toe") as bob:
            win([ann, bob], resign=True)
        heard = b""
        while not all(word in heard for word in (b'"begin', b'"end', b'"standings')):
            heard += stream.chunk()
        assert name.encode() in heard


def test_what_changes_something_wants_the_organisers_token(host: Inspected, finished: str) -> None:
    for headers in ({}, {"Authorization": "Bearer nope"}, {"Authorization": "Basic eDp5"}):
        answer = Asking(
            host.http, "POST", f"/api/tournaments/{finished}/pause", {}, source="127.0.0.9", **headers
        ).answer()
        assert answer.status == 401
        assert list(answer.json) == ["error"]


@pytest.mark.parametrize(
    "change",
    [
        {"game": "chess"},
        {"format": "league"},
        {"entrants": 1},
        {"entrants": "2"},
        {"name": "a/b"},
        {"name": ""},
        {"rounds": -1},
        {"options": {"stuck": "draws"}},
        {"pace": {"turn": -1}},
        {"pace": {"turn": 0}},
        {"pace": {"bank": -5, "gain": 1}},
        {"pace": {"bank": 5, "gain": -1}},
        {"pace": {"tern": 1}},
        {"name": "open-quoridor"},
        {"name": "open-anything"},
    ],
    ids=str,
)
def test_a_tournament_that_cannot_be_is_refused_in_words(host: Inspected, change: dict[str, Any]) -> None:
    body = {"name": fresh("cup"), "game": "quoridor", "format": "round-robin", "entrants": 2} | change
    answer = post(host, "", body)
    assert 400 <= answer.status < 500
    assert list(answer.json) == ["error"]


def test_errors_are_json_with_a_fitting_4xx_and_never_a_traceback(host: Inspected, finished: str) -> None:
    bearer = host.organiser()
    for status, method, path, body in (
        (404, "GET", "/api/nothing", None),
        (404, "GET", "/api/tournaments/nobodys", None),
        (404, "GET", "/api/matches/nobodys", None),
        (404, "GET", "/api/matches/nobodys/events", None),
        (404, "POST", "/api/tournaments/nobodys/start", {}),
        (405, "DELETE", f"/api/tournaments/{finished}", None),
        (405, "POST", "/api/games", {}),
        (409, "POST", "/api/tournaments", {"name": finished, "game": "quoridor", "format": "ladder"}),
        (409, "POST", f"/api/tournaments/{finished}/start", {}),
        (400, "POST", "/api/tournaments", b"junk"),
        (400, "POST", "/api/tournaments", []),
    ):
        answer = ask(host.http, method, path, body, **bearer)
        assert answer.status == status, (path, answer)
        assert list(answer.json) == ["error"]
        assert "Traceback" not in answer.body.decode()


def test_a_tournament_goes_through_its_states(host: Inspected) -> None:
    name = fresh("cup")
    post(host, "", {"name": name, "game": "tic-tac-toe", "format": "double-round-robin"})

    def state() -> str:
        return get(host, f"tournaments/{name}")["state"]

    assert state() == "registering"
    with hello(host, fresh("ann"), "tic-tac-toe") as ann, hello(host, fresh("bob"), "tic-tac-toe") as bob:
        ann.hear(), bob.hear()
        assert post(host, f"/{name}/start").status == 200
        assert state() == "running"
        assert post(host, f"/{name}/pause").status == 200
        assert state() == "paused"
        assert post(host, f"/{name}/resume").status == 200
        assert state() == "running"
        win([ann, bob], resign=True)
        win([ann, bob], resign=True)
        assert ann.hear()["type"] == "standings"
    assert state() == "finished"
    matches = get(host, f"tournaments/{name}/matches")["matches"]
    assert matches[0]["players"] == matches[1]["players"][::-1], "both sides"
    assert [match["ending"] for match in matches] == ["resigned", "resigned"]
    assert post(host, f"/{name}/void", {"match": matches[0]["match"], "why": "a cable"}).status == 200
    (voided,) = [m for m in get(host, f"tournaments/{name}/matches")["matches"] if m["ending"] == "void"]
    assert voided["match"] == matches[0]["match"]


def test_whoever_comes_after_the_last_place_sits_at_the_open_table(host: Inspected) -> None:
    name = fresh("cup")
    post(host, "", {"name": name, "game": "quoridor", "format": "round-robin", "entrants": 2})
    with (
        hello(host, fresh(), "quoridor") as one,
        hello(host, fresh(), "quoridor") as two,
    ):
        assert [bot.hear()["tournament"] for bot in (one, two)] == [name, name]
        with hello(host, fresh(), "quoridor") as three:
            assert three.hear()["tournament"] is None
        with hello(host, fresh(), "quoridor", tournament=name) as four:
            assert four.hear()["type"] == "refused"


def test_seed_bots_of_every_kind_enter_a_tournament_of_their_game(host: Inspected) -> None:
    """A Santorini bot by its name, a c4-arena client by its start, the others by a match and a join."""
    names = {game: fresh("cup") for game in ("santorini", "connect-4", "hexagon-dots", "quoridor")}
    for game, name in names.items():
        post(host, "", {"name": name, "game": game, "format": "round-robin", "entrants": 2})
    with Lines(host.tcp) as one, Lines(host.tcp) as two:
        one.say(fresh("ann")), two.say(fresh("bob"))
        assert one.hear() == two.hear()
    with Frames(host.websocket) as one, Frames(host.websocket) as two:
        one.say({"type": "start", "id": fresh("ann")}), two.say({"type": "start", "id": fresh("bob")})
        assert {one.hear()["you"], two.hear()["you"]} == {1, 2}
    joins = [Asking(host.http, "POST", "/quoridor/join", {"name": fresh("team")}) for _ in range(2)]
    assert [asking.answer().status for asking in joins] == [200, 200]
    joins.clear()
    for _ in range(2):
        where = ask(host.http, "GET", "/match").headers["location"]
        joins.append(Asking(host.http, "POST", f"{where}/players", {"name": fresh("JF")}))
    for name in names.values():
        wait_for(lambda name=name: get(host, f"tournaments/{name}/matches")["matches"], f"a match of {name}")
    for asking in joins:
        asking.close()


def test_open_tables_are_tournaments_named_open_game(host: Inspected) -> None:
    with hello(host, fresh(), "tic-tac-toe") as one, hello(host, fresh(), "tic-tac-toe") as two:
        one.hear(), two.hear()
        win([one, two], resign=True)
    names = [tournament["tournament"] for tournament in get(host, "tournaments")["tournaments"]]
    assert "open-tic-tac-toe" in names
    assert get(host, "tournaments/open-tic-tac-toe/standings")["format"] in ("open", "ladder")


def test_health_metrics_and_the_description_are_there(host: Inspected) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert ask(host.http, "GET", path).status == 200
    description = ask(host.http, "GET", "/openapi.json").json
    assert description["openapi"].startswith("3.")
    assert "/api/tournaments" in description["paths"]


def test_json_is_never_sniffed(host: Inspected) -> None:
    headers = ask(host.http, "GET", "/api/games").headers
    assert headers["content-type"] == "application/json; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
