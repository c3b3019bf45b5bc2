"""The evening itself: what the organiser types, when, and what everybody was told by the end."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct

from tests.evening import bots
from tests.evening.bots import Answer, Author
from tests.hang import HANG
from tests.server.run import quintain
from tests.server.served import Served

NAME = "evening"
LOOK = 0.2  # seconds between two looks at how the tournament stands
LONG = 5 * HANG  # an evening takes minutes
HONEST = ("ann", "bob", "cas", "dee", "eve")
KINDS: Mapping[str, Answer] = {
    "dies": bots.dies,
    "late": bots.honest,
    "e99": bots.says_e99,
    "slow": bots.slow,
    "babbles": bots.babbles,
    "returns": bots.returns,
    "leaves": bots.leaves,
}


class Plan(Struct, frozen=True):
    """Who comes, and how long things take."""

    honest: tuple[str, ...] = HONEST
    kinds: tuple[str, ...] = tuple(KINDS)
    turn: float = 3.0  # seconds for a move
    start: float = 25.0  # seconds from when it is opened until it begins
    check_in: int = 20  # seconds
    withdraw: bool = True  # whoever the host says is missing, once that is


class Typed(Struct, frozen=True):
    """A command, and what it printed."""

    at: float  # seconds since the host was started
    words: tuple[str, ...]
    said: str


class Found(Struct):
    """What came of it."""

    plan: Plan
    typed: list[Typed] = []
    authors: dict[str, Author] = {}
    matches: list[dict[str, Any]] = []
    standings: list[dict[str, Any]] = []
    missing: list[str] = []  # whom the host said were missing, when it was over or they were withdrawn
    seconds: float = 0.0  # from the first command to the last

    def lost(self, name: str) -> Iterator[dict[str, Any]]:
        """The matches that a bot has lost, as the API has them."""
        for match in self.matches:
            if name in match["players"] and match["winner"] == 1 - match["players"].index(name):
                yield match


def evening(folder: Path, plan: Plan, say: Callable[[str], None]) -> Found:
    """Hold it in that folder; raises `AssertionError` where a command fails."""
    served = Served(folder)
    try:
        found = Found(plan)
        trio.run(Organiser(served, folder, found, say).hold)
        return found
    finally:
        served.kill()


class Organiser:
    def __init__(self, served: Served, folder: Path, found: Found, say: Callable[[str], None]) -> None:
        self._served = served
        self._folder = folder
        self._found = found
        self._say = say
        self._began = time.monotonic()
        found.typed.append(Typed(0.0, ("serve",), "ready"))

    async def hold(self) -> None:
        plan, found = self._found.plan, self._found
        start = datetime.now(UTC) + timedelta(seconds=plan.start)
        when = start.isoformat(timespec="seconds").replace("+00:00", "Z")
        create = ("--game", bots.GAME, "--turn", f"{plan.turn:g}", "--start-at", when)
        await self._type("tournament", "create", NAME, *create, "--check-in", f"{plan.check_in}s")
        names = (*plan.honest, *plan.kinds)
        rows = [f"{name},Team {name},{name}@example.org" for name in names]
        (self._folder / "list.csv").write_text("\n".join(("name,affiliation,contact", *rows)) + "\n")
        await self._type("tournament", "enter", NAME, "--from", "list.csv", "--invitations", "letters")
        async with trio.open_nursery() as nursery:
            for name in names:
                author = found.authors[name] = Author(name)
                nursery.start_soon(self._author, author, name == "late")
            await self._until(lambda now: len(now["checking_in"]["missing"]) <= ("late" in names))
            await self._type("tournament", "show", NAME)
            await self._until(lambda now: now["state"] == "running")
            if "late" in names:
                await self._until(lambda now: bool(found.authors["late"].refusals))
                await self._type("tournament", "enter", NAME, "late")
            gone = {"dies", "leaves"} & set(names)
            if gone:
                await self._until(lambda now: gone <= {each["name"] for each in now["missing"]})
                await self._type("tournament", "show", NAME)
                found.missing = sorted(gone)
            if "dies" in gone and plan.withdraw:
                await self._type("tournament", "withdraw", NAME, "dies")
            await self._until(lambda now: now["state"] == "finished")
            await self._type("standings", NAME)
            await self._type("standings", NAME, "--csv")
            await self._type("tournament", "export", NAME, "--output", "evening.jsonl")
            await self._type("verify", "evening.jsonl", host=False)
            found.seconds = time.monotonic() - self._began
            nursery.cancel_scope.cancel()
        found.matches = self._read("/matches?limit=1000")["matches"]
        for match in found.matches:  # with what led to its end, and the reasons as the page has them
            match |= self._get(f"/api/matches/{match['match']}")
        found.standings = self._read("/standings")["rows"]

    async def _author(self, author: Author, late: bool) -> None:
        """Takes the token out of the letter, and starts the bot; one of them does so when it is too late."""
        (letter,) = (self._folder / "letters").glob(f"*-{author.name}.txt")
        token = letter.read_text().partition("Token: ")[2].partition("\n")[0]
        if late:
            await self._until(lambda now: now["state"] == "running")
        answer = KINDS.get(author.name, bots.honest)
        turn = self._found.plan.turn
        await bots.attend(self._served.tcp, author, answer, tournament=NAME, token=token, turn=turn)

    async def _type(self, *words: str, host: bool = True) -> None:
        """A command, as it is typed in the folder in which the host was started: so it finds the token."""
        url = f"http://127.0.0.1:{self._served.http}"
        where = ("--url", url) if host else ()
        at = time.monotonic() - self._began
        run = partial(quintain, *words, *where, folder=self._folder)
        code, said, errors = await trio.to_thread.run_sync(run)
        assert code == 0, (words, said, errors)
        self._found.typed.append(Typed(at, words, said.rstrip()))
        self._say(f"{at:6.1f} s  quintain {' '.join(words)}")

    async def _until(self, so: Callable[[dict[str, Any]], bool]) -> None:
        """Look again and again, as people do."""
        with trio.fail_after(LONG):
            while not so(await trio.to_thread.run_sync(self._read, "")):  # noqa: ASYNC110 - another process
                await trio.sleep(LOOK)

    def _read(self, path: str) -> dict[str, Any]:
        return self._get(f"/api/tournaments/{NAME}{path}")

    def _get(self, path: str) -> dict[str, Any]:
        status, found = self._served.get(path)
        assert status == 200, (path, json.dumps(found))
        return found
