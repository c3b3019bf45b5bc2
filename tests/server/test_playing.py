"""`quintain bot` and `quintain play` on what is no host, or plays by other rules."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from games.brains import first
from server.commands.games import game_named
from server.commands.playing import played
from server.exits import Failure
from server.programs.contestant import thinking
from tests.clients.script import Script
from tests.hang import HANG

GAME = game_named("connect-4")
BEGIN: dict[str, Any] = {"type": "begin", "match": "cup-1", "you": "first", "players": ["ann", "bob"]}
TURN = {"type": "turn", "match": "cup-1", "ply": 2, "turn": "first", "last": 2, "clock": [5.0, 5.0]}
ROW = {"rank": 1, "name": "ann", "points": 1.0, "played": 1, "wins": 1, "draws": 0, "losses": 0}
STANDINGS = {"type": "standings", "final": True, "tournament": "cup"}


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([BEGIN | {"moves": ["x", 2]}, TURN], "does not play by the rules of connect-4"),
        ([BEGIN | {"moves": [9, 2]}, TURN], "does not play by the rules of connect-4"),
        ([BEGIN | {"moves": [2, 2], "options": {"size": 9}}, TURN], "does not play by the rules of"),
        ([BEGIN | {"moves": [2, 2], "you": "white"}, TURN | {"turn": "white"}], "there is no seat 'white'"),
        ([STANDINGS | {"rows": [ROW]}], "are not those of a host"),
        ([STANDINGS | {"rows": [ROW | {"rating": "x", "interval": None}]}], "are not those of a host"),
        ([STANDINGS | {"rows": [ROW | {"rating": None, "interval": [1.0]}]}], "are not those of a host"),
    ],
)
def test_a_host_that_plays_by_other_rules_costs_a_sentence(
    messages: list[dict[str, Any]],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches tracebacks of a bot on a host that has another version of its game."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    host = Script()

    def say() -> None:
        host.accept()
        host.hear()
        host.say({"type": "welcome", "name": "ann", "token": "t", "tournament": "cup"}, *messages)

    speaking = Thread(target=say)
    speaking.start()
    choose: Callable[[dict[str, Any]], Any] = thinking(GAME, first(GAME, 0), 0.1)
    hello = {"game": GAME.name, "name": "ann", "url": f"tcp://127.0.0.1:{host.port}"}
    with pytest.raises(Failure, match=complaint):
        played(choose, hello, None, as_json=False)
    speaking.join(HANG)
    host.close()
    capsys.readouterr()
