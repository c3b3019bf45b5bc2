"""Two hosts on one database, as their users start them: bots at either, and each request at the next."""

import http.client
import json
import random
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPMessage
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.chaos.bots import connect_4
from tests.games.test_against_oracles import ORACLES
from tests.hang import HANG, wait_for
from tests.oracles import OPEN
from tests.server.run import quintain
from tests.server.served import Served
from tests.server.store.postgresql import Server
from tests.server.test_matrix import Http, Tcp, Websocket, open_tournament, play
from tests.server.test_operations import FILE_OF_SETTINGS, Receiver

pytestmark = pytest.mark.slow

SHARED = ("--show", "1", "--peers", "127.0.0.1:0", "--store")

Hosts = list[tuple[Any, ...]]  # those of a database: their numbers, and whether each takes over


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    return server.database()


@pytest.fixture(scope="module")
def begun(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Served, Hosts]]]:
    """Two hosts for all tests, each with what the database said of its hosts when that one was ready.

    The last test has the database forget one of them.
    """
    with ExitStack() as stack, closing(psycopg.connect(url, autocommit=True)) as session:
        found: list[tuple[Served, Hosts]] = []
        for name in ("one", "other"):
            host = Served(tmp_path_factory.mktemp(name), *SHARED, url)
            stack.callback(host.kill)
            found.append((host, session.execute("SELECT id, NOT draining FROM hosts ORDER BY id").fetchall()))
        yield found


@pytest.fixture(scope="module")
def hosts(begun: list[tuple[Served, Hosts]]) -> list[Served]:
    return [host for host, _ in begun]


class Roaming:
    """A client each of whose requests comes to the next host."""

    def __init__(self, hosts: Sequence[Served]) -> None:
        self._hosts = cycle(hosts)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[HTTPMessage, bytes]:
        with self.begun(method, path, body, **headers) as answer:
            return answer.headers, answer.read()

    @contextmanager
    def begun(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", next(self._hosts).http, timeout=HANG)
        content = None if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(connection):
            connection.request(method, path, content, named)
            with closing(connection.getresponse()) as answer:
                assert answer.status < 300, (path, answer.read())
                yield answer


class RoamingHttp(Http):
    """Long polls of a session, each at the next host."""

    def __init__(self, hosts: Sequence[Served]) -> None:
        super().__init__(hosts[0])
        self.close()
        self._roaming = Roaming(hosts)

    def _ask(self, method: str, path: str, body: str | None = None) -> Any:
        content = None if body is None else json.loads(body)
        return json.loads(self._roaming.ask(method, path, content)[1])


def play_arena(hosts: Sequence[Served], name: str, tournament: str) -> None:
    """Tic-Tac-Toe over the Arena's protocol, with its paths spelt as some old bots do."""
    roaming, lots, oracle = Roaming(hosts), random.Random(name), ORACLES["tic-tac-toe"]()
    joined = json.loads(
        roaming.ask("POST", "/Tic-Tac-Toe/Join/", {"name": name, "tournament": tournament})[1]
    )
    battle, mine, ply = joined["battleId"], 0, 0
    free = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"]
    with roaming.begun("GET", f"/tic-tac-toe/start/{battle}") as events:
        for line in filter(bytes.strip, events):
            match json.loads(line.removeprefix(b"data: ")):
                case {"youAre": side}:
                    mine = "OX".index(side)
                case {"player": _, "position": field}:
                    free.remove(field)
                    oracle, ply = oracle.play(field), ply + 1
                case _:
                    continue
            if ply % 2 == mine and free and oracle.winner == OPEN:
                move = {"action": "putSymbol", "position": lots.choice(free)}
                roaming.ask("POST", f"/TIC-TAC-TOE/play/{battle}/", move)


def play_hexagon_dots(hosts: Sequence[Served], name: str) -> None:
    """With its paths spelt as some old bots do."""
    roaming, lots, oracle = Roaming(hosts), random.Random(name), ORACLES["hexagon-dots"]()
    found, _ = roaming.ask("GET", "/match")
    at = found["Location"].replace("/g/", "/G/")
    headers, content = roaming.ask("POST", f"{at}/Players/", {"name": name})
    while (token := headers["X-Turn-Token"]) is not None:
        told = json.loads(content)
        if "rows" in told:
            oracle = ORACLES["hexagon-dots"]()
        for line in told["lines"]:
            oracle = oracle.play(" ".join(f"{end['row']},{end['col']}" for end in line["endpoints"]))
        move = lots.choice(sorted(oracle.moves()))
        points = [dict(zip(("row", "col"), map(int, end.split(",")), strict=True)) for end in move.split()]
        headers, content = roaming.ask("POST", f"{at}/moves", points, X_Turn_Token=token)


def play_model(hosts: Sequence[Served], name: str, tournament: str) -> None:
    """Connect-4 over the Model Context Protocol, in a session that remembers the token."""
    roaming, lots, session = Roaming(hosts), random.Random(name), dict[str, str]()

    def say(method: str, **params: Any) -> tuple[HTTPMessage, dict[str, Any]]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers, content = roaming.ask("POST", "/mcp", message, MCP_Protocol_Version="2025-11-25", **session)
        return headers, json.loads(content)["result"]

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        return say("tools/call", name=tool, arguments=arguments)[1]["structuredContent"]

    about = {"name": name, "version": "1"}
    begun, _ = say("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
    session["Mcp_Session_Id"] = begun["Mcp-Session-Id"]
    told = call("join", name=name, game="connect-4", tournament=tournament)
    while told["type"] != "end":
        told = call("wait", seconds=5)
        if told["type"] == "turn":
            told = call("move", move=connect_4(told["state"], lots))


def everybody(hosts: list[Served]) -> dict[str, tuple[str, list[Callable[[], object]]]]:
    one, other = hosts
    return {
        "sockets": (
            "connect-4",
            [
                lambda: play(Tcp(one), "tcp", "sockets", "connect-4"),
                lambda: play(Websocket(other), "websocket", "sockets", "connect-4"),
            ],
        ),
        "polls": (
            "santorini",
            [
                lambda: play(RoamingHttp(hosts), "polls", "polls", "santorini"),
                lambda: play(Tcp(other), "lines", "polls", "santorini"),
            ],
        ),
        "models": (
            "connect-4",
            [
                lambda: play_model(hosts, "model", "models"),
                lambda: play(Tcp(one), "opponent", "models", "connect-4"),
            ],
        ),
        "arena": (
            "tic-tac-toe",
            [
                lambda: play_arena(hosts, "ann", "arena"),
                lambda: play_arena(hosts[::-1], "bob", "arena"),
            ],
        ),
        "dots": (
            "hexagon-dots",
            [lambda: play_hexagon_dots(hosts, "ann"), lambda: play_hexagon_dots(hosts[::-1], "bob")],
        ),
    }


def order(host: Served, tournament: str, what: str) -> int:
    """With the token of that very host."""
    token = (host.data / "organiser-token").read_text().strip()
    return host.ask(
        f"POST /api/tournaments/{tournament}/{what} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: 2\r\n\r\n{{}}"
    )[0]


def test_a_host_is_ready_when_the_others_know_that_it_takes_over(
    begun: list[tuple[Served, Hosts]],
) -> None:
    """Catches a host that does not say so, and that others hear of with a later heartbeat."""
    assert [known for _, known in begun] == [[(1, True)], [(1, True), (2, True)]]


def test_bots_of_all_protocols_play_and_orders_are_taken_whichever_host_they_come_to(
    hosts: list[Served],
) -> None:
    cups = everybody(hosts)
    for held, (name, (game, _)) in zip(cycle(hosts), cups.items(), strict=False):
        open_tournament(held, name, game)
        for host in hosts:
            wait_for(
                lambda host=host, name=name: host.get(f"/api/tournaments/{name}")[1]["holder"], "its holder"
            )
            assert order(host, name, "freeze") == order(host, name, "unfreeze") == 200
    with ThreadPoolExecutor(2 * len(cups)) as threads:
        for end in [threads.submit(bot) for _, bots in cups.values() for bot in bots]:
            end.result(HANG)
    one, other = hosts
    for name in cups:
        for host in hosts:
            wait_for(
                lambda host=host, name=name: host.get(f"/api/tournaments/{name}")[1]["state"] == "finished",
                name,
            )
        standings = [host.read(f"/api/tournaments/{name}/standings")["rows"] for host in hosts]
        assert standings[0] == standings[1]
        assert sum(row["points"] for row in standings[0]) == 1
        (match,) = one.get(f"/api/tournaments/{name}/matches")[1]["matches"]
        assert match["ending"] == "played"
        assert one.get(f"/api/matches/{match['match']}") == other.get(f"/api/matches/{match['match']}")
        holders = {host.get(f"/api/tournaments/{name}")[1]["holder"] for host in hosts}
        listed = [(each["address"], each["alive"]) for each in one.get("/api/hosts")[1]["hosts"]]
        assert len(holders) == 1
        assert len(listed) == 2
        assert (holders.pop(), True) in listed


def test_a_name_that_was_deleted_is_used_again_at_any_host_and_every_host_shows_what_is_there_now(
    hosts: list[Served],
) -> None:
    """Asked for without a pause. Catches pages that end at a row of a tournament that they do not know."""
    for held, deleted, game in zip(cycle(hosts), cycle(hosts[::-1]), ("connect-4", "connect-4", "santorini")):
        open_tournament(held, "cup", game)
        for host in hosts:
            wait_for(
                lambda at=host, new=game: at.read("/api/tournaments/cup").get("game") == new, "the new one"
            )
        assert order(deleted, "cup", "delete") == 200
    open_tournament(hosts[0], "cup", "quoridor")
    assert [host.read("/api/tournaments/cup")["game"] for host in hosts] == ["quoridor", "quoridor"]


def test_a_name_of_an_evaluation_is_used_once_and_leads_to_the_same_run_at_every_host(
    hosts: list[Served],
) -> None:
    """Catches a request that comes again through a balancer, and has the bot evaluated twice at once."""
    with closing(socket.create_server(("127.0.0.1", 0))) as bot:
        address = f"http://127.0.0.1:{bot.getsockname()[1]}"
        content = json.dumps({"teamUrl": address, "runId": "run-1", "caseType": "BASE_AI_O"})
        request = (
            "POST /tic-tac-toe/evaluate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Content-Length: {len(content)}\r\n\r\n{content}"
        )
        (begun, run), *again = [host.ask(request) for host in hosts]
    assert (begun, len(run["battleIds"])) == (200, 1)
    assert again == [(409, {"error": "there is a run with this runId already"})]
    assert [host.get("/evaluations/run-1")[0] for host in hosts] == [200, 200]


class Pair:
    """Two bots, move by move."""

    def __init__(self, host: Served, tournament: str) -> None:
        self._bots = {name: Tcp(host) for name in ("ann", "bob")}
        self.match = ""
        self._turn: dict[str, Any] = {}
        for name, bot in self._bots.items():
            bot.say(
                {"type": "hello", "name": name, "game": "connect-4", "tournament": tournament, "protocol": 1}
            )
        self._mine = {name: self._hear(bot, "begin")["you"] for name, bot in self._bots.items()}
        self._hear_turn()

    def play(self, column: int) -> None:
        for name, bot in self._bots.items():
            if self._mine[name] == self._turn["turn"]:
                ply = self._turn["ply"]
                bot.say({"type": "move", "match": self.match, "ply": ply, "move": column})
        self._hear_turn()

    def close(self) -> None:
        for bot in self._bots.values():
            bot.close()

    def _hear_turn(self) -> None:
        for bot in self._bots.values():
            self._turn = self._hear(bot, "turn")
        self.match = self._turn["match"]

    def _hear(self, bot: Tcp, kind: str) -> dict[str, Any]:
        while (message := bot.hear())["type"] != kind:
            pass
        return message


def test_whoever_looks_at_a_match_sees_its_moves_on_a_host_that_does_not_hold_it(hosts: list[Served]) -> None:
    one, other = hosts
    open_tournament(one, "looked-at", "connect-4")
    wait_for(lambda: other.get("/api/tournaments/looked-at")[0] == 200, "the tournament")
    with closing(Pair(one, "looked-at")) as pair:
        look_on_while_it_goes_on(pair, hosts)


def look_on_while_it_goes_on(pair: Pair, hosts: list[Served]) -> None:
    for column in (0, 1, 2):
        pair.play(column)
    for host in hosts:
        wait_for(
            lambda host=host: host.get(f"/api/matches/{pair.match}")[1]["moves"] == [0, 1, 2],
            "the moves there",
        )
    stream = Roaming(hosts[1:])
    with stream.begun("GET", f"/api/matches/{pair.match}/events") as events:
        pair.play(3)
        told = (line for line in events if line.startswith(b"data:"))
        plies = (found["ply"] for line in told if "move" in (found := json.loads(line[5:])))
        assert [next(plies) for _ in range(4)] == [1, 2, 3, 4]


def test_a_host_that_the_database_forgot_says_so_and_so_do_the_others_and_all_end_well(
    server: Server, url: str, hosts: list[Served]
) -> None:
    one, other = hosts
    wait_for(lambda: one.get("/readyz")[1]["peers"]["alive"] == 2, "the other")
    status, ready = one.get("/readyz")
    assert (status, ready["peers"]) == (200, {"registered": 2, "alive": 2, "problems": []})
    server.execute("DELETE FROM hosts WHERE id = 2", url)
    wait_for(lambda: other.get("/readyz")[0] == 503, "the host that is forgotten")
    assert "knows no host 2" in str(other.get("/readyz")[1]["peers"]["problems"])
    wait_for(
        lambda: "there is a link to host 2" in str(one.get("/readyz")[1]["peers"]["problems"]),
        "what the other says of it",
    )
    assert one.get("/readyz")[0] == 200
    for host in hosts:
        host.process.send_signal(signal.SIGTERM)
        code, _, errors = host.end()
        assert code == 0, errors


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("--show", "1", "--peers", "127.0.0.1:0"), "PostgreSQL"),
        (("--advertise", "127.0.0.1:7000"), "peers"),
        ((*SHARED, "postgresql://nowhere/none", "--workers", "2"), "workers"),
        (("--peers", "127.0.0.1:0", "--show", "0", "--store", "postgresql://nowhere/none"), "show"),
        (("--show", "1", "--peers", "0.0.0.0:0", "--store", "postgresql://nowhere/none"), "advertise"),
        (("--peers", "here", "--store", "postgresql://nowhere/none"), "ADDRESS:PORT"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_peers_cannot_be_with_is_refused_in_one_line(
    tmp_path: Path, flags: tuple[str, ...], word: str
) -> None:
    code, out, errors = quintain("serve", *flags, folder=tmp_path)
    assert (code, out, errors.count("\n")) == (2, "", 1), errors
    assert word in errors


def test_a_new_webhook_is_told_of_the_tournaments_that_are_opened_at_its_first_start(
    server: Server, tmp_path: Path
) -> None:
    with Receiver() as receiver:
        asked = FILE_OF_SETTINGS.format(url=receiver.url).replace("match.ended", "tournament.opened")
        (tmp_path / "quintain.toml").write_text(asked)
        host = Served(tmp_path, *SHARED, server.database())
        with ExitStack() as bots:
            for name in ("ann", "bob"):
                bot = bots.enter_context(socket.create_connection(("127.0.0.1", host.tcp), HANG))
                bot.sendall(f'{{"type":"hello","name":"{name}","game":"tic-tac-toe"}}\n'.encode())
            wait_for(lambda: any(each["type"].endswith("begun") for each in receiver.told), "the beginning")
        host.kill()
        told = [(each["type"], each["tournament"]) for each in receiver.told]
        assert told == [("tournament.opened", "cup"), ("tournament.begun", "cup")]
        receiver.shutdown()


@pytest.mark.campaign  # `test_shared.py` of the stores has what refuses them
def test_hosts_share_a_database_only_with_hosts_that_do_as_well(server: Server, tmp_path: Path) -> None:
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0", "--data", "another")
    for first, second in ((SHARED, ("--store",)), (("--store",), SHARED)):
        url = server.database()
        host = Served(tmp_path, *first, url)
        code, out, errors = quintain("serve", *ports, *second, url, folder=tmp_path)
        host.kill()
        assert (code, out) == (2, "")
        assert "is using it" in errors.splitlines()[-1]
