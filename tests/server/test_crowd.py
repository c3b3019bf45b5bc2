"""A host that is full: hundreds of bots over TCP and as many over websocket, all of them playing at once.

The bots are the benchmark's, in this process; the host is a process of its own.
"""

import json
import select
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from server.net.open_files import room_for_files
from tests.bench import load_tcp, load_websocket
from tests.bench.crowd import READ, Crowd
from tests.effort import tries
from tests.hang import HANG
from tests.lacking import lacking
from tests.server.served import Served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(select, "epoll"), reason="there is no epoll on this system"),
]

BOTS = tries(512, 1024)  # over each, so many that `select` is out of its depth; all play in the first round
CUP = f"""
[[tournament]]
name = "{{game}}"
game = "{{game}}"
format = "knockout"
entrants = {BOTS}
pace = {{{{ turn = {2 * HANG} }}}}
"""
UNHURRIED = f"""
[limits]
hello_seconds = {HANG}
handshake_seconds = {HANG}
"""
GAMES = ("connect-4", "santorini")
SHORTEST = tries(16, 256)  # scripts of Santorini: how long a match is says nothing of how many there are
WON, LOST, DRAWN = "won", "lost", "drawn"


class Hall(Crowd):
    """Everybody at one door. Until all matches have begun nobody moves."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port))
        self.begun = False  # all matches have
        self.here: set[str] = set()  # who has heard of its match
        self.held: list[tuple[load_tcp.Bot | load_websocket.Bot, bytes]] = []  # what they heard before
        self.results: dict[str, str] = {}  # of everybody's first match, as it was told

    def listen(self, until: float) -> None:
        """Whatever there is to hear just now."""
        assert monotonic() < until, f"{len(self.here)} have begun and {len(self.results)} have ended"
        for number, _ in self._epoll.poll(0.05):
            connected, take = self._here[number]
            received = connected.recv(READ)
            assert received, "a bot was hung up on"
            take(received)

    def hold(self, bot: "Memo | Fours", message: bytes) -> None:
        self.here.add(bot.name)
        self.held.append((bot, message))

    def begin(self) -> None:
        """Everybody hears what it was spared so far, and answers."""
        held, self.held = self.held, []
        self.begun = True
        for bot, message in held:
            bot._hear(message)


class Memo(load_tcp.Bot):
    _crowd: Hall

    def __init__(self, hall: Hall, name: str) -> None:
        self.name = name
        super().__init__(hall, name)

    def _hear(self, line: bytes) -> None:
        hall = self._crowd
        if self.name in hall.results:
            return  # it has played, and whoever wins is dealt another match
        if not hall.begun:
            hall.hold(self, line)
            return
        super()._hear(line)
        if line.startswith(b'["gameOver"'):
            winner = json.loads(line)[1]
            hall.results[self.name] = DRAWN if winner == "Draw" else WON if winner == self.name else LOST


class Fours(load_websocket.Bot):
    _crowd: Hall

    def __init__(self, hall: Hall, name: str) -> None:
        self.name = name
        self._result: str | None = None
        super().__init__(hall, name)

    def _hear(self, message: bytes) -> None:
        hall = self._crowd
        if not hall.begun:
            hall.hold(self, message)
        elif message == load_websocket.END:
            assert self._result is not None, "the end came before the last state"
            hall.results[self.name] = self._result
        else:
            super()._hear(message)
            told = json.loads(message)
            if "winner" in told:
                won = told["winner"] == told["you"]
                self._result = DRAWN if told["winner"] == 0 else WON if won else LOST


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Served]:
    if room_for_files() < 2 * BOTS + 200:
        lacking("this process may not open so many files")
    (tmp_path / "quintain.toml").write_text(UNHURRIED + "".join(CUP.format(game=game) for game in GAMES))
    served = Served(tmp_path, "--log-level", "error")
    yield served
    served.kill()


def test_hundreds_of_bots_over_each_of_two_transports_play_at_once(
    host: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    shortest = sorted(load_tcp.lines(), key=len)[:SHORTEST]
    monkeypatch.setattr(load_tcp, "lines", lambda: shortest)
    halls = dict(zip(GAMES, (Hall(host.websocket), Hall(host.tcp)), strict=True))
    try:
        play(host, halls)
    finally:
        for hall in halls.values():
            hall.leave()


def play(host: Served, halls: dict[str, Hall]) -> None:
    until = monotonic() + HANG
    for (game, hall), bot in zip(halls.items(), (Fours, Memo), strict=True):
        for number in range(BOTS):
            bot(hall, f"{game}-{number:04}")
        while len(hall.here) < BOTS:
            hall.listen(until)
    for game in halls:
        assert len(host.get(f"/api/tournaments/{game}")[1]["playing"]) == BOTS // 2
    for hall in halls.values():
        hall.begin()
    while any(len(hall.results) < BOTS for hall in halls.values()):
        for hall in halls.values():
            hall.listen(until)
    for game, hall in halls.items():
        matches = host.get(f"/api/tournaments/{game}/matches")[1]["matches"]
        recorded: dict[str, str] = {}
        for match in [match for match in matches if int(match["match"].rpartition("-")[2]) <= BOTS // 2]:
            assert match["ending"] == "played", match
            for name in match["players"]:
                winner = match["winner"]
                won = winner is not None and match["players"][winner] == name
                recorded[name] = DRAWN if winner is None else WON if won else LOST
        assert recorded == hall.results
        assert len(recorded) == BOTS
