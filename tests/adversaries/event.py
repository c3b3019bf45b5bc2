"""The event: a host with a past, five tournaments of honest bots and three open tables with them.

The host is started as its users start it.
No address is trusted, so all limits are in force. Honest bots come from
127.0.0.1. Attackers come from elsewhere on loopback, and over HTTP and websockets
from all over the world: the host believes the proxies through which they say they come.
"""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct

from tests.adversaries.company import CUPS, TABLES
from tests.adversaries.honest import Noted, Pair
from tests.adversaries.judge import Verdict, judged
from tests.adversaries.wires import Answer, Gone, Requests
from tests.attacks.attacks import Ports
from tests.bench import past
from tests.blackbox.inspected import Inspected
from tests.hang import HANG

SETTINGS = """
reserve_bytes = 0
proxies = ["127.1.0.0/16", "127.2.0.0/16", "127.3.0.0/16", "127.4.0.0/16"]

[limits]
trust_loopback = false
"""
MATCHES, MATCHES_A_NAME = 20_000, 4  # of the past
ROUNDS = 5000  # matches of a tournament: more than there are in the longest run
AGAIN = 0.2  # seconds until the host is asked again
PAGE = 1000  # matches
BAD = ("error", "critical")  # levels of the log
SPREAD = "2"  # the least: with several workers, matches at open tables are lent once strangers come


class Past(Struct, frozen=True):
    """What was played before, over five open tables: big tables to look at."""

    matches: int = MATCHES
    names: int = MATCHES // MATCHES_A_NAME

    def write(self, journal: Path) -> None:
        past.write(journal, self.matches, self.names)

    @property
    def at_each_table(self) -> int:
        return self.matches // past.TABLES


class Event:
    def __init__(self, host: Inspected, before: int) -> None:
        self.host = host
        self.ports = Ports(host.tcp[1], host.websocket[1], host.http[1])
        self.noted = Noted()
        self._before = before  # matches that each open table has from its past

    @property
    def play(self) -> int:
        """The process id of play."""
        return self.host.process.pid

    def processes(self) -> dict[str, list[int]]:
        """The process ids of play, and of show and of other workers, while they are there."""
        found = {"play": [self.play]}
        for child in Path(f"/proc/{self.play}/task/{self.play}/children").read_text().split():
            with suppress(OSError):  # it has just ended
                _, _, name = Path(f"/proc/{child}/comm").read_text().strip().partition("quintain-")
                if name:
                    found.setdefault(name, []).append(int(child))
        return found

    def memory(self) -> dict[str, float]:
        """MiB that play and show have in memory, and whichever of the other workers has the most."""
        return {name: max(map(resident, pids)) for name, pids in self.processes().items()}

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Until it is answered with anything but 503: show may be on its way back."""
        with trio.fail_after(HANG):
            while True:
                if (code := self.host.process.poll()) is not None:
                    raise RuntimeError(f"the host ended by itself with {code}: {self.host.said()[-2000:]}")
                try:
                    async with await trio.open_tcp_stream("127.0.0.1", self.ports.http) as stream:
                        answer = await Requests(stream).ask(method, path, body, **headers)
                    if answer.status != 503:
                        return answer
                except (Gone, OSError):
                    pass
                await trio.sleep(AGAIN)

    async def verdict(self) -> Verdict:
        """By the record."""
        found = list[Any]()
        for pair in (*CUPS, *TABLES):
            after: int | None = self._before if pair in TABLES else 0
            while after is not None:
                path = f"/api/tournaments/{pair.tournament}/matches?after={after}&limit={PAGE}"
                page = (await self.ask("GET", path)).json
                found += page["matches"]
                after = page["next"]
        return judged(found)

    async def begin(self, nursery: trio.Nursery) -> None:
        """Hold the tournaments; when all of them have begun, the regulars of the open tables come."""
        for pair in CUPS:
            wanted = {"name": pair.tournament, "game": pair.game, "format": "gauntlet", "rounds": ROUNDS}
            wanted |= {"entrants": 2, "options": pair.options, "pace": {"turn": HANG}}
            answer = await self.ask("POST", "/api/tournaments", wanted, **self.host.organiser())
            if answer.status != 201:
                raise RuntimeError(f"{pair.tournament} cannot be held: {answer.body!r}")
        for pairs in (CUPS, TABLES):
            await self._come(pairs, nursery)

    async def _come(self, pairs: tuple[Pair, ...], nursery: trio.Nursery) -> None:
        bots = [bot for pair in pairs for bot in pair.bots(self.ports, self.noted)]
        for bot in bots:
            nursery.start_soon(bot.run)
        with trio.fail_after(HANG):
            for bot in bots:
                await bot.here.wait()


def resident(process: int) -> float:
    """MiB that a process has in memory; 0 if it has ended."""
    with suppress(OSError):
        _, _, found = Path(f"/proc/{process}/status").read_text().partition("VmRSS:")
        return int(found.split()[0]) / 1024 if found else 0.0
    return 0.0


@asynccontextmanager
async def event(folder: Path, journal: Path, before: Past, workers: int = 1) -> AsyncGenerator[Event]:
    """Honest bots play for as long as the block lasts, after what is in a journal, which stays as it is."""
    (folder / "quintain.toml").write_text(SETTINGS)
    data = folder / "quintain-data"
    data.mkdir(mode=0o700)
    shutil.copy(journal, data / "quintain.sqlite")
    several = () if workers == 1 else ("--workers", str(workers), "--spread", SPREAD)
    host = await trio.to_thread.run_sync(Inspected, folder, "--log-level", "warning", *several)
    with host:
        async with trio.open_nursery() as nursery:
            held = Event(host, before.at_each_table)
            await held.begin(nursery)
            yield held
            nursery.cancel_scope.cancel()


def complaints(host: Inspected) -> list[str]:
    """Errors that the host logged: each is a fault of its own."""
    said = host.said()
    found = [
        line[:500] for line in said.splitlines() if line.startswith("{") and json.loads(line)["level"] in BAD
    ]
    return found + (["a traceback on standard error"] if "Traceback" in said and not found else [])
