"""A large tournament on several workers, as its users meet it: real processes, one of which is killed."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random

import pytest
import trio

from server.store import journal
from server.store.data_folder import JOURNAL
from server.store.sqlite_reader import SqliteReader
from tests.chaos.bots import Bot
from tests.chaos.told import Told, Verdict
from tests.effort import tries
from tests.hang import HANG
from tests.server.exports import exported
from tests.server.served import Served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on"),
]

BOTS = 6
GAMES = tries(12, 40)  # of a tournament that is played until it is decided, at most
CUP = f"""
spread = 2
workers = 3
[[tournament]]
name = "cup"
game = "connect-4"
format = "FORMAT"
entrants = {BOTS}
pace = {{ turn = {HANG} }}
"""


@pytest.fixture
def host(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    (tmp_path / "quintain.toml").write_text(CUP.replace("FORMAT", request.param))
    served = Served(tmp_path, "--show", "1", "--log-level", "error")
    yield served
    served.kill()


def workers(host: Served) -> list[int]:
    """Their processes; of these the first has the one tournament."""
    children = Path(f"/proc/{host.process.pid}/task/{host.process.pid}/children").read_text().split()
    return [int(each) for each in children if Path(f"/proc/{each}/comm").read_text() == "quintain-worker\n"]


def bots_at(process: int) -> int:
    """How many connections over TCP it has: beside worker 0, only those of bots."""
    over_tcp = {line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]}
    links = [os.readlink(each) for each in Path(f"/proc/{process}/fd").iterdir() if each.is_symlink()]
    return sum(link[len("socket:[") : -1] in over_tcp for link in links)


async def played(host: Served, told: Told, killed: int | None) -> None:
    """Bots play the tournament to its end. After some results the worker of that number is killed."""
    turns, another = count(), workers(host)[1]
    with trio.fail_after(2 * HANG):
        async with trio.open_nursery() as nursery:
            for number in range(BOTS):
                bot = Bot(f"bot-{number}", "connect-4", host.tcp, lambda: "cup", told, Random(next(turns)))
                nursery.start_soon(bot.run)
            while not bots_at(another):  # noqa: ASYNC110 - nobody tells
                await trio.sleep(0.001)
            if killed is not None:
                while len(told._ends) < BOTS:  # noqa: ASYNC110 - nobody tells
                    await trio.sleep(0.005)
                while not bots_at(another):  # noqa: ASYNC110
                    await trio.sleep(0.001)
                os.kill(workers(host)[killed], signal.SIGKILL)
            while not await trio.to_thread.run_sync(is_over, host):  # noqa: ASYNC110
                await trio.sleep(0.1)
            nursery.cancel_scope.cancel()


def is_over(host: Served) -> bool:
    return host.get("/api/tournaments/cup")[1]["state"] == "finished"


def judged(host: Served, told: Told) -> Verdict:
    host.process.send_signal(signal.SIGTERM)
    assert host.end()[0] == 0
    with closing(SqliteReader(host.data / JOURNAL)) as reader:
        return told.compare(exported(map(journal.kept, reader.kept())))


@pytest.mark.parametrize(
    "host",
    [pytest.param(each, marks=pytest.mark.campaign) for each in ("swiss", "knockout", "double-round-robin")],
    indirect=True,
    ids=str,
)
async def test_every_result_that_bots_are_told_is_kept_once_in_every_format(host: Served) -> None:
    """So it is in those of the tests below, which `make test` has as well."""
    told = Told()
    await played(host, told, None)
    verdict = judged(host, told)
    assert not verdict.complaints
    assert verdict.told > 0
    assert not verdict.cut_short


@pytest.mark.parametrize("host", [f'decide"\ngames = {GAMES} #'], indirect=True, ids=["decide"])
async def test_what_is_drawn_elsewhere_follows_from_all_that_was_played(host: Served) -> None:
    """Catches a draw from what another process had read by then: games beyond the most, or none at all."""
    told = Told()
    await played(host, told, None)
    assert not judged(host, told).complaints
    assert BOTS <= len(told._ends) <= GAMES


@pytest.mark.parametrize("host", ["round-robin"], indirect=True)
@pytest.mark.parametrize(
    "killed", [pytest.param(0, marks=pytest.mark.campaign, id="the holder"), pytest.param(1, id="another")]
)
async def test_a_worker_that_is_killed_costs_no_result(host: Served, killed: int) -> None:
    told = Told()
    await played(host, told, killed)
    verdict = judged(host, told)
    assert not verdict.complaints
    assert verdict.matches >= BOTS * (BOTS - 1) // 2
    assert verdict.told > BOTS
