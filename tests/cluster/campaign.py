"""Three hosts on one PostgreSQL behind a balancer, bots of five dialects, and one fault after another.

In the end all that bots and the API were told is compared with the record, which is replayed as well.
How long play stood still after a fault is measured where it is held: from the fault to the first turn that a
bot is told by whoever holds the tournament then.
"""

import json
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import trio
from msgspec import Struct

from server.export.verify import verify
from server.serve import TAKEN_OVER
from tests.blackbox.unhurried import tables
from tests.chaos.bots import Stranger
from tests.chaos.organiser import LADDER, ROUND_ROBIN, Organiser
from tests.chaos.process import Ended, nest
from tests.chaos.told import Told, Verdict
from tests.chaos.web_bots import ArenaBot, DotsBot
from tests.cluster.balancer import Doors
from tests.cluster.bots import FourBot, Listening
from tests.cluster.database import Pair
from tests.cluster.haproxy import HaProxy, program
from tests.cluster.host import Host
from tests.deploy.passing import PAGES
from tests.hang import HANG
from tests.server.store.postgresql import Server, binaries

HOSTS = 3
TOKEN = "a-token-of-the-organiser"
STOPPED = 3.0  # seconds that a host stands still
MINUTE = 60.0
AWAY = 1.0  # seconds for which a link or the balancer is not there, at most
CALM = (0.2, 0.8)  # seconds between two faults
TRIES = 30  # of a request about something that is so new that a host may not know it
LOOK = 0.01
SOON = 2.0  # seconds in which hosts notice that a connection has ended
FOURS = ("f0", "f1")  # bots of the c4-arena, which also play in cups that take whoever comes
STALE = b"tournament.store.Stale"
TOLD = 2_000  # characters of a line of the record that does not follow
FAULTS = ("kill", "stop", "cut", "clock", "balancer", "restart-postgres", "fail-over", "drain")
# What comes later in a tournament was written under a later lease: a zombie's line would not be.
BACKWARDS = """
    SELECT count(*) FROM (SELECT epoch < lag(epoch) OVER (
        PARTITION BY split_part(tournament, '~', 1) ORDER BY number) AS back FROM journal) AS each WHERE back
"""
HOLDER = "SELECT address FROM leases JOIN hosts ON hosts.id = leases.host WHERE tournament = %s"


class Found(Struct):
    verdict: Verdict
    faults: dict[str, int]
    resumed: dict[str, list[float]]  # seconds, by what befell a host
    overtaken: dict[str, int]  # hosts that others took over from and that were not stopped, by the fault
    balancer: str  # that was before them


class Patient(Organiser):
    """What one host has opened, another may not know for half a second."""

    async def _ask(self, method: str, path: str, **body: object) -> Any:
        found: Any = {}
        for _ in range(TRIES):
            found = await super()._ask(method, path, **body)
            if not str(found.get("error", "")).startswith("there is no tournament"):
                return found
            await trio.sleep(0.1)
        return found


class Cluster:
    def __init__(self, hosts: Sequence[Host], server: Server, pair: Pair | None, folder: Path) -> None:
        self._hosts = hosts
        self._server = server
        self._pair = pair
        self.told = Told()
        self.heard: dict[str, float] = {}
        self.faults: dict[str, int] = {}
        self.resumed: dict[str, list[float]] = {}
        self.overtaken: dict[str, int] = {}
        self._cut_at: list[float] = []  # when the balancer ended all connections, by the wall clock
        self._fault = ""  # the latest …
        self._meant: Host | None = None  # … and the host that it ends
        self._session: psycopg.Connection[tuple[object, ...]] | None = None  # that asks who holds the ladder
        found = program()
        self.balancer = Doors(self._ports) if found is None else HaProxy(found, hosts, folder)

    def _ports(self, door: str) -> list[int]:
        return [getattr(host, door) for host in self._hosts if host.there]

    async def take_time(self) -> None:
        """Before there are hosts: have an open table whose clock does not matter."""
        table = self._hosts[0].folder / "table.jsonl"
        table.write_text(tables(["hexagon-dots"]))
        await self._hosts[0].command("import", str(table))

    async def exported(self) -> bytes:
        return await self._hosts[0].command("export", "--all")

    async def play(self, faults: Iterable[str], chance: Random) -> None:
        async with trio.open_nursery() as nursery:
            for host in self._hosts:
                await nursery.start(host.cable.run)
            for host in self._hosts:
                await host.start()
            for host in self._hosts:
                await host.settle()
            await nursery.start(self.balancer.run)
            async with trio.open_nursery() as playing:
                async with trio.open_nursery() as attended:
                    for host in self._hosts:
                        attended.start_soon(self._look_after, host)
                    self._gather(playing, attended, chance)
                    while len(self.told.ends) < ROUND_ROBIN:  # noqa: ASYNC110 - nobody tells
                        await trio.sleep(LOOK)
                    for fault in faults:
                        with trio.fail_after(2 * HANG):
                            await self._befall(fault, chance)
                        await trio.sleep(chance.uniform(*CALM))
                    await trio.sleep(CALM[1])
                    await self._all_live()
                    attended.cancel_scope.cancel()
                for host in self._hosts:  # before the bots: one that cannot come back would lose if it left
                    code, _ = await host.end(signal.SIGTERM)
                    self._expect(host, code, 0)
                playing.cancel_scope.cancel()
            nursery.cancel_scope.cancel()

    def _gather(self, playing: trio.Nursery, attended: trio.Nursery, chance: Random) -> None:
        tcp, websocket, http = self.balancer.tcp, self.balancer.websocket, self.balancer.http
        folder = self._hosts[0].folder / "organiser"
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "organiser-token").write_text(TOKEN)
        organiser = Patient(folder, http, self.told)
        attended.start_soon(organiser.run)
        for number in range(ROUND_ROBIN):
            for kind, game in (("ladder", "tic-tac-toe"), ("cup", "connect-4")):
                bot = Listening(
                    f"{kind}-{number}", game, tcp, partial(getattr, organiser, kind), self.told, chance
                )
                bot.heard, bot.kind = self.heard, kind
                playing.start_soon(bot.run)
        for number in range(2):
            playing.start_soon(DotsBot(f"d{number}", http, self.told, chance).run)
            playing.start_soon(ArenaBot(f"a{number}", http, chance).run)
            playing.start_soon(FourBot(FOURS[number], websocket, chance).run)
            playing.start_soon(Stranger(f"s{number}", tcp, chance).run)

    # Faults

    async def _befall(self, fault: str, chance: Random) -> None:
        self.faults[fault] = self.faults.get(fault, 0) + 1
        self._fault = fault
        await self._all_live()
        holder = await self._living_holder()
        match fault:
            case "kill":
                self._meant = holder
                await holder.kill()
                await self._measured(fault, holder)
                await self._begin(holder)
            case "drain":
                self._meant, holder.there = holder, False
                code, _ = await holder.end(signal.SIGTERM)
                self._expect(holder, code, 0)
                await self._measured(fault, holder)
                await self._begin(holder)
            case "stop":
                self._meant = holder
                await self._stop(holder)
            case "cut":
                holder.cable.restart(chance.uniform(0.0, AWAY))
            case "clock":
                self._meant = other = chance.choice([host for host in self._hosts if host is not holder])
                await other.kill()
                await self._begin(other, chance.choice((-MINUTE, MINUTE)))
            case "balancer":
                self._cut_at.append(time.time())
                self.balancer.restart(chance.uniform(0.0, AWAY))
            case "restart-postgres":
                server = self._server if self._pair is None else self._pair.primary
                await trio.to_thread.run_sync(server.stop)
                await trio.to_thread.run_sync(server.start)
                await self._measured(fault, None)
            case "fail-over" if self._pair is not None:
                await trio.to_thread.run_sync(self._pair.fail_over)
                await self._measured(fault, None)
                await trio.to_thread.run_sync(self._pair.mend)
            case _:
                raise ValueError(fault)
        self._meant = None

    async def _look_after(self, host: Host) -> None:
        """Start it again when it has ended by itself, as a service manager would.

        On a busy machine others take over from a host that stands still for a second, and from another one
        before this one is back.
        """
        while True:
            if host is not self._meant and host.there and host.code is not None:
                self._expect(host, host.code, None)
                host.there = False
                await self._begin(host)
            await trio.sleep(LOOK)

    async def _begin(self, host: Host, ahead: float = 0.0) -> None:
        """Until it is ready. On a busy machine, others may take from it what it has just taken up."""
        while True:
            await host.start(ahead=ahead)
            with suppress(Ended):
                await host.settle()
                return
            self._expect(host, host.code, None)

    async def _stop(self, host: Host) -> None:
        """It stands still, others take over, and then it believes for a moment what was true before."""
        async with trio.open_nursery() as nursery:
            host.send(signal.SIGSTOP)
            nursery.start_soon(self._measured, "stop", host)
            await trio.sleep(STOPPED)
            host.send(signal.SIGCONT)  # bots that had come to it learn now that it is gone
            with trio.fail_after(HANG):
                while host.code is None:  # noqa: ASYNC110 - it ends by itself
                    await trio.sleep(LOOK)
            host.there = False
            self._expect(host, host.code, 1)
        await self._begin(host)

    def _expect(self, host: Host, code: int | None, wanted: int | None) -> None:
        if code == wanted:
            return
        if code == 1 and TAKEN_OVER in host.tail():  # on a busy machine, on which it stood still for a second
            self.overtaken[self._fault] = self.overtaken.get(self._fault, 0) + 1
        else:
            self.told.verdict.wrong.append(f"a host ended with {code}, not {wanted}: {host.tail()}")

    async def _measured(self, what: str, gone: Host | None) -> None:
        """Wait until the ladder goes on, held by another than that host, and note how long it took."""
        begun = trio.current_time()
        if gone is not None:
            while await self._holder() in (None, gone):  # noqa: ASYNC110 - the database tells nobody
                await trio.sleep(LOOK)
        held = trio.current_time()
        while self.heard.get("ladder", 0.0) <= held:  # noqa: ASYNC110
            await trio.sleep(LOOK)
        self.resumed.setdefault(what, []).append(self.heard["ladder"] - begun)

    async def _all_live(self) -> None:
        while not all(host.lives for host in self._hosts):  # noqa: ASYNC110 - one is just being started again
            await trio.sleep(LOOK)

    async def _living_holder(self) -> Host:
        while (holder := await self._holder()) is None or not holder.lives:  # noqa: ASYNC110
            await trio.sleep(LOOK)
        return holder

    async def _holder(self) -> Host | None:
        """Of the ladder, though it may have ended."""
        found = await trio.to_thread.run_sync(self._held_at)
        return next((host for host in self._hosts if (host.address,) in found), None)

    def _held_at(self) -> list[tuple[object, ...]]:
        """In one session: this is asked a hundred times a second, and each new session is a process."""
        while True:
            if self._session is None:
                self._session = psycopg.connect(self._hosts[0].store, autocommit=True)
            try:
                return self._session.execute(HOLDER.encode(), (LADDER,)).fetchall()
            except psycopg.OperationalError:  # the database was restarted since
                self._session.close()
                self._session = None

    # The end

    def _ask(self, query: str, parameters: Sequence[str] = ()) -> list[tuple[object, ...]]:
        with psycopg.connect(self._hosts[0].store, autocommit=True) as session:
            return session.execute(query.encode(), parameters).fetchall()

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def judged(self, exported: bytes) -> Verdict:
        lines = exported.splitlines(keepends=True)
        found = [json.loads(line) for line in lines]
        verdict = self.told.compare(found)
        verdict.wrong += (
            f"line {each.line} does not follow: {each.why}: {lines[each.line - 1].decode()[:TOLD]}"
            for each in verify(lines).findings
        )
        verdict.wrong += (
            f"{line['match']} was lost by a bot that plays by the rules: {line['why']}"
            for line in found
            if line["type"] == "match"
            and line["tournament"].startswith((LADDER, "cup-"))
            and line["ending"] not in ("played", "void")
            and not self._was_cut_by_the_balancer(line)
        )
        if self._ask(BACKWARDS) != [(0,)]:
            verdict.wrong.append("something was written under a lease after another host had had a later one")
        for host in self._hosts:
            # A bot whose tournament has just gone to another host is dropped, and that is logged.
            lines = host.log.read_bytes().splitlines()
            for number, line in enumerate(lines):
                if b"Traceback" in line and STALE not in line:
                    verdict.wrong.append(f"a host had a bug to tell of: {_bug(lines[number:])}")
        return verdict

    def _was_cut_by_the_balancer(self, line: Any) -> bool:
        """Whether a bot lost as its connection ended with the balancer: its protocol has no way back."""
        winner = line["winner"]
        if line["ending"] != "left" or winner is None or line["players"][1 - winner] not in FOURS:
            return False
        # By the clock of a host, which may be wrong.
        ended = datetime.fromisoformat(line["ended"]).timestamp()
        times = (at + ahead for at in self._cut_at for ahead in (-MINUTE, 0.0, MINUTE))
        return any(abs(ended - at) < SOON for at in times)


def _bug(lines: list[bytes]) -> str:
    """What a log says from a traceback on: as JSON in one line, or up to the line with the exception."""
    last = next((number for number, line in enumerate(lines) if number and not line.startswith(b" ")), 0)
    told = lines[:1] if lines[0].startswith(b"{") else lines[: last + 1]
    return b"\n".join(told).decode(errors="replace")[-TOLD:]


@asynccontextmanager
async def standing(server: Server, folder: Path, count: int, *, standby: bool) -> AsyncIterator[Cluster]:
    url, pair = server.database(), None
    where = binaries()
    assert where is not None
    if standby:
        pair = await trio.to_thread.run_sync(Pair, where, server)
        url = pair.url(url.rpartition("/")[2])
    proxied = {"QUINTAIN_PROXIES": '["127.0.0.1"]', "QUINTAIN_HOSTS": f'["{PAGES}"]'}
    async with nest(QUINTAIN_TOKEN=TOKEN, **proxied) as hosts:
        cluster = Cluster([Host(hosts, folder / str(n), url) for n in range(count)], server, pair, folder)
        try:
            yield cluster
        finally:
            cluster.close()
            if pair is not None:
                pair.close()


async def campaign(
    server: Server, faults: Sequence[str], seed: int, hosts: int = HOSTS, *, unhurried: bool = False
) -> Found:
    """All of it, on a server that is this campaign's alone if one of the faults is to fail over.

    Where it does not matter how long anything takes, Hexagon Dots is `unhurried`: its own clock is five
    seconds for a move, in which a bot on a busy machine may not have found a host that lives.
    """
    folder = Path(tempfile.mkdtemp(prefix="quintain-cluster-"))
    try:
        async with standing(server, folder, hosts, standby="fail-over" in faults) as cluster:
            if unhurried:
                await cluster.take_time()
            await cluster.play(faults, Random(f"{seed} cluster"))
            verdict = await trio.to_thread.run_sync(cluster.judged, await cluster.exported())
    except BaseException as error:
        error.add_note(f"The logs of the hosts, and of what is before them, are in {folder}")
        raise
    await trio.to_thread.run_sync(shutil.rmtree, folder)
    return Found(verdict, cluster.faults, cluster.resumed, cluster.overtaken, str(cluster.balancer))
