"""A host in a process of its own lives through every attack on the list, and honest bots lose nothing."""

import re
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from tests.attacks.attacks import says
from tests.effort import IS_CAMPAIGN
from tests.hang import HANG
from tests.server.served import ROOT, Served
from tests.server.test_matrix import TRANSPORTS, open_tournament, play

pytestmark = pytest.mark.slow

GAMES = {"tcp": "santorini", "websocket": "connect-4", "http": "tic-tac-toe"}  # what is played meanwhile
SEATS = ("a", "b")
PAUSE = 0.4 if IS_CAMPAIGN else 1.2  # seconds between two matches
MATCHES = 30  # at each door, at most: one address may have so many sessions in a minute
MEMORY = 64  # MiB that the process may grow by: half of that is libraries that standings need, once
PROBE = 0.1  # seconds between two looks at whether the host answers
PATIENT = """
[limits]
hello_seconds = 10.0  # attackers are many, and on a busy machine they come to their words late
handshake_seconds = 10.0
head_seconds = 10.0
"""
FLOODED = """
[limits]
trust_loopback = false
hello_seconds = 3600.0  # nobody goes by itself: whoever goes was thrown out
handshake_seconds = 3600.0
head_seconds = 3600.0
"""


async def test_it_lives_through_everything_at_once_and_honest_bots_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "quintain.toml").write_text(PATIENT)
    async with unharmed(Served(tmp_path, "--log-level", "warning")) as host:
        await attack(host)


async def test_it_lives_through_floods_of_connections_and_lets_honest_bots_in(tmp_path: Path) -> None:
    (tmp_path / "quintain.toml").write_text(FLOODED)
    async with unharmed(Served(tmp_path, "--log-level", "warning")) as host:
        await attack(host, "--floods")


async def attack(host: Served, *flags: str) -> None:
    ports = map(str, (host.tcp, host.websocket, host.http))
    await trio.run_process([sys.executable, "-m", "tests.attacks", *ports, *flags], cwd=ROOT)


@asynccontextmanager
async def unharmed(host: Served) -> AsyncIterator[Served]:
    """Whatever is done to it meanwhile, it goes on as if nothing were, and nothing is left of it."""
    try:
        open_files, before = files(host), memory(host, "VmRSS")
        async with honest_bots(host) as played, trio.open_nursery() as nursery:
            nursery.start_soon(keep_asking, host)
            yield host
            nursery.cancel_scope.cancel()
        with trio.move_on_after(HANG):
            while files(host) > open_files:  # noqa: ASYNC110 - another process tells nobody
                await trio.sleep(PROBE)
        assert files(host) <= open_files, "it should have let go of all connections"
        assert memory(host, "VmHWM") < before + MEMORY
        assert metric(await answer(host, "/metrics"), "quintain_exceptions_total") == 0
        for transport, endings in played.items():
            assert endings, f"nothing was played over {transport}"
            assert set(endings) == {"played"}
        host.process.terminate()
        code, _, errors = host.end()
        assert (code, errors.count("unexpected"), errors.count("Traceback")) == (0, 0, 0)
    finally:
        host.kill()


# Who is there besides


@asynccontextmanager
async def honest_bots(host: Served) -> AsyncIterator[dict[str, list[str]]]:
    """Two at each door, who play one match after another; returns how these ended."""
    over = threading.Event()
    played: dict[str, list[str]] = {transport: [] for transport in GAMES}
    async with trio.open_nursery() as nursery:
        for transport, endings in played.items():
            nursery.start_soon(trio.to_thread.run_sync, keep_playing, host, transport, over, endings)
        try:
            yield played
        finally:
            over.set()


def keep_playing(host: Served, transport: str, over: threading.Event, endings: list[str]) -> None:
    game = GAMES[transport]
    with ThreadPoolExecutor(len(SEATS)) as threads:
        for number in range(MATCHES):
            name = f"{transport}-{number}"
            open_tournament(host, name, game)
            bots = [
                threads.submit(play, TRANSPORTS[transport](host), f"{seat}.{name}", name, game)
                for seat in SEATS
            ]
            endings += {bot.result()[0]["ending"] for bot in bots}
            if over.wait(PAUSE):
                return


async def keep_asking(host: Served) -> None:
    """Whoever asks is answered, whatever else goes on."""
    while True:
        with trio.fail_after(HANG):
            assert b'"alive":true' in await answer(host, "/healthz")
        await trio.sleep(PROBE)


# What can be seen of the host


async def answer(host: Served, path: str) -> bytes:
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    return await says(host.http, head.encode())


def metric(text: bytes, name: str) -> int:
    found = re.search(rf"^{name} (\d+)$".encode(), text, re.MULTILINE)
    assert found is not None, text
    return int(found[1])


def memory(host: Served, what: str) -> float:
    """MiB: `VmRSS` now, `VmHWM` at most so far."""
    status = Path(f"/proc/{host.process.pid}/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) / 1024


def files(host: Served) -> int:
    """How many it has open."""
    return len(list(Path(f"/proc/{host.process.pid}/fd").iterdir()))
