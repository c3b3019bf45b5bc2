"""Hosts as processes, on one real database: bots come in anywhere, and hosts are killed."""

import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import trio
from structlog.testing import capture_logs

from server.store import journal
from server.store.postgres_reader import PostgresReader
from tests.chaos.bots import Bot
from tests.chaos.told import Told, Verdict
from tests.hang import HANG
from tests.server.exports import exported
from tests.server.forked import Forked
from tests.server.served import READY, ROOT
from tests.server.store.postgresql import Server
from tournament.facts import State
from tournament.folding import fold

pytestmark = pytest.mark.slow

BOTS = 8
TOKEN = "a-token-of-the-organiser"


class Process:
    """A host."""

    def __init__(self, url: str) -> None:
        self._folder = TemporaryDirectory()
        ports = ("--tcp", "0", "--websocket", "0", "--http", "0", "--peers", "127.0.0.1:0")
        self._process = Forked(
            ("serve", *ports, "--show", "1", "--store", url, "--log-level", "error"),
            Path(self._folder.name),
            os.environ | {"PYTHONPATH": str(ROOT), "QUINTAIN_TOKEN": TOKEN},
        )
        self.port = 0
        self._http = 0

    def ready(self) -> None:
        found = READY.fullmatch(self._line())
        assert found is not None
        self.port, self._http = (int(found[number].split(":")[1]) for number in (1, 3))

    def open(self, name: str, format: str, entrants: int) -> str:
        """Have it open a tournament of Connect-4; returns what it says to that."""
        body = {"name": name, "game": "connect-4", "format": format, "entrants": entrants}
        request = Request(
            f"http://127.0.0.1:{self._http}/api/tournaments",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {TOKEN}"},
        )
        try:
            with urlopen(request, timeout=HANG) as answer:  # noqa: S310
                return json.load(answer)["tournament"]
        except HTTPError as error:
            with error:
                return json.load(error)["error"]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for output in (self._process.stdout, self._process.stderr):
            output.close()
        self._folder.cleanup()
        self.port = 0

    async def stop_for(self, seconds: float) -> None:
        """Let nothing go on in it meanwhile: afterwards it believes what was true before."""
        self._process.send_signal(signal.SIGSTOP)
        await trio.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    async def drain(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        await self.ended()

    async def ended(self) -> None:
        """Wait until it has ended by itself."""
        while self._process.poll() is None:  # noqa: ASYNC110 - no task waits for processes
            await trio.sleep(0.01)
        self.port = 0

    @property
    def code(self) -> int | None:
        return self._process.returncode

    def _line(self) -> str:
        line = self._process.stdout.readline()
        assert line, "the host has ended"
        return line


class Roaming(Bot):
    """A bot that comes to one host after the other, as behind a balancer."""

    hosts: list[Process]
    turns: Iterator[int]

    @property
    def _port(self) -> int:  # type: ignore[override]
        living = [host.port for host in self.hosts if host.port]
        return living[next(self.turns) % len(living)]

    @_port.setter
    def _port(self, port: int) -> None:
        pass


def state(url: str) -> State | None:
    with closing(PostgresReader(url)) as reader:
        record = fold(map(journal.kept, reader.kept())).get("cup")
    return None if record is None else record.state


def judged(url: str, told: Told) -> Verdict:
    with closing(PostgresReader(url)) as reader:
        return told.compare(exported(map(journal.kept, reader.kept())))


async def played_to_the_end(url: str, hosts: list[Process], befall: Callable[[], Awaitable[object]]) -> Told:
    """Bots at all hosts play a tournament, which something befalls when some results were told."""
    told, turns = Told(), count()
    with trio.fail_after(4 * HANG):
        async with trio.open_nursery() as nursery:
            for number in range(BOTS):
                bot = Roaming(f"bot-{number}", "connect-4", 0, lambda: "cup", told, Random(number))
                bot.hosts, bot.turns = hosts, turns
                nursery.start_soon(bot.run)
            while len(told._ends) < BOTS:  # noqa: ASYNC110 - nobody tells
                await trio.sleep(0.005)
            await befall()
            while await trio.to_thread.run_sync(state, url) is not State.FINISHED:  # noqa: ASYNC110
                await trio.sleep(0.1)
            nursery.cancel_scope.cancel()
    return told


@asynccontextmanager
async def running(url: str) -> AsyncIterator[list[Process]]:
    """Two hosts, the first of which has a tournament."""
    hosts = [Process(url) for _ in range(2)]
    try:
        for host in hosts:
            await trio.to_thread.run_sync(host.ready)
        assert hosts[0].open("cup", "double-round-robin", BOTS) == "cup"
        yield hosts
    finally:
        for host in hosts:
            host.kill()


def expect_all(url: str, told: Told) -> None:
    """Every result that was told is there, once, and every pairing was played."""
    with capture_logs():
        verdict = judged(url, told)
    assert not verdict.complaints
    assert verdict.matches == BOTS * (BOTS - 1)
    assert verdict.told > BOTS
    assert not verdict.cut_short, "matches go on where they were"


def holders(server: Server, url: str) -> list[tuple[object, ...]]:
    """Which hosts have written of the tournament, in their order."""
    return server.execute(
        "SELECT host FROM journal WHERE tournament = 'cup' GROUP BY host ORDER BY min(number)", url
    )


@pytest.mark.campaign  # `tests/cluster` has the same for bots of all dialects
async def test_bots_at_any_host_play_and_a_killed_holder_costs_no_result(server: Server) -> None:
    url = server.database()
    async with running(url) as hosts:
        assert hosts[1].open("cup", "swiss", 4) == "there is a tournament cup already"

        async def kill() -> None:
            hosts[0].kill()

        told = await played_to_the_end(url, hosts, kill)
    expect_all(url, told)
    assert len(holders(server, url)) == 2


@pytest.mark.campaign
async def test_hosts_are_drained_one_after_another_and_no_match_is_lost(server: Server) -> None:
    url = server.database()
    async with running(url) as hosts:

        async def renew() -> None:
            hosts.append(Process(url))
            await hosts[0].drain()
            await trio.to_thread.run_sync(hosts[2].ready)
            await hosts[1].drain()

        told = await played_to_the_end(url, hosts, renew)
    expect_all(url, told)


@pytest.mark.campaign
async def test_a_holder_that_stood_still_for_too_long_writes_no_more_and_ends(server: Server) -> None:
    """Catches a zombie: it has results to keep of matches that another host goes on with."""
    url = server.database()
    async with running(url) as hosts:

        async def stop() -> None:
            await hosts[0].stop_for(3.0)
            await hosts[0].ended()

        told = await played_to_the_end(url, hosts, stop)
    expect_all(url, told)
    assert len(holders(server, url)) == 2


@pytest.mark.campaign
async def test_a_database_that_is_away_stops_the_clocks_and_nothing_else(server: Server) -> None:
    url = server.database()
    async with running(url) as hosts:

        async def restart() -> None:
            server.stop()
            await trio.sleep(2.0)
            await trio.to_thread.run_sync(server.start)

        told = await played_to_the_end(url, hosts, restart)
    expect_all(url, told)


async def test_a_host_that_is_told_to_stop_ends_though_its_database_stands_still(server: Server) -> None:
    """Catches one that waits for as long as the database does: whatever looks after it has to kill it."""
    async with running(server.database()) as hosts:
        with server.standing_still(), trio.fail_after(HANG):
            await hosts[0].drain()
        assert hosts[0].code == 0
