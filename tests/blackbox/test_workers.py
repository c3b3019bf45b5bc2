"""One tournament at one process and at two that lend each other matches: nobody can tell which."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.ends import Lines, Stream, ask
from tests.blackbox.forked import ForkedHost
from tests.blackbox.inspected import Inspected
from tests.hang import HANG, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on"),
]

BOTS = ("ann", "bob", "cid", "dot")
CUP = {"name": "cup", "game": "connect-4", "format": "round-robin", "entrants": len(BOTS)}
COLUMNS = (0, 1, 0, 1, 0, 1, 0)  # whoever begins has four in the first column
REFUSED = 3  # at this ply, an illegal move is tried first
# What is never the same twice: times, tokens, and what is computed from them.
VARIES = {
    "at",
    "as_of",
    "began",
    "clock",
    "ended",
    "left",
    "network",
    "receipt",
    "since",
    "spent",
    "times",
    "token",
}


def same(said: Any) -> Any:
    """What has to be the same each time. That the machine stood still for a moment is nobody's doing."""
    if isinstance(said, dict):
        return {key: same(value) for key, value in said.items() if key not in VARIES}
    if isinstance(said, list):
        return [
            same(each) for each in said if not (isinstance(each, dict) and each.get("kind") == "credited")
        ]
    return said


class Bot(Lines):
    def __init__(self, host: Inspected, name: str) -> None:
        super().__init__(host.tcp)
        self.name = name
        self.told: list[Any] = []
        self.say({"type": "hello", "name": name, "game": CUP["game"], "token": secret(name), "version": "2"})
        self.wait_for("welcome")

    def wait_for(self, kind: str, **fields: Any) -> Any:
        while True:
            self.told.append(message := self.hear())
            if message["type"] == kind and fields.items() <= message.items():
                return message


def secret(name: str) -> str:
    return f"{name}-keeps-this-secret"


def play(first: Bot, second: Bot) -> None:
    for ply, column in enumerate(COLUMNS):
        for bot in (first, second):
            bot.wait_for("turn", ply=ply)
        mover = (first, second)[ply % 2]
        if ply == REFUSED:
            mover.say({"type": "move", "ply": ply, "move": 9})
            mover.wait_for("refused")
        mover.say({"type": "move", "ply": ply, "move": column, "spent": 0.25, "note": f"ply {ply}"})
    for bot in (first, second):
        bot.wait_for("end")


def held(host: Inspected) -> dict[str, Any]:
    """Holds the tournament; returns all that bots, programs and the organiser learn of it."""
    made = ask(
        host.http, "POST", "/api/tournaments", CUP | {"seed": 1, "pace": {"turn": HANG}}, **host.organiser()
    )
    assert made.status == 201, made
    bots = [Bot(host, name) for name in BOTS]
    for _ in range(len(BOTS) - 1):
        begins = [(bot.wait_for("begin"), bot) for bot in bots]
        for match in sorted({begin["match"] for begin, _ in begins}):
            seats = {begin["you"]: bot for begin, bot in begins if begin["match"] == match}
            play(seats["first"], seats["second"])
    for bot in bots:
        bot.wait_for("standings", final=True)

    def get(path: str, **headers: str) -> Any:
        found: list[Any] = []
        wait_for(
            lambda: found.append(ask(host.http, "GET", path, **headers)) or found[-1].status != 503, path
        )
        return found[-1].json

    learnt: dict[str, Any] = {bot.name: bot.told for bot in bots}
    learnt |= {path: get(f"/api/tournaments/cup{path}") for path in ("", "/matches", "/standings")}
    for listed in learnt["/matches"]["matches"]:
        match = listed["match"]
        learnt[match] = get(f"/api/matches/{match}")
        for name in listed["players"]:
            wire = get(f"/api/matches/{match}/wire", Authorization=f"Bearer {secret(name)}")
            learnt[f"{match} wire of {name}"] = [json.loads(each["text"]) for each in wire["messages"]]
        with Stream(host.http, f"/api/matches/{match}/events") as stream:
            learnt[f"{match} events"] = []
            while chunk := stream.chunk():
                learnt[f"{match} events"] += [
                    json.loads(line[6:]) for line in chunk.decode().splitlines() if line.startswith("data: ")
                ]
    for bot in bots:
        bot.close()
    return learnt


def test_a_tournament_is_the_same_whichever_worker_plays_its_matches(tmp_path: Path) -> None:
    learnt: list[dict[str, Any]] = []
    for number, flags in enumerate(((), ("--workers", "2", "--spread", "2"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ForkedHost(folder, *flags, QUINTAIN_SHOW="1" if flags else "0") as host:
            learnt.append(held(host))
            assert "Traceback" not in host.said()
    one, two = (same(each) for each in learnt)
    assert one.keys() == two.keys()
    for what, said in one.items():
        assert two[what] == said, what
