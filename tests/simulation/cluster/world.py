"""One seed, from its beginning to its end, and what must hold of it.

never    two hosts that are sure of the same tournament
never    a result that was told and is not in the journal, or is there as another, or twice
never    a row of an older holder after one of a newer
never    a match that goes on without a move that was played at a host which was stopped in order
never    a bot's clock that pays for a relay
soon     after a host has died or drained and nothing else is wrong, its tournaments are played elsewhere
at last  when nothing has been wrong for a while, everything is played
never    something that goes to another host because the database was away, and nothing else was wrong
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from random import Random

import trio
from msgspec import Struct
from trio.testing import MockClock

from tests.deterministic import take_turns_by
from tests.simulation.cluster.database import Database
from tests.simulation.cluster.host import Host
from tests.simulation.cluster.plan import CALM, LONGEST, TROUBLED, Plan, Trouble
from tournament.entries import fact
from tournament.facts import Concluded

RESUMED = 2.0  # seconds after a host's death, and after the last trouble, until everything is played
END = CALM + TROUBLED + LONGEST + RESUMED + 1.0
BEGUN = 1000.0  # by the database's clock
ENDS = ("kill", "drain")  # troubles after which a host is no more
SPIKE = 0.1  # how often a message between hosts takes long


class Report(Struct):
    plan: Plan
    complaints: list[str]
    results: int
    taken: int  # how often a tournament went to another host
    trace: list[str]


def simulate(plan: Plan) -> Report:
    take_turns_by(plan.seed)
    world = World(plan)
    trio.run(world.run, clock=MockClock(autojump_threshold=0))
    world.check()
    taken = world.epochs - len(plan.tournaments)
    return Report(plan, world.complaints, len(world.results), taken, world.trace)


class World:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.chance = Random(f"world {plan.seed}")
        self.database = Database(lambda: BEGUN + trio.current_time() * plan.database_rate)
        self.complaints: list[str] = []
        self.results: list[tuple[str, str, int | None]] = []
        self.trace: list[str] = []
        # Matches of hosts that drained: under which epoch they were held, and their moves.
        self._let_go: dict[str, tuple[int, tuple[object, ...]]] = {}
        self.hosts: dict[int, Host] = {}
        self._acts: dict[str, list[tuple[float, int]]] = defaultdict(list)  # when, and which host
        self._clocks = [self._clock(number, rate) for number, rate in enumerate(plan.rates)]

    def _clock(self, number: int, rate: float) -> Callable[[], float]:
        return lambda: 10_000.0 * number + trio.current_time() * rate

    @property
    def epochs(self) -> int:
        return max((lease.epoch for lease in self.database.leases.values()), default=0)

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            for number in range(len(self.plan.rates)):
                self._start(nursery, number)
            nursery.start_soon(self._open)
            for trouble in self.plan.troubles:
                if trouble.what in ENDS:
                    nursery.start_soon(self._end, nursery, trouble)
            await trio.sleep(END)
            for host in self.hosts.values():
                host.kill()
            nursery.cancel_scope.cancel()

    def _start(self, nursery: trio.Nursery, number: int) -> None:
        self.hosts[number] = host = Host(number, self.plan.rates[number], self._clocks, self)
        nursery.start_soon(host.run)

    async def _open(self) -> None:
        await trio.sleep(0.5)
        hosts = list(self.hosts.values())
        for tournament in self.plan.tournaments:
            host = self.chance.choice(hosts)
            await host.open(tournament)

    async def _end(self, nursery: trio.Nursery, trouble: Trouble) -> None:
        await trio.sleep(trouble.at)
        host = self.hosts[trouble.host]
        self._note(f"host {trouble.host}: {trouble.what}")
        if trouble.what == "drain":
            await host.drain()
        host.kill()
        await trio.sleep_until(trouble.until)
        if self.hosts[trouble.host].dead:
            self._start(nursery, trouble.host)

    # What befalls hosts

    def latency(self, host: int) -> float:
        slow = 0.3 if self._befalls("slow", host) else 0.0
        return self.chance.uniform(0.0, self.plan.latency + slow)

    def reaches(self, host: int) -> bool:
        return not self._befalls("cut", host) and not self._befalls("database")

    def answers(self, host: int) -> bool:
        lost = self._befalls("answers", host) and self.chance.random() < 0.5
        return self.reaches(host) and not lost

    def stopped_until(self, host: int) -> float:
        return max((each.until for each in self._now("stop") if each.host == host), default=0.0)

    def linked(self, one: int, other: int) -> bool:
        cut = any(each.host in (one, other) for each in self._now("link"))
        return not cut and not self.hosts[other].dead and self.stopped_until(other) == 0.0

    def link_time(self) -> float:
        """Seconds that a message between hosts takes; now and then it is lost on its way and sent again."""
        again = self.chance.random() < SPIKE
        return self.chance.uniform(0.2, 0.4) if again else self.chance.uniform(0.0002, 0.002)

    def _now(self, what: str) -> list[Trouble]:
        now = trio.current_time()
        return [each for each in self.plan.troubles if each.what == what and each.at <= now < each.until]

    def _befalls(self, what: str, host: int | None = None) -> bool:
        return any(host in (None, each.host) for each in self._now(what))

    # What happens

    def look(self) -> None:
        """Whether two hosts are sure of the same tournament, just now."""
        sure = Counter(
            name
            for host in self.hosts.values()
            if not host.dead and host.keeping.sure
            for name in host.keeping.leases.held
        )
        for name, owners in sure.items():
            if owners > 1:
                self.complain(f"{owners} hosts hold {name}")

    def acted(self, host: Host, tournament: str) -> None:
        self.look()
        self._acts[tournament].append((trio.current_time(), host.number))

    def told(self, tournament: str, match: str, winner: int | None) -> None:
        self.results.append((tournament, match, winner))
        self._note(f"{match}: {winner}")

    def let_go(self, tournament: str, epoch: int, match: str, moves: Sequence[object]) -> None:
        self._let_go[match] = epoch, tuple(moves)

    def goes_on(self, tournament: str, match: str, moves: Sequence[object]) -> None:
        epoch, played = self._let_go.get(match, (0, ()))
        if (tournament, epoch) not in self.database.given_up:
            return  # others had taken it before, because the host stood still, say: then moves may be lost
        if tuple(moves[: len(played)]) != played:
            self.complain(f"{match} goes on with {moves}, and {played} were played")

    def complain(self, complaint: str) -> None:
        self.complaints.append(f"seed {self.plan.seed}, {trio.current_time():.3f} s: {complaint}")

    def _note(self, what: str) -> None:
        self.trace.append(f"{trio.current_time():.6f} {what}")

    # What must hold

    def check(self) -> None:
        self._check_results()
        self._check_epochs()
        for at in self.database.taken:
            at = (at - BEGUN) / self.plan.database_rate
            if any(trouble.at < at < trouble.until + RESUMED for trouble in self._alone("database")):
                self._missing(f"something is taken over at {at:.3f} s, when only the database was away")
        for tournament in self.plan.tournaments:
            acts = [at for at, _ in self._acts[tournament]]
            if not any(at > END - 1.5 for at in acts):
                self._missing(f"{tournament} is not played at the end")
            for end in (*self._alone("kill"), *self._alone("drain")):
                if not any(end.at < at < end.at + RESUMED for at in acts):
                    self._missing(f"{tournament} is not played {RESUMED} s after {end}")

    def _check_results(self) -> None:
        kept = Counter[tuple[str, str]]()
        winners: dict[tuple[str, str], int | None] = {}
        for _, row in self.database.journal:
            if isinstance(found := fact(row.body), Concluded):
                kept[row.tournament, found.match] += 1
                winners[row.tournament, found.match] = found.winner
        for tournament, match, winner in self.results:
            if kept[tournament, match] != 1:
                self._missing(f"{match} was told and is {kept[tournament, match]} times in the journal")
            elif winners[tournament, match] != winner:
                self._missing(f"{match} was told as {winner} and kept as {winners[tournament, match]}")
        doubled = Counter((tournament, match) for tournament, match, _ in self.results)
        for (_, match), times in doubled.items():
            if times > 1:
                self._missing(f"{match} was told {times} times")

    def _check_epochs(self) -> None:
        latest: dict[str, int] = {}
        writers: dict[tuple[str, int], int] = {}
        for host, row in self.database.journal:
            if row.epoch < latest.get(row.tournament, 0):
                self._missing(
                    f"a row of {row.tournament} has epoch {row.epoch} after {latest[row.tournament]}"
                )
            if writers.setdefault((row.tournament, row.epoch), host) != host:
                self._missing(f"two hosts write {row.tournament} with epoch {row.epoch}")
            latest[row.tournament] = row.epoch

    def _alone(self, what: str) -> list[Trouble]:
        """Troubles of that kind with nothing else wrong meanwhile."""
        return [
            one
            for one in self.plan.troubles
            if one.what == what
            and all(
                other is one
                or other.until + RESUMED < one.at
                or other.at > (one.at if what in ENDS else one.until) + RESUMED
                for other in self.plan.troubles
            )
        ]

    def _missing(self, complaint: str) -> None:
        self.complaints.append(f"seed {self.plan.seed}: {complaint}")
