"""What takes its time: deadlines, watched on a host of its own while the other checks go on.

Each function here watches one thing and returns what it saw; `test_waits.py` judges.
"""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.blackbox.ends import Asking, Lines, Stream, Wire, ask, fresh
from tests.blackbox.forked import ForkedHost
from tests.blackbox.inspected import Inspected
from tests.hang import wait_for

UNOPENED = 12.0  # seconds that a stream is not opened for: of a clock of 18 that ran, little would be left


def closed_after(address: tuple[str, int], opening: bytes) -> float:
    began = time.monotonic()  # before the host can know of it
    with Wire(address) as wire:
        wire.send(opening)
        wire.rest()
        return time.monotonic() - began


def here(host: Inspected, path: str, name: str) -> None:
    """Until this page knows of that bot: connections are served in any order."""
    wait_for(lambda: name.encode() in ask(host.http, "GET", path).body, name)


def silent_bot(host: Inspected) -> float:
    return closed_after(host.tcp, b"")


def half_a_name(host: Inspected) -> float:
    return closed_after(host.tcp, b"An")


def tls_on_tcp(host: Inspected) -> float:
    return closed_after(host.tcp, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200))


def http_2_on_http(host: Inspected) -> float:
    return closed_after(host.http, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(20))


def half_a_handshake(host: Inspected) -> float:
    return closed_after(host.websocket, b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: webso")


def half_a_head(host: Inspected) -> float:
    return closed_after(host.http, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")


def half_a_body(host: Inspected) -> float:
    return closed_after(host.http, b'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{"rows"')


def santorini_retries(host: Inspected) -> tuple[float, Any]:
    """How long a bot that says nonsense every second may go on, and what its opponent is told."""
    with Lines(host.tcp) as one, Lines(host.tcp) as two:
        began = time.monotonic()  # before there is an opponent
        bots = {fresh("Ann"): one, fresh("Bob"): two}
        for name, bot in bots.items():
            bot.say(name)
        _, state = one.hear(), two.hear()
        asked = bots.pop(state[1])
        (opponent,) = bots.values()
        while state[0] != "gameOver":
            if asked.silent(1.0):
                asked.say("9 9")
            state = asked.hear()
        return time.monotonic() - began, [state[1] == state[4][0], opponent.hear() == state]


def hexagon_late(host: Inspected) -> tuple[float, Any, int]:
    where = ask(host.http, "POST", "/", {"rows": 3, "cols": 3}).headers["location"]
    first = fresh("JF")
    one = Asking(host.http, "POST", f"{where}/players", {"name": first})
    here(host, "/games", first)
    began = time.monotonic()
    two = Asking(host.http, "POST", f"{where}/players", {"name": fresh("JF")})
    token = one.answer().headers["x-turn-token"]
    end = two.answer()
    took = time.monotonic() - began
    line = [{"row": 0, "col": 0}, {"row": 0, "col": 1}]
    late = ask(host.http, "POST", f"{where}/moves", line, X_Turn_Token=token)
    return took, end, late.status


def dealt(host: Inspected) -> list[str]:
    """The battle ids of two bots that meet in a tournament of their own: no other pair can come between."""
    cup = {"name": fresh("cup"), "game": "tic-tac-toe", "format": "round-robin", "entrants": 2}
    made = ask(host.http, "POST", "/api/tournaments", cup, **host.organiser())
    assert made.status == 201, made
    bots = [{"name": fresh("team"), "tournament": cup["name"]} for _ in range(2)]
    joins = [Asking(host.http, "POST", "/tic-tac-toe/join", bot) for bot in bots]
    return [join.answer().json["battleId"] for join in joins]


def battle(host: Inspected) -> tuple[dict[str, str], dict[str, Stream]]:
    """Battle ids and streams by seat."""
    ids, streams = {}, {}
    for battle_id in dealt(host):
        stream = Stream(host.http, f"/tic-tac-toe/start/{battle_id}")
        seat = stream.event()["youAre"]
        ids[seat], streams[seat] = battle_id, stream
    return ids, streams


def put(host: Inspected, battle_id: str, position: str) -> Any:
    body = {"action": "putSymbol", "position": position}
    return ask(host.http, "POST", f"/tic-tac-toe/play/{battle_id}", body)


def arena(host: Inspected) -> dict[str, Any]:
    """Three pairs, which are watched at once."""
    seen: dict[str, Any] = {}
    began = time.monotonic()  # before any clock runs
    late, late_streams = battle(host)
    cheat, cheat_streams = battle(host)
    unopened = dealt(host)
    told = time.monotonic()
    put(host, cheat["O"], "C")
    cheated = time.monotonic()
    put(host, cheat["X"], "C")
    for stream in cheat_streams.values():
        stream.event(), stream.event()
    seen["cheat"] = [stream.chunk() for stream in cheat_streams.values()]
    seen["cheat closed"] = time.monotonic() - cheated
    time.sleep(max(0.0, told + UNOPENED - time.monotonic()))
    opened = time.monotonic()
    for battle_id in unopened:
        with Stream(host.http, f"/tic-tac-toe/start/{battle_id}") as stream:
            if stream.event()["youAre"] == "O":
                seen["clock"] = put(host, battle_id, "C").json["clock"]
                seen["clock ran"] = time.monotonic() - opened
    seen["late streams"] = {}
    for seat, stream in late_streams.items():
        events = []
        while chunk := stream.chunk():
            events.append(chunk)
        seen["late streams"][seat] = events
    seen["late closed"] = time.monotonic() - began
    seen["late status"] = put(host, late["O"], "C").status  # that it is late is known by now
    for stream in (*late_streams.values(), *cheat_streams.values()):
        stream.close()
    return seen


WATCHED = (
    silent_bot,
    half_a_name,
    tls_on_tcp,
    http_2_on_http,
    half_a_handshake,
    half_a_head,
    half_a_body,
    santorini_retries,
    hexagon_late,
    arena,
)


class Waits:
    """All of it, begun at once."""

    def __init__(self, folder: Path) -> None:
        self.host = ForkedHost(folder)
        self._pool = ThreadPoolExecutor(len(WATCHED))
        self._seen: dict[str, Future[Any]] = {
            watch.__name__: self._pool.submit(watch, self.host) for watch in WATCHED
        }

    def saw(self, name: str) -> Any:
        return self._seen[name].result()

    def close(self) -> None:
        self.host.__exit__(None, None, None)
        self._pool.shutdown()
